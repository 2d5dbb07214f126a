//! Archives by an attacker. A file key or a signature does not guarantee their form.

use std::io::{Read, Seek, SeekFrom};

use sealstone::archive::{Archive, EntryKind, Members};
use sealstone::{Error, Result};

use crate::common::{Memory, by_index, sample, whole};

/// Asserts that both readers refuse it.
#[track_caller]
fn refused(archive: &[u8]) {
    assert!(matches!(whole(archive), Err(Error::Malformed(_))));
    assert!(matches!(by_index(archive), Err(Error::Malformed(_))));
}

/// The archive of a tree, with the same change in the headers and in the index. Both have the path
/// literally.
fn renamed(memory: &Memory, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut archive = memory.archive();
    let places: Vec<usize> = archive
        .windows(from.len())
        .enumerate()
        .filter(|(_, window)| *window == from.as_bytes())
        .map(|(place, _)| place)
        .collect();
    assert_eq!(places.len(), 2);
    for place in places {
        archive[place..][..to.len()].copy_from_slice(to.as_bytes());
    }
    // The checksum of the first header.
    let sum = |header: &[u8]| -> u32 {
        let bytes = header.iter().enumerate();
        bytes
            .map(|(i, byte)| {
                if (148..156).contains(&i) {
                    32
                } else {
                    u32::from(*byte)
                }
            })
            .sum()
    };
    for start in (0..archive.len() - 1072).step_by(512) {
        let block = &archive[start..start + 512];
        if &block[257..262] == b"ustar" {
            let sum = format!("{:07o}\0", sum(block));
            archive[start + 148..start + 156].copy_from_slice(sum.as_bytes());
        }
    }
    archive
}

#[test]
fn no_path_leads_out_of_the_directory() {
    let memory = Memory::default()
        .directory("dir")
        .file("dir/file", b"content");
    assert!(
        whole(&renamed(&memory, "dir/file", "dir/fool")).is_ok(),
        "the change itself is not a reason"
    );
    for bad in [
        "../../..", "/etc/foo", "dir/../f", "dir//fil", "dir/./ab", "dir/fil/",
    ] {
        refused(&renamed(&memory, "dir/file", bad));
    }
    refused(&renamed(&memory, "dir/file", "dir/\0ile"));
    // Its directory is not missing.
    let short = Memory::default().file("fi", b"content");
    refused(&renamed(&short, "fi", ".."));
}

/// Every byte of the footer is significant: no byte may differ.
#[test]
fn every_byte_of_the_footer_counts() {
    let archive = sample().archive();
    for place in archive.len() - 48..archive.len() {
        let mut altered = archive.clone();
        altered[place] ^= 1;
        refused(&altered);
    }
}

#[test]
fn nothing_is_below_a_link_or_comes_twice() {
    let link = Memory::default()
        .link("dirs", "/etc")
        .file("filesx", b"content");
    refused(&renamed(&link, "filesx", "dirs/x"));
    let twice = Memory::default().file("one", b"1").file("two", b"2");
    refused(&renamed(&twice, "two", "one"));
    refused(&renamed(&twice, "two", "ane"));
    let missing = Memory::default().directory("one").file("one/a", b"2");
    refused(&renamed(&missing, "one/a", "oni/a"));
}

/// The reader of the whole archive checks every bit. The index reader does not check all headers,
/// and the content is arbitrary.
#[test]
fn no_bit_changes_without_being_seen() {
    let memory = Memory::default()
        .directory("d")
        .file("d/f", b"content")
        .sparse("s", 1 << 20, &[(5, 2)], b"xy")
        .link("t", "d/f");
    let archive = memory.archive();
    let expected = whole(&archive).unwrap();
    let mut unseen = 0;
    for place in 0..archive.len() {
        for bit in 0..8 {
            let mut altered = archive.clone();
            altered[place] ^= 1 << bit;
            let by_all = whole(&altered);
            let by_index = by_index(&altered);
            match (by_all, by_index) {
                (Err(_), Err(_)) => {}
                (Ok(all), Ok(some)) => {
                    assert_eq!(all, some, "two readers see two things: byte {place}");
                    let entries = all.iter().map(|(entry, _)| entry);
                    let known = expected.iter().map(|(entry, _)| entry);
                    assert!(entries.eq(known), "byte {place}");
                    unseen += 1;
                }
                // Zero bytes after a member, and the end of the tar file.
                (Err(_), Ok(some)) => assert!(some == expected, "byte {place}"),
                (Ok(_), Err(error)) => panic!("only the index refuses byte {place}: {error}"),
            }
        }
    }
    // The whole content, and the digit 5 of the map, which may be 1, 4 or 7.
    assert_eq!(unseen, 8 * "contentxy".len() + 3);
}

