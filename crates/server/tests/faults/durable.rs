//! The answer follows the sync: the order of the verifier's system calls.

use std::process::Command;
use std::time::Duration;

use crate::history::Seen;
use crate::load::Load;
use crate::victim::{Process, Victim};

/// Whether each write of the file was synced before the next answer 200.
fn is_synced(trace: &str) -> bool {
    let mut is_open = false;
    for line in trace.lines() {
        if line.contains(" pwrite64(") {
            is_open = true;
        } else if line.contains("fdatasync(") || line.contains("fsync(") {
            is_open = false;
        } else if line.contains("HTTP/1.1 200") && is_open {
            return false;
        }
    }
    true
}

#[test]
fn an_answer_before_the_sync_is_caught() {
    let (write, sync, answer) = (
        "7 pwrite64(9, \"\"..., 4096, 0) = 4096\n",
        "7 fdatasync(9) = 0\n",
        "8 writev(12, [{iov_base=\"HTTP/1.1 200 OK\"...}], 1) = 1\n",
    );
    assert!(is_synced(&[write, write, sync, answer].concat()));
    assert!(!is_synced(&[write, sync, write, answer, sync].concat()));
}

#[test]
fn a_redemption_is_synced_before_it_is_answered() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is missing, run scripts/setup test");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (issuing, verifying) = (directory.path().join("i"), directory.path().join("v"));
    let issuing = issuing.display().to_string();
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
    load.fetch();
    drop(first);
    let trace = directory.path().join("trace");
    let mut strace = Command::new("strace");
    // The program is a child of this process and ends with it. strace attaches to it.
    strace
        .args([
            "-D",
            "-f",
            "-e",
            "trace=pwrite64,fsync,fdatasync,writev,sendto",
            "-o",
        ])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_sealstone-server"))
        .args([
            "verifier",
            "--listen",
            &listen,
            "--issuer",
            issuer.url(),
            "--data",
        ])
        .arg(&verifying);
    let verifier = Process::run(strace);
    assert_eq!(load.first(), [Seen::Accepted, Seen::Spent]);
    drop(verifier);
    // strace writes its log when the program has ended.
    std::thread::sleep(Duration::from_millis(300));
    let trace = std::fs::read_to_string(trace).expect("a trace");
    assert!(
        trace.contains("HTTP/1.1 200") && trace.contains("fdatasync("),
        "{trace}"
    );
    assert!(is_synced(&trace), "{trace}");
}
