//! Passports: identities whose keys all follow from one 32-byte root seed (`spec/passport.md`).

mod fingerprint;
mod public;

pub use fingerprint::Fingerprint;
pub use public::{Contact, PublicPassport, Succession};

pub(crate) use public::RecipientKeys;
