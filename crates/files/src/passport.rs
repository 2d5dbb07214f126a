//! The two files of a passport: the secret half, and the public half next to it.
//!
//! Whenever a program stops, every secret half that was made is in a file. No public half is
//! without its secret half: others would seal files with it that nobody can open.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use sealstone::Error;
use sealstone::passport::{Fingerprint, MAX_LEN, PublicPassport, SecretPassport};

use crate::keep::{self, PRIVATE, PUBLIC};
use crate::{DEFAULT_PASSPORT, Document, Input, OutputError, WRITABLE_BY_OTHERS};
use crate::{directory_of, former_default_passports, holds, public_half, tagged};

/// The files of a passport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassportFiles {
    /// The path of the secret half.
    pub secret: PathBuf,
    /// The path of the public half.
    pub public: PathBuf,
}

/// Which step of writing a passport has failed.
#[derive(Debug)]
pub enum PassportError {
    /// The secret half. There is no new file.
    Secret(OutputError),
    /// The public half. The secret one is complete.
    Public {
        /// The reason.
        error: OutputError,
        /// Where the secret half is.
        secret: PathBuf,
    },
    /// The last name. The secret half has its name.
    PublicName {
        /// The reason.
        error: OutputError,
        /// Where the public half is.
        public: PathBuf,
    },
}

/// No program makes more passports whose fingerprints begin with the same digits.
const MAX_KEPT: u32 = 1000;

/// Where others can put another file into the place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// The file, its directory, or that of the link that leads to it.
    pub place: PathBuf,
    /// Whether it belongs to another user. If not, others have the permission to write to it.
    pub is_anothers: bool,
}

/// Whether others can put another file into the place of this one: its owner is another user, or
/// others may write to it or to its directory. If it is a link, that holds for the file that it
/// leads to, and for both directories. The directories above are not looked at.
///
/// # Errors
/// The system's error.
pub fn can_be_exchanged(path: &Path) -> io::Result<Option<Exposed>> {
    /// Nobody renames a file of another user in such a directory.
    const STICKY: u32 = 0o1000;
    const ROOT: u32 = 0;
    let target = path.canonicalize()?;
    let directories = [directory_of(path), directory_of(&target)].map(|place| (place, true));
    for (place, is_directory) in [(target, false)].into_iter().chain(directories) {
        let metadata = place.metadata()?;
        let (owner, mode) = (metadata.uid(), metadata.mode());
        // Root can do everything anyway, and may own the directory that a disk is mounted on.
        let is_anothers = owner != geteuid().as_raw() && !(is_directory && owner == ROOT);
        let is_protected = is_directory && mode & STICKY != 0;
        if is_anothers || mode & WRITABLE_BY_OTHERS != 0 && !is_protected {
            return Ok(Some(Exposed { place, is_anothers }));
        }
    }
    Ok(None)
}

/// The passports that were the default one of the user with this directory, and were replaced by
/// another one. An interrupted rotation leaves a copy of the default passport, which does not
/// count. A file that is no passport is passed over.
pub fn replaced_passports(directory: &Path) -> Vec<Fingerprint> {
    let name = |path: &PathBuf| Some(read_secret(path).ok()?.fingerprint());
    let current = name(&directory.join(DEFAULT_PASSPORT));
    let former = former_default_passports(directory);
    let replaced = former.iter().filter_map(name);
    replaced.filter(|found| Some(*found) != current).collect()
}

impl PassportFiles {
    /// At `path` and next to it.
    pub fn at(path: &Path) -> Self {
        Self {
            secret: path.to_owned(),
            public: public_half(path),
        }
    }

    /// Reads the public half of the passport with this fingerprint: next to the secret half, or
    /// under the name with the fingerprint that an interrupted rotation leaves. `None` if the one
    /// next to the secret half is of another passport.
    ///
    /// # Errors
    /// Those of the file next to the secret half.
    pub fn read_public(&self, fingerprint: &Fingerprint) -> Result<Option<PublicPassport>, Error> {
        let is_it = |public: &PublicPassport| public.contact().fingerprint() == *fingerprint;
        let beside = read_public(&self.public);
        if beside.as_ref().is_ok_and(is_it) {
            return beside.map(Some);
        }
        let left = read_public(&tagged(&self.public, &fingerprint.short()));
        match left.ok().filter(is_it) {
            Some(public) => Ok(Some(public)),
            None => beside.map(|_| None),
        }
    }

    /// Fails if a file is there, or none can be made. A program checks this before it shows a
    /// passphrase.
    ///
    /// # Errors
    /// As [`keep::must_be_new`] and [`keep::must_be_makeable`].
    pub fn must_be_free(&self) -> keep::Result<()> {
        keep::must_be_new([self.secret.as_path(), &self.public])?;
        keep::must_be_makeable(&self.secret)
    }

    /// Writes both halves durably, the secret one first. Never replaces a file.
    ///
    /// # Errors
    /// [`PassportError`].
    pub fn write(&self, secret: &[u8], public: &[u8]) -> Result<(), PassportError> {
        keep::write_new(&self.secret, secret, PRIVATE).map_err(PassportError::Secret)?;
        let written = keep::write_new(&self.public, public, PUBLIC);
        written.map_err(|error| PassportError::Public {
            error,
            secret: self.secret.clone(),
        })
    }

