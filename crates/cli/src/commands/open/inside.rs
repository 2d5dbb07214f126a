//! Some members of a sealed directory, without opening the others.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use sealstone::archive::{Archive, Entry, EntryKind, Flat, Found, Position};
use sealstone::file::{Metadata, Sealed, SealedReader};
use sealstone::passport::Contact;
use sealstone::trust::KnownSender;
use sealstone_files::{Place, SealedFile, Unpack};
use sealstone_terminal::text::{columns, one_line, shown};
use serde_json::{Value, json};

use super::directory::{begin, finish, missing};
use super::sender;
use super::{KeyRing, hold};
use crate::args::{AccessArgs, OpenArgs};
use crate::commands::batch;
use crate::context::{Context, Report};
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::input;
use crate::io::output::{ContentKind, Destination, Output};

/// A sealed directory whose sender was accepted, read by its index.
pub(in crate::commands) struct Inside {
    pub(in crate::commands) archive: Archive<SealedReader<SealedFile>>,
    sender: Option<KnownSender>,
}

/// A member to open, and its destination.
struct Wanted {
    /// Without `/` at the end.
    path: Vec<u8>,
    destination: Destination,
    /// The member of this path, and where those that are in it begin.
    found: Option<(Found, Position)>,
    /// Bytes of content, of all that is in it.
    bytes: u64,
}

/// Members that are looked up at once. There may be millions.
const PART: usize = 1024;

/// Opens members, each under its last name or as `-o` says.
pub(super) fn open(
    args: &OpenArgs,
    file: &Path,
    paths: &[PathBuf],
    context: &Context,
) -> Result<()> {
    let mut wanted = wanted(args, paths)?;
    let to_stdout = |wanted: &Wanted| wanted.destination.path().is_none();
    let context = &context.beside_content(wanted.iter().any(to_stdout));
    let keys = Mutex::new(KeyRing::new(&args.access, context)?);
    let mut inside = Inside::open(&args.access, file, &keys, context)?;
    let name = shown(file);
    inside.find(&mut wanted, &name).about(&name)?;
    for wanted in &wanted {
        let opened = inside.open_one(args, wanted, context).about(&name)?;
        let report = inside.report(&name, wanted, opened);
        context.result(&report.text, || report.value)?;
    }
    hold(&keys).countersign();
    Ok(())
}

/// Paths and destinations, checked before anything is asked.
fn wanted(args: &OpenArgs, paths: &[PathBuf]) -> Result<Vec<Wanted>> {
    if args.as_tar {
        return Err(Failure::usage("--as-tar is for all of a sealed directory")
            .hint("leave out the paths in it, or --as-tar"));
    }
    let directory = match paths {
        [_] => None,
        _ => batch::output_directory(args.output.as_deref())?,
    };
    let mut names = BTreeSet::new();
    let one = |path: &PathBuf| {
        let inner: PathBuf = path.components().collect();
        let inner = inner.strip_prefix(".").unwrap_or(&inner);
        let Some(name) = inner.file_name() else {
            return Err(Failure::usage(format!(
                "{} is not a path in a sealed directory",
                shown(path)
            )));
        };
        if !names.insert(name.to_owned()) {
            let what = format!("two of the paths end in {}", shown(Path::new(name)));
            return Err(Failure::usage(what).hint("open them one by one, each with its own -o"));
        }
        let beside = || Destination::File(batch::moved(name.into(), directory.as_deref()));
        let option = args.output.as_deref().filter(|_| directory.is_none());
        let destination = option.map_or_else(beside, Destination::named);
        if let Destination::File(target) = &destination
            && !args.write.force
            && (target.is_dir() || target.is_file())
        {
            let hint = "use another -o, or --force";
            return Err(crate::io::exists(target).hint(hint));
        }
        Ok(Wanted {
            path: inner.as_os_str().as_bytes().to_vec(),
            destination,
            found: None,
            bytes: 0,
        })
    };
    paths.iter().map(one).collect()
}

impl Inside {
    /// Unlocks the file, and decides about its sender.
    pub(in crate::commands) fn open(
        args: &AccessArgs,
        file: &Path,
        keys: &Mutex<KeyRing<'_>>,
        context: &Context,
    ) -> Result<Self> {
        let input = input::content(Some(file))?;
        let name = input.name().to_owned();
        let sealed = Sealed::read(SealedFile::new(input).about(&name)?).about(&name)?;
        let opening = hold(keys).unlock(sealed, &name)?;
        if !opening.metadata().directory {
            let failure = Failure::usage("it is not a sealed directory");
            return Err(failure.hint("open it as a whole").about(&name));
        }
        let claimed = opening.sender().clone();
        let mut archive = SealedReader::new_unverified(opening)
            .and_then(Archive::new)
            .about(&name)?;
        let verify = |archive: &mut Archive<_>, sender: &Contact| {
            Archive::<SealedReader<SealedFile>>::verify_sender(archive, sender).about(&name)
        };
        let admitted = sender::admit(&claimed, &name, args, keys, context, |sender, _| {
            verify(&mut archive, sender)
        })?;
        if let Some(admitted) = &admitted {
            if !admitted.verified {
                verify(&mut archive, &admitted.sender.contact)?;
            }
            sender::record(&admitted.sender, context)?;
        }
        Ok(Self {
            archive,
            sender: admitted.map(|admitted| admitted.sender),
        })
    }

    /// Name, time and note of the directory.
    pub(in crate::commands) fn metadata(&self) -> &Metadata {
        self.archive.sealed().metadata()
    }

    /// The sender in words: the end of a line that takes `before` columns, and lines below it.
    pub(in crate::commands) fn sender(&self, before: usize) -> (String, String) {
        match &self.sender {
            None => ("unsigned".to_owned(), String::new()),
            Some(sender) => sender::describe(sender, before),
        }
    }

