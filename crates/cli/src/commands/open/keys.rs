//! The user's keys for opening a file. The header decides which are needed.

use std::cell::OnceCell;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use sealstone::file::{FileKey, Fitting, Keys, Opening, RecipientInfo, Sealed};
use sealstone::passport::{Contact, Fingerprint, Passport};
use sealstone::trust::Own;
use sealstone::{Error, Passphrase};
use sealstone_terminal::progress::Progress;
use sealstone_terminal::question;

use crate::agent::Reached;
use crate::args::AccessArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{Identity, load_public};
use crate::named::Named;
use crate::passphrase::{Answer, Passphrases};
use crate::paths;
use crate::trust::{self, Store};

/// Passports, locked and unlocked, and a passphrase.
pub(in crate::commands) struct KeyRing<'a> {
    identities: Vec<Identity>,
    /// How many of them are tried on files with anonymous recipients. The others were replaced;
    /// each would cost a passphrase and a key derivation.
    current: usize,
    unlocked: Vec<Arc<Passport>>,
    passphrases: Passphrases,
    prefer_passphrase: bool,
    /// Whether the agent is asked, and whether for more passports than those that are named.
    agent: Asking,
    /// The agent, once it was looked for.
    reached: Option<Option<Reached>>,
    from: Option<PathBuf>,
    expected: Option<Contact>,
    store: Option<Arc<Store>>,
    replaced: OnceCell<Vec<Fingerprint>>,
    /// Passports whose passphrase was not given, by position: it is asked for once.
    refused: Vec<usize>,
    context: &'a Context,
}

/// The request to the agent.
#[derive(Clone, Copy, PartialEq)]
enum Asking {
    Nothing,
    /// The passports of `-i`.
    Named,
    /// Any passport that it holds.
    All,
}

impl<'a> KeyRing<'a> {
    /// The passports that the options name, or the default one.
    pub(in crate::commands) fn new(args: &AccessArgs, context: &'a Context) -> Result<Self> {
        let usual = args.identity.is_empty();
        let paths = match usual {
            true => paths::existing_default_passport().into_iter().collect(),
            false => args.identity.clone(),
        };
        let load = |path: &PathBuf| Identity::load(path);
        let mut identities: Vec<Identity> = paths.iter().map(load).collect::<Result<_>>()?;
        let current = identities.len();
        if usual {
            // A damaged one must not keep the others from opening.
            let former = paths::former_default_passports();
            identities.extend(former.iter().filter_map(|path| load(path).ok()));
        }
        let passphrases = Passphrases::from(&args.unlock);
        let agent = match (args.agent.no_agent || !passphrases.asks_somebody(), usual) {
            (true, _) => Asking::Nothing,
            (false, true) => Asking::All,
            (false, false) => Asking::Named,
        };
        Ok(Self {
            agent,
            reached: None,
            identities,
            current,
            unlocked: Vec::new(),
            passphrases,
            prefer_passphrase: args.passphrase,
            from: args.from.clone(),
            expected: None,
            store: None,
            replaced: OnceCell::new(),
            refused: Vec::new(),
            context,
        })
    }

    /// Unlocks the file with the passport that it names, or with every key that may fit.
    pub(in crate::commands) fn unlock<R: Read>(
        &mut self,
        sealed: Named<Sealed<R>>,
    ) -> Result<Named<Opening<R>>> {
        let opened = self.unlock_after(sealed, |_| Ok(()));
        question::finish();
        opened.map(|(opening, ())| opening)
    }

