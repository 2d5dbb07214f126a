//! `open`

mod directory;
mod inside;
mod keys;
mod sender;

use std::cell::RefCell;
use std::io::{BufReader, PipeWriter, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sealstone::file::{Dearmored, Metadata, Opening, RecipientInfo, Sealed, Workers};
use sealstone::passport::Contact;
use sealstone::trust::KnownSender;
use sealstone_files::{Input, Pipe, spool};
use sealstone_terminal::progress::{Counter, Progress};
use sealstone_terminal::text::{columns, one_line, quoted_lines, quoted_name, shown};
use serde_json::{Value, json};

pub(super) use self::inside::Inside;
pub(super) use self::keys::KeyRing;
use super::batch::{self, Batch};
use crate::args::OpenArgs;
use crate::context::{Context, Report};
use crate::failure::{About, Failure, Result};
use crate::io::input;
use crate::io::output::{Closing, ContentKind, Destination, Output};
use crate::named::Named;

/// The reader of everything after the header.
pub(super) type Payload<'a> = Box<dyn Read + Send + 'a>;

/// The inputs and outputs of opening a file.
pub(super) struct Job<'a> {
    args: &'a OpenArgs,
    input: Input,
    /// The position of the sealed file in the input.
    start: u64,
    output: Output,
    destination: Destination,
    counter: Counter,
    workers: Workers,
    context: &'a Context,
}

/// The result, for the messages.
struct Opened {
    bytes: u64,
    metadata: Metadata,
    opened_by: RecipientInfo,
    sender: Option<KnownSender>,
    /// The number of members of a directory that was unpacked.
    members: Option<u64>,
}

/// Larger reads bypass the buffer.
const BUFFER_LEN: usize = 64 << 10;

pub(super) fn run(args: &OpenArgs, context: &Context) -> Result<()> {
    match &args.inputs[..] {
        [] => open_one(args, None, context),
        [path] => open_one(args, Some(path), context),
        [directory, paths @ ..]
            if args.inside || !args.inputs.iter().all(|path| is_sealed(path)) =>
        {
            inside::open(args, directory, paths, context)
        }
        paths => open_many(args, paths, context),
    }
}

/// Whether the default output of a file has a name.
fn is_sealed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "sealed")
}

fn open_one(args: &OpenArgs, path: Option<&Path>, context: &Context) -> Result<()> {
    let destination = || match args.output.as_deref() {
        Some(path) => Ok(Destination::named(path)),
        None => default_destination(args, path),
    };
    let job = Job::prepare(args, path, destination, Workers::default(), context)?;
    let context = context.beside_content(job.target().is_none());
    let keys = Mutex::new(KeyRing::new(&args.access, &context)?);
    let report = job.run(&keys)?;
    context.result(&report.text, || report.value)?;
    hold(&keys).countersign();
    Ok(())
}

/// Every file beside its input or in the directory of `-o`. The first file that needs a passport
/// unlocks it for all.
fn open_many(args: &OpenArgs, paths: &[PathBuf], context: &Context) -> Result<()> {
    batch::refuse_dash(paths)?;
    let directory = batch::output_directory(args.output.as_deref())?;
    let keys = Mutex::new(KeyRing::new(&args.access, context)?);
    let batch = Batch::new(args.many.stop);
    let done = batch.run(paths, context, |path| {
        let destination = || match default_destination(args, Some(path))? {
            Destination::File(path) => {
                Ok(Destination::File(batch::moved(path, directory.as_deref())))
            }
            stdout => Ok(stdout),
        };
        let context = &context.of_one(&shown(path));
        Job::prepare(args, Some(path), destination, Workers::new(1), context)?.run(&keys)
    });
    hold(&keys).countersign();
    done
}

