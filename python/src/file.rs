//! Sealed files.

mod keys;

use crate::data::Text;
use crate::errors::{exception, raise};
use crate::nested::Unnested;
use crate::number::{Later, Number};
use crate::output::Output;
use crate::passport::{Params, Passport, PublicPassport};
use crate::process::Home;
use crate::stream::{Source, Stoppable, Target, Watched};
use crate::trust::TrustStore;
use crate::view::{Buffer, PIECE};
use crate::watch::{Progress, Watch};
use keys::{KeyRing, Refused};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone::file::{Dearmored, Metadata, Sealed, SealedReader, Sealer, Sender, Workers};
use sealstone::passport::Contact;
use sealstone::{Error, KdfParams, Passphrase};
use sealstone_files::{PRIVATE, PUBLIC, umask};
use std::io::{BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Larger reads bypass the buffer.
const BUFFER: usize = 64 << 10;

/// The choices for a sealed file.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Choices {
    recipients: Vec<Py<PublicPassport>>,
    anonymous: bool,
    passphrase: Option<Text>,
    profile: Py<PyAny>,
    sender: Option<Py<Passport>>,
    armor: bool,
    hide_length: bool,
    name: Option<String>,
    modified: Option<Later>,
    note: Option<String>,
    overwrite: bool,
}

impl Choices {
    fn metadata(&self, modified: Option<u64>) -> Metadata {
        Metadata {
            name: self.name.clone(),
            modified,
            note: self.note.clone(),
            directory: false,
        }
    }

    fn seal(
        &self,
        sender: Option<&sealstone::passport::Passport>,
        source: Source,
        target: &mut Target,
        (profile, modified): (KdfParams, Option<u64>),
        watch: &Watch,
    ) -> Result<(), Error> {
        let passphrase = self.passphrase.as_ref();
        let passphrase = passphrase
            .map(|it| Passphrase::new(it.bytes()))
            .transpose()?;
        let mut sealer = Sealer::new();
        sealer.on_progress(watch);
        for recipient in &self.recipients {
            match (self.anonymous, &recipient.get().contact) {
                (true, contact) => sealer.to_anonymous(contact),
                (false, contact) => sealer.to_passport(contact),
            };
        }
        if let Some(passphrase) = &passphrase {
            sealer.to_passphrase(passphrase, profile);
        }
        if let Some(sender) = sender {
            sealer.signed_by(sender);
        }
        if self.armor {
            sealer.armored();
        }
        if self.hide_length {
            sealer.hide_length();
        }
        sealer.metadata(self.metadata(modified));
        let prepared = sealer.prepare()?;
        let (total, workers) = (source.length(), source.workers());
        target.expect(prepared.sealed_len(total))?;
        let is_object = source.is_object() || target.is_object();
        let (source, target) = (
            Watched::new(source, watch, total),
            Stoppable::new(target, watch),
        );
        let seal = || prepared.seal(source, target, workers);
        match is_object && workers != Workers::new(1) {
            true => watch.attend(seal)?,
            false => seal()?,
        };
        Ok(())
    }
}

/// Seals a source to a target. Returns the sealed file if the target is `None`, its length if the
/// target is a buffer.
#[pyfunction]
#[pyo3(signature = (source, target, choices, progress=None))]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    choices: Choices,
    progress: Option<Progress>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let sender = choices
        .sender
        .as_ref()
        .map(|it| it.get().get())
        .transpose()?;
    let Params(profile) = choices.profile.extract(py)?;
    let numbers = (profile, Later::optional(choices.modified.as_ref(), py)?);
    let source = Source::of(source)?;
    let mut target = Target::of(target, choices.overwrite)?;
    target.separate(py, &source)?;
    let watch = Watch::new(progress);
    let sealed =
        py.detach(|| choices.seal(sender.as_deref(), source, &mut target, numbers, &watch));
    match watch.end(py, sealed, |e| exception(py, e)) {
        Ok(()) => target.finish(py, PUBLIC & !umask()),
        Err(error) => {
            target.abandon(py);
            Err(error)
        }
    }
}

/// The senders whose files open.
pub(crate) enum Accept {
    Unsigned,
    Any,
    Only(Py<PublicPassport>),
    Approved(Py<TrustStore>),
}

