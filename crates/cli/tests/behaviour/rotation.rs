//! A new passport replaces an old one.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::passport::{DEFAULT, DEFAULT_PUB, tag, with_default};
use crate::world::{PROFILE, World, json};

#[test]
fn the_default_passport_is_replaced_and_kept() {
    let world = with_default();
    world.done(&["seal", "plan.txt", "-o", "first.sealed"]);
    let (first, secret, public) = (
        tag(&world, DEFAULT),
        world.read(DEFAULT),
        world.read(DEFAULT_PUB),
    );
    world.done(&["passport", "rotate"]);
    let kept = format!("data/sealstone/default.{first}.passport");
    assert!(
        world.read(&kept) == secret && world.read(&kept.replace(".passport", ".pub")) == public
    );
    assert_eq!((world.mode(&kept), world.mode(DEFAULT)), (0o600, 0o600));
    let second = tag(&world, DEFAULT);
    assert!(second != first && tag(&world, DEFAULT_PUB) == second);
    let shown = json(&world.done(&["passport", "show", "--json", DEFAULT_PUB]));
    assert!(
        shown["predecessor"]
            .as_str()
            .unwrap()
            .replace('-', "")
            .starts_with(&first)
    );
    // Both halves of both, and the trust store.
    let entries = fs::read_dir(world.path("data/sealstone")).unwrap();
    assert_eq!(entries.count(), 5);

    world.done(&["seal", "plan.txt", "-o", "second.sealed"]);
    world.done(&["passport", "rotate", "-q"]);
    for sealed in ["first.sealed", "second.sealed"] {
        let said = world.refused(&["open", "-o", "-", sealed], 6);
        assert!(said.contains("a passport that you replaced"), "{said}");
        assert_eq!(
            world.done(&["open", "-o", "-", "--accept-pending", sealed]),
            b"attack at dawn\n"
        );
    }
    world.done(&[
        "seal",
        "plan.txt",
        "--anonymous",
        "-r",
        &kept.replace(".passport", ".pub"),
    ]);
    let said = world.refused(&["open", "-o", "-", "plan.txt.sealed"], 5);
    assert!(
        said.contains("choose -i") && said.contains("default."),
        "{said}"
    );
}

#[test]
fn a_public_half_goes_on_saying_whom_it_succeeds() {
    let world = with_default();
    let first = tag(&world, DEFAULT);
    world.done(&["passport", "rotate", "-q"]);
    world.done(&["passport", "export", "-q", "--force", "-o", DEFAULT_PUB]);
    let shown = json(&world.done(&["passport", "show", "--json", DEFAULT_PUB]));
    let predecessor = shown["predecessor"].as_str().unwrap().replace('-', "");
    assert!(predecessor.starts_with(&first));
    // If it is lost, the public half is derived from the keys.
    fs::remove_file(world.path(DEFAULT_PUB)).unwrap();
    world.done(&["passport", "export", "-q", "-o", DEFAULT_PUB]);
    let shown = json(&world.done(&["passport", "show", "--json", DEFAULT_PUB]));
    assert!(shown["predecessor"].is_null() && shown["fingerprint"].is_string());
}

/// The status of a passport in the trust store, or null.
fn standing(world: &World, passport: &str) -> serde_json::Value {
    let public = passport.replace(".passport", ".pub");
    json(&world.done(&["passport", "show", "--json", &public]))["trust"].clone()
}

