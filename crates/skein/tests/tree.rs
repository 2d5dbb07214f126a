//! The tree hash of sealed files against the recursive specification.

use sealstone_skein::tree::{
    self, FAN_OUT, LEAF, PIECE, Pieces, Proof, Root, Shape, Start, TreeHasher, TreeSkein,
};
use sealstone_skein::{Cpu, Parameters};
use sealstone_testing::{is_emulated, skein as spec};

/// Bytes with an odd period, so that swapped blocks show.
fn message(len: usize) -> Vec<u8> {
    (0..251).cycle().take(len).collect()
}

fn expected(message: &[u8]) -> Vec<u8> {
    let skein = spec::Skein {
        block: 64,
        output_bits: 512,
        tree: [6, 4, 255],
        ..Default::default()
    };
    skein.hash(message, 8 * message.len())
}

fn by_pieces(cpu: Cpu, message: &[u8]) -> [u8; 64] {
    let mut root = Root::new();
    for (index, piece) in (0..).zip(message.chunks(PIECE)) {
        root.push(tree::subtree_on(cpu, index, piece));
    }
    root.finish()
}

#[test]
fn every_boundary() {
    let edges = [
        0,
        64,
        LEAF,
        2 * LEAF,
        8 * LEAF,
        FAN_OUT * LEAF,
        17 * LEAF,
        8 * FAN_OUT * LEAF,
        PIECE,
        PIECE + LEAF,
        2 * PIECE,
    ];
    for edge in edges {
        // An emulator takes most of a minute for all of the long ones.
        let one = is_emulated() && edge > PIECE;
        let first = if one {
            edge + 1
        } else {
            edge.saturating_sub(1)
        };
        for len in first..=edge + 1 {
            let message = message(len);
            let expected = expected(&message);
            for cpu in Cpu::available() {
                assert_eq!(
                    by_pieces(cpu, &message)[..],
                    expected,
                    "{len} bytes on {cpu:?}"
                );
            }
            assert_eq!(tree::hash(&message)[..], expected, "{len} bytes");
        }
    }
}

#[test]
fn every_number_of_leaves_in_two_nodes() {
    for leaves in 0..=2 * FAN_OUT {
        let message = message(leaves * LEAF + 100);
        let expected = expected(&message);
        for cpu in Cpu::available() {
            assert_eq!(
                by_pieces(cpu, &message)[..],
                expected,
                "{leaves} leaves on {cpu:?}"
            );
        }
    }
}

#[test]
fn however_the_message_is_cut() {
    let message = message(PIECE + 5 * LEAF + 7);
    let expected = tree::hash(&message);
    for step in [1000, LEAF, PIECE - 1, PIECE, PIECE + 1, message.len()] {
        let mut hasher = TreeHasher::new();
        message.chunks(step).for_each(|part| hasher.update(part));
        assert_eq!(hasher.finish(), expected, "in parts of {step}");
    }
}

/// An intermediate hash does not affect the result, at any position.
#[test]
fn more_can_be_added_after_a_hash() {
    let message = message(PIECE + 5000);
    let mut hasher = TreeHasher::new();
    let mut done = 0;
    for len in [0, 100, LEAF, PIECE, message.len()] {
        hasher.update(&message[done..len]);
        done = len;
        let so_far = hasher.clone().finish();
        assert_eq!(so_far[..], expected(&message[..len]), "{len} bytes");
    }
    let mut pieces = Pieces::new();
    for (index, piece) in (0..).zip(message.chunks(PIECE)) {
        pieces.push(tree::subtree(index, piece));
        let end = message.len().min((index as usize + 1) * PIECE);
        assert_eq!(
            pieces.hash()[..],
            expected(&message[..end]),
            "piece {index}"
        );
    }
}

