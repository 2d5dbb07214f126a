//! A full disk: every accepted token is stored, and the service recovers by itself.

use std::process::Command;

use crate::history::Seen;
use crate::load::{Load, redeem};
use crate::victim::{Process, Victim};

/// A verifier whose files cannot grow after the start.
fn limited(data: &str, issuer: &str, listen: &str, kib: u64) -> Process {
    let program = env!("CARGO_BIN_EXE_sealstone-server");
    let script = format!(
        "trap '' XFSZ; ulimit -f {kib}; exec {program} verifier --data {data} --listen {listen} \
         --issuer {issuer}"
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script]);
    Process::run(command)
}

#[test]
fn a_full_disk_loses_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let (issuing, verifying) = (directory.path().join("i"), directory.path().join("v"));
    let (issuing, data) = (
        issuing.display().to_string(),
        verifying.display().to_string(),
    );
    let none = [
        "issuer",
        "--data",
        &issuing,
        "--listen",
        "127.0.0.1:0",
        "--gate",
        "none",
    ];
    let issuer = Process::start(&none);
    let first = Victim::Program.start(&verifying, issuer.url(), "127.0.0.1:0");
    let listen = first.address().to_owned();
    let mut load = Load::new(&issuer, &first);
    drop(first);
    let len = verifying
        .join("store.redb")
        .metadata()
        .expect("a store")
        .len();
    let full = limited(&data, issuer.url(), &listen, len.div_ceil(1024));
    // The file has some free space.
    for _ in 0..5 {
        load.fetch();
        let running = load.start();
        running.wait_for(0);
        std::thread::sleep(std::time::Duration::from_millis(150));
        running.stop();
    }
    assert!(load.unknown() > 0, "the disk was never full");
    assert_eq!(status(&full, "/healthz"), 200, "it goes on");
    assert_eq!(
        status(&full, "/readyz"),
        503,
        "and says that it is not ready"
    );
    drop(full);
    let verifier = Victim::Program.start(&verifying, issuer.url(), &listen);
    assert_eq!(status(&verifier, "/readyz"), 200);
    load.check().expect("a right history");
}

fn status(service: &Process, path: &str) -> u16 {
    let url = format!("{}{path}", service.url());
    let answer = sealstone_server::client::Client::new("").get(&url, None);
    answer.expect("an answer").status
}

#[test]
#[ignore = "a campaign of some minutes: 50 full disks"]
fn fifty_full_disks_lose_nothing() {
    for _ in 0..50 {
        a_full_disk_loses_nothing();
    }
}

#[test]
fn no_answer_is_unknown() {
    let agent = ureq::Agent::new_with_defaults();
    assert_eq!(
        redeem(&agent, "http://127.0.0.1:1/verify", "x"),
        Seen::Unknown
    );
}
