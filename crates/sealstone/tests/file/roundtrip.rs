//! Round trips of sealed content, in every form.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::*;
use sealstone::file::{
    Dearmored, Fitting, Keys, Metadata, Proof, RecipientInfo, Sealed, SealedReader, Sealer, Sender,
    Suite, Workers,
};
use sealstone::passport::Fingerprint;
use sealstone::{Error, KdfParams, KdfProgress, OnProgress, Passphrase, Result};

#[test]
fn sizes_around_every_boundary() {
    for len in [
        0,
        1,
        2,
        CONTENT_LEN - 1,
        CONTENT_LEN,
        CONTENT_LEN + 1,
        CHUNK_LEN,
        2 * CONTENT_LEN,
        2 * CONTENT_LEN + 1,
        3 * CHUNK_LEN + 5,
    ] {
        let content = content(len);
        for file in [sealed_by_alice(&content), sealed_unsigned(&content)] {
            assert!(open_as_bob(&file).unwrap() == content, "{len}");
        }
    }
}

#[test]
fn the_file_is_as_long_as_the_specification_says() {
    for len in [0, 1, CONTENT_LEN, CONTENT_LEN + 1] {
        let file = sealed_unsigned(&content(len));
        let head = Sealed::read(&file[..]).unwrap().header_len() as usize;
        let chunks = len.div_ceil(CONTENT_LEN).max(1);
        assert_eq!(file.len(), head + len + 17 * chunks + UNSIGNED_TRAILER_LEN);
    }
}

#[test]
fn every_combination_of_choices() {
    let content = content(CONTENT_LEN + 1000);
    for suite in [Suite::XChaCha20Poly1305, Suite::Aes256Gcm] {
        for choices in 0..16u32 {
            let mut sealer = Sealer::new();
            sealer
                .suite(suite)
                .to_passport(CAROL.contact())
                .to_passport(BOB.contact());
            choose(&mut sealer, choices);
            let file = seal(&sealer, &content);
            let mut binary = Vec::new();
            let mut dearmored = Dearmored::detect(&file[..]).unwrap();
            assert_eq!(dearmored.is_armored(), choices & 8 != 0);
            dearmored.read_to_end(&mut binary).unwrap();
            assert!(
                open_as_bob(&binary).unwrap() == content,
                "{suite} {choices}"
            );
        }
    }
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let content = content(5 * CHUNK_LEN + 77);
    for workers in [1, 2, 3, 8] {
        let mut sealer = Sealer::new();
        sealer.to_passport(BOB.contact()).signed_by(&*ALICE);
        let mut file = Vec::new();
        sealer
            .seal(&content[..], &mut file, Workers::new(workers))
            .unwrap();
        assert!(open_as_bob(&file).unwrap() == content);
        let mut out = Vec::new();
        unlock(&file, &BOB)
            .unwrap()
            .open_signed(ALICE.contact(), &mut out, Workers::new(workers))
            .unwrap();
        assert!(out == content);
    }
}

/// Reads and writes a few bytes at a time, like a slow pipe.
struct Trickle<T>(T, usize);

impl<T: Read> Read for Trickle<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 % 4099 + 1;
        if self.1.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = bytes.len().min(self.1);
        self.0.read(&mut bytes[..n])
    }
}

