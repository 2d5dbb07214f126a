//! Refusals of Privacy Pass, each with its error.

use sealstone_token::Error;
use sealstone_token::privacypass::{
    GenericPending, IssuerKey, IssuerPublicKey, Pending, RequestHead, Token, TokenChallenge,
    TokenType, header, issue_generic,
};

const VOPRF: [TokenType; 3] = [
    TokenType::VoprfP384,
    TokenType::VoprfRistretto255,
    TokenType::VoprfP256,
];

fn challenge(token_type: TokenType) -> TokenChallenge {
    TokenChallenge::new(
        token_type,
        "issuer.example",
        Some([7; 32]),
        &["origin.example"],
    )
    .expect("names")
}

/// RSA keys are slow to make, so all tests share one.
fn key(token_type: TokenType) -> IssuerKey {
    static RSA: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let generate = || IssuerKey::generate(token_type).expect("a key");
    if token_type != TokenType::BlindRsa2048 {
        return generate();
    }
    let rsa = RSA.get_or_init(|| generate().encode().expect("an encoding").expose().to_vec());
    IssuerKey::decode(token_type, rsa).expect("a key")
}

fn issued(key: &IssuerKey) -> Token {
    let challenge = challenge(key.token_type());
    let (pending, request) = Pending::one(&key.public_key(), &challenge).expect("a request");
    pending
        .finalize(&key.issue(&request).expect("a response"))
        .expect("a token")
        .remove(0)
}

#[test]
fn requests_for_another_key_or_type() {
    for token_type in TokenType::ALL {
        let key = key(token_type);
        let (_, request) =
            Pending::one(&key.public_key(), &challenge(token_type)).expect("a request");
        let mut other = request.clone();
        other[2] ^= 1;
        assert_eq!(key.issue(&other), Err(Error::WrongKey));
        let mut other = request.clone();
        other[..2].copy_from_slice(&[0, 1 + u8::from(token_type == TokenType::VoprfP384)]);
        assert!(matches!(key.issue(&other), Err(Error::WrongType { .. })));
        other[..2].copy_from_slice(&[0x7f, 0xff]);
        assert_eq!(key.issue(&other), Err(Error::UnknownType(0x7fff)));
        assert!(
            key.issue(&request[..request.len() - 1]).is_err(),
            "cut short"
        );
        assert!(
            key.issue(&[&request[..], &[0]].concat()).is_err(),
            "too long"
        );
        assert!(key.issue(&[]).is_err());
        assert!(RequestHead::of(&request[..2]).is_err());
        let mismatch = TokenType::ALL
            .into_iter()
            .find(|other| *other != token_type);
        let mismatch = challenge(mismatch.expect("another type"));
        assert!(matches!(
            Pending::one(&key.public_key(), &mismatch),
            Err(Error::WrongType { .. })
        ));
    }
}

#[test]
fn an_rsa_request_above_the_modulus() {
    let key = key(TokenType::BlindRsa2048);
    let mut request = vec![0, 2, key.public_key().truncated_key_id()];
    request.extend([0xff; 256]);
    assert_eq!(key.issue(&request), Err(Error::Malformed("token request")));
}

#[test]
fn responses_that_were_changed() {
    for token_type in TokenType::ALL {
        let key = key(token_type);
        let waiting = || {
            let (pending, request) =
                Pending::one(&key.public_key(), &challenge(token_type)).expect("a request");
            (pending, key.issue(&request).expect("a response"))
        };
        let len = waiting().1.len();
        assert_eq!(len, token_type.response_len());
        for at in [0, 1, len / 2, len - 1] {
            let (pending, mut response) = waiting();
            response[at] ^= 1;
            assert!(
                pending.finalize(&response).is_err(),
                "{token_type}, byte {at}"
            );
        }
        let (pending, response) = waiting();
        assert!(pending.finalize(&response[1..]).is_err());
        let (pending, response) = waiting();
        assert!(pending.finalize(&[&response[..], &[0]].concat()).is_err());
        let (pending, _) = waiting();
        assert_eq!(
            pending.finalize(&waiting().1).err(),
            Some(Error::Proof),
            "another's response"
        );
    }
}

