//! Privacy Pass: tokens that prove that an issuer trusts their holder, and not who that is.
//!
//! | step | who | type | standard |
//! |---|---|---|---|
//! | challenge | origin | [`TokenChallenge`], [`header`] | RFC 9577 section 2.1 |
//! | request | client | [`Pending`] | RFC 9578 sections 5.1 and 6.1 |
//! | issue | issuer | [`IssuerKey::issue`] | RFC 9578 sections 5.2 and 6.2 |
//! | finalize | client | [`Pending::finalize`] | RFC 9578 sections 5.3 and 6.3 |
//! | redeem | origin | [`IssuerKey::verify`], [`IssuerPublicKey::verify`], [`Token::nullifier`] | RFC 9577 section 2.2 |
//!
//! Four types of token, see [`TokenType`]. All messages are bytes; nothing here is generic.
//!
//! ```
//! use sealstone_token::privacypass::{IssuerKey, Pending, Token, TokenChallenge, TokenType};
//!
//! let issuer = IssuerKey::generate(TokenType::VoprfP384)?;
//! let challenge = TokenChallenge::new(TokenType::VoprfP384, "issuer.example", None, &["origin.example"])?;
//!
//! let (pending, request) = Pending::one(&issuer.public_key(), &challenge)?;
//! let response = issuer.issue(&request)?;
//! let token = pending.finalize(&response)?.remove(0);
//!
//! let shown = Token::decode(&token.encode())?;
//! shown.answers(&challenge)?;
//! issuer.verify(&shown)?;
//! let mark = shown.nullifier(); // The origin refuses a token whose mark it has seen.
//! # let _ = mark;
//! # Ok::<(), sealstone_token::Error>(())
//! ```
//!
//! # What does not compile
//!
//! A request is finalized once, with its blinds:
//!
//! ```compile_fail,E0382
//! # use sealstone_token::privacypass::{IssuerKey, Pending, Token, TokenChallenge, TokenType};
//! # let issuer = IssuerKey::generate(TokenType::VoprfP384)?;
//! # let challenge = TokenChallenge::new(TokenType::VoprfP384, "issuer.example", None, &[])?;
//! let (pending, request) = Pending::one(&issuer.public_key(), &challenge)?;
//! let response = issuer.issue(&request)?;
//! let tokens = pending.finalize(&response)?;
//! let again = pending.finalize(&response)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```
//!
//! ```compile_fail,E0599
//! # use sealstone_token::privacypass::{IssuerKey, Pending, Token, TokenChallenge, TokenType};
//! # let issuer = IssuerKey::generate(TokenType::VoprfP384)?;
//! # let challenge = TokenChallenge::new(TokenType::VoprfP384, "issuer.example", None, &[])?;
//! let (pending, request) = Pending::one(&issuer.public_key(), &challenge)?;
//! let response = issuer.issue(&request)?;
//! let tokens = pending.clone().finalize(&response)?;
//! # Ok::<(), sealstone_token::Error>(())
//! ```

mod challenge;
mod client;
pub mod directory;
mod generic;
pub mod header;
mod issuer;
mod token;
mod token_type;
mod wire;

pub use challenge::TokenChallenge;
pub use client::Pending;
pub use generic::{GenericPending, issue_generic};
pub use issuer::{IssuerKey, IssuerPublicKey, RequestHead};
pub use token::Token;
pub use token_type::TokenType;
