//! Words and shares restore a passport, and only that passport.

use proptest::prelude::*;
use sealstone::Error;
use sealstone::passport::{Passport, Share, Words};

fn alice() -> Passport {
    Passport::generate("Alice", 1_767_225_600).unwrap()
}

fn restored(shares: &[&Share]) -> Result<Passport, Error> {
    let copies: Vec<Share> = shares
        .iter()
        .map(|share| Share::parse(&share.expose()).unwrap())
        .collect();
    Passport::from_shares(&copies, "restored", 0)
}

#[test]
fn words_bring_the_passport_back() {
    let alice = alice();
    let words = alice.words();
    let typed = Words::parse(&words.expose().to_uppercase()).unwrap();
    let again = Passport::from_words(&typed, "Alice again", 7).unwrap();
    assert_eq!(again.fingerprint(), alice.fingerprint());
    assert_eq!(
        (again.contact().label(), again.contact().created()),
        ("Alice again", 7)
    );
    assert_eq!(*again.words().expose(), *words.expose());
}

#[test]
fn every_pair_of_three_shares_restores() {
    let alice = alice();
    let shares = alice.split(2, 3).unwrap();
    assert_eq!(
        shares
            .iter()
            .map(|share| (share.number(), share.threshold()))
            .collect::<Vec<_>>(),
        [(1, 2), (2, 2), (3, 2)]
    );
    assert!(
        shares
            .iter()
            .all(|share| share.passport() == alice.fingerprint().as_bytes()[..8])
    );
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        assert_eq!(
            restored(&[&shares[a], &shares[b]]).unwrap().fingerprint(),
            alice.fingerprint()
        );
    }
    assert_eq!(
        restored(&[&shares[2], &shares[0], &shares[1]])
            .unwrap()
            .fingerprint(),
        alice.fingerprint()
    );
}

#[test]
fn shares_are_read_in_any_spelling_and_no_other() {
    let share = &alice().split(2, 2).unwrap()[0];
    let shown = share.expose();
    for typed in [
        shown.to_lowercase(),
        shown.replace('-', ""),
        format!(" {}\n", shown.replace('-', " \n")),
    ] {
        assert_eq!(*Share::parse(&typed).unwrap().expose(), *shown);
    }
    for (at, character) in shown.char_indices().filter(|(_, c)| *c != '-') {
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
            .chars()
            .filter(|other| *other != character)
        {
            let mut typed = shown.to_string();
            typed.replace_range(at..=at, &other.to_string());
            assert!(Share::parse(&typed).is_err(), "{typed}");
        }
    }
    for len in 0..shown.len() {
        assert!(Share::parse(&shown[..len]).is_err(), "cut to {len}");
    }
    assert!(Share::parse(&format!("{}A", *shown)).is_err());
}

#[test]
fn wrong_sets_of_shares_are_refused() {
    let (alice, bob) = (alice(), alice());
    let (ours, again, theirs) = (
        alice.split(2, 3).unwrap(),
        alice.split(2, 3).unwrap(),
        bob.split(2, 3).unwrap(),
    );
    let of_three = alice.split(3, 3).unwrap();
    let cases: [(&str, &[&Share]); 6] = [
        ("none", &[]),
        ("too few", &[&ours[0]]),
        ("one twice", &[&ours[0], &ours[0]]),
        ("another split", &[&ours[0], &again[1]]),
        ("another passport", &[&ours[0], &theirs[1]]),
        ("another threshold", &[&ours[0], &of_three[1], &of_three[2]]),
    ];
    for (what, shares) in cases {
        assert!(matches!(restored(shares), Err(Error::Invalid(_))), "{what}");
    }
    assert!(matches!(
        restored(&[&of_three[0], &of_three[1]]),
        Err(Error::Invalid(_))
    ));
}

#[test]
fn splits_out_of_bounds_are_refused() {
    let alice = alice();
    for (threshold, count) in [
        (0, 3),
        (1, 3),
        (4, 3),
        (2, 17),
        (2, 255),
        (2, 1),
        (255, 255),
    ] {
        assert!(
            matches!(alice.split(threshold, count), Err(Error::Invalid(_))),
            "{threshold} of {count}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_k_of_n_shares_restore(
        (threshold, count) in (2u8..=16).prop_flat_map(|n| (2..=n, Just(n))),
        order in Just((0..16usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let alice = alice();
        let shares = alice.split(threshold, count).unwrap();
        let chosen: Vec<&Share> = order.iter().filter_map(|i| shares.get(*i)).take(usize::from(threshold)).collect();
        prop_assert_eq!(restored(&chosen).unwrap().fingerprint(), alice.fingerprint());
        prop_assert!(matches!(restored(&chosen[1..]), Err(Error::Invalid(_))));
    }
}
