//! `sign`, `verify` and `policy`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::world::{PROFILE, World, json};

/// Alice has a directory `release`, signed as `release.package`.
fn released(more: &[&str]) -> World {
    let world = World::new();
    fs::create_dir_all(world.path("release/docs")).unwrap();
    world.write("release/README", b"read me\n");
    world.write("release/docs/manual", &[b'm'; 100_000]);
    symlink("README", world.path("release/link")).unwrap();
    sign(&world, &[&["release"], more].concat());
    world
}

fn sign(world: &World, args: &[&str]) -> Vec<u8> {
    let from = [
        "sign",
        "--from",
        "alice.passport",
        "--passphrase-file",
        "passphrase",
    ];
    world.done(&[&from, args].concat())
}

const VERIFY: [&str; 4] = ["verify", "--signer", "alice.pub", "release.package"];

/// Verifies with `--json`. Returns the exit code and the object.
fn verified(world: &World, args: &[&str]) -> (i32, Value) {
    run(&mut world.command(&[args, &["--json"]].concat()))
}

fn run(command: &mut Command) -> (i32, Value) {
    let output = command.output().unwrap();
    (output.status.code().unwrap(), json(&output.stdout))
}

fn layer<'v>(report: &'v Value, name: &str) -> &'v str {
    report["layers"][name]["verdict"].as_str().unwrap()
}

/// `count` as the head of a value of this kind (RFC 8949 section 3.1).
fn head(major: u8, count: usize) -> Vec<u8> {
    [&[major << 5 | 26][..], &(count as u32).to_be_bytes()].concat()
}

/// A bundle of this manifest and these embedded contents, in CBOR by hand.
fn bundle(manifest: &[u8], embedded: &[u8]) -> Vec<u8> {
    let manifest = [&head(2, manifest.len()), manifest].concat();
    let fields: [&[u8]; 8] = [
        &[0xa4, 0],
        &manifest,
        &[4],
        &[0x80],
        &[5],
        &[0x80],
        &[6],
        embedded,
    ];
    [&b"\x89PACK\r\n\x1a\n\x01"[..], &fields.concat()].concat()
}

/// A manifest of 400 files, each below 2,000 separate directories.
fn deep_manifest() -> Vec<u8> {
    let entry = |i: usize| {
        let path = format!("{i:03}/{}a", "a/".repeat(2045));
        let rest: [&[u8]; 5] = [&[0, 0, 0x58, 32], &[0; 32], &[0x60], &[0], &[]];
        [
            &[0x86][..],
            &[0x79],
            &(path.len() as u16).to_be_bytes(),
            path.as_bytes(),
            &rest.concat(),
        ]
        .concat()
    };
    let entries: Vec<u8> = (0..400).flat_map(entry).collect();
    let signer = [&[0x58, 32][..], &[7; 32]].concat();
    let fields: [&[u8]; 5] = [
        &[0xa9, 0, 1, 1, 0x81],
        &signer,
        &[2, 1, 3, 0x80, 4, 0, 5, 0x60, 6, 0, 7, 0, 8, 0x99, 1, 144],
        &entries,
        &[],
    ];
    fields.concat()
}

/// The package of an unknown sender takes memory of at most a few times its length.
#[test]
fn a_hostile_package_does_not_fill_the_memory() {
    let world = World::new();
    let many = [head(4, 20_000_000), vec![0x40; 20_000_000]].concat();
    for (what, package) in [
        ("empty contents", bundle(b"", &many)),
        ("deep paths", bundle(&deep_manifest(), &[0x80])),
    ] {
        world.write("hostile.package", &package);
        let verify = "ulimit -v 400000; sealstone verify hostile.package";
        let output = world.bash(verify).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        println!("{what}: {said}");
        assert_eq!(output.status.code(), Some(4), "{what}: {said}");
    }
}

