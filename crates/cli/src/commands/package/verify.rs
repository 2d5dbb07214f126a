//! `verify`

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use sealstone::monitor::Operation;
use sealstone::package::{Finding, FindingKind, Layer, Package, Report, Source, Verifier, Work};
use sealstone::passport::{Contact, Fingerprint, Passport};
use sealstone::trust::Standing;
use sealstone_files::{Document, PRIVATE, PUBLIC, keep};

use super::files::{self, Single};
use super::show::{self, Shown};
use super::{export, html};
use crate::args::PackageVerifyArgs;
use crate::commands::stored::Stored;
use crate::commands::timestamp;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{Identity, load_public};
use crate::monitor::{self, Measured};
use crate::passphrase::Passphrases;
use crate::trust::{self, Store};
use sealstone_terminal::clock;
use sealstone_terminal::progress::{Counter, Progress};
use sealstone_terminal::question;

pub(in crate::commands) fn run(args: &PackageVerifyArgs, context: &Context) -> Result<()> {
    let signers = contacts(&args.signer)?;
    let stored = match Stored::read(&args.package) {
        Ok(stored) => stored,
        Err(failure) => return malformed(failure, args, context),
    };
    let keys = Secrets::read(args, context)?;
    let known = Signers::new(&signers, context)?;
    let derived = args.derive.iter().map(|it| it.file.as_path());
    keep::must_be_new(derived.chain(args.html.as_deref()))?;
    args.export.as_deref().map_or(Ok(()), export::must_be_new)?;
    let source = source(args, &stored)?;
    let roots = args
        .roots
        .as_deref()
        .map(timestamp::read_roots)
        .transpose()?;
    let opinion = |signer: &Fingerprint, at| known.standing(signer, at);
    let verifier = keys.verifier(args, &signers).trust(&opinion);
    let verifier = match &roots {
        Some(roots) => verifier.roots(roots, clock::now()),
        None => verifier,
    };
    let start = Instant::now();
    let report = look(verifier, &stored.package, source.as_deref(), context);
    watch(&stored.package, start.elapsed(), context);
    let labels = known.labels(&stored.package);
    let shown = Shown {
        package: &stored.package,
        report: &report,
        labels: &labels,
    };
    context.print(|| shown.text(), || shown.value())?;
    if let Some(hint) = elsewhere(args, &stored.package, &report) {
        context.say(hint);
    }
    if let Some(path) = &args.html {
        keep::write_new(path, shown.html(clock::now()).as_bytes(), PUBLIC)?;
    }
    if let Some(directory) = &args.export {
        export::write(directory, &stored.package, &report.timestamps)?;
    }
    match show::exit(&report) {
        Some(exit) => Err(Failure::silent(exit)),
        None => derive(args, &stored.package, keys.secret.as_deref()),
    }
}

/// Advice if no file of the package was found where it was looked for: the content came from a
/// pipe, or the package was moved without its files.
fn elsewhere(args: &PackageVerifyArgs, package: &Package, report: &Report) -> Option<&'static str> {
    let manifest = package.manifest();
    let is_missing = |it: &Finding| it.kind == FindingKind::Missing;
    let all_missing = report.findings.len() == manifest.entries.len()
        && report.findings.iter().all(is_missing)
        && !manifest.entries.is_empty();
    if !all_missing || args.root.is_some() || args.data.is_some() {
        return None;
    }
    Some(match manifest.entries.len() == 1 && !manifest.complete {
        true => "if the file is elsewhere, name it: --data FILE",
        false => "if the files are elsewhere, name their directory: --root DIR",
    })
}

/// Tells the monitor of a verification, under the key of the first signer.
fn watch(package: &Package, latency: Duration, context: &Context) {
    let Some(key) = package.manifest().signers.first() else {
        return;
    };
    let measured = Measured {
        operation: Operation::Verify,
        key,
        latency,
        size: package.manifest().measure().0,
        payload: None,
    };
    monitor::record(&measured, context);
}

/// Goes through all layers, with progress of the content.
pub(super) fn look(
    verifier: Verifier<'_>,
    package: &Package,
    source: Option<&dyn Source>,
    context: &Context,
) -> Report {
    let counter = Counter::default();
    let total = package.manifest().entries.iter().map(|it| it.size()).sum();
    let progress = Progress::bytes(context.progress(), "verifying", Some(total), &counter);
    let count = |bytes| counter.add(bytes);
    let work = Work {
        workers: workers(),
        progress: &count,
    };
    let report = match source {
        Some(source) => verifier.source_with(source, work).verify(package),
        None => verifier.verify(package),
    };
    drop(progress);
    report
}

/// One thread for each processor.
pub(super) fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The report of `--json` and `--html` on a file that is not a package.
fn malformed(failure: Failure, args: &PackageVerifyArgs, context: &Context) -> Result<()> {
    if failure.exit != Exit::Format {
        return Err(failure);
    }
    let reason = failure.text().unwrap_or_default();
    if let Some(path) = &args.html {
        let page = html::malformed(&args.package, &reason, clock::now());
        keep::write_new(path, page.as_bytes(), PUBLIC)?;
    }
    if context.json() {
        context.print(String::new, || show::malformed(&reason))?;
        return Err(Failure::silent(failure.exit));
    }
    Err(failure)
}