    /// As [`KeyRing::unlock`]. `ask` asks further questions, after those for the file and before
    /// the first key is derived. Its argument names the passports that will be unlocked then. The
    /// caller ends the questions with `question::finish`.
    pub(in crate::commands) fn unlock_after<R: Read, T>(
        &mut self,
        sealed: Named<Sealed<R>>,
        ask: impl FnOnce(&[Fingerprint]) -> Result<T>,
    ) -> Result<(Named<Opening<R>>, T)> {
        if let Some(key) = sealed.look(|sealed| self.ask_agent(sealed))? {
            let asked = ask(&self.names(&[]))?;
            return Ok((sealed.then(|sealed| sealed.unlock_with(&key))?, asked));
        }
        match sealed.look(|sealed| self.wanted(sealed))? {
            Fitting::Passports(positions) => {
                let asked = self.unlock_passports(&positions, ask)?;
                let opening = sealed.then(|sealed| self.unlock_with_passports(sealed))?;
                Ok((opening, asked))
            }
            Fitting::Passphrase => {
                let answer = self.passphrases.ask(sealed.name(), self.context)?;
                let asked = ask(&self.names(&[]))?;
                let key = answer.with(self.context, |passphrase| {
                    sealed.look(|sealed| self.file_key(sealed, passphrase))
                })?;
                Ok((sealed.then(|sealed| sealed.unlock_with(&key))?, asked))
            }
        }
    }

    fn unlock_with_passports<R: Read>(&self, sealed: Sealed<R>) -> Result<Opening<R>> {
        let has_passphrase = sealed.recipients().any(|it| it.is_passphrase());
        let passports: Vec<&Passport> = self.unlocked.iter().map(|p| &**p).collect();
        let opening = sealed.unlock(&Keys::new(&passports, &[]));
        opening.map_err(|e| self.explain(e, has_passphrase))
    }

    fn file_key<R: Read>(&self, sealed: &Sealed<R>, passphrase: &Passphrase) -> Result<FileKey> {
        let progress = Progress::derivation(self.context.progress());
        let report = progress.report();
        let passphrases = [passphrase];
        let keys = Keys {
            limits: self.passphrases.limits,
            on_progress: &report,
            ..Keys::new(&[], &passphrases)
        };
        Ok(sealed.file_key(&keys)?)
    }

    /// The passports that have been unlocked, and those at these positions.
    fn names(&self, positions: &[usize]) -> Vec<Fingerprint> {
        let at = |position: &usize| self.identities[*position].locked.fingerprint();
        let unlocked = self.unlocked.iter().map(|passport| passport.fingerprint());
        unlocked.chain(positions.iter().map(at)).collect()
    }

