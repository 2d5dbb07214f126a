//! Argon2's fill loop: the blocks that it passes to the kernels.
//!
//! The loop is generic over its kernels. Here they compute nothing. Each block has a number (its
//! place and how often it was filled), and its own pseudo-random word, which decides its reference.
//! The kernels compare their blocks with RFC 9106: the previous block, the reference, the filled
//! block, whether it is added to, and the inputs of address blocks. In the end, every block must
//! have been filled once in each pass.
//!
//! The check has a fixed number of lanes and blocks, and enough runs to give each block each of its
//! possible references. Other proofs cover the results of the kernels: G in machine code, and the
//! reference by solvers.

use super::Claim;
use super::counterexample::{Counterexample, SourceVerdict};
use crate::lemma::{Case, rfc9106};
use core::cell::{Cell, RefCell};
use sealstone_argon2::kernel::{Kernels, Next};
use sealstone_argon2::{Block, Params, Reference, Variant, Version, ZERO_BLOCK, fill_on, place};
use sealstone_lanes::{Place, Portable};

pub(super) fn claims() -> Vec<Claim> {
    let all = "the kernels get the blocks that RFC 9106, 3.2 and 3.4, says, with each reference that each block can have: 1 to 9 lanes with segments of 2 and 3 blocks, 1 to 3 lanes with 5; three passes, all variants and versions, in turn in tasks of all lanes, of one and of two";
    let long = "the same with at most two references of each block: 1 and 5 lanes with segments of 130 and 520 blocks; two passes, all variants and versions, in tasks of all lanes and of two";
    vec![
        Claim::of("Argon2's fill loop", all, || {
            let short = (1..=9).flat_map(|lanes| [2, 3].map(|length| (lanes, length)));
            let sizes = short.chain((1..=3).map(|lanes| (lanes, 5)));
            SourceVerdict::all(
                sizes.map(|(lanes, length)| every_reference(Fault::None, lanes, length)),
            )
        }),
        Claim::of("Argon2's fill loop, long segments", long, || {
            let sizes = [(1, 130), (5, 130), (1, 520), (5, 520)];
            SourceVerdict::all(sizes.map(|(lanes, length)| some(lanes, length)))
        }),
    ]
}

/// The index of a block's word with its place. Word 0 is the pseudo-random word.
const LOCATION: usize = 1;
/// The index of the word that says how often it was filled.
const FILLED: usize = 2;
/// The index of the word with its kind.
const KIND: usize = 3;

/// Kinds: a block of the memory, and an intermediate block of the computation of an address block.
const MEMORY: u64 = 1;
const HALF: u64 = 2;

fn word(block: &Block, number: usize) -> u64 {
    let (line, lane) = place(number);
    block[line].0[lane]
}

fn set(block: &mut Block, number: usize, value: u64) {
    let (line, lane) = place(number);
    block[line].0[lane] = value;
}

/// A run: the parameters, and the pseudo-random words of the blocks.
#[derive(Clone, Copy)]
struct Run {
    params: Params,
    number: u64,
    /// Numbers below this give each entry of the set of references.
    entries: u64,
}

impl Run {
    fn lanes(&self) -> u64 {
        self.params.lanes().into()
    }
    fn length(&self) -> u64 {
        self.params.blocks() / (4 * self.lanes())
    }

    /// The pseudo-random word of a block. Over all runs, these words lead to each lane and each
    /// entry.
    fn word(&self, pass: u64, location: u64) -> u64 {
        let number = self.number + (pass * 31 + location).wrapping_mul(0x9e37_79b9) % (1 << 20);
        let (lane, entry) = (number / self.entries % self.lanes(), number % self.entries);
        // y = |W| · (J1² / 2^32) / 2^32 is in the middle of an entry.
        let x = ((2 * entry + 1) << 31) / self.entries;
        lane << 32 | (x << 32).isqrt()
    }

    /// The place of a block in memory: by slice, then lane, then index.
    fn location(&self, slice: u64, lane: u64, index: u64) -> u64 {
        (slice * self.lanes() + lane) * self.length() + index
    }

