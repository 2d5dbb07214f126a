//! What a run costs: processor time and memory, as Linux counts them.

use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

/// What this process has used so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Processor time of all threads, user and system, and of all children that have ended and were waited for, as solvers are.
    pub processor: Duration,
    /// The most memory that it has held at once, in bytes: resident, without children.
    pub peak: u64,
}

impl Usage {
    /// Up to now.
    ///
    /// # Errors
    /// If `/proc` is not there or says something else than proc(5) does.
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
        let ticks = fields.get(14 - 3..=17 - 3)?;
        let ticks = ticks.iter().map(|field| field.parse::<u64>().ok());
        let ticks = ticks.sum::<Option<u64>>()?;
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(Self {
            processor: Duration::from_secs_f64(ticks as f64 / ticks_per_second as f64),
            peak: kibibytes * 1024,
        })
    }

    /// For people.
    pub fn line(&self) -> String {
        format!(
            "{:.1} s of processor time, solvers included; {} MiB of memory at most\n",
            self.processor.as_secs_f64(),
            self.peak.div_ceil(1 << 20)
        )
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({ "processor_seconds": self.processor.as_secs_f64(), "peak_bytes": self.peak })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const STATUS: &str = "Name:\tprove\nVmPeak:\t  9000 kB\nVmHWM:\t  2048 kB\nVmRSS:\t  7 kB\n";

    #[test]
    fn fields_are_those_of_proc() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 1000 200 30 4 20 0 1 0 99 5 6\n";
        let usage = Usage::parse(stat, STATUS, 100).unwrap();
        assert_eq!(usage.processor, Duration::from_millis(12_340));
        assert_eq!(usage.peak, 2 << 20);
        assert_eq!(
            usage.line(),
            "12.3 s of processor time, solvers included; 2 MiB of memory at most\n"
        );
        let json = json!({ "processor_seconds": 12.34, "peak_bytes": 2_097_152 });
        assert_eq!(usage.json(), json);
        for (stat, status) in [
            ("", STATUS),
            ("7 (a) S 1 2", STATUS),
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
        assert!(with_child.processor > after.processor + Duration::from_millis(50));
    }
}
