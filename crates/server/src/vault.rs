//! The service's passport, and secrets sealed to it (`spec/service.md`, "Keys").
//!
//! ```
//! use sealstone_server::vault::Vault;
//!
//! let directory = tempfile::tempdir()?;
//! let vault = Vault::open(directory.path(), None, "Issuer", 1_767_225_600)?;
//! let sealed = vault.seal("root", b"secret")?;
//! assert_eq!(vault.unseal("root", &sealed)?.expose(), b"secret");
//! assert!(vault.unseal("another", &sealed).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use sealstone::file::{Keys, Sealed, Sealer, Workers};
use sealstone::passport::{NewSlot, Passport, SecretPassport, SlotKey};
use sealstone::{KdfLimits, KdfParams, NO_PROGRESS, Passphrase};
use sealstone_files::{Existing, PRIVATE, make_directory, write};
use sealstone_primitives::secret::SecretVec;

use crate::store::{PASSPORT as PASSPORT_RECORD, Replace, Store};
use crate::{Error, Result};

/// The passport's file in the data directory.
pub(crate) const PASSPORT: &str = "service.passport";
const PASSPHRASE: &str = "service.passphrase";

/// An unlocked passport.
pub struct Vault {
    passport: Passport,
}

impl Vault {
    /// Unlocks the passport in `directory`, or makes one. The passphrase is in `passphrase_file`,
    /// by default a generated one beside the passport.
    ///
    /// # Errors
    /// If a file cannot be read or made, or the passphrase is wrong.
    pub fn open(
        directory: &Path,
        passphrase_file: Option<&Path>,
        label: &str,
        now: u64,
    ) -> Result<Self> {
        make_directory(directory).map_err(|e| Error::io(directory, e))?;
        let passphrase = match passphrase_file {
            Some(path) => read_passphrase(path)?,
            None => own_passphrase(&directory.join(PASSPHRASE))?,
        };
        let path = directory.join(PASSPORT);
        let passport = match std::fs::read(&path) {
            Ok(bytes) => unlock(&path, &bytes, &passphrase)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                make(&path, &passphrase, label, now)?
            }
            Err(e) => return Err(Error::io(&path, e)),
        };
        Ok(Self { passport })
    }

    /// The same for a service whose processes share `store`, which has a copy of the locked
    /// passport: all that a new process needs is the passphrase.
    ///
    /// # Errors
    /// As [`Vault::open`]; if there is no passphrase file, or the directory has another passport
    /// than the store.
    pub async fn open_shared(
        store: &dyn Store,
        directory: &Path,
        passphrase_file: Option<&Path>,
        label: &str,
        now: u64,
    ) -> Result<Self> {
        if passphrase_file.is_none() {
            let text = "a store of several processes needs [passport] passphrase-file: all of them \
                        read the same passphrase";
            return Err(Error::Config(text.to_owned()));
        }
        restore_passport(store, directory).await?;
        let vault = Self::open(directory, passphrase_file, label, now)?;
        let path = directory.join(PASSPORT);
        let own = std::fs::read(&path).map_err(|e| Error::io(&path, e))?;
        let is_first = store
            .update(vec![Replace::create(PASSPORT_RECORD, own.clone())])
            .await?;
        let kept = store.get(PASSPORT_RECORD).await?;
        if is_first || kept.as_ref() == Some(&own) {
            return Ok(vault);
        }
        Err(Error::Config(format!(
            "{} is another passport than the store's: use another data directory",
            path.display()
        )))
    }

    /// The passport.
    #[must_use]
    pub fn passport(&self) -> &Passport {
        &self.passport
    }

    /// Seals `secret`, signed, to the passport itself. Only [`Vault::unseal`] with the same name
    /// opens it.
    ///
    /// # Errors
    /// If a fault spoils the signatures.
    pub fn seal(&self, name: &str, secret: &[u8]) -> Result<Vec<u8>> {
        let mut sealer = Sealer::new();
        sealer
            .to_passport(self.passport.contact())
            .signed_without_carrying(&self.passport);
        let mut content = SecretVec::with_capacity(name.len() + 1 + secret.len());
        for part in [name.as_bytes(), &[0], secret] {
            content.extend_from_slice(part).expect("room for all");
        }
        let mut sealed = Vec::new();
        sealer.seal(content.expose(), &mut sealed, Workers::new(1))?;
        Ok(sealed)
    }

    /// Opens what [`Vault::seal`] made under this name.
    ///
    /// # Errors
    /// If `sealed` was altered, made by another passport, or under another name.
    pub fn unseal(&self, name: &str, sealed: &[u8]) -> Result<SecretVec> {
        let keys = Keys {
            passports: &[&self.passport],
            passphrases: &[],
            limits: KdfLimits::default(),
            on_progress: NO_PROGRESS,
        };
        let opening = Sealed::read(sealed)?.unlock(&keys)?;
        let mut content = Vec::with_capacity(sealed.len());
        let opened = opening.open_signed(self.passport.contact(), &mut content, Workers::new(1));
        let content = SecretVec::from_vec(content);
        opened?;
        let prefix = [name.as_bytes(), &[0]].concat();
        match content.expose().strip_prefix(prefix.as_slice()) {
            Some(secret) => Ok(SecretVec::from_slice(secret)),
            None => Err(Error::Damaged(format!("the record {name}"))),
        }
    }
}

