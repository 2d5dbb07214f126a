//! Passports of every version of the format open for ever (`tests/golden`).

use sealstone::passport::{
    NewSlot, Passport, PublicPassport, RecoveryKey, SecretPassport, Share, Slot, SlotKey, Words,
};
use sealstone::{KdfLimits, KdfParams, NO_PROGRESS, Passphrase};
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::secret::Secret;

/// From `tests/interop/passport.py check`, which derives them with other libraries.
const ALICE: &str = "f1ab2331-0284a660-bc7a7f5d-58da40b8-49c4fb29-81f99e68-e9b728a4-6311febc";
const BOB: &str = "4daab9b6-aec25863-d1c1746c-df5ae571-d5015599-d05e24fa-2574cbd2-ff124e7b";

macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("golden/v1/", $name))
    };
}

fn secret(file: &str) -> SecretPassport {
    SecretPassport::from_armor(file.as_bytes()).unwrap()
}

fn public(file: &str) -> PublicPassport {
    PublicPassport::from_armor(file.as_bytes()).unwrap()
}

fn opens(file: &SecretPassport, passphrase: &str, slot: u32) {
    let passphrase = Passphrase::new(passphrase.as_bytes()).unwrap();
    let unlocked = file
        .unlock(&passphrase, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    assert_eq!(
        (unlocked.slot(), unlocked.passport().fingerprint()),
        (slot, file.fingerprint())
    );
}

fn assert_alice(passport: &Passport) {
    assert_eq!(passport.fingerprint(), ALICE.parse().unwrap());
}

#[test]
fn secret_passports_open_with_every_slot() {
    let alice = secret(golden!("alice.passport"));
    assert_eq!(
        (alice.label(), alice.created(), alice.fingerprint()),
        ("Alice", 1_767_225_600, ALICE.parse().unwrap())
    );
    assert_eq!(
        alice.slots().iter().map(Slot::id).collect::<Vec<_>>(),
        [1, 3, 4]
    );
    opens(&alice, "golden alice one", 1);
    opens(&alice, "golden café two", 3);
    opens(&alice, "gold enke yabc defg hijk lmno pqrs tuvw", 4);
    assert_eq!(alice.to_armor(), golden!("alice.passport"));

    let bob = secret(golden!("bob.passport"));
    assert_eq!(
        (bob.label(), bob.created(), bob.fingerprint()),
        ("Bob Åström", 1_767_225_601, BOB.parse().unwrap())
    );
    opens(&bob, "golden bob", 1);
    assert_eq!(bob.to_armor(), golden!("bob.passport"));
}

#[test]
fn public_passports_and_the_succession_verify() {
    let (alice, bob) = (public(golden!("alice.pub")), public(golden!("bob.pub")));
    assert_eq!(
        (alice.contact().label(), alice.contact().fingerprint()),
        ("Alice", ALICE.parse().unwrap())
    );
    assert_eq!(
        (bob.contact().label(), bob.contact().fingerprint()),
        ("Bob Åström", BOB.parse().unwrap())
    );
    assert_eq!(bob.to_armor(), golden!("bob.pub"));
    let succession = bob.succession().unwrap();
    assert_eq!(succession.time(), 1_767_225_620);
    succession
        .verify(alice.contact(), &bob.contact().fingerprint())
        .unwrap();
}

#[test]
fn backups_restore() {
    let seed = Secret::from_slice(&sha3_256(b"sealstone golden v1 alice")).unwrap();
    assert_alice(&Passport::from_seed(seed, "Alice", 0).unwrap());
    assert_alice(
        &Passport::from_words(&Words::parse(golden!("alice.words")).unwrap(), "Alice", 0).unwrap(),
    );
    let shares: Vec<Share> = golden!("alice.shares")
        .lines()
        .map(|line| Share::parse(line).unwrap())
        .collect();
    assert_eq!(shares.len(), 5);
    for chosen in [&shares[..3], &shares[2..], &shares] {
        assert_alice(&Passport::from_shares(chosen, "Alice", 0).unwrap());
    }
}

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.as_bytes()).unwrap()
}

fn slot<'a>(key: SlotKey<'a>, name: &'a str, created: u64, params: KdfParams) -> NewSlot<'a> {
    NewSlot {
        key,
        name,
        created,
        params,
        on_progress: NO_PROGRESS,
    }
}

fn from_seed(name: &str, label: &str, created: u64) -> Passport {
    let seed = sha3_256(format!("sealstone golden v1 {name}").as_bytes());
    Passport::from_seed(Secret::from_slice(&seed).unwrap(), label, created).unwrap()
}

fn alice_of_today() -> SecretPassport {
    let usual = KdfParams::new(7168, 5, 1).unwrap();
    let [one, removed, two] = ["golden alice one", "removed", "golden café two"].map(passphrase);
    let recovery = RecoveryKey::parse("GOLD-ENKE-YABC-DEFG-HIJK-LMNO-PQRS-TUVW").unwrap();
    let first = slot(SlotKey::Passphrase(&one), "one", 1_767_225_610, usual);
    let alice = from_seed("alice", "Alice", 1_767_225_600);
    let file = SecretPassport::new(&alice, &first).unwrap();
    let mut unlocked = file
        .unlock(&one, None, &KdfLimits::default(), NO_PROGRESS)
        .unwrap();
    let four_lanes = KdfParams::new(8192, 5, 4).unwrap();
    for slot in [
        slot(SlotKey::Passphrase(&removed), "", 1_767_225_611, usual),
        slot(SlotKey::Passphrase(&two), "", 1_767_225_612, four_lanes),
        slot(
            SlotKey::RecoveryKey(&recovery),
            "drawer",
            1_767_225_613,
            usual,
        ),
    ] {
        unlocked.add_slot(&slot).unwrap();
    }
    unlocked.remove_slot(2).unwrap();
    unlocked.file().clone()
}

/// Rewrites the golden secret passports. Only before the first release.
#[test]
#[ignore = "rewrites the golden files"]
fn make_golden_passports() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");
    let write = |name: &str, file: &SecretPassport| {
        std::fs::write(format!("{dir}/{name}.passport"), file.to_armor()).unwrap();
    };
    write("alice", &alice_of_today());
    let key = passphrase("golden bob");
    let params = KdfParams::new(7168, 5, 1).unwrap();
    let only = slot(SlotKey::Passphrase(&key), "", 1_767_225_614, params);
    let bob = from_seed("bob", "Bob Åström", 1_767_225_601);
    write("bob", &SecretPassport::new(&bob, &only).unwrap());
}
