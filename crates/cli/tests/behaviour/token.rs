//! `token …`: issuer, client and origin as a shell script plays them.

use serde_json::Value;

use crate::world::{PASSPHRASE, World, refuse, succeed};

/// An issuer's key, a challenge, a request with its state, a response.
fn issued(kind: &str) -> World {
    let world = World::empty();
    world.done(&["token", "keygen", "--type", kind, "-o", "issuer.key"]);
    challenge(&world, kind, "challenge", "shop.example");
    let request = ["token", "request", "challenge", "--key", "issuer.key.pub"];
    world.done(&[&request[..], &["--state", "waiting", "-o", "request"]].concat());
    world.done(&[
        "token",
        "issue",
        "request",
        "--key",
        "issuer.key",
        "-o",
        "response",
    ]);
    world
}

fn challenge(world: &World, kind: &str, file: &str, origin: &str) {
    let names = ["--issuer", "issuer.example", "--origin", origin, "-o", file];
    world.done(&[&["token", "challenge", "--type", kind][..], &names].concat());
}

fn finalize(world: &World) {
    world.done(&[
        "token", "finalize", "response", "--state", "waiting", "-o", "token",
    ]);
}

const REDEEM: [&str; 9] = [
    "token",
    "redeem",
    "token",
    "--challenge",
    "challenge",
    "--key",
    "issuer.key",
    "--spent",
    "spent",
];

#[test]
fn a_token_is_redeemed_once() {
    for (kind, len) in [
        ("p384", 146),
        ("rsa", 354),
        ("ristretto255", 162),
        ("p256", 130),
    ] {
        let world = issued(kind);
        finalize(&world);
        assert_eq!(world.read("token").len(), len);
        world.done(&REDEEM);
        let said = refuse(&mut world.command(&REDEEM), 5);
        assert_eq!(said, "sealstone: token: the token was redeemed before\n");
    }
}

#[test]
fn everybody_verifies_rsa_and_nobody_else_the_others() {
    for (kind, works) in [("rsa", true), ("p384", false)] {
        let world = issued(kind);
        finalize(&world);
        let redeem = REDEEM.map(|word| {
            if word == "issuer.key" {
                "issuer.key.pub"
            } else {
                word
            }
        });
        match works {
            true => drop(world.done(&redeem)),
            false => {
                let said = refuse(&mut world.command(&redeem), 2);
                assert!(said.contains("only the issuer can verify"), "{said}");
                assert!(!world.path("spent").exists(), "nothing is remembered of it");
            }
        }
    }
}

#[test]
fn secrets_are_their_owners_alone() {
    let world = issued("p384");
    finalize(&world);
    for (file, mode) in [
        ("issuer.key", 0o600),
        ("waiting", 0o600),
        ("token", 0o600),
        ("issuer.key.pub", 0o644),
        ("request", 0o644),
    ] {
        assert_eq!(world.mode(file) & !0o022, mode & !0o022, "{file}");
    }
    // Nothing replaces a key or a state.
    for args in [
        &["token", "keygen", "--type", "p384", "-o", "issuer.key"][..],
        &["token", "keygen", "--root", "-o", "issuer.key"],
        &[
            "token",
            "request",
            "challenge",
            "--key",
            "issuer.key.pub",
            "--state",
            "waiting",
        ],
    ] {
        let before = (world.read("issuer.key"), world.read("waiting"));
        refuse(&mut world.command(args), 3);
        assert_eq!((world.read("issuer.key"), world.read("waiting")), before);
    }
}

#[test]
fn wrong_files_are_refused_with_a_reason() {
    let world = issued("p384");
    world.done(&["token", "keygen", "--type", "p384", "-o", "other.key"]);
    let issue = ["token", "issue", "request", "--key", "other.key"];
    // One key in 256 has the same last byte.
    let code = world.command(&issue).output().unwrap().status.code();
    assert!(matches!(code, Some(0 | 5)), "{code:?}");
    challenge(&world, "p384", "elsewhere", "other.example");
    finalize(&world);
    let redeem = REDEEM.map(|word| {
        if word == "challenge" {
            "elsewhere"
        } else {
            word
        }
    });
    let said = refuse(&mut world.command(&redeem), 5);
    assert_eq!(
        said,
        "sealstone: token: the token answers another challenge\n"
    );
    let mut token = world.read("token");
    *token.last_mut().unwrap() ^= 1;
    world.write("token", &token);
    let said = refuse(&mut world.command(&REDEEM), 5);
    assert_eq!(
        said,
        "sealstone: token: the token is not one of this issuer key\n"
    );
    for (args, code) in [
        (
            &["token", "finalize", "request", "--state", "waiting"][..],
            4,
        ),
        (
            &["token", "finalize", "response", "--state", "issuer.key"],
            4,
        ),
        (&["token", "issue", "response", "--key", "issuer.key"], 4),
        (&["token", "issue", "request", "--key", "waiting"], 4),
        (&["token", "inspect", "passphrase"], 4),
        (&["token", "request", "challenge", "--state", "new"], 2),
        (
            &[
                "token",
                "challenge",
                "--type",
                "p384",
                "--issuer",
                "two words",
            ],
            4,
        ),
    ] {
        let said = refuse(&mut world.command(args), code);
        assert!(said.starts_with("sealstone: "), "{said}");
    }
    assert!(!world.path("new").exists(), "no state without a request");
}

