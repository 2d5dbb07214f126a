//! `edit`: a sealed text in an editor, with its content in memory only.

use std::fs::File;
use std::io::{Read, Write, pipe};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use sealstone::KdfParams;
use sealstone::file::{Metadata, Opening, Workers};
use sealstone_files::{Document, Input, NewDirectory, directory_in_memory, keep};
use sealstone_terminal::clock;
use sealstone_terminal::signals::InterruptsForAnother;
use sealstone_terminal::text::shown;
use serde_json::json;
use zeroize::Zeroizing;

use super::open::{Job, KeyRing, Payload};
use super::reseal::{self, Old};
use super::seal::Content;
use crate::args::EditArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::output::{ContentKind, Output};
use crate::named::Named;

/// The longest text: it is compared as a whole.
const MAX_LEN: usize = 64 << 20;

pub(super) fn run(args: &EditArgs, context: &Context) -> Result<()> {
    let place = Place::find()?;
    let args = &args.to_reseal(KdfParams::SENSITIVE);
    let (open, seal) = (args.to_open(), args.to_seal());
    let (mut reader, writer) = pipe()?;
    let job = Job::into_pipe(&open, Some(&args.input), writer, context)?;
    let name = job.input().name();
    if job.input().regular().is_none() {
        let what = format!("{name} is not a regular file, and cannot be replaced");
        return Err(Failure::usage(what));
    }
    let keys = Mutex::new(KeyRing::new(&open.access, context)?);
    let (old, plan) = Old::read(&job, args, &seal, &keys, context)?;
    let output = Output::in_place(&args.input, args.write.how(ContentKind::Binary).sync)?;

    // All questions come before the editor, so that no written text is lost.
    let (opening, form, asked) = old.unlock(args, &plan, &keys, context)?;
    let metadata = opening.metadata().clone();
    if metadata.directory {
        let what = format!("{name} is a sealed directory, and no text");
        return Err(Failure::usage(what).hint("open it, change it, and seal it again"));
    }
    let unlocked = reseal::unlock(asked, &keys, context)?;
    let before = content(&job, opening, &keys, &mut reader)?;
    let (after, directory) = place.edit(&before, metadata.name.as_deref())?;
    if *after == *before {
        let text = format!("{} is as it was", shown(&args.input));
        return context.result(&text, || json!({"changed": false}));
    }
    let content = Content {
        input: &after[..],
        total: Some(after.len() as u64),
        metadata: Metadata {
            modified: Some(clock::now()),
            ..metadata
        },
        form,
        hashes: None,
        workers: Workers::default(),
    };
    let sealed = plan.seal(content, &unlocked, &output, context, || ());
    // Somebody else may have sealed it again in the time.
    let is_old = |_| {
        Ok(keep::must_be_unchanged(
            &args.input,
            job.input().metadata(),
        )?)
    };
    if let Err(failure) = sealed.and_then(is_old).and_then(|()| Ok(output.commit()?)) {
        return Err(unsealed(failure, directory));
    }
    drop(directory);
    let text = format!(
        "sealed {} again ({})",
        shown(&args.input),
        unlocked.signed()
    );
    context.result(&text, || json!({"changed": true}))?;
    unlocked.countersign(context);
    Ok(())
}

/// The failure, and where the text is that could not be sealed.
fn unsealed(failure: Failure, directory: NewDirectory) -> Failure {
    let kept = directory.keep();
    failure.hint(format!(
        "your text is in {}, in memory; remove it when you have it elsewhere",
        shown(&kept)
    ))
}

/// The content, once its sender was accepted.
fn content<'o>(
    job: &'o Job<'_>,
    opening: Named<Opening<Payload<'o>>>,
    keys: &Mutex<KeyRing<'_>>,
    reader: &mut impl Read,
) -> Result<Zeroizing<Vec<u8>>> {
    thread::scope(|scope| {
        let released = scope.spawn(|| job.release_into_pipe(opening, keys));
        let mut bytes = Zeroizing::new(Vec::new());
        let read = reader
            .by_ref()
            .take(MAX_LEN as u64 + 1)
            .read_to_end(&mut bytes);
        // If the text is too long, its writer waits until everything is read.
        std::io::copy(reader, &mut std::io::sink())?;
        let released = released.join();
        released.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        read?;
        match bytes.len() <= MAX_LEN {
            true => Ok(bytes),
            false => Err(Failure::new(Exit::Io, "it is too long to be edited")
                .hint("open it, change it, and seal it again")),
        }
    })
}

/// A directory in memory that belongs to the user.
struct Place(PathBuf);

impl Place {
    fn find() -> Result<Self> {
        directory_in_memory().map(Self).ok_or_else(|| {
            Failure::new(
                Exit::Io,
                "there is no directory in memory, and the text would reach a disk",
            )
            .hint("set XDG_RUNTIME_DIR to a directory of yours on a tmpfs")
        })
    }

    /// The text after somebody has edited it, and the directory that has it.
    fn edit(&self, text: &[u8], name: Option<&str>) -> Result<(Zeroizing<Vec<u8>>, NewDirectory)> {
        let directory = NewDirectory::beside(&self.0.join("sealstone-edit"));
        let directory = directory.about(self.0.display())?;
        let path = directory.path().join(name.unwrap_or("text"));
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .about(path.display())?;
        file.write_all(text).about(path.display())?;
        drop(file);
        run_editor(&path)?;
        // Editors replace files.
        let file = File::open(&path).about(path.display())?;
        let input = Input::new(file, shown(&path))?;
        let after = Document::read(&input, &input, MAX_LEN)?.into_bytes();
        Ok((after, directory))
    }
}

fn run_editor(path: &Path) -> Result<()> {
    let set = |name: &&str| std::env::var_os(name).filter(|value| !value.is_empty());
    let editor = ["VISUAL", "EDITOR"].iter().find_map(set);
    let mut line = editor.unwrap_or_else(|| "vi".into());
    line.push(" \"$1\"");
    let _interrupts = InterruptsForAnother::begin();
    let status = Command::new("sh")
        .arg("-c")
        .arg(line)
        .arg("sh")
        .arg(path)
        .status()
        .about("the editor")?;
    match status.success() {
        true => Ok(()),
        false => Err(
            Failure::new(Exit::Io, format!("the editor failed: {status}"))
                .hint("the sealed file is as it was"),
        ),
    }
}