impl<'py> FromPyObject<'_, 'py> for Accept {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(passport) = object.extract() {
            return Ok(Self::Only(passport));
        }
        if let Ok(store) = object.extract() {
            return Ok(Self::Approved(store));
        }
        match object.extract::<&str>() {
            Ok("unsigned") => Ok(Self::Unsigned),
            Ok("any") => Ok(Self::Any),
            _ => Err(PyTypeError::new_err(
                "sender is a PublicPassport, a TrustStore, 'any' or 'unsigned'",
            )),
        }
    }
}

impl Accept {
    /// The keys of the sender, or `None` for an unsigned file that may be.
    fn decide(&self, py: Python<'_>, sender: &Sender) -> PyResult<Option<Contact>> {
        let carried = match sender {
            Sender::Carried(contact) => Some(&**contact),
            _ => None,
        };
        let refuse = |status: &str| {
            let shown = sender.fingerprint().map(|it| it.to_string());
            let text = match &shown {
                None => String::from("the file is not signed"),
                Some(by) => match status {
                    "signed" => format!("signed by {by}: only unsigned files are accepted"),
                    "another" => format!("signed by {by}, not by the passport that was named"),
                    _ => format!("signed by {by}, whose status is: {status}"),
                },
            };
            let passport = carried.cloned().map(PublicPassport::carried);
            raise(
                py,
                "SenderNotApproved",
                (text, shown, status.to_owned(), passport),
            )
        };
        let Some(fingerprint) = sender.fingerprint() else {
            return match self {
                Self::Unsigned | Self::Any => Ok(None),
                _ => Err(refuse("unsigned")),
            };
        };
        match self {
            Self::Unsigned => Err(refuse("signed")),
            Self::Any => carried.cloned().map(Some).ok_or_else(|| refuse("unknown")),
            Self::Only(passport) => match &passport.get().contact {
                contact if contact.fingerprint() == fingerprint => Ok(Some(contact.clone())),
                _ => Err(refuse("another")),
            },
            Self::Approved(store) => match store.get().approved(py, &fingerprint)? {
                Ok(known) => known
                    .or(carried.cloned())
                    .map(Some)
                    .ok_or_else(|| refuse("unknown")),
                Err(status) => Err(refuse(&status)),
            },
        }
    }
}

/// The facts about an opened file: sender, name, time, note, bytes of content.
type Facts = (
    Option<PublicPassport>,
    Option<String>,
    Option<u64>,
    Option<String>,
    u64,
);

fn facts(sender: Option<Contact>, metadata: Metadata, length: u64) -> Facts {
    let Metadata {
        name,
        modified,
        note,
        directory: _,
    } = metadata;
    (
        sender.map(PublicPassport::carried),
        name,
        modified,
        note,
        length,
    )
}

type Payload<'a> = Box<dyn Read + Send + 'a>;

/// The binary form, and its length if that is known; 0 if not.
fn dearmored<'a>(source: Source, watch: &'a Watch) -> Result<(Payload<'a>, u64), Error> {
    let total = source.length();
    let buffered = BufReader::with_capacity(BUFFER, Watched::new(source, watch, total));
    let binary = Dearmored::detect(buffered)?;
    let length = if binary.is_armored() { 0 } else { total };
    Ok((Box::new(binary), length))
}

/// Opens a source to a target. Nothing is returned or committed before all of it is verified.
#[pyfunction]
#[pyo3(signature = (source, target, keys, sender, overwrite, progress=None))]
pub(crate) fn open<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    keys: KeyRing,
    sender: Accept,
    overwrite: bool,
    progress: Option<Progress>,
) -> PyResult<(Option<Bound<'py, PyAny>>, Facts)> {
    let passports = keys.passports()?;
    let content = Source::of(source)?;
    let mut target = Target::of(target, overwrite)?;
    if matches!(target, Target::Object(_)) {
        return Err(PyTypeError::new_err(
            "the target is a path or a buffer: no content must leave before all of it is verified",
        ));
    }
    target.separate(py, &content)?;
    let (workers, is_object) = (content.workers(), content.is_object());
    let watch = Watch::new(progress);
    let unlocked = py.detach(|| {
        let (binary, length) = dearmored(content, &watch)?;
        let opening = keys.unlock(&passports, binary, &watch)?;
        target.expect(opening.content_len(length).unwrap_or(0))?;
        Ok::<_, Refused>(opening)
    });
    let opened = (|| {
        let opening = watch.result(unlocked, |e| e.exception(py, &passports))?;
        let metadata = opening.metadata().clone();
        let sender = sender.decide(py, opening.sender())?;
        let opened = py.detach(|| {
            let open = || match &sender {
                Some(sender) => opening.open_signed(sender, &mut target, workers),
                None => opening.open_unsigned(&mut target, workers),
            };
            match is_object && workers != Workers::new(1) {
                true => watch.attend(open),
                false => open(),
            }
        });
        let length = watch.end(py, opened, |e| exception(py, e))?;
        Ok(facts(sender, metadata, length))
    })();
    let facts = match opened {
        Ok(facts) => facts,
        Err(error) => {
            target.abandon(py);
            return Err(error);
        }
    };
    let is_buffer = matches!(target, Target::Buffer(_));
    let content = target.finish(py, PRIVATE)?.filter(|_| !is_buffer);
    Ok((content, facts))
}

