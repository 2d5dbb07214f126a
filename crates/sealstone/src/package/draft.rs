//! Making a package, and adding signatures to one.

use std::io::Read;

use super::bundle::{Parts, Signature};
use super::content::{self, Object, Source, Work};
use super::keys::{self, DerivedKeys};
use super::manifest::{check_target, is_media_type};
use super::signer::{self, SignerKeys};
use super::{
    DigestKind, Entry, EntryContent, Json, Layer, MAX_EMBEDDED, Manifest, Package, RelativePath,
    Role,
};
use crate::passport::{Contact, Fingerprint, Passport};
use crate::{Error, Result};

/// A package before it is signed.
///
/// ```
/// use sealstone::package::{DigestKind, Draft, Json, Layer};
/// use sealstone::passport::Passport;
///
/// let alice = Passport::generate("Alice", 1_790_000_000)?;
/// let mut draft = Draft::new();
/// draft.digest(DigestKind::SkeinTree);
/// draft.file("data.csv", &mut &b"a,b\n1,2\n"[..])?;
/// draft.author("Alice Example")?;
/// draft.policy(Json::parse(br#"{"use": "research only"}"#)?);
/// draft.hmac(b"32 bytes that both sides know ...")?;
/// draft.require(Layer::Hmac)?;
/// let package = draft.sign(&alice, 1_790_000_000)?;
/// assert_eq!(package.manifest().entries[0].size(), 8);
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Default)]
pub struct Draft<'a> {
    digest: DigestKind,
    complete: bool,
    entries: Vec<(Entry, Option<Vec<u8>>)>,
    author: String,
    policy: Option<Json>,
    metadata: Option<Json>,
    cosigners: Vec<Fingerprint>,
    threshold: Option<u64>,
    required: Vec<Layer>,
    hmac_key: Option<&'a [u8]>,
    secret: Option<&'a [u8]>,
}

/// A file that a directory is known to have.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Where it stands below the directory.
    pub path: RelativePath,
    /// Its length, or an estimate of it: longer files are hashed first.
    pub size: u64,
    /// Modification time in seconds since 1970, if it is to be recorded.
    pub modified: Option<u64>,
}

const MEDIA_TYPE: &str = "a media type is `type/subtype`, as in text/plain";

impl<'a> Draft<'a> {
    /// An empty package.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hashes content so. To be called before files are added; the default is SHA3-256.
    pub fn digest(&mut self, digest: DigestKind) {
        self.digest = digest;
    }

    /// Adds content that the package contains.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the path breaks a rule, or all content together is over 64 MiB.
    pub fn embed(&mut self, path: &str, content: &[u8]) -> Result<&mut Entry> {
        let embedded = self.entries.iter().filter_map(|(_, bytes)| bytes.as_ref());
        if content.len() + embedded.map(Vec::len).sum::<usize>() > MAX_EMBEDDED {
            return Err(Error::Invalid("a package contains at most 64 MiB"));
        }
        self.add(path, &mut &content[..], Some(content.to_vec()))
    }

    /// Adds a file that stands beside the package, and reads it to its end.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the path breaks a rule; the error of the reader.
    pub fn file(&mut self, path: &str, reader: &mut (impl Read + Send)) -> Result<&mut Entry> {
        self.add(path, reader, None)
    }

    fn add(
        &mut self,
        path: &str,
        reader: &mut (dyn Read + Send),
        embedded: Option<Vec<u8>>,
    ) -> Result<&mut Entry> {
        let path = RelativePath::new(path)?;
        let content = measure(self.digest, reader, embedded.is_some(), Work::default())?;
        self.push(entry(path, content, None), embedded)
    }

    fn push(&mut self, entry: Entry, embedded: Option<Vec<u8>>) -> Result<&mut Entry> {
        self.entries.push((entry, embedded));
        let (entry, _) = self.entries.last_mut().expect("it was pushed");
        Ok(entry)
    }

    /// Adds files and links of `source`, with all threads of `work`. A link is recorded, not
    /// followed.
    ///
    /// # Errors
    /// The source's error, with the path; [`Error::Invalid`] if something is gone or is neither
    /// file nor link.
    pub fn files(
        &mut self,
        source: &dyn Source,
        files: &[Listed],
        work: Work<'_>,
    ) -> Result<(), (RelativePath, Error)> {
        let digest = self.digest;
        let describe = |file: &Listed, work: Work<'_>| describe(digest, source, file, work);
        let described = content::map_by_size(digest, files, |it| it.size, work, &describe);
        for (file, content) in files.iter().zip(described) {
            let content = content.map_err(|error| (file.path.clone(), error))?;
            let entry = entry(file.path.clone(), content, file.modified);
            self.push(entry, None)
                .map_err(|error| (file.path.clone(), error))?;
        }
        Ok(())
    }