    fn is_independent(&self, pass: u64, slice: u64) -> bool {
        match self.params.variant() {
            Variant::Argon2d => false,
            Variant::Argon2i => true,
            Variant::Argon2id => pass == 0 && slice < 2,
        }
    }
}

/// Records the calls of a run, and the first wrong one.
struct Recorder {
    run: Run,
    wrong: RefCell<Option<Counterexample>>,
    calls: Cell<u64>,
    /// The references of blocks, by pass (the first, or another), block and reference.
    seen: RefCell<Vec<bool>>,
}

impl Recorder {
    fn expect(&self, what: &str, computed: &[u64], specified: &[u64]) {
        let mut wrong = self.wrong.borrow_mut();
        if computed != specified && wrong.is_none() {
            let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let (params, input) = (self.run.params, [self.run.number]);
            *wrong = Some(Counterexample {
                inputs: vec![(format!("{what}, {params:?}, words of run"), bytes(&input))],
                computed: bytes(computed),
                specified: bytes(specified),
            });
        }
    }

    /// A block of the memory is filled.
    fn fill(&self, x: &Block, y: &Block, out: &mut Block, adds: bool) {
        let run = &self.run;
        let (location, pass) = (word(out, LOCATION), word(out, FILLED));
        let (segment, index) = (location / run.length(), location % run.length());
        let (slice, lane) = (segment / run.lanes(), segment % run.lanes());
        let column = slice * run.length() + index;
        let column_before = (column + 4 * run.length() - 1) % (4 * run.length());
        let at = |lane: u64, column: u64| {
            run.location(column / run.length(), lane, column % run.length())
        };
        let before = [
            at(lane, column_before),
            pass + u64::from(column > 0),
            MEMORY,
        ];
        let identity = |block: &Block| [LOCATION, FILLED, KIND].map(|i| word(block, i));
        self.expect("the block before", &identity(x), &before);

        let case = Case {
            first_pass: pass == 0,
            slice: slice as usize,
            lanes: run.lanes(),
            length: run.length(),
            lane,
            index,
            word: if run.is_independent(pass, slice) {
                run.word(pass, location)
            } else {
                word(x, 0)
            },
        };
        let (l, z) = rfc9106::reference(Portable, &case);
        let is_new = z / run.length() < slice || z / run.length() == slice && l == lane;
        let reference = [at(l, z), pass + u64::from(is_new || pass == 0), MEMORY];
        self.expect("the reference", &identity(y), &reference);
        let must_add = pass > 0 && run.params.version() == Version::V0x13;
        self.expect("added", &[adds.into()], &[must_add.into()]);
        self.expect("what is filled", &[word(out, KIND)], &[MEMORY]);

        let blocks = run.params.blocks();
        let place = (u64::from(pass > 0) * blocks + location) * blocks + at(l, z);
        if let Some(seen) = self.seen.borrow_mut().get_mut(place as usize) {
            *seen = true;
        }
        self.calls.set(self.calls.get() + 1);
        set(out, FILLED, pass + 1);
        set(out, 0, run.word(pass + 1, location));
    }

    /// An address block, or its intermediate block (section 3.4.1.2).
    fn address(&self, y: &Block, out: &mut Block) {
        let run = &self.run;
        if word(y, KIND + 4) == HALF {
            let [pass, lane, slice, counter] = [0, 1, 2, 3].map(|i| word(y, i));
            for i in 0..128 {
                let index = counter.wrapping_sub(1).wrapping_mul(128).wrapping_add(i);
                // Words after the end of a segment are not used.
                if index < run.length() {
                    let location = run.location(slice, lane, index);
                    set(out, i as usize, run.word(pass, location));
                }
            }
            return;
        }
        let [pass, lane, slice, memory, passes, variant, counter] =
            [0, 1, 2, 3, 4, 5, 6].map(|i| word(y, i));
        let params = &run.params;
        let must = [
            params.blocks(),
            params.passes().into(),
            params.variant() as u64,
        ];
        self.expect("Z", &[memory, passes, variant], &must);
        let zeros: Vec<u64> = (7..128).map(|i| word(y, i)).collect();
        self.expect("the end of Z", &zeros, &[0; 121]);
        for (i, value) in [pass, lane, slice, counter].into_iter().enumerate() {
            set(out, i, value);
        }
        set(out, KIND + 4, HALF);
    }
}