/// Random access to the content of a sealed file.
#[pyclass(frozen, module = "sealstone")]
pub(crate) struct Reader {
    /// Locked without Python's lock only: the source may be a file object.
    reader: Unnested<SealedReader<Binary>>,
    /// Progress of the constructor, and signals in each long read.
    watch: Arc<Watch>,
    /// Where the next read begins. Locked for an instant, and with Python attached: so a fork finds
    /// it unlocked.
    position: Mutex<u64>,
    sender: Option<Contact>,
    metadata: Metadata,
    length: u64,
    home: Home,
}

/// The binary form, and who watches how it is read.
struct Binary {
    form: Form,
    watch: Arc<Watch>,
    done: u64,
    total: u64,
}

/// The content of an armored file, in memory.
enum Form {
    Source(Source),
    Dearmored(Cursor<Vec<u8>>),
}

impl Binary {
    fn of(source: Source, watch: Arc<Watch>) -> Result<Self, Error> {
        let total = source.length();
        Ok(Self {
            form: Form::of(source)?,
            watch,
            done: 0,
            total,
        })
    }
}

impl Form {
    fn of(mut source: Source) -> Result<Self, Error> {
        let start = source.stream_position()?;
        let mut first = [0];
        let armored = source.read(&mut first)? == 1 && first[0] != 0x89;
        source.seek(SeekFrom::Start(start))?;
        if !armored {
            return Ok(Self::Source(source));
        }
        let mut bytes = Vec::new();
        Dearmored::detect(BufReader::new(source))?.read_to_end(&mut bytes)?;
        Ok(Self::Dearmored(Cursor::new(bytes)))
    }
}

impl Read for Binary {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = match &mut self.form {
            Form::Source(source) => source.read(bytes),
            Form::Dearmored(source) => source.read(bytes),
        }?;
        self.done += read as u64;
        self.watch.passed(self.done, self.total)?;
        Ok(read)
    }
}

impl Seek for Binary {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match &mut self.form {
            Form::Source(source) => source.seek(to),
            Form::Dearmored(source) => source.seek(to),
        }
    }
}

