//! Moves a store, and makes and restores backups (`spec/service.md`, "Moving").
//!
//! ```
//! use sealstone_server::moving::is_whole;
//! use sealstone_server::store::RedbStore;
//!
//! let directory = tempfile::tempdir()?;
//! let store = RedbStore::open(&directory.path().join("store.redb"))?;
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! assert!(runtime.block_on(is_whole(&store)).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sealstone_files::{AtomicFile, Existing, PRIVATE, Sync, directory_of};
use sealstone_primitives::hash::sha256;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::archive::{End, Reader, produce};
use crate::args::{BackupArgs, MigrateArgs, RestoreArgs, ServiceRole};
use crate::config::Config;
use crate::store::{
    self, FILE, INCOMING, MOVED, PASSPORT, RedbStore, Replace, Store, StoreKind, StoreOptions,
    Tally, Transfer, tally,
};
use crate::vault;
use crate::{Error, Result, admin, hex};

/// The verifier's trust store in its data directory.
pub(crate) const TRUST: &str = "trust";
/// The record that says which kind of service a store belongs to.
pub(crate) const ROLE: &str = "service/role";

/// Whether a service may work on a store.
///
/// # Errors
/// If its content is not whole yet, or moved elsewhere.
pub async fn is_whole(store: &dyn Store) -> Result<()> {
    let text = |record: Vec<u8>| String::from_utf8_lossy(&record).into_owned();
    if let Some(what) = store.get(INCOMING).await? {
        return Err(Error::Config(format!(
            "this store is not whole: {} did not end. Run it again",
            text(what)
        )));
    }
    match store.get(MOVED).await? {
        None => Ok(()),
        Some(to) => Err(Error::Config(format!(
            "the content of this store moved to {}: use that one. If the move did not end, run it \
             again, or give it up with sealstone-server migrate --give-up",
            text(to)
        ))),
    }
}

/// A store with what belongs to it.
struct Place {
    store: Arc<dyn Transfer>,
    data: PathBuf,
    /// The operator's name for it.
    name: String,
    is_shared: bool,
}

impl Place {
    async fn open(config: &Config, role: &str) -> Result<Self> {
        let Some(data) = config.data.clone() else {
            let text = "a data directory is needed: give it with --data or as data";
            return Err(Error::Config(text.to_owned()));
        };
        sealstone_files::make_directory(&data).map_err(|e| Error::io(&data, e))?;
        Ok(Self {
            store: store::open(&config.store, &data, role).await?,
            name: name(&config.store, &data, role),
            data,
            is_shared: config.store.is_shared(),
        })
    }

    /// The locked passport, which is in the directory or in the store.
    async fn passport(&self) -> Result<Option<Vec<u8>>> {
        match self.store.get(PASSPORT).await? {
            Some(kept) => Ok(Some(kept)),
            None => vault::read_passport(&self.data),
        }
    }

    /// Marks the store as not whole. The mark of the same move may be there already.
    async fn prepare(&self, what: &str) -> Result<()> {
        if self.store.get(INCOMING).await?.as_deref() == Some(what.as_bytes()) {
            return Ok(());
        }
        if !is_empty(&*self.store).await? {
            return Err(Error::Config(format!(
                "{} is not empty: nothing was changed. Name an empty store",
                self.name
            )));
        }
        set(&*self.store, INCOMING, Some(what)).await
    }

    /// Lets services work on it.
    async fn finish(&self, passport: Option<Vec<u8>>) -> Result<()> {
        if let Some(passport) = passport {
            let before = self.store.get(PASSPORT).await?;
            if before.as_ref().is_some_and(|before| *before != passport) {
                return Err(Error::Damaged("the passport".to_owned()));
            }
            let record = Replace {
                name: PASSPORT.to_owned(),
                expected: before,
                value: Some(passport),
            };
            self.store.update(vec![record]).await?;
        }
        set(&*self.store, INCOMING, None).await
    }
}

fn name(options: &StoreOptions, data: &Path, role: &str) -> String {
    match options.kind {
        StoreKind::Redb => format!("redb {}", data.join(FILE).display()),
        _ => {
            let own = || format!("sealstone_{role}");
            let name = options.name.clone().unwrap_or_else(own);
            format!("{} {name}", options.urls.join(" "))
        }
    }
}

/// Whether a store has no content.
async fn is_empty(store: &dyn Transfer) -> Result<bool> {
    let (sink, mut pages) = mpsc::channel(1);
    let mut seen = Tally::default();
    let look = async {
        while let Some(page) = pages.recv().await {
            seen.add(&page);
            if !seen.is_empty() {
                break;
            }
        }
        drop(pages);
    };
    // It ends with an error when nobody listens any more.
    let (sent, ()) = tokio::join!(store.pages(sink), look);
    match (seen.is_empty(), sent) {
        (true, Err(error)) => Err(error.into()),
        (is_empty, _) => Ok(is_empty && store.get(PASSPORT).await?.is_none()),
    }
}

/// Sets a record that others do not change.
async fn set(store: &dyn Store, name: &str, value: Option<&str>) -> Result<()> {
    let expected = store.get(name).await?;
    let value = value.map(|text| text.as_bytes().to_vec());
    if expected == value {
        return Ok(());
    }
    let name = name.to_owned();
    let record = Replace {
        name: name.clone(),
        expected,
        value,
    };
    match store.update(vec![record]).await? {
        true => Ok(()),
        false => Err(Error::Config(format!(
            "another process changes the record {name}: stop all services"
        ))),
    }
}

/// Copies all pages. Returns what was copied.
async fn copy(from: &dyn Transfer, to: &dyn Transfer) -> Result<Tally> {
    let (sink, mut pages) = mpsc::channel(4);
    let mut copied = Tally::default();
    let load = async move {
        while let Some(page) = pages.recv().await {
            copied.add(&page);
            to.load(page).await?;
        }
        Ok::<_, Error>(copied)
    };
    let (sent, loaded) = tokio::join!(from.pages(sink), load);
    let copied = loaded?;
    sent?;
    Ok(copied)
}

fn same(what: &str, here: &Tally, there: &Tally) -> Result<()> {
    match here.difference(there) {
        None => Ok(()),
        Some(difference) => Err(Error::Config(format!(
            "{what} differ ({difference}): the move did not end. Stop all services, empty the new \
             store, and run it again"
        ))),
    }
}

/// Moves the store of a service that does not run, whole or not at all.
///
/// # Errors
/// If a store fails, the new one is not empty, or they differ in the end.
pub async fn migrate(args: &MigrateArgs) -> Result<Value> {
    let role = args.role.name();
    let (from, to) = (
        Config::read(Some(&args.from))?,
        Config::read(Some(&args.to))?,
    );
    must_exist(&from)?;
    let named = |config: &Config| {
        let data = config.data.as_deref().unwrap_or(Path::new(""));
        name(&config.store, data, role)
    };
    if named(&from) == named(&to) {
        let text = "both configurations name the same store";
        return Err(Error::Config(text.to_owned()));
    }
    let from = Place::open(&from, role).await?;
    check_role(&*from.store, role).await?;
    let to = Place::open(&to, role).await?;
    let what = format!("the move from {}", from.name);
    if args.give_up {
        return give_up(&from, &to, &what).await;
    }
    let moved = from.store.get(MOVED).await?;
    if moved.is_some_and(|name| name != to.name.as_bytes()) {
        is_whole(&*from.store).await?;
    }
    to.prepare(&what).await?;
    // From here on no service works on either store.
    set(&*from.store, MOVED, Some(&to.name)).await?;
    if from.is_shared {
        tokio::time::sleep(Duration::from_secs(args.wait)).await;
    }
    let copied = copy(&*from.store, &*to.store).await?;
    same(
        "the old store and its copy",
        &tally(&*from.store).await?,
        &copied,
    )?;
    same(
        "the old store and the new one",
        &copied,
        &tally(&*to.store).await?,
    )?;
    to.finish(from.passport().await?).await?;
    let mut value = report("moved", &to.name, &copied);
    let (old, new) = (from.data.join(TRUST), to.data.join(TRUST));
    if old.exists() && !new.exists() {
        let text = format!(
            "the trust store does not move: copy {} to {} before the verifier starts, or it pins \
             its issuer anew",
            old.display(),
            new.display()
        );
        value["meaning"] = text.into();
    }
    Ok(value)
}

/// The embedded store must be there: opening it would make one.
fn must_exist(config: &Config) -> Result<()> {
    let file = config.data.as_ref().map(|data| data.join(FILE));
    match (config.store.kind, file) {
        (StoreKind::Redb, Some(file)) if !file.exists() => {
            Err(Error::io(&file, std::io::ErrorKind::NotFound.into()))
        }
        _ => Ok(()),
    }
}

async fn check_role(store: &dyn Store, role: &str) -> Result<()> {
    match store.get(ROLE).await? {
        Some(found) if found == role.as_bytes() => Ok(()),
        Some(found) => Err(Error::Config(format!(
            "this store belongs to a service of another kind: {}",
            String::from_utf8_lossy(&found)
        ))),
        None => Err(Error::Config("no service ever used this store".to_owned())),
    }
}

/// A move that did not end: services may use the old store again, and never the new one.
async fn give_up(from: &Place, to: &Place, what: &str) -> Result<Value> {
    if to.store.get(INCOMING).await?.as_deref() != Some(what.as_bytes()) {
        let text = format!("there is no such move that did not end: use {}", to.name);
        return Err(Error::Config(text));
    }
    set(&*from.store, MOVED, None).await?;
    Ok(json!({"given-up": what, "use": from.name, "delete": to.name}))
}

fn report(event: &str, store: &str, tally: &Tally) -> Value {
    let [sets, records, counters] = tally.others();
    json!({
        "event": event, "store": store, "marks": tally.marks(), "spent": tally.spent(),
        "sets": sets, "records": records, "counters": counters,
    })
}

/// Makes a backup of the embedded store, through the service if it runs.
///
/// # Errors
/// If there is no embedded store, or the backup is not whole in the end.
pub async fn backup(args: &BackupArgs) -> Result<Value> {
    if args.to.exists() {
        return Err(Error::io(
            &args.to,
            std::io::ErrorKind::AlreadyExists.into(),
        ));
    }
    let new = AtomicFile::new(&directory_of(&args.to));
    let new = new.map_err(|e| Error::io(&args.to, e))?;
    let end = match admin::fetch(&args.data, "/backup") {
        Ok(source) => receive(source, &new)?,
        Err(Error::Io(..)) => offline(&args.data, &new).await?,
        Err(error) => return Err(error),
    };
    new.commit(&args.to, Existing::Keep, PRIVATE, Sync::Full)
        .map_err(|e| Error::io(&args.to, e))?;
    let mut value = report("backed-up", &args.to.display().to_string(), &end.tally);
    value["ended"] = end.ended.into();
    Ok(value)
}

/// Reads a backup to its end, and writes what it read.
fn receive(source: impl Read, new: &AtomicFile) -> Result<End> {
    let file = BufWriter::new(new.file());
    let mut tee = Tee { source, file };
    let mut reader = Reader::new(&mut tee);
    while reader.next_page()?.is_some() {}
    let end = reader.end().cloned();
    let flushed = tee.file.flush();
    flushed.map_err(|e| Error::io(Path::new("the backup"), e))?;
    end.ok_or_else(|| Error::Damaged("the backup".to_owned()))
}

/// Reads from one and writes to the other.
struct Tee<R, W> {
    source: R,
    file: W,
}

impl<R: Read, W: Write> Read for &mut Tee<R, W> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.source.read(buffer)?;
        self.file.write_all(&buffer[..len])?;
        Ok(len)
    }
}

