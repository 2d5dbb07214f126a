//! Argon2id for passphrases: profiles, bounds, and the one function that runs it.

mod passphrase;
mod profile;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use minicbor::{Decode, Decoder, Encode};
use sealstone_argon2::{Arena, Argon2, Params};
use sealstone_primitives::secret::Secret;

pub use passphrase::Passphrase;
pub use profile::MemorySize;

use crate::{Error, Result};

/// Argon2id cost parameters within the bounds of the format (`spec/passport.md`).
///
/// In CBOR they are `[m, t, p]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode)]
pub struct KdfParams {
    #[n(0)]
    memory_kib: u32,
    #[n(1)]
    passes: u32,
    #[n(2)]
    lanes: u32,
}

/// Limits on the parameters that somebody else chose, for everything that one unlocking tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KdfLimits {
    /// Memory in KiB.
    pub memory_kib: u64,
    /// Memory in KiB times passes. A lane of less than 128 KiB counts as one of 128 KiB.
    pub work_kib: u64,
}

/// Progress of one key derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KdfProgress {
    /// KiB filled so far, over all passes.
    pub done: u64,
    /// KiB to fill.
    pub total: u64,
}

/// Receives the progress of key derivations, and may end them. A function of [`KdfProgress`] is one
/// that never ends them.
///
/// It is called about every millisecond, perhaps from several threads at once.
pub trait KdfWatcher {
    /// The derivation is at this point.
    fn report(&self, progress: KdfProgress);

    /// Whether the derivation has to end, with [`Error::Io`]. It is asked after each report.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl<F: Fn(KdfProgress)> KdfWatcher for F {
    fn report(&self, progress: KdfProgress) {
        self(progress);
    }
}

/// A receiver of the progress of key derivations.
pub type OnProgress<'a> = &'a (dyn KdfWatcher + Sync);

/// Ignores the progress of key derivations.
pub const NO_PROGRESS: OnProgress<'static> = &|_: KdfProgress| ();

/// Bytes of salt in every slot and stanza.
pub(crate) const SALT_LEN: usize = 32;

/// A writer goes no lower than the OWASP recommendations (7 MiB, 5 passes).
const MIN_MEMORY_KIB: u32 = 7168;
const MIN_WORK_KIB: u64 = 35_840;
const MAX_LANES: u32 = 16;

impl KdfParams {
    /// 1 GiB, 4 passes: some seconds. The default, for long-lived secrets.
    pub const SENSITIVE: Self = Self {
        memory_kib: 1 << 20,
        passes: 4,
        lanes: 1,
    };
    /// 256 MiB, 3 passes.
    pub const MODERATE: Self = Self {
        memory_kib: 1 << 18,
        passes: 3,
        lanes: 1,
    };
    /// 64 MiB, 3 passes: about a tenth of a second.
    pub const INTERACTIVE: Self = Self {
        memory_kib: 1 << 16,
        passes: 3,
        lanes: 1,
    };

    /// Own parameters: memory in KiB, passes, lanes (RFC 9106 m, t, p).
    ///
    /// # Errors
    /// [`Error::Invalid`] if they are weaker than 7168 KiB and 35,840 KiB × passes, or `lanes` is
    /// not in 1–16.
    pub fn new(memory_kib: u32, passes: u32, lanes: u32) -> Result<Self> {
        let params = Self::read(memory_kib, passes, lanes)
            .map_err(|_| Error::Invalid("Argon2id needs 1 to 16 lanes and a pass"))?;
        params.check_strength()?;
        Ok(params)
    }

    /// Refuses parameters below the minimum for writers.
    pub(crate) fn check_strength(&self) -> Result<()> {
        if self.memory_kib < MIN_MEMORY_KIB || self.work_kib() < MIN_WORK_KIB {
            return Err(Error::Invalid(
                "Argon2id needs at least 7168 KiB, and memory times passes of at least 35840 KiB",
            ));
        }
        Ok(())
    }

    /// Parameters from a file: checks the rules of Argon2 only. [`KdfLimits`] bound them from
    /// above.
    pub(crate) fn read(memory_kib: u32, passes: u32, lanes: u32) -> Result<Self> {
        if passes == 0 || !(1..=MAX_LANES).contains(&lanes) || memory_kib < 8 * lanes {
            return Err(Error::Malformed("Argon2id parameters"));
        }
        Ok(Self {
            memory_kib,
            passes,
            lanes,
        })
    }

    /// Memory in KiB (m).
    pub fn memory_kib(&self) -> u32 {
        self.memory_kib
    }

    /// Passes over the memory (t).
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Lanes (p).
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Memory times passes as [`Params::work_kib`] counts it: little memory counts as more.
    fn work_kib(&self) -> u64 {
        Params::new(self.memory_kib, self.passes, self.lanes)
            .map_or(u64::MAX, |params| params.work_kib())
    }
}