    /// Gives all files that were added so far this media type.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not `type/subtype`.
    pub fn media_type(&mut self, media_type: &str) -> Result<()> {
        if media_type.is_empty() || !is_media_type(media_type) {
            return Err(Error::Invalid(MEDIA_TYPE));
        }
        let files = self.entries.iter_mut().map(|(entry, _)| entry);
        files.for_each(|entry| entry.media_type = Some(media_type.to_owned()));
        Ok(())
    }

    /// The entries are all files of a directory: additional ones make the package bad.
    pub fn complete(&mut self) {
        self.complete = true;
    }

    /// The author, up to 256 bytes on a line.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is longer or has control characters.
    pub fn author(&mut self, author: &str) -> Result<()> {
        crate::wire::text::check_line(author, 0, 256, "")
            .map_err(|_| Error::Invalid("an author is one line of up to 256 bytes"))?;
        author.clone_into(&mut self.author);
        Ok(())
    }

    /// The policy that is bound to the package.
    pub fn policy(&mut self, policy: Json) {
        self.policy = Some(policy);
    }

    /// Free data: a JSON object.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not an object, or longer than 65,536 bytes.
    pub fn metadata(&mut self, metadata: Json) -> Result<()> {
        if !metadata.is_object() || metadata.as_str().len() > 65_536 {
            return Err(Error::Invalid(
                "metadata is a JSON object of up to 65,536 bytes",
            ));
        }
        self.metadata = Some(metadata);
        Ok(())
    }

    /// Others who are to sign, with [`Package::cosign`].
    pub fn cosigner(&mut self, signer: &Contact) {
        self.cosigners.push(signer.fingerprint());
    }

    /// How many of all signers have to sign; all, unless this is called.
    pub fn threshold(&mut self, count: u64) {
        self.threshold = Some(count);
    }

    /// Makes a layer required that not every package has: [`Layer::Hmac`], [`Layer::Keys`],
    /// [`Layer::Timestamp`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if the layer needs a key or a secret that was not given.
    pub fn require(&mut self, layer: Layer) -> Result<()> {
        match layer {
            Layer::Hmac if self.hmac_key.is_none() => {
                return Err(Error::Invalid("the layer hmac needs a key"));
            }
            Layer::Keys if self.secret.is_none() => {
                return Err(Error::Invalid("the layer keys needs a secret"));
            }
            _ => {}
        }
        if !layer.is_always_required() && !self.required.contains(&layer) {
            self.required.push(layer);
        }
        Ok(())
    }

    /// Adds an HMAC under this key of 32 to 1024 bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has another length.
    pub fn hmac(&mut self, key: &'a [u8]) -> Result<()> {
        keys::check_secret(key)?;
        self.hmac_key = Some(key);
        Ok(())
    }

    /// Binds keys to the package that are derived from this secret of 32 to 1024 bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has another length.
    pub fn derive_keys(&mut self, secret: &'a [u8]) -> Result<()> {
        keys::check_secret(secret)?;
        self.secret = Some(secret);
        Ok(())
    }

    /// Signs. The passport is the first of the signers.
    ///
    /// # Errors
    /// [`Error::Invalid`] if two paths clash, a signer is named twice, or the threshold is not from
    /// 1 to their number; [`Error::Altered`] if a fault has spoilt a signature.
    pub fn sign(mut self, passport: &Passport, time: u64) -> Result<Package> {
        self.entries.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        let (entries, embedded): (Vec<Entry>, Vec<Option<Vec<u8>>>) =
            self.entries.into_iter().unzip();
        self.required.sort_unstable();
        let signers: Vec<_> = [passport.fingerprint()]
            .into_iter()
            .chain(self.cosigners)
            .collect();
        let policy = self.policy.map(|json| json.as_str().as_bytes().to_vec());
        let manifest = Manifest {
            threshold: self.threshold.unwrap_or(signers.len() as u64),
            signers,
            required: self.required,
            time,
            author: self.author,
            digest: self.digest,
            complete: self.complete,
            entries,
            policy: policy.as_deref().map(Manifest::policy_digest),
            metadata: self.metadata,
        };
        check(&manifest)?;
        let encoded = manifest.encode();
        let digest = Manifest::digest_of(&encoded);
        let derived = |secret| {
            *DerivedKeys::new(secret, &digest, manifest.policy.as_ref())
                .confirmation()
                .expose()
        };
        let parts = Parts {
            manifest: encoded,
            policy,
            tag: self.hmac_key.map(|key| keys::hmac_tag(key, &digest)),
            confirmation: self.secret.map(derived),
            signatures: Vec::new(),
            timestamps: Vec::new(),
            embedded: embedded.into_iter().flatten().map(Into::into).collect(),
        };
        let mut package = Package { manifest, parts };
        package.add_signature(passport, Role::Signer, time)?;
        Ok(package)
    }
}

