//! Passports.

use crate::data::Text;
use crate::errors::{about, exception, wrong_passphrase};
use crate::number::Number;
use crate::process::Home;
use crate::stream::Source;
use crate::watch::{Progress, Watch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple};
use sealstone::passport::{Contact, NewSlot, SecretPassport, SlotKey, Words};
use sealstone::{Error, KdfLimits, KdfParams, Passphrase};
use sealstone_files::{Existing, PRIVATE};
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The half of a passport that its owner hands out.
#[pyclass(frozen, eq, hash, module = "sealstone")]
pub(crate) struct PublicPassport {
    pub(crate) contact: Contact,
    text: String,
}

/// A secret identity, unlocked. Its keys are wiped by `close`, at the end of `with`, and when the
/// last reference goes. A forked child does not have them.
#[pyclass(frozen, module = "sealstone")]
pub(crate) struct Passport {
    secret: Mutex<Option<Arc<sealstone::passport::Passport>>>,
    /// Made once: it has two signatures, which take longer than most calls that it is for.
    public: PyOnceLock<Py<PublicPassport>>,
    home: Home,
}

impl PartialEq for PublicPassport {
    fn eq(&self, other: &Self) -> bool {
        self.contact.fingerprint() == other.contact.fingerprint()
    }
}

impl std::hash::Hash for PublicPassport {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.contact.fingerprint().as_bytes().hash(state);
    }
}

#[pymethods]
impl PublicPassport {
    /// Reads the armored text, from a path or bytes-like data, and checks both of its signatures.
    #[staticmethod]
    fn load(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = document(source)?;
        let public = py.detach(|| {
            let public = sealstone::passport::PublicPassport::from_armor(&text);
            public.map(|it| Self::of(&it))
        });
        public.map_err(|e| exception(py, e))
    }

    /// The armored text to hand out. Empty for the keys that a sealed file carries.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.contact.fingerprint().to_string()
    }

    #[getter]
    fn label(&self) -> &str {
        self.contact.label()
    }

    #[getter]
    fn created(&self) -> u64 {
        self.contact.created()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let data = match self.text.as_str() {
            "" => PyBytes::new(py, &self.contact.encode()),
            text => PyBytes::new(py, text.as_bytes()),
        };
        let made = py.import("sealstone._native")?.getattr("public_passport")?;
        Ok((made, (data, self.text.is_empty())))
    }

    fn __repr__(&self) -> String {
        let (label, fingerprint) = (self.contact.label(), self.contact.fingerprint());
        format!("<PublicPassport {label:?} {fingerprint}>")
    }
}

/// A function, and the arguments with which it makes the object again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// Makes a pickled public passport again, from its armored text, or from the keys that a sealed
/// file carried.
#[pyfunction]
pub(crate) fn public_passport(
    py: Python<'_>,
    data: &Bound<'_, PyBytes>,
    carried: bool,
) -> PyResult<PublicPassport> {
    if !carried {
        return PublicPassport::load(py, data.as_any());
    }
    let bytes = data.as_bytes();
    let contact = py.detach(|| Contact::decode(bytes));
    let contact = contact.map_err(|e| exception(py, e))?;
    Ok(PublicPassport::carried(contact))
}

impl PublicPassport {
    pub(crate) fn of(public: &sealstone::passport::PublicPassport) -> Self {
        let (contact, text) = (public.contact().clone(), public.to_armor());
        Self { contact, text }
    }

    /// The keys that came with a sealed file.
    pub(crate) fn carried(contact: Contact) -> Self {
        let text = String::new();
        Self { contact, text }
    }
}

#[pymethods]
impl Passport {
    /// A new identity, created now.
    #[staticmethod]
    fn generate(py: Python<'_>, label: &str) -> PyResult<Self> {
        let created = now();
        let made = py.detach(|| sealstone::passport::Passport::generate(label, created));
        Ok(Self::of(made.map_err(|e| exception(py, e))?))
    }

    /// The identity of its 24 words.
    #[staticmethod]
    fn from_words(py: Python<'_>, words: &str, label: &str) -> PyResult<Self> {
        let created = now();
        let made = py.detach(|| {
            let words = Words::parse(words)?;
            sealstone::passport::Passport::from_words(&words, label, created)
        });
        Ok(Self::of(made.map_err(|e| exception(py, e))?))
    }

    /// Unlocks a secret passport, from a path or bytes-like data.
    #[staticmethod]
    #[pyo3(signature = (source, passphrase, *, progress=None))]
    fn unlock(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        passphrase: Text,
        progress: Option<Progress>,
    ) -> PyResult<Self> {
        let text = document(source)?;
        let watch = Watch::new(progress);
        let locked = py.detach(|| SecretPassport::from_armor(&text));
        let locked = locked.map_err(|e| exception(py, e))?;
        let unlocked = py.detach(|| {
            let passphrase = Passphrase::new(passphrase.bytes())?;
            locked.unlock(&passphrase, None, &KdfLimits::default(), &watch)
        });
        let unlocked = watch.end(py, unlocked, |e| match e {
            Error::WrongPassphrase => {
                wrong_passphrase(py, Vec::new(), Some(locked.fingerprint().to_string()))
            }
            e => exception(py, e),
        })?;
        Ok(Self::of(unlocked.into_passport()))
    }