#[pymethods]
impl Reader {
    /// Unlocks a seekable source, and verifies the sender's signatures over all of it.
    #[new]
    #[pyo3(signature = (source, keys, sender, progress=None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        keys: KeyRing,
        sender: Accept,
        progress: Option<Progress>,
    ) -> PyResult<Self> {
        let passports = keys.passports()?;
        let source = Source::of(source)?;
        let watch = Arc::new(Watch::new(progress));
        let binary = |source| Binary::of(source, Arc::clone(&watch));
        let opening = py.detach(|| keys.unlock(&passports, binary(source)?, &watch));
        let opening = watch.result(opening, |e| e.exception(py, &passports))?;
        let sender = sender.decide(py, opening.sender())?;
        let reader = py.detach(|| {
            let mut reader = SealedReader::new_unverified(opening)?;
            if let Some(sender) = &sender {
                reader.verify_sender(sender)?;
            }
            Ok(reader)
        });
        let reader = watch.end(py, reader, |e| exception(py, e))?;
        watch.forget_progress();
        Ok(Self {
            sender,
            metadata: reader.metadata().clone(),
            length: reader.content_len(),
            reader: Unnested::new(reader),
            watch,
            position: Mutex::new(0),
            home: Home::here(),
        })
    }

    /// Up to `size` bytes from `position` on, none behind the end.
    fn read_at<'py>(
        &self,
        py: Python<'py>,
        position: Number<u64>,
        size: Number<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (Number(position), Number(size)) = (position, size);
        let left = self.length.saturating_sub(position);
        let size = size.min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut output = Output::new(py, size)?;
        self.copy(py, [position, position + size as u64], &mut output)?;
        output.finish(py)
    }

    /// Up to `size` bytes from the position on, by default all. Threads that read at the same time
    /// get different bytes, as those of a file do.
    #[pyo3(signature = (size=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        size: Option<Number<u64>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let claim = self.claim(size.map_or(u64::MAX, |it| it.0));
        let size = usize::try_from(claim.to - claim.from).unwrap_or(usize::MAX);
        let read = self.read_at(py, Number(claim.from), Number(size))?;
        claim.keep();
        Ok(read)
    }

    /// As `read`, into a buffer of the caller's. Returns the number of bytes.
    fn readinto(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut target = Buffer::of(buffer)?;
        let claim = self.claim(target.len() as u64);
        let capacity = target.len().min(PIECE);
        self.copy(
            py,
            [claim.from, claim.to],
            BufWriter::with_capacity(capacity, &mut target),
        )?;
        claim.keep();
        Ok(target.finish())
    }

    /// Goes to a position, which may lie behind the end.
    fn seek(&self, offset: Number<i64>, whence: Number<i64>) -> PyResult<u64> {
        let (Number(offset), Number(whence)) = (offset, whence);
        let mut position = self.position();
        let base = match whence {
            0 => 0,
            1 => *position,
            2 => self.length,
            _ => {
                let text = format!("invalid whence ({whence}, should be 0, 1 or 2)");
                return Err(PyValueError::new_err(text));
            }
        };
        let to = i128::from(base) + i128::from(offset);
        *position =
            u64::try_from(to).map_err(|_| PyValueError::new_err("negative seek position"))?;
        Ok(*position)
    }

    fn tell(&self) -> u64 {
        *self.position()
    }

    fn facts(&self) -> Facts {
        facts(self.sender.clone(), self.metadata.clone(), self.length)
    }
}

impl Reader {
    /// Writes the bytes at `from..to`, which are not behind the end.
    fn copy(
        &self,
        py: Python<'_>,
        [from, to]: [u64; 2],
        mut output: impl Write + Send,
    ) -> PyResult<()> {
        self.home.check("open the file")?;
        let copied = py.detach(|| {
            self.reader.with(|reader| {
                let copied = (|| {
                    reader.seek(SeekFrom::Start(from))?;
                    std::io::copy(&mut reader.by_ref().take(to - from), &mut output)?;
                    Ok(output.flush()?)
                })();
                // One thread reads at a time, so it was this one that a signal ended.
                (copied, self.watch.take_error())
            })
        });
        match copied {
            None => Err(PyRuntimeError::new_err(
                "reentrant call: the source of this file reads the file itself",
            )),
            Some((_, Some(error))) => Err(error),
            Some((copied, None)) => copied.map_err(|e: Error| exception(py, e)),
        }
    }

    fn position(&self) -> MutexGuard<'_, u64> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next `size` bytes, which nobody else reads now.
    fn claim(&self, size: u64) -> Claim<'_> {
        let mut position = self.position();
        let from = *position;
        *position += size.min(self.length.saturating_sub(from));
        Claim {
            reader: self,
            from,
            to: *position,
        }
    }
}

/// Bytes that one thread reads. After a failure or a panic the position is as before, unless
/// another thread has gone on.
struct Claim<'a> {
    reader: &'a Reader,
    from: u64,
    to: u64,
}

impl Claim<'_> {
    /// The bytes were read.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut position = self.reader.position();
        if *position == self.to {
            *position = self.from;
        }
    }
}

/// Every recipient of a sealed file in words, without any key; nothing of it is authenticated.
#[pyfunction]
pub(crate) fn recipients(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let source = Source::of(source)?;
    let watch = Watch::new(None);
    let read = py.detach(|| {
        let (binary, _length) = dearmored(source, &watch)?;
        let sealed = Sealed::read(binary)?;
        Ok(sealed.descriptions().map(|it| it.text).collect())
    });
    watch.result(read, |e| exception(py, e))
}