impl Package {
    /// Adds the signature of a signer whom the manifest names. Verify the package first: a signer
    /// vouches for the content.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the manifest does not name this passport, it has signed already, or a
    /// later one or a counter-signer has.
    pub fn cosign(&mut self, passport: &Passport, time: u64) -> Result<()> {
        if self.manifest.place_of(&passport.fingerprint()).is_none() {
            return Err(Error::Invalid(
                "the package does not name this passport as a signer",
            ));
        }
        self.add_signature(passport, Role::Signer, time)
    }

    /// Attests to have seen the package with all of its signatures.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the manifest names this passport as a signer, or it has signed
    /// already, or there are 64 signatures.
    pub fn countersign(&mut self, passport: &Passport, time: u64) -> Result<()> {
        if self.manifest.place_of(&passport.fingerprint()).is_some() {
            return Err(Error::Invalid(
                "the package names this passport as a signer: co-sign it",
            ));
        }
        self.add_signature(passport, Role::CounterSigner, time)
    }

    fn add_signature(&mut self, passport: &Passport, role: Role, time: u64) -> Result<()> {
        let fingerprint = passport.fingerprint();
        let index = self.place_for(&fingerprint, role)?;
        let framed = self
            .parts
            .framed(&self.parts.head(), index, role, time, &fingerprint);
        let pair = signer::sign(passport, &framed)?;
        let keys = SignerKeys::of(passport.contact()).expect("one's own passport has all keys");
        let signature = Signature::new(role, time, keys, pair);
        self.parts.signatures.insert(index, signature);
        Ok(())
    }

    /// Where the signature goes: signers in the order of the manifest, then counter-signers.
    fn place_for(&self, fingerprint: &Fingerprint, role: Role) -> Result<usize> {
        let signatures: Vec<_> = self.signatures().collect();
        if signatures.iter().any(|(signed, ..)| signed == fingerprint) {
            return Err(Error::Invalid(
                "this passport has signed the package already",
            ));
        }
        if signatures.len() == super::manifest::MAX_SIGNERS {
            return Err(Error::Invalid("a package has at most 64 signatures"));
        }
        if role == Role::CounterSigner {
            return Ok(signatures.len());
        }
        let place = self.manifest.place_of(fingerprint);
        let before = |(signed, role, _): &&(Fingerprint, Role, u64)| {
            *role == Role::Signer && self.manifest.place_of(signed) < place
        };
        let index = signatures.iter().take_while(before).count();
        let covered = self.parts.timestamps.last().map_or(0, |it| it.covers);
        let countersigned = signatures.iter().any(|it| it.1 == Role::CounterSigner);
        if countersigned || index < usize::try_from(covered).unwrap_or(usize::MAX) {
            return Err(Error::Invalid(
                "the package is counter-signed or time-stamped already: signers come before",
            ));
        }
        Ok(index)
    }
}

/// Names the rule that a user's input broke, before the manifest says that it is malformed.
fn check(manifest: &Manifest) -> Result<()> {
    let types = manifest
        .entries
        .iter()
        .filter_map(|it| it.media_type.as_deref());
    if types.clone().any(|it| it.is_empty() || !is_media_type(it)) {
        return Err(Error::Invalid(MEDIA_TYPE));
    }
    let paths = manifest.entries.iter().map(|entry| &entry.path);
    if RelativePath::clash(paths).is_some() {
        return Err(Error::Invalid(
            "two files have one path, or paths that differ only in case, or one lies below the other",
        ));
    }
    manifest.check().map_err(|error| match error {
        Error::Malformed("package: signers") => {
            Error::Invalid("signers: each once, 64 at most, and 1 to all of them have to sign")
        }
        other => other,
    })
}

fn entry(path: RelativePath, content: EntryContent, modified: Option<u64>) -> Entry {
    Entry {
        path,
        content,
        media_type: None,
        modified,
    }
}

fn measure(
    digest: DigestKind,
    reader: &mut (dyn Read + Send),
    embedded: bool,
    work: Work<'_>,
) -> Result<EntryContent> {
    let (size, digest) = content::measure(digest, reader, i64::MAX as u64, work)?;
    Ok(EntryContent::File {
        size,
        digest,
        embedded,
    })
}

fn describe(
    digest: DigestKind,
    source: &dyn Source,
    file: &Listed,
    work: Work<'_>,
) -> Result<EntryContent> {
    match source.open(&file.path)? {
        Object::File(mut reader) => measure(digest, &mut *reader, false, work),
        Object::Link(target) => {
            check_target(&target)
                .map_err(|_| Error::Invalid("the target of a link is a line of 1 to 4096 bytes"))?;
            Ok(EntryContent::Link(target))
        }
        Object::Missing => Err(Error::Invalid("the file is gone")),
        Object::Other => Err(Error::Invalid("neither a file nor a link")),
    }
}
