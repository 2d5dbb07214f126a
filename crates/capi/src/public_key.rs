//! The public half of an issuer's key, as clients and verifiers use it.

use sealstone_token::privacypass;

/// The public half of an issuer's key.
pub struct IssuerPublicKey(pub(crate) privacypass::IssuerPublicKey);
