//! Which standard descriptors the caller has closed, and which lead to `/dev/null`.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{fstat, stat};
use rustix::io::fcntl_getfd;
use rustix::stdio;

const NULL: &str = "/dev/null";

/// A descriptor that the caller gives to every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Standard {
    const ALL: [Self; 3] = [Self::Input, Self::Output, Self::Error];

    /// Works before `main`, unlike [`std::io`].
    fn descriptor(self) -> BorrowedFd<'static> {
        match self {
            Self::Input => stdio::stdin(),
            Self::Output => stdio::stdout(),
            Self::Error => stdio::stderr(),
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "standard input",
            Self::Output => "standard output",
            Self::Error => "standard error",
        }
    }

    /// Whether the caller had closed it.
    pub fn is_closed(self) -> bool {
        CLOSED[self as usize].load(Ordering::Relaxed)
    }

    /// Whether the caller discards everything that is written to it.
    pub fn is_null(self) -> bool {
        !self.is_closed() && is_null(self.descriptor())
    }
}

/// Indexed by the number of the descriptor.
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Records which descriptors are closed.
extern "C" fn look() {
    for standard in Standard::ALL {
        let closed = fcntl_getfd(standard.descriptor()).is_err();
        CLOSED[standard as usize].store(closed, Ordering::Relaxed);
    }
}

/// Makes the system call [`look`] before Rust's runtime starts. The runtime opens `/dev/null` in
/// place of a closed descriptor, so that no other file becomes standard output by accident. After
/// that, a closed descriptor looks like one that the caller redirected to `/dev/null`.
#[expect(unsafe_code, reason = "a section whose contents the system calls")]
// SAFETY: the sections hold pointers to functions of C's calling convention. The system calls each
// once, before any thread starts, with arguments that `look` ignores. `look` makes a system call
// and stores to atomics; it needs nothing of Rust's runtime.
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[used]
static LOOK: extern "C" fn() = look;

fn is_null(fd: impl AsFd) -> bool {
    let device = |stat: rustix::fs::Stat| (stat.st_mode, stat.st_rdev);
    let null = stat(NULL).map(device);
    null.is_ok_and(|null| fstat(fd).map(device) == Ok(null))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_null_device_is_told_from_others() {
        let open = |path: &str| File::options().write(true).open(path).unwrap();
        assert!(is_null(open(NULL)));
        let directory = File::open(NULL.strip_suffix("/null").unwrap()).unwrap();
        for other in [open("/dev/zero"), tempfile::tempfile().unwrap(), directory] {
            assert!(!is_null(&other), "{other:?}");
        }
    }
}
