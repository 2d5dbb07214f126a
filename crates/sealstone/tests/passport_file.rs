//! Use of secret passports: several passphrases, recovery keys, changes.

use std::time::{Duration, Instant};

use sealstone::passport::{
    NewSlot, Passport, RecoveryKey, SecretPassport, Slot, SlotKey, SlotKind,
};
use sealstone::{Error, KdfLimits, KdfParams, KdfProgress, NO_PROGRESS, Passphrase};

const CREATED: u64 = 1_767_225_600;

fn params() -> KdfParams {
    KdfParams::new(7168, 5, 1).unwrap()
}

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.as_bytes()).unwrap()
}

fn with_passphrase<'a>(key: &'a Passphrase, name: &'a str) -> NewSlot<'a> {
    NewSlot {
        key: SlotKey::Passphrase(key),
        name,
        created: CREATED + 1,
        params: params(),
        on_progress: NO_PROGRESS,
    }
}

fn with_recovery_key<'a>(key: &'a RecoveryKey, name: &'a str) -> NewSlot<'a> {
    NewSlot {
        key: SlotKey::RecoveryKey(key),
        name,
        created: CREATED + 2,
        params: params(),
        on_progress: NO_PROGRESS,
    }
}

fn alice(key: &Passphrase) -> (Passport, SecretPassport) {
    let passport = Passport::generate("Alice", CREATED).unwrap();
    let file = SecretPassport::new(&passport, &with_passphrase(key, "first")).unwrap();
    (passport, file)
}

#[test]
fn a_generated_passphrase_unlocks_without_its_dashes() {
    let generated = Passphrase::generate();
    let shown = std::str::from_utf8(generated.expose()).unwrap();
    let (_, file) = alice(&generated);
    assert_eq!(
        opens(&file, &passphrase(&shown.replace('-', " ")), None).unwrap(),
        1
    );
    let reported = std::sync::atomic::AtomicU64::new(0);
    let unlocked = file.unlock(
        &generated,
        None,
        &KdfLimits::default(),
        &|progress: KdfProgress| {
            reported.store(progress.done, std::sync::atomic::Ordering::Relaxed);
        },
    );
    assert!(unlocked.is_ok() && reported.into_inner() > 30_000);
}

fn reread(file: &SecretPassport) -> SecretPassport {
    SecretPassport::from_armor(file.to_armor().as_bytes()).unwrap()
}

fn ids(file: &SecretPassport) -> Vec<u32> {
    file.slots().iter().map(Slot::id).collect()
}

/// The number of the slot that `key` opens.
fn opens(file: &SecretPassport, key: &Passphrase, slot: Option<u32>) -> Result<u32, Error> {
    let unlocked = file.unlock(key, slot, &KdfLimits::default(), NO_PROGRESS)?;
    assert_eq!(unlocked.passport().fingerprint(), file.fingerprint());
    Ok(unlocked.slot())
}

fn assert_wrong(file: &SecretPassport, key: &Passphrase, slot: Option<u32>) {
    let result = opens(file, key, slot);
    assert!(matches!(result, Err(Error::WrongPassphrase)), "{result:?}");
}

