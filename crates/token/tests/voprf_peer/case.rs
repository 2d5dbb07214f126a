//! Random cases, the same in every run, so that failures are reproducible.

use rand_core::{CryptoRng, RngCore};

/// The inputs of a protocol run.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) seed: [u8; 32],
    pub(crate) key_info: Vec<u8>,
    pub(crate) info: Vec<u8>,
    pub(crate) inputs: Vec<Vec<u8>>,
}

impl Case {
    pub(crate) fn inputs(&self) -> Vec<&[u8]> {
        self.inputs.iter().map(Vec::as_slice).collect()
    }
}

/// SplitMix64. Good enough for test data, because the secrets here protect nothing.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// With two to nine inputs if `batch`, else with one.
    pub(crate) fn case(&mut self, batch: bool) -> Case {
        let count = if batch { 2 + self.below(8) } else { 1 };
        let mut seed = [0; 32];
        self.fill_bytes(&mut seed);
        Case {
            seed,
            key_info: self.bytes(0),
            info: self.bytes(0),
            // The peer refuses the empty input.
            inputs: (0..count).map(|_| self.bytes(1)).collect(),
        }
    }

    /// At least `min` bytes, mostly few, sometimes the maximum of the RFC.
    fn bytes(&mut self, min: usize) -> Vec<u8> {
        let len = match self.below(50) {
            0 => min,
            1 => usize::from(u16::MAX),
            2 => 200 + self.below(400),
            _ => min + self.below(130),
        };
        let mut bytes = vec![0; len];
        self.fill_bytes(&mut bytes);
        bytes
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next_u64() % limit as u64).expect("below the limit")
    }
}

impl RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

impl CryptoRng for Random {}
