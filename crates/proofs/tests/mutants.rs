//! Mutants of machine code: an instruction of a proved function is changed, and the function is
//! tried again.
//!
//! A proved mutant fulfils the contracts of the function, or the prover is wrong. So a proved
//! mutant also runs on 64 inputs, if this CPU has its instructions, and the test lists each of
//! them. A mutant that is proved for any number of elements runs with a few numbers of them. The
//! functions are those of the catalog, our kernels and others' code, in this test's own program. A
//! change is one of these:
//!
//! - deleted: the instruction is removed;
//! - immediate: one bit of it is flipped;
//! - operand: another register of the same kind;
//! - operation: another mnemonic with the same operands.
//!
//! The campaign tries one change of each kind for each instruction of each proved function, in one
//! order:
//!
//! ```text
//! SEALSTONE_SHARD=3/500 SEALSTONE_ONLY=BLAKE2b cargo test --release -p sealstone-proofs \
//!     --test mutants -- --ignored --nocapture every_instruction
//! ```
//!
//! A shard `k/n` is each n-th mutant, from the k-th on. So all shards together are the campaign.
//! They can run on different machines that have the same compiler and the same source.
//! `SEALSTONE_ONLY` chooses functions by a part of their name.
//!
//! Some proved mutants mean the same for everybody, for example a rotation by 64 bits more
//! ([`same::reason`]). Of others, a run on this CPU has the same data flow as one of the original
//! ([`flow::reason`]). The file `mutants/survivors.txt` has all others, each with its place in the
//! function and the reason why it is right. A proved mutant that it lacks ends the campaign. So a
//! CPU without AVX-512 cannot judge the mutants that need it.

#[path = "mutants/all.rs"]
mod all;
#[path = "mutants/change.rs"]
mod change;
#[path = "mutants/flow.rs"]
mod flow;
#[path = "mutants/same.rs"]
mod same;

use all::{Mutant, mutants, place, sort};
use change::{CHANGES, Change, below, is_from_table, mutated};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};
use sealstone_proofs::catalog::{Kernel, kernels, others};
use sealstone_prover::contract::Contract;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::prove::{Finding, Session};
use sealstone_prover::term::Random;
use sealstone_prover::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;

/// A proved function.
struct Proved {
    kernel: Kernel,
    symbol: Symbol,
    /// Its instructions in all contracts.
    instructions: Vec<Instruction>,
    /// For each contract, the addresses of the instructions that it executes, in their order.
    executed: Vec<Vec<u64>>,
    /// The largest number of instructions that a run executes.
    steps: u64,
}

/// The numbers of mutants by verdict.
#[derive(Default)]
struct Count {
    refuted: usize,
    unproved: usize,
    unsupported: usize,
    proved: usize,
}

fn own_image() -> Image {
    sealstone_kernels::call_every_kernel();
    sealstone_kernels::call_others();
    black_box(aws_lc_sys::CRYPTO_chacha_20 as *const ());
    black_box(aws_lc_sys::EVP_aead_xchacha20_poly1305 as *const ());
    black_box(aws_lc_sys::EVP_aead_aes_256_gcm as *const ());
    black_box(aws_lc_sys::SHA256 as *const ());
    black_box(aws_lc_sys::SHA512 as *const ());
    black_box(aws_lc_sys::EVP_PKEY_CTX_new_id as *const ());
    black_box(aws_lc_sys::EVP_PKEY_keygen as *const ());
    Image::load(&std::env::current_exe().unwrap()).unwrap()
}

/// The findings about a function under several contracts.
struct Findings {
    /// Proved, or the first other verdict.
    verdict: Verdict,
    instructions: BTreeMap<u64, Instruction>,
    /// For each contract, the addresses of its instructions.
    executed: Vec<Vec<u64>>,
    /// The length of the longest run.
    steps: u64,
    /// Whether this CPU ran the function, too, but for contracts of any number of elements.
    ran: bool,
}

impl Findings {
    fn without_contracts() -> Self {
        Self {
            verdict: Verdict::Proved,
            instructions: BTreeMap::new(),
            executed: Vec::new(),
            steps: 0,
            ran: true,
        }
    }
}

