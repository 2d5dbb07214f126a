//! Measures of a manifest for the monitor of signing (`spec/monitor.md`).

use sealstone_primitives::hash::Sha3_256;

use super::{EntryContent, Manifest};

impl Manifest {
    /// The bytes of all files, and a digest of all contents without their names and times: packages
    /// of equal contents have equal ones.
    #[must_use]
    pub fn measure(&self) -> (u64, [u8; 32]) {
        let (mut total, mut hash) = (0u64, Sha3_256::new());
        let mut add = |part: &[u8]| {
            hash.update(&(part.len() as u64).to_be_bytes());
            hash.update(part);
        };
        for entry in &self.entries {
            match &entry.content {
                EntryContent::File { size, digest, .. } => {
                    total = total.saturating_add(*size);
                    add(digest);
                }
                EntryContent::Link(target) => add(target.as_bytes()),
            }
        }
        (total, hash.finish())
    }
}
