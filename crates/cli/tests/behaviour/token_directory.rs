//! `token directory`: an issuer's keys, signed and checked.

use sealstone::passport::Passport;
use sealstone::statement::{Purpose, Statement};
use serde_json::Value;

use crate::world::{PASSPHRASE, World, refuse, succeed};

/// When epoch 0 of [`directory`] begins: 2026-01-01.
const START: u64 = 1_767_225_600;
/// A hundred years: epoch 0 lasts longer than these tests are in use.
const LONG: u64 = 3_153_600_000;

/// A directory of epoch 0, signed by Alice.
fn directory(world: &World, length: u64) -> Vec<u8> {
    let make = format!(
        "sealstone token keygen --root -o root &&
        sealstone token keygen --type p384 --from root --epoch 0 -o epoch-0.key &&
        sealstone token directory --key 0=epoch-0.key.pub --start @{START} --length {length} \
            --redeem-grace {length} --sign --from alice.passport -o directory"
    );
    succeed(world.bash(&make).env("SEALSTONE_PASSPHRASE", PASSPHRASE));
    world.read("directory")
}

const CHECK: [&str; 4] = ["token", "directory", "--check", "directory"];

/// Alice is approved: see [`World::new`].
#[test]
fn a_signed_directory_is_checked_and_gives_the_list() {
    let world = World::new();
    directory(&world, LONG);
    let said = String::from_utf8(world.done(&CHECK)).unwrap();
    for fact in [
        "\"alice\"",
        "0x0001",
        "2026-01-01 00:00:00 UTC",
        "issues and redeems",
    ] {
        assert!(said.contains(fact), "{fact}: {said}");
    }
    world.done(&[&CHECK[..], &["-o", "list.json"]].concat());
    let list: Value = serde_json::from_slice(&world.read("list.json")).unwrap();
    assert_eq!(list["token-keys"][0]["epoch"], 0);
    assert_eq!(list["token-keys"][0]["issue-until"], START + LONG);
    let said = String::from_utf8(world.done(&["token", "inspect", "directory"])).unwrap();
    assert!(said.starts_with("signed directory (not checked"), "{said}");
    // The list alone has no signature.
    let said = refuse(
        &mut world.command(&["token", "directory", "--check", "list.json"]),
        5,
    );
    assert!(said.contains("the directory is not signed"), "{said}");
}

#[test]
fn a_changed_directory_is_refused() {
    let world = World::new();
    let good = directory(&world, LONG);
    let place = |text: &[u8]| good.windows(text.len()).position(|it| it == text).unwrap();
    let (epoch, path) = (place(b"\"epoch\": 0") + 9, place(b"/token-request"));
    for at in [epoch, path, good.len() - 1, good.len() - 4700] {
        let mut changed = good.clone();
        changed[at] ^= 1;
        world.write("directory", &changed);
        for signer in [&[][..], &["--signer", "alice.pub"]] {
            let said = refuse(&mut world.command(&[&CHECK[..], signer].concat()), 5);
            assert!(said.contains("directory: "), "{said}");
        }
    }
    world.write("directory", &good[..good.len() - 1]);
    refuse(&mut world.command(&CHECK), 4);
}

#[test]
fn a_directory_of_another_signer_is_refused() {
    let world = World::new();
    directory(&world, LONG);
    let said = refuse(
        &mut world.command(&[&CHECK[..], &["--signer", "bob.pub"]].concat()),
        5,
    );
    assert!(said.contains("somebody else"), "{said}");
    for (decision, code, reason) in [
        ("deny", 7, "is denied"),
        ("approve", 0, ""),
        ("revoke", 7, "is revoked"),
    ] {
        let decide = ["trust", decision, "-q", "alice.pub"];
        let decide = match decision {
            "approve" => [&decide[..], &["--yes"]].concat(),
            _ => decide.to_vec(),
        };
        world.done(&decide);
        match code {
            0 => drop(world.done(&CHECK)),
            _ => {
                // Naming the signer does not overrule the decision.
                let named = [&CHECK[..], &["--signer", "alice.pub"]].concat();
                let said = refuse(&mut world.command(&named), code);
                assert!(said.contains(reason), "{said}");
            }
        }
    }
    let stranger = ["--trust-dir", "elsewhere"];
    let said = refuse(&mut world.command(&[&CHECK[..], &stranger].concat()), 6);
    assert!(said.contains("is not approved"), "{said}");
    let named = [&CHECK[..], &stranger, &["--signer", "alice.pub"]].concat();
    world.done(&named);
}

#[test]
fn a_directory_whose_keys_are_over_is_refused() {
    let world = World::new();
    directory(&world, 60);
    let said = refuse(&mut world.command(&CHECK), 5);
    assert!(
        said.contains("every key of the directory is over"),
        "{said}"
    );
    assert!(!world.path("list.json").exists());
}

