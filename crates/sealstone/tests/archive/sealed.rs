//! Archives in sealed files: the signer of a member is known without reading the other members.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use sealstone::archive::{Again, Archive, Flat, Tree, Writer};
use sealstone::file::{ChunkHashes, Keys, Metadata, Sealed, SealedReader, Sealer, Workers};
use sealstone::passport::Passport;
use sealstone::{Error, Result};

use crate::common::Memory;

static ALICE: LazyLock<Passport> = LazyLock::new(|| Passport::generate("Alice", 0).unwrap());

/// Trees of one chunk and of many.
fn trees() -> [Memory; 2] {
    let small = Memory::default().file("a", b"content");
    let large = Memory::default()
        .file("a", &vec![1; 3 << 20])
        .file("b", b"content")
        .file("c", &vec![3; 2 << 20]);
    [small, large]
}

fn seal(tree: impl Tree<Content: Send> + Send, signed: bool, pad: bool, workers: usize) -> Vec<u8> {
    let hashes = ChunkHashes::default();
    seal_content(
        Writer::new(tree, Some(&hashes)),
        &hashes,
        signed,
        pad,
        workers,
    )
}

fn seal_content(
    content: impl Read + Send,
    hashes: &ChunkHashes,
    signed: bool,
    pad: bool,
    workers: usize,
) -> Vec<u8> {
    let mut sealer = Sealer::new();
    sealer
        .to_passport(ALICE.contact())
        .note_chunk_hashes(hashes);
    sealer.metadata(Metadata {
        directory: true,
        ..Metadata::default()
    });
    if signed {
        sealer.signed_by(&*ALICE);
    }
    if pad {
        sealer.hide_length();
    }
    let mut file = Vec::new();
    sealer
        .seal(content, &mut file, Workers::new(workers))
        .unwrap();
    file
}

