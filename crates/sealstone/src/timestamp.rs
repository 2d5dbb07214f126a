//! Timestamps by a trusted third party (RFC 3161), requested and verified without a network
//! (`spec/timestamp.md`).
//!
//! Make a [`Request`], send its bytes to a time-stamping authority (TSA), and keep the whole
//! [`Response`]. [`verify`] tells at which time the data existed, or which check fails.
//!
//! ```
//! use sealstone::timestamp::{Imprint, Request, Response, Sha2};
//!
//! let request = Request::new(Imprint::of(Sha2::Sha256, b"data"), None);
//! let query = request.encode();
//! # let _ = query;
//! // A response that says "rejected".
//! let response = Response::parse(&[0x30, 5, 0x30, 3, 2, 1, 2])?;
//! assert_eq!(response.granted().unwrap_err().name(), "not-granted");
//! # Ok::<(), sealstone::timestamp::Refusal>(())
//! ```

mod algorithm;
mod asn1;
mod certificate;
mod chain;
mod digests;
mod info;
mod path;
mod refusal;
mod request;
mod response;
mod roots;
mod signed;
mod verify;

pub use sealstone_primitives::hash::Sha2;

pub use chain::{Chain, ChainRefusal, MAX_CHAIN};
pub use digests::{Digests, Imprint};
pub use refusal::Refusal;
pub use request::{Nonce, Policy, Request};
pub use response::Response;
pub use roots::{MAX_ROOTS_LEN, Roots, RootsError};
pub use verify::{Options, PathCertificate, Verified, check_answer, verify};

/// The longest response, in bytes.
pub const MAX_LEN: usize = 1 << 20;
