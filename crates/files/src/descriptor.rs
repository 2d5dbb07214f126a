//! Descriptors that the caller of a program has opened for it.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

/// Duplicates the descriptor with this number, as `dup` does. It is read from its present position.
/// Safe Rust offers `dup` only for descriptors that it knows to be open.
///
/// # Errors
/// The system's error.
#[cfg(target_os = "linux")]
pub fn duplicate(number: u32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let wanted = i32::try_from(number).map_err(|_| rustix::io::Errno::BADF)?;
    let copy = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|this| pidfd_getfd(this, wanted, PidfdGetfdFlags::empty()));
    match copy {
        Ok(copy) => Ok(copy.into()),
        Err(rustix::io::Errno::BADF) => Err(rustix::io::Errno::BADF.into()),
        // Linux before 5.6, and containers that forbid the call.
        Err(_) => reopen(number),
    }
}

/// Duplicates the descriptor with this number: opening the system's name for it does so.
///
/// # Errors
/// The system's error.
#[cfg(not(target_os = "linux"))]
pub fn duplicate(number: u32) -> io::Result<File> {
    File::open(format!("/dev/fd/{number}"))
}

/// Opens the same file again, at the same position. This fails for sockets.
#[cfg(target_os = "linux")]
fn reopen(number: u32) -> io::Result<File> {
    let mut file = File::open(format!("/proc/self/fd/{number}"))?;
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"))?;
    let position = info
        .lines()
        .find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok());
    if file.metadata()?.is_file() {
        let position = position.ok_or(io::ErrorKind::Unsupported)?;
        file.seek(SeekFrom::Start(position))?;
    }
    Ok(file)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn number(file: &impl AsRawFd) -> u32 {
        file.as_raw_fd().try_into().unwrap()
    }

    fn rest(mut file: File) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    /// Both ways to duplicate keep the position. The second is for systems without the first.
    #[test]
    fn descriptors_are_read_from_where_they_stand() {
        for copy in [duplicate, reopen] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"first line\nsecond line").unwrap();
            file.seek(SeekFrom::Start(11)).unwrap();
            assert_eq!(rest(copy(number(&file)).unwrap()), "second line");

            let (mut reader, mut writer) = io::pipe().unwrap();
            writer.write_all(b"first, second").unwrap();
            drop(writer);
            reader.read_exact(&mut [0; 7]).unwrap();
            assert_eq!(rest(copy(number(&reader)).unwrap()), "second");

            // No descriptor has so high a number here.
            assert!(copy(1 << 20).is_err());
        }
    }

    #[test]
    fn sockets_are_copied_or_refused_but_not_mistaken() {
        let (mine, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"passphrase").unwrap();
        drop(theirs);
        assert!(reopen(number(&mine)).is_err());
        assert_eq!(rest(duplicate(number(&mine)).unwrap()), "passphrase");
    }
}
