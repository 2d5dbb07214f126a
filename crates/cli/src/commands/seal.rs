//! `seal`

use std::path::{Path, PathBuf};

use sealstone::file::{Metadata, Receipt, Sealer, Workers};
use sealstone::passport::{Contact, Passport};
use sealstone_files::Input;
use sealstone_terminal::clock;
use sealstone_terminal::progress::{Counter, Progress};
use sealstone_terminal::question;
use sealstone_terminal::text::{one_line, quoted};
use serde_json::json;

use self::recipients::{Recipient, Recipients};
use crate::args::SealArgs;
use crate::context::{Context, Report};
use crate::failure::{Failure, Result};
use crate::identity::Identity;
use crate::io::input::{self, DASH};
use crate::io::output::{Destination, Nature, Output};
use crate::key_life;
use crate::passphrase::{self, Answer, Chosen, Options, Passphrases, Source};
use crate::paths::{self, with_suffix};
use crate::trust;

mod recipients;

/// Everything that sealing needs, checked before the first question.
struct Job<'a> {
    args: &'a SealArgs,
    recipients: Recipients,
    sender: Option<Identity>,
    input: Input,
    output: Output,
    to_stdout: bool,
    metadata: Metadata,
}

/// The unlocked sender and the new passphrase.
struct Unlocked {
    sender: Option<Passport>,
    passphrase: Option<Chosen>,
}

pub(super) fn run(args: &SealArgs, context: &Context) -> Result<()> {
    let job = Job::prepare(args, context)?;
    let context = &context.beside_content(job.to_stdout);
    job.recipients.warn(context);
    if let Some(identity) = &job.sender {
        key_life::check(&identity.locked.fingerprint(), context)?;
    }
    let unlocked = job.unlock(context)?;
    if let Some(passport) = &unlocked.sender {
        key_life::reserve(&passport.fingerprint(), 1, context)?;
    }
    let receipt = job.seal(&unlocked, context)?;
    job.finish(&unlocked, &receipt, context)?;
    if let Some(passport) = &unlocked.sender {
        trust::countersign(passport, context);
    }
    Ok(())
}

impl<'a> Job<'a> {
    fn prepare(args: &'a SealArgs, context: &Context) -> Result<Self> {
        let sender = sender(args, context)?;
        let recipients = Recipients::gather(args, sender.as_ref(), context)?;
        let input = input::content(args.input.as_deref()).map_err(|failure| {
            match args.input.as_deref().is_some_and(Path::is_dir) {
                true => failure
                    .hint("pack it first, as in: tar c DIR | sealstone seal … > DIR.tar.sealed"),
                false => failure,
            }
        })?;
        let destination = Destination::new(args.output.as_deref(), || {
            Ok(input::path_of(args.input.as_deref())
                .map_or(Destination::Stdout { forced: false }, |path| {
                    Destination::File(with_suffix(path, ".sealed"))
                }))
        })?;
        let metadata = metadata(args, &input, context)?;
        let nature = if args.armor {
            Nature::Text
        } else {
            Nature::Binary
        };
        let output = Output::create(&destination, args.write.how(nature), &input)?;
        let to_stdout = matches!(destination, Destination::Stdout { .. });
        Ok(Self {
            args,
            recipients,
            sender,
            input,
            output,
            to_stdout,
            metadata,
        })
    }

