//! Which credentials pass.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::super::Failure;
use super::registration::Registration;
use super::statement::{self, Roots};

/// Flags of the authenticator data (section 6.1).
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;

/// Which credentials pass.
pub(super) struct Policy {
    pub(super) rp_id_hash: [u8; 32],
    pub(super) origins: Vec<String>,
    pub(super) is_user_verified: bool,
    /// Makers of authenticators; none if any authenticator passes.
    pub(super) roots: Option<Roots>,
    /// Models; empty if all of the makers pass.
    pub(super) models: Vec<[u8; 16]>,
}

impl Registration<'_> {
    /// Whether the credential was made for this challenge, and passes.
    pub(super) fn check(&self, challenge: &[u8], policy: &Policy, now: u64) -> Result<(), Failure> {
        self.check_client_data(challenge, &policy.origins)?;
        self.check_credential(policy)?;
        statement::check(self, policy.roots.as_ref(), now)?;
        match policy.models.is_empty() || policy.models.contains(self.credential.model) {
            true => Ok(()),
            false => Err(Failure::Wrong("this model of authenticator does not pass")),
        }
    }

    fn check_client_data(&self, challenge: &[u8], origins: &[String]) -> Result<(), Failure> {
        let data = &self.client_data;
        if data.kind != "webauthn.create" {
            return Err(Failure::Wrong("the client data is of no new credential"));
        }
        if data.challenge != URL_SAFE_NO_PAD.encode(challenge) {
            return Err(Failure::Wrong("the credential is for another request"));
        }
        if !origins.contains(&data.origin) {
            return Err(Failure::Wrong("the page is of another origin"));
        }
        if data.is_cross_origin || data.top_origin.is_some() {
            return Err(Failure::Wrong("the page stands within another one"));
        }
        Ok(())
    }

    fn check_credential(&self, policy: &Policy) -> Result<(), Failure> {
        let has = |flag| self.credential.flags & flag != 0;
        if *self.credential.rp_id_hash != policy.rp_id_hash {
            return Err(Failure::Wrong("the credential is of another domain"));
        }
        if !has(USER_PRESENT) || (policy.is_user_verified && !has(USER_VERIFIED)) {
            return Err(Failure::Wrong("the authenticator did not check its user"));
        }
        Ok(())
    }
}