fn prove<'c>(
    session: &mut Session,
    image: &Image,
    (kernel, symbol): (&Kernel, &Symbol),
    contracts: impl IntoIterator<Item = &'c Contract>,
) -> Findings {
    let mut found = Findings::without_contracts();
    for contract in contracts {
        let finding: Finding = session.prove(image, symbol, contract, &kernel.set.processor());
        found
            .executed
            .push(finding.instructions.keys().copied().collect());
        found.instructions.extend(finding.instructions);
        found.steps = finding.steps.max(found.steps);
        if !finding.verdict.is_proof() {
            found.verdict = finding.verdict;
            break;
        }
        found.ran &= finding.ran_natively || contract.is_by_induction();
    }
    found
}

/// Runs a proved mutant with a few elements, for its contracts of any number of them. Those for
/// memory that is input and output at once have no instances of a few. The others run instead.
fn run_with_few(
    session: &mut Session,
    mutant: &Image,
    proved: &Proved,
    at: u64,
    found: &mut Findings,
) {
    let (kernel, symbol) = (&proved.kernel, &proved.symbol);
    let contracts = proved.contracts_at(at).filter(|it| it.is_by_induction());
    let verdicts: Vec<Option<Verdict>> = contracts
        .map(|it| session.run_with_few(mutant, symbol, it, &kernel.set.processor()))
        .collect();
    found.ran &= verdicts.is_empty() || verdicts.iter().any(Option::is_some);
    let mut failed = verdicts.into_iter().flatten().filter(|it| !it.is_proof());
    if let Some(verdict) = failed.next() {
        found.verdict = verdict;
    }
}

impl Proved {
    /// The instruction at this address. Targets of jumps are offsets in the function, as the
    /// function may have another address in the next program.
    fn decode(&self, image: &Image, at: u64) -> Instruction {
        let bytes = image.code(at, 15).unwrap();
        let (_, offset) = place(image, &self.symbol, at);
        Decoder::with_ip(64, bytes, offset, DecoderOptions::NONE).decode()
    }

    /// A mutant as `mutants/survivors.txt` names it.
    fn text(&self, image: &Image, at: u64, old: &Instruction, new: &Instruction) -> String {
        let (name, set) = (self.kernel.name, self.kernel.set.name());
        let (_, offset) = place(image, &self.symbol, at);
        let [old, new] = [old, new].map(|it| with_callee(image, at, it));
        format!("{name} {set} +{offset:#x}: `{old}` -> `{new}`")
    }

    /// The contracts that execute the instruction at this address. All others hold, whatever is
    /// there.
    fn contracts_at(&self, at: u64) -> impl Iterator<Item = &Contract> {
        let pairs = self.kernel.contracts.iter().zip(&self.executed);
        let executing = pairs.filter(move |(_, executed)| executed.binary_search(&at).is_ok());
        executing.map(|(contract, _)| contract)
    }
}

/// The text of the instruction at `at`. A call or a jump through a table of functions names its
/// function: the table has another address in every program.
fn with_callee(image: &Image, at: u64, instruction: &Instruction) -> String {
    if !is_from_table(instruction) {
        return instruction.to_string();
    }
    let distance = instruction
        .ip_rel_memory_address()
        .wrapping_sub(instruction.ip());
    let from = at.wrapping_add(distance);
    let mut targets = image.relocated(from..from + 1);
    let callee = targets.next().and_then(|(_, to)| image.symbol_at(to));
    let name = callee.map_or("another library", |symbol| &symbol.name);
    let verb = if instruction.is_call_near_indirect() {
        "call"
    } else {
        "jmp"
    };
    format!("{verb} {name}")
}

/// The functions of these kernels, each of which is proved.
fn all_proved(image: &Image, chosen: impl Fn(&Kernel) -> bool) -> Vec<Proved> {
    let mut all: Vec<Proved> = Vec::new();
    for kernel in kernels().into_iter().chain(others()).filter(chosen) {
        let mut session = Session::new();
        let symbols = image.symbols().iter();
        let mut symbols: Vec<&Symbol> = symbols
            .filter(|symbol| symbol.is(kernel.function))
            .collect();
        // A function of another row comes last: it may also belong to this row, for another
        // instruction set.
        symbols.sort_by_key(|symbol| all.iter().any(|other| other.symbol == **symbol));
        let mut symbols = symbols.into_iter();
        let proved = symbols.find_map(|symbol| {
            let found = prove(&mut session, image, (&kernel, symbol), &kernel.contracts);
            (found.verdict == Verdict::Proved).then(|| (symbol.clone(), found))
        });
        let Some((symbol, found)) = proved else {
            panic!("{} {} is not proved", kernel.name, kernel.set.name());
        };
        let mut instructions: Vec<Instruction> = found.instructions.into_values().collect();
        sort(&mut instructions, image, &symbol);
        all.push(Proved {
            kernel,
            symbol,
            instructions,
            executed: found.executed,
            steps: found.steps,
        });
    }
    all
}

