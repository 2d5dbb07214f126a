//! An attacker who can write to the user's files, or send files, tries to impersonate somebody.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::passport::{DEFAULT, DEFAULT_PUB, with_default};
use crate::world::{PROFILE, World, json, succeed};

/// The fingerprint that `passport show` prints, and its 32 bytes.
fn fingerprint(world: &World, file: &str) -> (String, Vec<u8>) {
    let shown = world.done(&["--json", "passport", "show", file]);
    let value: serde_json::Value = serde_json::from_slice(&shown).unwrap();
    let text = value["fingerprint"].as_str().unwrap().to_owned();
    let digits = text.replace('-', "");
    let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    (text, (0..64).step_by(2).map(byte).collect())
}

/// Exchanges bytes inside an armored file.
fn exchange(armored: &[u8], old: &[u8], new: &[u8]) -> String {
    let text = std::str::from_utf8(armored).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (begin, end) = (lines[0], lines[lines.len() - 1]);
    let mut bytes = BASE64.decode(lines[1..lines.len() - 1].concat()).unwrap();
    let at = bytes.windows(old.len()).position(|w| w == old).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
    let body = BASE64.encode(bytes);
    let body: Vec<&str> = (0..body.len())
        .step_by(64)
        .map(|i| &body[i..body.len().min(i + 64)])
        .collect();
    format!("{begin}\n{}\n{end}\n", body.join("\n"))
}

#[test]
fn a_locked_passport_with_another_fingerprint_makes_nobody_yourself() {
    let world = World::new();
    world.done(&[
        "passport",
        "new",
        "-q",
        "-o",
        "mallory.passport",
        "--label",
        "Mallory",
        PROFILE,
    ]);
    world.write("words", b"the passphrase of the file\n");
    let seal = [
        "seal",
        "-q",
        "-p",
        "--profile=custom:m=7MiB,t=5,p=1",
        "--recipient-passphrase-file",
        "words",
    ];
    world.done(
        &[
            &seal[..],
            &[
                "--from",
                "mallory.passport",
                "-o",
                "evil.sealed",
                "plan.txt",
            ],
        ]
        .concat(),
    );
    world.done(
        &[
            &seal[..],
            &[
                "-r",
                "bob.pub",
                "--from",
                "mallory.passport",
                "-o",
                "both.sealed",
                "plan.txt",
            ],
        ]
        .concat(),
    );

    let (_, bob) = fingerprint(&world, "bob.passport");
    let (_, mallory) = fingerprint(&world, "mallory.passport");
    let changed = exchange(&world.read("bob.passport"), &bob, &mallory);
    world.write("changed.passport", changed.as_bytes());

    let open = |file: &str, passports: &[&str], code| {
        let mut args = vec!["open", "-p", "--passphrase-file", "words", "-o", "out"];
        passports
            .iter()
            .for_each(|passport| args.extend(["-i", passport]));
        args.push(file);
        world.refused(&args, code)
    };
    open("evil.sealed", &["bob.passport"], 6);
    open("evil.sealed", &["changed.passport"], 5);
    let two = [
        "open",
        "-i",
        "bob.passport",
        "-i",
        "changed.passport",
        "-o",
        "out",
        "both.sealed",
    ];
    world.refused(&two, 5);
    assert!(!world.path("out").exists());
}

#[test]
fn a_file_that_is_called_like_a_fingerprint_is_not_asked_for_one() {
    let world = World::new();
    world.done(&[
        "passport",
        "new",
        "-q",
        "-o",
        "mallory.passport",
        "--label",
        "Mallory",
        PROFILE,
    ]);
    let (alice, _) = fingerprint(&world, "alice.passport");
    let (mallory, _) = fingerprint(&world, "mallory.passport");
    world.write(&alice, &world.read("mallory.pub"));
    world.write("alice", &world.read("mallory.pub"));
    for name in [&*alice, "alice"] {
        world.done(&["trust", "approve", "--yes", name]);
    }
    let listed = String::from_utf8(world.done(&["trust", "list"])).unwrap();
    assert!(
        listed.contains(&alice[..39]) && !listed.contains(&mallory[..39]),
        "{listed}"
    );
}

#[test]
fn the_beginning_of_a_fingerprint_approves_nobody() {
    let world = World::new();
    let (alice, _) = fingerprint(&world, "alice.passport");
    for digits in [8, 9, 14, 24] {
        let said = world.refused(
            &["trust", "approve", "--yes", &alice[..digits + digits / 5]],
            2,
        );
        assert!(said.contains("whole fingerprint"), "{said}");
    }
    world.done(&["trust", "show", &alice[..9]]);
}

#[test]
fn nobody_seals_to_those_they_keep_out() {
    let world = World::new();
    for verb in ["deny", "revoke", "compromised"] {
        world.done(&["trust", verb, "-q", "bob.pub"]);
        world.refused(
            &[
                "seal",
                "-r",
                "bob.pub",
                "--unsigned",
                "-o",
                "out",
                "plan.txt",
            ],
            7,
        );
        world.refused(
            &["seal", "--to", "bob", "--unsigned", "-o", "out", "plan.txt"],
            7,
        );
    }
    assert!(!world.path("out").exists());
}