#[test]
fn a_directory_is_signed_and_verified() {
    let world = released(&[]);
    let (code, report) = verified(&world, &VERIFY);
    assert_eq!(
        (code, report["verdict"].as_str()),
        (0, Some("good")),
        "{report}"
    );
    assert_eq!(report["package"]["files"], 3);
    // It also works from another directory, and after the package moved.
    fs::create_dir(world.path("elsewhere")).unwrap();
    fs::rename(world.path("release.package"), world.path("elsewhere/p")).unwrap();
    let moved = [
        "verify",
        "-s",
        "alice.pub",
        "--root",
        "release",
        "elsewhere/p",
    ];
    assert_eq!(verified(&world, &moved).0, 0);
    let text = String::from_utf8(world.done(&moved)).unwrap();
    assert!(text.contains("GOOD"), "{text}");
}

#[test]
fn the_layer_that_should_sees_each_alteration() {
    let world = released(&[]);
    world.write("release/README", b"read mE\n");
    let (code, report) = verified(&world, &VERIFY);
    assert_eq!((code, layer(&report, "content")), (11, "bad"));
    assert_eq!(report["findings"][0]["path"], "README");
    assert_eq!(layer(&report, "ed25519"), "good");
    world.write("release/README", b"read me\n");
    world.write("release/new", b"");
    let (code, report) = verified(&world, &VERIFY);
    assert_eq!(
        (code, report["findings"][0]["kind"].as_str()),
        (11, Some("additional"))
    );
    fs::remove_file(world.path("release/new")).unwrap();
    assert_eq!(verified(&world, &VERIFY).0, 0);
    // The last byte of the ML-DSA-65 signature is before the lists of timestamps and content.
    let mut bytes = world.read("release.package");
    let place = bytes.len() - 5;
    bytes[place] ^= 1;
    world.write("release.package", &bytes);
    let (code, report) = verified(&world, &VERIFY);
    assert_eq!((code, layer(&report, "ml-dsa-65")), (14, "bad"), "{report}");
    assert_eq!(layer(&report, "ed25519"), "good");
    bytes.truncate(place);
    world.write("release.package", &bytes);
    let (code, report) = verified(&world, &VERIFY);
    assert_eq!((code, report["verdict"].as_str()), (4, Some("bad")));
}

#[test]
fn strangers_do_not_count() {
    let world = released(&[]);
    // The trust store has Alice as approved.
    let (code, report) = verified(&world, &["verify", "release.package"]);
    assert_eq!(
        (code, report["signers"][0]["label"].as_str()),
        (0, Some("alice"))
    );
    let (code, report) = verified(&world, &["verify", "-s", "bob.pub", "release.package"]);
    assert_eq!((code, report["verdict"].as_str()), (10, Some("bad")));
    world.done(&["trust", "deny", "-q", "alice"]);
    assert_eq!(verified(&world, &["verify", "release.package"]).0, 10);
    assert_eq!(verified(&world, &VERIFY).0, 10);
}