/// The locked passport in a data directory; `None` if there is no file.
pub(crate) fn read_passport(data: &Path) -> Result<Option<Vec<u8>>> {
    let path = data.join(PASSPORT);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(&path, e)),
    }
}

/// Writes the store's copy of the passport into a directory that has none.
///
/// # Errors
/// If the store or the system refuses.
pub async fn restore_passport(store: &dyn Store, directory: &Path) -> Result<()> {
    make_directory(directory).map_err(|e| Error::io(directory, e))?;
    let path = directory.join(PASSPORT);
    match store.get(PASSPORT_RECORD).await? {
        Some(kept) if !path.exists() => {
            write(&path, &kept, Existing::Keep, PRIVATE).map_err(|e| Error::io(&path, e))
        }
        _ => Ok(()),
    }
}

fn read_passphrase(path: &Path) -> Result<Passphrase> {
    let read = SecretVec::from_vec(std::fs::read(path).map_err(|e| Error::io(path, e))?);
    Ok(Passphrase::from_line(read.expose())?)
}

/// The passphrase beside the passport, made if it is not there.
fn own_passphrase(path: &Path) -> Result<Passphrase> {
    if !path.exists() {
        let made = Passphrase::generate();
        write(path, made.expose(), Existing::Keep, PRIVATE).map_err(|e| Error::io(path, e))?;
        tracing::warn!(file = %path.display(), "made the passphrase: without it, all keys are lost");
    }
    read_passphrase(path)
}

fn unlock(path: &Path, file: &[u8], passphrase: &Passphrase) -> Result<Passport> {
    let locked = SecretPassport::from_armor(file)?;
    let unlocked = locked
        .unlock(passphrase, None, &KdfLimits::default(), NO_PROGRESS)
        .map_err(|e| Error::Passport(path.to_owned(), e))?;
    Ok(unlocked.into_passport())
}

fn make(path: &Path, passphrase: &Passphrase, label: &str, now: u64) -> Result<Passport> {
    let passport = Passport::generate(label, now)?;
    let slot = NewSlot {
        key: SlotKey::Passphrase(passphrase),
        name: "",
        created: now,
        params: KdfParams::INTERACTIVE,
        on_progress: NO_PROGRESS,
    };
    let text = SecretPassport::new(&passport, &slot)?.to_armor();
    write(path, text.as_bytes(), Existing::Keep, PRIVATE).map_err(|e| Error::io(path, e))?;
    tracing::info!(file = %path.display(), "made the passport");
    Ok(passport)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::RedbStore;

    #[test]
    fn the_same_passport_is_unlocked_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Vault::open(directory.path(), None, "Issuer", 5);
        let sealed = open().expect("a vault").seal("a", b"b").expect("sealed");
        let again = open().expect("a vault");
        assert_eq!(again.unseal("a", &sealed).expect("a secret").expose(), b"b");
        let other = tempfile::tempdir().expect("a directory");
        let other = Vault::open(other.path(), None, "Issuer", 5).expect("a vault");
        assert!(other.unseal("a", &sealed).is_err());
    }

    #[tokio::test]
    async fn processes_share_a_passport() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let store = RedbStore::open(&path("store.redb")).expect("a store");
        std::fs::write(path("passphrase"), "a passphrase of all").expect("a file");
        let open = async |name: &str| {
            let passphrase = path("passphrase");
            Vault::open_shared(&store, &path(name), Some(&passphrase), "Issuer", 5).await
        };
        let first = open("one").await.expect("a vault");
        let sealed = first.seal("a", b"b").expect("sealed");
        let second = open("two").await.expect("a vault");
        assert_eq!(
            second.unseal("a", &sealed).expect("a secret").expose(),
            b"b"
        );
        Vault::open(&path("three"), Some(&path("passphrase")), "Issuer", 5).expect("another");
        let error = open("three").await.err().expect("a refusal").to_string();
        assert!(error.contains("another passport"), "{error}");
        let without = Vault::open_shared(&store, &path("four"), None, "Issuer", 5).await;
        assert!(without.is_err());
    }

    #[test]
    fn an_altered_secret_does_not_open() {
        let directory = tempfile::tempdir().expect("a directory");
        let vault = Vault::open(directory.path(), None, "Issuer", 5).expect("a vault");
        let mut sealed = vault.seal("a", b"b").expect("sealed");
        *sealed.last_mut().expect("bytes") ^= 1;
        assert!(vault.unseal("a", &sealed).is_err());
    }

    #[test]
    fn a_wrong_passphrase_says_which_file() {
        let directory = tempfile::tempdir().expect("a directory");
        Vault::open(directory.path(), None, "Issuer", 5).expect("a vault");
        let other = directory.path().join("other");
        std::fs::write(&other, "another passphrase").expect("a file");
        let error = Vault::open(directory.path(), Some(&other), "Issuer", 5).err();
        let text = error.expect("an error").to_string();
        assert!(text.contains("service.passport"), "{text}");
    }
}
