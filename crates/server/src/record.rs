//! Records of the store that hold JSON, changed by compare and replace.
//!
//! ```
//! use sealstone_server::record;
//! use sealstone_server::store::RedbStore;
//!
//! let directory = tempfile::tempdir()?;
//! let store = RedbStore::open(&directory.path().join("store.redb"))?;
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! runtime.block_on(async {
//!     let len = record::edit(&store, "names", |names: &mut Vec<String>| {
//!         names.push("a".to_owned());
//!         Ok(names.len())
//!     });
//!     assert_eq!(len.await?, 1);
//!     let names: Vec<String> = record::read(&store, "names").await?;
//!     assert_eq!(names, ["a"]);
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::{Replace, Store, StoreError};
use crate::{Error, Result};

/// How often an edit is tried while other processes edit, too.
const ATTEMPTS: usize = 64;

/// The value of a record; the default value if there is none.
///
/// # Errors
/// If the store fails, or the record was altered.
pub async fn read<T: Default + DeserializeOwned>(store: &dyn Store, name: &str) -> Result<T> {
    decode(name, store.get(name).await?.as_deref())
}

/// Changes the value of a record. `change` may run several times; after an error of it, nothing
/// was changed.
///
/// # Errors
/// If the store fails, the record was altered, or `change` refuses.
pub async fn edit<T, R>(
    store: &dyn Store,
    name: &str,
    mut change: impl FnMut(&mut T) -> Result<R>,
) -> Result<R>
where
    T: Default + Serialize + DeserializeOwned,
{
    for _ in 0..ATTEMPTS {
        let before = store.get(name).await?;
        let mut value: T = decode(name, before.as_deref())?;
        let result = change(&mut value)?;
        let after = serde_json::to_vec(&value).map_err(|_| damaged(name))?;
        if before.as_ref() == Some(&after) {
            return Ok(result);
        }
        let replace = Replace {
            name: name.to_owned(),
            expected: before,
            value: Some(after),
        };
        if store.update(vec![replace]).await? {
            return Ok(result);
        }
    }
    Err(StoreError::Busy.into())
}

fn decode<T: Default + DeserializeOwned>(name: &str, bytes: Option<&[u8]>) -> Result<T> {
    match bytes {
        None => Ok(T::default()),
        Some(bytes) => serde_json::from_slice(bytes).map_err(|_| damaged(name)),
    }
}

fn damaged(name: &str) -> Error {
    Error::Damaged(format!("the record {name}"))
}
