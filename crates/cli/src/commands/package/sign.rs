//! `sign`

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use sealstone::monitor::Operation;
use sealstone::package::{
    DigestKind, Draft, Entry, Layer, MAX_EMBEDDED, Object, Package, Source, Work,
};
use sealstone::passport::{Contact, Passport};
use sealstone::timestamp::Roots;
use sealstone_files::{Document, Input};
use serde_json::json;

use super::files::{self, Inputs};
use super::verify::{contacts, must_hold, workers};
use crate::args::{Digest, NetworkArgs, PackageSignArgs};
use crate::commands::stored::Stored;
use crate::commands::timestamp;
use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::identity::Identity;
use crate::io::{DASH, input};
use crate::key_lifecycle;
use crate::monitor::{self, Measured};
use crate::passphrase::Passphrases;
use crate::paths;
use crate::trust;
use sealstone_terminal::clock;
use sealstone_terminal::progress::{Counter, Progress};
use sealstone_terminal::question;
use sealstone_terminal::text::{quoted, shown};

pub(in crate::commands) fn run(args: &PackageSignArgs, context: &Context) -> Result<()> {
    let identity = signer(args)?;
    let signers = &args.signers;
    if let Some(path) = &signers.cosign {
        return add(args, path, &identity, context, "co-signed", Package::cosign);
    }
    if let Some(path) = &signers.countersign {
        return add(
            args,
            path,
            &identity,
            context,
            "counter-signed",
            Package::countersign,
        );
    }
    create(args, &identity, context)
}

/// The passport that signs: the one that is named, else the default one.
fn signer(args: &PackageSignArgs) -> Result<Identity> {
    let path = args.from.clone().or_else(paths::existing_default_passport);
    let path = path.ok_or_else(|| {
        Failure::usage("there is no passport to sign with")
            .hint("make a passport of your own: sealstone passport new\nor choose --from PASSPORT")
    })?;
    Identity::load(&path)
}

fn unlock(args: &PackageSignArgs, identity: &Identity, context: &Context) -> Result<Passport> {
    key_lifecycle::check(&identity.locked.fingerprint(), context)?;
    let unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    question::finish();
    Ok(unlocked.into_passport())
}

/// Adds a signature to a package.
fn add(
    args: &PackageSignArgs,
    path: &Path,
    identity: &Identity,
    context: &Context,
    what: &str,
    sign: fn(&mut Package, &Passport, u64) -> sealstone::Result<()>,
) -> Result<()> {
    let stored = Stored::read(path)?;
    must_hold(&stored, args.signers.root.as_deref(), context)?;
    let passport = unlock(args, identity, context)?;
    let mut package = stored.package.clone();
    key_lifecycle::reserve(&passport.fingerprint(), 1, context)?;
    let start = Instant::now();
    sign(&mut package, &passport, clock::now()).about(shown(path))?;
    let latency = start.elapsed();
    watch(Operation::Cosign, &passport, &package, latency, context);
    stored.replace(&package)?;
    let signed = package.signatures().len();
    let wanted = package.manifest().threshold;
    let text = format!(
        "{what} {}: {signed} signature(s), {wanted} required",
        shown(path)
    );
    context.result(
        &text,
        || json!({"package": shown(path), "signatures": signed, "required": wanted}),
    )?;
    trust::countersign(&passport, context);
    Ok(())
}

/// Tells the monitor of a signature.
fn watch(
    operation: Operation,
    passport: &Passport,
    package: &Package,
    latency: Duration,
    context: &Context,
) {
    let (size, digest) = package.manifest().measure();
    let measured = Measured {
        operation,
        key: &passport.fingerprint(),
        latency,
        size,
        // Co-signers see a payload that others have signed.
        payload: (operation == Operation::Sign).then_some(digest),
    };
    monitor::record(&measured, context);
}

/// Everything that is read before the passphrase is asked for.
struct Job<'a> {
    args: &'a PackageSignArgs,
    target: std::path::PathBuf,
    inputs: Inputs,
    stdin: Option<Input>,
    cosigners: Vec<Contact>,
    hmac_key: Option<Document>,
    secret: Option<Document>,
    roots: Option<Roots>,
}

fn create(args: &PackageSignArgs, identity: &Identity, context: &Context) -> Result<()> {
    let job = Job::prepare(args, context)?;
    let context = &context.beside_content(job.target == Path::new(DASH));
    let passport = unlock(args, identity, context)?;
    let mut package = job.sign(&passport, context)?;
    if !args.timestamp.authorities.is_empty() {
        job.stamp(&mut package, context)?;
    }
    let encoded = package.encode();
    files::write(&job.target, &encoded, args.force)?;
    job.report(&package, encoded.len(), &passport, context)?;
    trust::countersign(&passport, context);
    Ok(())
}

impl<'a> Job<'a> {
    fn prepare(args: &'a PackageSignArgs, context: &Context) -> Result<Self> {
        let target = files::target(args.output.as_deref(), &args.paths)?;
        files::must_be_writable(&target, args.force)?;
        let from_stdin = args.paths.iter().any(|path| path == Path::new(DASH));
        let secret = |path: &Option<std::path::PathBuf>, what| {
            let path = path.as_deref();
            path.map(|path| files::secret(path, what, context))
                .transpose()
        };
        Ok(Self {
            inputs: Inputs::gather(&args.paths, &target, !args.manifest.no_times)?,
            stdin: from_stdin
                .then(|| input::open(Path::new(DASH), "the content"))
                .transpose()?,
            cosigners: contacts(&args.signers.cosigner)?,
            hmac_key: secret(&args.layers.hmac_key, "the HMAC key")?,
            secret: secret(&args.layers.secret_file, "the secret")?,
            roots: args
                .timestamp
                .tsa_roots
                .as_deref()
                .map(timestamp::read_roots)
                .transpose()?,
            target,
            args,
        })
    }

