//! Epochs: the times in which keys issue and redeem, and the agreement of replicas.

use std::process::Command;

use sealstone_primitives::secret::Secret;
use sealstone_token::Error;
use sealstone_token::epoch::{Issuer, Root, Schedule, belongs, generate_rsa};
use sealstone_token::privacypass::directory::Directory;
use sealstone_token::privacypass::{Pending, Token, TokenChallenge, TokenType};

const START: u64 = 1_000_000;
const LENGTH: u64 = 1000;
const TYPE: TokenType = TokenType::VoprfRistretto255;

fn schedule() -> Schedule {
    Schedule::new(START, LENGTH, 100, 300).expect("a possible schedule")
}

fn root() -> Root {
    Root::new(Secret::with(|bytes: &mut [u8; 32]| bytes.fill(7)))
}

fn issuer(now: u64) -> Issuer {
    let mut issuer = Issuer::new(root(), schedule(), &[TYPE]).expect("derived types");
    issuer.advance(now).expect("keys");
    issuer
}

fn challenge() -> TokenChallenge {
    TokenChallenge::new(TYPE, "issuer.example", None, &[]).expect("names")
}

/// A token of the key that is preferred at `now`.
fn token(issuer: &Issuer, now: u64) -> Token {
    let directory = issuer.directory("/", now);
    let key = directory.key(TYPE, now).expect("a key");
    let (pending, request) = Pending::one(key, &challenge()).expect("a request");
    let response = issuer.issue(&request, now).expect("a response");
    pending.finalize(&response).expect("a token").remove(0)
}

#[test]
fn schedules() {
    let schedule = schedule();
    assert_eq!(schedule.epoch(START - 1), None);
    assert_eq!(schedule.issuing(START - 1), None);
    for (after, epoch, issuing, redeeming) in [
        (0, 0, 0..=0, 0..=0),
        (999, 0, 0..=0, 0..=0),
        (1000, 1, 0..=1, 0..=1),
        (1099, 1, 0..=1, 0..=1),
        (1100, 1, 1..=1, 0..=1),
        (1299, 1, 1..=1, 0..=1),
        (1300, 1, 1..=1, 1..=1),
        (5050, 5, 4..=5, 4..=5),
        (5200, 5, 5..=5, 4..=5),
        (5300, 5, 5..=5, 5..=5),
    ] {
        assert_eq!(schedule.epoch(START + after), Some(epoch), "{after}");
        assert_eq!(schedule.issuing(START + after), Some(issuing), "{after}");
        assert_eq!(
            schedule.redeeming(START + after),
            Some(redeeming),
            "{after}"
        );
    }
    let lifetime = schedule.lifetime(2);
    assert_eq!(lifetime.not_before, START + 2000);
    assert_eq!(lifetime.issue_until, START + 3100);
    assert_eq!(lifetime.redeem_until, START + 3300);
    assert!(
        schedule.lifetime(u64::MAX).redeem_until == u64::MAX,
        "the end of time"
    );
    assert!(Schedule::new(0, 0, 0, 0).is_err(), "no length");
    assert!(
        Schedule::new(0, 10, 5, 4).is_err(),
        "issues for longer than it redeems"
    );
    assert!(Schedule::new(0, 10, 0, 60).is_ok());
    assert!(
        Schedule::new(0, 10, 0, 61).is_err(),
        "more than 8 epochs valid"
    );
    assert!(Schedule::new(0, u64::MAX, 0, 1).is_err(), "no overflow");
}

#[test]
fn replicas_agree_and_truncated_ids_differ() {
    for token_type in [TokenType::VoprfP384, TYPE, TokenType::VoprfP256] {
        let mut ids = Vec::new();
        for epoch in 5..13 {
            let key = root().key(token_type, epoch).expect("a key");
            let again = root().key(token_type, epoch).expect("a key");
            assert_eq!(key.public_key(), again.public_key());
            assert!(belongs(&key, epoch));
            assert!(!belongs(&key, epoch + 1));
            ids.push(key.public_key().truncated_key_id());
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 8, "eight epochs in a row");
    }
    let other = Root::generate().key(TYPE, 5).expect("a key");
    assert_ne!(
        other.public_key(),
        root().key(TYPE, 5).expect("a key").public_key()
    );
    assert_eq!(
        root().key(TokenType::BlindRsa2048, 0).err(),
        Some(Error::NotDerived)
    );
}

