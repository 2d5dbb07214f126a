//! The cost of a run: processor time and memory, as Linux counts them.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

/// The cost of this process so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Processor time of all threads, user and system.
    pub processor: Duration,
    /// The same of all children that have ended and were waited for: of the solvers.
    pub children: Duration,
    /// The peak of resident memory in bytes, without children.
    pub peak: u64,
}

impl Usage {
    /// The cost up to now.
    ///
    /// # Errors
    /// If `/proc` is missing or differs from proc(5).
    pub fn so_far() -> Result<Self, String> {
        let read = |name| fs::read_to_string(name).map_err(|error| format!("{name}: {error}"));
        let (stat, status) = (read("/proc/self/stat")?, read("/proc/self/status")?);
        let ticks = rustix::param::clock_ticks_per_second();
        Self::parse(&stat, &status, ticks)
            .ok_or_else(|| "/proc/self does not say what proc(5) says".into())
    }

    /// From the contents of `/proc/self/stat` and `/proc/self/status`.
    fn parse(stat: &str, status: &str, ticks_per_second: u64) -> Option<Self> {
        // The name of the program is in parentheses, and may have spaces and parentheses itself.
        let (_, after_name) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        // utime, stime, cutime and cstime are fields 14 to 17; the first one here is field 3.
        let time = |field: usize| {
            let user_and_system = fields.get(field - 3..=field - 2)?;
            let ticks = user_and_system
                .iter()
                .map(|field| field.parse::<u64>().ok());
            let ticks = ticks.sum::<Option<u64>>()?;
            Some(Duration::from_secs_f64(
                ticks as f64 / ticks_per_second as f64,
            ))
        };
        let (processor, children) = (time(14)?, time(16)?);
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(Self {
            processor,
            children,
            peak: kibibytes * 1024,
        })
    }

    /// As text.
    pub fn line(&self) -> String {
        format!(
            "{:.1} s of processor time, and {:.1} s more in the solvers; {} MiB of memory at most, without them\n",
            self.processor.as_secs_f64(),
            self.children.as_secs_f64(),
            self.peak.div_ceil(1 << 20)
        )
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "processor_seconds": self.processor.as_secs_f64(),
            "solver_seconds": self.children.as_secs_f64(),
            "peak_bytes": self.peak,
        })
    }
}

/// Processor time of this thread since a start. Other threads, and waiting for the processor, do
/// not count.
#[derive(Clone, Copy)]
pub(crate) struct ThreadTime(Duration);

impl ThreadTime {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self(Self::of_thread())
    }

    /// Up to now.
    pub(crate) fn so_far(self) -> Duration {
        Self::of_thread() - self.0
    }

    fn of_thread() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread;

    const STATUS: &str = "Name:\tprove\nVmPeak:\t  9000 kB\nVmHWM:\t  2048 kB\nVmRSS:\t  7 kB\n";

    #[test]
    fn fields_are_those_of_proc() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 1000 200 30 4 20 0 1 0 99 5 6\n";
        let usage = Usage::parse(stat, STATUS, 100).unwrap();
        assert_eq!(usage.processor, Duration::from_millis(12_000));
        assert_eq!(usage.children, Duration::from_millis(340));
        assert_eq!(usage.peak, 2 << 20);
        assert_eq!(
            usage.line(),
            "12.0 s of processor time, and 0.3 s more in the solvers; 2 MiB of memory at most, without them\n"
        );
        let json =
            json!({ "processor_seconds": 12.0, "solver_seconds": 0.34, "peak_bytes": 2_097_152 });
        assert_eq!(usage.json(), json);
        for (stat, status) in [
            ("", STATUS),
            ("7 (a) S 1 2", STATUS),
            ("7 (a) S 1 2 3 4 5 6 7 8 9 10 1000 200 30\n", STATUS),
            (stat, "VmRSS: 1 kB\n"),
        ] {
            assert_eq!(Usage::parse(stat, status, 100), None);
        }
    }

    #[test]
    fn children_and_memory_that_is_given_back_count() {
        const SIZE: usize = 96 << 20;
        let block = vec![1_u8; SIZE];
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        assert_eq!(sum, SIZE as u64);
        drop(block);
        let after = Usage::so_far().unwrap();
        assert!((SIZE as u64..1 << 36).contains(&after.peak), "{after:?}");

        let count = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
        let status = Command::new("sh").args(["-c", count]).status().unwrap();
        assert!(status.success());
        let with_child = Usage::so_far().unwrap();
        assert!(with_child.children > after.children + Duration::from_millis(50));
    }

    #[test]
    fn only_what_this_thread_computes_is_counted() {
        let start = ThreadTime::start();
        thread::sleep(Duration::from_millis(60));
        let other = thread::spawn(|| {
            let start = ThreadTime::start();
            while start.so_far() < Duration::from_millis(60) {
                core::hint::spin_loop();
            }
        });
        other.join().unwrap();
        assert!(start.so_far() < Duration::from_millis(50));
        while start.so_far() < Duration::from_millis(60) {
            core::hint::spin_loop();
        }
    }
}
