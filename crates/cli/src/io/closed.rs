//! Whether anybody can see what is written to a standard descriptor.

use std::os::fd::AsFd;

use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};

const NULL: &str = "/dev/null";

/// Whether the caller had closed this descriptor: Rust's runtime puts `/dev/null` in its place, open for reading and writing, before `main`.
pub(crate) fn is_closed(fd: impl AsFd) -> bool {
    let both_ways = fcntl_getfl(&fd).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    both_ways && is_null(fd)
}

/// Whether what is written to it is gone: closed, or `/dev/null`.
pub(crate) fn is_null(fd: impl AsFd) -> bool {
    let device = |stat: rustix::fs::Stat| (stat.st_mode, stat.st_rdev);
    let null = stat(NULL).map(device);
    null.is_ok_and(|null| fstat(fd).map(device) == Ok(null))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn open(path: &str, read: bool) -> File {
        File::options().read(read).write(true).open(path).unwrap()
    }

    #[test]
    fn what_the_runtime_puts_in_place_is_told_from_what_the_caller_chose() {
        let closed = open(NULL, true);
        assert!(is_closed(&closed) && is_null(&closed));
        let chosen = open(NULL, false);
        assert!(!is_closed(&chosen) && is_null(&chosen));
        for other in [
            open("/dev/zero", true),
            tempfile::tempfile().unwrap(),
            File::open(NULL.strip_suffix("/null").unwrap()).unwrap(),
        ] {
            assert!(!is_closed(&other) && !is_null(&other), "{other:?}");
        }
    }
}