#[test]
fn a_response_that_was_changed_gives_no_token() {
    let world = issued("rsa");
    let mut response = world.read("response");
    response[7] ^= 1;
    world.write("changed", &response);
    let finalize = [
        "token", "finalize", "changed", "--state", "waiting", "-o", "token",
    ];
    let said = refuse(&mut world.command(&finalize), 5);
    assert!(said.contains("the issuer's proof is wrong"), "{said}");
    assert!(!world.path("token").exists());
}

#[test]
fn batches_and_headers_go_through_pipes() {
    let world = issued("p384");
    succeed(&mut world.bash(
        "set -o pipefail
        sealstone token request challenge --key issuer.key.pub --state many --count 3 |
            sealstone token issue - --key issuer.key |
            sealstone token finalize - --state many -o tokens",
    ));
    assert_eq!(world.read("tokens").len(), 3 * 146);
    let refused = "sealstone token request challenge --key issuer.key.pub --state five --count 5 |
        sealstone token issue - --key issuer.key --limit 4";
    let said = refuse(&mut world.bash(refused), 4);
    assert!(said.contains("a batch of 5"), "{said}");
    let by_header = "set -e
        sealstone token challenge --type p384 --issuer issuer.example --context random \\
            --header --key issuer.key.pub --max-age 60 >header
        sed -i 's/^/WWW-Authenticate: /' header
        sealstone token request header --state one -o r
        sealstone token issue r --key issuer.key -o a
        sealstone token finalize a --state one --header >authorization
        sealstone token redeem authorization --challenge header --key issuer.key --spent spent";
    succeed(&mut world.bash(by_header));
    assert!(
        world
            .read("authorization")
            .starts_with(b"PrivateToken token=\"")
    );
}

#[test]
fn keys_of_epochs_come_from_a_root() {
    let world = World::empty();
    world.done(&["token", "keygen", "--root", "-o", "root"]);
    let derive = |epoch, file| {
        let args = [
            "token", "keygen", "--type", "p256", "--from", "root", "--epoch", epoch, "-o",
        ];
        world.done(&[&args[..], &[file]].concat());
        world.read(file)
    };
    assert_eq!(derive("7", "one"), derive("7", "two"));
    assert_ne!(derive("8", "three"), derive("7", "four"));
    let rsa = [
        "token", "keygen", "--type", "rsa", "--from", "root", "--epoch", "7", "-o", "rsa",
    ];
    refuse(&mut world.command(&rsa), 2);
    // The example of spec/token.md, through the command: a root of 32 bytes 0x07.
    world.write(
        "sevens",
        b"sealstone-token-root-v1 BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc\n",
    );
    let example = [
        "token", "keygen", "--type", "p256", "--from", "sevens", "--epoch", "1", "-o",
    ];
    world.done(&[&example[..], &["five"]].concat());
    // 0xff01, then the private key 0da325ab…e7.
    let expected = "sealstone-token-key-v1 _wENoyWrGfaMLkzHgeBzlnSmGpeLRO0CyKt4fRhJxIAJ5w\n";
    assert_eq!(world.read("five"), expected.as_bytes());
}

#[test]
fn inspect_explains_everything() {
    let world = issued("ristretto255");
    finalize(&world);
    for (file, kind) in [
        ("issuer.key", "issuer's secret key"),
        ("issuer.key.pub", "issuer's public key"),
        ("challenge", "challenge"),
        ("request", "request for a token"),
        ("waiting", "saved request"),
        ("response", "response for a token"),
        ("token", "token"),
    ] {
        let said = String::from_utf8(world.done(&["token", "inspect", file])).unwrap();
        assert!(said.starts_with(kind), "{file}: {said}");
        assert!(
            said.contains("0x0005 VOPRF (ristretto255, SHA-512)"),
            "{said}"
        );
        let json = world.done(&["--json", "token", "inspect", file]);
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert!(json["kind"].as_str().unwrap().starts_with(kind));
    }
}

/// When epoch 0 of [`directory`] begins: 2026-01-01.
const START: u64 = 1_767_225_600;
/// A hundred years: epoch 0 lasts for as long as these tests are run.
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
        &[],
    ] {
        refuse(&mut world.command(&make(options)), 2);
        assert!(!world.path("other").exists());
    }
    // RFC 9578 knows keys without epochs.
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