#[test]
fn hmac_and_keys_need_what_the_signer_had() {
    let world = World::new();
    for (name, byte) in [("key", 1), ("other", 2)] {
        world.write(name, &[byte; 32]);
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let layers = [
        "--hmac-key",
        "key",
        "--secret-file",
        "key",
        "--layers",
        "hmac,keys",
    ];
    sign(&world, &[&["plan.txt"], &layers[..]].concat());
    let verify = |key: &str, secret: &str| {
        let keys = [
            "--hmac-key",
            key,
            "--secret-file",
            secret,
            "plan.txt.package",
        ];
        verified(
            &world,
            &[&["verify", "-s", "alice.pub"], &keys[..]].concat(),
        )
        .0
    };
    assert_eq!(verify("key", "key"), 0);
    assert_eq!(verify("other", "key"), 12);
    assert_eq!(verify("key", "other"), 15);
    assert_eq!(
        verified(&world, &["verify", "-s", "alice.pub", "plan.txt.package"]).0,
        12
    );
    let derive = |label: &str, secret: &str, code| {
        let package = [
            "verify",
            "-s",
            "alice.pub",
            "plan.txt.package",
            "--hmac-key",
            "key",
        ];
        let keys = ["--secret-file", secret, "--derive", label];
        assert_eq!(verified(&world, &[&package[..], &keys].concat()).0, code);
    };
    derive("data=data.key", "key", 0);
    derive("index=index.key", "key", 0);
    derive("more=more.key", "other", 15);
    assert_eq!(
        (world.read("data.key").len(), world.mode("data.key")),
        (32, 0o600)
    );
    assert_ne!(world.read("data.key"), world.read("index.key"));
    assert!(!world.path("more.key").exists());
    world.write("short", &[0; 31]);
    world.refused(
        &[
            "sign",
            "plan.txt",
            "-o",
            "x",
            "--from",
            "alice.passport",
            "--hmac-key",
            "short",
        ],
        2,
    );
}

#[test]
fn an_hmac_of_ones_own_is_checked_by_the_passport() {
    let world = World::new();
    sign(&world, &["plan.txt", "--hmac-own", "--layers", "hmac"]);
    let verify = |passport: &str| {
        let own = [
            "verify",
            "-s",
            "alice.pub",
            "plan.txt.package",
            "--hmac-own",
            passport,
        ];
        verified(&world, &own).0
    };
    assert_eq!(verify("alice.passport"), 0);
    assert_eq!(verify("bob.passport"), 12);
}

#[test]
fn several_sign() {
    let world = World::with_bob_approved();
    sign(&world, &["plan.txt", "--cosigner", "bob.pub"]);
    let package = ["verify", "plan.txt.package"];
    assert_eq!(verified(&world, &package).0, 10);
    let cosign = |passport: &str, how: &str| {
        let args = ["sign", how, "plan.txt.package", "--from", passport];
        world
            .command(&args)
            .output()
            .unwrap()
            .status
            .code()
            .unwrap()
    };
    // The command does not sign altered content.
    world.write("plan.txt", b"attack at noon\n");
    assert_eq!(cosign("bob.passport", "--cosign"), 11);
    world.write("plan.txt", b"attack at dawn\n");
    assert_eq!(cosign("bob.passport", "--countersign"), 2);
    assert_eq!(cosign("bob.passport", "--cosign"), 0);
    assert_eq!(cosign("bob.passport", "--cosign"), 2);
    let (code, report) = verified(&world, &package);
    assert_eq!(code, 0);
    assert_eq!(report["reason"], "2 signature(s) count, 2 required");
    world.done(&[
        "passport",
        "new",
        "-q",
        "-o",
        "carol.passport",
        "--label",
        "carol",
        PROFILE,
    ]);
    assert_eq!(cosign("carol.passport", "--cosign"), 2);
    assert_eq!(cosign("carol.passport", "--countersign"), 0);
    let (code, report) = verified(&world, &package);
    assert_eq!((code, report["signers"].as_array().unwrap().len()), (0, 3));
}

#[test]
fn content_may_be_embedded_or_come_from_a_pipe() {
    let world = World::new();
    sign(&world, &["plan.txt", "--embed", "-o", "whole"]);
    fs::remove_file(world.path("plan.txt")).unwrap();
    assert_eq!(
        verified(&world, &["verify", "-s", "alice.pub", "whole"]).0,
        0
    );

    let mut signing = world
        .command(&[
            "sign",
            "-",
            "--from",
            "alice.passport",
            "-o",
            "piped",
            "--passphrase-file",
            "passphrase",
        ])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    signing
        .stdin
        .take()
        .unwrap()
        .write_all(b"through a pipe")
        .unwrap();
    assert!(signing.wait().unwrap().success());
    let verify = |content: &[u8]| {
        world.write("content", content);
        verified(
            &world,
            &["verify", "-s", "alice.pub", "piped", "--data", "content"],
        )
        .0
    };
    assert_eq!(verify(b"through a pipe"), 0);
    assert_eq!(verify(b"through a pope"), 11);
    let package = world.read("whole");
    let mut verifying = world.command(&["verify", "-s", "alice.pub", "-"]);
    let mut verifying = verifying
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    verifying.stdin.take().unwrap().write_all(&package).unwrap();
    assert!(verifying.wait().unwrap().success());
}

#[test]
fn a_policy_is_shown_in_canonical_form() {
    let world = World::new();
    world.write("terms.json", br#"{"use": "research", "age": 18.0}"#);
    sign(&world, &["plan.txt", "--policy", "terms.json"]);
    for file in ["terms.json", "plan.txt.package"] {
        let shown = json(&world.done(&["policy", "show", file, "--json"]));
        assert_eq!(shown["policy"]["age"], 18);
        // printf '{"age":18,"use":"research"}' | openssl dgst -sha3-256
        let digest = "be71fe5859f71bfdad74401661bccbeb37cb8edb30064dd3feaf1c768ff28d28";
        assert_eq!(shown["sha3_256"], digest);
    }
    world.write("twice.json", br#"{"a": 1, "a": 2}"#);
    let said = world.refused(&["policy", "show", "twice.json"], 2);
    assert!(said.contains("unique names"), "{said}");
}

#[test]
fn nothing_is_written_if_something_is_wrong() {
    let world = World::new();
    let before = world.names();
    let refused = |args: &[&str], code| {
        let from = ["sign", "--from", "alice.passport"];
        world.refused(&[&from, args].concat(), code);
        assert_eq!(world.names(), before);
    };
    refused(&["missing"], 3);
    refused(&["plan.txt", "-o", "bob.pub"], 3);
    refused(&["plan.txt", "data"], 2);
    refused(&["plan.txt", "plan.txt"], 2);
    refused(&["plan.txt", "--policy", "plan.txt"], 2);
    refused(&["plan.txt", "--layers", "hmac"], 2);
    refused(&["plan.txt", "--media-type", "text"], 2);
    refused(&["plan.txt", "--threshold", "1"], 2);
    let wrong = [
        "sign",
        "--from",
        "alice.passport",
        "--passphrase-file",
        "plan.txt",
        "plan.txt",
    ];
    world.refused(&wrong, 5);
    assert_eq!(world.names(), before);
}

/// Not as root, who can read everything.
#[test]
fn files_that_cannot_be_read_are_named() {
    let world = released(&[]);
    let script = r#"
        chmod 755 .; as=
        if [ "$(id -u)" = 0 ]; then
            chown -R 65534:65534 .
            as="setpriv --reuid 65534 --regid 65534 --clear-groups"
        fi
        cp "$(command -v sealstone)" run
        sign() { $as ./run sign --from alice.passport --passphrase-file passphrase -o new "$@" release; }
        verify() { $as ./run verify -s alice.pub release.package; }
        chmod 0 release/README; sign; sign --embed; verify; chmod 644 release/README
        mkdir release/empty; echo 1 > release/docs/more
        chmod 0 release/empty; sign; verify; chmod 755 release/empty
        ls new
    "#;
    let output = world.bash(script).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    for expected in [
        "README: Permission denied",
        "release: empty: Permission denied",
        "cannot access 'new'",
    ] {
        assert!(errors.contains(expected), "{expected}: {errors}");
    }
    let report = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "unreadable README\n",
        "unreadable empty\n",
        "additional docs/more\n",
    ] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
}

#[test]
fn verifying_without_the_files_tells_how_to_name_them() {
    let world = released(&[]);
    sign(&world, &["plan.txt", "-o", "plan.package"]);
    fs::create_dir(world.path("elsewhere")).unwrap();
    let told = |args: &[&str]| {
        let output = world.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(11));
        String::from_utf8(output.stderr).unwrap()
    };
    for (name, hint) in [
        ("release.package", "--root DIR"),
        ("plan.package", "--data FILE"),
    ] {
        let moved = format!("elsewhere/{name}");
        fs::rename(world.path(name), world.path(&moved)).unwrap();
        let said = told(&["verify", "-s", "alice.pub", &moved]);
        assert!(said.contains(hint), "{said}");
    }
    let here = ["verify", "-s", "alice.pub", "elsewhere/plan.package"];
    world.done(&[&here[..], &["--root", "."]].concat());
    let said = told(&[&here[..], &["--root", "release"]].concat());
    assert_eq!(said, "");
}

#[test]
fn names_that_some_systems_take_for_one_are_both_named() {
    let world = World::new();
    fs::create_dir_all(world.path("release/a")).unwrap();
    for name in ["release/a/Readme", "release/a/README", "release/b"] {
        world.write(name, b"1");
    }
    let said = world.refused(&["sign", "--from", "alice.passport", "release"], 2);
    assert!(said.contains("a/README and a/Readme"), "{said}");
    assert!(!world.path("release.package").exists());
}

#[test]
fn a_timestamp_is_requested_and_attached() {
    let Some(tsa) = sealstone_testing::tsa::Authority::new() else {
        return;
    };
    let world = released(&["--layers", "timestamp"]);
    world.write("root.pem", &tsa.read("root.pem"));
    let verify = [&VERIFY[..], &["--roots", "root.pem"]].concat();
    assert_eq!(verified(&world, &verify).0, 16);
    let request = [
        "timestamp",
        "request",
        "--package",
        "release.package",
        "-o",
        "query",
    ];
    world.done(&request);
    let answer = |query: &str| tsa.reply("signer", &["between.pem"], "tsa", &world.read(query));
    world.write("answer", &answer("query"));
    // A timestamp of other data.
    world.done(&["timestamp", "request", "plan.txt", "-o", "other.query"]);
    world.write("other", &answer("other.query"));
    let before = world.read("release.package");
    let attach = [
        "timestamp",
        "attach",
        "release.package",
        "--roots",
        "root.pem",
    ];
    for wrong in ["other", "query", "plan.txt"] {
        let code = world
            .command(&[&attach[..], &[wrong]].concat())
            .output()
            .unwrap();
        assert!(
            matches!(code.status.code(), Some(4 | 5)),
            "{wrong}: {code:?}"
        );
        assert_eq!(world.read("release.package"), before);
    }
    world.done(&[&attach[..], &["answer"]].concat());
    let (code, report) = verified(&world, &verify);
    assert_eq!((code, layer(&report, "timestamp")), (0, "good"), "{report}");
    assert!(report["signers"][0]["proved_time"].is_u64());
    // Without roots it is required and not checked.
    assert_eq!(verified(&world, &VERIFY).0, 16);
    // A response does not cover itself: a renewal needs a new one.
    let again = world
        .command(&[&attach[..], &["answer"]].concat())
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(5));
    world.done(&[&request[..], &["--force"]].concat());
    world.write("answer", &answer("query"));
    world.done(&[&attach[..], &["answer"]].concat());
    let (code, report) = verified(&world, &verify);
    assert_eq!((code, &report["package"]["timestamps"]), (0, &2.into()));
}

