//! Headers as other programs write them (RFC 9110 section 11, RFC 9577 section 2).

use base64::Engine;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use sealstone_token::Error;
use sealstone_token::privacypass::header::{self, Offer};
use sealstone_token::privacypass::{TokenChallenge, TokenType};

/// A challenge of 22 bytes, so that its encoding ends with padding.
fn challenge() -> TokenChallenge {
    TokenChallenge::new(TokenType::VoprfP384, "issuers.example", None, &[]).expect("names")
}

fn encoded() -> String {
    BASE64_URL_SAFE.encode(challenge().encode())
}

/// The offers in a value that must be a list.
fn offers(value: &str) -> Vec<Offer> {
    header::parse_challenges(value).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// Servers put several schemes into one header, also schemes with a bare token.
#[test]
fn other_schemes_beside_ours() {
    let ours = format!("PrivateToken challenge=\"{}\"", encoded());
    for value in [
        format!("Negotiate YII/abc+def==, {ours}"),
        format!("Negotiate YII=,{ours}, NTLM"),
        format!("{ours}, Negotiate YIIabc"),
        format!("NTLM, , {ours} ,\tBasic realm = \"a, b=\\\"c\\\"\""),
        format!(" ,{ours}, Digest realm=x, nonce=\"y\" , algorithm=SHA-256,"),
        ours.replace("PrivateToken ", "privatetoken\t "),
        ours.replace('"', ""),
        ours.replace(&encoded(), &encoded().replace('=', "")),
    ] {
        assert_eq!(offers(&value).len(), 1, "{value}");
        assert_eq!(offers(&value)[0].challenge, challenge(), "{value}");
    }
    assert_eq!(offers(&format!("{ours}, {ours}")).len(), 2);
}

#[test]
fn lists_that_are_none() {
    for value in [
        "PrivateToken challenge=\"AA",
        "PrivateToken challenge=\"AA\" token-key=\"AA\"",
        "PrivateToken challenge=\"AA\"\r\nSet-Cookie: x",
        "PrivateToken challenge=\"A\nA\"",
        "PrivateToken challenge=\"A\\\u{7f}A\"",
        "Negotiate YII==, challenge=\"AA\"",
        "Basic PrivateToken challenge=\"AA\"",
        "challenge=\"AA\"",
        "PrivateToken \"AA\"",
        "=",
        "\"",
        "\u{e9}",
    ] {
        let refused = header::parse_challenges(value);
        assert_eq!(refused, Err(Error::Malformed("header")), "{value:?}");
        assert!(header::parse_authorization(value).is_err(), "{value:?}");
    }
}

/// RFC 9577 section 2.1.1: an age is a number of seconds, without a sign.
#[test]
fn ages() {
    let offer = |age: &str| {
        let value = format!("PrivateToken challenge={}, max-age={age}", encoded());
        let found = header::parse_challenges(&value).unwrap_or_default();
        found.first().map(|offer| offer.max_age)
    };
    assert_eq!(offer("\"60\""), Some(Some(60)));
    assert_eq!(offer("0"), Some(Some(0)));
    // RFC 9111 section 1.2.2: a number that does not fit counts as the largest.
    assert_eq!(offer("99999999999999999999999"), Some(Some(u64::MAX)));
    for bad in ["\"+60\"", "-1", "\"\"", "\" 60\"", "0x1", "1.5"] {
        assert_eq!(offer(bad), None, "{bad}");
    }
}

/// RFC 9110 section 11.2: a name occurs once. Two keys would let a reader choose.
#[test]
fn parameters_that_are_given_twice() {
    let ours = format!("PrivateToken challenge=\"{}\"", encoded());
    for twice in [
        format!("{ours}, challenge=\"{}\"", encoded()),
        format!("{ours}, token-key=\"AA==\", Token-Key=\"AQ==\""),
        format!("{ours}, max-age=1, max-age=2"),
    ] {
        assert_eq!(offers(&twice), [], "{twice}");
    }
    let once = format!("{ours}, unknown=1, unknown=2, token-key=AA==");
    assert_eq!(offers(&once)[0].token_key.as_deref(), Some(&[0][..]));
    assert!(header::parse_authorization("PrivateToken token=AA, token=AA").is_err());
}

/// RFC 9577 section 2.1.1: origins also send reserved types, followed by arbitrary bytes. A client
/// ignores them.
#[test]
fn types_that_are_reserved_for_greasing() {
    let ours = format!("PrivateToken challenge=\"{}\"", encoded());
    for number in [0x02aa_u16, 0x1132, 0x2e96, 0x8d07, 0xf057] {
        let random = [&number.to_be_bytes()[..], &[0xa5; 21]].concat();
        let mut known_form = challenge().encode();
        known_form[..2].copy_from_slice(&number.to_be_bytes());
        let grease = |bytes: &[u8]| {
            let text = BASE64_URL_SAFE_NO_PAD.encode(bytes);
            format!("PrivateToken challenge=\"{text}\", token-key=\"AAAA\"")
        };
        let value = format!("{}, {}, {ours}", grease(&random), grease(&known_form));
        let known: Vec<Offer> = offers(&value)
            .into_iter()
            .filter(|offer| offer.challenge.token_type().is_ok())
            .collect();
        assert_eq!(known.len(), 1, "{number:04x}");
        assert_eq!(known[0].challenge, challenge());
        let unknown = TokenChallenge::decode(&known_form).expect("a challenge");
        assert_eq!(unknown.token_type(), Err(Error::UnknownType(number)));
    }
}

/// Base64 with bits beyond its bytes, in the other alphabet, or with padding in the wrong place.
#[test]
fn base64_that_is_not_canonical() {
    let good = encoded();
    let cut = good.trim_end_matches('=');
    assert_eq!(good.len() - cut.len(), 2);
    // The last digit has four unused bits, which are zero.
    let (start, last) = cut.split_at(cut.len() - 1);
    let beyond = char::from(last.as_bytes()[0] + 1);
    for text in [
        format!("{start}{beyond}=="),
        format!("{good}="),
        format!("{cut}===="),
        format!("{start}=={last}"),
        format!(" {good}"),
        good.replacen('A', "+", 1),
        String::new(),
    ] {
        let value = format!("PrivateToken challenge=\"{text}\"");
        assert_eq!(offers(&value), [], "{text}");
    }
}
