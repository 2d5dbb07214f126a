//! `token …`: issuer, client and origin, as in a shell script.

use serde_json::Value;

use crate::world::{World, refuse, succeed};

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

/// An origin accepts tokens of several types. The client answers a challenge whose key it has.
#[test]
fn a_header_with_several_challenges() {
    let world = issued("p384");
    let prepare = "set -e
        sealstone token keygen --type rsa -o rsa.key
        sealstone token challenge --type p384 --issuer issuer.example --header >first
        sealstone token challenge --type rsa --issuer issuer.example --header >second
        printf 'WWW-Authenticate: Negotiate YII==, %s, %s\\n' \\
            \"$(cat first)\" \"$(cat second)\" >header";
    succeed(&mut world.bash(prepare));
    for key in ["issuer", "rsa"] {
        let live = format!(
            "set -e
            sealstone token request header --key {key}.key.pub --state {key}.state -o r --force
            sealstone token issue r --key {key}.key -o a --force
            sealstone token finalize a --state {key}.state --header -o t --force
            sealstone token redeem t --challenge header --key {key}.key --spent spent"
        );
        succeed(&mut world.bash(&live));
    }
    world.done(&["token", "keygen", "--type", "p256", "-o", "p256.key"]);
    let other = "token request header --key p256.key.pub --state none -o none";
    let said = world.refused(&other.split(' ').collect::<Vec<_>>(), 4);
    assert!(said.contains("token type 0xff01 where 0x0001"), "{said}");
}

/// The client uses its known key, not a key that an origin names for it alone.
#[test]
fn a_challenge_that_names_another_key() {
    let world = issued("p384");
    let prepare = "set -e
        sealstone token keygen --type p384 -o other.key
        sealstone token directory --key issuer.key.pub -o list
        sealstone token challenge --type p384 --issuer a --header --key issuer.key.pub >good
        sealstone token challenge --type p384 --issuer a --header --key other.key.pub >bad";
    succeed(&mut world.bash(prepare));
    for (index, known) in ["--key issuer.key.pub", "--directory list"]
        .iter()
        .enumerate()
    {
        let request = |challenge: &str| {
            let line =
                format!("token request {challenge} {known} --state {index}.{challenge} -o -");
            line.split(' ').map(str::to_owned).collect::<Vec<_>>()
        };
        world.done(&request("good"));
        let bare = world.done(&request("challenge"));
        assert_eq!(
            bare[2],
            *world.read("request").get(2).unwrap(),
            "the same key"
        );
        let said = world.refused(&request("bad"), 5);
        assert!(
            said.contains("bad: the challenge names another key"),
            "{said}"
        );
        assert!(!world.path(format!("{index}.bad")).exists());
    }
    for (list, code) in [("issuer.key.pub", 4), ("challenge", 4), ("missing", 3)] {
        let line = format!("token request good --directory {list} --state none");
        world.refused(&line.split(' ').collect::<Vec<_>>(), code);
    }
    // A list without a key of this type.
    world.done(&["token", "keygen", "--type", "p256", "-o", "p256.key"]);
    world.done(&["token", "directory", "--key", "p256.key.pub", "-o", "none"]);
    let line = "token request good --directory none --state waits";
    let said = world.refused(&line.split(' ').collect::<Vec<_>>(), 5);
    assert!(
        said.contains("no key of the issuer accepts this now"),
        "{said}"
    );
}

/// A host could forward the challenge of another host, and spend the answer there.
#[test]
fn a_challenge_for_another_host() {
    let world = issued("p384");
    for (origin, code) in [
        ("shop.example", 0),
        ("SHOP.example", 0),
        ("other.example", 5),
    ] {
        let line = format!(
            "token request challenge --key issuer.key.pub --origin {origin} --state {origin} -o -"
        );
        let output = world.command(&line.split(' ').collect::<Vec<_>>()).output();
        assert_eq!(output.unwrap().status.code(), Some(code), "{origin}");
        assert_eq!(world.path(origin).exists(), code == 0);
    }
}

/// Messages of the protocol are not headers, for every name of an issuer.
#[test]
fn an_issuer_that_is_called_like_the_scheme() {
    let world = issued("p384");
    for (kind, issuer) in [("p384", "privatetoken.example"), ("rsa", "PrivateToken")] {
        let names = ["--type", kind, "--issuer", issuer, "-o", kind];
        world.done(&[&["token", "challenge"][..], &names].concat());
        let said = String::from_utf8(world.done(&["token", "inspect", kind])).unwrap();
        assert!(said.contains(issuer), "{said}");
    }
    let line = "token request p384 --key issuer.key.pub --state new -o new.request";
    world.done(&line.split(' ').collect::<Vec<_>>());
}

/// With a failing disk, no token is lost and none is spent twice.
#[test]
fn a_spend_that_cannot_be_synced_is_none() {
    let world = issued("p384");
    finalize(&world);
    if !world.bash("strace true").output().unwrap().status.success() {
        println!("skipped: strace is not installed, or may not trace");
        return;
    }
    let redeem = REDEEM.join(" ");
    // The two directories are made, then the file and three directories are synced.
    for nth in 1..=6 {
        let line = format!(
            "rm -rf spent
            strace -f -qq -o calls -e trace=fsync -e inject=fsync:error=EIO:when={nth} \
                sealstone {redeem}"
        );
        let said = refuse(&mut world.bash(&line), 3);
        assert!(said.contains("Input/output error"), "fsync {nth}: {said}");
        let marks = world.bash("find spent -type f | wc -l").output().unwrap();
        assert_eq!(marks.stdout, b"0\n", "fsync {nth}");
    }
    world.done(&REDEEM);
    refuse(&mut world.command(&REDEEM), 5);
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
