//! Packages: signing, and verifying in six layers.

mod check;
mod content;

use crate::data::{Data, Secret};
use crate::errors::{about, exception};
use crate::number::{Later, Number};
use crate::output::{bytes_of, secret_of};
use crate::passport::{Passport, PublicPassport, now};
use crate::place::Place;
use crate::stream::{Source, Watched};
use crate::view::Buffer;
use crate::watch::{Progress, Watch};
use content::{Content, Given};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealstone::Error;
use sealstone::package::{DigestKind, Draft, Entry, EntryContent, Json, Layer, MAX_PACKAGE};
use sealstone_files::{AtomicFile, NewDirectory, PUBLIC, Sync, directory_of, umask};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

pub(crate) use check::{Checked, package_check};

/// A signed package.
#[pyclass(frozen, module = "sealstone.packages")]
pub(crate) struct Package(sealstone::package::Package);

/// A key of 32 to 1024 bytes, or the passport whose own HMAC key it is.
pub(crate) enum HmacKey {
    Own(Py<Passport>),
    Bytes(Secret),
}

// Derived, this would make an exception for each key of bytes, which takes longer than the HMAC.
impl<'py> FromPyObject<'_, 'py> for HmacKey {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<Passport>() {
            Ok(passport) => Ok(Self::Own(passport.to_owned().unbind())),
            Err(_) => object.extract().map(Self::Bytes),
        }
    }
}

impl HmacKey {
    /// The key's bytes.
    fn expose(&self) -> PyResult<zeroize::Zeroizing<Vec<u8>>> {
        let bytes = match self {
            Self::Own(passport) => passport.get().get()?.package_hmac_key().expose().to_vec(),
            Self::Bytes(bytes) => bytes.to_vec(),
        };
        Ok(zeroize::Zeroizing::new(bytes))
    }
}

/// The choices for a new package.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    content: Option<Content>,
    embed: Vec<(String, Data)>,
    digest: String,
    author: String,
    media_type: Option<String>,
    policy: Option<String>,
    metadata: Option<String>,
    cosigners: Vec<Py<PublicPassport>>,
    threshold: Option<Later>,
    require: Vec<String>,
    hmac_key: Option<HmacKey>,
    secret: Option<Secret>,
    times: bool,
    time: Option<Later>,
}

impl Wanted {
    fn draft<'a>(
        &'a self,
        (hmac_key, threshold): (Option<&'a [u8]>, Option<u64>),
        given: Option<&Given>,
        watch: &Watch,
    ) -> Result<Draft<'a>, (Option<String>, Error)> {
        let mut draft = Draft::new();
        if let Some(threshold) = threshold {
            draft.threshold(threshold);
        }
        self.describe(&mut draft, hmac_key)
            .map_err(|error| (None, error))?;
        for (path, bytes) in &self.embed {
            draft
                .embed(path, bytes)
                .map_err(|error| (Some(path.clone()), error))?;
        }
        if let Some(given) = given {
            let listed = given.listed(self.times, watch)?;
            let sizes = listed.iter().map(|it| it.size).sum();
            let watched = given.watched(watch, sizes);
            watched
                .work(|work| draft.files(&watched, &listed, work))
                .map_err(|(path, error)| (Some(path.to_string()), error))?;
            if given.is_directory() {
                draft.complete();
            }
        }
        if let Some(media_type) = &self.media_type {
            draft.media_type(media_type).map_err(|e| (None, e))?;
        }
        Ok(draft)
    }

    /// Everything of the manifest but its files.
    fn describe<'a>(
        &'a self,
        draft: &mut Draft<'a>,
        hmac_key: Option<&'a [u8]>,
    ) -> Result<(), Error> {
        draft.digest(match self.digest.as_str() {
            "sha3-256" => DigestKind::Sha3_256,
            "skein-tree" => DigestKind::SkeinTree,
            _ => return Err(Error::Invalid("a digest is 'sha3-256' or 'skein-tree'")),
        });
        draft.author(&self.author)?;
        if let Some(policy) = &self.policy {
            draft.policy(Json::parse(policy.as_bytes())?);
        }
        if let Some(metadata) = &self.metadata {
            draft.metadata(Json::parse(metadata.as_bytes())?)?;
        }
        for cosigner in &self.cosigners {
            draft.cosigner(&cosigner.get().contact);
        }
        hmac_key.map_or(Ok(()), |key| draft.hmac(key))?;
        self.secret
            .as_ref()
            .map_or(Ok(()), |it| draft.derive_keys(it))?;
        let layers = self.require.iter().map(|name| name.parse::<Layer>());
        layers
            .into_iter()
            .try_for_each(|layer| draft.require(layer?))
    }
}