/// Planted errors in the arguments of kernels, which must be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// The previous block and the reference are swapped.
    #[cfg(test)]
    Swapped,
    /// The next block has the index of this one.
    #[cfg(test)]
    Index,
    /// Blocks are never added to.
    #[cfg(test)]
    Replaced,
    /// Some block is not filled.
    #[cfg(test)]
    LeftOut,
    /// Address blocks have numbers from 0 on.
    #[cfg(test)]
    Counter,
    /// Address blocks are those of the previous lane.
    #[cfg(test)]
    Lane,
}

/// Kernels that check their arguments.
#[derive(Clone, Copy)]
struct Looking<'r> {
    recorder: &'r Recorder,
    fault: Fault,
}

impl Looking<'_> {
    fn fill(self, x: &Block, y: &Block, out: &mut Block, adds: bool) {
        match self.fault {
            #[cfg(test)]
            Fault::Swapped => self.recorder.fill(y, x, out, adds),
            #[cfg(test)]
            Fault::Replaced => self.recorder.fill(x, y, out, false),
            #[cfg(test)]
            Fault::LeftOut if word(out, LOCATION) == 2 => {}
            _ => self.recorder.fill(x, y, out, adds),
        }
    }

    fn refer(self, next: &Next<'_>, out: &Block) -> Reference<u64> {
        let index = match self.fault {
            #[cfg(test)]
            Fault::Index => next.index - 1,
            _ => next.index,
        };
        next.segment.reference(Portable, index, word(out, 0))
    }

    fn address(self, y: &Block, out: &mut Block) {
        #[cfg_attr(not(test), expect(unused_mut, reason = "only faults change it"))]
        let mut y = *y;
        #[cfg(test)]
        if word(&y, KIND + 4) != HALF {
            let number = match self.fault {
                Fault::Counter => 6,
                Fault::Lane if word(&y, 1) > 0 => 1,
                _ => return self.recorder.address(&y, out),
            };
            let value = word(&y, number);
            set(&mut y, number, value - 1);
        }
        self.recorder.address(&y, out);
    }
}

impl Kernels for Looking<'_> {
    fn replace(self, x: &Block, y: &Block, out: &mut Block, _: Place) {
        if *x == ZERO_BLOCK {
            self.address(y, out);
        } else {
            self.fill(x, y, out, false);
        }
    }
    fn add(self, x: &Block, y: &Block, out: &mut Block, _: Place) {
        self.fill(x, y, out, true);
    }
    fn replace_and_refer(
        self,
        x: &Block,
        y: &Block,
        out: &mut Block,
        next: &Next<'_>,
        _: Option<Place>,
    ) -> Reference<u64> {
        self.fill(x, y, out, false);
        self.refer(next, out)
    }
    fn add_and_refer(
        self,
        x: &Block,
        y: &Block,
        out: &mut Block,
        next: &Next<'_>,
        _: Option<Place>,
    ) -> Reference<u64> {
        self.fill(x, y, out, true);
        self.refer(next, out)
    }
}

/// The memory before the fill loop: the first two blocks of each lane are filled.
fn memory(run: &Run) -> Vec<Block> {
    let mut memory = vec![ZERO_BLOCK; run.params.blocks() as usize];
    for (location, block) in (0..).zip(&mut memory) {
        let (slice, index) = (
            location / (run.lanes() * run.length()),
            location % run.length(),
        );
        let filled = u64::from(slice == 0 && index < 2);
        set(block, 0, run.word(filled, location));
        set(block, LOCATION, location);
        set(block, FILLED, filled);
        set(block, KIND, MEMORY);
    }
    memory
}

