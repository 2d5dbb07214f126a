//! A new passport in the place of an old one.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::passport::{DEFAULT, DEFAULT_PUB, tag, with_default};
use crate::world::json;

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
    assert_eq!(
        fs::read_dir(world.path("data/sealstone")).unwrap().count(),
        4
    );

    world.done(&["seal", "plan.txt", "-o", "second.sealed"]);
    world.done(&["passport", "rotate", "-q"]);
    for sealed in ["first.sealed", "second.sealed"] {
        assert_eq!(
            world.done(&["open", "-o", "-", sealed]),
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
    // Where it is lost, the half that the keys make is there still.
    fs::remove_file(world.path(DEFAULT_PUB)).unwrap();
    world.done(&["passport", "export", "-q", "-o", DEFAULT_PUB]);
    let shown = json(&world.done(&["passport", "show", "--json", DEFAULT_PUB]));
    assert!(shown["predecessor"].is_null() && shown["fingerprint"].is_string());
}

#[test]
fn a_passport_that_was_replaced_is_not_quite_yourself() {
    let world = with_default();
    let old = format!("data/sealstone/default.{}.passport", tag(&world, DEFAULT));
    let rotate = world.command(&["passport", "rotate"]).output().unwrap();
    let said = String::from_utf8(rotate.stderr).unwrap();
    assert!(
        said.contains("the passphrase of the old one") && said.contains("sealstone trust revoke"),
        "{said}"
    );
    world.done(&["seal", "-q", "--from", &old, "plan.txt", "-o", "by-old"]);
    world.done(&["seal", "-q", "plan.txt", "-o", "by-new"]);
    for (sealed, trust, words) in [
        ("by-old", "replaced", "by a passport that you replaced"),
        ("by-new", "own", "from yourself)"),
    ] {
        let opened = world
            .command(&["open", "-o", "-", sealed])
            .output()
            .unwrap();
        let said = String::from_utf8(opened.stderr).unwrap();
        assert!(said.contains(words), "{said}");
        let told = json(&world.done(&["open", "--json", "--force", "-o", "out", sealed]));
        assert_eq!(told["sender"]["trust"], trust);
    }
    let fingerprint = json(&world.done(&["passport", "show", "--json", &old]));
    let fingerprint = fingerprint["fingerprint"].as_str().unwrap();
    world.done(&["trust", "revoke", "-q", fingerprint]);
    world.refused(&["open", "-o", "-", "by-old"], 7);
    world.done(&["open", "-q", "-o", "-", "by-new"]);
}

#[test]
fn what_an_interrupted_rotation_leaves_works() {
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
        world.done(&["open", "-o", "-", "plan.txt.sealed"]),
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
        // The end is where files are written.
        let moment = f64::from(kill % 12).mul_add(0.03, 0.7);
        std::thread::sleep(Duration::from_secs_f64(duration.as_secs_f64() * moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let opened = world.done(&["open", "-q", "-o", "-", &sealed]);
        assert_eq!(opened, b"attack at dawn\n", "kill {kill}");
    }
    let opened = world.done(&["open", "-q", "-o", "-", "0.sealed"]);
    assert_eq!(opened, b"attack at dawn\n");
}
