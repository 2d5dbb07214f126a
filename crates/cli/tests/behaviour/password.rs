//! `password …`: bytes as they come, every input, and who may see what.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::world::{World, refuse, succeed};

const CHEAP: [&str; 4] = ["--memory-kib", "64", "--iterations", "1"];

/// Runs it with `password` on standard input.
fn with_password(world: &World, args: &[&str], password: &[u8]) -> Command {
    world.write("bytes", password);
    let mut command = world.command(args);
    command.args(["--passphrase-fd", "0"]);
    command.stdin(std::fs::File::open(world.path("bytes")).unwrap());
    command
}

fn hash(world: &World, args: &[&str], password: &[u8]) -> String {
    let args = [&["password", "hash"], &CHEAP[..], args].concat();
    let printed = succeed(&mut with_password(world, &args, password));
    String::from_utf8(printed).unwrap().trim_end().to_owned()
}

#[test]
fn passwords_are_bytes_as_they_come() {
    let world = World::empty();
    let passwords: [&[u8]; 6] = [b"", b"\0", b"a", b"a\n", b"a\r\n", b"\xff\xfe"];
    for password in passwords {
        let stored = hash(&world, &[], password);
        for other in passwords {
            let mut verify = with_password(&world, &["password", "verify", &stored], other);
            if other == password {
                succeed(&mut verify);
            } else {
                assert!(refuse(&mut verify, 5).ends_with("sealstone: wrong password\n"));
            }
        }
    }
}

/// The expected hash is that of argon2-cffi 25.1 for the password of one million letters.
#[test]
fn passwords_may_be_long_and_come_through_a_pipe() {
    let world = World::empty();
    let args = ["password", "hash", "-q", "--salt-hex", "736f6d6573616c74"];
    let mut command = world.command(&args);
    command.args(CHEAP).args(["--passphrase-fd", "0"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&vec![b'a'; 1_000_000]).unwrap();
    drop(pipe);
    let printed = child.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(printed).unwrap(), MILLION);
}

const MILLION: &str =
    "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$gO45WIKUxaVSVykCihf+wxjZajo7VvKd4+ynMI08Ohc\n";

#[test]
fn every_input_counts_and_the_number_of_threads_does_not() {
    let world = World::empty();
    world.write("secret", b"00\n");
    let salt = ["--output", "raw-hex", "--salt-hex"];
    let base = [&salt[..], &["0011223344556677", "--parallelism", "4"]].concat();
    let with = |more: &[&str]| hash(&world, &[&base[..], more].concat(), b"password");
    let expected = with(&[]);
    for threads in ["1", "2", "7"] {
        assert_eq!(with(&["--threads", threads]), expected);
    }
    let changes: [&[&str]; 6] = [
        &["--variant", "argon2i"],
        &["--variant", "argon2d"],
        &["--version", "16"],
        &["--secret-hex-file", "secret"],
        &["--associated-data-hex", "00"],
        &["--length", "33"],
    ];
    for change in changes {
        assert_ne!(with(change)[..64], expected, "{change:?}");
    }
    assert_ne!(
        hash(&world, &[&salt[..], &["00"]].concat(), b"password"),
        expected
    );
}

#[test]
fn salts_are_made_up_anew_and_machines_learn_them() {
    let world = World::empty();
    let [a, b] = [0, 1].map(|_| hash(&world, &["--output", "raw-hex", "--json"], b"x"));
    let [a, b]: [Value; 2] = [a, b].map(|text| serde_json::from_str(&text).unwrap());
    assert_ne!(a["salt_hex"], b["salt_hex"]);
    assert_eq!(a["salt_hex"].as_str().unwrap().len(), 32);
    let salt = a["salt_hex"].as_str().unwrap();
    let again = hash(&world, &["--output", "raw-hex", "--salt-hex", salt], b"x");
    assert_eq!(a["hash_hex"], again);
}

#[test]
fn a_stored_hash_and_a_password_cannot_both_be_standard_input() {
    let world = World::empty();
    let said = world.refused(
        &[
            "password",
            "verify",
            "--hash-file",
            "-",
            "--passphrase-fd",
            "0",
        ],
        4,
    );
    assert!(said.contains("not an Argon2 password hash"), "{said}");
    world.write("stored", hash(&world, &[], b"x").as_bytes());
    let mut both = world.command(&[
        "password",
        "verify",
        "--hash-file",
        "-",
        "--passphrase-fd",
        "0",
    ]);
    both.stdin(std::fs::File::open(world.path("stored")).unwrap());
    assert!(refuse(&mut both, 2).contains("cannot both come from standard input"));
}

#[test]
fn memory_that_the_system_does_not_give_is_an_error_that_says_so() {
    let world = World::empty();
    let said = refuse(
        &mut world.bash("ulimit -v 600000; sealstone password hash --profile sensitive"),
        9,
    );
    assert!(
        said.contains("not enough memory: Argon2 needs 1048576 KiB"),
        "{said}"
    );
    assert!(said.contains("choose a smaller --profile"), "{said}");
}

#[test]
fn what_asks_for_too_much_is_refused_with_what_would_allow_it() {
    let world = World::empty();
    // 2 GiB and 1 KiB; of the least memory 9,999,999 passes, which count as 128 KiB each, 32 of them to one KiB of memory.
    for (cost, enough) in [("m=2097153,t=1", "2049MiB"), ("m=8,t=9999999", "39063MiB")] {
        let stored = format!("$argon2id$v=19${cost},p=1$c29tZXNhbHQ$c29tZXRhZ3NvbWV0");
        let said = world.refused(&["password", "verify", &stored], 9);
        let hint = format!("--kdf-max-memory {enough}\n");
        assert!(said.ends_with(&hint), "{said}");
    }
}

#[test]
fn calibration_keeps_within_its_limits() {
    let world = World::empty();
    let args = [
        "--json",
        "password",
        "calibrate",
        "--time-ms",
        "40",
        "--memory",
        "4MiB",
    ];
    let found: Value = serde_json::from_slice(&world.done(&args)).unwrap();
    let parameters = &found["parameters"];
    assert!(parameters["memory_kib"].as_u64().unwrap() <= 4096);
    assert!(parameters["iterations"].as_u64().unwrap() >= 1);
    assert!(found["milliseconds"].as_f64().unwrap() > 0.0);
}