/// The largest number of formulas of a session.
const MOST_TERMS: usize = 1 << 23;

/// The greatest length of the formulas of a mutant. Without the steps of a loop that it does not
/// follow, some would take minutes.
const LONGEST: usize = 1 << 25;

/// The mutants that are proved and right, by kernel, place and instructions, with their reasons.
const SURVIVORS: &str = include_str!("mutants/survivors.txt");

/// Behind a proved mutant that did not run here.
const NOT_RUN: &str = " (not run on this CPU)";

/// The known survivors. A line that begins with `#` is a comment.
fn known_survivors() -> BTreeSet<&'static str> {
    let lines = SURVIVORS.lines().filter(|line| !line.starts_with('#'));
    let mutants = lines.map(|line| {
        let (mutant, reason) = line.split_once(" ; ").expect("a mutant and a reason");
        assert!(reason.len() > 10, "{line}");
        mutant
    });
    mutants.collect()
}

/// The findings of a campaign.
#[derive(Default)]
struct Campaign {
    counts: BTreeMap<Change, Count>,
    /// Each proved mutant, with its place and the original instruction.
    proved: Vec<String>,
    /// The numbers of proved mutants that mean the same for everybody, by reason.
    same: BTreeMap<&'static str, usize>,
    /// Errors of the prover.
    wrong: Vec<String>,
}

impl Campaign {
    /// Tries `of_each` mutants of the function of each of these kernels.
    fn run(chosen: impl Fn(&Kernel) -> bool, of_each: usize) -> Self {
        let image = own_image();
        let mut campaign = Self::default();
        let mut random = Random::new(1);
        for proved in all_proved(&image, chosen) {
            println!("{} {}", proved.kernel.name, proved.kernel.set.name());
            // A mutant may loop for ever.
            let new = || Session::new().with_most_steps(2 * proved.steps);
            let mut session = new();
            for _ in 0..of_each {
                if session.size() > MOST_TERMS {
                    session = new();
                }
                campaign.add_random(&image, &proved, &mut session, &mut random);
            }
        }
        campaign
    }

    /// Adds a mutant of a random instruction with a random change.
    fn add_random(
        &mut self,
        image: &Image,
        proved: &Proved,
        session: &mut Session,
        random: &mut Random,
    ) {
        let mutant = loop {
            let instruction = &proved.instructions[below(random, proved.instructions.len())];
            let change = CHANGES[below(random, CHANGES.len())];
            let at = instruction.ip();
            let bytes = image.code(at, instruction.len()).unwrap();
            match mutated((proved, bytes), instruction, change, random) {
                Some(mutant) if mutant != bytes => {
                    break Mutant {
                        at,
                        change,
                        bytes: mutant,
                    };
                }
                _ => {}
            }
        };
        self.add(image, proved, session, &mutant);
    }

    /// Tries the mutants of this shard.
    fn run_shard(chosen: impl Fn(&Kernel) -> bool, [shard, of]: [usize; 2]) -> Self {
        let image = own_image();
        let mut campaign = Self::default();
        let mut number = 0;
        for proved in all_proved(&image, chosen) {
            let all = mutants(&image, &proved);
            let new = || {
                let session = Session::new().with_most_steps(2 * proved.steps);
                session.with_longest_formulas(LONGEST)
            };
            let mut session = new();
            for mutant in &all {
                let is_in = number % of == shard - 1;
                number += 1;
                if session.size() > MOST_TERMS {
                    session = new();
                }
                if is_in {
                    campaign.add(&image, &proved, &mut session, mutant);
                }
            }
        }
        println!("shard {shard} of {of} of {number} mutants");
        campaign
    }