    /// Writes the halves that are missing. Those that are there are as good: see
    /// [`PassportFiles::to_keep`].
    ///
    /// # Errors
    /// As [`keep::write_new`].
    pub fn complete(&self, secret: &[u8], public: impl FnOnce() -> String) -> keep::Result<()> {
        if !self.secret.exists() {
            keep::write_new(&self.secret, secret, PRIVATE)?;
        }
        match self.public.exists() {
            true => Ok(()),
            false => keep::write_new(&self.public, public().as_bytes(), PUBLIC),
        }
    }

    /// Replaces both halves. Writes them under names of their own, with `tag` in them, and moves
    /// them: whenever this stops, the new secret half has one of two names, and the public one is
    /// next to it or has the name with the tag.
    ///
    /// # Errors
    /// [`PassportError`].
    pub fn replace(&self, tag: &str, secret: &[u8], public: &[u8]) -> Result<(), PassportError> {
        let fresh = Self::at(&tagged(&self.secret, tag));
        fresh.write(secret, public)?;
        keep::rename(&fresh.secret, &self.secret).map_err(PassportError::Secret)?;
        let renamed = keep::rename(&fresh.public, &self.public);
        renamed.map_err(|error| PassportError::PublicName {
            error,
            public: fresh.public,
        })
    }

    /// Where the passport at `path` is kept when another one takes its name: beside it, with the
    /// beginning of its fingerprint in the name. The place is free, or an interrupted rotation has
    /// left a copy there. `None` if there is no such place.
    pub fn to_keep(path: &Path, secret: &[u8], fingerprint: &Fingerprint) -> Option<Self> {
        let short = fingerprint.short();
        let numbered = (2..MAX_KEPT).map(|number| format!("{short}-{number}"));
        std::iter::once(short.clone())
            .chain(numbered)
            .map(|tag| Self::at(&tagged(path, &tag)))
            .find(|place| place.takes(secret, fingerprint))
    }

    /// Whether each file is missing, or holds this passport.
    fn takes(&self, secret: &[u8], fingerprint: &Fingerprint) -> bool {
        let has_secret = || holds(&self.secret, secret).unwrap_or(false);
        let is_it = |public: PublicPassport| public.contact().fingerprint() == *fingerprint;
        let has_public = || read_public(&self.public).is_ok_and(is_it);
        (!self.secret.exists() || has_secret()) && (!self.public.exists() || has_public())
    }
}

fn read_public(path: &Path) -> Result<PublicPassport, Error> {
    PublicPassport::from_armor(&document(path)?)
}

fn read_secret(path: &Path) -> Result<SecretPassport, Error> {
    SecretPassport::from_armor(&document(path)?)
}

fn document(path: &Path) -> io::Result<Document> {
    // The path may have characters that harm a terminal, and the caller knows it.
    Input::new(File::open(path)?, "the passport")?.document(MAX_LEN)
}

impl fmt::Display for PassportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(error) => write!(f, "{error}"),
            Self::Public { error, .. } => write!(f, "only the secret half was written: {error}"),
            Self::PublicName { error, .. } => write!(f, "the public half was not moved: {error}"),
        }
    }
}