impl<T: Write> Write for Trickle<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1 = self.1 % 4099 + 1;
        self.0.write(&bytes[..bytes.len().min(self.1)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn short_reads_and_writes_are_no_ends() {
    let content = content(2 * CONTENT_LEN);
    let mut sealer = Sealer::new();
    sealer.to_passport(BOB.contact());
    let mut file = Vec::new();
    sealer
        .seal(
            Trickle(&content[..], 0),
            Trickle(&mut file, 0),
            Workers::default(),
        )
        .unwrap();
    let mut out = Vec::new();
    let opening = Sealed::read(Trickle(&file[..], 1))
        .unwrap()
        .unlock(&Keys::new(&[&BOB], &[]))
        .unwrap();
    opening
        .open_unsigned(Trickle(&mut out, 2), Workers::default())
        .unwrap();
    assert!(out == content);
}

#[test]
fn recipients_are_found_and_shown() {
    let params = KdfParams::new(7168, 5, 1).unwrap();
    let (right, wrong) = (
        Passphrase::new(b"right").unwrap(),
        Passphrase::new(b"wrong").unwrap(),
    );
    let mut sealer = Sealer::new();
    sealer
        .to_anonymous(BOB.contact())
        .to_passport(CAROL.contact())
        .to_passphrase(&right, params);
    let file = seal(&sealer, b"content");

    let seen: Vec<_> = Sealed::read(&file[..]).unwrap().recipients().collect();
    assert_eq!(seen.len(), 3);
    for info in [
        RecipientInfo::Anonymous,
        RecipientInfo::Passport(CAROL.fingerprint()),
        RecipientInfo::Passphrase(params),
    ] {
        assert!(seen.contains(&info), "{info:?}");
    }
    let sealed = || Sealed::read(&file[..]).unwrap();
    for keys in [
        Keys::new(&[&BOB], &[]),
        Keys::new(&[&ALICE, &CAROL], &[]),
        Keys::new(&[], &[&wrong, &right]),
    ] {
        let mut out = Vec::new();
        sealed()
            .unlock(&keys)
            .unwrap()
            .open_unsigned(&mut out, Workers::new(1))
            .unwrap();
        assert_eq!(out, b"content");
    }
    assert!(matches!(
        sealed().unlock(&Keys::new(&[&ALICE], &[])),
        Err(Error::NotRecipient)
    ));
    assert!(matches!(
        sealed().unlock(&Keys::new(&[], &[&wrong])),
        Err(Error::WrongPassphrase)
    ));
    assert!(matches!(
        sealed().unlock(&Keys::new(&[], &[])),
        Err(Error::NotRecipient)
    ));
}

/// The largest progress reported by the key derivations of `work`.
fn most_reported(work: impl FnOnce(OnProgress<'_>)) -> u64 {
    let most = AtomicU64::new(0);
    work(&|progress: KdfProgress| {
        assert!(progress.done <= progress.total && progress.total <= 5 * 7168);
        most.fetch_max(progress.done, Relaxed);
    });
    most.into_inner()
}

#[test]
fn key_derivations_report_their_progress() {
    let passphrase = Passphrase::generate();
    let params = KdfParams::new(7168, 5, 1).unwrap();
    let mut file = Vec::new();
    let sealing = most_reported(|on_progress| {
        let mut sealer = Sealer::new();
        sealer
            .to_passphrase(&passphrase, params)
            .on_progress(on_progress);
        file = seal(&sealer, b"content");
    });
    let opening = most_reported(|on_progress| {
        let passphrases = [&passphrase];
        let keys = Keys {
            on_progress,
            ..Keys::new(&[], &passphrases)
        };
        Sealed::read(&file[..]).unwrap().unlock(&keys).unwrap();
    });
    assert!(sealing > 30_000 && opening > 30_000, "{sealing} {opening}");
}

#[test]
fn a_generated_passphrase_opens_without_its_dashes() {
    let generated = Passphrase::generate();
    let shown = std::str::from_utf8(generated.expose()).unwrap();
    let spaced = Passphrase::new(shown.replace('-', " ").to_uppercase().as_bytes()).unwrap();
    let params = KdfParams::new(7168, 5, 1).unwrap();
    // A user may also choose a passphrase in the other spelling.
    for chosen in [&generated, &spaced] {
        let mut sealer = Sealer::new();
        sealer.to_passphrase(chosen, params);
        let file = seal(&sealer, b"content");
        let opens = |typed| {
            let passphrases = [typed];
            let sealed = Sealed::read(&file[..]).unwrap();
            sealed.unlock(&Keys::new(&[], &passphrases)).is_ok()
        };
        assert!(opens(&spaced));
        assert_eq!(opens(&generated), std::ptr::eq(chosen, &generated));
    }
}

#[test]
fn metadata_and_sender_are_seen_by_recipients_only() {
    let metadata = Metadata {
        name: Some("secret-name.pdf".into()),
        modified: Some(1_700_000_000),
        note: Some("for your eyes".into()),
        directory: false,
    };
    let mut sealer = Sealer::new();
    sealer
        .to_passport(BOB.contact())
        .signed_by(&*ALICE)
        .metadata(metadata.clone());
    let file = seal(&sealer, b"content");
    let opening = unlock(&file, &BOB).unwrap();
    assert_eq!(opening.metadata(), &metadata);
    let Sender::Carried(sender) = opening.sender() else {
        panic!("not carried")
    };
    assert_eq!(
        (sender.fingerprint(), sender.label()),
        (ALICE.fingerprint(), "Alice")
    );

    let shown = |needle: &[u8]| file.windows(needle.len()).any(|window| window == needle);
    assert!(!shown(b"secret-name") && !shown(b"for your eyes") && !shown(b"Alice"));
    assert!(!shown(ALICE.fingerprint().as_bytes()));
    assert!(shown(BOB.fingerprint().as_bytes()));
}

#[test]
fn the_wrong_kind_of_opening_is_refused() {
    let (signed, unsigned) = (sealed_by_alice(b"x"), sealed_unsigned(b"x"));
    let one = Workers::new(1);
    let mut out = Vec::new();
    let wrong = |result: Result<u64>| assert!(matches!(result, Err(Error::WrongSender)));
    wrong(unlock(&signed, &BOB).unwrap().open_unsigned(&mut out, one));
    wrong(
        unlock(&signed, &BOB)
            .unwrap()
            .open_signed(CAROL.contact(), &mut out, one),
    );
    wrong(
        unlock(&unsigned, &BOB)
            .unwrap()
            .open_signed(ALICE.contact(), &mut out, one),
    );
    assert!(out.is_empty());
}

#[test]
fn padding_hides_lengths() {
    let len = |content_len: usize| {
        let mut sealer = Sealer::new();
        sealer.to_passport(BOB.contact()).hide_length();
        let file = seal(&sealer, &content(content_len));
        assert!(open_as_bob(&file).unwrap() == content(content_len));
        file.len()
    };
    assert_eq!(len(0), len(1024));
    assert_eq!(len(2_000_001), len(2_030_000));
    // Padding alone can fill further chunks.
    assert_eq!(len(CONTENT_LEN - 5), len(CONTENT_LEN + 5));
}

/// The lengths of files with this content from every sender, with and without metadata.
fn lengths_of(hidden: bool) -> Vec<usize> {
    let metadata = Metadata {
        name: Some("n".repeat(255)),
        modified: Some(u64::MAX),
        note: Some("n".repeat(4096)),
        directory: false,
    };
    let mut lengths = Vec::new();
    for sender in 0..3 {
        for metadata in [Metadata::default(), metadata.clone()] {
            let mut sealer = Sealer::new();
            sealer.to_passport(BOB.contact()).metadata(metadata.clone());
            match sender {
                0 => &mut sealer,
                1 => sealer.signed_by(&*ALICE),
                _ => sealer.signed_without_carrying(&*ALICE),
            };
            if hidden {
                sealer.hide_length();
            }
            let file = seal(&sealer, b"content");
            assert_eq!(open_as_bob(&file).unwrap(), b"content");
            assert_eq!(unlock(&file, &BOB).unwrap().metadata(), &metadata);
            lengths.push(file.len());
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

#[test]
fn padding_hides_the_sender_and_the_metadata() {
    assert_eq!(lengths_of(true).len(), 1);
    assert_eq!(lengths_of(false).len(), 6);
}

#[test]
fn an_opening_tells_which_recipient_it_was() {
    let passphrase = Passphrase::new(b"one").unwrap();
    let params = KdfParams::new(7168, 5, 1).unwrap();
    let mut sealer = Sealer::new();
    sealer
        .to_anonymous(BOB.contact())
        .to_passport(CAROL.contact())
        .to_passphrase(&passphrase, params);
    let file = seal(&sealer, b"content");
    let opened_by = |keys: &Keys<'_>| {
        let opening = Sealed::read(&file[..]).unwrap().unlock(keys).unwrap();
        opening.opened_by()
    };
    assert_eq!(
        opened_by(&Keys::new(&[&BOB], &[&passphrase])),
        RecipientInfo::Anonymous
    );
    assert_eq!(
        opened_by(&Keys::new(&[&CAROL], &[])),
        RecipientInfo::Passport(CAROL.fingerprint())
    );
    assert_eq!(
        opened_by(&Keys::new(&[&ALICE], &[&passphrase])),
        RecipientInfo::Passphrase(params)
    );
}

#[test]
fn the_keys_that_fit_best_are_chosen() {
    let passphrase = Passphrase::new(b"one").unwrap();
    let params = KdfParams::new(7168, 5, 1).unwrap();
    let [alice, bob, carol] = [&ALICE, &BOB, &CAROL].map(|passport| passport.fingerprint());
    let fitting = |sealer: &Sealer<'_>, own: &[Fingerprint], current| {
        let file = seal(sealer, b"content");
        Sealed::read(&file[..]).unwrap().fitting(own, current)
    };
    let passports = |positions: &[usize]| Some(Fitting::Passports(positions.to_vec()));

    let mut sealer = Sealer::new();
    sealer.to_passport(CAROL.contact());
    assert_eq!(fitting(&sealer, &[alice, bob], 2), None);
    sealer.to_passphrase(&passphrase, params);
    assert_eq!(fitting(&sealer, &[alice], 1), Some(Fitting::Passphrase));
    sealer.to_anonymous(BOB.contact());
    assert_eq!(fitting(&sealer, &[alice, bob], 2), passports(&[0, 1]));
    assert_eq!(fitting(&sealer, &[alice, bob], 1), passports(&[0]));
    assert_eq!(fitting(&sealer, &[alice], 0), Some(Fitting::Passphrase));
    sealer.to_passport(BOB.contact());
    assert_eq!(fitting(&sealer, &[alice, carol], 1), passports(&[1]));

    // The user's order counts, not the file's.
    let mut sealer = Sealer::new();
    sealer
        .to_passport(CAROL.contact())
        .to_passport(BOB.contact());
    assert_eq!(fitting(&sealer, &[alice, bob, carol], 1), passports(&[1]));
}

#[test]
fn any_part_can_be_read() {
    let content = content(3 * CONTENT_LEN + 100);
    for hidden in [false, true] {
        let mut sealer = Sealer::new();
        sealer.to_passport(BOB.contact()).signed_by(&*ALICE);
        if hidden {
            sealer.hide_length();
        }
        let file = seal(&sealer, &content);
        let opening = Sealed::read(Cursor::new(&file))
            .unwrap()
            .unlock(&Keys::new(&[&BOB], &[]))
            .unwrap();
        let mut reader = SealedReader::new_unverified(opening).unwrap();
        assert_eq!(reader.content_len(), content.len() as u64);
        for start in [
            0,
            1,
            CONTENT_LEN - 3,
            CONTENT_LEN,
            2 * CONTENT_LEN + 7,
            content.len() - 1,
            content.len(),
            content.len() + 10,
        ] {
            let mut part = Vec::new();
            reader.seek(SeekFrom::Start(start as u64)).unwrap();
            reader.by_ref().take(1000).read_to_end(&mut part).unwrap();
            let expected = content.get(start..).unwrap_or(&[]);
            assert_eq!(part, expected[..expected.len().min(1000)], "{start}");
        }
        reader.seek(SeekFrom::End(-5)).unwrap();
        let mut tail = Vec::new();
        reader.read_to_end(&mut tail).unwrap();
        assert_eq!(tail, content[content.len() - 5..]);
        assert!(reader.seek(SeekFrom::Current(-(1 << 40))).is_err());
        reader.verify_sender(ALICE.contact()).unwrap();
        assert!(reader.verify_sender(CAROL.contact()).is_err());
    }
}

#[test]
fn content_read_after_verifying_is_the_verified_one() {
    let file = sealed_by_alice(&content(CONTENT_LEN + 100));
    let opening = Sealed::read(Cursor::new(file.clone())).unwrap();
    let opening = opening.unlock(&Keys::new(&[&BOB], &[])).unwrap();
    let start = opening.payload_start();
    // The same file twice. Its second half can be replaced while it is read.
    let shared = std::rc::Rc::new(std::cell::RefCell::new(Cursor::new(file)));
    struct Shared(std::rc::Rc<std::cell::RefCell<Cursor<Vec<u8>>>>);
    impl Read for Shared {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0.borrow_mut().read(bytes)
        }
    }
    impl Seek for Shared {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.borrow_mut().seek(to)
        }
    }
    let opening = opening
        .with_payload(|_| io::Result::Ok(Shared(shared.clone())))
        .unwrap();
    let mut reader = SealedReader::new_unverified(opening).unwrap();
    reader.verify_sender(ALICE.contact()).unwrap();
    let mut byte = [0];
    reader.read_exact(&mut byte).unwrap();
    shared.borrow_mut().get_mut()[start as usize + CHUNK_LEN + 5] ^= 1;
    reader.seek(SeekFrom::Start(CONTENT_LEN as u64)).unwrap();
    assert!(reader.read_exact(&mut byte).is_err());
}

#[test]
fn the_key_of_one_file_opens_no_other() {
    let files = [sealed_by_alice(b"one"), sealed_by_alice(b"two")];
    let [one, two] = files
        .each_ref()
        .map(|file| Sealed::read(&file[..]).unwrap());
    let key = one.file_key(&Keys::new(&[&BOB], &[])).unwrap();
    assert!(matches!(two.unlock_with(&key), Err(Error::Altered(_))));
    assert!(one.unlock_with(&key).is_ok());
}

fn reader(file: &[u8]) -> SealedReader<Cursor<&[u8]>> {
    let opening = Sealed::read(Cursor::new(file)).unwrap();
    let opening = opening.unlock(&Keys::new(&[&BOB], &[])).unwrap();
    SealedReader::new_unverified(opening).unwrap()
}

#[test]
fn the_sender_of_a_part_is_checked_without_the_rest() {
    let content = content(18 * CONTENT_LEN + 100);
    let file = sealed_by_alice(&content);
    let mut whole = reader(&file);
    assert!(whole.prove(0).is_none(), "nothing is verified yet");
    whole.verify_sender(ALICE.contact()).unwrap();
    assert!(whole.prove(content.len() as u64).is_none());
    let prove = |position: usize| whole.prove(position as u64).unwrap();

    for position in [0, 7, CONTENT_LEN, 16 * CONTENT_LEN + 5, content.len() - 1] {
        // Only this chunk exists.
        let chunk = position / CONTENT_LEN;
        let start = file.len() - SIGNED_TRAILER_LEN - (19 * 17 + content.len());
        let mut torn = file.clone();
        for other in (0..19).filter(|&other| other != chunk) {
            let from = start + other * CHUNK_LEN;
            torn[from..(from + CHUNK_LEN).min(file.len() - SIGNED_TRAILER_LEN)].fill(0);
        }
        let end = content.len().min((chunk + 1) * CONTENT_LEN);
        let part = reader(&torn)
            .read_proved(ALICE.contact(), position as u64, &prove(position))
            .unwrap()
            .to_vec();
        assert!(part == content[position..end], "{position}");
        // Flip one bit of the chunk.
        torn[start + chunk * CHUNK_LEN + 3] ^= 1;
        let altered = reader(&torn)
            .read_proved(ALICE.contact(), position as u64, &prove(position))
            .map(<[u8]>::to_vec);
        assert!(altered.is_err(), "{position}");
    }

    let mut part = reader(&file);
    let refused = |outcome: Result<&[u8]>| outcome.map(<[u8]>::to_vec).unwrap_err();
    let proof = prove(0);
    assert!(matches!(
        refused(part.read_proved(CAROL.contact(), 0, &proof)),
        Error::WrongSender
    ));
    let behind = content.len() as u64;
    assert!(matches!(
        refused(part.read_proved(ALICE.contact(), behind, &proof)),
        Error::Invalid(_)
    ));
    let elsewhere = CONTENT_LEN as u64;
    assert!(matches!(
        refused(part.read_proved(ALICE.contact(), elsewhere, &proof)),
        Error::Altered(_)
    ));
    for bit in [0, 8 * (proof.as_bytes().len() - 1)] {
        let mut bytes = proof.as_bytes().to_vec();
        bytes[bit / 8] ^= 1;
        let altered = Proof::from_bytes(&bytes).unwrap();
        assert!(matches!(
            refused(part.read_proved(ALICE.contact(), 0, &altered)),
            Error::Altered(_)
        ));
    }
    let longer = Proof::from_bytes(&[proof.as_bytes(), &[0; 64]].concat()).unwrap();
    assert!(matches!(
        refused(part.read_proved(ALICE.contact(), 0, &longer)),
        Error::Altered(_)
    ));
}

#[test]
fn overhead_is_small() {
    let len = 66 << 20;
    for (carry, most) in [(false, 8 << 10), (true, 13 << 10)] {
        let metadata = Metadata {
            name: Some("a file name of usual length.tar.zst".into()),
            modified: Some(1),
            note: None,
            directory: false,
        };
        let mut sealer = Sealer::new();
        sealer.to_passport(BOB.contact()).metadata(metadata);
        if carry {
            sealer.signed_by(&*ALICE)
        } else {
            sealer.signed_without_carrying(&*ALICE)
        };
        let receipt = sealer
            .seal(io::repeat(7).take(len), io::sink(), Workers::default())
            .unwrap();
        assert!(
            receipt.sealed_len - len <= most,
            "{} bytes",
            receipt.sealed_len - len
        );
    }
}
