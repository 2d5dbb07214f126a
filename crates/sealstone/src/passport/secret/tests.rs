//! Every way to damage a secret passport is noticed.
//!
//! The slots here cost next to nothing. Readers refuse such slots, so the tests parse without that
//! rule.

use super::*;
use crate::passport::SlotKey;
use crate::{KdfLimits, KdfParams, KdfProgress, NO_PROGRESS};

/// Room for a few slots: each counts as 128 KiB at least.
const LIMITS: KdfLimits = KdfLimits {
    memory_kib: 64,
    work_kib: 1024,
};

fn passport(label: &str) -> Passport {
    Passport::from_seed(
        Secret::with(|seed| seed.fill(label.len() as u8)),
        label,
        1_767_225_600,
    )
    .unwrap()
}

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.as_bytes()).unwrap()
}

/// A file with one slot for each of `passphrases`.
fn file(passport: &Passport, passphrases: &[&str]) -> SecretPassport {
    let mut body = Body {
        version: VERSION,
        fingerprint: passport.fingerprint(),
        label: passport.contact().label().to_owned(),
        created: passport.contact().created(),
        slots: Vec::new(),
        next_id: 1,
    };
    for text in passphrases {
        let params = KdfParams::read(8, 1, 1).unwrap();
        let new = NewSlot {
            key: SlotKey::Passphrase(&passphrase(text)),
            name: text,
            created: 0,
            params,
            on_progress: NO_PROGRESS,
        };
        let slot = Slot::wrap(body.next_id, &new, body.owner(), passport.seed()).unwrap();
        body.slots.push(slot);
        body.next_id += 1;
    }
    let mac = body.mac(passport).finish();
    SecretPassport { body, mac }
}

fn sealed(file: &SecretPassport) -> Vec<u8> {
    cbor::encode(&Sealed {
        body: cbor::encode(&file.body),
        mac: file.mac,
    })
}

fn armored(sealed: &[u8]) -> Vec<u8> {
    armor::encode(Label::SecretPassport, sealed).into_bytes()
}

/// The result of opening an armored file with the passphrase `one`.
fn unlock(text: &[u8]) -> Result<Fingerprint> {
    let unlocked =
        SecretPassport::parse(text)?.unlock(&passphrase("one"), None, &LIMITS, NO_PROGRESS)?;
    Ok(unlocked.passport().fingerprint())
}

fn assert_refused(text: &[u8], what: &str) {
    let error = unlock(text).expect_err(what);
    let right = matches!(
        error,
        Error::Malformed(_)
            | Error::Armor(_)
            | Error::OtherKind { .. }
            | Error::Unsupported(_)
            | Error::WrongPassphrase
            | Error::KdfLimit { .. }
    );
    assert!(right, "{what}: {error:?}");
}

fn assert_altered(file: &SecretPassport, what: &str) {
    let error = unlock(file.to_armor().as_bytes()).expect_err(what);
    assert!(matches!(error, Error::WrongPassphrase), "{what}: {error:?}");
}

#[test]
fn a_written_passport_is_read() {
    let alice = passport("Alice");
    let file = file(&alice, &["one", "two"]);
    assert_eq!(
        unlock(file.to_armor().as_bytes()).unwrap(),
        alice.fingerprint()
    );
    let again = SecretPassport::parse(file.to_armor().as_bytes()).unwrap();
    assert_eq!(
        (again.label(), again.created(), again.slots().len()),
        ("Alice", 1_767_225_600, 2)
    );
    assert_eq!(again.to_armor(), file.to_armor());
}

#[test]
fn every_flipped_bit_is_noticed() {
    let good = sealed(&file(&passport("Alice"), &["one", "two"]));
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            assert_refused(&armored(&bad), &format!("byte {at} bit {bit}"));
        }
    }
}

#[test]
fn every_flipped_bit_of_the_text_is_noticed() {
    let good = file(&passport("Alice"), &["one"]).to_armor().into_bytes();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            assert_refused(&bad, &format!("byte {at} bit {bit}"));
        }
    }
}

#[test]
fn every_cut_of_the_text_is_noticed() {
    let good = file(&passport("Alice"), &["one"]).to_armor().into_bytes();
    // The last line may lack its ending.
    for len in 0..good.len() - 1 {
        assert_refused(&good[..len], &format!("cut to {len}"));
    }
    unlock(&good[..good.len() - 1]).unwrap();
}

#[test]
fn every_cut_and_every_extra_byte_is_noticed() {
    let good = sealed(&file(&passport("Alice"), &["one", "two"]));
    for len in 0..good.len() {
        assert_refused(&armored(&good[..len]), &format!("cut to {len}"));
    }
    for extra in 0..=255 {
        assert_refused(
            &armored(&[&good[..], &[extra]].concat()),
            &format!("byte {extra} more"),
        );
    }
}

