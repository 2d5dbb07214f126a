//! Mount namespaces for tests that mount file systems.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::scale::is_long;

/// The place of a test.
pub(crate) enum Place {
    /// In a mount namespace of its own.
    Inside,
    /// It has run in the namespace, and passed.
    Done,
    /// The system does not allow it, for this reason.
    Refused(String),
}

const VARIABLE: &str = "SEALSTONE_CAMPAIGN_NAMESPACE";

/// Runs the test of this name in this file again in a mount namespace: of this user if allowed,
/// else in a user namespace too. It has its own temporary directory there.
pub(crate) fn enter(module: &str, test: &str) -> Place {
    if is_inside() {
        return Place::Inside;
    }
    match ["-m", "-Urm"].iter().find(|options| can_mount(options)) {
        Some(options) => {
            let long = if is_long() { "long::" } else { "" };
            run_inside(options, &format!("{module}::{long}{test}"));
            Place::Done
        }
        None => Place::Refused("neither root nor user namespaces may mount here".into()),
    }
}

/// Whether this is such a namespace.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Puts the temporary directory on a file system of this size.
pub(crate) fn limit_disk(bytes: u64) {
    mount(&std::env::temp_dir(), &format!("size={bytes},mode=0700"));
}

/// Hides `/proc`.
pub(crate) fn hide_proc() {
    mount(Path::new("/proc"), "size=4096");
}

fn mount(directory: &Path, options: &str) {
    assert!(is_inside(), "this would be seen outside");
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(directory);
    let done = mount.status().unwrap();
    assert!(done.success(), "{mount:?}: {done}");
}

fn can_mount(options: &str) -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args([options, "mount", "-t", "tmpfs", "tmpfs", "/proc"]);
    let tried = unshare.stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

fn run_inside(options: &str, test: &str) {
    let program = std::env::current_exe().unwrap();
    let mut unshare = Command::new("unshare");
    let directory = tempfile::tempdir().unwrap();
    unshare
        .arg(options)
        .arg(program)
        .args(["--exact", test, "--include-ignored", "--nocapture"]);
    let output = unshare
        .env(VARIABLE, "1")
        .env("TMPDIR", directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    errors
        .lines()
        .filter(|line| line.starts_with("campaign: "))
        .for_each(|line| crate::scale::say(&line["campaign: ".len()..]));
    assert!(
        output.status.success(),
        "in its own namespace: {said}{errors}"
    );
    assert!(said.contains("1 passed"), "{test} did not run: {said}");
}
