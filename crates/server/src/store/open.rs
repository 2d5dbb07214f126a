//! Opens the store that the configuration names.

use std::path::Path;
use std::sync::Arc;

use super::options::{FILE, StoreKind, StoreOptions};
use super::{PostgresStore, RedbStore, RedisStore, Transfer};
use crate::Result;

/// Opens the store of a service: an issuer or a verifier.
///
/// # Errors
/// If options do not fit, the server does not answer, or keeps less than is asked for.
pub async fn open(options: &StoreOptions, data: &Path, role: &str) -> Result<Arc<dyn Transfer>> {
    options.check()?;
    Ok(match options.kind {
        StoreKind::Redb => Arc::new(RedbStore::open(&data.join(FILE))?),
        StoreKind::Redis => Arc::new(RedisStore::open(options, role).await?),
        StoreKind::Postgres => Arc::new(PostgresStore::open(options, role).await?),
    })
}
