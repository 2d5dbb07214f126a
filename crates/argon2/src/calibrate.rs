//! Parameters for this machine.

use crate::Error;
use crate::arena::Arena;
use crate::argon2::Argon2;
use crate::params::Params;
use std::time::{Duration, Instant};

/// Parameters, and the time of a hash with them on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Argon2id, version 0x13.
    pub params: Params,
    /// The time with these parameters, in memory that the arena has already.
    pub time: Duration,
}

/// The strongest parameters for which a hash takes at most `target` on this machine (RFC 9106,
/// section 4).
///
/// These have as much memory as possible, up to `memory_kib` KiB, then as many passes as possible,
/// both to within a few percent. There are `lanes` lanes, on as many threads, but at most one
/// thread for each processor. The search begins with little memory, never takes more than
/// `memory_kib` or than the system gives, and lasts some ten times `target`. If even the least
/// memory, 8 KiB for each lane, takes longer, the result is the least memory.
///
/// ```
/// use sealstone_argon2::calibrate;
/// use std::time::Duration;
///
/// let found = calibrate(Duration::from_millis(5), 1024, 1)?;
/// assert!(found.params.memory_kib() <= 1024);
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] if Argon2 does not allow `memory_kib` and `lanes`; [`Error::OutOfMemory`]
/// if the system does not give even the least memory.
pub fn calibrate(target: Duration, memory_kib: u32, lanes: u32) -> Result<Calibration, Error> {
    calibrate_with(target, memory_kib, lanes, |argon2| argon2)
}

/// [`calibrate`]; `set_up` gets each hash before it is measured, to watch it and to cancel it.
///
/// ```
/// use sealstone_argon2::{Error, calibrate_with};
/// use std::sync::atomic::AtomicBool;
/// use std::time::Duration;
///
/// let flag = AtomicBool::new(true);
/// let found = calibrate_with(Duration::from_secs(60), 1024, 1, |argon2| argon2.cancel(&flag));
/// assert_eq!(found, Err(Error::Cancelled));
/// ```
///
/// # Errors
/// As [`calibrate`]; [`Error::Cancelled`].
pub fn calibrate_with<'a>(
    target: Duration,
    memory_kib: u32,
    lanes: u32,
    set_up: impl Fn(Argon2<'a>) -> Argon2<'a>,
) -> Result<Calibration, Error> {
    let mut arena = Arena::new();
    let most = Params::new(memory_kib, 1, lanes)?;
    strongest(target, &most, |params| {
        let argon2 = Argon2::new(*params).threads(threads(params.lanes()));
        measure(&set_up(argon2), &mut arena)
    })
}

/// [`calibrate`] up to the memory of `most`, with any clock.
fn strongest(
    target: Duration,
    most: &Params,
    mut time_of: impl FnMut(&Params) -> Result<Duration, Error>,
) -> Result<Calibration, Error> {
    let lanes = most.lanes();
    let (least, most) = (8 * lanes, most.memory_kib());
    let memory = Search {
        target,
        least,
        first: most.min(least.max(FIRST_KIB)),
        most,
    };
    let (kib, time) = memory.run(|kib| time_of(&Params::new(kib, 1, lanes)?))?;
    let params = Params::new(kib, 1, lanes)?;
    if time >= target {
        return Ok(Calibration { params, time });
    }
    let passes = Search {
        target,
        least: 1,
        first: scale(1, target, time).max(2),
        most: u32::MAX,
    };
    let (passes, time) = passes.run(|passes| match passes {
        1 => Ok(time),
        _ => time_of(&Params::new(kib, passes, lanes)?),
    })?;
    let params = Params::new(kib, passes, lanes)?;
    Ok(Calibration { params, time })
}

/// The search begins with this much memory: a hash takes about a millisecond, from which longer
/// times can be estimated.
const FIRST_KIB: u32 = 4 << 10;

/// A search for the largest number whose time is at most `target`.
struct Search {
    target: Duration,
    least: u32,
    first: u32,
    most: u32,
}