/// A thread that panicked has ended the whole run.
pub(super) fn hold<'k, 'a>(keys: &'k Mutex<KeyRing<'a>>) -> MutexGuard<'k, KeyRing<'a>> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Job<'a> {
    /// Opens into a pipe, whose reader gets nothing of a signed file before its signatures have
    /// been verified.
    pub(super) fn into_pipe(
        args: &'a OpenArgs,
        path: Option<&Path>,
        pipe: PipeWriter,
        context: &'a Context,
    ) -> Result<Self> {
        let input = input::content(path)?;
        let start = input.position();
        Ok(Self {
            args,
            input,
            start,
            output: Output::Pipe(Pipe::new(pipe)),
            destination: Destination::Stdout { forced: true },
            counter: Counter::default(),
            workers: Workers::default(),
            context,
        })
    }

    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// Releases the content into the pipe, and closes it.
    pub(super) fn release_into_pipe<'o>(
        &'o self,
        opening: Named<Opening<Payload<'o>>>,
        keys: &Mutex<KeyRing<'_>>,
    ) -> Result<()> {
        let _closing = Closing::at_the_end(&self.output);
        self.release(&self.output, opening, keys).map(drop)
    }

    fn prepare(
        args: &'a OpenArgs,
        path: Option<&Path>,
        destination: impl FnOnce() -> Result<Destination>,
        workers: Workers,
        context: &'a Context,
    ) -> Result<Self> {
        let input = input::content(path)?;
        let destination = destination()?;
        let how = args.write.how(ContentKind::Content);
        let output = Output::create(&destination, how, Some(&input))?;
        let start = input.position();
        Ok(Self {
            args,
            input,
            start,
            output,
            destination,
            counter: Counter::default(),
            workers,
            context,
        })
    }

    /// Opens the file, and gives the output its name.
    fn run(self, keys: &Mutex<KeyRing<'_>>) -> Result<Report> {
        let opening = hold(keys).unlock(self.sealed()?.0)?;
        match (opening.metadata().directory, self.args.as_tar) {
            (true, false) => {
                let opened = self.unpack(opening, keys)?;
                return Ok(self.report(&opened));
            }
            (false, true) => {
                let what = format!("{} is not a sealed directory", self.input.name());
                return Err(Failure::usage(what).hint("leave out --as-tar"));
            }
            _ => {}
        }
        let opened = self.release(&self.output, opening, keys)?;
        let report = self.report(&opened);
        self.output.commit()?;
        Ok(report)
    }

    /// The name of the output; `None` for standard output.
    fn target(&self) -> Option<String> {
        let path = self.destination.path();
        path.map(|path| path.display().to_string())
    }

    /// The file as far as its header is read, and whether it is armored.
    pub(super) fn sealed(&self) -> Result<(Named<Sealed<Payload<'_>>>, bool)> {
        let (reader, is_armored) = self.detect()?;
        let sealed = Named::new(self.input.name(), reader).then(Sealed::read)?;
        Ok((sealed, is_armored))
    }

    /// Reads binary and armored files, from the present position of the input. Returns whether the
    /// file is armored, too.
    fn detect(&self) -> Result<(Payload<'_>, bool)> {
        let buffered = BufReader::with_capacity(BUFFER_LEN, self.counter.count(&self.input));
        let reader = Dearmored::detect(buffered)?;
        let is_armored = reader.is_armored();
        Ok((Box::new(reader), is_armored))
    }

    /// Writes the content if the sender is accepted, or fails with the reason.
    fn release<'o>(
        &'o self,
        output: &Output,
        opening: Named<Opening<Payload<'o>>>,
        keys: &Mutex<KeyRing<'_>>,
    ) -> Result<Opened> {
        let metadata = opening.metadata().clone();
        let opened_by = opening.opened_by();
        let (opening, sender) = self.admit(opening, keys)?;
        let bytes = match &sender {
            Some(sender) => self.release_signed(output, opening, sender)?,
            None => {
                let _progress = self.progress("opening");
                opening.finish(|opening| opening.open_unsigned(output, self.workers))?
            }
        };
        Ok(Opened {
            bytes,
            metadata,
            opened_by,
            sender,
            members: None,
        })
    }

    /// The sender whose content may be released; `None` if it need not be signed.
    fn admit<'o>(
        &'o self,
        opening: Named<Opening<Payload<'o>>>,
        keys: &Mutex<KeyRing<'_>>,
    ) -> Result<(Named<Opening<Payload<'o>>>, Option<KnownSender>)> {
        let claimed = opening.with(opening.sender().clone());
        let mut held = Some(opening);
        let verify = |sender: &Contact, is_read_again: bool| {
            let mut opening = held.take().expect("it is put back");
            if is_read_again {
                held = Some(self.verify(opening, sender)?);
                return Ok(());
            }
            let _progress = self.progress("verifying");
            opening.work(|opening| opening.verify_signed(sender, self.workers).map(drop))
        };
        let admitted = sender::admit(&claimed, &self.args.access, keys, self.context, verify)?;
        let opening = held.expect("it is put back");
        Ok((opening, admitted.map(|admitted| admitted.sender)))
    }

    /// Output to a stream cannot be taken back, so the signatures are verified before its first
    /// byte. They cover the whole file.
    fn release_signed<'o>(
        &'o self,
        output: &Output,
        mut opening: Named<Opening<Payload<'o>>>,
        sender: &KnownSender,
    ) -> Result<u64> {
        if output.is_stream() {
            opening = self.verify(opening, &sender.contact)?;
            sender::record(sender, self.context)?;
        }
        let progress = self.progress("opening");
        let bytes = opening.finish(|it| it.open_signed(&sender.contact, output, self.workers))?;
        drop(progress);
        if !output.is_stream() {
            sender::record(sender, self.context)?;
        }
        Ok(bytes)
    }

    /// Verifies the whole file, writes nothing, and returns to the beginning. A pipe is copied to a
    /// temporary file, still sealed.
    fn verify<'o>(
        &'o self,
        opening: Named<Opening<Payload<'o>>>,
        sender: &Contact,
    ) -> Result<Named<Opening<Payload<'o>>>> {
        let spooled = RefCell::new(None);
        let copy = |reader| {
            let file = spool(reader).about("the copy in the temporary directory")?;
            *spooled.borrow_mut() = Some(file.try_clone()?);
            Ok::<Payload<'o>, Failure>(Box::new(self.counter.count(file)))
        };
        let mut opening = match self.input.regular() {
            Some(_) => opening,
            None => opening.then(|opening| opening.with_payload(copy))?,
        };
        let progress = self.progress("verifying");
        opening.work(|opening| opening.verify_signed(sender, self.workers))?;
        drop(progress);
        match spooled.into_inner() {
            // Both descriptors share one position.
            Some(mut file) => file.rewind()?,
            None => {
                self.input.rewind(self.start)?;
                let reader = self.detect()?.0;
                opening = opening.then(|opening| opening.restarted(reader))?;
            }
        }
        Ok(opening)
    }

    fn progress(&self, verb: &'static str) -> Progress {
        let total = self
            .input
            .regular()
            .map(|metadata| metadata.len().saturating_sub(self.start));
        Progress::bytes(self.context.progress(), verb, total, &self.counter)
    }

    fn report(&self, opened: &Opened) -> Report {
        let target = self.target();
        Report {
            text: opened.text(
                self.context.columns_of_subject(),
                self.input.name(),
                target.as_deref(),
            ),
            value: opened.json(target.as_deref()),
            secret: false,
        }
    }
}