impl std::error::Error for PassportError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Refusal;
    use sealstone::passport::{NewSlot, Passport, SlotKey};
    use sealstone::{KdfParams, NO_PROGRESS, Passphrase};
    use std::fs::{Permissions, create_dir, read, remove_file, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn passport() -> (Fingerprint, String) {
        let passport = Passport::generate("Alice", 1).unwrap();
        (passport.fingerprint(), passport.public().to_armor())
    }

    #[test]
    fn a_passport_is_replaced_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let files = PassportFiles::at(&directory.path().join("default.passport"));
        files.must_be_free().unwrap();
        files.write(b"old", b"old public").unwrap();
        let refused = files.must_be_free().unwrap_err();
        assert!(matches!(refused.reason, Refusal::Kept));
        files.replace("9aee5533", b"new", b"new public").unwrap();
        assert_eq!(read(&files.secret).unwrap(), b"new");
        assert_eq!(read(&files.public).unwrap(), b"new public");
        assert_eq!(directory.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    fn an_error_says_which_half_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let files = PassportFiles::at(&directory.path().join("a.passport"));
        create_dir(&files.public).unwrap();
        let error = files.write(b"secret", b"public").unwrap_err();
        assert!(matches!(error, PassportError::Public { secret, .. } if secret == files.secret));
        let error = files.write(b"other", b"public").unwrap_err();
        assert!(matches!(error, PassportError::Secret(_)));
        assert_eq!(read(&files.secret).unwrap(), b"secret");
        let error = files.replace("b", b"new", b"public").unwrap_err();
        let at = directory.path().join("a.b.pub");
        assert!(matches!(error, PassportError::PublicName { public, .. } if public == at));
        assert_eq!(read(&files.secret).unwrap(), b"new");
        assert_eq!(read(at).unwrap(), b"public");
    }

    #[test]
    fn an_old_passport_is_kept_where_it_is_free_or_is_kept_already() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("default.passport");
        let (alice, public) = passport();
        let place = || PassportFiles::to_keep(&path, b"secret", &alice).unwrap();
        let first = place();
        assert_eq!(first, PassportFiles::at(&tagged(&path, &alice.short())));
        // An interrupted rotation goes on.
        write(&first.secret, "secret").unwrap();
        assert_eq!(place(), first);
        first.complete(b"secret", || public.clone()).unwrap();
        assert_eq!(place(), first);
        first.complete(b"other", || panic!("it is there")).unwrap();
        assert_eq!(read(&first.secret).unwrap(), b"secret");
        // Another passport is in the way.
        write(&first.public, passport().1).unwrap();
        let second = PassportFiles::at(&tagged(&path, &format!("{}-2", alice.short())));
        assert_eq!(place(), second);
        write(&second.secret, "another").unwrap();
        assert!(
            place()
                .secret
                .ends_with(format!("default.{}-3.passport", alice.short()))
        );
    }

    #[test]
    fn a_public_half_is_beside_its_secret_half_or_under_the_name_with_its_fingerprint() {
        let directory = tempfile::tempdir().unwrap();
        let files = PassportFiles::at(&directory.path().join("default.passport"));
        let ((alice, public), (_, another)) = (passport(), passport());
        let found = || files.read_public(&alice).map(|public| public.is_some());
        let missing = found().unwrap_err();
        assert!(matches!(missing, Error::Io(e) if e.kind() == io::ErrorKind::NotFound));
        write(&files.public, &another).unwrap();
        assert!(!found().unwrap());
        let left = tagged(&files.public, &alice.short());
        write(&left, &another).unwrap();
        assert!(!found().unwrap());
        write(&left, &public).unwrap();
        assert!(found().unwrap());
        remove_file(&files.public).unwrap();
        assert!(found().unwrap());
        write(&left, "nothing").unwrap();
        write(&files.public, &public).unwrap();
        assert!(found().unwrap());
        remove_file(&files.public).unwrap();
        create_dir(&files.public).unwrap();
        let text = found().unwrap_err().to_string();
        assert!(text.ends_with("the passport: is a directory"), "{text}");
    }

    #[test]
    fn others_exchange_a_file_in_its_directory_and_where_a_link_leads() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        let [near, far] = ["near", "far"].map(|name| top.join(name));
        for place in [&near, &far] {
            create_dir(place).unwrap();
        }
        let (link, file) = (near.join("default.passport"), far.join("a.passport"));
        write(&file, "secret").unwrap();
        symlink(&file, &link).unwrap();
        let allow = |place: &Path, mode| {
            set_permissions(place, Permissions::from_mode(mode)).unwrap();
        };
        let found = |path: &Path| can_be_exchanged(path).unwrap().map(|it| it.place);
        for (place, modes) in [
            (&file, [0o620, 0o602]),
            (&near, [0o770, 0o702]),
            (&far, [0o770, 0o707]),
        ] {
            for mode in modes {
                for (it, good) in [(&file, 0o600), (&near, 0o755), (&far, 0o700)] {
                    allow(it, good);
                }
                assert_eq!((found(&link), found(&file)), (None, None));
                allow(place, mode);
                assert_eq!(found(&link).as_ref(), Some(place), "{mode:o}");
                let through = (place != &near).then_some(place);
                assert_eq!(found(&file).as_ref(), through, "{mode:o}");
            }
        }
        // Nobody renames the files of others there.
        allow(&far, 0o1777);
        assert_eq!(found(&link), None);
        remove_file(&file).unwrap();
        let missing = can_be_exchanged(&link).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_default_passport_was_not_replaced_by_a_copy_of_itself() {
        let directory = tempfile::tempdir().unwrap();
        let replaced = || replaced_passports(directory.path());
        let put = |name: &str| {
            let passport = Passport::generate("Alice", 1).unwrap();
            write(directory.path().join(name), secret(&passport)).unwrap();
            passport.fingerprint()
        };
        let first = put("default.a.passport");
        write(directory.path().join("default.b.passport"), "nothing").unwrap();
        assert_eq!(replaced(), [first]);
        put(DEFAULT_PASSPORT);
        assert_eq!(replaced(), [first]);
        let copy = directory.path().join("default.c.passport");
        std::fs::copy(directory.path().join(DEFAULT_PASSPORT), copy).unwrap();
        assert_eq!(replaced(), [first]);
        put(DEFAULT_PASSPORT);
        assert_eq!(replaced().len(), 2);
    }

    fn secret(passport: &Passport) -> String {
        let slot = NewSlot {
            key: SlotKey::Passphrase(&Passphrase::new(b"a passphrase").unwrap()),
            name: "",
            created: 1,
            params: KdfParams::new(7168, 5, 1).unwrap(),
            on_progress: NO_PROGRESS,
        };
        SecretPassport::new(passport, &slot).unwrap().to_armor()
    }
}