/// Every number of the worked example of `spec/tree.md`, by the recursive specification.
#[test]
fn the_worked_example_is_right() {
    let page = include_str!("../../../spec/tree.md");
    let page: String = page.chars().filter(|c| !c.is_whitespace()).collect();
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let skein = spec::Skein {
        block: 64,
        output_bits: 512,
        tree: [6, 4, 255],
        ..Default::default()
    };
    let start = skein.start();
    assert!(page.contains(&format!("G={}", hex(&start))));
    let mut level = message(70_000);
    for (number, node) in [(1_u128, LEAF), (2, 1024), (3, 1024)] {
        let tweak = (number << 112) + (spec::MSG << 120);
        let nodes: Vec<Vec<u8>> = (level.chunks(node).zip((0..).step_by(node)))
            .map(|(part, at)| spec::ubi(&start, part, 8 * part.len(), tweak + at))
            .collect();
        let last = nodes.last().map(|value| hex(value)).unwrap();
        let row = format!("|{number}|{}|`{last}`|", nodes.len());
        assert!(page.contains(&row), "{row}");
        level = nodes.concat();
    }
    let hash = skein.hash(&message(70_000), 8 * 70_000);
    assert!(page.contains(&format!("hash={}", hex(&hash))));
}

/// Computed by pyskein 1.0: `skein512(tree=(6, 4, 255))`. The second is the worked example of
/// `spec/tree.md`.
const PYSKEIN: [(usize, &str); 6] = [
    (
        0,
        "b40b0f84c78a62ebd004edfe147c67ddd52f0b4d055ea455788562ee96f47bd61856e99cb3281a62b5c976afad536ed15b995289917fe2887c1cb27c76ef03f9",
    ),
    (
        70_000,
        "de1c750589ec367cbc403a0135a545b0a34586c9e35b2a5e4fa077ec3f32a9c89cbc368eefc9c450ae16a93c642e63947ceae1e5ef955c23ca8b9278e2ce5c51",
    ),
    (
        4_097,
        "ac1cfb32d90e1a78a1831b4426306ab46560463af4bbc48aa84c9b2bf38938d0764f6f09928b16a690d52ca1b8e89772c5a9bbe3edad1737019191e5c0d111da",
    ),
    (
        65_537,
        "4d0a7b928410607e1556cfe87213d107052dc05f267cd7011a73eb3deb808e45629c428a470904ce1419ec94fcab18c61d7c8d2515b8f16794441339bd9f4ab1",
    ),
    (
        1_048_577,
        "c5d2369285a615a50fe9e98f007d16734e1cf5e73a0fa4481e9db904afcb6929fc166d852700653e5fb1dbbaa9919b4a6af2a2a95cfba14231d3e254489993b2",
    ),
    (
        5_000_000,
        "a38ebaef2e828745ff653d03c21e69ef5c235c93469ee62fe068fac44b3ff6390de110e123593120d7a17f0cf0f062e3a1710eb541d89cf7bfefa54cff2a9815",
    ),
];

#[test]
fn against_pyskein() {
    for (len, expected) in PYSKEIN {
        let hash: String = tree::hash(&message(len))
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hash, expected, "{len} bytes");
    }
}

#[test]
fn the_general_tree_is_the_same() {
    let message = message(PIECE + 17 * LEAF + 5);
    let mut general = TreeSkein::<8>::with(&Parameters::new(), Shape::new(6, 4, 255).unwrap());
    general.update(&message);
    assert_eq!(general.finish(), tree::hash(&message));
}

#[test]
fn with_every_argument() {
    let parameters = Parameters::new()
        .key(b"key")
        .personalization(b"personalization")
        .public_key(b"public key")
        .key_id(b"key identifier")
        .nonce(b"nonce")
        .output_bits(1021);
    let start = Start::with(&parameters);
    for len in [0, 1, LEAF + 1, PIECE, PIECE + 17 * LEAF + 5] {
        let message = message(len);
        let mut general = TreeSkein::<8>::with(&parameters, Shape::new(6, 4, 255).unwrap());
        general.update(&message);
        let expected = general.finish();
        for cpu in Cpu::available() {
            let mut root = start.root();
            for (index, piece) in (0..).zip(message.chunks(PIECE)) {
                root.push(start.subtree_on(cpu, index, piece));
            }
            let mut hash = [0; 128];
            root.output().read(&mut hash);
            assert_eq!(hash[..], expected, "{len} bytes on {cpu:?}");
        }
    }
    assert!(!format!("{start:?}").contains(char::is_numeric));
}