#[test]
fn inspect_shows_a_package_and_says_that_nothing_is_proved() {
    let world = released(&["--author", "Alice Example", "--cosigner", "bob.pub"]);
    // No layer would accept these bytes. Inspecting needs no valid layer.
    world.write("release/README", b"another\n");
    let text = String::from_utf8(world.done(&["inspect", "release.package"])).unwrap();
    for part in [
        "package (version 1), not verified",
        r#""Alice Example""#,
        "2 of 2 have to sign",
        "not signed yet",
        "    docs/manual, 100000 bytes\n",
        "    link, a link to \"README\"\n",
        "content, ed25519, ml-dsa-65\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let value = json(&world.done(&["inspect", "--json", "release.package"]));
    assert_eq!(value["type"], "package");
    assert_eq!(value["signatures"].as_array().unwrap().len(), 1);
    assert_eq!(value["signers"].as_array().unwrap().len(), 2);
    assert_eq!(value["files"][0]["path"], "README");
    assert_eq!(value["files"][0]["digest"].as_str().unwrap().len(), 64);
    assert_eq!(value["files"][2]["link"], "README");
    // The first half of a package counts as malformed, not as an unknown file.
    let package = fs::read(world.path("release.package")).unwrap();
    world.write("half", &package[..package.len() / 2]);
    let output = world.command(&["inspect", "half"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("half: "));
}
