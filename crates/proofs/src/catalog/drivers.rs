//! Code of our crates that looks like a kernel but has no row, with the reason.

use crate::coverage::Driver;

/// All drivers. `make prove` lists the functions that they match.
pub const DRIVERS: &[Driver] = &[
    Driver {
        path: "sealstone_primitives::curve::ristretto::RistrettoElement",
        why: "sums of products of points: arithmetic of fields is inlined from curve25519-dalek, whose authors we trust; published vectors",
    },
    Driver {
        path: "sealstone_token::voprf::verifiable::statement",
        why: "negates a scalar or a point, inlined from curve25519-dalek; published vectors of RFC 9497",
    },
    // The optimiser inlines it into one or the other.
    Driver {
        path: "sealstone::selftest::run",
        why: "counts the bytes of the file that the self-test seals and opens",
    },
    Driver {
        path: "sealstone::selftest::file_round_trip",
        why: "counts the bytes of the file that the self-test seals and opens",
    },
    Driver {
        path: "::__pymethod___hash____",
        why: "hashes for Python's dictionaries: SipHash of the standard library, inlined",
    },
];
