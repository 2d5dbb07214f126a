//! `seal`

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sealstone::agent::RemotePassport;
use sealstone::file::{ChunkHashes, Metadata, Receipt, Sealer, Workers};
use sealstone::passport::{Contact, Fingerprint, Passport};
use sealstone_files::with_suffix;
use sealstone_terminal::progress::{Counter, Progress};
use sealstone_terminal::question;
use sealstone_terminal::text::{one_line, quoted, quoted_short};
use serde_json::json;

pub(super) use self::asked::Asked;
use self::recipients::{Recipient, Recipients};
use self::subject::Subject;
use super::batch::{self, Batch};
use crate::agent::{Reached, SenderKey, Socket};
use crate::args::{SealArgs, SealedForm};
use crate::context::{Context, Report};
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::Identity;
use crate::io::STDOUT;
use crate::io::input;
use crate::io::output::{ContentKind, Destination, How, Output};
use crate::passphrase::{self, Chosen, Options, Passphrases, Source};
use crate::paths;
use crate::trust;

mod asked;
mod directory;
pub(super) mod recipients;
mod subject;

/// The signer and the recipients, the same for every file. They are checked before any question.
pub(super) struct Plan<'a> {
    args: &'a SealArgs,
    recipients: Recipients,
    sender: Option<Identity>,
    passphrases: Passphrases,
}

/// The content.
pub(super) struct Content<'h, R> {
    pub(super) input: R,
    /// How many bytes it has, if that is known.
    pub(super) total: Option<u64>,
    pub(super) metadata: Metadata,
    pub(super) form: SealedForm,
    /// The chunk hashes of the file that is made, for an input that ends with them.
    pub(super) hashes: Option<&'h ChunkHashes>,
    pub(super) workers: Workers,
}

/// One file, checked before the first question.
struct Job<'a> {
    plan: &'a Plan<'a>,
    input: Subject,
    output: Output,
    destination: Destination,
}

/// The unlocked sender and the new passphrase.
pub(super) struct Unlocked {
    sender: Option<SenderKey>,
    passphrase: Option<Chosen>,
}

pub(super) fn run(args: &SealArgs, context: &Context) -> Result<()> {
    let plan = Plan::prepare(args, context)?;
    match &args.inputs[..] {
        [] => plan.seal_one(None, context),
        [path] => plan.seal_one(Some(path), context),
        paths => plan.seal_many(paths, context),
    }
}

impl<'a> Plan<'a> {
    fn prepare(args: &'a SealArgs, context: &Context) -> Result<Self> {
        Self::keeping(args, Vec::new(), context)
    }

    /// With these recipients before those that the options name.
    pub(super) fn keeping(
        args: &'a SealArgs,
        kept: Vec<Contact>,
        context: &Context,
    ) -> Result<Self> {
        let sender = sender(args, context)?;
        let recipients = Recipients::gather(args, kept, sender.as_ref(), context)?;
        Ok(Self {
            args,
            recipients,
            sender,
            passphrases: Passphrases::from(&args.unlock),
        })
    }

    /// Seals content into an output that has no name yet. Calls `begin` before it reads the
    /// content: the keys are derived then, and the terminal is free.
    pub(super) fn seal<R: Read + Send>(
        &self,
        content: Content<'_, R>,
        unlocked: &Unlocked,
        output: &Output,
        context: &Context,
        begin: impl FnOnce(),
    ) -> Result<Receipt> {
        let Self {
            args, recipients, ..
        } = self;
        let counter = Counter::default();
        let progress = Progress::bytes(context.progress(), "sealing", content.total, &counter);
        let report = progress.report();
        let mut sealer = Sealer::new();
        sealer
            .on_progress(&report)
            .suite(content.form.suite)
            .metadata(content.metadata);
        for Recipient { contact, .. } in recipients.iter() {
            if args.recipients.anonymous {
                sealer.to_anonymous(contact)
            } else {
                sealer.to_passport(contact)
            };
        }
        if let Some(chosen) = &unlocked.passphrase {
            sealer.to_passphrase(&chosen.passphrase, args.recipients.profile);
        }
        if let Some(sender) = &unlocked.sender {
            if args.sender.no_carry {
                sealer.signed_without_carrying(sender.signer())
            } else {
                sealer.signed_by(sender.signer())
            };
        }
        if content.form.armor {
            sealer.armored();
        }
        if content.form.pad {
            sealer.hide_length();
        }
        if let Some(hashes) = content.hashes {
            sealer.note_chunk_hashes(hashes);
        }
        let prepared = match unlocked.passphrase {
            None => sealer.prepare()?,
            Some(_) => {
                question::resume()?;
                let prepared = sealer.prepare()?;
                question::finish();
                prepared
            }
        };
        begin();
        Ok(prepared.seal(counter.count(content.input), output, content.workers)?)
    }