/// The whole fingerprint of a passport.
fn fingerprint(world: &World, passport: &str) -> String {
    let shown = json(&world.done(&["passport", "show", "--json", passport]));
    shown["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn a_passport_that_was_replaced_speaks_for_nobody_until_it_is_approved() {
    let world = with_default();
    let old = format!("data/sealstone/default.{}.passport", tag(&world, DEFAULT));
    let rotate = world.command(&["passport", "rotate"]).output().unwrap();
    let said = String::from_utf8(rotate.stderr).unwrap();
    assert!(
        said.contains("the passphrase of the old one") && said.contains("sealstone trust revoke"),
        "{said}"
    );
    assert_eq!(standing(&world, &old), "pending");
    world.done(&["seal", "-q", "--from", &old, "plan.txt", "-o", "by-old"]);
    world.done(&["seal", "-q", "plan.txt", "-o", "by-new"]);
    let to_old = ["-r", &old.replace(".passport", ".pub"), "-o", "to-old"];
    let seal = ["seal", "-q", "--from", &old, "plan.txt"];
    world.done(&[&seal[..], &to_old].concat());
    for open in [
        &["open", "-o", "out", "by-old"][..],
        &["open", "-o", "out", "to-old"],
        &["open", "-o", "out", "-i", &old, "to-old"],
    ] {
        let said = world.refused(open, 6);
        assert!(said.contains("a passport that you replaced"), "{said}");
        assert!(!world.path("out").exists());
    }
    let open = ["open", "--json", "--force", "-o", "out"];
    let by_new = json(&world.done(&[&open[..], &["by-new"]].concat()));
    assert_eq!(by_new["sender"]["trust"], "own");
    let accepted = json(&world.done(&[&open[..], &["--accept-pending", "by-old"]].concat()));
    assert_eq!(accepted["sender"]["trust"], "replaced");
    let whole = fingerprint(&world, &old);
    world.done(&["trust", "approve", "-q", "--yes", &whole]);
    let approved = json(&world.done(&[&open[..], &["by-old"]].concat()));
    assert_eq!(approved["sender"]["trust"], "approved");
    world.done(&["trust", "revoke", "-q", &whole]);
    world.refused(&["open", "-o", "-", "by-old"], 7);
    world.done(&["open", "-q", "-o", "-", "by-new"]);
}

#[test]
fn a_rotation_revokes_if_it_is_told_to() {
    let world = with_default();
    let old = format!("data/sealstone/default.{}.passport", tag(&world, DEFAULT));
    world.done(&["seal", "-q", "plan.txt", "-o", "by-old"]);
    world.done(&["passport", "rotate", "-q", "--revoke"]);
    assert_eq!(standing(&world, &old), "revoked");
    let seal = ["seal", "--from", &old, "plan.txt", "-o", "again"];
    let said = world.refused(&seal, 7);
    assert!(
        said.contains("the key is revoked, and signs no more"),
        "{said}"
    );
    assert!(!world.path("again").exists());
    world.refused(&["open", "-o", "-", "by-old"], 7);
    // The same for an output beside the default passport.
    let rotate = ["passport", "rotate", "-q", "--no-revoke", DEFAULT, "-o"];
    world.done(&[&rotate[..], &["other.passport"]].concat());
    assert_eq!(standing(&world, DEFAULT), "pending");
    world.done(&[
        "seal",
        "-q",
        "--from",
        DEFAULT,
        "plan.txt",
        "-o",
        "by-second",
    ]);
    world.refused(&["open", "-o", "-", "by-second"], 6);
}

/// A file that merely names one of the user's passports must not cause a prompt for its passphrase.
#[test]
fn no_passphrase_is_asked_for_before_the_signatures_are_checked() {
    let world = with_default();
    let old = format!("data/sealstone/default.{}.passport", tag(&world, DEFAULT));
    world.done(&["passport", "rotate", "-q"]);
    world.write("words", b"the passphrase of the file\n");
    for (from, carry) in [
        (DEFAULT, true),
        (DEFAULT, false),
        (&*old, true),
        (&*old, false),
    ] {
        let mut seal = vec!["seal", "-q", "--force", "-p", PROFILE, "--from", from];
        seal.extend([
            "--recipient-passphrase-file",
            "words",
            "-o",
            "x",
            "plan.txt",
        ]);
        seal.extend((!carry).then_some("--no-carry"));
        world.done(&seal);
        let open = [
            "open",
            "-q",
            "-p",
            "--passphrase-file",
            "words",
            "-o",
            "out",
            "x",
        ];
        // The signatures are right: the sender is known, and one of the two is the user.
        let (code, words) = match from {
            DEFAULT => (5, "default.passport: wrong passphrase"),
            _ => (6, "a passport that you replaced"),
        };
        let said = world.refused(&open, code);
        assert!(said.contains(words), "{said}");
        let mut altered = world.read("x");
        *altered.last_mut().unwrap() ^= 1;
        world.write("x", &altered);
        let said = world.refused(&open, 5);
        assert!(said.contains("the trailer was altered"), "{said}");
    }
}

#[test]
fn files_that_an_interrupted_rotation_leaves_work() {
    let world = with_default();
    let first = tag(&world, DEFAULT);
    // Stopped after the copies; then a slot was added.
    let kept = format!("data/sealstone/default.{first}");
    fs::copy(world.path(DEFAULT), world.path(format!("{kept}.passport"))).unwrap();
    world.done(&["seal", "-q", "plan.txt", "-o", "own.sealed"]);
    let told = json(&world.done(&["open", "--json", "-o", "own.txt", "own.sealed"]));
    assert_eq!(told["sender"]["trust"], "own");
    world.done(&["passport", "slot", "add", "--recovery", "--json"]);
    let newer = world.read(DEFAULT);
    world.done(&["passport", "rotate", "-q"]);
    assert!(world.read(&format!("{kept}-2.passport")) == newer);
    // Stopped between the two halves.
    let second = tag(&world, DEFAULT);
    let waiting = world.path(format!("data/sealstone/default.{second}.pub"));
    fs::rename(world.path(DEFAULT_PUB), waiting).unwrap();
    fs::copy(world.path(format!("{kept}-2.pub")), world.path(DEFAULT_PUB)).unwrap();
    world.done(&["seal", "plan.txt"]);
    world.done(&["passport", "rotate", "-q"]);
    assert!(
        world
            .path(format!("data/sealstone/default.{second}.passport"))
            .exists()
    );
    assert_eq!(
        world.done(&["open", "--accept-pending", "-o", "-", "plan.txt.sealed"]),
        b"attack at dawn\n"
    );
}

#[test]
fn a_rotation_that_is_killed_loses_nobody() {
    const KILLS: u32 = 24;
    let world = with_default();
    let rotate = ["passport", "rotate", "-q"];
    let start = Instant::now();
    world.done(&rotate);
    let duration = start.elapsed();
    for kill in 0..KILLS {
        let sealed = format!("{kill}.sealed");
        world.done(&["seal", "-q", "plan.txt", "-o", &sealed]);
        let mut child = world
            .command(&rotate)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Files are written at the end.
        let moment = f64::from(kill % 12).mul_add(0.03, 0.7);
        std::thread::sleep(Duration::from_secs_f64(duration.as_secs_f64() * moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let opened = world.done(&["open", "-q", "--accept-pending", "-o", "-", &sealed]);
        assert_eq!(opened, b"attack at dawn\n", "kill {kill}");
    }
    let opened = world.done(&["open", "-q", "--accept-pending", "-o", "-", "0.sealed"]);
    assert_eq!(opened, b"attack at dawn\n");
}