    /// The armored text of the secret passport, under a passphrase.
    #[pyo3(signature = (passphrase, *, profile=None, progress=None))]
    fn lock(
        &self,
        py: Python<'_>,
        passphrase: Text,
        profile: Option<Params>,
        progress: Option<Progress>,
    ) -> PyResult<String> {
        let passport = self.get()?;
        let watch = Watch::new(progress);
        let locked = py.detach(|| {
            let passphrase = Passphrase::new(passphrase.bytes())?;
            let slot = NewSlot {
                key: SlotKey::Passphrase(&passphrase),
                name: "",
                created: now(),
                params: profile.map_or(KdfParams::SENSITIVE, |it| it.0),
                on_progress: &watch,
            };
            Ok(SecretPassport::new(&passport, &slot)?.to_armor())
        });
        watch.end(py, locked, |e| exception(py, e))
    }

    /// Writes what `lock` gives to a new file, which only its owner can read.
    #[pyo3(signature = (path, passphrase, *, profile=None, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Text,
        profile: Option<Params>,
        progress: Option<Progress>,
    ) -> PyResult<()> {
        let text = self.lock(py, passphrase, profile, progress)?;
        let write = || sealstone_files::write(&path, text.as_bytes(), Existing::Keep, PRIVATE);
        py.detach(write).map_err(|e| about(&path, e))
    }

    /// The 24 words that restore it.
    fn words(&self) -> PyResult<String> {
        Ok(self.get()?.words().expose().to_string())
    }

    #[getter]
    fn public(&self, py: Python<'_>) -> PyResult<Py<PublicPassport>> {
        let passport = self.get()?;
        let public = self.public.get_or_try_init(py, || {
            let public = py.detach(|| PublicPassport::of(&passport.public()));
            Py::new(py, public)
        });
        Ok(public?.clone_ref(py))
    }

    #[getter]
    fn fingerprint(&self) -> PyResult<String> {
        Ok(self.get()?.fingerprint().to_string())
    }

    #[getter]
    fn label(&self) -> PyResult<String> {
        Ok(self.get()?.contact().label().to_owned())
    }

    #[getter]
    fn created(&self) -> PyResult<u64> {
        Ok(self.get()?.contact().created())
    }

    /// Whether the keys are wiped.
    #[getter]
    fn closed(&self) -> bool {
        self.slot().is_none()
    }

    /// Wipes the keys; a call that runs on another thread keeps them until it ends.
    fn close(&self) {
        *self.slot() = None;
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        slf.get()?;
        Ok(slf)
    }

    fn __exit__(&self, _type: Py<PyAny>, _value: Py<PyAny>, _traceback: Py<PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        self.slot().as_ref().map_or_else(
            || String::from("<Passport, closed>"),
            |it| format!("<Passport {:?} {}>", it.contact().label(), it.fingerprint()),
        )
    }
}

impl Passport {
    fn of(passport: sealstone::passport::Passport) -> Self {
        Self {
            secret: Mutex::new(Some(Arc::new(passport))),
            public: PyOnceLock::new(),
            home: Home::here(),
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<sealstone::passport::Passport>>> {
        self.secret.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys, if they are not wiped yet.
    pub(crate) fn get(&self) -> PyResult<Arc<sealstone::passport::Passport>> {
        self.home.check("unlock the passport")?;
        let closed = || PyValueError::new_err("the passport is closed: its keys are wiped");
        self.slot().clone().ok_or_else(closed)
    }
}

/// No passport of either kind is longer.
const LONGEST: u64 = 65_536;

/// A short file, or the bytes themselves.
fn document(source: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut text = Vec::new();
    let mut limited = Source::of(source)?.take(LONGEST + 1);
    source.py().detach(|| limited.read_to_end(&mut text))?;
    Ok(text)
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A profile's name, or memory in KiB, passes and lanes.
pub(crate) struct Params(pub(crate) KdfParams);

impl<'py> FromPyObject<'_, 'py> for Params {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyTuple>() {
            let costs: (Number<u32>, Number<u32>, Number<u32>) = object.extract()?;
            let (Number(memory), Number(passes), Number(lanes)) = costs;
            let params = KdfParams::new(memory, passes, lanes);
            return params
                .map(Self)
                .map_err(|e: Error| exception(object.py(), e));
        }
        let named = KdfParams::named(&object.extract::<String>()?);
        named.map(Self).ok_or_else(|| {
            PyValueError::new_err(
                "a profile is 'sensitive', 'moderate', 'interactive', or (KiB, passes, lanes)",
            )
        })
    }
}