    /// Adds one mutant.
    fn add(&mut self, image: &Image, proved: &Proved, session: &mut Session, of: &Mutant) {
        let Mutant { at, change, bytes } = of;
        let (at, change) = (*at, *change);
        let mut mutant = image.clone();
        mutant.patch(at, bytes);
        let function = (&proved.kernel, &proved.symbol);
        let mut found = prove(session, &mutant, function, proved.contracts_at(at));
        if found.verdict == Verdict::Proved {
            run_with_few(session, &mutant, proved, at, &mut found);
        }
        let Findings { verdict, ran, .. } = found;
        let count = self.counts.entry(change).or_default();
        let [old, new] = [image, &mutant].map(|image| proved.decode(image, at));
        let place = proved.text(image, at, &old, &new);
        println!("{change:?} {place}: {}", verdict.name());
        match &verdict {
            Verdict::Proved => {
                count.proved += 1;
                let not_run = if ran { "" } else { NOT_RUN };
                let same = same::reason(&old, &new);
                match same.or_else(|| flow::reason(session, [image, &mutant], proved, at)) {
                    Some(reason) => *self.same.entry(reason).or_default() += 1,
                    None => self.proved.push(format!("{place}{not_run}")),
                }
            }
            Verdict::Refuted(why) if why.contains("the prover is wrong") => {
                self.wrong.push(format!("{place}: {why}"));
            }
            Verdict::Unsupported(why) if why.starts_with("native run") => {
                self.wrong.push(format!("{place}: {why}"));
            }
            Verdict::Refuted(_) => count.refuted += 1,
            Verdict::Unproved(_) => count.unproved += 1,
            Verdict::Unsupported(_) => count.unsupported += 1,
        }
    }

    fn print(&self) {
        for (change, count) in &self.counts {
            let Count {
                refuted,
                unproved,
                unsupported,
                proved,
            } = count;
            println!(
                "{change:?}: {refuted} refuted, {unproved} unproved, {unsupported} unsupported, \
                 {proved} proved"
            );
        }
        println!("proved, and the same for everybody: {:#?}", self.same);
        println!("other proved ones: {:#?}", self.proved);
    }

    fn judge(&self) {
        self.print();
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
        assert!(self.counts.values().all(|count| count.refuted > 0));
    }
}

#[test]
fn a_mutant_that_is_proved_keeps_the_contracts() {
    let is_quick = |kernel: &Kernel| {
        let names = [
            "BLAKE2b F",
            "Skein-256 output",
            "ChaCha20 block (self-test)",
        ];
        names.contains(&kernel.name)
    };
    Campaign::run(is_quick, 10).judge();
}

/// Whether the functions are chosen by `SEALSTONE_ONLY`.
fn is_chosen(kernel: &Kernel) -> bool {
    let only = std::env::var("SEALSTONE_ONLY").unwrap_or_default();
    kernel.name.contains(&only)
}

/// The shard k/n that `SEALSTONE_SHARD` names.
fn shard() -> [usize; 2] {
    let shard = std::env::var("SEALSTONE_SHARD").unwrap_or_else(|_| "1/1000".into());
    let (shard, of) = shard.split_once('/').expect("a shard k/n");
    let [shard, of] = [shard, of].map(|number| number.parse().expect("a number"));
    assert!((1..=of).contains(&shard), "shard {shard} of {of}");
    [shard, of]
}

#[test]
#[ignore = "a campaign: a shard of it takes minutes"]
fn every_instruction_of_every_proved_function() {
    let campaign = Campaign::run_shard(is_chosen, shard());
    campaign.print();
    assert!(campaign.wrong.is_empty(), "{:#?}", campaign.wrong);
    let known = known_survivors();
    let new = campaign.proved.iter().filter(|it| {
        let mutant = it.strip_suffix(NOT_RUN).unwrap_or(it);
        !known.contains(mutant)
    });
    let new: Vec<&String> = new.collect();
    assert!(new.is_empty(), "not in mutants/survivors.txt: {new:#?}");
}

/// Shards are disjoint, and together they are all mutants: each instruction has some.
#[test]
fn every_instruction_has_mutants_in_one_order() {
    let image = own_image();
    let is_small = |kernel: &Kernel| kernel.name == "Skein-256 output";
    let proved = all_proved(&image, is_small);
    let [proved] = &proved[..] else {
        panic!("one function");
    };
    let places = |mutants: &[Mutant]| {
        let places = mutants
            .iter()
            .map(|it| (it.at, it.change, it.bytes.clone()));
        places.collect::<Vec<_>>()
    };
    let all = mutants(&image, proved);
    assert_eq!(places(&all), places(&mutants(&image, proved)));
    let of_all: BTreeSet<u64> = all.iter().map(|mutant| mutant.at).collect();
    let instructions: BTreeSet<u64> = proved.instructions.iter().map(|it| it.ip()).collect();
    assert_eq!(of_all, instructions);
    for change in CHANGES {
        assert!(
            all.iter().any(|mutant| mutant.change == change),
            "{change:?}"
        );
    }
}