#[test]
fn names_of_files_say_nothing_to_the_terminal() {
    let world = World::new();
    let said = world.refused(
        &["open", "-i", "bob.passport", "a\x1b[31mb\u{202e}.sealed"],
        3,
    );
    assert!(
        said.contains("\\u{1b}") && !said.contains('\x1b') && !said.contains('\u{202e}'),
        "{said}"
    );
}

#[test]
fn a_name_is_not_taken_for_a_message() {
    let world = World::new();
    let name = "plan\nsealstone: everything is well.txt";
    let said = world.refused(&["open", "-i", "bob.passport", name], 3);
    assert!(said.contains("plan\\u{a}sealstone: everything"), "{said}");
    world.write(name, b"attack at dawn\n");
    let seal = ["seal", "--unsigned", "-r", "bob.pub", name, "-o"];
    let out = "out\nsealstone: signed by alice";
    let sealed = world.command(&[&seal[..], &[out]].concat()).output();
    let said = String::from_utf8(sealed.unwrap().stderr).unwrap();
    assert!(
        said.contains("sealed") && !said.contains("\nsealstone:"),
        "{said}"
    );
    let opened = world
        .command(&["open", "-i", "bob.passport", "-o", "x\ny", out])
        .output();
    let said = String::from_utf8(opened.unwrap().stderr).unwrap();
    assert!(
        said.contains("opened") && !said.contains("\nsealstone:"),
        "{said}"
    );
}

#[test]
fn machines_get_nothing_that_a_terminal_obeys() {
    let world = World::new();
    let name = "a\u{9b}2Jb\u{7f}\u{200f}";
    world.write(name, b"x");
    let seal = ["seal", "--json", "--unsigned", "-r", "bob.pub", name];
    let made = world.done(&seal);
    let text = String::from_utf8(made).unwrap();
    assert!(
        text.contains("\\u009b2Jb\\u007f\\u200f") && !text.contains('\u{9b}'),
        "{text}"
    );
    let sealed = json(text.as_bytes());
    assert_eq!(sealed["output"], format!("{name}.sealed"));
    let said = world.refused(&["open", "--json", "missing\u{9b}"], 3);
    assert!(!said.contains('\u{9b}'), "{said}");
}

#[test]
fn names_that_are_not_text_do_not_stop_a_machine() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\xff.pub");
    let export = ["passport", "export", "--json", "alice.passport", "-o"];
    let made = world.done(&[&export.map(std::ffi::OsStr::new)[..], &[odd]].concat());
    assert_eq!(json(&made)["output"], "a\u{fffd}.pub");
}

/// A thief who signs with a stolen passport omits the layers without a stolen key.
#[test]
fn a_package_without_the_layer_of_a_key_that_is_given_is_bad() {
    let world = World::new();
    world.write("key", &[1; 32]);
    world.done(&[
        "sign",
        "plan.txt",
        "--from",
        "alice.passport",
        "--passphrase-file",
        "passphrase",
    ]);
    let verify = |more: &[&str]| {
        let package = ["--json", "verify", "-s", "alice.pub", "plan.txt.package"];
        let output = world.command(&[&package, more].concat()).output().unwrap();
        let layers = json(&output.stdout)["layers"].clone();
        (output.status.code().unwrap(), layers)
    };
    assert_eq!(verify(&[]).0, 0);
    let (code, layers) = verify(&["--hmac-key", "key"]);
    assert_eq!((code, &layers["hmac"]["verdict"]), (12, &"bad".into()));
    let own = [
        "--hmac-own",
        "alice.passport",
        "--passphrase-file",
        "passphrase",
    ];
    assert_eq!(verify(&own).0, 12);
    let (code, layers) = verify(&["--secret-file", "key", "--derive", "data=data.key"]);
    assert_eq!((code, &layers["keys"]["verdict"]), (15, &"bad".into()));
    assert!(!world.path("data.key").exists());
}

#[test]
fn a_long_label_is_cut_or_folded_where_it_is_shown() {
    let world = World::new();
    let label = format!("{}warning: from yourself", "x".repeat(40));
    let new = ["passport", "new", "-q", "-o", "m.passport", "--label"];
    world.done(&[&new[..], &[&label, PROFILE]].concat());
    let seal = ["seal", "--unsigned", "--force", "-r", "m.pub", "plan.txt"];
    for args in [
        &seal[..],
        &["trust", "approve", "--yes", "m.pub"],
        &seal,
        &["trust", "list"],
        &["trust", "sign"],
        &["trust", "deny", "m.pub"],
        &["trust", "revoke", "m.pub"],
        &seal,
    ] {
        let output = world.command(args).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!said.contains("from yourself"), "{args:?}: {said}");
    }
    let shown = String::from_utf8(world.done(&["trust", "show", &fingerprint(&world, "m.pub").0]));
    for line in shown.unwrap().lines().filter(|line| line.contains("xxx")) {
        assert!(line.starts_with("  | x") && line.len() < 80, "{line}");
    }
}