    /// The file key, if the agent holds a passport that the file is for.
    fn ask_agent<R: Read>(&mut self, sealed: &Sealed<R>) -> Result<Option<FileKey>> {
        if self.prefer_passphrase {
            return Ok(None);
        }
        let held = self.held();
        let Some(reached) = self.reached.iter().flatten().next() else {
            return Ok(None);
        };
        match reached.client.file_key(sealed, &held) {
            Ok(key) => Ok(Some(key)),
            Err(Error::NotRecipient) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// The passports that the agent holds and that it may be asked for.
    fn held(&mut self) -> Vec<Fingerprint> {
        if self.agent == Asking::Nothing {
            return Vec::new();
        }
        let context = self.context;
        let reached = self
            .reached
            .get_or_insert_with(|| Reached::for_command(context));
        let mut held = reached.as_ref().map_or(Vec::new(), Reached::held);
        if self.agent == Asking::Named {
            held.retain(|name| self.position(name).is_some());
        }
        held
    }

    /// The public keys of a passport of the user that the agent holds.
    fn held_contact(&mut self, name: &Fingerprint) -> Result<Option<Contact>> {
        if !self.held().contains(name) {
            return Ok(None);
        }
        let reached = self.reached.iter().flatten().next();
        let held = reached.map(|reached| reached.client.passport(name));
        let held = held.transpose().about("the agent")?;
        Ok(held.map(|passport| passport.contact().clone()))
    }

    /// Whether the passport of this fingerprint was the default one and was replaced by another
    /// one.
    pub(super) fn is_replaced(&self, fingerprint: &Fingerprint) -> bool {
        let replaced = self.replaced.get_or_init(paths::replaced_passports);
        replaced.contains(fingerprint)
    }

    /// The sender that `--from` names.
    pub(super) fn expected(&mut self) -> Result<Option<Contact>> {
        if let (None, Some(path)) = (&self.expected, &self.from) {
            self.expected = Some(load_public(path)?.contact().clone());
        }
        Ok(self.expected.clone())
    }

    /// The trust store as it was when the first file was decided about: all files of one command
    /// are decided about alike.
    pub(super) fn store(&mut self) -> Result<Arc<Store>> {
        match &self.store {
            Some(store) => Ok(Arc::clone(store)),
            None => {
                let store = Arc::new(trust::open(self.context)?);
                Ok(Arc::clone(self.store.insert(store)))
            }
        }
    }

    /// Whether a passport is one of the user's.
    pub(super) fn own(&mut self, fingerprint: &Fingerprint) -> Result<Own> {
        if let Some(contact) = self.held_contact(fingerprint)? {
            return Ok(Own::Held(Box::new(contact)));
        }
        let unlocked = self.unlocked(fingerprint);
        Ok(match (unlocked, self.position(fingerprint)) {
            (Some(passport), _) => Own::Held(Box::new(passport.contact().clone())),
            (None, Some(_)) => Own::Claimed,
            (None, None) => Own::No,
        })
    }

    /// The keys of a passport that claims this fingerprint, from its public half.
    pub(in crate::commands) fn public_half(&self, fingerprint: &Fingerprint) -> Option<Contact> {
        let identity = &self.identities[self.position(fingerprint)?];
        Some(identity.public().ok()?.contact().clone())
    }

    /// One of the user's own passports, if it has been unlocked.
    fn unlocked(&self, fingerprint: &Fingerprint) -> Option<&Arc<Passport>> {
        let same = |passport: &&Arc<Passport>| passport.fingerprint() == *fingerprint;
        self.unlocked.iter().find(same)
    }

    /// The passports that have been unlocked.
    pub(in crate::commands) fn all_unlocked(&self) -> &[Arc<Passport>] {
        &self.unlocked
    }

    /// Adds a passport that has been unlocked for something else.
    pub(in crate::commands) fn lend(&mut self, passport: &Arc<Passport>) {
        if self.unlocked(&passport.fingerprint()).is_none() {
            self.unlocked.push(Arc::clone(passport));
        }
    }

    /// Unlocks the passport that claims this fingerprint, which shows that it is the user's.
    pub(super) fn confirm(&mut self, fingerprint: &Fingerprint) -> Result<()> {
        let unlocked = match self.position(fingerprint) {
            Some(position) => self.unlock_passports(&[position], |_| Ok(())),
            None => Ok(()),
        };
        // Another command of the pipe may wait with its questions for the content.
        question::finish();
        unlocked
    }

    /// Countersigns the trust store with the passports that have been unlocked.
    pub(in crate::commands) fn countersign(&self) {
        let countersign = |passport: &Arc<Passport>| trust::countersign(passport, self.context);
        self.unlocked.iter().for_each(countersign);
    }

    fn position(&self, fingerprint: &Fingerprint) -> Option<usize> {
        let same = |identity: &Identity| identity.locked.fingerprint() == *fingerprint;
        self.identities.iter().position(same)
    }

    /// Unlocks those of these passports that are still locked. If one passphrase is tried on
    /// several, it need not be that of each.
    fn unlock_passports<T>(
        &mut self,
        positions: &[usize],
        ask: impl FnOnce(&[Fingerprint]) -> Result<T>,
    ) -> Result<T> {
        let locked = |position: &&usize| {
            let fingerprint = self.identities[**position].locked.fingerprint();
            self.unlocked(&fingerprint).is_none()
        };
        let positions: Vec<usize> = positions.iter().filter(locked).copied().collect();
        self.refuse_again(&positions)?;
        let unlocked = self.ask_and_unlock(&positions, ask);
        if unlocked.is_err() {
            self.refused.extend(positions);
        }
        unlocked
    }

    /// One of several files asked and got no answer, so the others do not ask again.
    fn refuse_again(&self, positions: &[usize]) -> Result<()> {
        let Some(position) = positions.iter().find(|p| self.refused.contains(p)) else {
            return Ok(());
        };
        let what = format!("{} was not unlocked", self.identities[*position].name());
        Err(Failure::new(Exit::Authentication, what))
    }

    fn ask_and_unlock<T>(
        &mut self,
        positions: &[usize],
        ask_more: impl FnOnce(&[Fingerprint]) -> Result<T>,
    ) -> Result<T> {
        let ask = |&position: &usize| {
            let identity = &self.identities[position];
            Ok((identity, identity.ask(&self.passphrases, self.context)?))
        };
        let asked: Vec<(&Identity, Answer<'_>)> =
            positions.iter().map(ask).collect::<Result<_>>()?;
        let more = ask_more(&self.names(positions))?;
        let before = self.unlocked.len();
        let mut failed = None;
        for (identity, answer) in asked {
            match identity.unlock_with(&answer, self.context) {
                Err(failure) if !failure.is_wrong_passphrase() || self.passphrases.is_typed() => {
                    return Err(failure);
                }
                Err(failure) => failed = Some(failure),
                Ok(unlocked) => self.unlocked.push(Arc::new(unlocked.into_passport())),
            }
        }
        failed
            .filter(|_| self.unlocked.len() == before)
            .map_or(Ok(more), Err)
    }

    fn wanted<R: Read>(&self, sealed: &Sealed<R>) -> Result<Fitting> {
        let recipients: Vec<RecipientInfo> = sealed.recipients().collect();
        if self.prefer_passphrase {
            let none = || {
                Failure::new(Exit::Authentication, "it is not sealed with a passphrase")
                    .hint("leave out -p")
            };
            let has_one = recipients.iter().any(RecipientInfo::is_passphrase);
            return has_one.then_some(Fitting::Passphrase).ok_or_else(none);
        }
        let own = self.identities.iter().map(|it| it.locked.fingerprint());
        let fitting = sealed.fitting(&own.collect::<Vec<_>>(), self.current);
        fitting.ok_or_else(|| self.nothing_fits(&recipients))
    }

    /// A file with anonymous recipients may be for a passport that was replaced, and a passphrase
    /// may open it as well.
    fn explain(&self, error: Error, has_passphrase: bool) -> Failure {
        if !matches!(error, Error::NotRecipient) {
            return error.into();
        }
        let former = self.identities.get(self.current).map(|former| {
            format!(
                "it may be for one that you have replaced: choose -i {}",
                former.name()
            )
        });
        let passphrase =
            has_passphrase.then(|| "it can also be opened with a passphrase: choose -p".to_owned());
        let hints: Vec<String> = former.into_iter().chain(passphrase).collect();
        match hints.is_empty() {
            true => error.into(),
            false => Failure::from(error).hint(hints.join("\n")),
        }
    }

    fn nothing_fits(&self, recipients: &[RecipientInfo]) -> Failure {
        let named = recipients.iter().filter_map(RecipientInfo::passport);
        let named = named.map(|fingerprint| format!("\n{fingerprint}"));
        let named: String = named.take(8).collect();
        let hint = if named.is_empty() {
            "its recipients are anonymous".to_owned()
        } else {
            format!("it is sealed for{named}")
        };
        if self.identities.is_empty() {
            return Failure::usage("a passport is needed to open it")
                .hint(format!("choose -i FILE.passport; {hint}"));
        }
        Failure::new(
            Exit::Authentication,
            "sealed for somebody else: none of your passports is a recipient",
        )
        .hint(hint)
    }
}
