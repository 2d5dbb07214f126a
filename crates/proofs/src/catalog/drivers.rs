//! Code of our crates that has no row, with the reasons.

use crate::coverage::{Driver, Reasons, Rest};

/// All reasons.
pub const REASONS: Reasons = Reasons {
    drivers: DRIVERS,
    crates: CRATES,
};

/// Drivers that look like kernels. `make prove` lists the functions that they match. The numbers
/// are about a quarter above those of rustc 1.95: another compiler may unroll a loop once more.
const DRIVERS: &[Driver] = &[
    Driver {
        path: "sealstone_primitives::curve::ristretto::RistrettoElement",
        most: [0, 36],
        why: "sums products of points: arithmetic of fields is inlined from curve25519-dalek, whose authors we trust; published vectors",
    },
    Driver {
        path: "sealstone_token::voprf::verifiable::statement",
        most: [0, 20],
        why: "negates a scalar or a point, inlined from curve25519-dalek; published vectors of RFC 9497",
    },
    Driver {
        path: "::__pymethod___hash____",
        most: [28, 0],
        why: "hashes for Python's dictionaries: SipHash of the standard library, inlined",
    },
    Driver {
        path: "sealstone_server::store::postgres::change::run",
        most: [192, 8],
        why: TABLES,
    },
    Driver {
        path: "sealstone_server::store::redis::link::Link",
        most: [30, 8],
        why: TABLES,
    },
    Driver {
        path: "sealstone_server::gate::vouch::Vouches as",
        most: [52, 8],
        why: TABLES,
    },
    Driver {
        path: "sealstone_server::pinned::fetch",
        most: [24, 8],
        why: TABLES,
    },
    Driver {
        path: "sealstone_server::admin::command::run",
        most: [0, 36],
        why: "counts the characters of text: code of the standard library, inlined",
    },
];

const TABLES: &str = "looks into tables of keys: SipHash of the standard library, inlined";

/// What the code of each crate does that is not proved, and what covers it instead. `make prove`
/// fails if a program has such code of another crate of ours.
const CRATES: &[Rest] = &[
    Rest {
        name: "sealstone",
        why: "file formats, trust store and commands: tests, hostile files, fuzzing",
    },
    Rest {
        name: "sealstone_argon2",
        why: "drivers (memory, threads, instruction sets) and text of hashes: source rows for some, published vectors, tests, fuzzing",
    },
    Rest {
        name: "sealstone_skein",
        why: "drivers (buffers, modes, trees, threads): source rows for some, published vectors, tests",
    },
    Rest {
        name: "sealstone_lanes",
        why: "choice of the instruction set, lines of memory: tests",
    },
    Rest {
        name: "sealstone_primitives",
        why: "calls of others' code, secret memory, curves: published vectors, tests",
    },
    Rest {
        name: "sealstone_token",
        why: "protocols and encodings of tokens: published vectors, tests, fuzzing",
    },
    Rest {
        name: "sealstone_files",
        why: "files and folders: tests",
    },
    Rest {
        name: "sealstone_terminal",
        why: "talk with a person: tests",
    },
    Rest {
        name: "sealstone_proved",
        why: "comparison of a program with a list of proofs: tests",
    },
    Rest {
        name: "sealstone_server",
        why: "the token service: tests, fuzzing, faults of disks and stores",
    },
    Rest {
        name: "sealstone_capi",
        why: "the interface for C: tests",
    },
    Rest {
        name: "sealstone_python",
        why: "the interface for Python: tests",
    },
];