    /// The sender, for machines.
    pub(in crate::commands) fn sender_json(&self) -> Value {
        self.sender
            .as_ref()
            .map_or(Value::Null, KnownSender::to_json)
    }

    /// Finds the members of these paths, and those within them.
    fn find(&mut self, wanted: &mut [Wanted], name: &str) -> Result<()> {
        let mut entries = self.archive.entries()?;
        while let Some(found) = entries.next().transpose()? {
            for wanted in wanted.iter_mut().filter(|wanted| wanted.has(&found)) {
                wanted.count(&found.entry);
                if found.entry.path == wanted.path {
                    wanted.found = Some((found.clone(), entries.position()));
                }
            }
        }
        for wanted in wanted.iter() {
            let path = one_line(&String::from_utf8_lossy(&wanted.path));
            let Some((found, _)) = &wanted.found else {
                let failure = Failure::usage(format!("it has no file or directory {path}"));
                return Err(failure.hint(format!("see: sealstone list {name}")));
            };
            if let EntryKind::Link { target } = &found.entry.kind {
                let target = one_line(&String::from_utf8_lossy(target));
                let what = format!("{path} is a symbolic link to {target}");
                return Err(Failure::usage(what)
                    .hint("open its target, or the directory that has the link"));
            }
        }
        Ok(())
    }

    /// Opens a file, or a directory with everything in it. Returns the bytes of content, and the
    /// number of members.
    fn open_one(
        &mut self,
        args: &OpenArgs,
        wanted: &Wanted,
        context: &Context,
    ) -> Result<(u64, u64)> {
        let bytes = wanted.bytes;
        let (first, behind) = wanted
            .found
            .as_ref()
            .ok_or(Failure::silent(Exit::Internal))?;
        if first.entry.kind == EntryKind::Directory {
            let members = self.open_directory(args, wanted, (first, behind), context)?;
            return Ok((bytes, members));
        }
        let output = Output::create(
            &wanted.destination,
            args.write.how(ContentKind::Content),
            None,
        )?;
        match output.new_file() {
            Some(file) => {
                let mut place = Place::new(file.try_clone()?, output.name());
                self.archive.content(first, &mut place)?;
            }
            None => self.archive.content(first, &mut Flat::new(&output))?,
        }
        output.commit()?;
        Ok((bytes, 1))
    }

    fn open_directory(
        &mut self,
        args: &OpenArgs,
        wanted: &Wanted,
        (first, behind): (&Found, &Position),
        context: &Context,
    ) -> Result<u64> {
        let Destination::File(target) = &wanted.destination else {
            return Err(Failure::usage("a directory is wanted").hint("choose -o DIR"));
        };
        let mut new = begin(target, &args.write)?;
        self.archive.check_header(first)?;
        new.modified(u64::try_from(first.entry.modified).unwrap_or(0));
        let mut position = behind.clone();
        loop {
            let mut entries = self.archive.entries_behind(&position)?;
            let part: Vec<Found> = entries
                .by_ref()
                .take(PART)
                .collect::<sealstone::Result<_>>()?;
            position = entries.position();
            // The members of a directory follow it, without others between them.
            let within = part.iter().take_while(|found| wanted.has(found)).count();
            for found in &part[..within] {
                self.unpack(&mut new, wanted, found)?;
            }
            if within < PART {
                break;
            }
        }
        let members = new.count() + 1;
        let missing = missing(&new, target);
        finish(new, target, &args.write, context)?;
        missing.map(|()| members)
    }

    fn unpack(&mut self, new: &mut Unpack, wanted: &Wanted, found: &Found) -> Result<()> {
        let entry = Entry {
            path: found.entry.path[wanted.path.len() + 1..].to_vec(),
            ..found.entry.clone()
        };
        self.archive.check_header(found)?;
        Ok(new.member(&entry, |place| self.archive.content(found, place))?)
    }

    fn report(&self, name: &str, wanted: &Wanted, (bytes, members): (u64, u64)) -> Report {
        let target = wanted.destination.path().map(shown);
        let path = String::from_utf8_lossy(&wanted.path);
        let begin = format!(
            "opened {} of {name} to {} (",
            one_line(&path),
            target.as_deref().unwrap_or("standard output"),
        );
        // Of several paths, each message begins with its path.
        let (sender, below) = self.sender(columns(&begin) + columns(&path) + 2);
        let text = format!("{begin}{sender}){below}");
        let value = json!({
            "path": path,
            "output": target,
            "content_bytes": bytes,
            "members": members,
            "signed": self.sender.is_some(),
            "sender": self.sender_json(),
        });
        Report {
            text,
            value,
            secret: false,
        }
    }
}

impl Wanted {
    /// Whether this is the member, or is in it.
    fn has(&self, found: &Found) -> bool {
        let rest = found.entry.path.strip_prefix(&self.path[..]);
        rest.is_some_and(|rest| rest.first().is_none_or(|&byte| byte == b'/'))
    }

    /// Adds content. A sender can claim holes that together have more than 2^64 bytes.
    fn count(&mut self, entry: &Entry) {
        self.bytes = self.bytes.saturating_add(entry.size());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claimed_sizes_do_not_overflow() {
        let size = i64::MAX as u64;
        let hole = Entry {
            path: b"hole".to_vec(),
            kind: EntryKind::Sparse { size, stored: 512 },
            mode: 0o644,
            modified: 0,
        };
        let mut wanted = Wanted {
            path: Vec::new(),
            destination: Destination::Stdout { forced: true },
            found: None,
            bytes: 0,
        };
        for expected in [size, 2 * size, u64::MAX] {
            wanted.count(&hole);
            assert_eq!(wanted.bytes, expected);
        }
    }
}
