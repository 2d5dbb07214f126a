//! Links of the log's chain of hashes.

/// The hash of all entries up to one.
pub(super) type Link = [u8; 32];

/// The link before the first entry.
pub(super) const NO_LINK: Link = [0; 32];