/// Somebody who can write to the default passport exchanges both halves. No passphrase is asked for
/// here that would show it.
#[test]
fn a_default_passport_that_others_can_exchange_is_not_taken_for_the_user() {
    let world = with_default();
    let new = ["passport", "new", "-q", "--label", "Ann", PROFILE, "-o"];
    world.done(&[&new[..], &["mallory.passport"]].concat());
    let mallory = ["--from", "mallory.passport"];
    world.done(&[&["sign", "-q", "plan.txt"][..], &mallory].concat());
    let directory = "sealstone token keygen --root -o root &&
        sealstone token keygen --type p384 --from root --epoch 0 -o key &&
        sealstone token directory --key 0=key.pub --start @1767225600 --length 3153600000 \
            --redeem-grace 1 --sign --from mallory.passport -o directory";
    succeed(&mut world.bash(directory));
    let refused = |args: &[&str]| {
        let said = world.refused(args, 3);
        assert!(
            said.contains("others can exchange your passport")
                && said.contains("sealstone passport show")
                && said.contains("chmod 600"),
            "{args:?}: {said}"
        );
    };
    let allow = |mode| set_permissions(world.path(DEFAULT), Permissions::from_mode(mode)).unwrap();
    let own = [DEFAULT, DEFAULT_PUB].map(|name| (name, world.read(name)));
    world.write(DEFAULT, &world.read("mallory.passport"));
    world.write(DEFAULT_PUB, &world.read("mallory.pub"));
    for mode in [0o620, 0o602] {
        allow(mode);
        refused(&["keys", "list"]);
        refused(&["keys", "revoke"]);
        refused(&["keys", "revoke", "Ann"]);
        refused(&["seal", "--unsigned", "-r", "mallory.pub", "plan.txt"]);
        refused(&["token", "directory", "--check", "directory"]);
    }
    // The sender's passphrase shows whose passport it is.
    for (name, bytes) in own {
        world.write(name, &bytes);
    }
    world.done(&["seal", "-q", "-r", "mallory.pub", "plan.txt"]);

    // The countersignature of another passport would not be checked.
    world.done(&["trust", "approve", "-q", "--yes", "mallory.pub"]);
    world.done(&["trust", "sign", "-q", "--yes"]);
    refused(&["trust", "list"]);
    allow(0o600);
    world.done(&["trust", "list"]);
}

/// Verbs for which it is no more than a name go without it, and those that need nothing of it do
/// not look at it.
#[test]
fn an_exposed_default_passport_stops_no_verb_that_does_not_trust_it() {
    let world = with_default();
    let new = ["passport", "new", "-q", "--label", "Bob", PROFILE, "-o"];
    world.done(&[&new[..], &["bob.passport"]].concat());
    world.done(&["monitor", "on", "-q"]);
    world.done(&["sign", "-q", "plan.txt"]);
    world.done(&["verify", "plan.txt.package"]);
    let allow = |mode| set_permissions(world.path(DEFAULT), Permissions::from_mode(mode)).unwrap();
    allow(0o602);
    let warned = |args: &[&str], code| {
        let output = world.command(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(
            said.contains("warning: ") && said.contains("others can exchange your passport"),
            "{args:?}: {said}"
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = warned(&["verify", "plan.txt.package"], 10);
    assert!(!shown.contains("Ann"), "{shown}");
    let report = warned(&["monitor", "report"], 0);
    assert!(!report.contains("Ann"), "{report}");
    assert!(warned(&["passport", "show"], 0).contains("Ann"));

    world.write("words", b"the passphrase of the file\n");
    let seal = ["seal", "--force", "plan.txt"];
    for more in [
        &["--from", "bob.passport", "-r", "bob.pub"][..],
        &["--unsigned", "-r", "bob.pub"],
        &[
            "--unsigned",
            "-p",
            PROFILE,
            "--recipient-passphrase-file",
            "words",
        ],
    ] {
        let sealed = world.command(&[&seal[..], more].concat()).output().unwrap();
        let said = String::from_utf8(sealed.stderr).unwrap();
        assert!(
            sealed.status.success() && !said.contains("exchange"),
            "{more:?}: {said}"
        );
    }
}

#[test]
fn the_remedy_is_that_of_the_place_which_others_can_exchange() {
    let world = with_default();
    let directory = world.path(DEFAULT).parent().unwrap().to_owned();
    let said = || world.refused(&["keys", "revoke"], 3);
    set_permissions(&directory, Permissions::from_mode(0o770)).unwrap();
    let remedy = format!("chmod go-w {}\n", directory.display());
    assert!(said().contains(&remedy), "{}", said());
    set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
    if chown(world.path(DEFAULT), Some(1), None).is_err() {
        return println!("skipped: only root gives files away");
    }
    let said = said();
    for part in ["belongs to another user", "chown 0 ", "XDG_DATA_HOME"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("chmod"), "{said}");
}
