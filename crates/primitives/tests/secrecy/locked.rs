//! The pages of a secret are locked, excluded from dumps and absent from children. An exhausted
//! limit is not a failure.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use sealstone_primitives::secret::{Secret, SecretVec};

#[test]
fn pages_are_locked_and_marked() {
    let secret = Secret::<32>::random();
    if !secret.is_locked() {
        println!("skipped: this system does not allow locked memory");
        return;
    }
    let flags = vm_flags(secret.expose().as_ptr() as u64);
    // Locked, not dumped, not copied to children (proc(5), "VmFlags").
    for flag in ["lo", "dd", "dc"] {
        assert!(
            flags.split_whitespace().any(|set| set == flag),
            "{flag} in {flags}"
        );
    }
}

/// Runs [`counted_alone`] in a process of its own: other tests of this process lock and unlock
/// memory meanwhile.
#[test]
fn the_kernel_counts_them_as_locked() {
    let text = output(&mut alone("counted_alone"));
    assert!(
        text.contains("is counted") || text.contains("skipped: "),
        "{text}"
    );
}

/// A test only under [`the_kernel_counts_them_as_locked`].
#[test]
fn counted_alone() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    let before = locked_kib();
    let secret = SecretVec::zeroed(1 << 20);
    if !secret.is_locked() {
        println!("skipped: this system does not allow a megabyte of locked memory");
        return;
    }
    assert!(locked_kib() >= before + 1024);
    println!("a megabyte is counted");
}

/// Runs [`without_locked_memory`] in a process that cannot lock memory.
#[test]
fn a_spent_limit_is_no_failure() {
    let mut command = alone("without_locked_memory");
    // SAFETY: only two system calls between fork and exec.
    unsafe { command.pre_exec(forbid_locking) };
    let text = output(&mut command);
    assert!(text.contains("works unlocked"), "{text}");
}

/// A test only under [`a_spent_limit_is_no_failure`].
#[test]
fn without_locked_memory() {
    if std::env::var_os(ALONE).is_some() {
        let secret = Secret::from_array(&mut [7; 32]);
        assert_eq!(secret.expose(), &[7; 32]);
        assert!(!secret.is_locked());
        println!("works unlocked");
    }
}

const ALONE: &str = "SEALSTONE_TEST_ALONE";

/// The command that runs one test of this module, with [`ALONE`] set.
fn alone(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("locked::{test}"), "--nocapture"]);
    command.env(ALONE, "1");
    command
}

/// What a command prints. It must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// Sets the limit to zero, and drops root's privilege to exceed it.
fn forbid_locking() -> std::io::Result<()> {
    const CAP_IPC_LOCK: libc::c_ulong = 14;
    let nothing = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: changes a privilege of this process only. Without it, the call fails harmlessly.
    unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) };
    // SAFETY: `nothing` is a valid limit.
    match unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &nothing) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// The flags of the mapping around `address`.
fn vm_flags(address: u64) -> String {
    let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut inside = false;
    for line in smaps.lines() {
        let range = line
            .split(' ')
            .next()
            .and_then(|range| range.split_once('-'));
        let parsed = range.and_then(|(start, end)| {
            Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
        });
        match (parsed, line.strip_prefix("VmFlags: ")) {
            (Some(range), _) => inside = range.contains(&address),
            (None, Some(flags)) if inside => return flags.to_owned(),
            _ => {}
        }
    }
    panic!("no mapping around {address:x}");
}

fn locked_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmLck:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
