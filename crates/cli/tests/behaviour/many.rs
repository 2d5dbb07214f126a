//! Several files at once: each is reported, and a failure does not stop the others.

use std::process::Command;
use std::time::{Duration, Instant};

use sealstone_files::Existing;
use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::dh::x25519;
use sealstone_primitives::kem::ml_kem_1024::DecapsulationKey;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_87};
use sealstone_skein::tree;
use serde_json::Value;

use crate::world::World;

const SEAL: [&str; 5] = ["seal", "-r", "bob.pub", "--from", "alice.passport"];
const OPEN: [&str; 3] = ["open", "-i", "bob.passport"];

fn world() -> (World, Vec<String>) {
    let world = World::with_bob_approved();
    let names: Vec<String> = (0..12).map(|i| format!("file {i}")).collect();
    for name in &names {
        world.write(name, format!("content of {name}").as_bytes());
    }
    (world, names)
}

fn with<'a>(verb: &[&'a str], more: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let more = more.into_iter().map(String::as_str);
    verb.iter().copied().chain(more).collect()
}

/// The exit code and the lines on standard error.
fn ran(command: &mut Command) -> (i32, Vec<String>) {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let lines = said.lines().map(str::to_owned).collect();
    (output.status.code().unwrap(), lines)
}

#[test]
fn all_are_sealed_and_opened_and_reported_in_order() {
    let (world, names) = world();
    let (code, said) = ran(&mut world.command(&with(&SEAL, &names)));
    assert_eq!(code, 0, "{said:?}");
    assert_eq!(said.len(), names.len());
    for (line, name) in said.iter().zip(&names) {
        assert!(
            line.starts_with(&format!("sealed {name} to {name}.sealed ")),
            "{line}"
        );
    }
    let sealed: Vec<String> = names.iter().map(|name| format!("{name}.sealed")).collect();
    std::fs::create_dir(world.path("out")).unwrap();
    let (code, said) =
        ran(&mut world.command(&with(&[&OPEN[..], &["-o", "out"]].concat(), &sealed)));
    assert_eq!((code, said.len()), (0, names.len()), "{said:?}");
    for name in &names {
        let opened = world.read(&format!("out/{name}"));
        assert_eq!(opened, format!("content of {name}").as_bytes());
    }
}

#[test]
fn machines_get_an_object_for_each() {
    let (world, names) = world();
    let printed = world.done(&with(&[&SEAL[..], &["--json"]].concat(), &names));
    let lines = String::from_utf8(printed).unwrap();
    let outputs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["output"].clone())
        .collect();
    let expected: Vec<String> = names.iter().map(|name| format!("{name}.sealed")).collect();
    assert_eq!(outputs, expected);
}

#[test]
fn the_others_are_done_and_the_worst_is_the_status() {
    let (world, names) = world();
    world.done(&with(&SEAL, &names));
    for name in &names {
        std::fs::remove_file(world.path(name)).unwrap();
    }
    let sealed: Vec<String> = names.iter().map(|name| format!("{name}.sealed")).collect();
    let mut altered = world.read(&sealed[3]);
    let last = altered.len() - 1;
    altered[last] ^= 1;
    world.write(&sealed[3], &altered);
    std::fs::remove_file(world.path(&sealed[5])).unwrap();
    let (code, said) = ran(&mut world.command(&with(&OPEN, &sealed)));
    // The codes are of a missing file (3) and of an altered one (5).
    assert_eq!(code, 5, "{said:?}");
    assert!(
        said.iter()
            .any(|line| line.contains("2 of 12 files failed")),
        "{said:?}"
    );
    for (i, name) in names.iter().enumerate() {
        assert_eq!(world.path(name).exists(), i != 3 && i != 5, "{name}");
    }
}

#[test]
fn the_first_failure_stops_if_it_is_to() {
    let (world, mut names) = world();
    names.insert(0, "missing".to_owned());
    let (code, said) = ran(&mut world.command(&with(&[&SEAL[..], &["--stop"]].concat(), &names)));
    assert_eq!(code, 3);
    let verdict = said.last().unwrap();
    assert!(verdict.contains("were not tried"), "{said:?}");
    // Without the option, all others are sealed.
    let (code, said) = ran(&mut world.command(&with(&[&SEAL[..], &["--force"]].concat(), &names)));
    assert_eq!((code, said.len()), (3, 12 + 2), "{said:?}");
}

#[test]
fn nothing_is_asked_if_nothing_can_be_done() {
    let (world, _) = world();
    let mut command = world.command(&[&SEAL[..], &["no", "nothing"]].concat());
    command.env_remove("SEALSTONE_PASSPHRASE");
    let (code, said) = ran(&mut command);
    assert_eq!(code, 3);
    assert!(
        !said.iter().any(|line| line.contains("passphrase")),
        "{said:?}"
    );
}

#[test]
fn a_passphrase_is_asked_for_once_in_vain() {
    let (world, names) = world();
    world.done(&with(&SEAL, &names[..3]));
    let sealed: Vec<String> = names[..3]
        .iter()
        .map(|name| format!("{name}.sealed"))
        .collect();
    std::fs::create_dir(world.path("out")).unwrap();
    let mut command = world.command(&with(&[&OPEN[..], &["-o", "out"]].concat(), &sealed));
    command.env("SEALSTONE_PASSPHRASE", "wrong");
    let (code, said) = ran(&mut command);
    assert_eq!(code, 5);
    let said = said.join("\n");
    assert_eq!(said.matches("wrong passphrase").count(), 1, "{said}");
    assert_eq!(said.matches("was not unlocked").count(), 2, "{said}");
}

