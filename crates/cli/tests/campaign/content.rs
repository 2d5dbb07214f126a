//! `seal` and `open`, stopped at any moment.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use crate::victim::{End, Leftover, Victim};
use crate::world::{Checked, OLD, World, finish, sealstone};

/// `seal in` to `out.sealed`.
pub(crate) struct Seal {
    world: World,
    leftover: Leftover,
}

/// `open in.sealed` to `out`.
pub(crate) struct Open {
    world: World,
    leftover: Leftover,
}

/// Long enough for a stop in the middle.
const LEN: u64 = 64 << 20;

pub(crate) const SEAL: [&str; 7] = [
    "seal",
    "-r",
    "../keys/bob.pub",
    "--from",
    "../keys/alice.passport",
    "--passphrase-file",
    OLD,
];
pub(crate) const OPEN: [&str; 7] = [
    "open",
    "-i",
    "../keys/bob.passport",
    "--passphrase-file",
    OLD,
    "--from",
    "../keys/alice.pub",
];

impl Seal {
    pub(crate) fn new(leftover: Leftover) -> Self {
        Self::of_len(LEN, leftover)
    }

    pub(crate) fn of_len(len: u64, leftover: Leftover) -> Self {
        let world = World::new();
        write_pattern(&world.work("in"), len);
        Self { world, leftover }
    }
}

impl Victim for Seal {
    fn name(&self) -> &'static str {
        "seal"
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        self.world.clear_work(&["in"]);
    }

    fn argv(&self) -> Vec<OsString> {
        sealstone(&[&SEAL[..], &["-o", "out.sealed", "in"]].concat())
    }

    fn check(&self, end: End) -> Checked {
        self.leftover.check(&self.world, &["in", "out.sealed"])?;
        there_or_made(self, "out.sealed", end)?;
        open(&self.world, "out.sealed", "opened")?;
        same_content(&self.world.work("opened"), &self.world.work("in"))
    }
}

impl Open {
    pub(crate) fn new(leftover: Leftover) -> Self {
        Self::of_len(LEN, leftover)
    }

    pub(crate) fn of_len(len: u64, leftover: Leftover) -> Self {
        let world = World::new();
        write_pattern(&world.work("in"), len);
        world
            .run(&[&SEAL[..], &["in"]].concat())
            .succeeded()
            .unwrap();
        Self { world, leftover }
    }
}

impl Victim for Open {
    fn name(&self) -> &'static str {
        "open"
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        self.world.clear_work(&["in", "in.sealed"]);
    }

    fn argv(&self) -> Vec<OsString> {
        sealstone(&[&OPEN[..], &["-o", "out", "in.sealed"]].concat())
    }

    fn check(&self, end: End) -> Checked {
        self.leftover
            .check(&self.world, &["in", "in.sealed", "out"])?;
        there_or_made(self, "out", end)?;
        same_content(&self.world.work("out"), &self.world.work("in"))
    }
}

/// Makes sure that `output` exists for the check. If it does not, the command must work the second
/// time.
pub(crate) fn there_or_made(victim: &dyn Victim, output: &str, end: End) -> Checked {
    let world = victim.world();
    if world.work(output).exists() {
        return Ok(());
    }
    if end == End::Done {
        return Err(format!("says that all is well, but there is no {output}"));
    }
    finish(world.command(&victim.argv()).spawn().unwrap()).succeeded()
}

pub(crate) fn open(world: &World, sealed: &str, out: &str) -> Checked {
    world
        .run(&[&OPEN[..], &["-o", out, sealed]].concat())
        .succeeded()
}

/// A pattern with an odd period, so that swapped parts show.
pub(crate) fn write_pattern(path: &Path, len: u64) {
    let period: Vec<u8> = (0..=250).collect();
    let block = period.repeat(4096);
    let mut file = File::create(path).unwrap();
    let mut left = len;
    while left > 0 {
        let part = left.min(block.len() as u64);
        file.write_all(&block[..part as usize]).unwrap();
        left -= part;
    }
}

/// Compares two files without reading them into memory.
pub(crate) fn same_content(one: &Path, other: &Path) -> Checked {
    let open = |path: &Path| File::open(path).map_err(|e| format!("{}: {e}", path.display()));
    same_stream(open(one)?, open(other)?)
}

/// Compares two streams to their end.
pub(crate) fn same_stream(one: impl Read, other: impl Read) -> Checked {
    const LEN: usize = 1 << 20;
    let (mut one, mut other) = (
        BufReader::with_capacity(LEN, one),
        BufReader::with_capacity(LEN, other),
    );
    let (mut a, mut b) = (vec![0; LEN], vec![0; LEN]);
    let mut at = 0;
    loop {
        let (n, m) = (fill(&mut one, &mut a), fill(&mut other, &mut b));
        if a[..n] != b[..m] {
            return Err(format!("the content differs in the {LEN} bytes from {at}"));
        }
        if n == 0 {
            return Ok(());
        }
        at += n;
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    while let n @ 1.. = reader.read(&mut buffer[filled..]).unwrap() {
        filled += n;
    }
    filled
}