#[test]
fn slots_that_come_go_or_move_are_noticed() {
    let alice = passport("Alice");
    let good = file(&alice, &["one", "two", "three"]);

    let mut removed = good.clone();
    removed.body.slots.pop();
    assert_altered(&removed, "removed");

    let mut lowered = removed.clone();
    lowered.body.next_id = 3;
    assert_altered(&lowered, "removed, and its number free again");

    let mut exchanged = good.clone();
    exchanged.body.slots[2] = file(&alice, &["x", "y", "z"]).body.slots.remove(2);
    assert_altered(&exchanged, "another passphrase's slot");

    let mut reordered = good.clone();
    reordered.body.slots.swap(1, 2);
    assert_refused(reordered.to_armor().as_bytes(), "reordered");

    let mut doubled = good.clone();
    doubled.body.slots.insert(1, doubled.body.slots[0].clone());
    assert_refused(doubled.to_armor().as_bytes(), "doubled");

    let mut none = good;
    none.body.slots.clear();
    assert_refused(none.to_armor().as_bytes(), "no slots");
}

#[test]
fn a_slot_of_another_passport_does_not_open() {
    let mut alice = file(&passport("Alice"), &["one"]);
    alice.body.slots = file(&passport("Bob"), &["one"]).body.slots;
    assert!(matches!(
        unlock(alice.to_armor().as_bytes()),
        Err(Error::WrongPassphrase)
    ));
}

#[test]
fn a_seed_of_another_passport_is_refused() {
    // Somebody who knows the passphrase wraps another seed for this fingerprint.
    let (alice, bob) = (passport("Alice"), passport("Bob"));
    let mut forged = file(&alice, &["one"]);
    let params = KdfParams::read(8, 1, 1).unwrap();
    let new = NewSlot {
        key: SlotKey::Passphrase(&passphrase("one")),
        name: "",
        created: 0,
        params,
        on_progress: NO_PROGRESS,
    };
    forged.body.slots[0] = Slot::wrap(1, &new, forged.body.owner(), bob.seed()).unwrap();
    forged.mac = forged.body.mac(&bob).finish();
    assert_altered(&forged, "another seed");
}

#[test]
fn edited_fields_are_noticed() {
    let good = file(&passport("Alice"), &["one"]);
    type Edit = fn(&mut Body);
    let edits: [(&str, Edit); 4] = [
        ("label", |body| body.label = "Alicf".into()),
        ("creation time", |body| body.created += 1),
        ("fingerprint", |body| {
            body.fingerprint = Fingerprint::from_bytes([7; 32])
        }),
        ("next id", |body| body.next_id += 1),
    ];
    for (what, edit) in edits {
        let mut bad = good.clone();
        edit(&mut bad.body);
        assert_refused(bad.to_armor().as_bytes(), what);
    }
}

#[test]
fn hostile_fields_are_refused_when_read() {
    let good = file(&passport("Alice"), &["one"]);
    type Edit = fn(&mut Body);
    let edits: [(&str, Edit); 6] = [
        ("label with an escape", |body| {
            body.label = "\u{1b}[2J".into()
        }),
        ("empty label", |body| body.label.clear()),
        ("long label", |body| body.label = "a".repeat(65)),
        ("next id taken", |body| body.next_id = 1),
        ("next id zero", |body| body.next_id = 0),
        ("17 slots", |body| {
            body.slots = vec![body.slots[0].clone(); 17]
        }),
    ];
    for (what, edit) in edits {
        let mut bad = good.clone();
        edit(&mut bad.body);
        let error = SecretPassport::parse(bad.to_armor().as_bytes()).expect_err(what);
        assert!(matches!(error, Error::Malformed(_)), "{what}: {error:?}");
    }
}

#[test]
fn a_planted_slot_tells_nothing_about_the_owners_passphrase() {
    // Someone who can write to the file adds slots for guesses, with a seed of their own.
    let (alice, mallory) = (passport("Alice"), passport("Mallory"));
    let outcomes = ["guess", "another"].map(|owners| {
        let mut planted = file(&alice, &[owners]);
        for (id, guess) in [(2, "guess"), (3, "a third")] {
            let new = NewSlot {
                key: SlotKey::Passphrase(&passphrase(guess)),
                name: "",
                created: 0,
                params: KdfParams::read(8, 1, 1).unwrap(),
                on_progress: NO_PROGRESS,
            };
            let slot = Slot::wrap(id, &new, planted.body.owner(), mallory.seed()).unwrap();
            planted.body.slots.push(slot);
        }
        planted.body.next_id = 4;
        let typed = passphrase(owners);
        let derivations = std::sync::atomic::AtomicUsize::new(0);
        let error = planted
            .unlock(&typed, None, &LIMITS, &|progress: KdfProgress| {
                let finished = usize::from(progress.done == progress.total);
                derivations.fetch_add(finished, std::sync::atomic::Ordering::Relaxed);
            })
            .unwrap_err();
        (error.to_string(), derivations.into_inner())
    });
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0].1, 3, "every slot is tried");
}

