//! Oblivious pseudorandom functions in groups of prime order (RFC 9497).
//!
//! A server holds a key, a client an input. The client learns the function's output and nothing
//! of the key; the server learns neither input nor output. Three modes, a module each:
//!
//! | module | RFC 9497 | the client is sure that |
//! |---|---|---|
//! | [`oblivious`] | OPRF | the server does not learn the input |
//! | [`verifiable`] | VOPRF | … and used the key that it published |
//! | [`partial`] | POPRF | … and an input that both know |
//!
//! All of them work on batches: a slice of inputs, one proof for all. A batch of one is a slice
//! of one. Misuse does not compile: `finalize` consumes the client's state with its blinds, and
//! outputs of a verifiable mode come only from a proof that was checked.
//!
//! # What does not compile
//!
//! All of these begin as this one does, which is right:
//!
//! ```
//! use sealstone_token::voprf::{P256Sha256, verifiable::{Client, Server}};
//! let server = Server::<P256Sha256>::generate();
//! let client = Client::blind(server.key().public_key(), &[b"input"])?;
//! let (evaluated, proof) = server.evaluate(client.blinded())?;
//! let outputs = client.finalize(&evaluated, &proof)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```
//!
//! A blind is used once, and has no copy that could be used again:
//!
//! ```compile_fail,E0382
//! # use sealstone_token::voprf::{P256Sha256, verifiable::{Client, Server}};
//! # let server = Server::<P256Sha256>::generate();
//! # let client = Client::blind(server.key().public_key(), &[b"input"])?;
//! # let (evaluated, proof) = server.evaluate(client.blinded())?;
//! let outputs = client.finalize(&evaluated, &proof)?;
//! let again = client.finalize(&evaluated, &proof)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```
//!
//! ```compile_fail,E0599
//! # use sealstone_token::voprf::{P256Sha256, verifiable::{Client, Server}};
//! # let server = Server::<P256Sha256>::generate();
//! # let client = Client::blind(server.key().public_key(), &[b"input"])?;
//! # let (evaluated, proof) = server.evaluate(client.blinded())?;
//! let outputs = client.clone().finalize(&evaluated, &proof)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```
//!
//! There is no output without a proof:
//!
//! ```compile_fail,E0061
//! # use sealstone_token::voprf::{P256Sha256, verifiable::{Client, Server}};
//! # let server = Server::<P256Sha256>::generate();
//! # let client = Client::blind(server.key().public_key(), &[b"input"])?;
//! # let (evaluated, proof) = server.evaluate(client.blinded())?;
//! let outputs = client.finalize(&evaluated)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```
//!
//! A proof of another suite does not fit either:
//!
//! ```compile_fail,E0308
//! # use sealstone_token::voprf::{P256Sha256, verifiable::{Client, Server}};
//! # let server = Server::<P256Sha256>::generate();
//! # let client = Client::blind(server.key().public_key(), &[b"input"])?;
//! # let (evaluated, proof) = server.evaluate(client.blinded())?;
//! # use sealstone_token::voprf::{P384Sha384, Proof};
//! let proof = Proof::<P384Sha384>::decode(&proof.encode())?;
//! let outputs = client.finalize(&evaluated, &proof)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```

mod blinds;
mod key;
mod message;
pub mod oblivious;
pub mod partial;
mod proof;
mod suite;
pub mod verifiable;

use sealstone_primitives::curve::Scalar;

use crate::Error;

pub use key::{PrivateKey, PublicKey};
pub use message::{Blinded, Evaluated};
pub use proof::Proof;
pub use suite::{Mode, Output, P256Sha256, P384Sha384, Ristretto255Sha512, Suite};

/// The most elements in a batch: their index is hashed as two bytes (RFC 9497 section 2.2.1).
pub const MAX_BATCH: usize = 65_535;

/// The scalars that `encodings` encode.
fn scalars<S: Suite>(encodings: &[&[u8]]) -> Result<Vec<suite::ScalarOf<S>>, Error> {
    let scalar = |bytes: &&[u8]| suite::ScalarOf::<S>::decode(bytes);
    let scalars: Result<Vec<_>, _> = encodings.iter().map(scalar).collect();
    scalars.map_err(|_| Error::Malformed("scalar"))
}
