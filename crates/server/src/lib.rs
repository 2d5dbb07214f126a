//! The token service: issuers and verifiers of anonymous tokens, on `sealstone-token`.
//!
//! | module | what |
//! |---|---|
//! | [`store`] | what must not be forgotten: spent tokens, used proofs, sealed keys |
#![forbid(unsafe_code)]

pub mod store;