#[test]
fn shapes_that_the_specification_does_not_allow() {
    assert!(Shape::new(0, 1, 2).is_none());
    assert!(Shape::new(1, 0, 2).is_none());
    assert!(Shape::new(1, 1, 1).is_none());
    assert!(Shape::new(255, 255, 255).is_some());
}

/// The first, a middle and the last piece of messages with up to two levels above the pieces.
#[test]
fn proofs() {
    for (whole, rest) in [
        (0, 0),
        (0, 5),
        (1, 0),
        (2, 0),
        (15, 1),
        (16, 0),
        (16, 1),
        (33, 70_000),
    ] {
        let message = message(whole * PIECE + rest);
        let length = message.len() as u64;
        let mut pieces = Pieces::new();
        let chunks: Vec<&[u8]> = if message.is_empty() {
            vec![&[]]
        } else {
            message.chunks(PIECE).collect()
        };
        chunks
            .iter()
            .zip(0..)
            .for_each(|(piece, index)| pieces.push(tree::subtree(index, piece)));
        let hash = tree::hash(&message);
        assert_eq!(pieces.hash(), hash);
        assert!(pieces.prove(chunks.len() as u64).is_none());
        for index in [0, chunks.len() / 2, chunks.len() - 1] {
            let proof = pieces.prove(index as u64).unwrap();
            let proof = Proof::from_bytes(proof.as_bytes()).unwrap();
            let index_in = index as u64;
            assert!(
                proof.verify(&hash, length, index_in, chunks[index]),
                "piece {index} of {length} bytes"
            );
            assert!(
                !proof.verify(&hash, length, index_in + 1, chunks[index]),
                "another place"
            );
            let longer = proof.verify(&hash, length + PIECE as u64, index_in, chunks[index]);
            assert!(index + 1 < chunks.len() || !longer, "another length");
            let mut other = chunks[index].to_vec();
            other.iter_mut().take(1).for_each(|byte| *byte ^= 1);
            assert!(
                other.is_empty() || !proof.verify(&hash, length, index_in, &other),
                "another piece"
            );
            let mut bytes = proof.as_bytes().to_vec();
            for i in (0..bytes.len()).step_by(64) {
                bytes[i] ^= 1;
                assert!(
                    !Proof::from_bytes(&bytes).unwrap().verify(
                        &hash,
                        length,
                        index_in,
                        chunks[index]
                    ),
                    "another sibling"
                );
                bytes[i] ^= 1;
            }
            bytes.extend([0; 64]);
            assert!(
                !Proof::from_bytes(&bytes)
                    .unwrap()
                    .verify(&hash, length, index_in, chunks[index]),
                "too long"
            );
            assert!(Proof::from_bytes(&[0; 63]).is_none());
        }
    }
}

