//! Code of our crates that looks like a kernel but has no row, with the reason.

use crate::coverage::Driver;

/// All drivers. `make prove` lists the functions that they match. The numbers are about a quarter
/// above those of rustc 1.95: another compiler may unroll a loop once more.
pub const DRIVERS: &[Driver] = &[
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
];
