//! The parameters of Argon2.

use crate::Error;

/// Which Argon2 (RFC 9106, section 3.2: y).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Memory accesses depend on the password: the fastest to fill, but other programs on the
    /// machine may observe them.
    Argon2d = 0,
    /// Memory accesses do not depend on the password.
    Argon2i = 1,
    /// First as Argon2i, then as Argon2d. The recommended variant.
    #[default]
    Argon2id = 2,
}

/// Version of the algorithm (section 3.1: v).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// 1.0, of 2015: later passes replace blocks.
    V0x10 = 0x10,
    /// 1.3, of RFC 9106: later passes add to blocks.
    #[default]
    V0x13 = 0x13,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Argon2d, Self::Argon2i, Self::Argon2id];

    /// Its name in PHC strings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Argon2d => "argon2d",
            Self::Argon2i => "argon2i",
            Self::Argon2id => "argon2id",
        }
    }
}

/// Parameters that RFC 9106 allows.
///
/// ```
/// use sealstone_argon2::{Params, Variant};
///
/// let params = Params::new(64 * 1024, 3, 4).unwrap();
/// assert_eq!(params, Params::RFC_9106_LOW_MEMORY);
/// assert_eq!(params.variant(), Variant::Argon2id);
/// assert!(Params::new(7, 1, 1).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    variant: Variant,
    version: Version,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

/// Parameters with names, strongest first.
pub const PROFILES: [(&str, Params); 10] = [
    ("rfc9106-high-memory", Params::RFC_9106_HIGH_MEMORY),
    ("sensitive", Params::SENSITIVE),
    ("moderate", Params::MODERATE),
    ("interactive", Params::INTERACTIVE),
    ("rfc9106-low-memory", Params::RFC_9106_LOW_MEMORY),
    ("owasp-46m", Params::OWASP[0]),
    ("owasp-19m", Params::OWASP[1]),
    ("owasp-12m", Params::OWASP[2]),
    ("owasp-9m", Params::OWASP[3]),
    ("owasp-7m", Params::OWASP[4]),
];

/// See [`Params::work_kib`].
const LEAST_LANE_KIB: u64 = 128;

impl Params {
    /// 2 GiB, 1 pass, 4 lanes: the first recommended option of RFC 9106, section 4.
    pub const RFC_9106_HIGH_MEMORY: Self = Self::of(2 << 20, 1, 4);
    /// 64 MiB, 3 passes, 4 lanes: the second recommended option of RFC 9106, section 4.
    pub const RFC_9106_LOW_MEMORY: Self = Self::of(64 << 10, 3, 4);
    /// 46, 19, 12, 9 and 7 MiB with 1 to 5 passes: equally strong options of OWASP's Password
    /// Storage Cheat Sheet.
    pub const OWASP: [Self; 5] = [
        Self::of(47_104, 1, 1),
        Self::of(19_456, 2, 1),
        Self::of(12_288, 3, 1),
        Self::of(9_216, 4, 1),
        Self::of(7_168, 5, 1),
    ];
    /// 1 GiB, 4 passes: for keys of files that are kept for decades.
    pub const SENSITIVE: Self = Self::of(1 << 20, 4, 1);
    /// 256 MiB, 3 passes.
    pub const MODERATE: Self = Self::of(256 << 10, 3, 1);
    /// 64 MiB, 3 passes: for logging in.
    pub const INTERACTIVE: Self = Self::of(64 << 10, 3, 1);

    /// Argon2id, version 0x13, with `memory_kib` KiB (m), `passes` (t) and `lanes` (p).
    ///
    /// # Errors
    /// [`Error::Parameter`] unless 1 ≤ p < 2^24, m ≥ 8 p and t ≥ 1.
    pub const fn new(memory_kib: u32, passes: u32, lanes: u32) -> Result<Self, Error> {
        if lanes == 0 || lanes >= 1 << 24 {
            return Err(Error::Parameter("1 to 16777215 lanes"));
        }
        if memory_kib < 8 * lanes {
            return Err(Error::Parameter("at least 8 KiB for each lane"));
        }
        if passes == 0 {
            return Err(Error::Parameter("at least one pass"));
        }
        Ok(Self::of(memory_kib, passes, lanes))
    }

    const fn of(memory_kib: u32, passes: u32, lanes: u32) -> Self {
        Self {
            variant: Variant::Argon2id,
            version: Version::V0x13,
            memory_kib,
            passes,
            lanes,
        }
    }

    /// The profile of this name in [`PROFILES`].
    pub fn profile(name: &str) -> Option<Self> {
        PROFILES
            .iter()
            .find(|profile| profile.0 == name)
            .map(|profile| profile.1)
    }

    /// Sets another variant.
    #[must_use]
    pub const fn with_variant(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// Sets another version.
    #[must_use]
    pub const fn with_version(self, version: Version) -> Self {
        Self { version, ..self }
    }

    /// Which Argon2.
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Version of the algorithm.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Memory in KiB (m).
    pub const fn memory_kib(&self) -> u32 {
        self.memory_kib
    }

    /// Passes over the memory (t).
    pub const fn passes(&self) -> u32 {
        self.passes
    }

    /// Lanes (p): the number of threads that can share the work.
    pub const fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Blocks of memory that a hash uses: m′, which is m rounded down to a multiple of 4 p.
    pub const fn blocks(&self) -> u64 {
        self.segment_blocks() * 4 * self.lanes as u64
    }

    /// The work of a hash in KiB times passes. A lane of less than 128 KiB counts as 128 KiB,
    /// because each of its four segments takes a fixed time in each pass, however short it is.
    ///
    /// ```
    /// use sealstone_argon2::Params;
    ///
    /// assert_eq!(Params::new(65_536, 3, 4)?.work_kib(), 3 * 65_536);
    /// assert_eq!(Params::new(16, 3, 2)?.work_kib(), 3 * 2 * 128);
    /// # Ok::<(), sealstone_argon2::Error>(())
    /// ```
    pub const fn work_kib(&self) -> u64 {
        // Below 2^32 and 128 · 2^24, times 2^32.
        let (memory, least) = (self.memory_kib as u64, LEAST_LANE_KIB * self.lanes as u64);
        let charged = if memory < least { least } else { memory };
        charged * self.passes as u64
    }

    /// Blocks in a segment.
    pub(crate) const fn segment_blocks(&self) -> u64 {
        (self.memory_kib / (4 * self.lanes)) as u64
    }
}