#[test]
fn an_archive_cut_short_or_longer_is_refused() {
    let archive = sample().archive();
    let ends = (0..archive.len())
        .step_by(1009)
        .chain(archive.len() - 200..archive.len());
    for end in ends {
        refused(&archive[..end]);
    }
    refused(&[&archive[..], b"\0"].concat());
    refused(&[&archive[..], &archive[..]].concat());
}

/// The tar file of an archive, and the rest.
fn parts(archive: &[u8]) -> (&[u8], &[u8]) {
    let footer = &archive[archive.len() - 48..];
    let tar = u64::from_be_bytes(footer[..8].try_into().unwrap());
    archive.split_at(tar as usize)
}

/// The index points to a member's header in the content of another member. A tar program does not
/// see this header.
#[test]
fn an_index_cannot_make_two_members_of_one() {
    let hidden = Memory::default().file("b", b"evil").archive();
    let outer = Memory::default().file("a", &hidden[..1024]).archive();
    let other = Memory::default()
        .file("a", b"")
        .file("b", b"evil")
        .archive();
    let mixed = [parts(&outer).0, parts(&other).1].concat();
    assert_eq!(mixed.len(), other.len());
    refused(&mixed);
}

/// Length fields allocate no memory: these claim exabytes.
#[test]
fn large_numbers_take_no_memory() {
    let mut memory = Memory::default().file("a", b"");
    memory.0[0].0.kind = EntryKind::File {
        size: i64::MAX as u64,
    };
    let mut writer = sealstone::archive::Writer::new(memory, None);
    let mut head = vec![0; 1536];
    writer.read_exact(&mut head).unwrap();
    assert!(matches!(whole(&head), Err(Error::Malformed(_))));

    let mut footer = sample().archive();
    let start = footer.len() - 48;
    for number in 0..4 {
        let mut altered = footer.clone();
        altered[start + number * 8] = 0x7f;
        refused(&altered);
    }
    footer.truncate(40);
    refused(&footer);
}

/// Zeros of any length, which cost nothing to read.
struct Endless(u64);

impl Read for Endless {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        bytes.fill(0);
        Ok(bytes.len())
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match to {
            SeekFrom::End(offset) => Ok(self.0.saturating_add_signed(offset)),
            SeekFrom::Start(at) => Ok(at),
            SeekFrom::Current(_) => Ok(0),
        }
    }
}

#[test]
fn zeros_are_no_archive() {
    assert!(Archive::new(Endless(u64::MAX)).is_err());
    let read: Result<_> = Members::new(Endless(u64::MAX).take(1 << 20)).next_entry();
    assert!(read.is_err());
}

/// Bytes after the members of the tar file, and after the records of the index, which the footer
/// counts.
#[test]
fn nothing_else_is_between_the_parts() {
    let archive = Memory::default().file("a", b"1").archive();
    let (front, footer) = archive.split_at(archive.len() - 48);
    let number = |at: usize| u64::from_be_bytes(footer[at..at + 8].try_into().unwrap());
    let (tar, index) = front.split_at(number(0) as usize);
    for (behind_tar, behind_index) in [(512, 0), (0, 1)] {
        let mut footer = footer.to_vec();
        footer[..8].copy_from_slice(&(number(0) + behind_tar).to_be_bytes());
        footer[8..16].copy_from_slice(&(number(8) + behind_index).to_be_bytes());
        let (tar_zeros, index_zeros) =
            (vec![0; behind_tar as usize], vec![0; behind_index as usize]);
        refused(&[tar, &tar_zeros, index, &index_zeros, &footer].concat());
    }
}