    fn sign(&self, passport: &Passport, context: &Context) -> Result<Package> {
        let mut draft = Draft::new();
        self.describe(&mut draft)?;
        let own = &passport.package_hmac_key().expose()[..];
        let own = self.args.layers.hmac_own.then_some(own);
        if let Some(key) = self.hmac_key.as_deref().or(own) {
            draft.hmac(key)?;
        }
        if let Some(secret) = &self.secret {
            draft.derive_keys(secret)?;
        }
        for layer in &self.args.layers.layers {
            draft.require(*layer)?;
        }
        if !self.args.timestamp.authorities.is_empty() {
            draft.require(Layer::Timestamp)?;
        }
        self.add_content(&mut draft, context)?;
        key_lifecycle::reserve(&passport.fingerprint(), 1, context)?;
        let start = Instant::now();
        let package = draft.sign(passport, clock::now())?;
        watch(
            Operation::Sign,
            passport,
            &package,
            start.elapsed(),
            context,
        );
        Ok(package)
    }

    /// Has an authority attest the time of the signature.
    fn stamp(&self, package: &mut Package, context: &Context) -> Result<()> {
        let network = NetworkArgs::patient(self.args.timestamp.authorities.clone());
        let stamp = timestamp::stamp(&package.to_stamp(), &network, self.roots.as_ref(), context);
        Ok(package.attach_timestamp(stamp?.as_bytes())?)
    }

    /// Everything of the manifest but its files.
    fn describe(&self, draft: &mut Draft<'_>) -> Result<()> {
        let args = &self.args.manifest;
        draft.digest(match args.digest {
            Digest::Sha3_256 => DigestKind::Sha3_256,
            Digest::SkeinTree => DigestKind::SkeinTree,
        });
        if let Some(path) = &args.policy {
            draft.policy(files::json(path, "the policy")?);
        }
        if let Some(path) = &args.metadata {
            draft
                .metadata(files::json(path, "the metadata")?)
                .about(shown(path))?;
        }
        if let Some(author) = &args.author {
            draft.author(author)?;
        }
        for cosigner in &self.cosigners {
            draft.cosigner(cosigner);
        }
        if let Some(threshold) = self.args.signers.threshold {
            draft.threshold(threshold);
        }
        Ok(())
    }

    fn add_content(&self, draft: &mut Draft<'_>, context: &Context) -> Result<()> {
        let counter = Counter::default();
        let total = self.stdin.is_none().then(|| self.inputs.size());
        let progress = Progress::bytes(context.progress(), "hashing", total, &counter);
        if self.args.manifest.embed {
            self.embed(draft)?;
        } else {
            let count = |bytes| counter.add(bytes);
            let work = Work {
                workers: workers(),
                progress: &count,
            };
            draft
                .files(&self.inputs, &self.inputs.listed, work)
                .map_err(|(path, error)| Failure::from(error).about(path))?;
            if let Some(stdin) = &self.stdin {
                let name = &self.args.manifest.name;
                draft
                    .file(name, &mut counter.count(stdin))
                    .about(stdin.name())?;
            }
        }
        if self.inputs.complete {
            draft.complete();
        }
        if let Some(media_type) = &self.args.manifest.media_type {
            draft.media_type(media_type)?;
        }
        drop(progress);
        Ok(())
    }

    fn embed(&self, draft: &mut Draft<'_>) -> Result<()> {
        for file in &self.inputs.listed {
            let bytes = match self.inputs.open(&file.path).about(&file.path)? {
                Object::File(reader) => all(reader).about(&file.path)?,
                _ => {
                    let what = "only files can be embedded";
                    return Err(Failure::usage(what).about(&file.path));
                }
            };
            let entry: &mut Entry = draft.embed(file.path.as_str(), &bytes)?;
            entry.modified = file.modified;
        }
        if let Some(stdin) = &self.stdin {
            draft.embed(&self.args.manifest.name, &all(stdin)?)?;
        }
        Ok(())
    }

    fn report(
        &self,
        package: &Package,
        bytes: usize,
        passport: &Passport,
        context: &Context,
    ) -> Result<()> {
        let manifest = package.manifest();
        let target = (self.target != Path::new(DASH)).then(|| shown(&self.target));
        let more = manifest.threshold.saturating_sub(1);
        let missing = match more {
            0 => String::new(),
            _ => format!("\n{more} more signature(s) required: sealstone sign --cosign PACKAGE"),
        };
        let text = format!(
            "signed {} file(s) in {} as {} {}{missing}",
            manifest.entries.len(),
            target.as_deref().unwrap_or("standard output"),
            quoted(passport.contact().label()),
            passport.fingerprint().brief(),
        );
        context.result(&text, || {
            json!({
                "package": target,
                "bytes": bytes,
                "files": manifest.entries.len(),
                "signer": passport.fingerprint().to_string(),
                "signatures_required": manifest.threshold,
                "complete": manifest.complete,
            })
        })
    }
}

/// Everything that is read, and one byte more than a package takes.
fn all(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_EMBEDDED as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
