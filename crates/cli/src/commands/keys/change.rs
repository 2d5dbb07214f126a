//! `keys set`, `keys rotate`, `keys deprecate`, `keys revoke` and `keys compromised`

use sealstone::lifecycle::{Limits, Stage};
use sealstone::trust::Status;

use super::own::Own;
use super::show;
use crate::args::{KeyChangeArgs, KeyEndArgs, KeyRotateArgs, KeySetArgs};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::identity::load_public;
use crate::key_lifecycle;
use crate::trust::{self, Store};

/// One change of one key.
struct Job<'a> {
    store: Store,
    own: Own,
    operator: String,
    note: Option<&'a str>,
    context: &'a Context,
}

impl<'a> Job<'a> {
    fn new(args: &'a KeyChangeArgs, context: &'a Context) -> Result<Self> {
        let store = trust::open(context)?;
        Ok(Self {
            own: Own::find(args.key.key.as_deref(), &store)?,
            store,
            operator: trust::operator(args.change.operator.as_deref()),
            note: args.change.note.as_deref(),
            context,
        })
    }

    /// Makes the change, and shows the key afterwards.
    fn apply(
        mut self,
        change: impl FnOnce(&mut Store, &Own, &sealstone::trust::Change<'_>) -> sealstone::Result<()>,
    ) -> Result<()> {
        let time = trust::change(&self.operator, self.note.or(Some("")));
        change(&mut self.store, &self.own, &time)
            .map_err(|e| key_lifecycle::failed(e, &self.own.fingerprint).about(self.own.name()))?;
        show::report(&self.own, &self.store, self.context)
    }
}

pub(super) fn set(args: &KeySetArgs, context: &Context) -> Result<()> {
    let job = Job::new(&args.of, context)?;
    job.apply(|store, own, change| {
        let before = store.key_lifecycle(&own.fingerprint).limits;
        let or_kept = |limit: Option<crate::args::Limit>, kept| limit.map_or(kept, |it| it.0);
        let limits = Limits {
            not_before: or_kept(args.not_before, before.not_before),
            not_after: or_kept(args.not_after, before.not_after),
            max_uses: or_kept(args.max_uses, before.max_uses),
        };
        store
            .set_limits(&own.fingerprint, &own.label, limits, change)
            .map(drop)
    })
}

pub(super) fn rotate(args: &KeyRotateArgs, context: &Context) -> Result<()> {
    let job = Job::new(&args.of, context)?;
    let successor = load_public(&args.to)?;
    let Some(old) = job.own.contact.clone() else {
        return Err(Failure::usage("its public keys are needed")
            .hint("name it by its file, FILE.passport or FILE.pub")
            .about(job.own.name()));
    };
    job.apply(|store, _, change| store.rotate_key(&old, &successor, change).map(drop))
}

pub(super) fn deprecate(args: &KeyChangeArgs, context: &Context) -> Result<()> {
    Job::new(args, context)?.apply(|store, own, change| {
        store
            .deprecate_key(&own.fingerprint, &own.label, change)
            .map(drop)
    })
}

pub(super) fn end(args: &KeyEndArgs, status: Status, context: &Context) -> Result<()> {
    trust::must_be_past(args.since)?;
    let stage = match status {
        Status::Compromised => Stage::Compromised,
        _ => Stage::Revoked,
    };
    Job::new(&args.of, context)?.apply(|store, own, change| {
        let before = store.key_lifecycle(&own.fingerprint).stage;
        before.to(stage).map_err(sealstone::Error::KeyLifecycle)?;
        if let Some(contact) = &own.contact {
            store.introduce(contact, change)?;
        }
        match args.since {
            Some(since) => store.set_status_since(&own.fingerprint, status, since, change),
            None => store.set_status(&own.fingerprint, status, change),
        }
        .map(drop)
    })
}