impl<'b, C> Decode<'b, C> for KdfParams {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let (memory_kib, passes, lanes) = Decode::decode(d, ctx)?;
        Self::read(memory_kib, passes, lanes)
            .map_err(|_| minicbor::decode::Error::message("Argon2id parameters"))
    }
}

impl Default for KdfParams {
    fn default() -> Self {
        Self::SENSITIVE
    }
}

impl Default for KdfLimits {
    /// 2 GiB of memory; 64 GiB of memory times passes.
    fn default() -> Self {
        Self {
            memory_kib: 2 << 20,
            work_kib: 64 << 20,
        }
    }
}

impl KdfLimits {
    /// Up to `memory_kib` KiB of memory, and as many passes over it as over the default memory.
    #[must_use]
    pub fn of_memory(memory_kib: u64) -> Self {
        Self {
            memory_kib,
            work_kib: memory_kib.saturating_mul(default_passes()),
        }
    }

    /// The memory whose limits ([`KdfLimits::of_memory`]) allow what an [`Error::KdfLimit`] says
    /// is wanted, in whole MiB. `None` for another error.
    #[must_use]
    pub fn enough(error: &Error) -> Option<MemorySize> {
        let Error::KdfLimit { wanted, what, .. } = error else {
            return None;
        };
        Some(match *what {
            "memory" => Self::enough_for(*wanted, 0),
            _ => Self::enough_for(0, *wanted),
        })
    }

    /// The memory whose limits ([`KdfLimits::of_memory`]) allow these costs in KiB and in KiB times
    /// passes, in whole MiB.
    #[must_use]
    pub fn enough_for(memory_kib: u64, work_kib: u64) -> MemorySize {
        let work = work_kib.div_ceil(default_passes());
        MemorySize(memory_kib.max(work).next_multiple_of(1 << 10))
    }

    /// Accepts `params` or says by how much they are too high. Called before any memory is taken.
    pub(crate) fn check(&self, params: &KdfParams) -> Result<()> {
        let memory = u64::from(params.memory_kib);
        if memory > self.memory_kib {
            return Err(Error::KdfLimit {
                wanted: memory,
                allowed: self.memory_kib,
                what: "memory",
            });
        }
        if params.work_kib() > self.work_kib {
            return Err(Error::KdfLimit {
                wanted: params.work_kib(),
                allowed: self.work_kib,
                what: "work",
            });
        }
        Ok(())
    }

    /// Accepts all parameters that one unlocking is going to try: each by itself, and the work of
    /// all of them together.
    ///
    /// # Errors
    /// [`Error::KdfLimit`] if it is too much.
    pub fn check_all<'a>(&self, tries: impl IntoIterator<Item = &'a KdfParams>) -> Result<()> {
        let mut work = 0u64;
        for params in tries {
            self.check(params)?;
            work = work.saturating_add(params.work_kib());
        }
        if work > self.work_kib {
            return Err(Error::KdfLimit {
                wanted: work,
                allowed: self.work_kib,
                what: "work",
            });
        }
        Ok(())
    }
}

/// How many passes over all of its memory the default allows.
fn default_passes() -> u64 {
    let default = KdfLimits::default();
    default.work_kib / default.memory_kib
}