impl Search {
    /// Returns that number and its time, or the least number if even that takes longer. Times are
    /// about proportional to numbers. A number for which the system has no memory is too large.
    fn run(
        &self,
        mut time_of: impl FnMut(u32) -> Result<Duration, Error>,
    ) -> Result<(u32, Duration), Error> {
        // The largest number that fits, and the least that does not.
        let (mut fits, mut above) = (None, None);
        let mut next = self.first;
        loop {
            let (time, is_within) = match time_of(next) {
                Ok(time) => (time, time <= self.target),
                // As a time, this means that half the number may fit.
                Err(Error::OutOfMemory(_)) if next > self.least => {
                    (self.target.saturating_mul(2), false)
                }
                Err(error) => return Err(error),
            };
            if is_within {
                fits = Some((next, time));
            } else if next == self.least {
                return Ok((next, time));
            } else {
                above = Some((next, time));
            }
            next = match (fits, above) {
                (Some(found), _) if found.0 == self.most => return Ok(found),
                (Some(found), Some((above, _))) if above - found.0 <= 1 + found.0 / FINE => {
                    return Ok(found);
                }
                (Some((low, _)), Some((high, time))) => {
                    // By proportion, but in the inner third, so that the interval becomes shorter
                    // however wrong the proportion is.
                    let third = ((high - low) / 3).max(1);
                    scale(high, self.target, time).clamp(low + third, high - third)
                }
                (Some((low, time)), None) => {
                    // By proportion, but at most four times as much, because short times are
                    // imprecise. A little more than what seems to fit shows that it does not.
                    let (seems, quadruple) = (scale(low, self.target, time), low.saturating_mul(4));
                    let beyond = (low + 1).max(low.saturating_add(low / FINE));
                    seems.min(quadruple).max(beyond).min(self.most)
                }
                (None, Some((high, time))) => {
                    let less = scale(high, self.target, time).min(high - high.div_ceil(4));
                    less.max(self.least)
                }
                (None, None) => self.least,
            };
        }
    }
}

/// A search ends when it is within one part in this many of the limit. Nearer, times are noise.
const FINE: u32 = 32;

/// `number` · `target` / `time`, rounded down.
fn scale(number: u32, target: Duration, time: Duration) -> u32 {
    let scaled = f64::from(number) * target.as_secs_f64() / time.as_secs_f64().max(1e-9);
    // A float that is too large becomes the largest number.
    scaled as u32
}

/// The shortest of three runs: other work on the machine only makes a run longer.
fn measure(argon2: &Argon2<'_>, arena: &mut Arena) -> Result<Duration, Error> {
    let mut time = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        argon2.hash(b"password", b"salt for timing", &mut [0; 32], arena)?;
        time = time.min(start.elapsed());
    }
    Ok(time)
}

