//! Code of our crates that looks like a kernel and has no row, with the reason.

use crate::coverage::Driver;

/// All of it. `make prove` lists what it stands for.
pub const DRIVERS: &[Driver] = &[
    Driver {
        path: "sealstone_primitives::curve::ristretto::RistrettoElement",
        why: "sums of products of points: arithmetic of fields is inlined from curve25519-dalek, whose authors we trust; published vectors",
    },
    Driver {
        path: "sealstone_token::voprf::verifiable::statement",
        why: "negates a scalar or a point, inlined from curve25519-dalek; published vectors of RFC 9497",
    },
    Driver {
        path: "sealstone::selftest::run",
        why: "makes the numbers that the self-test hashes; what it hashes is compared with published answers",
    },
    Driver {
        path: "::__pymethod___hash____",
        why: "hashes for Python's dictionaries: SipHash of the standard library, inlined",
    },
];