/// Counts the bytes read.
struct Counted {
    file: Cursor<Vec<u8>>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(bytes)?;
        self.read.fetch_add(n as u64, Relaxed);
        Ok(n)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn archive(file: Vec<u8>) -> Result<(Archive<SealedReader<Counted>>, Arc<AtomicU64>)> {
    let read = Arc::new(AtomicU64::new(0));
    let counted = Counted {
        file: Cursor::new(file),
        read: read.clone(),
    };
    let passports = [&*ALICE];
    let opening = Sealed::read(counted)?.unlock(&Keys::new(&passports, &[]))?;
    assert!(opening.metadata().directory);
    Ok((Archive::new(SealedReader::new_unverified(opening)?)?, read))
}

fn content(archive: &mut Archive<SealedReader<Counted>>, path: &[u8]) -> Result<Vec<u8>> {
    let all: Vec<_> = archive.entries()?.collect::<Result<_>>()?;
    let found = all.iter().find(|found| found.entry.path == path).unwrap();
    let mut content = Vec::new();
    archive.content(found, &mut Flat::new(&mut content))?;
    Ok(content)
}

#[test]
fn a_member_is_read_with_its_sender_and_without_the_others() {
    for workers in [1, 3] {
        for tree in trees() {
            let last = tree.0.len() - 1;
            let (path, expected) = (tree.0[last / 2].0.path.clone(), tree.0[last / 2].2.clone());
            let file = seal(tree, true, false, workers);
            let length = file.len() as u64;
            let (mut archive, read) = archive(file).unwrap();
            archive.verify_sender(ALICE.contact()).unwrap();
            assert_eq!(content(&mut archive, &path).unwrap(), expected);
            // The chunk of the member, that of the index, twice, and little else.
            assert!(
                read.load(Relaxed) < 4 << 20,
                "{} of {length}",
                read.load(Relaxed)
            );
        }
    }
}

#[test]
fn unsigned_and_padded_files_are_read_as_well() {
    for (signed, pad) in [(false, false), (false, true), (true, true)] {
        for tree in trees() {
            let (mut archive, _) = archive(seal(tree.clone(), signed, pad, 2)).unwrap();
            assert_eq!(archive.verify_sender(ALICE.contact()).is_ok(), signed);
            for (entry, _, expected) in &tree.0 {
                assert!(content(&mut archive, &entry.path).unwrap() == *expected);
            }
        }
    }
}

/// The end of the index is the end of a chunk, some bytes before it, and some bytes after it.
#[test]
fn no_length_stops_the_sealing() {
    const CONTENT: usize = (1 << 20) - 17;
    // Four headers, the content, and the end.
    let size = CONTENT / 512 * 512 - 4 * 512 - 1024;
    // Four records.
    let index = |name: usize| 4 * 31 + 3 * 92 + name;
    let names = 90..=100;
    let exact = names
        .clone()
        .filter(|name| CONTENT / 512 * 512 + index(*name) == CONTENT);
    assert_eq!(exact.count(), 1);
    for name in names {
        let mut tree = Memory::default().file("a".repeat(name), &vec![1; size]);
        for other in ["b", "c", "d"] {
            tree = tree.file(other.repeat(92), b"");
        }
        let (mut archive, _) = archive(seal(tree, true, false, 1)).unwrap();
        archive.verify_sender(ALICE.contact()).unwrap();
        let content = content(&mut archive, "a".repeat(name).as_bytes()).unwrap();
        assert_eq!(content.len(), size);
    }
}

#[test]
fn another_chunk_is_refused_once_the_sender_is_known() {
    let [_, tree] = trees();
    let file = seal(tree, true, false, 2);
    // In the first and in another chunk of the first member.
    for place in [1 << 19, 2 << 20] {
        let mut altered = file.clone();
        altered[place] ^= 1;
        let (mut archive, _) = archive(altered).unwrap();
        archive.verify_sender(ALICE.contact()).unwrap();
        assert!(matches!(
            content(&mut archive, b"a"),
            Err(Error::Altered(_))
        ));
        assert_eq!(content(&mut archive, b"b").unwrap(), b"content");
    }
}

/// Hashes of another file, which a recipient with the file key could insert.
#[test]
fn wrong_hashes_show_no_sender() {
    let [_, tree] = trees();
    let wrong = ChunkHashes::default();
    seal_content(&vec![9; 6 << 20][..], &wrong, true, false, 1);
    let hashes = ChunkHashes::default();
    let content = Writer::new(tree, Some(&wrong));
    let file = seal_content(content, &hashes, true, false, 1);
    let (mut archive, _) = archive(file).unwrap();
    let verified = archive.verify_sender(ALICE.contact());
    assert!(matches!(verified, Err(Error::Altered(_))));
}

#[test]
fn sealing_again_makes_new_hashes() {
    let [_, tree] = trees();
    let mut old = Vec::new();
    let passports = [&*ALICE];
    let file = seal(tree, true, false, 2);
    let opening = Sealed::read(&file[..])
        .unwrap()
        .unlock(&Keys::new(&passports, &[]))
        .unwrap();
    opening
        .open_signed(ALICE.contact(), &mut old, Workers::new(2))
        .unwrap();

    let hashes = ChunkHashes::default();
    let again = seal_content(Again::new(&old[..], Some(&hashes)), &hashes, true, false, 2);
    let (mut archive, read) = archive(again).unwrap();
    archive.verify_sender(ALICE.contact()).unwrap();
    assert_eq!(content(&mut archive, b"b").unwrap(), b"content");
    assert!(read.load(Relaxed) < 4 << 20);
}

/// With a full disk, the archive does not wait for hashes forever.
#[test]
fn a_sealing_that_fails_ends() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let [_, tree] = trees();
    for space in [0, 1 << 20, 3 << 20, 5 << 20] {
        for workers in [1, 4] {
            let hashes = ChunkHashes::default();
            let mut sealer = Sealer::new();
            sealer
                .to_passport(ALICE.contact())
                .signed_by(&*ALICE)
                .note_chunk_hashes(&hashes);
            let content = Writer::new(tree.clone(), Some(&hashes));
            let sealed = sealer.seal(content, Full(space), Workers::new(workers));
            assert!(matches!(sealed, Err(Error::Io(_))));
        }
    }
}