/// The service does not run.
async fn offline(data: &Path, new: &AtomicFile) -> Result<End> {
    let path = data.join(FILE);
    if !path.exists() {
        return Err(Error::io(&path, std::io::ErrorKind::NotFound.into()));
    }
    let store = RedbStore::open(&path)?;
    let role = store.get(ROLE).await?.unwrap_or_default();
    let role = String::from_utf8_lossy(&role).into_owned();
    let (bytes, mut parts) = mpsc::channel::<Vec<u8>>(4);
    let passport = vault::read_passport(data)?;
    let write = async {
        let mut file = BufWriter::new(new.file());
        while let Some(part) = parts.recv().await {
            file.write_all(&part).map_err(|e| Error::io(&path, e))?;
        }
        file.flush().map_err(|e| Error::io(&path, e))
    };
    let (made, written) = tokio::join!(produce(&store, &role, passport, bytes), write);
    written?;
    made?;
    check(new.file())
}

/// The end of a backup that was just written.
fn check(mut file: &File) -> Result<End> {
    use std::io::Seek;
    file.rewind()
        .map_err(|e| Error::io(Path::new("the backup"), e))?;
    read_to_end(BufReader::new(file))
}

fn read_to_end(source: impl Read) -> Result<End> {
    let mut reader = Reader::new(source);
    while reader.next_page()?.is_some() {}
    reader
        .end()
        .cloned()
        .ok_or_else(|| Error::Damaged("the backup".to_owned()))
}

