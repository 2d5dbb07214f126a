//! The trust store: decisions, unknown senders, and programs that can read its key.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, Status, TrustStore};
use sealstone_files::TrustDirectory;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::mac::HmacSha3_256;

use crate::passport::{DEFAULT, DEFAULT_PUB, with_default};
use crate::world::{PROFILE, World, json, refuse, succeed};

const STORE: &str = "data/sealstone/trust";

fn fingerprint(world: &World, file: &str) -> String {
    let shown = json(&world.done(&["passport", "show", "--json", file]));
    shown["fingerprint"].as_str().unwrap().to_owned()
}

/// Runs it. Returns its messages.
fn says(world: &World, args: &[&str]) -> String {
    let output = world.command(args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// Another program, which can read the key of the store, approves a fingerprint.
fn forge_approval(world: &World, fingerprint: &str) {
    let change = Change {
        time: 1_790_000_000,
        operator: "root",
        note: None,
    };
    let fingerprint: Fingerprint = fingerprint.parse().unwrap();
    TrustStore::open(TrustDirectory::new(world.path(STORE)))
        .unwrap()
        .set_status(&fingerprint, Status::Approved, &change)
        .unwrap();
}

#[test]
fn a_decision_that_the_owner_did_not_countersign_is_found() {
    let world = with_default();
    for (name, label) in [("bob", "Bob"), ("mallory", "Mallory")] {
        let new = ["passport", "new", "-q", "--label", label, PROFILE, "-o"];
        world.done(&[&new[..], &[&format!("{name}.passport")]].concat());
    }
    world.done(&["trust", "approve", "-q", "--yes", "bob.pub"]);
    let said = world.refused(&["trust", "check", "--signed"], 8);
    assert!(
        said.contains("is not countersigned") && said.contains("trust sign"),
        "{said}"
    );
    let said = says(&world, &["trust", "sign"]);
    assert!(
        said.contains("approved") && said.contains("\"Bob\""),
        "{said}"
    );
    let checked = world.done(&["trust", "check", "--signed"]);
    let checked = String::from_utf8(checked).unwrap();
    assert!(
        checked.contains("countersigned: all decisions, on "),
        "{checked}"
    );
    world.done(&["trust", "check", "-q", "--signed", "--by", DEFAULT_PUB]);
    world.refused(&["trust", "check", "--signed", "--by", "bob.pub"], 8);

    forge_approval(&world, &fingerprint(&world, "mallory.passport"));
    world.done(&["trust", "check"]);
    let said = world.refused(&["trust", "check", "--signed"], 8);
    let brief = &fingerprint(&world, "mallory.passport")[..19];
    assert!(
        said.contains("1 decision after") && said.contains(brief),
        "{said}"
    );
}

#[test]
fn a_passport_that_is_unlocked_anyway_countersigns_again() {
    let world = with_default();
    let other = "ab".repeat(32);
    world.done(&["trust", "approve", "-q", "--yes", &other]);
    // Only after the owner's first countersignature.
    world.done(&["seal", "-q", "plan.txt"]);
    world.refused(&["trust", "check", "--signed"], 8);
    world.done(&["trust", "sign", "-q"]);
    world.done(&["trust", "deny", "-q", &other]);
    world.refused(&["trust", "check", "--signed"], 8);
    let said = says(&world, &["open", "-o", "out", "plan.txt.sealed"]);
    assert!(said.contains("countersigned in the trust store"), "{said}");
    assert!(said.contains("denied      abab-abab-abab-abab"), "{said}");
    world.done(&["trust", "check", "-q", "--signed"]);
    world.done(&["trust", "revoke", "-q", &other]);
    world.done(&["seal", "-q", "plan.txt", "-o", "again.sealed"]);
    world.done(&["trust", "check", "-q", "--signed"]);
    // The new passport continues the countersignatures.
    world.done(&["passport", "rotate", "-q", "--revoke"]);
    world.done(&["trust", "check", "-q", "--signed"]);
}

#[test]
fn a_countersignature_that_is_wrong_stops_every_verb() {
    let world = with_default();
    world.done(&["trust", "approve", "-q", "--yes", &"ab".repeat(32)]);
    world.done(&["trust", "sign", "-q"]);
    let signature = format!("{STORE}/signature");
    assert_eq!(world.mode(&signature), 0o600);
    let good = world.read(&signature);
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    world.write(&signature, &bad);
    for verb in [
        &["trust", "list"][..],
        &["seal", "plan.txt"],
        &["trust", "check"],
    ] {
        let said = world.refused(verb, 8);
        assert!(said.contains("countersignature is not authentic"), "{said}");
    }
    world.write(&signature, &good);
    world.done(&["trust", "list"]);
}

#[test]
fn strangers_of_long_ago_can_be_removed() {
    let world = World::new();
    let new = ["passport", "new", "-q", "--label", "Eve", PROFILE, "-o"];
    world.done(&[&new[..], &["eve.passport"]].concat());
    let seal = ["seal", "-q", "--from", "eve.passport", "-r", "bob.pub"];
    world.done(&[&seal[..], &["plan.txt"]].concat());
    world.refused(
        &["open", "-i", "bob.passport", "-o", "out", "plan.txt.sealed"],
        6,
    );
    let checkpoint = String::from_utf8(world.done(&["trust", "check", "-q"])).unwrap();
    let removed = |days: &str| {
        let prune = ["trust", "prune", "--json", "--older-than", days];
        json(&world.done(&prune))["pruned"].clone()
    };
    assert_eq!(removed("1"), 0);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(removed("0"), 1);
    let list = String::from_utf8(world.done(&["trust", "list"])).unwrap();
    assert!(list.contains("alice") && !list.contains("Eve"), "{list}");
    world.done(&["trust", "check", "--expect", checkpoint.trim()]);
    let log = String::from_utf8(world.done(&["trust", "log"])).unwrap();
    assert!(log.contains("pruned"), "{log}");
}

fn expand<const N: usize>(prk: &Prk, info: &[&[u8]]) -> [u8; N] {
    *prk.expand_secret(info).expose()
}

fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = HmacSha3_256::new(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finish()
}

/// A store that unknown senders have filled up to their quota, written from `spec/trust.md`.
fn crowd(world: &World) {
    const QUOTA: usize = 50_331_648;
    const BODY: usize = 16_200;
    let prk = kdf::extract(b"sealstone.trust.v1", &[&[7; 32]]);
    let id = expand::<16>(&prk, &[b"id"]);
    let mut log = [&b"SEALTRUST\x01\0\0\0\0\0\0"[..], &id].concat();
    let (mut count, mut link) = (0u32, [0; 32]);
    let (mut entry_len, mut body) = (0, BODY);
    while body > 300 {
        let mut entry = vec![0xa8, 0x00, 0x1a];
        entry.extend(count.to_be_bytes());
        // A number of fewer bytes has another encoding.
        if count < 1 << 16 {
            entry.drain(2..5);
            entry.insert(2, 0x19);
        }
        if count < 256 {
            entry.drain(2..4);
            entry.insert(2, 0x18);
        }
        if count < 24 {
            entry.remove(2);
        }
        let name = sha3_256(&count.to_be_bytes());
        entry.extend([0x01, 0x00, 0x02, 0x00, 0x03, 0x58, 32]);
        entry.extend(name);
        entry.extend([0x04, 0x60, 0x05, 0x60, 0x06, 0x60, 0x07, 0x59]);
        entry.extend((body as u16).to_be_bytes());
        entry.resize(entry.len() + body, 0);
        if log.len() + 4 + entry.len() + 32 > QUOTA {
            body /= 2;
            continue;
        }
        entry_len = entry.len();
        let digest = sha3_256(&entry);
        link = sha3_256(&[&b"sealstone.trust.link.v1\0"[..], &link, &[0], &digest].concat());
        log.extend((entry_len as u32).to_be_bytes());
        log.extend(&entry);
        log.extend(hmac(&expand(&prk, &[b"record", &name]), &[&link]));
        count += 1;
    }
    assert!(entry_len > 0 && (256..1 << 16).contains(&count));
    let mac = hmac(
        &expand(&prk, &[b"head"]),
        &[&id, &u64::from(count).to_be_bytes(), &link],
    );
    let number = [&[0x19][..], &(count as u16).to_be_bytes()].concat();
    let parts: [&[u8]; 7] = [
        &[0x85, 1, 0x50],
        &id,
        &number,
        &[0x58, 32],
        &link,
        &[0x58, 32],
        &mac,
    ];
    let directory = world.path("crowded");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let key = [&[0x82, 1, 0x81, 0x58, 32][..], &[7; 32]].concat();
    for (name, bytes) in [("key", &key), ("log", &log), ("head", &parts.concat())] {
        let path = directory.join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn a_full_quota_of_strangers_does_not_keep_decisions_out() {
    let world = World::new();
    crowd(&world);
    let store = ["--trust-dir", "crowded"];
    let seal = ["seal", "-q", "--from", "alice.passport", "-r", "bob.pub"];
    world.done(&[&seal[..], &["plan.txt"]].concat());
    let open = ["open", "-i", "bob.passport", "-o", "out", "plan.txt.sealed"];
    let said = world.refused(&[&open[..], &store].concat(), 6);
    assert!(said.contains("the trust store is full"), "{said}");
    let approve = ["trust", "approve", "-q", "--yes", "alice.pub"];
    world.done(&[&approve[..], &store].concat());
    world.done(&[&open[..], &store].concat());
    let pruned = world.done(&[&["trust", "prune", "--json"], &store[..]].concat());
    assert!(json(&pruned)["pruned"].as_u64().unwrap() > 3000);
}

#[test]
fn approving_needs_a_person_or_an_option() {
    let world = World::new();
    let approve = |what: &str| world.bash(&format!("setsid -w sealstone trust approve {what}"));
    let alice = fingerprint(&world, "alice.passport");
    for what in ["bob.pub", "alice", &alice] {
        let said = refuse(&mut approve(what), 2);
        assert!(
            said.contains("--yes") && said.contains("no terminal"),
            "{said}"
        );
    }
    succeed(&mut approve("--yes bob.pub"));
}

#[test]
fn a_label_of_an_approved_passport_is_not_given_twice_by_chance() {
    let world = World::new();
    let new = ["passport", "new", "-q", "--label", "ALICE", PROFILE, "-o"];
    world.done(&[&new[..], &["mallory.passport"]].concat());
    let approve = ["trust", "approve", "--yes", "mallory.pub"];
    let said = world.refused(&approve, 2);
    assert!(
        said.contains("this is not the \"alice\"") && said.contains("--same-label"),
        "{said}"
    );
    let taken = ["trust", "approve", "--yes", "bob.pub", "--label", "alice"];
    world.refused(&taken, 2);
    world.done(&[&approve[..], &["--label", "Malory of the club"]].concat());
    world.done(&[&taken[..], &["--same-label"]].concat());
}

#[test]
fn a_successor_may_have_the_label_of_its_predecessor() {
    let world = World::new();
    let rotate = [
        "passport",
        "rotate",
        "-q",
        "--trust-dir",
        "hers",
        "alice.passport",
    ];
    world.done(&[&rotate[..], &["-o", "alice2.passport"]].concat());
    world.done(&["trust", "approve", "-q", "--yes", "alice2.pub"]);
}

#[test]
fn no_character_makes_a_short_fingerprint_long_enough() {
    let world = World::new();
    let alice = fingerprint(&world, "alice.passport");
    for separator in [
        "\u{a0}", "\u{202f}", "\u{2009}", "\u{200b}", "\u{2011}", "\u{feff}", "\t",
    ] {
        let short = alice[..14].replace('-', separator);
        let said = world.refused(&["trust", "approve", "--yes", &short], 2);
        assert!(said.contains("too short"), "{said}");
        world.done(&["trust", "show", &short]);
        let whole = alice.replace('-', separator);
        world.done(&["trust", "approve", "-q", "--yes", &whole]);
    }
}

#[test]
fn sealing_to_a_stranger_is_mentioned() {
    let world = World::new();
    let seal = |from: &str, to: &str| {
        let seal = [
            "seal", "-q", "--force", "--from", from, "-r", to, "plan.txt",
        ];
        says(&world, &seal)
    };
    let bob = fingerprint(&world, "bob.passport");
    let said = seal("alice.passport", "bob.pub");
    assert!(
        said.contains("\"bob\" is not approved") && said.contains(&bob[..39]),
        "{said}"
    );
    // No warning about approved recipients or oneself.
    assert_eq!(seal("bob.passport", "alice.pub"), "");
    assert_eq!(seal("bob.passport", "bob.pub"), "");
    let new = ["passport", "new", "-q", "--label", "Alice", PROFILE, "-o"];
    world.done(&[&new[..], &["mallory.passport"]].concat());
    let said = seal("bob.passport", "mallory.pub");
    let alice = fingerprint(&world, "alice.passport");
    assert!(
        said.contains("this is NOT the \"Alice\"") && said.contains(&alice[..39]),
        "{said}"
    );
    let sealed = says(
        &world,
        &[
            "seal",
            "--force",
            "--unsigned",
            "-r",
            "alice.pub",
            "plan.txt",
        ],
    );
    assert!(
        sealed.contains(&format!("for \"alice\" {}", &alice[..19])),
        "{sealed}"
    );
}

#[test]
fn a_recipient_is_named_by_its_text_or_on_standard_input() {
    let world = World::new();
    let bob = String::from_utf8(world.read("bob.pub")).unwrap();
    let seal = [
        "seal",
        "-q",
        "--unsigned",
        "-o",
        "x.sealed",
        "plan.txt",
        "-r",
    ];
    world.done(&[&seal[..], &[&bob]].concat());
    let open = ["open", "-q", "-i", "bob.passport", "-o", "-", "x.sealed"];
    assert_eq!(world.done(&open), b"attack at dawn\n");
    fs::remove_file(world.path("x.sealed")).unwrap();
    let line = format!("sealstone {} - < bob.pub", seal.join(" "));
    succeed(&mut world.bash(&line));
    assert_eq!(world.done(&open), b"attack at dawn\n");
    let both = "sealstone seal --unsigned -r - < bob.pub";
    let said = refuse(&mut world.bash(both), 2);
    assert!(
        said.contains("cannot both come from standard input"),
        "{said}"
    );
    let said = world.refused(&["seal", "--unsigned", "-r", "--armor", "plan.txt"], 2);
    assert!(said.contains("is an option"), "{said}");
}

/// An attacker with write access replaces both halves of the default passport.
#[test]
fn a_file_sealed_for_oneself_is_sealed_for_nobody_else() {
    let world = with_default();
    let new = ["passport", "new", "-q", "--label", "Ann", PROFILE, "-o"];
    world.done(&[&new[..], &["mallory.passport"]].concat());
    let seal = ["seal", "-q", "--unsigned", "plan.txt", "-o"];
    world.done(&[&seal[..], &["good"]].concat());
    // The public half alone is never enough.
    let own = world.read(DEFAULT_PUB);
    world.write(DEFAULT_PUB, &world.read("mallory.pub"));
    world.refused(&[&seal[..], &["bad"]].concat(), 5);
    world.write(DEFAULT_PUB, &own);
    for mode in [0o620, 0o602] {
        fs::set_permissions(world.path(DEFAULT), fs::Permissions::from_mode(mode)).unwrap();
        let said = world.refused(&[&seal[..], &["bad"]].concat(), 3);
        assert!(said.contains("others can exchange your passport"), "{said}");
    }
    assert!(!world.path("bad").exists());
}

#[test]
fn names_and_notes_of_a_file_do_not_look_like_messages() {
    let world = World::new();
    let note = format!(
        "hello\nopened x to y (from yourself)\n{:80}sealstone: well",
        ""
    );
    let seal = [
        "seal",
        "-q",
        "--from",
        "alice.passport",
        "-r",
        "bob.pub",
        "-o",
        "x.sealed",
    ];
    let said = ["--name", "a (from yourself)", "--note", &note, "plan.txt"];
    world.done(&[&seal[..], &said].concat());
    let open = ["open", "-i", "bob.passport", "-o", "out", "x.sealed"];
    let said = says(&world, &open);
    assert!(
        said.contains("it was sealed as \"a (from yourself)\""),
        "{said}"
    );
    assert!(said.contains("\n  | hello\n  | opened x to y"), "{said}");
    let lines = said.lines().skip(1);
    assert!(
        lines
            .clone()
            .all(|line| line.starts_with("  ") && line.len() < 80),
        "{said}"
    );
    // A label cannot end its own quotation.
    let label = "x\", approved) (from \"y";
    world.done(&[
        "trust",
        "approve",
        "-q",
        "--yes",
        "alice.pub",
        "--label",
        label,
    ]);
    let said = says(&world, &[&open[..], &["--force"]].concat());
    assert!(
        said.contains("from \"x\\\", approved) (from \\\"y\", approved"),
        "{said}"
    );
}

/// The name of the file and the label together are longer than a line of the terminal.
#[test]
fn a_label_does_not_begin_a_line() {
    let world = World::new();
    let input = format!("{}.sealed", "x".repeat(30));
    let label = "sealstone: opened x to y (from yourself)";
    let new = ["passport", "new", "-q", "-o", "m.passport", "--label"];
    world.done(&[&new[..], &[label, PROFILE]].concat());
    let seal = ["seal", "-q", "--from", "m.passport", "-r", "bob.pub", "-o"];
    world.done(&[&seal[..], &[&input, "plan.txt"]].concat());
    let open = ["open", "-i", "bob.passport", "--force", "-o", "out", &input];
    let is_safe = |said: &str| {
        assert!(said.contains(label), "{said}");
        for line in said.lines().filter(|line| line.contains(label)) {
            assert!(line.starts_with("  ") && line.len() < 80, "{said}");
        }
    };
    is_safe(&world.refused(&open, 6));
    is_safe(&says(&world, &[&open[..], &["--accept-pending"]].concat()));
    world.done(&["trust", "deny", "-q", "m.pub"]);
    is_safe(&world.refused(&open, 7));
    world.done(&["trust", "approve", "-q", "--yes", "m.pub"]);
    is_safe(&says(&world, &open));
    let expected = ["--from", "m.pub"];
    is_safe(&says(&world, &[&open[..], &expected].concat()));
}

#[test]
fn a_backup_does_not_hold_the_label() {
    let world = World::new();
    world.done(&["passport", "backup", "-q", "alice.passport", "-o", "words"]);
    world.done(&[
        "passport",
        "split",
        "-q",
        "alice.passport",
        "-k2",
        "-n2",
        "-o",
        "all",
    ]);
    for restore in [
        &["passport", "restore", "--words-file", "words"][..],
        &["passport", "join", "all-1.share", "all-2.share"],
    ] {
        let line = [restore, &[PROFILE, "-o", "new.passport"]]
            .concat()
            .join(" ");
        let said = refuse(&mut world.bash(&format!("setsid -w sealstone {line}")), 2);
        assert!(
            said.contains("--label") && !world.path("new.passport").exists(),
            "{said}"
        );
        succeed(&mut world.bash(&format!("setsid -w sealstone {line} --label Alice")));
        fs::remove_file(world.path("new.passport")).unwrap();
        fs::remove_file(world.path("new.pub")).unwrap();
    }
}

#[test]
fn removing_the_last_passphrase_is_mentioned() {
    let world = World::new();
    let add = [
        "passport",
        "slot",
        "add",
        "--json",
        "--recovery",
        "bob.passport",
    ];
    world.done(&add);
    world.done(&add);
    let said = says(
        &world,
        &["passport", "slot", "remove", "-q", "bob.passport", "2"],
    );
    assert_eq!(said, "");
    let said = says(
        &world,
        &["passport", "slot", "remove", "-q", "bob.passport", "1"],
    );
    assert!(said.contains("no passphrase is left"), "{said}");
}

#[test]
fn a_store_can_refuse_unsigned_files() {
    let world = World::new();
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "plan.txt"]);
    let open = [
        "open",
        "-q",
        "-i",
        "bob.passport",
        "-o",
        "-",
        "plan.txt.sealed",
    ];
    world.done(&open);
    let shown = |policy: &str| {
        let printed = world.done(&["trust", "policy", "--json"]);
        assert_eq!(json(&printed)["policy"], policy);
    };
    shown("any");
    world.done(&[
        "trust",
        "policy",
        "signed-only",
        "--note",
        "after the fraud",
    ]);
    shown("signed-only");
    let said = world.refused(&open, 6);
    assert!(
        said.contains("refuses unsigned files") && said.contains("trust policy any"),
        "{said}"
    );
    // The policy survives a new key, and countersignatures cover it.
    world.done(&["trust", "rekey"]);
    world.refused(&open, 6);
    let log = String::from_utf8(world.done(&["trust", "log"])).unwrap();
    assert!(
        log.contains("signed only") && log.contains("after the fraud"),
        "{log}"
    );
    world.done(&["trust", "policy", "any"]);
    world.done(&open);
    world.done(&["trust", "check"]);
}