#[test]
fn tokens_that_were_changed() {
    for token_type in TokenType::ALL {
        let key = key(token_type);
        let token = issued(&key);
        key.verify(&token).expect("a valid token");
        let bytes = token.encode();
        // The nonce, the challenge's digest, the authenticator.
        for at in [2, 33, 34, 65, 98, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let changed = Token::decode(&changed).expect("still a token");
            assert_eq!(
                key.verify(&changed),
                Err(Error::Forged),
                "{token_type}, byte {at}"
            );
        }
        let mut changed = bytes.clone();
        changed[70] ^= 1;
        assert_eq!(
            key.verify(&Token::decode(&changed).expect("a token")),
            Err(Error::WrongKey)
        );
        assert!(Token::decode(&bytes[..bytes.len() - 1]).is_err());
        assert!(Token::decode(&[&bytes[..], &[0]].concat()).is_err());
        let other = IssuerKey::generate(TokenType::VoprfP256).expect("a key");
        assert!(other.verify(&token).is_err(), "another key");
        assert_eq!(token.answers(&challenge(token_type)), Ok(()));
        let elsewhere =
            TokenChallenge::new(token_type, "issuer.example", Some([7; 32]), &["b.example"]);
        assert_eq!(
            token.answers(&elsewhere.expect("names")),
            Err(Error::WrongChallenge)
        );
    }
}

#[test]
fn only_rsa_is_for_everybody() {
    for token_type in VOPRF {
        let key = key(token_type);
        assert_eq!(
            key.public_key().verify(&issued(&key)),
            Err(Error::NotPublic)
        );
        assert!(!token_type.is_publicly_verifiable());
    }
    let rsa = key(TokenType::BlindRsa2048);
    rsa.public_key()
        .verify(&issued(&rsa))
        .expect("a valid token");
    assert_eq!(
        IssuerKey::derive(TokenType::BlindRsa2048, &[0; 32], b"").err(),
        Some(Error::NotDerived)
    );
    let challenge = challenge(TokenType::BlindRsa2048);
    assert_eq!(
        Pending::batch(&rsa.public_key(), &challenge, 2).err(),
        Some(Error::NoBatch)
    );
    let request = [
        &[0, 2, rsa.public_key().truncated_key_id(), 0x41, 0x00][..],
        &[0; 256],
    ];
    assert_eq!(rsa.issue_batch(&request.concat(), 9), Err(Error::NoBatch));
}

#[test]
fn batches_of_tokens() {
    for token_type in VOPRF {
        let key = key(token_type);
        let challenge = challenge(token_type);
        let batch = |count| Pending::batch(&key.public_key(), &challenge, count);
        assert!(batch(0).is_err());
        assert!(batch(65_536).is_err());
        let (pending, request) = batch(5).expect("a request");
        assert_eq!(key.issue_batch(&request, 4), Err(Error::BatchLength(5)));
        let response = key.issue_batch(&request, 5).expect("a response");
        assert!(
            key.issue(&request).is_err(),
            "a batch where one is expected"
        );
        let tokens = pending.finalize(&response).expect("tokens");
        assert_eq!(tokens.len(), 5);
        tokens
            .iter()
            .for_each(|token| key.verify(token).expect("a valid token"));
        let mut marks: Vec<_> = tokens.iter().map(Token::nullifier).collect();
        marks.sort();
        marks.dedup();
        assert_eq!(marks.len(), 5, "all different");
        // Reordered in the response: the proof covers the order.
        let (pending, request) = batch(2).expect("a request");
        let mut response = key.issue_batch(&request, 2).expect("a response");
        let element = token_type.blinded_len();
        let start = if 2 * element < 64 { 1 } else { 2 };
        let (first, second) = response[start..start + 2 * element].split_at_mut(element);
        first.swap_with_slice(second);
        assert_eq!(pending.finalize(&response).err(), Some(Error::Proof));
    }
}

/// Decoding an element needs a square root, so a response of a wrong length is refused before that.
#[test]
fn responses_with_another_number_of_elements() {
    for token_type in VOPRF {
        let key = key(token_type);
        let challenge = challenge(token_type);
        for count in [0_usize, 1, 3, 200] {
            let (pending, _) = Pending::batch(&key.public_key(), &challenge, 2).expect("a request");
            // No element begins with five.
            let row = vec![5; count * token_type.blinded_len()];
            let len = match row.len() {
                short @ 0..64 => vec![short as u8],
                long => (0x4000 | long as u16).to_be_bytes().to_vec(),
            };
            let proof = vec![0; token_type.response_len() - token_type.blinded_len()];
            let response = [len, row, proof].concat();
            let refused = pending.finalize(&response).err();
            assert_eq!(refused, Some(Error::BatchLength(count)));
        }
    }
}