/// A replayed old list would bring back a withdrawn key.
#[test]
fn a_directory_older_than_the_accepted_one_is_refused() {
    let world = World::new();
    directory(&world, LONG);
    let sign = "set -e
        cp directory old
        sealstone token keygen --type p384 -o second.key
        while [ $(date +%s) = $(stat -c %Y old) ]; do sleep 0.1; done
        sealstone token directory --key second.key.pub --sign --from alice.passport -o new";
    succeed(world.bash(sign).env("SEALSTONE_PASSPHRASE", PASSPHRASE));
    let check = |list, before| {
        let args = ["token", "directory", "--check", list, "--after", before];
        args.map(str::to_owned)
    };
    world.done(&check("new", "old"));
    world.done(&check("new", "new"));
    world.done(&check("old", "old"));
    let said = world.refused(&check("old", "new"), 5);
    assert!(said.contains("old: it is older than new"), "{said}");
    // The earlier directory must be signed too.
    let mut changed = world.read("old");
    *changed.last_mut().unwrap() ^= 1;
    world.write("changed", &changed);
    let said = world.refused(&check("new", "changed"), 5);
    assert!(said.contains("new: changed: "), "{said}");
    world.refused(
        &[
            "token",
            "directory",
            "--key",
            "second.key.pub",
            "--after",
            "old",
        ],
        2,
    );
}

/// Signed by the test, because the command signs with the time of its clock only.
#[test]
fn another_directory_of_the_same_time_is_refused() {
    let world = World::new();
    let signer = Passport::generate("issuer", START).unwrap();
    world.write("issuer.pub", signer.public().to_armor().as_bytes());
    for (key, list) in [("one.key", "one.json"), ("two.key", "two.json")] {
        world.done(&["token", "keygen", "--type", "p384", "-o", key]);
        let public = format!("{key}.pub");
        world.done(&["token", "directory", "--key", &public, "-o", list]);
    }
    let sign = |list, time, name| {
        let content = world.read(list);
        let signed = Statement::sign(&signer, Purpose::TokenDirectory, &content, time).unwrap();
        world.write(name, &signed.encode());
    };
    sign("one.json", START, "kept");
    sign("one.json", START, "again");
    sign("two.json", START, "other");
    sign("two.json", START - 1, "older");
    sign("two.json", START + 1, "newer");
    let check = |list| {
        let check = ["token", "directory", "--check", list, "--after", "kept"];
        [&check[..], &["--signer", "issuer.pub"]].concat()
    };
    world.done(&check("again"));
    world.done(&check("newer"));
    let said = world.refused(&check("other"), 5);
    let reason = "other: its signer signed another list at the same time: kept";
    assert!(said.contains(reason), "{said}");
    let said = world.refused(&check("older"), 5);
    assert!(said.contains("older: it is older than kept"), "{said}");
}

#[test]
fn a_passport_that_may_not_sign_signs_no_directory() {
    let world = World::new();
    directory(&world, LONG);
    world.done(&["keys", "set", "alice.passport", "--not-after", "2026-01-01"]);
    let sign = [
        "token",
        "directory",
        "--key",
        "epoch-0.key.pub",
        "--sign",
        "--from",
        "alice.passport",
        "-o",
        "late",
    ];
    let said = refuse(&mut world.command(&sign), 7);
    assert!(said.contains("signs no more"), "{said}");
    assert!(!world.path("late").exists());
}

#[test]
fn epochs_and_schedules_belong_together() {
    let world = World::new();
    directory(&world, LONG);
    fn make<'a>(options: &[&'a str]) -> Vec<&'a str> {
        [&["token", "directory", "-o", "other"][..], options].concat()
    }
    for options in [
        &["--key", "0=epoch-0.key.pub"][..],
        &["--key", "epoch-0.key.pub", "--start", "@0", "--length", "9"],
        &["--key", "epoch-0.key.pub", "--start", "@0"],
        &[
            "--key",
            "0=epoch-0.key.pub",
            "--start",
            "@0",
            "--length",
            "9",
            "--issue-grace",
            "1",
        ],
        &["--check", "directory", "--sign"],
        &["--check", "directory", "--key", "epoch-0.key.pub"],
        &["--check", "directory", "--from", "alice.passport"],
        &["--key", "epoch-0.key.pub", "--signer", "alice.pub"],
        &["--signer", "alice.pub"],
        &[],
    ] {
        refuse(&mut world.command(&make(options)), 2);
        assert!(!world.path("other").exists());
    }
    // RFC 9578 has keys without epochs.
    world.done(&make(&[
        "--key",
        "epoch-0.key.pub",
        "--request-uri",
        "https://issuer.example/",
    ]));
    let list: Value = serde_json::from_slice(&world.read("other")).unwrap();
    assert_eq!(list["issuer-request-uri"], "https://issuer.example/");
    assert!(list["token-keys"][0].get("epoch").is_none());
}