/// The campaign would name a mutant that is proved for any number of elements, and wrong. No data
/// flow is a reason for it.
#[test]
fn a_run_with_a_few_elements_contradicts_a_proof() {
    let image = own_image();
    let all = all_proved(&image, |kernel| kernel.name == "Skein-256 UBI");
    let [proved] = &all[..] else {
        panic!("one function");
    };
    let all = mutants(&image, proved);
    let is_rotation = |it: &&Mutant| {
        let old = image.code(it.at, 15).unwrap();
        let old = Decoder::new(64, old, DecoderOptions::NONE).decode();
        let mut contracts = proved.contracts_at(it.at);
        it.change == Change::Deleted
            && old.mnemonic() == Mnemonic::Rol
            && contracts.any(Contract::is_by_induction)
    };
    let wrong = all.iter().find(is_rotation).expect("a rotation");
    for (bytes, is_right) in [
        (image.code(wrong.at, 1).unwrap(), true),
        (&wrong.bytes, false),
    ] {
        let mut mutant = image.clone();
        mutant.patch(wrong.at, bytes);
        let mut found = Findings::without_contracts();
        run_with_few(&mut Session::new(), &mutant, proved, wrong.at, &mut found);
        assert!(found.ran);
        let same = flow::reason(&mut Session::new(), [&image, &mutant], proved, wrong.at);
        assert_eq!(same.is_some(), is_right);
        let verdict = found.verdict;
        match verdict.reason() {
            "" => assert!(is_right),
            why => assert!(!is_right && why.contains("the prover is wrong"), "{why}"),
        }
    }
}

/// Contracts that do not execute an instruction need not be tried again when it changes.
#[test]
fn only_the_contracts_that_execute_an_instruction_are_broken_by_it() {
    const UD2: [u8; 2] = [0x0f, 0x0b];
    let image = own_image();
    let all = all_proved(&image, |kernel| {
        kernel.name == "aws-lc aes_hw_set_encrypt_key"
    });
    let mut skipped = 0;
    for proved in &all {
        for instruction in proved
            .instructions
            .iter()
            .filter(|it| it.len() >= UD2.len())
        {
            let at = instruction.ip();
            let executing: Vec<&Contract> = proved.contracts_at(at).collect();
            assert!(!executing.is_empty(), "{at:#x}");
            if executing.len() == proved.kernel.contracts.len() {
                continue;
            }
            let mut mutant = image.clone();
            mutant.patch(at, &UD2);
            for contract in &proved.kernel.contracts {
                let function = (&proved.kernel, &proved.symbol);
                let mut session = Session::new().with_most_steps(2 * proved.steps);
                let found = prove(&mut session, &mutant, function, [contract]);
                let executes = executing.iter().any(|other| std::ptr::eq(*other, contract));
                assert_eq!(found.verdict == Verdict::Proved, !executes, "{at:#x}");
                skipped += usize::from(!executes);
            }
        }
    }
    assert!(skipped > 0);
}

/// The list has no mutants of another compiler or of code that has changed, and none for which a
/// reason is found without it.
#[test]
#[ignore = "proves every function: takes minutes"]
fn each_listed_survivor_is_proved_and_needs_its_reason() {
    let image = own_image();
    let mut unknown = known_survivors();
    let mut campaign = Campaign::default();
    for proved in all_proved(&image, |_| true) {
        let mut session = Session::new().with_most_steps(2 * proved.steps);
        for mutant in mutants(&image, &proved) {
            let mut changed = mutant.bytes.clone();
            changed.resize(15, 0x90);
            let old = proved.decode(&image, mutant.at);
            let (_, offset) = place(&image, &proved.symbol, mutant.at);
            let new = Decoder::with_ip(64, &changed, offset, DecoderOptions::NONE).decode();
            if unknown.remove(&*proved.text(&image, mutant.at, &old, &new)) {
                campaign.add(&image, &proved, &mut session, &mutant);
            }
        }
    }
    assert!(unknown.is_empty(), "no mutants now: {unknown:#?}");
    assert!(campaign.wrong.is_empty(), "{:#?}", campaign.wrong);
    let needed = campaign.proved.iter();
    let needed: BTreeSet<&str> = needed
        .map(|it| it.strip_suffix(NOT_RUN).unwrap_or(it))
        .collect();
    let known = known_survivors();
    let not_needed: Vec<_> = known.difference(&needed).collect();
    assert!(
        not_needed.is_empty(),
        "not proved, or a reason is found: {not_needed:#?}"
    );
}

#[test]
fn survivors_are_listed_with_reasons() {
    let known = known_survivors();
    let lines = SURVIVORS.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), known.len(), "each one once");
}
