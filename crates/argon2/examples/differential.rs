//! Random parameters and inputs, on every instruction set, against RustCrypto's `argon2`. With
//! `--print`, prints the cases for another implementation to compare
//! (`tests/interop/reference.py`).
//!
//! `cargo run --release -p sealstone-argon2 --example differential -- CASES SEED [--print]`

use sealstone_argon2::blake2b::Blake2b;
use sealstone_argon2::{Arena, Argon2, Cpu, Params, Variant, Version};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| {
        arguments
            .get(at)
            .map_or(default, |text| text.parse().expect("a number"))
    };
    let (cases, seed) = (number(0, 20_000), number(1, 1));
    let print = arguments.iter().any(|argument| argument == "--print");
    let mut arena = Arena::new();
    for case in 0..cases {
        let case = Case::random(&mut Random::new(seed, case));
        let expected = case.by_rustcrypto();
        for cpu in Cpu::available() {
            assert_eq!(case.by_us(cpu, &mut arena), expected, "{cpu:?} {case:?}");
        }
        if print {
            println!("{}", case.line(&expected));
        }
    }
    eprintln!(
        "{cases} cases, seed {seed}: 0 disagreements on {} instruction sets",
        Cpu::available().count()
    );
}

#[derive(Debug)]
struct Case {
    params: Params,
    threads: usize,
    tag_len: usize,
    password: Vec<u8>,
    salt: Vec<u8>,
    secret: Vec<u8>,
    data: Vec<u8>,
}

impl Case {
    fn random(random: &mut Random) -> Self {
        let lanes = if random.below(2) == 0 {
            1
        } else {
            1 + random.below(12)
        };
        let more = [40, 300, 1500][random.below(3) as usize];
        let params = Params::new(8 * lanes + random.below(more), 1 + random.below(4), lanes)
            .expect("parameters of RFC 9106");
        let version = [Version::V0x13, Version::V0x10][random.below(2) as usize];
        let longest = [33, 65, 1025][random.below(3) as usize];
        let (salt, length) = (8 + random.below(60), 200 * random.below(2));
        Self {
            params: params
                .with_variant(Variant::ALL[random.below(3) as usize])
                .with_version(version),
            threads: 1 + random.below(3) as usize,
            tag_len: 4 + random.below(longest - 4) as usize,
            password: random.bytes(length),
            salt: random.bytes(salt),
            secret: random.string(40),
            data: random.string(32),
        }
    }

    fn by_us(&self, cpu: Cpu, arena: &mut Arena) -> Vec<u8> {
        let argon2 = Argon2::new(self.params)
            .secret(&self.secret)
            .associated_data(&self.data);
        let mut tag = vec![0; self.tag_len];
        argon2
            .on(cpu)
            .threads(self.threads)
            .hash(&self.password, &self.salt, &mut tag, arena)
            .expect("enough memory");
        tag
    }

    fn by_rustcrypto(&self) -> Vec<u8> {
        use argon2::{Algorithm, Argon2, AssociatedData, ParamsBuilder};
        let mut params = ParamsBuilder::new();
        params
            .m_cost(self.params.memory_kib())
            .t_cost(self.params.passes())
            .p_cost(self.params.lanes());
        params
            .output_len(self.tag_len)
            .data(AssociatedData::new(&self.data).expect("up to 32 bytes"));
        let algorithm = [Algorithm::Argon2d, Algorithm::Argon2i, Algorithm::Argon2id]
            [self.params.variant() as usize];
        let version = match self.params.version() {
            Version::V0x10 => argon2::Version::V0x10,
            Version::V0x13 => argon2::Version::V0x13,
        };
        let params = params.build().expect("parameters of RFC 9106");
        let argon2 = Argon2::new_with_secret(&self.secret, algorithm, version, params)
            .expect("a short secret");
        let mut tag = vec![0; self.tag_len];
        argon2
            .hash_password_into(&self.password, &self.salt, &mut tag)
            .expect("inputs of RFC 9106");
        tag
    }

    fn line(&self, tag: &[u8]) -> String {
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let params = &self.params;
        format!(
            "{} {} {} {} {} [{}] [{}] [{}] [{}] [{}]",
            params.variant() as u32,
            params.version() as u32,
            params.memory_kib(),
            params.passes(),
            params.lanes(),
            hex(&self.password),
            hex(&self.salt),
            hex(&self.secret),
            hex(&self.data),
            hex(tag)
        )
    }
}

/// Random bytes, determined by a seed.
struct Random {
    seed: [u64; 2],
    count: u64,
}

impl Random {
    fn new(seed: u64, case: u64) -> Self {
        Self {
            seed: [seed, case],
            count: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        let words = [self.seed[0], self.seed[1], self.count].map(u64::to_le_bytes);
        let hash = Blake2b::hash(words.as_flattened());
        hash.first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word))
    }

    fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    fn bytes(&mut self, len: u32) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Empty, or up to `longest` bytes.
    fn string(&mut self, longest: u32) -> Vec<u8> {
        let len = if self.below(3) == 0 {
            0
        } else {
            self.below(longest + 1)
        };
        self.bytes(len)
    }
}