#[test]
fn combinations_that_cannot_be_are_refused() {
    let (world, _) = world();
    for (more, hint) in [
        (&["plan.txt", "-"][..], "cannot be combined"),
        (&["-o", "one", "plan.txt", "file 1"], "not a directory"),
        (
            &["--name", "x", "plan.txt", "file 1"],
            "--name is for one file",
        ),
    ] {
        let said = world.refused(&[&SEAL[..], more].concat(), 2);
        assert!(said.contains(hint), "{said}");
    }
}

/// The cost of `count` signed files of this content on one processor, by the primitives alone.
fn primitives(content: &[u8], count: usize) -> Duration {
    let kem = DecapsulationKey::from_seed(&Secret::random());
    let theirs = x25519::PrivateKey::from_seed(Secret::random());
    let (theirs, kem) = (theirs.public_key(), kem.encapsulation_key());
    let (classical, post_quantum) = (
        ed25519::SigningKey::from_seed(&Secret::random()),
        ml_dsa_87::SigningKey::from_seed(&Secret::random()),
    );
    let (domain, message) = (b"sealstone.file.v1", [7; 162]);
    let begun = Instant::now();
    for _ in 0..count {
        let ephemeral = x25519::PrivateKey::from_seed(Secret::random());
        let _ = std::hint::black_box((ephemeral.public_key(), ephemeral.agree(theirs)));
        std::hint::black_box(kem.encapsulate());
        let mut payload = content.to_vec();
        let cipher = XChaCha20Poly1305::new(&Secret::random());
        std::hint::black_box(cipher.seal_in_place(&[0; 24], b"", &mut payload));
        std::hint::black_box(tree::subtree(0, &payload));
        let signature = classical.sign(&message);
        classical
            .verifying_key()
            .verify(&message, &signature)
            .unwrap();
        let signature = post_quantum.sign(&message, domain).unwrap();
        let verifying = post_quantum.verifying_key();
        verifying.verify(&message, domain, &signature[..]).unwrap();
    }
    begun.elapsed()
}

/// The cost of writing `count` files of `length` bytes durably, four at a time, as the command does
/// on two processors: content, name and directory are synced.
fn durable_files(world: &World, length: usize, count: usize) -> Duration {
    let directory = tempfile::tempdir_in(world.path(".")).unwrap();
    let directory = directory.path();
    let bytes = vec![7; length];
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for lane in 0..4 {
            let bytes = &bytes;
            scope.spawn(move || {
                for number in (lane..count).step_by(4) {
                    let path = directory.join(number.to_string());
                    sealstone_files::write(&path, bytes, Existing::Replace, 0o600).unwrap();
                }
            });
        }
    });
    begun.elapsed()
}

/// Seals 1,000 signed files five times, and compares with the cost of 998 by their parts alone.
fn compare(options: &[&str], parts: impl Fn(&World, &[u8]) -> Duration) {
    let world = World::with_bob_approved();
    let content: Vec<u8> = (0..10_240).map(|i| (i % 251) as u8).collect();
    let names: Vec<String> = (0..1000).map(|i| format!("{i}")).collect();
    names.iter().for_each(|name| world.write(name, &content));
    let seal = |names: &[String]| {
        for name in names {
            // Some file systems sync replaced files immediately.
            drop(std::fs::remove_file(world.path(format!("{name}.sealed"))));
        }
        let verb = [&SEAL[..], &["-q"], options].concat();
        let mut command = world.command(&with(&verb, names));
        let begun = Instant::now();
        assert_eq!(ran(&mut command).0, 0);
        begun.elapsed()
    };
    let mut ratios: Vec<f64> = (0..5)
        .map(|_| {
            // Start, passphrase and store cost the same for two files and for a thousand.
            let (start, all) = (seal(&names[..2]), seal(&names));
            let floor = parts(&world, &content);
            println!("start {start:?}, 1000 files {all:?}, parts of 998 {floor:?}");
            (all - start).as_secs_f64() / floor.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("ratios {ratios:.2?}");
    assert!(ratios[2] <= 1.3, "median {:.2}", ratios[2]);
}

/// On a disk, the file system alone needs about as long for this number of files: see the next
/// test.
#[test]
#[ignore = "measures, so it needs a quiet machine, the release build and a TMPDIR in memory"]
fn a_thousand_signed_files_cost_at_most_1_3_times_their_primitives() {
    compare(&["--no-sync"], |_, content| primitives(content, 998));
}

/// Durable files also wait for the disk, so its time is one of the parts.
#[test]
#[ignore = "measures, so it needs a quiet machine and the release build"]
fn a_thousand_durable_files_cost_at_most_1_3_times_their_primitives_and_the_disk() {
    compare(&[], |world, content| {
        let sealed = world.path("0.sealed").metadata().unwrap().len();
        primitives(content, 998) + durable_files(world, sealed as usize, 998)
    });
}
