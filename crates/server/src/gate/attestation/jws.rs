//! Compact signatures (RFC 7515), with ES256, EdDSA on Ed25519 and RS256 (RFC 7518, RFC 8037).
//!
//! The key says which algorithm it is for. A header that names another one, such as `none` or an
//! HMAC, is wrong.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::sign::spki::VerifyingKey;
use serde::Deserialize;
use serde_json::Value;

use super::super::Failure;
use super::super::public_key::{self, Algorithm};

const MALFORMED: Failure = Failure::Wrong("the attestation is not a signed JWT");

/// A public key of a JWK (RFC 7517).
pub(super) struct Key {
    id: Option<String>,
    algorithm: Algorithm,
    verifying: VerifyingKey,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    usage: Option<String>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
}

impl Key {
    /// The key of a JWK; none if it is of another kind, or for something else than signatures.
    pub(super) fn from_jwk(value: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
        let curve = jwk.crv.as_deref();
        let number = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let (x, y) = (|| number(&jwk.x), || number(&jwk.y));
        let (algorithm, verifying) = match (jwk.kty.as_str(), curve) {
            ("EC", Some("P-256")) => (Algorithm::Es256, public_key::p256(&x()?, &y()?)?),
            ("OKP", Some("Ed25519")) => (Algorithm::EdDsa, public_key::ed25519(&x()?)?),
            ("RSA", _) => {
                let key = public_key::rsa(&number(&jwk.n)?, &number(&jwk.e)?)?;
                (Algorithm::Rs256, key)
            }
            _ => return None,
        };
        let is_for_it = jwk.alg.as_deref().is_none_or(|alg| alg == algorithm.name())
            && jwk.usage.as_deref().is_none_or(|usage| usage == "sig");
        is_for_it.then_some(Self {
            id: jwk.kid,
            algorithm,
            verifying,
        })
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    /// Extensions that must be understood: none is.
    #[serde(default)]
    crit: Option<Value>,
    /// RFC 7797: another form of the payload.
    #[serde(default)]
    b64: Option<Value>,
}

/// A signature with what it signs.
pub(super) struct Jws<'a> {
    header: Header,
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, Failure> {
        let (signed, signature) = text.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, payload) = signed.split_once('.').ok_or(MALFORMED)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| MALFORMED);
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| MALFORMED)?;
        if header.crit.is_some() || header.b64.is_some() {
            return Err(Failure::Wrong(
                "the attestation has an extension that is unknown here",
            ));
        }
        Ok(Self {
            header,
            signed,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    pub(super) fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    pub(super) fn is_signed_by(&self, key: &Key) -> bool {
        if self.header.alg != key.algorithm.name() {
            return false;
        }
        let signature = match key.algorithm {
            Algorithm::EdDsa | Algorithm::Rs256 => self.signature.clone(),
            // RFC 7518, section 3.4: r and s, of 32 bytes each.
            Algorithm::Es256 => match public_key::ecdsa_signature(&self.signature) {
                Some(signature) => signature,
                None => return false,
            },
        };
        let scheme = key.algorithm.scheme();
        let signed = self.signed.as_bytes();
        key.verifying.verify(scheme, signed, &signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// RFC 7515, appendix A.3.
    const ES256: (&str, &str, &str) = (
        r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl\
         LmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISl\
         SApmWQxfKTUJqPP3-Kg6NU1Q",
        "joe",
    );
    /// RFC 8037, appendix A.4.
    const EDDSA: (&str, &str, &str) = (
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PG\
         cvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        "Example of Ed25519",
    );
    /// RFC 7515, appendix A.2.
    const RS256: (&str, &str, &str) = (
        "{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mP\
         ddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47so\
         MZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTB\
         QY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDT\
         W9gb54h4FRWyuXpoQ\"}",
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl\
         LmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh\
         7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyW\
         zO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZE\
         Sc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGl\
         UPQGe77Rw",
        "joe",
    );
    const ALL: [(&str, &str, &str); 3] = [ES256, EDDSA, RS256];

    fn key(jwk: &str) -> Key {
        let value: Value = serde_json::from_str(jwk).expect("JSON");
        Key::from_jwk(&value).expect("a key")
    }

    fn is_signed(jwk: &str, text: &str) -> bool {
        Jws::parse(text.trim()).is_ok_and(|jws| jws.is_signed_by(&key(jwk)))
    }

    #[test]
    fn published_signatures_verify() {
        for (jwk, text, content) in ALL {
            assert!(is_signed(jwk, text), "{content}");
            let jws = Jws::parse(text.trim()).expect("a signature");
            let payload = String::from_utf8_lossy(jws.payload()).into_owned();
            assert!(payload.contains(content), "{payload}");
        }
    }

    #[test]
    fn altered_signatures_and_payloads_do_not() {
        for (jwk, text, _) in ALL {
            let text = text.trim();
            for at in [text.find('.').expect("a dot") + 3, text.len() - 8] {
                let mut altered = text.to_owned();
                let other = if &text[at..=at] == "A" { "B" } else { "A" };
                altered.replace_range(at..=at, other);
                assert!(!is_signed(jwk, &altered), "{at}");
            }
            let (signed, signature) = text.rsplit_once('.').expect("a dot");
            assert!(!is_signed(jwk, &format!("{signed}.")));
            assert!(!is_signed(
                jwk,
                &format!("{signed}.{}", &signature[..signature.len() - 4])
            ));
        }
    }

    /// The key decides: no header makes it another algorithm's.
    #[test]
    fn algorithms_are_not_confused() {
        for (jwk, text, _) in ALL {
            let (_, rest) = text.trim().split_once('.').expect("a dot");
            for alg in [
                "none", "None", "HS256", "ES256", "EdDSA", "RS256", "PS256", "",
            ] {
                let header = URL_SAFE_NO_PAD.encode(json!({"alg": alg}).to_string());
                if text.starts_with(&header) {
                    continue;
                }
                assert!(!is_signed(jwk, &format!("{header}.{rest}")), "{alg}");
                let (payload, _) = rest.split_once('.').expect("a dot");
                assert!(
                    !is_signed(jwk, &format!("{header}.{payload}.")),
                    "{alg}, empty"
                );
            }
            for (other, _, _) in ALL.iter().filter(|(other, ..)| *other != jwk) {
                assert!(!is_signed(other, text), "a key of another kind");
            }
        }
    }

    #[test]
    fn extensions_are_refused() {
        for header in [
            json!({"alg": "EdDSA", "crit": ["exp"], "exp": 1}),
            json!({"alg": "EdDSA", "b64": false}),
        ] {
            let text = format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header.to_string()));
            assert!(
                matches!(Jws::parse(&text), Err(Failure::Wrong(why)) if why.contains("unknown"))
            );
        }
        for text in ["", "a", "a.b", "a.b.c", "e30.e30.AA", "e30.e30.AA.AA.AA"] {
            assert!(Jws::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_for_something_else_are_passed_over() {
        let with = |name: &str, value: Value| {
            let mut jwk: Value = serde_json::from_str(EDDSA.0).expect("JSON");
            jwk[name] = value;
            Key::from_jwk(&jwk).is_some()
        };
        assert!(with("use", json!("sig")) && with("alg", json!("EdDSA")));
        assert!(!with("use", json!("enc")));
        assert!(!with("alg", json!("ES256")));
        assert!(!with("crv", json!("X25519")));
        assert!(!with("x", json!("AAAA")));
        let secret = json!({"kty": "oct", "k": "AAAA", "alg": "HS256"});
        assert!(
            Key::from_jwk(&secret).is_none(),
            "a secret is not a public key"
        );
        let short = json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([0xff; 128]), "e": "AQAB"});
        assert!(Key::from_jwk(&short).is_none(), "1024 bits are too few");
    }
}
