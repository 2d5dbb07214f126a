//! The keys for opening a file, and what fits none of its recipients.

use crate::data::Text;
use crate::errors::{exception, not_a_recipient, wrong_passphrase};
use crate::passport::Passport;
use crate::watch::Watch;
use pyo3::prelude::*;
use sealstone::file::{Keys, Opening, Sealed};
use sealstone::{Error, KdfLimits, Passphrase};
use std::io::Read;
use std::sync::Arc;

/// The keys for opening a file.
#[derive(FromPyObject)]
pub(crate) struct KeyRing(Vec<Py<Passport>>, Option<Text>);

impl KeyRing {
    pub(super) fn passports(&self) -> PyResult<Vec<Arc<sealstone::passport::Passport>>> {
        self.0.iter().map(|it| it.get().get()).collect()
    }

    pub(super) fn unlock<R: Read>(
        &self,
        passports: &[Arc<sealstone::passport::Passport>],
        reader: R,
        watch: &Watch,
    ) -> Result<Opening<R>, Refused> {
        let passphrase = self
            .1
            .as_ref()
            .map(|it| Passphrase::new(it.bytes()))
            .transpose()?;
        let passports: Vec<_> = passports.iter().map(|it| &**it).collect();
        let passphrases: Vec<_> = passphrase.iter().collect();
        let sealed = Sealed::read(reader)?;
        let key = sealed.file_key(&Keys {
            limits: KdfLimits::default(),
            on_progress: watch,
            ..Keys::new(&passports, &passphrases)
        });
        match key {
            Ok(key) => Ok(sealed.unlock_with(&key)?),
            Err(error) => Err(Refused {
                error,
                recipients: sealed.descriptions().map(|it| it.text).collect(),
            }),
        }
    }
}

/// Why a file does not open, and its recipients in words, if they are known.
pub(super) struct Refused {
    error: Error,
    recipients: Vec<String>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self {
            error,
            recipients: Vec::new(),
        }
    }
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Error::from(error).into()
    }
}

impl Refused {
    /// The exception for keys of these passports.
    pub(super) fn exception(
        self,
        py: Python<'_>,
        passports: &[Arc<sealstone::passport::Passport>],
    ) -> PyErr {
        match self.error {
            Error::WrongPassphrase => wrong_passphrase(py, self.recipients, None),
            Error::NotRecipient => {
                let given = passports.iter().map(|it| it.fingerprint().to_string());
                not_a_recipient(py, self.recipients, given.collect())
            }
            error => exception(py, error),
        }
    }
}