/// Where the content is; nothing if the package has all of it and no directory was named.
fn source(args: &PackageVerifyArgs, stored: &Stored) -> Result<Option<Box<dyn Source>>> {
    if let Some(path) = &args.data {
        if stored.package.manifest().entries.len() != 1 {
            let what = "--data is for packages of one file";
            return Err(Failure::usage(what).hint("name the directory: --root DIR"));
        }
        if stored.package.manifest().complete {
            let what = "the package covers a whole directory, so one file is not enough";
            return Err(Failure::usage(what).hint("name the directory: --root DIR"));
        }
        return Ok(Some(Box::new(Single::open(path)?)));
    }
    let tree = stored.content(args.root.as_deref())?;
    Ok(tree.map(|tree| Box::new(tree) as Box<dyn Source>))
}

/// Writes derived keys, once the package is good.
fn derive(args: &PackageVerifyArgs, package: &Package, secret: Option<&[u8]>) -> Result<()> {
    let Some(secret) = secret.filter(|_| !args.derive.is_empty()) else {
        return Ok(());
    };
    let keys = package.derived_keys(secret)?;
    for wanted in &args.derive {
        let key = keys.key(&wanted.label)?;
        keep::write_new(&wanted.file, key.expose(), PRIVATE)?;
    }
    Ok(())
}

/// Reads public passports.
pub(super) fn contacts(files: &[std::path::PathBuf]) -> Result<Vec<Contact>> {
    let load = |path: &std::path::PathBuf| Ok(load_public(path)?.contact().clone());
    files.iter().map(load).collect()
}

/// The keys that were given.
struct Secrets {
    hmac: Option<Document>,
    own: Option<Passport>,
    secret: Option<Document>,
}

impl Secrets {
    fn read(args: &PackageVerifyArgs, context: &Context) -> Result<Self> {
        let read = |path: &Option<std::path::PathBuf>, what| {
            let path: Option<&Path> = path.as_deref();
            path.map(|path| files::secret(path, what, context))
                .transpose()
        };
        let unlock = |path: &std::path::PathBuf| {
            let passphrases = Passphrases::from(&args.unlock);
            let unlocked = Identity::load(path)?.unlock(&passphrases, context)?;
            Ok::<_, Failure>(unlocked.into_passport())
        };
        let own = args.hmac_own.as_ref().map(unlock).transpose();
        question::finish();
        Ok(Self {
            hmac: read(&args.hmac_key, "the HMAC key")?,
            own: own?,
            secret: read(&args.secret_file, "the secret")?,
        })
    }

    /// A verifier with these secrets, for these signers and the layers that the options require.
    fn verifier<'a>(&'a self, args: &PackageVerifyArgs, signers: &[Contact]) -> Verifier<'a> {
        let mut verifier = Verifier::new();
        for signer in signers {
            verifier = verifier.signer(signer);
        }
        for layer in &args.require {
            verifier = verifier.require(*layer);
        }
        if let Some(key) = self.hmac() {
            verifier = verifier.hmac_key(key);
        }
        if let Some(secret) = &self.secret {
            verifier = verifier.secret(secret);
        }
        verifier
    }

    fn hmac(&self) -> Option<&[u8]> {
        let own = self
            .own
            .as_ref()
            .map(|own| &own.package_hmac_key().expose()[..]);
        self.hmac.as_deref().or(own)
    }
}

/// Names of signers, and the user's decisions on them.
pub(super) struct Signers {
    store: Store,
    own: Option<Contact>,
    named: HashMap<Fingerprint, String>,
}

impl Signers {
    pub(super) fn new(named: &[Contact], context: &Context) -> Result<Self> {
        Ok(Self {
            store: trust::open(context)?,
            own: trust::owner_or_warning(context),
            named: named
                .iter()
                .map(|it| (it.fingerprint(), it.label().to_owned()))
                .collect(),
        })
    }

    /// The user's own passport needs no record.
    pub(super) fn standing(&self, signer: &Fingerprint, at: Option<u64>) -> Standing {
        let is_own = self
            .own
            .as_ref()
            .is_some_and(|own| own.fingerprint() == *signer);
        match self.store.standing(signer, at) {
            Standing::Unknown if is_own => Standing::Approved,
            other => other,
        }
    }

    /// The user's names for signers, else the signers' own labels.
    fn labels(&self, package: &Package) -> HashMap<Fingerprint, String> {
        let label = |signer: Fingerprint| {
            let record = self
                .store
                .get(&signer)
                .map(|record| record.label().to_owned());
            let own = self.own.as_ref().filter(|own| own.fingerprint() == signer);
            let label = record
                .filter(|label| !label.is_empty())
                .or_else(|| self.named.get(&signer).cloned())
                .or_else(|| own.map(|own| own.label().to_owned()))?;
            Some((signer, label))
        };
        package
            .signatures()
            .filter_map(|(signer, ..)| label(signer))
            .collect()
    }
}

/// Checks a package that is to be co-signed: its content, and the signatures that it has.
pub(super) fn must_hold(stored: &Stored, root: Option<&Path>, context: &Context) -> Result<()> {
    let tree = stored.content(root)?;
    let source = tree.as_ref().map(|tree| tree as &dyn Source);
    let report = look(Verifier::new(), &stored.package, source, context);
    let mut layers = report.layers.iter();
    let Some(layer) = layers.find(|it| it.prevents_signing()) else {
        return Ok(());
    };
    let exit = match layer.layer {
        Layer::Content => Exit::Content,
        _ => Exit::Authentication,
    };
    Err(
        Failure::new(exit, format!("{}: {}", layer.layer, layer.reason))
            .hint("it was not signed; look at it: sealstone verify PACKAGE"),
    )
    .about(stored.file.name())
}