/// Puts a backup into an empty store.
///
/// # Errors
/// If the backup is not whole, the store is not empty, or it differs in the end.
pub async fn restore(args: &RestoreArgs) -> Result<Value> {
    let open = || File::open(&args.from).map_err(|e| Error::io(&args.from, e));
    let end = read_to_end(BufReader::new(open()?))?;
    let mut config = Config::read(args.config.as_deref())?;
    config.data = args.data.clone().or(config.data);
    let role = ServiceRole::of(&end.role);
    let role = role.ok_or_else(|| Error::Damaged("the backup's role".to_owned()))?;
    let to = Place::open(&config, role.name()).await?;
    let digest = sha256(&[&serde_json::to_vec(&end).unwrap_or_default()]);
    to.prepare(&format!("the restore of a backup ({})", hex(&digest[..8])))
        .await?;
    let mut reader = Reader::new(BufReader::new(open()?));
    while let Some(page) = reader.next_page()? {
        to.store.load(page).await?;
    }
    same(
        "the backup and the store",
        &end.tally,
        &tally(&*to.store).await?,
    )?;
    vault::restore_passport(&*to.store, &to.data).await?;
    to.finish(None).await?;
    let mut value = report("restored", &to.name, &end.tally);
    value["ended"] = end.ended.into();
    value["meaning"] = match role {
        ServiceRole::Verifier => {
            "tokens that were spent after the backup ended can be spent once \
            more, until their epochs are over. To rule that out, run `admin revoke-keys` at the \
            issuer: it ends all tokens that it ever issued"
        }
        ServiceRole::Issuer => {
            "proofs and quotas that were used after the backup ended can be \
            used once more. Keys that were made after it are lost, with their tokens. If this \
            issuer verifies, tokens that were spent after it can be spent once more: run \
            `admin revoke-keys` to rule that out"
        }
    }
    .into();
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Page;

    #[test]
    fn a_copy_that_differs_ends_no_move() {
        let of = |value: &[u8]| {
            let mut tally = Tally::default();
            tally.add(&Page::Records(vec![("name".to_owned(), value.to_vec())]));
            tally
        };
        same("both", &of(b"a"), &of(b"a")).expect("the same");
        let error = same("both", &of(b"a"), &of(b"b")).expect_err("another value");
        assert!(error.to_string().contains("both differ"), "{error}");
    }
}
