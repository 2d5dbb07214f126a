//! Hostile files are refused quickly and without memory.

use crate::common::*;
use sealstone::file::{Dearmored, Keys, Sealed};
use sealstone::{Error, Passphrase};
use std::io::{self, Read};
use std::time::{Duration, Instant};

fn prefix(len: u32) -> Vec<u8> {
    let mut bytes = b"\x89SEAL\r\n\x1a\n\x01\x01\x00".to_vec();
    bytes.extend(len.to_be_bytes());
    bytes
}

fn with_header(header: &[u8]) -> Vec<u8> {
    let mut bytes = prefix(header.len() as u32);
    bytes.extend(header);
    bytes.extend([0; 32]);
    bytes
}

/// A CBOR byte string.
fn bstr(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x59];
    out.extend((bytes.len() as u16).to_be_bytes());
    out.extend(bytes);
    out
}

fn short_bstr(bytes: &[u8]) -> Vec<u8> {
    [&[0x58, bytes.len() as u8], bytes].concat()
}

fn passphrase_stanza(m: [u8; 5], t: [u8; 5], p: u8) -> Vec<u8> {
    [
        &[0x87, 0x02][..],
        &m,
        &t,
        &[p],
        &short_bstr(&[1; 32]),
        &short_bstr(&[4; 32]),
        &short_bstr(&[2; 48]),
    ]
    .concat()
}

fn header_of(stanzas: &[Vec<u8>]) -> Vec<u8> {
    let count = match stanzas.len() {
        n @ 0..24 => vec![0x80 | n as u8],
        n => [&[0x9a][..], &(n as u32).to_be_bytes()].concat(),
    };
    [
        &[0xa2, 0x00][..],
        &count,
        &stanzas.concat(),
        &[0x01],
        &short_bstr(&[3; 80]),
    ]
    .concat()
}

fn is_malformed(file: &[u8]) -> bool {
    matches!(
        Sealed::read(file),
        Err(Error::Malformed(_) | Error::Armor(_) | Error::OtherKind { .. } | Error::Altered(_))
    )
}

#[test]
fn other_things_are_not_sealed_files() {
    for file in [
        &b""[..],
        b"\x89",
        b"hello",
        b"\x89PNG\r\n\x1a\n0000000000000000",
        b"age-encryption.org/v1\n-> X25519 aaaa\n",
    ] {
        assert!(is_malformed(file), "{file:?}");
    }
}

#[test]
fn newer_versions_say_so() {
    for (at, value) in [(9, 2), (10, 3), (10, 0)] {
        let mut file = sealed_unsigned(b"x");
        file[at] = value;
        assert!(matches!(
            Sealed::read(&file[..]),
            Err(Error::Unsupported(_))
        ));
    }
}

#[test]
fn lengths_that_lie() {
    let endless = || io::repeat(0);
    for len in [0, 4 * 1024 * 1024 + 1, u32::MAX] {
        assert!(
            Sealed::read(Read::chain(&prefix(len)[..], endless())).is_err(),
            "{len}"
        );
    }
    assert!(is_malformed(&prefix(4 << 20)));
    let header = [
        0xa2, 0x00, 0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];
    assert!(is_malformed(&with_header(&header)), "2^64 - 1 stanzas");
    let header = [
        0xa2, 0x00, 0x81, 0x85, 0x01, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];
    assert!(
        is_malformed(&with_header(&header)),
        "a recipient of 2^63 bytes"
    );
}

#[test]
fn a_million_recipients() {
    let start = Instant::now();
    let tiny = vec![vec![0x80]; 1_000_000];
    assert!(is_malformed(&with_header(&header_of(&tiny))));
    let stanza = passphrase_stanza([0x1a, 0, 0, 0x20, 0], [0x1a, 0, 1, 0, 0], 1);
    assert!(
        is_malformed(&with_header(&header_of(&vec![stanza.clone(); 30_000]))),
        "30,000 well-formed stanzas"
    );
    assert!(
        is_malformed(&with_header(&header_of(&vec![stanza; 9]))),
        "nine passphrases"
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn deep_or_other_cbor() {
    for byte in [0x81, 0xa1, 0x9f, 0xbf, 0xc1, 0xd9, 0x5f, 0x7f] {
        assert!(
            is_malformed(&with_header(&vec![byte; 1 << 20])),
            "{byte:#x}"
        );
    }
    let good = sealed_unsigned(b"x");
    let header_len = Sealed::read(&good[..]).unwrap().header_len() as usize - 48;
    // The same header with a long-form count of stanzas.
    let mut header = good[16..16 + header_len].to_vec();
    assert_eq!(header[..3], [0xa2, 0x00, 0x81]);
    header.splice(2..3, [0x98, 0x01]);
    assert!(is_malformed(&with_header(&header)));
    header.splice(2..4, [0x9f]);
    assert!(is_malformed(&with_header(&header)));
}

#[test]
fn argon2_parameters_of_terabytes_are_refused_before_memory_is_taken() {
    let passphrase = Passphrase::new(b"x").unwrap();
    let max = [0x1a, 0xff, 0xff, 0xff, 0xff];
    let one = [0x1a, 0, 1, 0, 0];
    for (m, t, what) in [(max, one, "memory"), ([0x1a, 0, 0x10, 0, 0], max, "work")] {
        let file = with_header(&header_of(&[passphrase_stanza(m, t, 1)]));
        let start = Instant::now();
        match Sealed::read(&file[..])
            .unwrap()
            .unlock(&Keys::new(&[], &[&passphrase]))
        {
            Err(Error::KdfLimit { what: found, .. }) => assert_eq!(found, what),
            _ => panic!("{what} was not limited"),
        }
        assert!(start.elapsed() < Duration::from_millis(100));
    }
    for (m, t, p) in [(one, one, 0), (one, one, 17), ([0x1a, 0, 0, 0, 0], one, 1)] {
        assert!(
            is_malformed(&with_header(&header_of(&[passphrase_stanza(m, t, p)]))),
            "{m:?} {t:?} {p}"
        );
    }
}

#[test]
fn low_order_points_and_wrong_sizes() {
    let stanza = |epk: [u8; 32], ciphertext: usize, recipient: usize| {
        [
            &[0x85, 0x01][..],
            &short_bstr(&BOB.fingerprint().as_bytes()[..recipient]),
            &short_bstr(&epk),
            &bstr(&vec![5; ciphertext]),
            &short_bstr(&[6; 48]),
        ]
        .concat()
    };
    let low_order = with_header(&header_of(&[stanza([0; 32], 1568, 32)]));
    assert!(matches!(unlock(&low_order, &BOB), Err(Error::Altered(_))));
    for (ciphertext, recipient) in [(1567, 32), (1569, 32), (1568, 31)] {
        assert!(is_malformed(&with_header(&header_of(&[stanza(
            [9; 32], ciphertext, recipient
        )]))));
    }
}

#[test]
fn armor_without_end() {
    let mut text = b"-----BEGIN SEALSTONE FILE-----\n".to_vec();
    text.extend(vec![b'A'; 10 << 20]);
    let reader = Dearmored::detect(&text[..]).unwrap();
    assert!(Sealed::read(reader).is_err());
    let blank = Dearmored::detect(io::BufReader::new(io::repeat(b'\n').take(1 << 40))).unwrap();
    assert!(Sealed::read(blank).is_err());
}
