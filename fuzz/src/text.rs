//! Text that people type: words, shares, recovery keys, fingerprints, passphrases.

use arbitrary::Unstructured;
use sealstone::Passphrase;
use sealstone::passport::{Fingerprint, Passport, RecoveryKey, Share, Words};

use crate::PLANTED;
use crate::edit::edited;
use crate::golden::{ALICE, SHARES, WORDS};

/// Accepted text has the same value after display and parsing.
pub fn text(data: &[u8]) {
    let typed = typed(data);
    let typed = String::from_utf8_lossy(&typed);
    if PLANTED {
        // The planted bug: every character is assumed to be one byte.
        std::hint::black_box(&typed[..typed.len().min(15)]);
    }
    if let Ok(words) = Words::parse(&typed) {
        let again = Words::parse(&words.expose()).expect("shown words are read");
        assert!(*words.expose() == *again.expose());
    }
    if let Ok(key) = RecoveryKey::parse(&typed) {
        let again = RecoveryKey::parse(&key.expose()).expect("a shown recovery key is read");
        assert!(*key.expose() == *again.expose());
        assert!(digits(&typed) == digits(&key.expose()));
    }
    if let Ok(fingerprint) = typed.parse::<Fingerprint>() {
        assert_eq!(
            fingerprint.to_string().parse::<Fingerprint>().ok(),
            Some(fingerprint)
        );
    }
    if let Ok(passphrase) = Passphrase::from_line(typed.as_bytes()) {
        let again = Passphrase::new(passphrase.expose()).expect("not empty");
        assert!(again.expose() == passphrase.expose());
    }
    if let Ok(share) = Share::parse(&typed) {
        check_share(share, &typed);
    }
}

fn typed(data: &[u8]) -> Vec<u8> {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    match mode % 4 {
        0 => bytes.take_rest().to_vec(),
        1 => edited(WORDS, &mut bytes),
        2 if (mode / 4).is_multiple_of(2) => {
            edited(b"GOLD-ENKE-YABC-DEFG-HIJK-LMNO-PQRS-TUVW", &mut bytes)
        }
        2 => edited(ALICE.fingerprint().to_string().as_bytes(), &mut bytes),
        _ => edited(share_line(mode / 4), &mut bytes),
    }
}

fn share_line(index: usize) -> &'static [u8] {
    SHARES
        .split(|&byte| byte == b'\n')
        .nth(index % 5)
        .expect("five shares")
}

/// An accepted share, joined with two right shares, gives Alice's passport or an error.
fn check_share(share: Share, typed: &str) {
    assert!(digits(typed) == digits(&share.expose()));
    let right =
        |index| Share::parse(&String::from_utf8_lossy(share_line(index))).expect("a golden share");
    let number = share.number();
    let others = (0..5)
        .map(right)
        .filter(|other| other.number() != number)
        .take(2);
    let shares: Vec<Share> = others.chain([share]).collect();
    if let Ok(passport) = Passport::from_shares(&shares, "joined", 0) {
        assert_eq!(passport.fingerprint(), ALICE.fingerprint());
    }
}

/// Upper case, without separators: dashes, white space, invisible characters. All digits are ASCII.
fn digits(typed: &str) -> String {
    let is_digit = |c: &char| c.is_ascii_graphic() && *c != '-';
    let digits = typed.chars().filter(is_digit);
    digits.map(|c| c.to_ascii_uppercase()).collect()
}