/// One run, in tasks of `together` lanes. `seen` gets the references of blocks, if it has places
/// for them.
fn run_of(run: Run, fault: Fault, together: usize, seen: &mut Vec<bool>) -> SourceVerdict {
    let recorder = Recorder {
        run,
        wrong: RefCell::default(),
        calls: Cell::new(0),
        seen: RefCell::new(core::mem::take(seen)),
    };
    let mut memory = memory(&run);
    let looking = Looking {
        recorder: &recorder,
        fault,
    };
    fill_on(looking, &run.params, &mut memory, together);
    let passes = u64::from(run.params.passes());
    let filled: Vec<u64> = memory.iter().map(|block| word(block, FILLED)).collect();
    let specified = vec![passes; filled.len()];
    recorder.expect("how often blocks are filled", &filled, &specified);
    let calls = passes * run.params.blocks() - 2 * run.lanes();
    recorder.expect("calls", &[recorder.calls.get()], &[calls]);
    *seen = recorder.seen.into_inner();
    let wrong = recorder.wrong.into_inner();
    wrong.map_or(SourceVerdict::Checked, SourceVerdict::Refuted)
}

/// All kinds of Argon2 with these lanes and segments of this length.
fn all_params(lanes: u32, length: u32, passes: u32) -> impl Iterator<Item = Params> {
    let params = Params::new(4 * lanes * length, passes, lanes).expect("enough memory");
    Variant::ALL.into_iter().flat_map(move |variant| {
        let versions = [Version::V0x10, Version::V0x13];
        versions.map(|version| params.with_variant(variant).with_version(version))
    })
}

/// Enough runs for each block to get each of its references.
pub(super) fn every_reference(fault: Fault, lanes: u32, length: u32) -> SourceVerdict {
    SourceVerdict::all(all_params(lanes, length, 3).map(|params| {
        let (blocks, entries) = (params.blocks(), 4 * u64::from(length));
        let mut seen = vec![false; 2 * (blocks * blocks) as usize];
        let runs = (0..entries * u64::from(lanes)).map(|number| {
            let run = Run {
                params,
                number,
                entries,
            };
            let together = [lanes as usize, 1, 2][number as usize % 3];
            run_of(run, fault, together, &mut seen)
        });
        let verdict = SourceVerdict::all(runs);
        verdict.and(|| all_seen(&params, &seen))
    }))
}

/// Two runs, in tasks of all lanes and of two.
fn some(lanes: u32, length: u32) -> SourceVerdict {
    let cases = all_params(lanes, length, 2).flat_map(|params| {
        [(0, lanes as usize), (1234, 2)].map(|(number, together)| {
            let entries = 4 * u64::from(length);
            let run = Run {
                params,
                number,
                entries,
            };
            run_of(run, Fault::None, together, &mut Vec::new())
        })
    });
    SourceVerdict::all(cases)
}

/// Whether each block has had all its references in each lane, as RFC 9106 counts them.
fn all_seen(params: &Params, seen: &[bool]) -> SourceVerdict {
    let (blocks, lanes) = (params.blocks(), u64::from(params.lanes()));
    let length = blocks / (4 * lanes);
    let computed = |first_pass: bool, location: u64| {
        !first_pass || location / (lanes * length) > 0 || location % length >= 2
    };
    let places = [true, false].into_iter().flat_map(|first_pass| {
        let all = (0..blocks).filter(move |location| computed(first_pass, *location));
        all.flat_map(move |location| (0..lanes).map(move |l| (first_pass, location, l)))
    });
    SourceVerdict::all(places.map(|(first_pass, location, l)| {
        let (segment, index) = (location / length, location % length);
        let (slice, lane) = (segment / lanes, segment % lanes);
        let case = Case {
            first_pass,
            slice: slice as usize,
            lanes,
            length,
            lane,
            index,
            word: 0,
        };
        let from = (u64::from(!first_pass) * blocks + location) * blocks;
        let in_lane = (0..blocks).filter(|y| y / length % lanes == l);
        let count = in_lane.filter(|y| seen[(from + y) as usize]).count() as u64;
        let only_own = first_pass && slice == 0 && l != lane;
        let specified = if only_own {
            0
        } else {
            rfc9106::set_size(Portable, &case, l)
        };
        if count == specified {
            SourceVerdict::Checked
        } else {
            let block = format!("{first_pass}, block {location}, lane {l}");
            SourceVerdict::Unproved(format!("{count} of {specified} references: {block}"))
        }
    }))
}