/// Logs are read by many, and anyone who has the authenticator can spend the token.
#[test]
fn a_shown_token_cannot_be_spent() {
    for token_type in TokenType::ALL {
        let token = issued(&key(token_type));
        let shown = format!("{token:?}");
        let hidden = token.authenticator();
        for form in [
            format!("{:?}", &hidden[..8]),
            hidden[..8].iter().map(|b| format!("{b:02x}")).collect(),
            hidden[..8].iter().map(|b| format!("{b:02X}")).collect(),
        ] {
            let digits = form.trim_matches(['[', ']']);
            assert!(!shown.contains(digits), "{shown}");
        }
        assert!(shown.contains(token_type.name()), "{shown}");
        let mut other = token.encode();
        *other.last_mut().expect("bytes") ^= 1;
        assert_eq!(Token::decode(&token.encode()).as_ref(), Ok(&token));
        assert_ne!(Token::decode(&other).as_ref(), Ok(&token));
    }
}

#[test]
fn a_generic_request_is_refused_in_part() {
    let (one, two) = (key(TokenType::VoprfP384), key(TokenType::BlindRsa2048));
    let (first, second) = (challenge(one.token_type()), challenge(two.token_type()));
    let wanted = [(&one.public_key(), &first), (&two.public_key(), &second)];
    let (pending, request) = GenericPending::new(&wanted).expect("a request");
    let response = issue_generic(&request, 2, |head| {
        (head.token_type == one.token_type()).then_some(&one)
    });
    let tokens = pending
        .finalize(&response.expect("a response"))
        .expect("two answers");
    one.verify(tokens[0].as_ref().expect("a token"))
        .expect("a valid token");
    assert_eq!(tokens[1], Err(Error::Refused));
    assert_eq!(
        issue_generic(&request, 1, |_| Some(&one)),
        Err(Error::BatchLength(2))
    );
    assert_eq!(
        issue_generic(&[0], 1, |_| Some(&one)),
        Err(Error::BatchLength(0))
    );
    assert!(issue_generic(&request[..request.len() - 1], 2, |_| Some(&one)).is_err());
    assert!(GenericPending::new(&[]).is_err());

    let (fewer, _) = GenericPending::new(&wanted[..1]).expect("a request");
    let response = issue_generic(&request, 2, |_| None).expect("a response");
    let refused = fewer.finalize(&response).err();
    assert_eq!(refused, Some(Error::Malformed("batched token response")));
}

#[test]
fn tokens_of_another_type() {
    let key = key(TokenType::VoprfP256);
    for token_type in [TokenType::VoprfP384, TokenType::VoprfRistretto255] {
        let token = issued(&self::key(token_type));
        let expected = Error::WrongType {
            expected: key.token_type().number(),
            found: token_type.number(),
        };
        assert_eq!(key.verify(&token), Err(expected));
        let answers = token.answers(&challenge(key.token_type()));
        assert_eq!(answers, Err(expected));
    }
}

#[test]
fn challenges_that_are_malformed() {
    let good = challenge(TokenType::VoprfP384).encode();
    assert!(TokenChallenge::decode(&good).is_ok());
    assert!(TokenChallenge::decode(&good[..good.len() - 1]).is_err());
    assert!(TokenChallenge::decode(&[&good[..], &[0]].concat()).is_err());
    assert!(
        TokenChallenge::decode(&[0, 1, 0, 0, 0, 0, 0]).is_err(),
        "no issuer"
    );
    assert!(TokenChallenge::decode(&[0, 1, 0, 1, b'a', 0, 0, 0]).is_ok());
    assert!(
        TokenChallenge::decode(&[0, 1, 0, 1, b'a', 1, 9, 0, 0]).is_err(),
        "short context"
    );
    assert!(
        TokenChallenge::decode(&[0, 1, 0, 1, 0x1b, 0, 0, 0]).is_err(),
        "a control character"
    );
    assert!(TokenChallenge::decode(&[0, 1, 0, 1, 0x7f, 0, 0, 0]).is_err());
    let spaced = [&[0, 1, 0, 3][..], b"a b", &[0, 0, 0]].concat();
    assert!(TokenChallenge::decode(&spaced).is_ok(), "another's name");
    // A client shows the issuer's name before it contacts the issuer.
    let issuer = TokenChallenge::decode(&good).map(|read| read.issuer_name().to_owned());
    assert_eq!(issuer.as_deref(), Ok("issuer.example"));
    // A host that forwards another host's challenge gets no token for it.
    let for_two = TokenChallenge::new(TokenType::VoprfP384, "i", None, &["a.example", "B.example"]);
    let for_two = for_two.expect("names");
    let accepted = ["a.example", "A.EXAMPLE", "b.example"];
    assert!(accepted.iter().all(|host| for_two.is_for(host)));
    let others = [
        "",
        "c.example",
        "example",
        "a.example,B.example",
        "a.example.",
    ];
    assert!(!others.iter().any(|host| for_two.is_for(host)));
    let for_all = TokenChallenge::new(TokenType::VoprfP384, "i", None, &[]).expect("names");
    assert!(for_all.is_for("any.example"));
    let for_none = TokenChallenge::decode(&[0, 1, 0, 1, b'i', 0, 0, 1, b',']).expect("a name");
    assert!(!for_none.is_for("any.example"), "a list of no names");
    let new = |issuer, origins: &[&str]| {
        TokenChallenge::new(TokenType::VoprfP384, issuer, None, origins).is_ok()
    };
    assert!(new("issuer.example", &[]));
    assert!(!new("", &[]));
    assert!(!new("two words", &[]));
    assert!(!new("issuer.example", &["a.example,b.example"]));
    assert!(!new("issuer.example", &[""]));
    assert!(!new("issuer.example", &[&"a".repeat(65_536)]));
}