fn digest_name(digest: DigestKind) -> &'static str {
    match digest {
        DigestKind::Sha3_256 => "sha3-256",
        DigestKind::SkeinTree => "skein-tree",
    }
}

/// An error, with the path of the file that it is about.
fn exception_at(py: Python<'_>, path: Option<String>, error: Error) -> PyErr {
    match (path, error) {
        (Some(path), Error::Invalid(what)) => PyValueError::new_err(format!("{path}: {what}")),
        (Some(path), Error::Io(error)) => about(&PathBuf::from(path), error),
        (_, error) => exception(py, error),
    }
}

/// Signs a new package.
#[pyfunction]
#[pyo3(signature = (passport, wanted, progress=None))]
pub(crate) fn package_sign(
    py: Python<'_>,
    passport: &Bound<'_, Passport>,
    wanted: Wanted,
    progress: Option<Progress>,
) -> PyResult<Package> {
    let passport = passport.get().get()?;
    let hmac_key = wanted.hmac_key.as_ref().map(HmacKey::expose).transpose()?;
    let given = wanted.content.as_ref().map(|it| it.open(py)).transpose()?;
    let watch = Watch::new(progress);
    let time = Later::optional(wanted.time.as_ref(), py)?.unwrap_or_else(now);
    let threshold = Later::optional(wanted.threshold.as_ref(), py)?;
    let signed = py.detach(|| {
        let key = hmac_key.as_ref().map(|key| &key[..]);
        let draft = wanted.draft((key, threshold), given.as_ref(), &watch)?;
        draft.sign(&passport, time).map_err(|error| (None, error))
    });
    let signed = watch.end(py, signed, |(path, error)| exception_at(py, path, error))?;
    Ok(Package(signed))
}

/// Path, size, digest, whether embedded, target of a link, media type, modification time.
type Row<'py> = (
    &'py str,
    u64,
    Option<Bound<'py, PyBytes>>,
    bool,
    Option<&'py str>,
    Option<&'py str>,
    Option<u64>,
);

fn row<'py>(py: Python<'py>, entry: &'py Entry) -> Row<'py> {
    let (digest, embedded, target) = match &entry.content {
        EntryContent::File {
            digest, embedded, ..
        } => (Some(PyBytes::new(py, digest)), *embedded, None),
        EntryContent::Link(target) => (None, false, Some(target.as_str())),
    };
    let media_type = entry.media_type.as_deref();
    (
        entry.path.as_str(),
        entry.size(),
        digest,
        embedded,
        target,
        media_type,
        entry.modified,
    )
}

/// Signers, threshold, required layers, time, author, digest, complete, metadata.
type Facts<'a> = (
    Vec<String>,
    u64,
    Vec<&'a str>,
    u64,
    &'a str,
    &'a str,
    bool,
    Option<&'a str>,
);