    fn seal_one(&self, path: Option<&Path>, context: &Context) -> Result<()> {
        let destination = match (self.args.output.as_deref(), input::path_of(path)) {
            (Some(named), _) => Destination::named(named),
            (None, None) => Destination::Stdout { forced: false },
            (None, Some(path)) => Destination::File(beside(path)),
        };
        let job = Job::prepare(self, path, destination)?;
        let context = &context.beside_content(job.to_stdout());
        let metadata = job.input.metadata(self.args, path, context)?;
        let unlocked = self.ask(&[], context)?.unlock(1, &[], context)?;
        let (report, output) = job.run(&unlocked, metadata, Workers::default(), context)?;
        context.save(report, || Ok(output.commit()?))?;
        unlocked.countersign(context);
        Ok(())
    }

    /// Every file beside its input or in the directory of `-o`. Files that cannot be sealed at all
    /// are found before the first question.
    fn seal_many(&self, paths: &[PathBuf], context: &Context) -> Result<()> {
        batch::refuse_dash(paths)?;
        self.check_texts()?;
        let directory = batch::output_directory(self.args.output.as_deref())?;
        let destination =
            |path: &Path| Destination::File(batch::moved(beside(path), directory.as_deref()));
        let mut usable = HashSet::new();
        let mut check = |path: &PathBuf| {
            let checked = Job::check(self, path, &destination(path), &mut usable);
            Mutex::new(checked.err())
        };
        let items: Vec<(&PathBuf, Mutex<Option<Failure>>)> =
            paths.iter().map(|path| (path, check(path))).collect();
        let good = items.iter().filter(|(_, refused)| is_none(refused)).count();
        let unlocked = match good {
            0 => None,
            n => {
                let asked = self.ask(&[], context)?;
                Some(asked.unlock(n as u64, &[], context)?)
            }
        };
        if let Some(unlocked) = &unlocked {
            unlocked.refuse_unseen(context)?;
        }
        let done = self.batch().run(&items, context, |(path, refused)| {
            let refused = refused.lock().ok().and_then(|mut failure| failure.take());
            let unlocked = match (refused, &unlocked) {
                (None, Some(unlocked)) => unlocked,
                (refused, _) => return Err(refused.unwrap_or(Failure::silent(Exit::Internal))),
            };
            let job = Job::prepare(self, Some(path), destination(path))?;
            let context = &context.of_one(&job.input.name());
            let metadata = job.input.metadata(self.args, Some(path), context)?;
            let (report, output) = job.run(unlocked, metadata, Workers::new(1), context)?;
            output.commit()?;
            Ok(report)
        });
        if let Some(unlocked) = &unlocked {
            unlocked.countersign(context);
        }
        done
    }

    /// How many can open the file.
    pub(super) fn count(&self) -> usize {
        self.recipients.iter().count() + usize::from(self.args.recipients.passphrase_recipient)
    }

    fn how(&self) -> How {
        let kind = match self.args.armor {
            true => ContentKind::Text,
            false => ContentKind::Binary,
        };
        self.args.write.how(kind)
    }

    /// Key derivations for a passphrase take much memory: one at a time.
    fn batch(&self) -> Batch {
        let batch = Batch::new(self.args.many.stop);
        match self.args.recipients.passphrase_recipient {
            true => Batch {
                threads: 1,
                ..batch
            },
            false => batch,
        }
    }

    /// Refuses one name for several files, and a note that cannot be sealed.
    fn check_texts(&self) -> Result<()> {
        if self.args.name.is_some() {
            return Err(Failure::usage("--name is for one file")
                .hint("without it each file is sealed with its own name"));
        }
        check(&Metadata {
            note: self.args.note.clone(),
            ..Metadata::default()
        })
    }

