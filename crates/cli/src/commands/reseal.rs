//! `reseal`: the same content for other recipients, in another form, with another signature.

use std::io::{BufReader, Read, pipe};
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use sealstone::archive::Again;
use sealstone::file::{ChunkHashes, Opening, Receipt, RecipientInfo, Sealed, Workers};
use sealstone::passport::{Contact, Fingerprint};
use sealstone_files::keep;
use sealstone_terminal::text::shown;
use serde_json::json;

use super::open::{Job, KeyRing, Payload, hold};
use super::seal::{Asked, Content, Plan, Unlocked, recipients};
use crate::args::{ResealArgs, SealArgs, SealedForm};
use crate::context::{Context, Report};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::identity::load_public;
use crate::io::output::{ContentKind, Destination, Output};
use crate::io::{DASH, input};
use crate::named::Named;
use crate::trust::{self, Store};

pub(super) fn run(args: &ResealArgs, context: &Context) -> Result<()> {
    let (open, seal) = (args.to_open(), args.to_seal());
    if input::path_of(Some(&args.input)).is_none() && args.output.is_none() {
        return Err(Failure::usage("standard input cannot be replaced").hint("choose -o OUT"));
    }
    let (reader, writer) = pipe()?;
    let job = Job::into_pipe(&open, Some(&args.input), writer, context)?;
    let keys = Mutex::new(KeyRing::new(&open.access, context)?);
    let (old, plan) = Old::read(&job, args, &seal, &keys, context)?;
    let output = output(args, &job, args.form.armor(old.is_armored))?;
    let context = &context.beside_content(target(args).is_none());

    let (opening, form, asked) = old.unlock(args, &plan, &keys, context)?;
    let metadata = opening.metadata().clone();
    let unlocked = unlock(asked, &keys, context)?;
    let hashes = ChunkHashes::default();
    // The hashes at the end of a sealed directory are those of one file.
    let input: Box<dyn Read + Send> = match metadata.directory {
        true => Box::new(Again::new(BufReader::new(reader), Some(&hashes))),
        false => Box::new(reader),
    };
    let content = Content {
        input,
        total: None,
        metadata,
        form,
        hashes: Some(&hashes),
        workers: Workers::default(),
    };
    let seal = |begin: Begin<'_>| plan.seal(content, &unlocked, &output, context, begin);
    let receipt = release(&job, opening, &keys, seal)?;
    context.save(report(args, &plan, &unlocked, &receipt), || {
        if args.output.is_none() {
            keep::must_be_unchanged(&args.input, job.input().metadata())?;
        }
        Ok(output.commit()?)
    })?;
    unlocked.countersign(context);
    Ok(())
}

/// The old file, whose content goes into the new one.
pub(super) struct Old<'o> {
    sealed: Named<Sealed<Payload<'o>>>,
    is_armored: bool,
}

impl<'o> Old<'o> {
    /// Reads the header, and chooses the recipients of the new file.
    pub(super) fn read<'s>(
        job: &'o Job<'_>,
        args: &ResealArgs,
        seal: &'s SealArgs,
        keys: &Mutex<KeyRing<'_>>,
        context: &Context,
    ) -> Result<(Self, Plan<'s>)> {
        let (sealed, is_armored) = job.sealed()?;
        let recipients: Vec<_> = sealed.recipients().collect();
        let kept = sealed.look(|_| kept(&recipients, args, &hold(keys), context))?;
        let old = Self { sealed, is_armored };
        Ok((old, Plan::keeping(seal, kept, context)?))
    }

    /// Asks for everything, and unlocks the old file. Returns it, the form of the new file, and the
    /// answers for the new file.
    pub(super) fn unlock<'p>(
        self,
        args: &ResealArgs,
        plan: &'p Plan<'p>,
        keys: &Mutex<KeyRing<'_>>,
        context: &Context,
    ) -> Result<(Named<Opening<Payload<'o>>>, SealedForm, Asked<'p>)> {
        let suite = self.sealed.suite();
        let ask = |open: &[Fingerprint]| plan.ask(open, context);
        let (opening, asked) = hold(keys).unlock_after(self.sealed, ask)?;
        let form = args.form.of(SealedForm {
            suite,
            armor: self.is_armored,
            pad: opening.hides_length(),
        });
        Ok((opening, form, asked))
    }
}

/// Unlocks the passports for the new file. The passport that signs it may also have signed the old
/// file.
pub(super) fn unlock(
    asked: Asked<'_>,
    keys: &Mutex<KeyRing<'_>>,
    context: &Context,
) -> Result<Unlocked> {
    let mut keys = hold(keys);
    let unlocked = asked.unlock(1, keys.all_unlocked(), context)?;
    if let Some(passport) = unlocked.passport() {
        keys.lend(passport);
    }
    Ok(unlocked)
}

/// Starts what gives the content.
type Begin<'b> = Box<dyn FnOnce() + 'b>;