/// Argon2id (RFC 9106, version 0x13) to a 32-byte key. The caller has checked `params` with
/// [`KdfLimits`].
///
/// The memory is wiped afterwards. Lanes run on as many threads as there are processors.
pub(crate) fn derive(
    passphrase: &Passphrase,
    salt: &[u8; SALT_LEN],
    params: &KdfParams,
    on_progress: OnProgress<'_>,
) -> Result<Secret<32>> {
    let malformed = Error::Malformed("Argon2id parameters");
    let Ok(cost) = Params::new(params.memory_kib, params.passes, params.lanes) else {
        return Err(malformed);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let cancel = AtomicBool::new(false);
    let report = |progress: sealstone_argon2::Progress| {
        on_progress.report(KdfProgress {
            done: progress.done,
            total: progress.total,
        });
        cancel.fetch_or(on_progress.is_cancelled(), Relaxed);
    };
    let argon2 = Argon2::new(cost)
        .threads(threads)
        .cancel(&cancel)
        .progress(&report);
    let mut key = Secret::zeroed();
    let tag = &mut key.expose_mut()[..];
    match argon2.hash(passphrase.as_bytes(), salt, tag, &mut Arena::new()) {
        Ok(()) => Ok(key),
        Err(sealstone_argon2::Error::OutOfMemory(_)) => Err(Error::OutOfMemory(params.memory_kib)),
        Err(sealstone_argon2::Error::Cancelled) => Err(io::Error::other("cancelled").into()),
        Err(_) => Err(malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// Counts its calls, and ends the derivation at the third.
    struct Impatient(AtomicU64);

    impl KdfWatcher for Impatient {
        fn report(&self, _: KdfProgress) {
            self.0.fetch_add(1, Relaxed);
        }

        fn is_cancelled(&self) -> bool {
            self.0.load(Relaxed) >= 3
        }
    }

    #[test]
    fn a_watcher_ends_a_derivation_that_would_take_hours() {
        let passphrase = Passphrase::new(b"passphrase").unwrap();
        let params = KdfParams::read(1 << 16, 1_000_000, 1).unwrap();
        let impatient = Impatient(AtomicU64::new(0));
        let ended = derive(&passphrase, &[7; SALT_LEN], &params, &impatient);
        assert!(matches!(ended, Err(Error::Io(error)) if error.to_string() == "cancelled"));
    }

    #[test]
    fn weak_or_absurd_parameters_are_refused_by_writers() {
        for (m, t, p) in [
            (7167, 5, 1),
            (7168, 4, 1),
            (65536, 0, 1),
            (65536, 3, 0),
            (65536, 3, 17),
        ] {
            assert!(KdfParams::new(m, t, p).is_err(), "{m} {t} {p}");
        }
        KdfParams::new(7168, 5, 1).unwrap();
    }

    #[test]
    fn limits_stop_before_memory_is_taken() {
        let limits = KdfLimits::default();
        limits.check(&KdfParams::SENSITIVE).unwrap();
        let huge = KdfParams::read(u32::MAX, 1, 1).unwrap();
        assert!(matches!(
            limits.check(&huge),
            Err(Error::KdfLimit { what: "memory", .. })
        ));
        let long = KdfParams::read(1 << 20, u32::MAX, 1).unwrap();
        assert!(matches!(
            limits.check(&long),
            Err(Error::KdfLimit { what: "work", .. })
        ));
    }

    #[test]
    fn an_error_tells_which_memory_is_enough() {
        let limits = KdfLimits::of_memory(64 << 10);
        let huge = KdfParams::read((1 << 20) + 1, 1, 1).unwrap();
        let long = KdfParams::read(32 << 10, 99, 1).unwrap();
        for (params, size) in [(huge, "1025MiB"), (long, "99MiB")] {
            let enough = KdfLimits::enough(&limits.check(&params).unwrap_err()).unwrap();
            assert_eq!(enough.to_string(), size);
            KdfLimits::of_memory(enough.0).check(&params).unwrap();
        }
        assert_eq!(KdfLimits::enough(&Error::NotRecipient), None);
    }

    /// Sixteen lanes of 8 KiB are sixty-four segments a pass, which take far longer than 128 KiB
    /// do.
    #[test]
    fn little_memory_does_not_make_passes_free() {
        let limits = KdfLimits::default();
        let of = |memory_kib, passes, lanes| KdfParams::read(memory_kib, passes, lanes).unwrap();
        for lanes in [1, 2, 16] {
            let charged = u64::from(128 * lanes);
            let passes = u32::try_from(limits.work_kib / charged).unwrap();
            for memory_kib in [8 * lanes, 128 * lanes] {
                limits.check(&of(memory_kib, passes, lanes)).unwrap();
                let error = limits
                    .check(&of(memory_kib, passes + 1, lanes))
                    .unwrap_err();
                let wanted = charged * u64::from(passes + 1);
                assert!(
                    matches!(error, Error::KdfLimit { wanted: w, what: "work", .. } if w == wanted)
                );
            }
        }
        limits.check(&of(8, 100_000, 1)).unwrap();
        let tries = [of(8, 100_000, 1); 6];
        assert!(limits.check_all(&tries[..5]).is_ok());
        assert!(limits.check_all(&tries).is_err(), "together");
    }

    #[test]
    fn parameters_that_argon2_cannot_take_are_not_decoded() {
        let decode = |m: u64, t: u32, p: u32| {
            minicbor::decode::<KdfParams>(&minicbor::to_vec((m, t, p)).unwrap()).is_ok()
        };
        assert!(decode(8, 1, 1) && decode(u64::from(u32::MAX), u32::MAX, 16));
        for (m, t, p) in [
            (7, 1, 1),
            (8, 0, 1),
            (8, 1, 0),
            (127, 1, 16),
            (1 << 20, 1, 17),
            (1 << 32, 1, 1),
        ] {
            assert!(!decode(m, t, p), "{m} {t} {p}");
        }
    }

    #[test]
    fn argon2id_is_that_of_the_phc_reference() {
        // Debian's argon2 0~20190702: `echo -n password | argon2 somesaltsomesaltsomesaltsomesalt
        // -id -t 3 -k 32 -p 1 -l 32 -r`.
        let params = KdfParams::read(32, 3, 1).unwrap();
        let passphrase = Passphrase::new(b"password").unwrap();
        let salt = b"somesaltsomesaltsomesaltsomesalt";
        let key = derive(&passphrase, salt, &params, NO_PROGRESS).unwrap();
        assert_eq!(data_encoding::HEXLOWER.encode(&key.expose()[..]), REFERENCE);
    }

    const REFERENCE: &str = "17b461827a1b66a4d4a47a9406797f51669e3889698593a535b665d92047318c";
}