#[test]
fn headers_that_are_malformed() {
    let token = issued(&key(TokenType::VoprfP256));
    let value = header::authorization(&token);
    assert_eq!(header::parse_authorization(&value), Ok(token.clone()));
    let bare = value.replace('"', "");
    assert_eq!(header::parse_authorization(&bare), Ok(token), "not quoted");
    for bad in [
        "",
        "PrivateToken",
        "PrivateToken token",
        "PrivateToken token=",
        "PrivateToken token=\"",
        "PrivateToken token=\"!\"",
        "PrivateToken token=\"AA\"",
        "Bearer token=\"AA\"",
        "token=\"AA\"",
        "PrivateToken other=\"AA\"",
    ] {
        assert!(header::parse_authorization(bad).is_err(), "{bad}");
    }
    assert!(
        header::parse_authorization(&format!("{value}, {value}")).is_err(),
        "two"
    );
    let one = header::challenge(&header::Offer {
        challenge: challenge(TokenType::VoprfP384),
        token_key: None,
        max_age: None,
    });
    let mixed = format!("Basic realm=\"a, b\\\"\", {one}, Digest x=1, privatetoken challenge=AA");
    assert_eq!(header::parse_challenges(&mixed).expect("a list").len(), 1);
    assert_eq!(
        header::parse_challenges("Basic realm=x").expect("a list"),
        []
    );
    assert!(header::parse_challenges("PrivateToken challenge=\"open").is_err());
    assert!(
        header::parse_challenges(&"a,".repeat(10_000)).is_err(),
        "too long"
    );
}

#[test]
fn saved_requests_that_are_malformed() {
    for token_type in TokenType::ALL {
        let key = key(token_type);
        let (pending, request) =
            Pending::one(&key.public_key(), &challenge(token_type)).expect("a request");
        let saved = pending.encode();
        let saved = saved.expose();
        let again = Pending::decode(saved).expect("a saved request");
        assert_eq!(again.request(), request);
        assert_eq!(again.encode().expose(), saved);
        assert!(Pending::decode(&saved[..saved.len() - 1]).is_err());
        assert!(Pending::decode(&[saved, &[0]].concat()).is_err());
        let mut form = saved.to_vec();
        form[2] = 3;
        assert!(Pending::decode(&form).is_err());
    }
    assert!(Pending::decode(&[]).is_err());
}

#[test]
fn a_saved_request_for_one_with_two() {
    for token_type in VOPRF {
        let key = key(token_type).public_key();
        let two = Pending::batch(&key, &challenge(token_type), 2).expect("a request");
        let mut saved = two.0.encode().expose().to_vec();
        saved[2] = 1;
        let refused = Pending::decode(&saved).err();
        assert_eq!(refused, Some(Error::Malformed("saved request")));
    }
}

#[test]
fn public_keys_that_are_not_as_prescribed() {
    let key = key(TokenType::BlindRsa2048).public_key();
    let der = key.as_bytes();
    assert!(IssuerPublicKey::decode(TokenType::BlindRsa2048, der).is_ok());
    for at in 0..der.len() {
        // The modulus is any odd number of 2048 bits. Everything around it is fixed.
        let mut other = der.to_vec();
        other[at] ^= if (81..81 + 256).contains(&at) { 0 } else { 1 };
        let same = other == der;
        assert_eq!(
            IssuerPublicKey::decode(TokenType::BlindRsa2048, &other).is_ok(),
            same,
            "{at}"
        );
    }
    let mut even = der.to_vec();
    even[81 + 255] &= 0xfe;
    assert!(
        IssuerPublicKey::decode(TokenType::BlindRsa2048, &even).is_err(),
        "even"
    );
    let mut small = der.to_vec();
    small[81] &= 0x7f;
    assert!(
        IssuerPublicKey::decode(TokenType::BlindRsa2048, &small).is_err(),
        "2047 bits"
    );
}
