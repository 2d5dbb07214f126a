//! Some members of a sealed directory, without opening the others.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use sealstone::archive::{Archive, Entry, EntryKind, Flat, Member};
use sealstone::file::{Metadata, Sealed, SealedReader};
use sealstone::passport::Contact;
use sealstone::trust::KnownSender;
use sealstone_files::{Place, SealedFile};
use sealstone_terminal::text::{columns, one_line, shown};
use serde_json::{Value, json};

use super::directory::{begin, finish, missing};
use super::sender;
use super::{KeyRing, hold};
use crate::args::{AccessArgs, OpenArgs};
use crate::commands::batch;
use crate::context::{Context, Report};
use crate::failure::{About, Failure, Result};
use crate::io::input;
use crate::io::output::{ContentKind, Destination, Output};
use crate::named::Named;

/// A sealed directory whose sender was accepted, read by its index.
pub(in crate::commands) struct Inside {
    pub(in crate::commands) archive: Named<Archive<SealedReader<SealedFile>>>,
    sender: Option<KnownSender>,
}

/// A member to open, and its destination.
struct Wanted {
    /// Without `/` at the end.
    path: Vec<u8>,
    destination: Destination,
}

/// Opens members, each under its last name or as `-o` says.
pub(super) fn open(
    args: &OpenArgs,
    file: &Path,
    paths: &[PathBuf],
    context: &Context,
) -> Result<()> {
    let wanted = wanted(args, paths)?;
    let to_stdout = |wanted: &Wanted| wanted.destination.path().is_none();
    let context = &context.beside_content(wanted.iter().any(to_stdout));
    let keys = Mutex::new(KeyRing::new(&args.access, context)?);
    let mut inside = Inside::open(&args.access, file, &keys, context)?;
    let members = inside.find(&wanted)?;
    for (wanted, member) in wanted.iter().zip(&members) {
        let count = inside.open_one(args, wanted, member, context)?;
        let report = inside.report(wanted, member, count);
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
        let file = Named::new(input.name(), ()).then(|()| SealedFile::new(input))?;
        let opening = hold(keys).unlock(file.then(Sealed::read)?)?;
        if !opening.metadata().directory {
            let failure = Failure::usage("it is not a sealed directory");
            return Err(failure.hint("open it as a whole").about(opening.name()));
        }
        let claimed = opening.with(opening.sender().clone());
        let archive = opening.then(SealedReader::new_unverified)?;
        let mut archive = archive.then(Archive::new)?;
        let verify = |archive: &mut Named<Archive<_>>, sender: &Contact| {
            archive.work(|it: &mut Archive<SealedReader<SealedFile>>| it.verify_sender(sender))
        };
        let admitted = sender::admit(&claimed, args, keys, context, |sender, _| {
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

    /// Gives every member to `each`, in order.
    pub(in crate::commands) fn each(
        &mut self,
        mut each: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<()> {
        let name = self.archive.name().to_owned();
        let entries = self.archive.work(Archive::entries)?;
        for found in entries {
            each(&found.about(&name)?.entry)?;
        }
        Ok(())
    }

    /// The members of these paths.
    fn find(&mut self, wanted: &[Wanted]) -> Result<Vec<Member>> {
        let paths: Vec<&[u8]> = wanted.iter().map(|wanted| &wanted.path[..]).collect();
        let members = self.archive.work(|archive| archive.find(&paths))?;
        let name = self.archive.name();
        let member = |(member, path): (Option<Member>, &&[u8])| {
            let path = one_line(&String::from_utf8_lossy(path));
            let member = member.ok_or_else(|| absent(&path, name))?;
            match &member.found.entry.kind {
                EntryKind::Link { target } => Err(link(&path, target)),
                _ => Ok(member),
            }
        };
        let members = members.into_iter().zip(&paths).map(member);
        members.collect::<Result<_>>().about(name)
    }

    /// Opens a file, or a directory with everything in it. Returns the number of members.
    fn open_one(
        &mut self,
        args: &OpenArgs,
        wanted: &Wanted,
        member: &Member,
        context: &Context,
    ) -> Result<u64> {
        if member.is_directory() {
            return self.open_directory(args, wanted, member, context);
        }
        let how = args.write.how(ContentKind::Content);
        let output = Output::create(&wanted.destination, how, None)?;
        let found = &member.found;
        match output.new_file() {
            Some(file) => {
                let mut place = Place::new(file.try_clone()?, output.name());
                self.archive.work(|it| it.content(found, &mut place))?;
            }
            None => {
                let mut flat = Flat::new(&output);
                self.archive.work(|it| it.content(found, &mut flat))?;
            }
        }
        output.commit()?;
        Ok(1)
    }

    fn open_directory(
        &mut self,
        args: &OpenArgs,
        wanted: &Wanted,
        directory: &Member,
        context: &Context,
    ) -> Result<u64> {
        let Destination::File(target) = &wanted.destination else {
            let failure = Failure::usage("a directory is wanted").hint("choose -o DIR");
            return Err(failure.about(self.archive.name()));
        };
        let mut new = begin(target, &args.write)?;
        let found = &directory.found;
        new.modified(u64::try_from(found.entry.modified).unwrap_or(0));
        self.archive.work(|archive| {
            archive.check_header(found)?;
            archive.for_each_in(directory, |archive, entry, found| {
                archive.check_header(found)?;
                new.member(entry, |place| archive.content(found, place))
            })
        })?;
        let members = new.count() + 1;
        let missing = missing(&new, target).about(self.archive.name());
        finish(new, target, &args.write, context)?;
        missing.map(|()| members)
    }

    fn report(&self, wanted: &Wanted, member: &Member, members: u64) -> Report {
        let target = wanted.destination.path().map(shown);
        let path = String::from_utf8_lossy(&wanted.path);
        let begin = format!(
            "opened {} of {} to {} (",
            one_line(&path),
            self.archive.name(),
            target.as_deref().unwrap_or("standard output"),
        );
        // With several paths, each message begins with its path.
        let (sender, below) = self.sender(columns(&begin) + columns(&path) + 2);
        let text = format!("{begin}{sender}){below}");
        let value = json!({
            "path": path,
            "output": target,
            "content_bytes": member.bytes,
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

fn absent(path: &str, name: &str) -> Failure {
    let failure = Failure::usage(format!("it has no file or directory {path}"));
    failure.hint(format!("see: sealstone list {name}"))
}

fn link(path: &str, target: &[u8]) -> Failure {
    let target = one_line(&String::from_utf8_lossy(target));
    let failure = Failure::usage(format!("{path} is a symbolic link to {target}"));
    failure.hint("open its target, or the directory that has the link")
}
