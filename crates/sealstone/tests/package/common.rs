//! Passports and a package with every layer except the timestamp.

use std::collections::BTreeMap;
use std::io;

use sealstone::Result;
use sealstone::package::{
    Draft, Json, Layer, Object, Package, RelativePath, Report, Source, Verdict,
};
use sealstone::passport::Passport;
use sealstone_primitives::secret::Secret;

pub(crate) const TIME: u64 = 1_790_000_000;
pub(crate) const HMAC_KEY: &[u8] = &[7; 32];
pub(crate) const SECRET: &[u8] = &[9; 32];
pub(crate) const POLICY: &[u8] = br#"{"use": "research only"}"#;

/// A passport derived from one byte.
pub(crate) fn passport(seed: u8) -> Passport {
    let seed = Secret::with(|bytes| bytes.fill(seed));
    Passport::from_seed(seed, "Somebody", TIME).unwrap()
}

/// Files in memory.
#[derive(Clone, Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, Stored>);

#[derive(Clone)]
pub(crate) enum Stored {
    File(Vec<u8>),
    Link(String),
    Directory,
    Broken,
}

impl Files {
    pub(crate) fn with(mut self, path: &str, content: &[u8]) -> Self {
        self.0
            .insert(path.to_owned(), Stored::File(content.to_vec()));
        self
    }
}

/// A reader that fails immediately.
struct Broken;

impl io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Other.into())
    }
}

impl Source for Files {
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>> {
        Ok(match self.0.get(path.as_str()) {
            None => Object::Missing,
            Some(Stored::File(content)) => Object::File(Box::new(&content[..])),
            Some(Stored::Link(target)) => Object::Link(target.clone()),
            Some(Stored::Directory) => Object::Other,
            Some(Stored::Broken) => Object::File(Box::new(Broken)),
        })
    }

    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()> {
        let files = self.0.iter();
        files
            .filter(|(_, stored)| !matches!(stored, Stored::Directory))
            .for_each(|(path, _)| found(path));
        Ok(())
    }
}

/// One embedded file, a policy, an HMAC and keys; both are required.
pub(crate) fn draft() -> Result<Draft<'static>> {
    let mut draft = Draft::new();
    draft.embed("a.txt", b"content")?;
    draft.author("An Author")?;
    draft.policy(Json::parse(POLICY)?);
    draft.metadata(Json::parse(br#"{"version": 3}"#)?)?;
    draft.hmac(HMAC_KEY)?;
    draft.derive_keys(SECRET)?;
    draft.require(Layer::Hmac)?;
    draft.require(Layer::Keys)?;
    Ok(draft)
}

/// That draft, signed by passport 1.
pub(crate) fn package() -> Package {
    draft().unwrap().sign(&passport(1), TIME).unwrap()
}

/// The same package, read again.
pub(crate) fn stored(package: &Package) -> Package {
    Package::decode(&package.encode()).unwrap()
}

/// The verdicts of the six layers in order, by first letters: good, bad, unchecked, absent.
pub(crate) fn verdicts(report: &Report) -> String {
    let letter = |verdict: Verdict| match verdict {
        Verdict::Good => 'g',
        Verdict::Bad => 'b',
        Verdict::Unchecked => 'u',
        Verdict::Absent => 'a',
    };
    report.layers.iter().map(|it| letter(it.verdict)).collect()
}
