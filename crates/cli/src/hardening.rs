//! Protection of this process's memory by the system.

/// Keeps memory out of core dumps and away from debuggers of the same user. The program continues
/// if the system cannot do this.
pub(crate) fn apply() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
