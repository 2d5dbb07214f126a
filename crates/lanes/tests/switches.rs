//! The environment variables that disable levels. They are read once, so each case runs in its own
//! process.

use sealstone_lanes::Cpu;
use std::process::Command;

const CHILD: &str = "SEALSTONE_LANES_TEST_CHILD";
const SWITCHES: [&str; 3] = ["AVX512F", "AVX2", "NEON"];

/// The best level and all levels that a child process finds when these levels are disabled.
fn levels(off: &[&str]) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "report", "--nocapture"])
        .env(CHILD, "1");
    for level in SWITCHES {
        child.env_remove(format!("SEALSTONE_CPU_DISABLE_{level}"));
    }
    for level in off {
        child.env(format!("SEALSTONE_CPU_DISABLE_{level}"), "1");
    }
    let text = String::from_utf8(child.output().unwrap().stdout).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("level "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn report() {
    if std::env::var_os(CHILD).is_some() {
        println!();
        println!("level {:?}", Cpu::best());
        Cpu::available().for_each(|cpu| println!("level {cpu:?}"));
    }
}

#[test]
fn a_level_that_is_off_is_never_used() {
    if sealstone_testing::skipped_by_emulator() {
        return;
    }
    let all = levels(&[]);
    assert_eq!(all[0], all[1], "the best is the first");
    assert_eq!(all.last().unwrap(), "Portable(Portable)");
    assert_eq!(
        levels(&SWITCHES),
        ["Portable(Portable)", "Portable(Portable)"]
    );
    for (switch, level) in [("AVX512F", "Avx512"), ("AVX2", "Avx2("), ("NEON", "Neon")] {
        let expected = all[1..].iter().filter(|name| !name.starts_with(level));
        assert_eq!(
            levels(&[switch])[1..].iter().collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "without {switch}"
        );
    }
}
