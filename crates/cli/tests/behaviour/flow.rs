//! Everyday use with a default passport, and every form of sealed file.

use std::fs;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::world::{PROFILE, World, succeed};

#[test]
fn the_default_passport_signs_seals_to_oneself_and_opens() {
    let world = World::empty();
    world.done(&["passport", "new", "-q", PROFILE]);
    for (name, mode) in [
        ("data", 0o700),
        ("data/sealstone", 0o700),
        ("data/sealstone/default.passport", 0o600),
    ] {
        assert_eq!(world.mode(name), mode, "{name}");
    }
    world.write("plan.txt", b"attack at dawn\n");
    world.done(&["seal", "plan.txt"]);
    let opened = world.done(&["open", "-o", "-", "plan.txt.sealed"]);
    assert_eq!(opened, b"attack at dawn\n");
    assert!(
        world
            .refused(&["passport", "new", PROFILE], 3)
            .contains("you have a default passport")
    );
}

#[test]
fn a_passphrase_needs_no_passport() {
    let world = World::empty();
    world.write("report.pdf", b"content");
    let sealed = world
        .command(&["seal", "-p", PROFILE, "report.pdf"])
        .output()
        .unwrap();
    let said = String::from_utf8(sealed.stderr).unwrap();
    assert!(sealed.status.success(), "{said}");
    assert!(
        said.contains("the file is not signed") && said.contains("unsigned"),
        "{said}"
    );
    assert_eq!(
        world.done(&["open", "-q", "-o", "-", "report.pdf.sealed"]),
        b"content"
    );
    // A user who names a recipient signs, or asks for no signature.
    assert!(
        world
            .refused(&["seal", "report.pdf"], 2)
            .contains("--unsigned")
    );
}

#[test]
fn every_form_comes_back() {
    let world = World::new();
    let content: Vec<u8> = (0..(1 << 20) + 12_345)
        .map(|i: u32| (i % 251) as u8)
        .collect();
    world.write("in", &content);
    let forms: [&[&str]; 8] = [
        &["-r", "bob.pub", "--from", "alice.passport"],
        &[
            "-r",
            "bob.pub",
            "--from",
            "alice.passport",
            "--suite",
            "aes256gcm",
            "--pad",
        ],
        &[
            "-r",
            "bob.pub",
            "--from",
            "alice.passport",
            "--armor",
            "--no-carry",
        ],
        &[
            "-r",
            "alice.pub",
            "-r",
            "bob.pub",
            "--anonymous",
            "--unsigned",
        ],
        &["--to", "alice", "-r", "bob.pub", "--unsigned", "--no-name"],
        &["-R", "list", "--from", "bob.passport"],
        &["-R", "both", "--unsigned", "--note", "two\nlines"],
        &["-p", PROFILE, "--unsigned"],
    ];
    world.write("list", b"# people\n\n  bob.pub\n");
    world.write(
        "both",
        &[
            world.read("alice.pub"),
            b"\n# and\n".to_vec(),
            world.read("bob.pub"),
        ]
        .concat(),
    );
    for form in forms {
        let seal = [&["seal", "-q", "--force", "-o", "sealed", "in"], form].concat();
        world.done(&seal);
        world.done(&[
            "open",
            "-q",
            "-i",
            "bob.passport",
            "--force",
            "-o",
            "out",
            "sealed",
        ]);
        assert!(world.read("out") == content, "{form:?}");
        assert!(
            world.done(&["open", "-q", "-i", "bob.passport", "-o", "-", "sealed"]) == content,
            "{form:?}"
        );
    }
}

#[test]
fn several_passports_are_tried_with_one_passphrase() {
    let world = World::new();
    world.write("other", b"another passphrase");
    world.done(&[
        "passport",
        "new",
        "-q",
        "-o",
        "eve.passport",
        PROFILE,
        "--passphrase-file",
        "other",
    ]);
    world.done(&[
        "seal",
        "-r",
        "bob.pub",
        "--anonymous",
        "--unsigned",
        "plan.txt",
    ]);
    let passports = [
        "-i",
        "eve.passport",
        "-i",
        "alice.passport",
        "-i",
        "bob.passport",
    ];
    let opened = world.done(&[&["open", "-o", "-", "plan.txt.sealed"], &passports[..]].concat());
    assert_eq!(opened, b"attack at dawn\n");
}

