//! Public passports and successions: only content signed by the owner is accepted.

use sealstone::Error;
use sealstone::passport::{Passport, PublicPassport};

fn passport(label: &str) -> Passport {
    Passport::generate(label, 1_767_225_600).unwrap()
}

fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    data_encoding::BASE64.decode(digits.as_bytes()).unwrap()
}

fn armored(bytes: &[u8]) -> String {
    let digits = data_encoding::BASE64.encode(bytes);
    let lines: Vec<&str> = digits
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    let label = "SEALSTONE PUBLIC PASSPORT-----";
    format!(
        "-----BEGIN {label}\n{}\n-----END {label}\n",
        lines.join("\n")
    )
}

#[test]
fn a_public_passport_is_read() {
    let alice = passport("Alice");
    let public = PublicPassport::from_armor(alice.public().to_armor().as_bytes()).unwrap();
    assert_eq!(public.contact().fingerprint(), alice.fingerprint());
    assert_eq!(
        (public.contact().label(), public.contact().created()),
        ("Alice", 1_767_225_600)
    );
    assert!(public.contact().is_complete() && public.succession().is_none());
}

#[test]
fn every_flipped_byte_is_noticed() {
    let good = bytes(&passport("Alice").public().to_armor());
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        let result = PublicPassport::from_armor(armored(&bad).as_bytes());
        assert!(
            matches!(
                result,
                Err(Error::Malformed(_) | Error::Unsupported(_) | Error::Altered(_))
            ),
            "byte {at}: {result:?}"
        );
    }
}

#[test]
fn every_cut_is_noticed() {
    let good = bytes(&passport("Alice").public().to_armor());
    for len in 0..good.len() {
        assert!(
            PublicPassport::from_armor(armored(&good[..len]).as_bytes()).is_err(),
            "cut to {len}"
        );
    }
    assert!(PublicPassport::from_armor(armored(&[&good[..], &[0]].concat()).as_bytes()).is_err());
}

#[test]
fn every_cut_and_every_flipped_character_of_the_text_is_noticed() {
    let good = passport("Alice").public().to_armor().into_bytes();
    let read = |text: &[u8]| PublicPassport::from_armor(text).map(drop);
    // The last line may lack its ending.
    for len in 0..good.len() - 1 {
        assert!(read(&good[..len]).is_err(), "cut to {len}");
    }
    read(&good[..good.len() - 1]).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 7);
        // Line endings may change between allowed forms.
        let blank = good[at].is_ascii_whitespace() && bad[at].is_ascii_whitespace();
        assert!(read(&bad).is_err() || blank, "character {at}");
    }
}

#[test]
fn a_newer_version_is_told_from_garbage() {
    // [body, ed25519, ml_dsa_87]. The body of version 2 has only a field 99, which is unknown to
    // this version.
    let body = [0xa2, 0x00, 0x02, 0x18, 0x63, 0x00];
    let newer = [&[0x83, 0x46][..], &body, &[0x40, 0x40]].concat();
    let result = PublicPassport::from_armor(armored(&newer).as_bytes());
    assert!(matches!(result, Err(Error::Unsupported(_))), "{result:?}");
    let garbage = [&[0x83, 0x46][..], &[0xff; 6], &[0x40, 0x40]].concat();
    let result = PublicPassport::from_armor(armored(&garbage).as_bytes());
    assert!(matches!(result, Err(Error::Malformed(_))), "{result:?}");
}

#[test]
fn signatures_of_another_passport_are_refused() {
    // Everything up to the signatures is Alice's, the signatures are Bob's.
    let (alice, bob) = (
        bytes(&passport("Alice").public().to_armor()),
        bytes(&passport("Bobby").public().to_armor()),
    );
    assert_eq!(alice.len(), bob.len());
    let body = alice.len() - (2 + 64 + 3 + 4627);
    let result =
        PublicPassport::from_armor(armored(&[&alice[..body], &bob[body..]].concat()).as_bytes());
    assert!(matches!(result, Err(Error::Altered(_))), "{result:?}");
}

#[test]
fn a_successor_is_known_by_its_predecessor() {
    let (old, new, other) = (passport("old"), passport("new"), passport("other"));
    let public = PublicPassport::from_armor(old.succeed(&new, 42).to_armor().as_bytes()).unwrap();
    assert_eq!(public.contact().fingerprint(), new.fingerprint());
    let succession = public.succession().unwrap();
    assert_eq!(
        (succession.predecessor(), succession.time()),
        (old.fingerprint(), 42)
    );

    succession
        .verify(old.contact(), &new.fingerprint())
        .unwrap();
    let wrong = [
        (old.contact(), other.fingerprint()),
        (other.contact(), new.fingerprint()),
        (new.contact(), new.fingerprint()),
    ];
    for (predecessor, successor) in wrong {
        assert!(matches!(
            succession.verify(predecessor, &successor),
            Err(Error::Altered("succession"))
        ));
    }
}

#[test]
fn a_succession_that_others_made_up_does_not_verify() {
    // Mallory distributes a passport that claims to succeed Alice's, with Alice's statement about
    // another passport.
    let (alice, bob, mallory) = (passport("alice"), passport("bob"), passport("mallory"));
    let statement = alice.succeed(&bob, 42);
    let claim = mallory.succeed(&mallory, 42);
    let claim = claim.succession().unwrap();
    assert!(
        claim
            .verify(alice.contact(), &mallory.fingerprint())
            .is_err()
    );
    assert!(
        statement
            .succession()
            .unwrap()
            .verify(alice.contact(), &mallory.fingerprint())
            .is_err()
    );
}