#[pymethods]
impl Package {
    /// Reads a package, from a path, a file object or bytes-like data. No layer is checked.
    #[staticmethod]
    #[pyo3(signature = (source, progress=None))]
    fn load(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        progress: Option<Progress>,
    ) -> PyResult<Self> {
        let source = Source::of(source)?;
        let watch = Watch::new(progress);
        let read = py.detach(|| {
            let total = source.length();
            let source = Watched::new(source, &watch, total);
            let mut bytes = Vec::new();
            source.take(MAX_PACKAGE + 1).read_to_end(&mut bytes)?;
            sealstone::package::Package::decode(&bytes)
        });
        watch.end(py, read, |error| exception(py, error)).map(Self)
    }

    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, py.detach(|| self.0.encode()))
    }

    /// Writes the package to a file, which appears whole or not at all.
    #[pyo3(signature = (path, overwrite, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        overwrite: bool,
        progress: Option<Progress>,
    ) -> PyResult<()> {
        let watch = Watch::new(progress);
        let place = py.detach(|| Place::of(&path, overwrite))?;
        let written = py.detach(|| {
            let new = AtomicFile::new(&directory_of(&place.path))?;
            let bytes = self.0.encode();
            copied(&bytes, new.file(), &watch)?;
            Ok(new)
        });
        let failed = |e| about(&path, e);
        let new = watch.end(py, written, failed)?;
        let mode = place.mode(PUBLIC & !umask());
        py.detach(|| new.commit(&place.path, place.existing, mode, Sync::Full))
            .map_err(failed)
    }

    fn facts(&self) -> Facts<'_> {
        let it = self.0.manifest();
        (
            it.signers.iter().map(ToString::to_string).collect(),
            it.threshold,
            it.required.iter().map(|layer| layer.name()).collect(),
            it.time,
            &it.author,
            digest_name(it.digest),
            it.complete,
            it.metadata.as_ref().map(Json::as_str),
        )
    }

    fn files<'py>(&'py self, py: Python<'py>) -> Vec<Row<'py>> {
        let entries = self.0.manifest().entries.iter();
        entries.map(|entry| row(py, entry)).collect()
    }

    fn policy<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.0.policy().map(|it| bytes_of(py, it)).transpose()
    }

    /// Fingerprint, role and time of each signature.
    fn signatures(&self) -> Vec<(String, &'static str, u64)> {
        let signatures = self.0.signatures();
        signatures
            .map(|(signer, role, time)| (signer.to_string(), role.name(), time))
            .collect()
    }

    fn timestamps<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let responses = self.0.timestamps();
        responses.map(|bytes| bytes_of(py, bytes)).collect()
    }

    fn layers(&self) -> Vec<&'static str> {
        self.0.layers().iter().map(|layer| layer.name()).collect()
    }

    fn embedded<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.0.embedded(path).map(|it| bytes_of(py, it)).transpose()
    }

    /// The package with one more signature.
    fn with_signature(
        &self,
        py: Python<'_>,
        passport: &Bound<'_, Passport>,
        counter: bool,
        time: Option<Number<u64>>,
    ) -> PyResult<Self> {
        let passport = passport.get().get()?;
        let time = time.map_or_else(now, |it| it.0);
        let signed = py.detach(|| {
            let mut package = self.0.clone();
            match counter {
                false => package.cosign(&passport, time)?,
                true => package.countersign(&passport, time)?,
            }
            Ok(package)
        });
        signed.map(Self).map_err(|error| exception(py, error))
    }

    /// The bytes that a timestamp has to cover.
    fn to_stamp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, py.detach(|| self.0.to_stamp()))
    }

    /// The package with one more response of a time-stamping authority.
    fn with_timestamp(&self, py: Python<'_>, response: Data) -> PyResult<Self> {
        let stamped = py.detach(|| {
            let mut package = self.0.clone();
            package.attach_timestamp(&response).map(|()| package)
        });
        stamped.map(Self).map_err(|error| exception(py, error))
    }

    /// The key of a label, which is bound to this package; its length, if it goes `into` a buffer.
    #[pyo3(signature = (secret, label, into=None))]
    fn derived_key<'py>(
        &self,
        py: Python<'py>,
        secret: Secret,
        label: &str,
        into: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let into = into.map(Buffer::of).transpose()?;
        let key = py.detach(|| self.0.derived_keys(&secret)?.key(label));
        let key = key.map_err(|error| exception(py, error))?;
        secret_of(py, key.expose(), into)
    }

    /// Names and bytes of everything that others need to check the package.
    #[pyo3(signature = (checked=None))]
    fn evidence<'py>(
        &self,
        py: Python<'py>,
        checked: Option<&Bound<'_, Checked>>,
    ) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let checked = checked.map(Bound::get);
        let files = py.detach(|| self.collect(checked)).into_iter();
        files
            .map(|it| Ok((it.path, bytes_of(py, it.bytes)?)))
            .collect()
    }

    /// Writes the evidence to a new directory, which appears whole or not at all.
    #[pyo3(signature = (target, checked=None, progress=None))]
    fn export(
        &self,
        py: Python<'_>,
        target: PathBuf,
        checked: Option<&Bound<'_, Checked>>,
        progress: Option<Progress>,
    ) -> PyResult<()> {
        let checked = checked.map(Bound::get);
        let watch = Watch::new(progress);
        let written = py.detach(|| {
            let files = self.collect(checked);
            let total = files.iter().map(|it| it.bytes.len() as u64).sum();
            let new = NewDirectory::beside(&target)?;
            let mut done = 0;
            for it in &files {
                watch.passed(done, total)?;
                new.write(&it.path, &it.bytes)?;
                done += it.bytes.len() as u64;
            }
            watch.passed(done, total)?;
            Ok(new)
        });
        let failed = |error| about(&target, error);
        let new = watch.end(py, written, failed)?;
        py.detach(|| new.commit(&target)).map_err(failed)
    }
}

/// Bytes of a file that are written between two looks at signals and progress.
const PIECE: usize = 1 << 20;

/// Writes all bytes, unless a signal or progress ends it.
fn copied(bytes: &[u8], mut file: &File, watch: &Watch) -> io::Result<()> {
    let (mut done, total) = (0, bytes.len() as u64);
    for piece in bytes.chunks(PIECE) {
        file.write_all(piece)?;
        done += piece.len() as u64;
        watch.passed(done, total)?;
    }
    Ok(())
}

impl Package {
    fn collect(&self, checked: Option<&Checked>) -> Vec<sealstone::package::Evidence> {
        let timestamps = checked.map_or(&[][..], |it| &it.0.timestamps);
        self.0.evidence(timestamps)
    }
}