#[test]
fn recovery_keys_and_generated_passphrases_open() {
    let world = World::empty();
    let made = world.done(&[
        "passport",
        "new",
        "--json",
        "-o",
        "a.passport",
        PROFILE,
        "--generate-passphrase",
    ]);
    let passphrase = field(&made, "generated_passphrase");
    world.write("generated", passphrase.as_bytes());
    let unlock = ["--passphrase-file", "generated"];
    let added = world.done(
        &[
            &[
                "passport",
                "slot",
                "add",
                "--json",
                "--recovery",
                "a.passport",
            ],
            &unlock[..],
        ]
        .concat(),
    );
    world.write(
        "recovery",
        field(&added, "recovery_key")
            .to_lowercase()
            .replace('-', " ")
            .as_bytes(),
    );
    world.done(&[
        "passport",
        "export",
        "a.passport",
        "--passphrase-file",
        "recovery",
    ]);
}

/// All commands unlock first and then change the file. A late command gets an error, and every
/// announced slot exists.
#[test]
fn slot_changes_at_the_same_moment_lose_nothing() {
    const AT_ONCE: usize = 8;
    let world = World::new();
    let add = [
        "passport",
        "slot",
        "add",
        "alice.passport",
        "--recovery",
        "--json",
    ];
    let changes: Vec<Child> = (0..AT_ONCE)
        .map(|_| {
            let mut command = world.command(&add);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut added = Vec::new();
    for change in changes {
        let output = change.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => added.push(field(&output.stdout, "recovery_key")),
            code => {
                assert_eq!(code, Some(3));
                let said = String::from_utf8(output.stderr).unwrap();
                assert!(said.contains("try again"), "{said}");
            }
        }
    }
    assert!(!added.is_empty());
    for key in &added {
        let mut list = world.command(&["passport", "backup", "alice.passport", "--force"]);
        succeed(list.env("SEALSTONE_PASSPHRASE", key));
    }
    let slots = world.done(&["passport", "slot", "list", "alice.passport", "--json"]);
    let slots: Value = serde_json::from_slice(&slots).unwrap();
    assert_eq!(slots["slots"].as_array().unwrap().len(), 1 + added.len());
    assert!(!world.names().iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn json_is_one_object_a_command() {
    let world = World::new();
    world.done(&[
        "seal",
        "-q",
        "-r",
        "bob.pub",
        "--from",
        "alice.passport",
        "-o",
        "sealed",
        "plan.txt",
    ]);
    let commands: [&[&str]; 13] = [
        &["passport", "show", "alice.passport"],
        &["passport", "show", "alice.pub"],
        &["passport", "slot", "list", "alice.passport"],
        &["passport", "split", "alice.passport", "-k", "2", "-n", "2"],
        &["passport", "backup", "alice.passport", "--force"],
        &["passport", "export", "alice.passport"],
        &["inspect", "sealed"],
        &["open", "-i", "bob.passport", "-o", "opened", "sealed"],
        &["trust", "list"],
        &["trust", "show", "alice"],
        &["trust", "log"],
        &["trust", "check"],
        &["selftest"],
    ];
    for command in commands {
        let printed = world.done(&[command, &["--json"]].concat());
        let value: Value =
            serde_json::from_slice(&printed).unwrap_or_else(|e| panic!("{command:?}: {e}"));
        assert!(value.is_object(), "{command:?}");
    }
    let said = world.refused(
        &[
            "--json",
            "open",
            "-o",
            "opened",
            "-i",
            "bob.passport",
            "sealed",
        ],
        3,
    );
    let error: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["kind"]),
        (&3.into(), &"io".into())
    );
}

#[test]
fn standard_output_gets_content_only() {
    let world = World::new();
    let sealed = world.done(&[
        "seal",
        "--json",
        "-r",
        "bob.pub",
        "--unsigned",
        "-o",
        "-",
        "plan.txt",
    ]);
    world.write("sealed", &sealed);
    let opened = world.done(&["open", "--json", "-i", "bob.passport", "-o", "-", "sealed"]);
    assert_eq!(opened, b"attack at dawn\n");
}

#[test]
fn names_that_cannot_be_shown_are_not_told() {
    let world = World::new();
    world.write("evil\x1b[2Jname", b"x");
    world.done(&[
        "seal",
        "-q",
        "-r",
        "bob.pub",
        "--unsigned",
        "-o",
        "sealed",
        "evil\x1b[2Jname",
    ]);
    let told = world.done(&[
        "open",
        "--json",
        "-i",
        "bob.passport",
        "-o",
        "out",
        "sealed",
    ]);
    let told: Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(told["name"], Value::Null);
}

#[test]
fn a_rotated_passport_is_recognised_and_the_old_one_still_opens() {
    let world = World::new();
    world.done(&[
        "seal",
        "-q",
        "-r",
        "alice.pub",
        "--unsigned",
        "-o",
        "old.sealed",
        "plan.txt",
    ]);
    // On Alice's machine, which has another trust store.
    let rotate = ["passport", "rotate", "-q", "--trust-dir", "hers"];
    world.done(&[&rotate[..], &["alice.passport", "-o", "alice2.passport"]].concat());
    let said = world
        .command(&["trust", "approve", "--yes", "alice2.pub"])
        .output()
        .unwrap()
        .stderr;
    assert!(
        String::from_utf8(said)
            .unwrap()
            .contains("succeeds \"alice\" (approved), which signed this on")
    );
    // With another label too, the user must decide about the old passport.
    let lis = ["alice2.passport", "-o", "lis.passport", "--label", "Lis"];
    world.done(&[&rotate[..], &lis].concat());
    let said = world
        .command(&["trust", "approve", "--yes", "lis.pub"])
        .output()
        .unwrap()
        .stderr;
    assert!(
        String::from_utf8(said)
            .unwrap()
            .contains("sealstone trust revoke")
    );
    world.done(&[
        "open",
        "-q",
        "-i",
        "alice.passport",
        "-o",
        "-",
        "old.sealed",
    ]);
}

#[test]
fn manual_and_completions_cover_every_verb() {
    let world = World::empty();
    world.done(&["man", "-q", "man"]);
    for page in [
        "sealstone.1",
        "sealstone-seal.1",
        "sealstone-passport-slot-add.1",
        "sealstone-trust-approve.1",
    ] {
        assert!(
            world.read(&format!("man/{page}")).starts_with(b".ie"),
            "{page}"
        );
    }
    let page = |name: &str| String::from_utf8(world.read(&format!("man/{name}.1"))).unwrap();
    let hash = page("sealstone-hash");
    for part in [
        "\\fBsealstone hash\\fR [OPTIONS] [FILE]...\n",
        "\n.SH NOTES\nA line without an algorithm is",
        "\n.SH EXAMPLES\n.TP\n\\fBsealstone hash *.iso > SUMS\\fR\none line per file",
        "\"sealstone 0.1.0\"",
        "\n.SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\ndone",
        "\n.SH ENVIRONMENT\n.TP\n\\fBSEALSTONE_PASSPHRASE\\fR\n",
        "\n\\fBVISUAL, EDITOR\\fR\nthe editor",
        "\n\\fBALL_PROXY, HTTPS_PROXY, HTTP_PROXY\\fR\nthe proxy",
        "\n\\fBNO_PROXY\\fR\nhosts",
        "\n\\fBSSL_CERT_FILE, SSL_CERT_DIR\\fR\nthe root certificates",
        "\n.SH FILES\n.TP\n\\fB$XDG_DATA_HOME/sealstone/default.passport\\fR\n",
        "\n\\fB$XDG_DATA_HOME/sealstone/monitor/state\\fR\n",
        "\n\\fB$XDG_RUNTIME_DIR/sealstone/agent\\fR\n",
        "\n.SH \"SEE ALSO\"\nsealstone(1), ",
    ] {
        assert!(hash.contains(part), "{part}: {hash}");
    }
    assert!(!hash.contains("EXTRA"));
    // `--trust-dir` appears only in pages of commands that use it.
    for (name, is_listed) in [
        ("sealstone-seal", true),
        ("sealstone-trust-approve", true),
        ("sealstone-hash", false),
        ("sealstone-password-verify", false),
    ] {
        assert_eq!(page(name).contains("trust\\-dir"), is_listed, "{name}");
    }
    assert!(!world.path("man/sealstone-help.1").exists());
    assert!(!page("sealstone").contains("sealstone\\-help"));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = String::from_utf8(world.done(&["completions", shell])).unwrap();
        assert!(script.contains("accept-pending"), "{shell}");
    }
    let page = String::from_utf8(succeed(&mut world.command(&["man"]))).unwrap();
    assert!(
        page.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\ndone"),
        "{page}"
    );
}

#[test]
fn the_readme_shows_every_verb() {
    let readme = include_str!("../../../../README.md");
    let world = World::empty();
    world.done(&["man", "-q", "man"]);
    let pages = fs::read_dir(world.path("man")).unwrap().map(|page| {
        let name = page.unwrap().file_name().into_string().unwrap();
        name.trim_end_matches(".1").replace('-', " ")
    });
    let verbs: Vec<String> = pages.collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    // The manual pages have the rest, for example `passport slot add`.
    for verb in verbs.iter().filter(|verb| !verb.contains(' ')) {
        assert!(readme.contains(verb.as_str()), "{verb}");
    }
}

fn field(json: &[u8], name: &str) -> String {
    let value: Value = serde_json::from_slice(json).unwrap();
    value[name].as_str().unwrap().to_owned()
}