    /// The sender, if the agent holds it and may be asked.
    fn held_by_agent(
        &self,
        name: &Fingerprint,
        context: &Context,
    ) -> Result<Option<RemotePassport<Socket>>> {
        if self.args.agent.no_agent || !self.passphrases.asks_somebody() {
            return Ok(None);
        }
        let reached = Reached::for_command(context).filter(|agent| agent.held().contains(name));
        let held = reached.map(|agent| agent.client.passport(name));
        held.transpose().about("the agent")
    }

    fn choose_passphrase(&self, context: &Context) -> Result<Chosen> {
        let (source, options) = match (Source::from(&self.args.recipient_passphrase), &self.sender)
        {
            // No passport is unlocked, so the only passphrase is that of the file.
            (Source::Terminal, None) => (
                Source::from(&self.args.unlock.passphrase),
                Options::Passphrase,
            ),
            (source, _) => (source, Options::Recipient),
        };
        let args = &self.args;
        args.unlock.kdf.must_allow(&[args.recipients.profile])?;
        if args.generate.generate_passphrase
            && matches!(
                source,
                Source::File(_) | Source::Descriptor(_) | Source::Command(_)
            )
        {
            return Err(Failure::usage(
                "a passphrase is given, and --generate-passphrase asks for another one",
            )
            .hint("leave one of them out"));
        }
        passphrase::choose(
            "the file",
            &source,
            options,
            self.args.generate.generate_passphrase,
            context,
        )
    }
}

impl Unlocked {
    /// With `--json` a result shows a generated passphrase, before the file is there. The
    /// results of several files come afterwards.
    fn refuse_unseen(&self, context: &Context) -> Result<()> {
        let generated = self
            .passphrase
            .as_ref()
            .is_some_and(|p| p.generated().is_some());
        match generated && context.json() {
            false => Ok(()),
            true => Err(
                Failure::usage("with --json, a passphrase is generated for one file only").hint(
                    "choose it with --recipient-passphrase-file, or seal the files one by one",
                ),
            ),
        }
    }

    /// A passphrase that was made up.
    pub(super) fn generated(&self) -> Option<&str> {
        let chosen = self.passphrase.as_ref()?;
        chosen.generated()
    }

    /// The signer, in words.
    pub(super) fn signed(&self) -> String {
        let signer = self.sender.as_ref().map(SenderKey::contact);
        signer.map_or("unsigned".to_owned(), |contact| {
            format!("signed by {}", quoted(contact.label()))
        })
    }

    /// The sender's passport, if it is unlocked here.
    pub(super) fn passport(&self) -> Option<&Arc<Passport>> {
        self.sender.as_ref().and_then(SenderKey::passport)
    }

    pub(super) fn countersign(&self, context: &Context) {
        if let Some(passport) = self.passport() {
            trust::countersign(passport, context);
        }
    }
}

impl<'a> Job<'a> {
    /// Fails as [`Job::prepare`] would.
    fn check(
        plan: &Plan<'_>,
        path: &Path,
        destination: &Destination,
        usable: &mut HashSet<PathBuf>,
    ) -> Result<()> {
        let input = Subject::open(Some(path), destination)?;
        Ok(Output::check(
            destination,
            plan.how(),
            input.file(),
            usable,
        )?)
    }

    fn prepare(plan: &'a Plan<'a>, path: Option<&Path>, destination: Destination) -> Result<Self> {
        let input = Subject::open(path, &destination)?;
        let output = Output::create(&destination, plan.how(), input.file())?;
        Ok(Self {
            plan,
            input,
            output,
            destination,
        })
    }

    fn to_stdout(&self) -> bool {
        self.destination.path().is_none()
    }

    /// Seals it. The output has no name yet.
    fn run(
        self,
        unlocked: &Unlocked,
        metadata: Metadata,
        workers: Workers,
        context: &Context,
    ) -> Result<(Report, Output)> {
        let receipt = self.seal(unlocked, metadata, workers, context)?;
        let report = self.report(unlocked, &receipt);
        Ok((report, self.output))
    }