/// Forgeries by an attacker who knows the whole message: other nodes in place of the proved one.
#[test]
fn forged_proofs() {
    let message = message(33 * PIECE + 70_000);
    let (hash, length) = (tree::hash(&message), message.len() as u64);
    let mut pieces = Pieces::new();
    for (index, piece) in (0..).zip(message.chunks(PIECE)) {
        pieces.push(tree::subtree(index, piece));
    }
    let prove = |index: u64| pieces.prove(index).unwrap();
    let piece = |index: usize| message.chunks(PIECE).nth(index).unwrap();
    assert!(prove(17).verify(&hash, length, 17, piece(17)));

    // Another piece with its own honest proof, at every other index; and this piece at other
    // indices.
    for index in (0..34).filter(|&index| index != 17) {
        assert!(
            !prove(17).verify(&hash, length, index, piece(17)),
            "{index}"
        );
        assert!(
            !prove(index).verify(&hash, length, 17, piece(17)),
            "{index}"
        );
        assert!(
            !prove(index).verify(&hash, length, 17, piece(index as usize)),
            "{index}"
        );
    }
    // Siblings swapped, a level missing, a level twice.
    let bytes = prove(17).as_bytes().to_vec();
    let swapped = [&bytes[64..128], &bytes[..64], &bytes[128..]].concat();
    let left_out = bytes[15 * 64..].to_vec();
    let twice = [&bytes[..], &bytes[15 * 64..]].concat();
    for forged in [swapped, left_out, twice, Vec::new()] {
        let proof = Proof::from_bytes(&forged).unwrap();
        assert!(!proof.verify(&hash, length, 17, piece(17)));
    }
    // The children of a node as a message: fails, because nodes are hashed with their level.
    let values = [&prove(1).as_bytes()[..64], &prove(0).as_bytes()[..15 * 64]].concat();
    let alone = Proof::from_bytes(&[]).unwrap();
    assert!(!alone.verify(&hash, values.len() as u64, 0, &values));
    // The hash of a part is not the hash of the whole.
    assert!(!alone.verify(&hash, PIECE as u64, 0, piece(0)));
    assert!(alone.verify(&tree::hash(piece(0)), PIECE as u64, 0, piece(0)));
}

#[test]
#[should_panic(expected = "a piece of another tree")]
fn a_piece_with_another_key() {
    let start = Start::with(&Parameters::new().key(b"key"));
    Root::new().push(start.subtree(0, &[0]));
}

#[test]
fn nothing_that_depends_on_a_key_is_shown() {
    let start = Start::with(&Parameters::new().key(b"key"));
    let piece = start.subtree(0, &[0xaa; 100]);
    let mut root = start.root();
    let shown = format!("{start:?} {piece:?}");
    assert_eq!(shown, "Start { .. } Subtree { index: 0, last: true, .. }");
    root.push(piece);
    assert_eq!(format!("{root:?}"), "Root { pieces: 1, .. }");
    let mut hasher = TreeHasher::new();
    hasher.update(&[0xaa; 100]);
    assert_eq!(format!("{hasher:?}"), "TreeHasher { .. }");
    let mut pieces = Pieces::new();
    pieces.push(tree::subtree(0, &[0xaa; 100]));
    assert_eq!(format!("{pieces:?}"), "Pieces { len: 1, .. }");
}

/// Only accepted pieces leave a value.
#[test]
fn a_refused_piece_leaves_no_value() {
    let mut pieces = Pieces::new();
    pieces.push(tree::subtree(0, &[1; PIECE]));
    let wrong = std::panic::AssertUnwindSafe(|| pieces.push(tree::subtree(2, &[2; 10])));
    assert!(std::panic::catch_unwind(wrong).is_err());
    pieces.push(tree::subtree(1, &[3; 10]));
    let message = [&[1; PIECE][..], &[3; 10]].concat();
    let (hash, length) = (tree::hash(&message), message.len() as u64);
    assert!(pieces.prove(2).is_none());
    assert!(pieces.prove(1).unwrap().verify(&hash, length, 1, &[3; 10]));
}

#[test]
#[should_panic(expected = "piece 17592186044415 is beyond 2^64 bytes")]
fn a_message_of_two_to_the_64_bytes() {
    tree::subtree((1 << 44) - 1, &[0; PIECE]);
}

#[test]
#[should_panic(expected = "pieces come in order")]
fn pieces_out_of_order() {
    Root::new().push(tree::subtree(1, &[0]));
}

#[test]
#[should_panic(expected = "only the last piece may be short")]
fn a_short_piece_in_the_middle() {
    let mut root = Root::new();
    root.push(tree::subtree(0, &[0]));
    root.push(tree::subtree(1, &[0]));
}
