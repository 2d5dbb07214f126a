//! Directories as the content of sealed files (`spec/archive.md`): a tar file, an index, and the
//! hashes by which a reader of one member checks who signed it.
//!
//! | to | use |
//! |---|---|
//! | make an archive from a [`Tree`] | [`Writer`] |
//! | read all members, in order, from any reader | [`Members`] |
//! | list members, and read some, by random access | [`Archive`], [`Member`] |
//! | seal an archive again | [`Again`] |
//!
//! ```
//! use sealstone::archive::{Entry, EntryKind, Flat, Item, Members, Tree, Writer};
//!
//! /// A directory with one file.
//! struct Notes(Option<Entry>);
//! impl Tree for Notes {
//!     type Content = &'static [u8];
//!     fn next(&mut self) -> sealstone::Result<Option<Item<&'static [u8]>>> {
//!         let item = |entry| Item { entry, map: None, content: &b"attack"[..] };
//!         Ok(self.0.take().map(item))
//!     }
//! }
//! let kind = EntryKind::File { size: 6 };
//! let entry = Entry { path: b"plan".to_vec(), kind, mode: 0o644, modified: 0 };
//! let mut archive = Vec::new();
//! let tree = Notes(Some(entry.clone()));
//! std::io::copy(&mut Writer::new(tree, None), &mut archive)?;
//!
//! let mut members = Members::new(&archive[..]);
//! let mut content = Vec::new();
//! while let Some(entry) = members.next_entry()? {
//!     assert_eq!(entry.path, b"plan");
//!     members.content(&mut Flat::new(&mut content))?;
//! }
//! assert_eq!(content, b"attack");
//! # Ok::<(), sealstone::Error>(())
//! ```

mod again;
mod entry;
mod find;
mod header;
mod index;
mod read;
mod ready;
mod seek;
mod sparse;
mod tail;
mod write;

pub use again::Again;
pub use entry::{Entry, EntryKind, MAX_DEPTH, MAX_PATH};
pub use find::Member;
pub use read::{Flat, Members, Target};
pub use seek::{Archive, Entries, Found};
pub use sparse::{MAX_FRAGMENTS, Map};
pub use write::{Item, Tree, Writer};

/// The size of a tar block.
const BLOCK: usize = 512;
/// Zero bytes at the end of a tar file.
const END: usize = 2 * BLOCK;
/// How much content is copied at once.
const COPY: usize = 128 << 10;

/// `length` with the zero bytes behind it.
fn padded(length: u64) -> Option<u64> {
    length.checked_next_multiple_of(BLOCK as u64)
}