#[test]
fn all_passphrases_and_the_recovery_key_open() {
    let (first, second) = (passphrase("first secret"), passphrase("second secret"));
    let recovery = RecoveryKey::generate();
    let (passport, file) = alice(&first);
    let mut unlocked = file
        .unlock(&first, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    assert_eq!(
        unlocked
            .add_slot(&with_passphrase(&second, "second"))
            .unwrap(),
        2
    );
    assert_eq!(
        unlocked
            .add_slot(&with_recovery_key(&recovery, "drawer"))
            .unwrap(),
        3
    );

    let file = reread(unlocked.file());
    let shown: Vec<_> = file
        .slots()
        .iter()
        .map(|s| (s.id(), s.kind(), s.name(), s.created(), s.params()))
        .collect();
    let expected = [
        (1, SlotKind::Passphrase, "first", CREATED + 1, params()),
        (2, SlotKind::Passphrase, "second", CREATED + 1, params()),
        (3, SlotKind::RecoveryKey, "drawer", CREATED + 2, params()),
    ];
    assert_eq!(shown, expected);
    assert_eq!(
        (file.label(), file.created(), file.fingerprint()),
        ("Alice", CREATED, passport.fingerprint())
    );

    assert_eq!(opens(&file, &first, None).unwrap(), 1);
    assert_eq!(opens(&file, &second, None).unwrap(), 2);
    assert_eq!(opens(&file, &second, Some(2)).unwrap(), 2);
    assert_wrong(&file, &second, Some(1));
    assert_wrong(&file, &passphrase("third secret"), None);
    let typed = passphrase(&recovery.expose().to_lowercase().replace('-', " "));
    assert_eq!(opens(&file, &typed, None).unwrap(), 3);
    assert_wrong(&file, &typed, Some(1));
    assert!(matches!(
        opens(&file, &first, Some(4)),
        Err(Error::Invalid(_))
    ));
}

#[test]
fn a_passphrase_that_looks_like_a_recovery_key_still_opens() {
    let odd = passphrase("abcd efgh ijkl mnop qrst uvwx yz23 4567");
    let (_, file) = alice(&odd);
    assert_eq!(opens(&file, &odd, None).unwrap(), 1);
    assert_wrong(
        &file,
        &passphrase("ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ23-4567"),
        None,
    );
}

#[test]
fn passphrases_are_not_tried_on_recovery_slots() {
    // The only slot is one for a recovery key: a passphrase is refused without a single Argon2id,
    // even one above all limits.
    let passport = Passport::generate("Alice", CREATED).unwrap();
    let file =
        SecretPassport::new(&passport, &with_recovery_key(&RecoveryKey::generate(), "")).unwrap();
    let nothing = KdfLimits {
        memory_kib: 0,
        work_kib: 0,
    };
    assert!(matches!(
        file.unlock(&passphrase("a guess"), None, &nothing, NO_PROGRESS),
        Err(Error::WrongPassphrase)
    ));
    let other = passphrase(&RecoveryKey::generate().expose());
    assert!(matches!(
        file.unlock(&other, None, &nothing, NO_PROGRESS),
        Err(Error::KdfLimit { .. })
    ));
    assert_wrong(&file, &other, None);
}

#[test]
fn changed_slots_open_with_the_new_passphrase_only() {
    let (old, new) = (passphrase("old"), passphrase("new"));
    let (_, file) = alice(&old);
    let mut unlocked = file
        .unlock(&old, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    unlocked
        .change_slot(1, &with_passphrase(&new, "renamed"))
        .unwrap();
    assert!(matches!(
        unlocked.change_slot(2, &with_passphrase(&new, "")),
        Err(Error::Invalid(_))
    ));

    let changed = reread(unlocked.file());
    assert_eq!(
        (ids(&changed), changed.slots()[0].name()),
        (vec![1], "renamed")
    );
    assert_eq!(opens(&changed, &new, None).unwrap(), 1);
    assert_wrong(&changed, &old, None);
    // As in the specification: a copy of the old file still opens with the old passphrase.
    assert_eq!(opens(&file, &old, None).unwrap(), 1);
}

#[test]
fn numbers_of_removed_slots_are_never_given_again() {
    let (first, second) = (passphrase("first"), passphrase("second"));
    let (_, file) = alice(&first);
    let mut unlocked = file
        .unlock(&first, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    unlocked.add_slot(&with_passphrase(&second, "")).unwrap();
    unlocked.remove_slot(2).unwrap();
    let file = reread(unlocked.file());
    assert_wrong(&file, &second, None);

    let mut unlocked = file
        .unlock(&first, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    assert_eq!(unlocked.add_slot(&with_passphrase(&second, "")).unwrap(), 3);
    unlocked.remove_slot(1).unwrap();
    assert_eq!(ids(unlocked.file()), [3]);
    assert!(matches!(unlocked.remove_slot(1), Err(Error::Invalid(_))));
    assert!(
        matches!(unlocked.remove_slot(3), Err(Error::Invalid(_))),
        "the last slot"
    );
    assert_eq!(opens(&reread(unlocked.file()), &second, None).unwrap(), 3);
}

#[test]
fn there_is_room_for_16_slots() {
    let key = passphrase("same");
    let (_, file) = alice(&key);
    let mut unlocked = file
        .unlock(&key, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    for id in 2..=16 {
        assert_eq!(unlocked.add_slot(&with_passphrase(&key, "")).unwrap(), id);
    }
    assert!(matches!(
        unlocked.add_slot(&with_passphrase(&key, "")),
        Err(Error::Invalid(_))
    ));
    assert_eq!(opens(&reread(unlocked.file()), &key, Some(16)).unwrap(), 16);
}

#[test]
fn labels_and_names_are_short_printable_text() {
    for label in ["", "a\nb", "\u{202e}ecilA", &"a".repeat(65)] {
        assert!(
            matches!(Passport::generate(label, CREATED), Err(Error::Invalid(_))),
            "{label:?}"
        );
    }
    let (key, passport) = (
        passphrase("secret"),
        Passport::generate("Alice", CREATED).unwrap(),
    );
    for name in ["a\u{7}b", &"a".repeat(65)] {
        assert!(
            matches!(
                SecretPassport::new(&passport, &with_passphrase(&key, name)),
                Err(Error::Invalid(_))
            ),
            "{name:?}"
        );
    }
}

#[test]
fn passphrases_typed_on_other_keyboards_open() {
    let (_, file) = alice(&passphrase("na\u{ef}ve caf\u{e9}"));
    assert_eq!(
        opens(
            &file,
            &Passphrase::from_line("nai\u{308}ve cafe\u{301}\r\n".as_bytes()).unwrap(),
            None
        )
        .unwrap(),
        1
    );
}

#[test]
fn four_tebibytes_are_refused_at_once() {
    let key = passphrase("secret");
    let (_, file) = alice(&key);
    let body = |text: &str| {
        text.lines()
            .filter(|line| !line.starts_with('-'))
            .collect::<String>()
    };
    let good = data_encoding::BASE64
        .decode(body(&file.to_armor()).as_bytes())
        .unwrap();
    let at = good
        .windows(3)
        .position(|three| three == [0x19, 0x1c, 0x00])
        .expect("m = 7168 in CBOR");
    // The outer byte string grows with the number: 5 and 9 bytes of CBOR instead of 3.
    let hostile = |m: &[u8]| {
        let mut bytes = [&good[..at], m, &good[at + 3..]].concat();
        bytes[2] += (m.len() - 3) as u8;
        let text = data_encoding::BASE64.encode(&bytes);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        let label = "SEALSTONE SECRET PASSPORT-----";
        format!(
            "-----BEGIN {label}\n{}\n-----END {label}\n",
            lines.join("\n")
        )
    };
    let start = Instant::now();
    let almost =
        SecretPassport::from_armor(hostile(&[0x1a, 0xff, 0xff, 0xff, 0xff]).as_bytes()).unwrap();
    let refused = almost.unlock(&key, None, &KdfLimits::default(), NO_PROGRESS);
    assert!(
        matches!(
            refused,
            Err(Error::KdfLimit {
                wanted: 0xffff_ffff,
                what: "memory",
                ..
            })
        ),
        "{refused:?}"
    );
    let exactly = SecretPassport::from_armor(hostile(&[0x1b, 0, 0, 0, 1, 0, 0, 0, 0]).as_bytes());
    assert!(matches!(exactly, Err(Error::Malformed(_))), "{exactly:?}");
    assert!(start.elapsed() < Duration::from_millis(100));
}

#[test]
fn nothing_secret_is_printed() {
    let key = passphrase("secret");
    let (passport, file) = alice(&key);
    let unlocked = file
        .unlock(&key, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    let words = passport.words().expose();
    let shown = format!(
        "{passport:?} {unlocked:?} {file:?} {:?} {:?}",
        passport.split(2, 2).unwrap(),
        with_passphrase(&key, "").key
    );
    assert!(!shown.contains("secret"), "{shown}");
    assert!(shown.contains("Alice") && shown.contains(&passport.fingerprint().to_string()));
    // A single word may be part of a type's name: "pass", "slot".
    let words: Vec<&str> = words.split(' ').collect();
    let leaked = words.windows(2).any(|pair| shown.contains(&pair.join(" ")));
    assert!(!leaked, "{shown}");
}
