//! A sealed directory, which is unpacked into a new one.

use std::io::{self, BufReader, PipeReader, pipe};
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use sealstone::archive::Members;
use sealstone::file::Opening;
use sealstone_files::{Pipe, Unpack};
use sealstone_terminal::text::shown;

use super::{BUFFER_LEN, Job, KeyRing, Opened, Payload};
use crate::args::WriteArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::exists;
use crate::io::output::{Closing, ContentKind, Destination, Output};
use crate::named::Named;

impl Job<'_> {
    /// Unpacks a directory. Of a signed file nothing is unpacked before its signatures have been
    /// verified.
    pub(super) fn unpack<'o>(
        &'o self,
        opening: Named<Opening<Payload<'o>>>,
        keys: &Mutex<KeyRing<'_>>,
    ) -> Result<Opened> {
        let Destination::File(target) = &self.destination else {
            let what = format!("{} is a sealed directory", self.input.name());
            return Err(
                Failure::usage(what).hint("choose -o DIR, or --as-tar to write it as one tar file")
            );
        };
        let mut new = begin(target, &self.args.write)?;
        if let Some(time) = opening.metadata().modified {
            new.modified(time);
        }
        let (reader, writer) = pipe()?;
        let output = Output::Pipe(Pipe::new(writer));
        let opened = thread::scope(|scope| -> Result<Opened> {
            let released = scope.spawn(|| {
                let _closing = Closing::at_the_end(&output);
                self.release(&output, opening, keys)
            });
            let filled = fill(&mut new, reader).about(self.input.name());
            let released = released.join();
            let released = released.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (released, filled) {
                // Unpacking failed, so that nobody read the content.
                (Err(failure), Err(reason)) if failure.is_silent() => Err(reason),
                // Unpacking failed too, because it got no content.
                (Err(reason), _) => Err(reason),
                (Ok(opened), filled) => filled.map(|()| opened),
            }
        })?;
        let members = Some(new.count());
        let missing = missing(&new, target);
        finish(new, target, &self.args.write, self.context)?;
        missing.about(self.input.name())?;
        Ok(Opened { members, ..opened })
    }
}

/// A new directory for `target`, which must not exist unless it may be moved aside.
pub(super) fn begin(target: &Path, write: &WriteArgs) -> Result<Unpack> {
    if !write.force && target.symlink_metadata().is_ok() {
        return Err(exists(target).hint("use another -o, or --force to move it aside"));
    }
    Unpack::beside(target, shown).about(target.display())
}

fn fill(new: &mut Unpack, reader: PipeReader) -> Result<()> {
    let mut members = Members::new(BufReader::with_capacity(BUFFER_LEN, reader));
    while let Some(entry) = members.next_entry()? {
        new.member(&entry, |place| members.content(place))?;
    }
    Ok(())
}

/// Fails if the system could not hold some of the names: the others are unpacked to `target`.
pub(super) fn missing(new: &Unpack, target: &Path) -> Result<()> {
    const SHOWN: usize = 20;
    let left_out = new.left_out();
    if left_out == 0 {
        return Ok(());
    }
    let what = format!(
        "{left_out} of its {} members cannot be stored here, the others are in {}",
        left_out + new.count(),
        shown(target)
    );
    let names = new.unstorable().take(SHOWN);
    let mut lines: Vec<String> = names
        .map(|(path, why)| format!("{}: {why}", shown(path)))
        .collect();
    match left_out.saturating_sub(SHOWN as u64) {
        0 => {}
        n => lines.push(format!("and {n} more")),
    }
    lines.push("open these one by one with another -o, or all as a tar file: --as-tar".to_owned());
    Err(Failure::new(Exit::Io, what).hint(lines.join("\n")))
}

/// Gives the directory its name, once it is durable. With --force, it moves a file or directory of
/// that name aside.
pub(super) fn finish(
    new: Unpack,
    target: &Path,
    write: &WriteArgs,
    context: &Context,
) -> Result<()> {
    let sync = write.how(ContentKind::Content).sync;
    let new = new.finish(sync).about(target.display())?;
    let done = match write.force {
        true => new.commit_over(target, shown),
        false => new.commit(target).map(|()| None),
    };
    let aside = done.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => exists(target).hint("use another -o"),
        _ => Failure::from(e).about(target.display()),
    })?;
    if let Some(aside) = aside {
        let aside = shown(&aside);
        context.say(&format!("the replaced file or directory is now {aside}"));
    }
    Ok(())
}
