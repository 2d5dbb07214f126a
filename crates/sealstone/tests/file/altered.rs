//! Every change to a sealed file is refused.

use crate::common::*;
use sealstone::file::{Dearmored, Keys, Sealed, Sealer, Suite, Workers};

fn head_len(file: &[u8]) -> usize {
    Sealed::read(file).unwrap().header_len() as usize
}

#[test]
fn every_prefix_of_a_small_file() {
    for file in [
        sealed_by_alice(b"a small file"),
        sealed_unsigned(b"a small file"),
    ] {
        for len in 0..file.len() {
            assert_refused(
                &file[..len],
                &format!("the first {len} of {} bytes", file.len()),
            );
        }
    }
}

#[test]
fn every_flipped_byte_of_a_small_file() {
    for file in [
        sealed_by_alice(b"a small file"),
        sealed_unsigned(b"a small file"),
    ] {
        for at in 0..file.len() {
            for mask in [1 << (at % 8), 0xff] {
                let mut changed = file.clone();
                changed[at] ^= mask;
                assert_refused(&changed, &format!("byte {at} of {}", file.len()));
            }
        }
    }
}

fn armored() -> Vec<u8> {
    let mut sealer = Sealer::new();
    sealer.to_passport(BOB.contact()).armored();
    seal(&sealer, b"a small file")
}

fn open_armored(file: &[u8]) -> sealstone::Result<u64> {
    let reader = Dearmored::detect(file).map_err(sealstone::Error::from)?;
    let opening = Sealed::read(reader)?.unlock(&Keys::new(&[&BOB], &[]))?;
    opening.open_unsigned(std::io::sink(), Workers::new(1))
}

#[test]
fn every_prefix_of_an_armored_file() {
    let file = armored();
    // The last line may lack its ending.
    for len in 0..file.len() - 1 {
        assert!(open_armored(&file[..len]).is_err(), "{len} characters");
    }
    open_armored(&file[..file.len() - 1]).unwrap();
}

#[test]
fn every_flipped_character_of_an_armored_file() {
    let file = armored();
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 7);
        let result = open_armored(&changed);
        // Line endings may change between allowed forms.
        let blank = file[at].is_ascii_whitespace() && changed[at].is_ascii_whitespace();
        assert!(result.is_err() || blank, "character {at}");
    }
}

#[test]
fn bytes_at_the_end() {
    for file in [
        sealed_by_alice(b"x"),
        sealed_unsigned(b"x"),
        sealed_unsigned(&content(CONTENT_LEN)),
    ] {
        for extra in [1, 16, 17, 32, 4723, CHUNK_LEN] {
            assert_refused(
                &[&file[..], &vec![0; extra]].concat(),
                &format!("{extra} bytes more"),
            );
        }
        assert_refused(&[&file[..], &file[..]].concat(), "the file twice");
    }
}

/// A file cut into head, chunks and trailer.
struct Cut {
    head: Vec<u8>,
    chunks: Vec<Vec<u8>>,
    trailer: Vec<u8>,
}

impl Cut {
    fn new(file: &[u8], trailer_len: usize) -> Self {
        let (head, rest) = file.split_at(head_len(file));
        let (payload, trailer) = rest.split_at(rest.len() - trailer_len);
        Self {
            head: head.to_vec(),
            chunks: payload.chunks(CHUNK_LEN).map(<[u8]>::to_vec).collect(),
            trailer: trailer.to_vec(),
        }
    }

    fn join(&self, order: &[usize]) -> Vec<u8> {
        let chunks = order.iter().map(|&i| &self.chunks[i][..]);
        let parts = [&self.head[..]].into_iter().chain(chunks);
        // Not byte by byte, which takes longer than to open the file.
        parts
            .chain([&self.trailer[..]])
            .collect::<Vec<_>>()
            .concat()
    }
}

/// Every sequence of up to four chunks out of three.
fn orders() -> impl Iterator<Item = Vec<usize>> {
    (0..=4).flat_map(|len| {
        (0..3_usize.pow(len)).map(move |n| (0..len).map(|at| n / 3_usize.pow(at) % 3).collect())
    })
}

#[test]
fn chunks_moved_dropped_repeated_or_foreign() {
    assert_eq!(orders().count(), 1 + 3 + 9 + 27 + 81);
    for suite in [Suite::XChaCha20Poly1305, Suite::Aes256Gcm] {
        for signed in [true, false] {
            let make = |content: &[u8]| {
                let mut sealer = Sealer::new();
                sealer.to_passport(BOB.contact()).suite(suite);
                if signed {
                    sealer.signed_by(&*ALICE);
                }
                seal(&sealer, content)
            };
            // Two full chunks, and a last one that is exactly full: moved chunks preserve every
            // length.
            let file = make(&content(3 * CONTENT_LEN));
            let cut = Cut::new(
                &file,
                if signed {
                    SIGNED_TRAILER_LEN
                } else {
                    UNSIGNED_TRAILER_LEN
                },
            );
            assert!(cut.join(&[0, 1, 2]) == file);
            for order in orders().filter(|order| *order != [0, 1, 2]) {
                assert_refused(&cut.join(&order), &format!("chunks {order:?}"));
            }
            let other = Cut::new(&make(&content(3 * CONTENT_LEN)), cut.trailer.len());
            for (place, from) in (0..9).map(|i| (i / 3, i % 3)) {
                let mut foreign = Cut::new(&file, cut.trailer.len());
                foreign.chunks[place].clone_from(&other.chunks[from]);
                assert_refused(
                    &foreign.join(&[0, 1, 2]),
                    &format!("chunk {from} of another file as chunk {place}"),
                );
            }
        }
    }
}

#[test]
fn every_cut_at_a_chunk_boundary_of_a_large_file() {
    for file in [
        sealed_by_alice(&content(5 * CHUNK_LEN)),
        sealed_unsigned(&content(5 * CHUNK_LEN)),
    ] {
        let head = head_len(&file);
        for chunks in 0..=5 {
            for delta in [-1i64, 0, 1, 31, 32, 33, 4722, 4723, 4724] {
                let len = (head + chunks * CHUNK_LEN) as i64 + delta;
                if let Some(prefix) = file
                    .get(..len as usize)
                    .filter(|prefix| prefix.len() < file.len())
                {
                    assert_refused(prefix, &format!("{len} bytes"));
                }
            }
        }
    }
}

#[test]
fn parts_of_two_files_do_not_mix() {
    let (one, two) = (sealed_by_alice(b"one"), sealed_by_alice(b"two"));
    let (a, b) = (
        Cut::new(&one, SIGNED_TRAILER_LEN),
        Cut::new(&two, SIGNED_TRAILER_LEN),
    );
    for (head, chunk, trailer) in [(&b, &a, &a), (&a, &b, &a), (&a, &a, &b), (&b, &a, &b)] {
        let mixed = [&head.head[..], &chunk.chunks[0], &trailer.trailer].concat();
        assert_refused(&mixed, "mixed parts");
    }
}

#[test]
fn a_header_mac_of_another_file() {
    let (one, two) = (sealed_unsigned(b"one"), sealed_unsigned(b"two"));
    let head = head_len(&one);
    let mut mixed = one.clone();
    mixed[head - 32..head].copy_from_slice(&two[head - 32..head]);
    assert_refused(&mixed, "header MAC");
}