impl Opened {
    /// For people, in a line that begins after some columns.
    fn text(&self, start: usize, input: &str, target: Option<&str>) -> String {
        let begin = format!(
            "opened {input} to {} ({}{}",
            one_line(target.unwrap_or("standard output")),
            self.how(),
            self.members
                .map_or(String::new(), |n| format!("members: {n}, ")),
        );
        let (sender, below) = match &self.sender {
            None => ("unsigned".to_owned(), String::new()),
            Some(sender) => sender::describe(sender, start + columns(&begin)),
        };
        let mut text = format!("{begin}{sender}){below}");
        let name = self.metadata.name.as_deref().filter(|name| {
            target.is_none_or(|target| Path::new(target).file_name() != Some(name.as_ref()))
        });
        if let Some(name) = name {
            text += &format!("\n  it was sealed as{}", quoted_name(name));
        }
        if let Some(note) = &self.metadata.note {
            text += &format!("\n  note:{}", quoted_lines(note));
        }
        text
    }

    /// Says if a passphrase opened the file: then it was not sealed for this user in particular.
    fn how(&self) -> &'static str {
        match self.opened_by.is_passphrase() {
            true => "with a passphrase, ",
            false => "",
        }
    }

    fn json(&self, target: Option<&str>) -> Value {
        json!({
            "output": target,
            "content_bytes": self.bytes,
            "members": self.members,
            "opened_by": self.opened_by.key(),
            "signed": self.sender.is_some(),
            "sender": self.sender.as_ref().map(KnownSender::to_json),
            "name": self.metadata.name,
            "modified": self.metadata.modified,
            "note": self.metadata.note,
        })
    }
}

fn default_destination(args: &OpenArgs, path: Option<&Path>) -> Result<Destination> {
    match input::path_of(path) {
        None => Ok(Destination::Stdout { forced: false }),
        Some(path) if is_sealed(path) => {
            let extension = if args.as_tar { "tar" } else { "" };
            Ok(Destination::File(path.with_extension(extension)))
        }
        Some(path) => {
            let failure = Failure::usage(format!("{} does not end in .sealed", shown(path)));
            Err(failure.hint("say where the content goes with -o OUT; - is standard output"))
        }
    }
}