#[test]
fn a_slot_has_one_passphrase() {
    // The wrapped seed alone could be made to open under several passphrases.
    let alice = passport("Alice");
    let mut foreign = file(&alice, &["one"]);
    foreign.body.slots[0].spoil_commitment();
    foreign.mac = foreign.body.mac(&alice).finish();
    assert_altered(&foreign, "another commitment");

    // A slot that does not open leaves the others usable.
    let mut spoilt = file(&alice, &["one", "one"]);
    spoilt.body.slots[0].spoil_wrapped();
    spoilt.mac = spoilt.body.mac(&alice).finish();
    let unlocked = spoilt.unlock(&passphrase("one"), None, &LIMITS, NO_PROGRESS);
    assert_eq!(unlocked.unwrap().slot(), 2);
}

#[test]
fn a_newer_version_is_told_from_garbage() {
    let mut newer = file(&passport("Alice"), &["one"]);
    newer.body.version = 2;
    let error = SecretPassport::from_armor(newer.to_armor().as_bytes()).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
    // Version 2 with a field that this version does not know.
    let unknown = Sealed {
        body: vec![0xa2, 0x00, 0x02, 0x18, 0x63, 0x00],
        mac: [0; 32],
    };
    let error = SecretPassport::from_armor(&armored(&cbor::encode(&unknown))).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
}

#[test]
fn huge_files_are_refused_unread() {
    assert!(SecretPassport::from_armor(&vec![b'\n'; MAX_LEN + 1]).is_err());
}

#[test]
fn numbers_end_without_wrapping() {
    let alice = passport("Alice");
    let mut full = file(&alice, &["one"]);
    full.body.next_id = u32::MAX;
    let key = passphrase("two");
    let new = NewSlot {
        key: SlotKey::Passphrase(&key),
        name: "",
        created: 0,
        params: KdfParams::new(7168, 5, 1).unwrap(),
        on_progress: NO_PROGRESS,
    };
    assert!(matches!(
        full.add_slot(&alice, &new),
        Err(Error::Invalid(_))
    ));
}

#[test]
fn weak_parameters_are_neither_written_nor_read() {
    let alice = passport("Alice");
    let mut file = file(&alice, &["one"]);
    let key = passphrase("two");
    let new = NewSlot {
        key: SlotKey::Passphrase(&key),
        name: "",
        created: 0,
        params: file.slots()[0].params(),
        on_progress: NO_PROGRESS,
    };
    assert!(matches!(
        file.add_slot(&alice, &new),
        Err(Error::Invalid(_))
    ));
    assert!(matches!(
        file.change_slot(&alice, 1, &new),
        Err(Error::Invalid(_))
    ));
    assert!(matches!(
        SecretPassport::new(&alice, &new),
        Err(Error::Invalid(_))
    ));
    let error = SecretPassport::from_armor(file.to_armor().as_bytes()).unwrap_err();
    assert!(matches!(error, Error::Malformed(_)), "{error:?}");
}

#[test]
fn a_slot_above_the_limits_stops_everything_before_it_starts() {
    let alice = passport("Alice");
    let cheap = file(&alice, &["one"]);
    let edits = [(u32::MAX, 1, "memory"), (64, u32::MAX, "work")];
    for (memory, passes, what) in edits {
        // The slot that opens comes first; the hostile one after it is noticed all the same.
        let mut hostile = file(&alice, &["one", "two"]);
        hostile.body.slots[1].set_params(KdfParams::read(memory, passes, 1).unwrap());
        let error = hostile
            .unlock(&passphrase("one"), None, &LIMITS, NO_PROGRESS)
            .unwrap_err();
        assert!(
            matches!(error, Error::KdfLimit { what: part, .. } if part == what),
            "{error:?}"
        );
        // A named slot is paid for alone; the edit is noticed afterwards.
        let error = hostile
            .unlock(&passphrase("one"), Some(1), &LIMITS, NO_PROGRESS)
            .unwrap_err();
        assert!(matches!(error, Error::WrongPassphrase), "{error:?}");
    }
    assert_eq!(
        cheap
            .unlock(&passphrase("one"), Some(1), &LIMITS, NO_PROGRESS)
            .unwrap()
            .slot(),
        1
    );
}
