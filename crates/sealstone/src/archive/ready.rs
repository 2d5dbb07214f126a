//! Bytes that a reader gives before it prepares more.

/// Bytes, and how many of them have been given.
#[derive(Default)]
pub(super) struct Ready {
    bytes: Vec<u8>,
    given: usize,
}

impl Ready {
    /// Fills the beginning of `place`. Returns 0 if nothing is ready.
    pub(super) fn give(&mut self, place: &mut [u8]) -> usize {
        let rest = &self.bytes[self.given..];
        let n = rest.len().min(place.len());
        place[..n].copy_from_slice(&rest[..n]);
        self.given += n;
        n
    }
}

impl From<Vec<u8>> for Ready {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, given: 0 }
    }
}