/// Releases the old content into the pipe, while `seal` seals it. The release may ask for the
/// passphrase of the sender, and begins after the last derivation for the new file.
fn release<'o>(
    job: &'o Job<'_>,
    opening: Named<Opening<Payload<'o>>>,
    keys: &Mutex<KeyRing<'_>>,
    seal: impl FnOnce(Begin<'_>) -> Result<Receipt>,
) -> Result<Receipt> {
    thread::scope(|scope| {
        let mut thread = None;
        let release = || job.release_into_pipe(opening, keys);
        let receipt = seal(Box::new(|| thread = Some(scope.spawn(release))));
        let Some(thread) = thread else {
            return receipt;
        };
        let released = thread.join();
        let released = released.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (released, receipt) {
            // The sealing failed, so that nobody read the content.
            (Err(failure), Err(reason)) if failure.is_silent() => Err(reason),
            // The error of the content is the cause. The other error follows from it.
            (Err(reason), _) => Err(reason),
            (Ok(()), receipt) => receipt,
        }
    })
}

/// The place of the new file: OUT, or the old one's.
fn output(args: &ResealArgs, job: &Job<'_>, armor: bool) -> Result<Output> {
    let kind = match armor {
        true => ContentKind::Text,
        false => ContentKind::Binary,
    };
    let how = args.write.how(kind);
    match &args.output {
        None => {
            if job.input().regular().is_none() {
                let what = format!(
                    "{} is not a regular file, and cannot be replaced",
                    job.input().name()
                );
                return Err(Failure::usage(what).hint("choose -o OUT"));
            }
            Ok(Output::in_place(&args.input, how.sync)?)
        }
        Some(path) => {
            let destination = Destination::named(path);
            Ok(Output::create(&destination, how, Some(job.input()))?)
        }
    }
}

/// The name of the new file; `None` for standard output.
fn target(args: &ResealArgs) -> Option<String> {
    let path = args.output.as_deref().unwrap_or(&args.input);
    (path != Path::new(DASH)).then(|| shown(path))
}

fn report(args: &ResealArgs, plan: &Plan<'_>, unlocked: &Unlocked, receipt: &Receipt) -> Report {
    let target = target(args);
    let count = plan.count();
    let plural = if count == 1 { "" } else { "s" };
    let text = format!(
        "resealed {} to {} ({count} recipient{plural}, {})",
        shown(&args.input),
        target.as_deref().unwrap_or("standard output"),
        unlocked.signed()
    );
    let generated = unlocked.generated();
    Report {
        text,
        value: json!({
            "output": target,
            "content_bytes": receipt.content_len,
            "sealed_bytes": receipt.sealed_len,
            "recipients": count,
            "generated_passphrase": generated,
        }),
        secret: generated.is_some(),
    }
}

/// The recipients of the old file that are not removed, with their public keys.
fn kept(
    recipients: &[RecipientInfo],
    args: &ResealArgs,
    keys: &KeyRing<'_>,
    context: &Context,
) -> Result<Vec<Contact>> {
    let store = trust::open(context)?;
    let removed = removed(recipients, args, &store)?;
    let mut kept = Vec::new();
    for recipient in recipients {
        match recipient.passport() {
            Some(name) if removed.contains(&name) => {}
            Some(name) => kept.push(known(&name, args, keys, &store)?),
            None if args.remove_unnamed => {}
            None => return Err(unnamed()),
        }
    }
    Ok(kept)
}

/// The fingerprints that `--remove` names; each is a recipient.
fn removed(
    recipients: &[RecipientInfo],
    args: &ResealArgs,
    store: &Store,
) -> Result<Vec<Fingerprint>> {
    let find = |name: &String| {
        let found = match (name.parse::<Fingerprint>(), Path::new(name).is_file()) {
            (Ok(fingerprint), _) => fingerprint,
            (_, true) => load_public(Path::new(name))?.contact().fingerprint(),
            _ => trust::find(store, name)?.fingerprint(),
        };
        match recipients.iter().any(|it| it.passport() == Some(found)) {
            true => Ok(found),
            false => Err(
                Failure::usage(format!("{name} is not a recipient that the file names"))
                    .hint("see: sealstone inspect FILE"),
            ),
        }
    };
    args.remove.iter().map(find).collect()
}

/// The public keys of a recipient: the user's own, those of the trust store, or given with `-r`.
fn known(
    name: &Fingerprint,
    args: &ResealArgs,
    keys: &KeyRing<'_>,
    store: &Store,
) -> Result<Contact> {
    if let Some(contact) = keys.public_half(name) {
        return Ok(contact);
    }
    let record = store.get(name);
    if let Some(contact) = record.map(|record| record.contact()).transpose()?.flatten() {
        return Ok(contact);
    }
    for path in &args.recipients.recipient {
        let contact = recipients::public(path)?.contact().clone();
        if contact.fingerprint() == *name {
            return Ok(contact);
        }
    }
    let what = format!("the public keys of a recipient are not known: {name}");
    Err(Failure::new(Exit::Usage, what).hint(format!(
        "give its public passport with -r FILE.pub, or remove it:\n  --remove {}",
        name.to_string().replace('-', "")
    )))
}

fn unnamed() -> Failure {
    Failure::usage("it has anonymous recipients or passphrases, which cannot be kept")
        .hint("name the people with -r, --to or -p, and remove the others with --remove-unnamed")
}