/// One thread for each lane, but at most one for each processor: there may be millions of lanes.
fn threads(lanes: u32) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.min(lanes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// Calibrates on a machine that takes as many nanoseconds as `clock` says. Checks that
    /// calibration measures nothing above `most`, and ends soon.
    fn on(
        target_ms: u64,
        most_kib: u32,
        lanes: u32,
        clock: impl Fn(u64, u64) -> u64,
    ) -> Calibration {
        let most = Params::new(most_kib, 1, lanes).unwrap();
        let mut asked = 0;
        let target = Duration::from_millis(target_ms);
        let found = strongest(target, &most, |params| {
            asked += 1;
            assert!(params.memory_kib() <= most_kib && params.lanes() == lanes);
            let (kib, passes) = (params.memory_kib().into(), params.passes().into());
            let time = Duration::from_nanos(clock(kib, passes));
            assert!(time < 8 * target || params.memory_kib() <= FIRST_KIB.max(8 * lanes));
            Ok(time)
        });
        assert!(asked <= 40, "{asked} measurements");
        found.unwrap()
    }

    #[test]
    fn all_memory_then_all_passes() {
        // The first pass is faster than others, so its time predicts too many passes.
        let clock = |kib, passes| kib * (100 + 130 * (passes - 1));
        for (target, passes) in [(27, 1), (60, 1), (61, 2), (95, 3), (130, 4), (333, 10)] {
            let found = on(target, 1 << 18, 1, clock);
            assert_eq!(
                (found.params.memory_kib(), found.params.passes()),
                (1 << 18, passes),
                "{target} ms"
            );
            assert_eq!(found.time.as_nanos() as u64, clock(1 << 18, passes.into()));
        }
    }

    #[test]
    fn as_much_memory_as_fits() {
        let clock = |kib, passes| 20_000 + 117 * kib * passes;
        for target in [1, 3, 10, 33, 100, 119] {
            let found = on(target, 1 << 20, 1, clock);
            let fits = (target * MILLISECOND - 20_000) / 117;
            let kib = u64::from(found.params.memory_kib());
            assert!(
                kib <= fits && kib > fits - fits / 16,
                "{target} ms: {kib} of {fits}"
            );
            assert_eq!(found.params.passes(), 1);
        }
    }

    #[test]
    fn little_memory_and_very_many_passes() {
        for (most, target) in [(8, 1000), (64, 20), (100, 60_000)] {
            let clock = |kib, passes| 2_000 + 150 * kib * passes;
            let found = on(target, most, 1, clock);
            let fits = (target * MILLISECOND - 2_000) / (150 * u64::from(most));
            let passes = u64::from(found.params.passes());
            assert_eq!(found.params.memory_kib(), most);
            assert!(
                passes <= fits && passes > fits - fits / 16,
                "{passes} of {fits}"
            );
        }
    }

    #[test]
    fn a_clock_that_is_noise_or_a_step_comes_to_an_end() {
        let hash = |kib: u64, passes: u64| (kib ^ passes << 7).wrapping_mul(0x9E37_79B9) >> 7;
        on(50, 1 << 20, 2, |kib, passes| {
            hash(kib, passes) % (400 * MILLISECOND)
        });
        let found = on(50, 1 << 20, 1, |kib, passes| {
            if kib > 70_000 || passes > 21 {
                51 * MILLISECOND
            } else {
                MILLISECOND
            }
        });
        assert!((66_000..=70_000).contains(&found.params.memory_kib()));
        assert_eq!(found.params.passes(), 21);
        on(50, u32::MAX, 1, |_, _| 0);
    }

    #[test]
    fn no_more_memory_than_the_system_gives() {
        let params = |kib, lanes| Params::new(kib, 1, lanes).unwrap();
        for given in [9, 100, 4 << 10, 77_777, (1 << 20) - 1] {
            for target in [Duration::ZERO, Duration::from_millis(500), Duration::MAX] {
                let mut asked = 0;
                let found = strongest(target, &params(1 << 20, 1), |params| {
                    asked += 1;
                    assert!(asked <= 60, "{given} KiB, {target:?}");
                    match params.memory_kib() {
                        kib if kib > given => Err(Error::OutOfMemory(kib.into())),
                        kib => Ok(Duration::from_nanos(117) * kib * params.passes()),
                    }
                });
                let found = found.unwrap().params.memory_kib();
                if target == Duration::ZERO {
                    assert_eq!(found, 8);
                } else {
                    let range = given - given / 16 - 1..=given;
                    assert!(range.contains(&found), "{found} of {given} KiB");
                }
            }
        }
        let nothing = |params: &Params| Err(Error::OutOfMemory(params.memory_kib().into()));
        let found = strongest(Duration::from_millis(5), &params(1 << 20, 4), nothing);
        assert_eq!(found, Err(Error::OutOfMemory(32)));
    }

    #[test]
    fn the_least_memory_if_nothing_fits() {
        for lanes in [1, 4, 1000] {
            let found = on(1, 1 << 20, lanes, |_, _| 2 * MILLISECOND);
            let params = Params::new(8 * lanes, 1, lanes).unwrap();
            assert_eq!(found.params, params);
            assert_eq!(found.time, Duration::from_millis(2));
        }
    }

    #[test]
    fn no_more_threads_than_processors() {
        let processors = std::thread::available_parallelism().unwrap().get();
        assert_eq!(threads(1), 1);
        assert_eq!(threads((1 << 24) - 1), processors.min((1 << 24) - 1));
    }
}
