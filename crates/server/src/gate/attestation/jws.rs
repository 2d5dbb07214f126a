//! Compact signatures (RFC 7515), with ES256, EdDSA on Ed25519 and RS256 (RFC 7518, RFC 8037).
//!
//! The key says which algorithm it is for. A header that names another one, such as `none` or an
//! HMAC, is wrong.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::Sha2;
use sealstone_primitives::sign::spki::{self, VerifyingKey};
use serde::Deserialize;
use serde_json::Value;

use super::super::Failure;

const MALFORMED: Failure = Failure::Wrong("the attestation is no signed JWT");

/// An algorithm of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Es256,
    EdDsa,
    Rs256,
}

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }
}

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
        let (algorithm, spki) = match (jwk.kty.as_str(), curve) {
            ("EC", Some("P-256")) => (Algorithm::Es256, spki_of_p256(&jwk)?),
            ("OKP", Some("Ed25519")) => (Algorithm::EdDsa, spki_of_ed25519(&jwk)?),
            ("RSA", _) => (Algorithm::Rs256, spki_of_rsa(&jwk)?),
            _ => return None,
        };
        let is_for_it = jwk.alg.as_deref().is_none_or(|alg| alg == algorithm.name())
            && jwk.usage.as_deref().is_none_or(|usage| usage == "sig");
        let verifying = VerifyingKey::from_spki(&spki).ok()?;
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

fn bytes(text: Option<&String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok()
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
/// id-ecPublicKey with prime256v1; Ed25519; rsaEncryption with NULL: AlgorithmIdentifier in DER.
const P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
const ED25519: &[u8] = &[0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70];
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

fn spki_of_p256(jwk: &Jwk) -> Option<Vec<u8>> {
    let (x, y) = (bytes(jwk.x.as_ref())?, bytes(jwk.y.as_ref())?);
    let is_right = x.len() == 32 && y.len() == 32;
    is_right.then(|| key_info(P256, &[&[4][..], x.as_slice(), y.as_slice()].concat()))
}

fn spki_of_ed25519(jwk: &Jwk) -> Option<Vec<u8>> {
    let x = bytes(jwk.x.as_ref())?;
    (x.len() == 32).then(|| key_info(ED25519, &x))
}

fn spki_of_rsa(jwk: &Jwk) -> Option<Vec<u8>> {
    let (n, e) = (bytes(jwk.n.as_ref())?, bytes(jwk.e.as_ref())?);
    let key = der(SEQUENCE, &[unsigned(&n), unsigned(&e)].concat());
    Some(key_info(RSA, &key))
}

/// A SubjectPublicKeyInfo (RFC 5280, section 4.1).
fn key_info(algorithm: &[u8], key: &[u8]) -> Vec<u8> {
    let key = der(BIT_STRING, &[&[0][..], key].concat());
    der(SEQUENCE, &[algorithm, key.as_slice()].concat())
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let skipped = length.iter().take_while(|byte| **byte == 0).count();
    let digits = &length[skipped.min(length.len() - 1)..];
    let head = match content.len() {
        0..=127 => vec![tag, digits[0]],
        _ => {
            let count = u8::try_from(digits.len()).unwrap_or(0);
            [[tag, 0x80 | count].as_slice(), digits].concat()
        }
    };
    [head.as_slice(), content].concat()
}

/// An INTEGER that is not negative.
fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[zeros..];
    let has_sign = digits.first().is_none_or(|first| first & 0x80 != 0);
    let content = if has_sign {
        [&[0][..], digits].concat()
    } else {
        digits.to_vec()
    };
    der(INTEGER, &content)
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
        let (algorithm, signature) = match key.algorithm {
            Algorithm::EdDsa => (spki::Algorithm::Ed25519, self.signature.clone()),
            Algorithm::Rs256 => (
                spki::Algorithm::RsaPkcs1(Sha2::Sha256),
                self.signature.clone(),
            ),
            // RFC 7518, section 3.4: r and s, of 32 bytes each.
            Algorithm::Es256 => match self.signature.split_at_checked(32) {
                Some((r, s)) if s.len() == 32 => {
                    let both = [unsigned(r), unsigned(s)].concat();
                    (spki::Algorithm::Ecdsa(Sha2::Sha256), der(SEQUENCE, &both))
                }
                _ => return false,
            },
        };
        let signed = self.signed.as_bytes();
        key.verifying.verify(algorithm, signed, &signature).is_ok()
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
            "a secret is no public key"
        );
        let short = json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([0xff; 128]), "e": "AQAB"});
        assert!(Key::from_jwk(&short).is_none(), "1024 bits are too few");
    }

    #[test]
    fn lengths_are_in_der() {
        assert_eq!(der(4, &[7]), [4, 1, 7]);
        assert_eq!(der(4, &[0; 127])[..2], [4, 127]);
        assert_eq!(der(4, &[0; 128])[..3], [4, 0x81, 128]);
        assert_eq!(der(4, &[0; 256])[..4], [4, 0x82, 1, 0]);
        assert_eq!(der(4, &[]), [4, 0]);
        assert_eq!(unsigned(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(unsigned(&[0, 1]), [2, 1, 1]);
        assert_eq!(unsigned(&[0]), [2, 1, 0]);
    }
}