    fn seal(
        &self,
        unlocked: &Unlocked,
        metadata: Metadata,
        workers: Workers,
        context: &Context,
    ) -> Result<Receipt> {
        let (plan, output) = (self.plan, &self.output);
        let hashes = ChunkHashes::default();
        match &self.input {
            Subject::File(input) => {
                let content = Content {
                    input,
                    total: input.remaining(),
                    metadata,
                    form: plan.args.form(),
                    hashes: None,
                    workers,
                };
                plan.seal(content, unlocked, output, context, || ())
            }
            Subject::Directory(directory) => {
                let content = Content {
                    input: directory.archive(&hashes, context)?,
                    total: None,
                    metadata,
                    form: plan.args.form(),
                    hashes: Some(&hashes),
                    workers,
                };
                plan.seal(content, unlocked, output, context, || ())
            }
        }
    }

    fn report(&self, unlocked: &Unlocked, receipt: &Receipt) -> Report {
        let Plan {
            args, recipients, ..
        } = self.plan;
        let target = self.destination.path();
        let target = target.map_or(STDOUT.to_owned(), |path| path.display().to_string());
        let passphrases = usize::from(unlocked.passphrase.is_some());
        let count = recipients.iter().count() + passphrases;
        let signer = unlocked.sender.as_ref().map(SenderKey::contact);
        let signed = unlocked.signed();
        let only = recipients.iter().next().filter(|_| count == 1);
        let people = match only {
            Some(Recipient { contact, label }) => {
                format!(
                    "for {} {}",
                    quoted_short(label),
                    contact.fingerprint().brief()
                )
            }
            None if count == 1 => "for a passphrase".to_owned(),
            None => format!("{count} recipients"),
        };
        let text = format!(
            "sealed {} to {} ({people}, {signed})",
            self.input.name(),
            one_line(&target)
        );
        let generated = unlocked
            .passphrase
            .as_ref()
            .and_then(|chosen| chosen.generated());
        let value = json!({
            "output": (!self.to_stdout()).then_some(&target),
            "content_bytes": receipt.content_len,
            "sealed_bytes": receipt.sealed_len,
            "directory": matches!(self.input, Subject::Directory(_)),
            "suite": sealstone::file::Suite::from(args.suite).to_string(),
            "recipients": recipients.iter().map(recipient_json).collect::<Vec<_>>(),
            "passphrases": passphrases,
            "sender": signer.map(sender_json),
            "generated_passphrase": generated,
        });
        Report {
            text,
            value,
            secret: generated.is_some(),
        }
    }
}

/// The default output of a file or a directory.
fn beside(path: &Path) -> PathBuf {
    // Without a slash at the end.
    let path: PathBuf = path.components().collect();
    with_suffix(&path, ".sealed")
}

fn is_none(refused: &Mutex<Option<Failure>>) -> bool {
    refused.lock().is_ok_and(|failure| failure.is_none())
}

/// The passport that signs: the one that is named, else the default one. With `-p` there need not
/// be one.
fn sender(args: &SealArgs, context: &Context) -> Result<Option<Identity>> {
    if args.sender.unsigned {
        return Ok(None);
    }
    let named = args.sender.from.clone();
    if let Some(path) = named.or_else(paths::existing_default_passport) {
        return Identity::load(&path).map(Some);
    }
    if args.recipients.passphrase_recipient && !args.sender.no_carry {
        context.say("you have no passport, so the file is not signed: see sealstone passport new");
        return Ok(None);
    }
    let failure = Failure::usage("there is no passport to sign the file with");
    Err(failure.hint(
        "make a passport of your own: sealstone passport new\nor choose --from PASSPORT or --unsigned",
    ))
}

fn check(metadata: &Metadata) -> Result<()> {
    let rules = |_| {
        Failure::usage("this --name or --note cannot be sealed").hint(
            "a name is 1 to 255 bytes without `/`, a note at most 4096; neither has control characters",
        )
    };
    metadata.check().map_err(rules)
}

fn recipient_json(recipient: &Recipient) -> serde_json::Value {
    let Recipient { contact, label } = recipient;
    json!({"fingerprint": contact.fingerprint().to_string(), "label": label, "calls_itself": contact.label()})
}

fn sender_json(contact: &Contact) -> serde_json::Value {
    json!({"fingerprint": contact.fingerprint().to_string(), "label": contact.label()})
}
