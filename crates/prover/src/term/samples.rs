//! Random inputs that travel with every bit.

/// How many random inputs there are: one for each bit of a `u64`.
pub const SAMPLES: usize = 64;

/// SplitMix64: the same numbers in every run, so that every run can be repeated.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}

/// Turns a matrix of 64 × 64 bits: bit `i` of word `j` becomes bit `j` of word `i`. By halves, as
/// in Hacker's Delight 7-3.
pub(super) fn transpose(matrix: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width != 0 {
        for rows in matrix.chunks_exact_mut(2 * width) {
            let (upper, lower) = rows.split_at_mut(width);
            for (a, b) in upper.iter_mut().zip(lower) {
                let swap = (*a >> width ^ *b) & mask;
                *a ^= swap << width;
                *b ^= swap;
            }
        }
        width >>= 1;
        mask ^= mask << width;
    }
}

/// The values of a word, of at most 128 bits, from the samples of its bits.
pub(super) fn values(bits: impl Iterator<Item = u64>) -> [u128; SAMPLES] {
    let (mut low, mut high) = ([0; 64], [0; 64]);
    for (i, samples) in bits.enumerate() {
        match i {
            0..64 => low[i] = samples,
            _ => high[i - 64] = samples,
        }
    }
    transpose(&mut low);
    // Zeros stay zeros.
    if high != [0; 64] {
        transpose(&mut high);
    }
    core::array::from_fn(|i| u128::from(low[i]) + (u128::from(high[i]) << 64))
}

/// The inverse of [`values`]: the samples of each of 128 bits.
pub(super) fn bits(values: &[u128; SAMPLES]) -> [u64; 128] {
    let mut low = values.map(|value| value as u64);
    let mut high = values.map(|value| (value >> 64) as u64);
    transpose(&mut low);
    if high != [0; 64] {
        transpose(&mut high);
    }
    core::array::from_fn(|i| if i < 64 { low[i] } else { high[i - 64] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_twice_is_nothing_and_once_is_what_it_says() {
        let mut random = Random::new(1);
        let matrix: [u64; 64] = core::array::from_fn(|_| random.number());
        let mut turned = matrix;
        transpose(&mut turned);
        for (i, row) in matrix.iter().enumerate() {
            for (j, column) in turned.iter().enumerate() {
                assert_eq!(row >> j & 1, column >> i & 1);
            }
        }
    }

    #[test]
    fn values_and_bits_are_inverse() {
        let mut random = Random::new(2);
        let numbers: [u128; 64] = core::array::from_fn(|_| {
            u128::from(random.number()) << 64 | u128::from(random.number())
        });
        assert_eq!(values(bits(&numbers).into_iter()), numbers);
    }

    /// The numbers of the reference implementation (S. Vigna, splitmix64.c), from seed 1234567.
    #[test]
    fn random_numbers_are_those_of_split_mix() {
        let mut random = Random::new(1_234_567);
        let numbers: [u64; 5] = core::array::from_fn(|_| random.number());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers, published);
    }
}
