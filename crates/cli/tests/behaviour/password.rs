//! `password …`: unchanged bytes, every input, and protection of secrets.

use std::io::{BufRead, BufReader, Write};
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

/// Computed by argon2-cffi 25.1 (the `core` of its `low_level`), as are those below. This one has
/// none of the list's additions.
const PLAIN: &str = "60ee3215a432e4c66861fb7698a118c32cd0e3599dee7ac379f944fccbfe0280";

#[test]
fn every_input_counts_and_the_number_of_threads_does_not() {
    let world = World::empty();
    world.write("secret", b"00\n");
    let with = |salt: &str, more: &[&str]| {
        let raw = ["--output", "raw-hex", "--salt-hex", salt];
        let args = [&raw[..], &["--parallelism", "4"], more].concat();
        hash(&world, &args, b"password")
    };
    const SALT: &str = "0011223344556677";
    for threads in ["1", "2", "7"] {
        assert_eq!(with(SALT, &["--threads", threads]), PLAIN);
    }
    let changes: [(&[&str], &str); 6] = [
        (
            &["--variant", "argon2i"],
            "e0038749a55dfd205391322ee83077a2cf69af74f6bbc7a0733ddc0526501fe9",
        ),
        (
            &["--variant", "argon2d"],
            "f219ec019e31f4a263908c25a6bac7cc4a78e2bd962cb47bd9cbdd1a70658276",
        ),
        (
            &["--version", "16"],
            "4fac85a532b87620dff6e8ac34833291d3f197adb544068bd974f6cb21a179f9",
        ),
        (
            &["--secret-hex-file", "secret"],
            "593911a8a2464c00ebd08e53755c9050d5ce994e6a1c054ede0e07e7fe715264",
        ),
        (
            &["--associated-data-hex", "00"],
            "62def2af5340bfa16e7372c1788edddeccba8ede2aa4b4fc69acd45fa1cee12c",
        ),
        (
            &["--length", "33"],
            "742d48adf7ab6bb10ac44494d6e8aa696f1b9425e7fdb9a02c580f99b2e843d967",
        ),
    ];
    for (change, expected) in changes {
        assert_eq!(with(SALT, change), expected, "{change:?}");
    }
    assert_eq!(
        with("0011223344556678", &[]),
        "dab9d7a5ae2b56482af93533df84cfe9418054e023a6b7685fb24f7622858411"
    );
    // argon2-cffi accepts no salt of less than 8 bytes.
    assert_ne!(with("00", &[]), PLAIN);
}

/// With every input that an auditor may give.
#[test]
fn a_hash_with_every_input() {
    let world = World::empty();
    world.write("secret", b"0303030303030303\n");
    let line = "password hash --variant argon2id --version 19 --memory-kib 65536 --iterations 3 --parallelism 4 \
                --salt-hex 000102030405060708090a0b0c0d0e0f --secret-hex-file secret --associated-data-hex 040404040404040404040404 \
                --length 32 --threads 2";
    let with = |output: &str| {
        let args: Vec<&str> = line
            .split_whitespace()
            .chain(["--output", output])
            .collect();
        let printed = succeed(&mut with_password(&world, &args, b"correct horse"));
        String::from_utf8(printed).unwrap().trim_end().to_owned()
    };
    assert_eq!(with("raw-hex"), EVERY_INPUT);
    let phc = with("phc");
    let begins = "$argon2id$v=19$m=65536,t=3,p=4,data=BAQEBAQEBAQEBAQE$AAECAwQFBgcICQoLDA0ODw$";
    assert!(phc.starts_with(begins), "{phc}");
}

/// Computed by argon2-cffi 25.1, as [`PLAIN`].
const EVERY_INPUT: &str = "6a4d9fc856070baacce6c033673c61b6f008c878f35470fd2b13258cfefea5c4";

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

/// Calibration uses the available memory only. It fails if there is nearly none, and names its own
/// option.
#[test]
fn calibration_takes_no_more_memory_than_the_system_gives() {
    let world = World::empty();
    let calibrate = "ulimit -v 300000; sealstone --json password calibrate --time-ms 200";
    let found = succeed(&mut world.bash(&format!("{calibrate} --memory 64GiB")));
    let found: Value = serde_json::from_slice(&found).unwrap();
    let kib = found["parameters"]["memory_kib"].as_u64().unwrap();
    assert!((8..300_000).contains(&kib), "{found}");
    let said = refuse(
        &mut world.bash(&format!("{calibrate} --memory 64GiB --parallelism 1000000")),
        9,
    );
    assert!(said.contains("needs 8000000 KiB"), "{said}");
    assert!(
        said.contains("choose fewer lanes with --parallelism"),
        "{said}"
    );
}

/// The user cannot choose the memory of a stored hash.
#[test]
fn memory_that_there_is_not_for_a_stored_hash() {
    let world = World::empty();
    let line = "ulimit -v 600000; sealstone password verify '$argon2id$v=19$m=1048576,t=1,p=1$c29tZXNhbHQ$c29tZXRhZ3NvbWV0'";
    let said = refuse(&mut world.bash(line), 9);
    assert!(said.contains("needs 1048576 KiB"), "{said}");
    assert!(said.ends_with("use a machine with more memory\n"), "{said}");
}

#[test]
fn a_hash_that_asks_for_too_much_is_refused_with_what_would_allow_it() {
    let world = World::empty();
    // 2 GiB and 1 KiB; and 9,999,999 passes with the least memory. Each pass counts as 128 KiB,
    // and 32 KiB of passes count as one KiB of memory.
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

/// All profiles together take a minute.
#[test]
fn a_benchmark_shows_each_profile_when_it_is_known() {
    let world = World::empty();
    let mut bench = world.command(&["password", "bench", "--rounds", "1"]);
    let mut bench = bench.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(bench.stdout.take().unwrap()).lines();
    let shown: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
    let still_runs = bench.try_wait().unwrap().is_none();
    bench.kill().unwrap();
    bench.wait().unwrap();
    assert!(shown[2].contains("argon2id"), "{shown:?}");
    assert!(still_runs);
}

/// The published vector of Argon2 1.0, whose text has no version.
#[test]
fn a_hash_without_a_version_is_to_be_made_anew_for_that_reason() {
    let world = World::empty();
    let stored = "$argon2i$m=256,t=2,p=1$c29tZXNhbHQ$/U3YPXYsSb3q9XxHvc0MLxur+GP960kN9j7emXX8zwY";
    let options = "--variant argon2i --memory-kib 256 --iterations 2 --parallelism 1";
    for (version, why) in [("16", "names no version"), ("19", "new hashes use")] {
        let verify = format!("sealstone password verify --version {version} {options} '{stored}'");
        let mut verify = world.bash(&format!("printf password | {verify} --passphrase-fd 0"));
        let output = verify.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains(why), "{said}");
    }
}