    fn unlock(&self, context: &Context) -> Result<Unlocked> {
        let passphrases = Passphrases::new(&self.args.unlock);
        let ask = |identity: &Identity| identity.ask(&passphrases, context);
        let answer = self.sender.as_ref().map(ask).transpose()?;
        let passphrase = self
            .args
            .passphrase_recipient
            .then(|| self.choose_passphrase(context))
            .transpose()?;
        // Everything has been asked: now the slow part.
        let unlock =
            |(identity, answer): (&Identity, &Answer<'_>)| identity.unlock_with(answer, context);
        let sender = self
            .sender
            .iter()
            .zip(&answer)
            .next()
            .map(unlock)
            .transpose()?;
        question::finish();
        if let Some(chosen) = &passphrase {
            chosen.show("the file", context)?;
        }
        Ok(Unlocked {
            sender: sender.map(|unlocked| unlocked.into_passport()),
            passphrase,
        })
    }

    fn choose_passphrase(&self, context: &Context) -> Result<Chosen> {
        let (source, options) = match (
            Source::of_recipient(&self.args.recipient_passphrase),
            &self.sender,
        ) {
            // No passport is unlocked, so the only passphrase is that of the file.
            (Source::Terminal, None) => (
                Source::of(&self.args.unlock.passphrase),
                Options::Passphrase,
            ),
            (source, _) => (source, Options::Recipient),
        };
        let args = &self.args;
        args.unlock.kdf.must_allow(&[args.profile.0])?;
        if args.generate.generate_passphrase
            && matches!(source, Source::File(_) | Source::Descriptor(_))
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

    fn seal(&self, unlocked: &Unlocked, context: &Context) -> Result<Receipt> {
        let counter = Counter::default();
        let progress = Progress::bytes(
            context.progress,
            "sealing",
            self.input.remaining(),
            &counter,
        );
        let report = progress.report();
        let mut sealer = Sealer::new();
        sealer
            .on_progress(&report)
            .suite(self.args.suite.into())
            .metadata(self.metadata.clone());
        for Recipient { contact, .. } in self.recipients.iter() {
            if self.args.anonymous {
                sealer.to_anonymous(contact)
            } else {
                sealer.to_passport(contact)
            };
        }
        if let Some(chosen) = &unlocked.passphrase {
            sealer.to_passphrase(&chosen.passphrase, self.args.profile.0);
        }
        if let Some(passport) = &unlocked.sender {
            if self.args.sender.no_carry {
                sealer.signed_without_carrying(passport)
            } else {
                sealer.signed_by(passport)
            };
        }
        if self.args.armor {
            sealer.armored();
        }
        if self.args.pad {
            sealer.hide_length();
        }
        Ok(sealer.seal(counter.count(&self.input), &self.output, Workers::default())?)
    }

    fn finish(self, unlocked: &Unlocked, receipt: &Receipt, context: &Context) -> Result<()> {
        let Self {
            args,
            recipients,
            input,
            output,
            to_stdout,
            ..
        } = self;
        let target = target(args);
        let passphrases = usize::from(unlocked.passphrase.is_some());
        let count = recipients.iter().count() + passphrases;
        let signer = unlocked.sender.as_ref().map(Passport::contact);
        let signed = signer.map_or("unsigned".to_owned(), |contact| {
            format!("signed by {}", quoted(contact.label()))
        });
        let only = recipients.iter().next().filter(|_| count == 1);
        let people = match only {
            Some(Recipient { contact, label }) => {
                format!("for {} {}", quoted(label), contact.fingerprint().brief())
            }
            None if count == 1 => "for a passphrase".to_owned(),
            None => format!("{count} recipients"),
        };
        let text = format!(
            "sealed {} to {} ({people}, {signed})",
            input.name(),
            one_line(&target)
        );
        let generated = unlocked
            .passphrase
            .as_ref()
            .and_then(|chosen| chosen.generated.as_deref());
        let value = json!({
            "output": (!to_stdout).then_some(&target),
            "content_bytes": receipt.content_len,
            "sealed_bytes": receipt.sealed_len,
            "suite": sealstone::file::Suite::from(args.suite).to_string(),
            "recipients": recipients.iter().map(recipient_json).collect::<Vec<_>>(),
            "passphrases": passphrases,
            "sender": signer.map(sender_json),
            "generated_passphrase": generated,
        });
        let report = Report {
            text,
            value,
            secret: generated.is_some(),
        };
        context.save(report, || output.commit())
    }
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
    if args.passphrase_recipient && !args.sender.no_carry {
        context.say("you have no passport, so the file is not signed: see sealstone passport new");
        return Ok(None);
    }
    let failure = Failure::usage("there is no passport to sign the file with");
    Err(failure.hint(
        "make a passport of your own: sealstone passport new\nor choose --from PASSPORT or --unsigned",
    ))
}

/// Name and time of a regular file, unless the user says otherwise.
fn metadata(args: &SealArgs, input: &Input, context: &Context) -> Result<Metadata> {
    let regular = input.regular().filter(|_| !args.no_name);
    let own_name = || {
        let path = regular.and(input::path_of(args.input.as_deref()))?;
        let name = tellable_name(path);
        if name.is_none() {
            context.warn(&format!(
                "{} is sealed without its name, which is not plain text; --name gives it one",
                input.name()
            ));
        }
        name
    };
    let modified = regular
        .and_then(|metadata| metadata.modified().ok())
        .and_then(clock::since_1970);
    let metadata = Metadata {
        name: args.name.clone().or_else(own_name),
        modified,
        note: args.note.clone(),
    };
    let rules = |_| {
        Failure::usage("this --name or --note cannot be sealed").hint(
            "a name is 1 to 255 bytes without `/`, a note at most 4096; neither has control characters",
        )
    };
    metadata.check().map_err(rules)?;
    Ok(metadata)
}

/// The name of a file, if the format allows it.
fn tellable_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_owned();
    let metadata = Metadata {
        name: Some(name),
        ..Metadata::default()
    };
    metadata.check().ok().and(metadata.name)
}

fn target(args: &SealArgs) -> String {
    let path: Option<PathBuf> = args
        .output
        .clone()
        .or_else(|| input::path_of(args.input.as_deref()).map(|path| with_suffix(path, ".sealed")));
    match path {
        Some(path) if path != Path::new(DASH) => path.display().to_string(),
        _ => "standard output".to_owned(),
    }
}

fn recipient_json(recipient: &Recipient) -> serde_json::Value {
    let Recipient { contact, label } = recipient;
    json!({"fingerprint": contact.fingerprint().to_string(), "label": label, "calls_itself": contact.label()})
}

fn sender_json(contact: &Contact) -> serde_json::Value {
    json!({"fingerprint": contact.fingerprint().to_string(), "label": contact.label()})
}