/// `interop/epoch.py` is written from `spec/token.md`, with Python's SHA-3 and integers.
#[test]
fn the_second_implementation_agrees() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/epoch.py");
    let root_hex = "07".repeat(32);
    for (token_type, number) in [
        (TokenType::VoprfP256, "0xff01"),
        (TokenType::VoprfP384, "1"),
    ] {
        let printed = Command::new("python3")
            .args(["-B", script, &root_hex, number, "0", "4"])
            .output()
            .expect("python3, which `make test` needs for its scripts too");
        assert!(printed.status.success(), "{printed:?}");
        let printed = String::from_utf8(printed.stdout).expect("hexadecimal digits");
        let keys: Vec<String> = (0..=4).map(|epoch| hex_key(token_type, epoch)).collect();
        assert_eq!(printed.lines().collect::<Vec<_>>(), keys);
    }
    // The worked example of `spec/token.md`.
    let example = "0da325ab19f68c2e4cc781e0739674a61a978b44ed02c8ab787d1849c48009e7";
    assert_eq!(hex_key(TokenType::VoprfP256, 1), example);
}

fn hex_key(token_type: TokenType, epoch: u64) -> String {
    let key = root().key(token_type, epoch).expect("a key");
    let bytes = key.encode().expect("bytes");
    bytes
        .expose()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn tokens_live_as_long_as_their_epoch() {
    let issued = token(&issuer(START), START);
    for now in [START, START + 999, START + 1000, START + 1299] {
        let redemption = issuer(now)
            .redeem(&issued, &challenge(), now)
            .expect("a valid token");
        assert_eq!(redemption.epoch, 0);
        assert_eq!(redemption.nullifier, issued.nullifier());
        assert_eq!(redemption.redeem_until, START + 1300);
    }
    // An issuer that still has the key, and one that has dropped it.
    let late = START + 1300;
    assert_eq!(
        issuer(START).redeem(&issued, &challenge(), late),
        Err(Error::NoEpoch)
    );
    assert_eq!(
        issuer(late).redeem(&issued, &challenge(), late),
        Err(Error::NoEpoch)
    );
    assert_eq!(
        issuer(START).redeem(&issued, &challenge(), START - 1),
        Err(Error::NoEpoch)
    );
}

#[test]
fn keys_issue_with_grace() {
    let old = issuer(START);
    let directory = old.directory("/", START);
    let key = directory.key(TYPE, START).expect("a key");
    let (_, request) = Pending::one(key, &challenge()).expect("a request");
    for (after, works) in [(0, true), (1000, true), (1099, true), (1100, false)] {
        let now = START + after;
        assert_eq!(issuer(now).issue(&request, now).is_ok(), works, "{after}");
    }
    // The next epoch's key is listed in advance, and does not issue yet.
    let next = &directory.keys[1];
    assert_eq!(next.not_before, Some(START + LENGTH));
    let (_, request) = Pending::one(&next.key, &challenge()).expect("a request");
    assert_eq!(old.issue(&request, START), Err(Error::NoEpoch));
    assert!(old.issue(&request, START + LENGTH).is_ok());
    let (_, request) = Pending::batch(key, &challenge(), 3).expect("a request");
    assert!(old.issue_batch(&request, 3, START).is_ok());
    assert_eq!(
        old.issue_batch(&request, 3, START + 1100),
        Err(Error::NoEpoch)
    );
}

/// A batch has one key, and so one epoch: elements of two epochs in one answer do not verify.
#[test]
fn mixed_epochs() {
    let now = START + LENGTH;
    let issuer = issuer(now);
    let keys = [0, 1].map(|epoch| issuer.find(TYPE, epoch).expect("a key"));
    let (pending, request) =
        Pending::batch(&keys[1].public_key(), &challenge(), 2).expect("a request");
    let mut answers = Vec::new();
    for key in keys {
        let mut request = request.clone();
        request[2] = key.public_key().truncated_key_id();
        answers.push(key.issue_batch(&request, 2).expect("a response"));
    }
    // The second element, of the older epoch.
    let at = answers[0].len() - 64 - 32..answers[0].len() - 64;
    let (older, newer) = answers.split_at_mut(1);
    newer[0][at.clone()].copy_from_slice(&older[0][at]);
    assert_eq!(pending.finalize(&answers[1]).err(), Some(Error::Proof));
    let pending = Pending::one(&keys[1].public_key(), &challenge())
        .expect("a request")
        .0;
    let request = pending.request();
    let mut other = request.clone();
    other[2] = keys[0].public_key().truncated_key_id();
    let response = issuer
        .issue(&other, now)
        .expect("a response of the older key");
    assert_eq!(pending.finalize(&response).err(), Some(Error::Proof));
}

#[test]
fn directories() {
    let now = START + 5 * LENGTH + 50;
    let issuer = issuer(now);
    let directory = issuer.directory("/token-request", now);
    let epochs: Vec<u64> = directory
        .keys
        .iter()
        .map(|entry| entry.lifetime.expect("a lifetime").epoch)
        .collect();
    assert_eq!(
        epochs,
        [5, 6, 4],
        "the preferred, the next, the one in its grace"
    );
    let listed = |now| issuer.directory("/", now).keys.len();
    assert_eq!(listed(now + 100), 3, "epoch 4 redeems, and does not issue");
    assert_eq!(listed(now + 300), 2, "epoch 4 is over");
    assert_eq!(
        Directory::from_json(&directory.to_json()),
        Ok(directory.clone())
    );
    assert_eq!(
        directory.key(TYPE, now).expect("a key"),
        &issuer.find(TYPE, 5).expect("a key").public_key()
    );
    let before = directory.key(TYPE, START + 4 * LENGTH).expect("a key");
    assert_eq!(before, &issuer.find(TYPE, 4).expect("a key").public_key());
    assert_eq!(directory.key(TokenType::VoprfP384, now), None);
    // RFC 9578 section 4, with an unknown member and an unknown type.
    let json = directory
        .to_json()
        .replace("\"issuer-", "\"x\": 1, \"issuer-");
    assert_eq!(Directory::from_json(&json), Ok(directory.clone()));
    let other = directory
        .to_json()
        .replacen("\"token-type\": 5", "\"token-type\": 9", 1);
    assert_eq!(
        Directory::from_json(&other)
            .expect("a directory")
            .keys
            .len(),
        2
    );
    assert!(Directory::from_json("{}").is_err());
    let spoilt = directory
        .to_json()
        .replacen("\"token-key\": \"", "\"token-key\": \"AA", 1);
    assert!(Directory::from_json(&spoilt).is_err());
    assert_eq!(
        Directory::from_json(&" ".repeat(300_000)),
        Err(Error::TooLong("directory"))
    );
}

/// An old directory still lists keys that no longer issue, with the formerly preferred one first.
#[test]
fn keys_that_issue_no_more_are_not_chosen() {
    let made = START + LENGTH;
    let directory = issuer(made).directory("/", made);
    let listed: Vec<u64> = directory
        .keys
        .iter()
        .map(|entry| entry.lifetime.expect("a lifetime").epoch)
        .collect();
    assert_eq!(listed, [1, 2, 0]);
    let chosen = |now| directory.key(TYPE, now);
    // Epoch 1 issues for 1,100 seconds. Then epoch 2 issues until the end.
    for (after, index) in [(0, 0), (1099, 0), (1100, 1), (2099, 1)] {
        assert_eq!(chosen(made + after), Some(&directory.keys[index].key));
    }
    assert_eq!(chosen(made + 2100), None);
}

#[test]
fn rsa_keys_are_given() {
    let mut issuer = issuer(START);
    let key = generate_rsa(0).expect("a key");
    let copy = |key: &sealstone_token::privacypass::IssuerKey| {
        let bytes = key.encode().expect("bytes");
        sealstone_token::privacypass::IssuerKey::decode(TokenType::BlindRsa2048, bytes.expose())
            .expect("a key")
    };
    assert_eq!(
        issuer.insert(1, copy(&key)),
        Err(Error::WrongKey),
        "another epoch's"
    );
    issuer.insert(0, copy(&key)).expect("a key");
    assert_eq!(issuer.insert(0, copy(&key)), Err(Error::WrongKey), "twice");
    let challenge =
        TokenChallenge::new(TokenType::BlindRsa2048, "issuer.example", None, &[]).expect("names");
    let directory = issuer.directory("/", START);
    let public = directory
        .key(TokenType::BlindRsa2048, START)
        .expect("a key");
    let (pending, request) = Pending::one(public, &challenge).expect("a request");
    let response = issuer.issue(&request, START).expect("a response");
    let token = pending.finalize(&response).expect("a token").remove(0);
    assert_eq!(
        issuer
            .redeem(&token, &challenge, START)
            .expect("valid")
            .epoch,
        0
    );
    issuer.advance(START + 1300).expect("keys");
    assert!(
        issuer.find(TokenType::BlindRsa2048, 0).is_none(),
        "dropped with its epoch"
    );
    assert!(Issuer::new(root(), schedule(), &[TokenType::BlindRsa2048]).is_err());
}
