//! Questions before the first key is derived, and the unlocking after them.

use std::sync::Arc;

use sealstone::agent::RemotePassport;
use sealstone::passport::{Fingerprint, Passport};
use sealstone_terminal::question;

use super::{Plan, Unlocked};
use crate::agent::{SenderKey, Socket};
use crate::context::Context;
use crate::failure::Result;
use crate::identity::Identity;
use crate::key_lifecycle;
use crate::passphrase::{self, Answer, Chosen};

/// Every answer that unlocking needs.
pub(in crate::commands) struct Asked<'p> {
    plan: &'p Plan<'p>,
    signer: Option<Signer<'p>>,
    passphrase: Option<Chosen>,
}

/// The sender before it is unlocked.
enum Signer<'p> {
    /// It is unlocked for something else.
    Open,
    /// The agent holds it.
    Held(Box<RemotePassport<Socket>>),
    Locked(Answer<'p>),
}

impl Plan<'_> {
    /// Asks for everything, before the first key is derived.
    ///
    /// `open` are passports that are unlocked for something else.
    pub(in crate::commands) fn ask(
        &self,
        open: &[Fingerprint],
        context: &Context,
    ) -> Result<Asked<'_>> {
        self.recipients.warn(context);
        let ask = |identity: &Identity| self.ask_signer(identity, open, context);
        let signer = self.sender.as_ref().map(ask).transpose()?;
        let is_needed = self.args.recipients.passphrase_recipient;
        let choose = || self.choose_passphrase(context);
        Ok(Asked {
            plan: self,
            signer,
            passphrase: is_needed.then(choose).transpose()?,
        })
    }

    fn ask_signer(
        &self,
        identity: &Identity,
        open: &[Fingerprint],
        context: &Context,
    ) -> Result<Signer<'_>> {
        let name = identity.locked.fingerprint();
        key_lifecycle::check(&name, context)?;
        if open.contains(&name) {
            return Ok(Signer::Open);
        }
        if let Some(held) = self.held_by_agent(&name, context)? {
            return Ok(Signer::Held(Box::new(held)));
        }
        Ok(Signer::Locked(identity.ask(&self.passphrases, context)?))
    }

    fn unlock(
        &self,
        identity: &Identity,
        signer: Signer<'_>,
        open: &[Arc<Passport>],
        context: &Context,
    ) -> Result<SenderKey> {
        let name = identity.locked.fingerprint();
        let is_it = |passport: &&Arc<Passport>| passport.fingerprint() == name;
        let unlocked = match (signer, open.iter().find(is_it)) {
            (Signer::Held(held), _) => return Ok(SenderKey::Held(held)),
            (Signer::Open, Some(passport)) => return Ok(SenderKey::Here(Arc::clone(passport))),
            (Signer::Locked(answer), _) => identity.unlock_with(&answer, context)?,
            // Its passphrase was not typed, and was not that of the other passports.
            (Signer::Open, None) => identity.unlock(&self.passphrases, context)?,
        };
        Ok(SenderKey::Here(Arc::new(unlocked.into_passport())))
    }
}

impl Asked<'_> {
    /// Unlocks everything, and reserves `uses` signatures of the sender's key.
    ///
    /// `open` are the passports that have been unlocked for something else.
    pub(in crate::commands) fn unlock(
        self,
        uses: u64,
        open: &[Arc<Passport>],
        context: &Context,
    ) -> Result<Unlocked> {
        let sender = self.plan.sender.as_ref().zip(self.signer);
        let unlock = |(identity, signer)| self.plan.unlock(identity, signer, open, context);
        let sender = sender.map(unlock).transpose()?;
        // The passphrase of the file is still to be derived: see `Plan::seal`.
        if self.passphrase.is_none() {
            question::finish();
        }
        if let Some(chosen) = &self.passphrase {
            passphrase::show(chosen, "the file", context)?;
        }
        if let Some(passport) = &sender {
            key_lifecycle::reserve(&passport.contact().fingerprint(), uses, context)?;
        }
        Ok(Unlocked {
            sender,
            passphrase: self.passphrase,
        })
    }
}
