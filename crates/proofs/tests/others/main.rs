//! Others' code that the command relies on, in this test's own program, and bugs planted into it.

mod callers;
mod late;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};
use sealstone_proofs::catalog::{Kernel, Set, others};
use sealstone_prover::algebra::Numbers;
use sealstone_prover::contract::{Access, Buffer, Cell, Contract};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::prove::{Finding, Session};
use sealstone_prover::term::{Terms, Word, constant, value};
use sealstone_prover::verdict::Verdict;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// This program, with aws-lc in it.
fn own() -> Image {
    black_box(aws_lc_sys::CRYPTO_chacha_20 as *const ());
    black_box(aws_lc_sys::EVP_aead_xchacha20_poly1305 as *const ());
    black_box(aws_lc_sys::EVP_aead_aes_256_gcm as *const ());
    black_box(aws_lc_sys::SHA256 as *const ());
    black_box(aws_lc_sys::SHA512 as *const ());
    sealstone_kernels::call_others();
    // ML-KEM hashes four states at once.
    black_box(aws_lc_sys::EVP_PKEY_CTX_new_id as *const ());
    black_box(aws_lc_sys::EVP_PKEY_keygen as *const ());
    Image::load(&std::env::current_exe().unwrap()).unwrap()
}

fn prove(image: &Image, row: &Kernel, contract: &Contract) -> Finding {
    let processor = Processor {
        features: row.set.features(),
        is_here: row.set.is_here(),
    };
    Session::new().prove(image, symbol(image, row), contract, &processor)
}

fn symbol<'a>(image: &'a Image, row: &Kernel) -> &'a Symbol {
    let mut symbols = image.symbols().iter();
    let symbol = symbols.find(|symbol| symbol.is(row.function));
    symbol.unwrap_or_else(|| panic!("{} is not in this program", row.function))
}

/// The first and the last contract of a row. The proof of the command has all of them.
fn ends(row: &Kernel) -> impl Iterator<Item = &Contract> {
    let last = row.contracts.iter().skip(1).next_back();
    row.contracts.first().into_iter().chain(last)
}

/// The longest contract of a row for one length and without a case: its result has everything that
/// the function computes. If all are cases, the last one.
fn longest(row: &Kernel) -> &Contract {
    let contracts = row.contracts.iter();
    let mut separate = contracts.filter(|contract| contract.case.is_empty());
    let longest = separate.next_back().or(row.contracts.last());
    longest.expect("a contract")
}

/// A contract whose result has everything that the function computes. The whole state of SHA-2 is
/// the result after one block; a proof of three blocks takes longer.
fn short(row: &Kernel) -> &Contract {
    if row.shows.starts_with("FIPS 180-4") {
        return &row.contracts[0];
    }
    longest(row)
}

#[test]
#[ignore = "takes a minute; make prove proves all rows"]
fn every_row_is_proved() {
    let image = own();
    for row in others() {
        for contract in ends(&row) {
            let finding = prove(&image, &row, contract);
            let case = contract.case;
            assert!(
                finding.verdict.is_proof(),
                "{} {case}: {}",
                row.name,
                finding.verdict
            );
            let is_run = row.set.is_here() && !contract.is_by_induction();
            assert_eq!(finding.ran_natively, is_run, "{} {case}", row.name);
        }
    }
}

/// In a function for each specification, a round of AES becomes the last one, an addition becomes a
/// subtraction, or an exclusive or becomes an or, in the middle. The proof for any number of blocks
/// refuses it too.
#[test]
fn a_bug_of_each_specification_is_refused() {
    let rows = || {
        let mut specifications = BTreeSet::new();
        let rows = others().into_iter();
        let rows: Vec<_> = rows
            .filter(|row| specifications.insert(row.shows))
            .collect();
        assert!(rows.len() > 15, "{}", rows.len());
        rows
    };
    in_threads(rows, &[2]);
}

#[test]
#[ignore = "takes minutes; one function of each specification is tested always"]
fn a_bug_in_any_of_them_is_refused() {
    in_threads(others, &[1, 2, 3]);
}

/// Plants bugs into the functions of these rows, in one thread for each processor.
fn in_threads(rows: impl Fn() -> Vec<Kernel> + Sync, quarters: &[usize]) {
    let next = AtomicUsize::new(0);
    let work = || {
        let rows = rows();
        let take = || rows.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(take).for_each(|row| bugs_are_refused(row, quarters));
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

/// Plants a bug at each of these quarters of the function.
fn bugs_are_refused(row: &Kernel, quarters: &[usize]) {
    let image = own();
    let contract = short(row);
    let finding = prove(&image, row, contract);
    assert!(finding.verdict.is_proof(), "{}", row.name);
    // The function for ChaCha20-Poly1305 computes whole groups of blocks of key stream, and uses a
    // part of the last one. Changes there without an effect are skipped.
    let tries = if row.function.contains("chacha20_poly1305") {
        16
    } else {
        1
    };
    for places in planted(&image, &finding, quarters) {
        let mut places = places.iter().take(tries);
        let refused = places.find(|place| is_refuted(&image, row, contract, place, tries > 1));
        assert!(refused.is_some(), "{}: no bug is refuted", row.name);
    }
}

/// Whether the function with these bytes at this place is refuted. If not, the change must be one
/// that `may_show_nowhere`, the function must be proved, and native runs must not differ.
fn is_refuted(
    image: &Image,
    row: &Kernel,
    contract: &Contract,
    (at, bytes): &(u64, Vec<u8>),
    may_show_nowhere: bool,
) -> bool {
    let mut image = image.clone();
    image.patch(*at, bytes);
    let bug = format!("{} {at:x} {bytes:x?}", row.name);
    let finding = prove(&image, row, contract);
    if may_show_nowhere && finding.verdict.is_proof() {
        assert!(finding.ran_natively, "{bug}");
        return false;
    }
    let is_refuted = matches!(&finding.verdict, Verdict::Refuted(_));
    assert!(is_refuted, "{bug}: {}", finding.verdict);
    // An odd and an even number of blocks may take different ways. One of them has the bug.
    let by_induction = row.contracts.iter().filter(|any| any.is_by_induction());
    let verdicts: Vec<_> = by_induction
        .map(|any| prove(&image, row, any).verdict)
        .collect();
    let all_are_proved = verdicts.iter().all(Verdict::is_proof);
    assert!(verdicts.is_empty() || !all_are_proved, "{bug}");
    true
}

/// Group by group, the specification for any length agrees with that for one length.
#[test]
fn groups_of_any_length_are_those_of_one_length() {
    let mut random = 1_u64;
    let mut number = || {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        random ^ random >> 29
    };
    for late::Endless { row, .. } in late::endless() {
        let contract = row.contracts.iter().find(|any| any.stream.is_some());
        let contract = contract.unwrap();
        let stream = contract.stream.as_ref().unwrap();
        let group = (stream.group * stream.unit / 8) as usize;
        let (turns, rest) = (3, contract.buffers[3].cells.len());
        let mut numbers = |buffer: &Buffer| -> Vec<u64> {
            let cells = buffer.cells.iter();
            cells.map(|_| number()).collect()
        };
        let mut contents: Vec<Vec<u64>> = contract.buffers.iter().map(&mut numbers).collect();
        // The counter wraps.
        contents[1] = vec![0xffff_fffe, 0xf0ff_ffff_0000_0000];
        let data = contents.len() - 2;
        contents[data] = (0..turns * group + rest).map(|_| number()).collect();
        let expected = (contract.formula.numeric)(&mut Numbers, &contents);
        let mut terms = Terms::new(1);
        let words = |numbers: &[u64]| -> Vec<Word> {
            numbers
                .iter()
                .map(|cell| constant((*cell).into(), 64))
                .collect()
        };
        let formulas: Vec<Vec<Word>> = contents.iter().map(|cells| words(cells)).collect();
        let mut found = Vec::new();
        let mut state = (stream.begin)(&mut terms, &formulas);
        for turn in 0..=turns {
            let left = &formulas[data][turn * group..][..rest];
            let made = (stream.transform)(&mut terms, &formulas, &state, left);
            let kept = if turn < turns { group } else { rest };
            found.extend(made[..kept].iter().map(|cell| value(cell).unwrap() as u64));
            state = (stream.next)(&mut terms, &state);
        }
        assert_eq!(found, expected[0], "{}", row.name);
    }
}

/// The assembly of `blake3` is like that.
#[test]
fn assembly_without_sizes_has_both_its_names_and_ends_before_the_next() {
    let image = own();
    let named = |name: &str| {
        let mut symbols = image.symbols().iter();
        symbols.find(|symbol| symbol.name == name).unwrap()
    };
    let hash = named("blake3_hash_many_sse2");
    let in_place = named("blake3_compress_in_place_sse2");
    let extended = named("blake3_compress_xof_sse2");
    assert_eq!(hash.start + hash.size, in_place.start);
    assert_eq!(in_place.start + in_place.size, extended.start);
    for symbol in [hash, in_place, extended] {
        let other = named(&format!("_{}", symbol.name));
        assert_eq!((symbol.start, symbol.size), (other.start, other.size));
    }
    let is_code = |symbol: &Symbol| image.code(symbol.start, 1).is_some();
    assert!(image.symbols().iter().all(is_code));
}

/// Keccak's function leaves them in use, and its row says so.
#[test]
fn upper_halves_in_use_are_refused_if_the_row_does_not_say_so() {
    let image = own();
    let rows = others();
    let mut rows = rows.into_iter().filter(|row| row.family == "aws-lc Keccak");
    let mut row = rows.next().unwrap();
    for contract in &mut row.contracts {
        assert!(contract.leaves_upper_halves);
        contract.leaves_upper_halves = false;
    }
    let verdict = prove(&image, &row, &row.contracts[0]).verdict;
    assert!(verdict.to_string().contains("vzeroupper"), "{verdict}");
}

/// The key schedule reads the capabilities of the processor. Its contracts give the contents of
/// this variable.
#[test]
fn a_variable_must_be_there_and_what_it_decides_must_be_known() {
    let image = own();
    let rows = others().into_iter();
    let mut rows = rows.filter(|row| row.function.ends_with("aes_hw_set_encrypt_key"));
    let mut row = rows.next().unwrap();
    let mut verdict = |change: &dyn Fn(&mut Buffer)| {
        let contract = &mut row.contracts[0];
        let before = contract.buffers[0].clone();
        change(&mut contract.buffers[0]);
        let verdict = prove(&image, &row, &row.contracts[0]).verdict;
        row.contracts[0].buffers[0] = before;
        verdict.to_string()
    };
    assert_eq!(verdict(&|_| {}), "PROVED");
    let unknown = verdict(&|variable| variable.cells[0] = Cell::Input);
    assert!(unknown.starts_with("REFUTED: a branch"), "{unknown}");
    let undeclared = verdict(&|variable| {
        variable.variable = None;
        variable.alignment = 8;
    });
    assert!(undeclared.contains("outside of its memory"), "{undeclared}");
    let longer = verdict(&|variable| variable.cells.push(Cell::Input));
    assert!(longer.contains("no variable"), "{longer}");
    let absent = verdict(&|variable| variable.variable = Some("absent"));
    assert!(absent.contains("no variable `absent`"), "{absent}");
}

/// The loop over the blocks of a chunk is proved block by block. Its cuts hide no bug.
#[test]
fn a_bug_in_a_lane_of_blake3_is_refused_with_cuts() {
    let image = own();
    let rows = others().into_iter();
    let rows = rows.filter(|row| row.function.starts_with("blake3_hash_many_avx"));
    let mut count = 0;
    for row in rows {
        let mut contracts = row.contracts.iter();
        let contract = contracts.find(|it| it.steps.is_some()).expect("steps");
        let finding = prove(&image, &row, contract);
        assert_eq!(finding.verdict, Verdict::Proved, "{}", row.name);
        assert!(finding.cuts > 10, "{}: {} cuts", row.name, finding.cuts);
        for places in planted(&image, &finding, &[1, 2]) {
            let (at, bytes) = &places[0];
            let mut image = image.clone();
            image.patch(*at, bytes);
            let verdict = prove(&image, &row, contract).verdict;
            assert!(!verdict.is_proof(), "{} {at:x}", row.name);
            count += 1;
        }
    }
    assert_eq!(count, 4);
}

/// SHA-256 of the crate `sha2` reads a variable of one byte: 0 is without special instructions, 1
/// is with them, and 255 is to be detected. No byte beside it is known.
#[test]
fn a_variable_of_one_byte_decides_and_has_no_other_byte() {
    let image = own();
    let verdict = |image: &Image, set: Set, cell: Cell| {
        let mut rows = others().into_iter();
        let mut row = rows
            .find(|row| row.function == "sha2::sha256::compress256")
            .unwrap();
        row.set = set;
        let contract = &mut row.contracts[0];
        contract.buffers.last_mut().unwrap().cells = vec![cell];
        prove(image, &row, &row.contracts[0])
    };
    let with = verdict(&image, Set::Sha, Cell::Byte(1));
    assert_eq!(with.verdict, Verdict::Proved);
    assert_eq!(with.ran_natively, Set::Sha.is_here());
    for (set, cell, why) in [
        // The code without special instructions: not proved, but not refuted either.
        (Set::Baseline, Cell::Byte(0), "UNPROVED: wrong output"),
        (
            Set::Baseline,
            Cell::Byte(1),
            "which is not of its instruction set",
        ),
        (Set::Sha, Cell::Byte(255), "`cpuid` needs CPUID"),
        (Set::Sha, Cell::Number(0), "of 8 bytes"),
        (Set::Sha, Cell::Input, "of 8 bytes"),
    ] {
        let found = verdict(&image, set, cell).verdict.to_string();
        assert!(found.contains(why), "{found}");
    }
    // The same instruction reads two bytes.
    let mut reads = with.instructions.values().filter(|instruction| {
        instruction.mnemonic() == Mnemonic::Movzx && instruction.is_ip_rel_memory_operand()
    });
    let at = reads.next().expect("a read of the variable").ip();
    let is_byte = image.code(at, 2) == Some(&[0x0f, 0xb6]);
    assert!(is_byte, "a read of one byte");
    let mut longer = image.clone();
    longer.patch(at + 1, &[0xb7]);
    let found = verdict(&longer, Set::Sha, Cell::Byte(1)).verdict;
    let why = "read of 2 bytes outside of its memory";
    assert!(found.to_string().contains(why), "{found}");
}

/// The change is an addition or subtraction without its carry or borrow, in each place of the
/// function that seals files, for 16 bytes. In three places the carry is always zero: the number
/// before the first block is zero, and so is the first word of the last block, the length of the
/// additional data. There the change is no bug, and the function is proved. In three places the
/// carry is one so seldom that no sample shows it: the function stays UNPROVED. All other changes
/// are refuted.
#[test]
fn poly1305_without_one_of_its_carries_is_not_proved() {
    let image = own();
    let row = others().into_iter();
    let mut row = row.filter(|row| row.function.ends_with("chacha20_poly1305_seal"));
    let row = row.next().unwrap();
    let contract = &row.contracts[0];
    let finding = prove(&image, &row, contract);
    assert!(finding.verdict.is_proof(), "{}", finding.verdict);
    let (mut refuted, mut unproved, mut proved) = (0, Vec::new(), Vec::new());
    for instruction in finding.instructions.values() {
        let without = match instruction.mnemonic() {
            Mnemonic::Adc => Mnemonic::Add,
            Mnemonic::Sbb => Mnemonic::Sub,
            _ => continue,
        };
        let (at, bytes) = changed(&image, instruction, without).unwrap();
        let mut image = image.clone();
        image.patch(at, &bytes);
        match prove(&image, &row, contract).verdict {
            Verdict::Refuted(_) => refuted += 1,
            Verdict::Unproved(_) => unproved.push(instruction.to_string()),
            Verdict::Proved => proved.push(instruction.to_string()),
            other => panic!("{instruction}: {other}"),
        }
    }
    assert_eq!(refuted, 15, "{unproved:?} {proved:?}");
    assert_eq!(unproved, ["adc r15,rdx", "adc r12,1", "adc r15,rdx"]);
    assert_eq!(
        proved,
        ["adc r11,[rdi+8]", "adc r12,1", "adc r11,[rbp+28h]"]
    );
}

/// The changes of mnemonics.
const CHANGES: [(Mnemonic, Mnemonic); 10] = [
    (Mnemonic::Aesenc, Mnemonic::Aesenclast),
    (Mnemonic::Vpaddd, Mnemonic::Vpsubd),
    (Mnemonic::Paddd, Mnemonic::Psubd),
    (Mnemonic::Vpaddq, Mnemonic::Vpsubq),
    (Mnemonic::Paddq, Mnemonic::Psubq),
    (Mnemonic::Vpxor, Mnemonic::Vpor),
    (Mnemonic::Xor, Mnemonic::Or),
    (Mnemonic::Xorps, Mnemonic::Orps),
    (Mnemonic::Pxor, Mnemonic::Por),
    (Mnemonic::Vpxorq, Mnemonic::Vporq),
];

/// Instructions of the first kind that the function has, from each of these quarters on: the place
/// of each, and its new bytes.
fn planted(image: &Image, finding: &Finding, quarters: &[usize]) -> Vec<Vec<(u64, Vec<u8>)>> {
    for (from, to) in CHANGES {
        let changes = finding.instructions.values();
        let changes = changes.filter(|instruction| instruction.mnemonic() == from);
        let changes = changes.filter_map(|instruction| changed(image, instruction, to));
        let changes: Vec<_> = changes.collect();
        if !changes.is_empty() {
            let from = |part: &usize| changes[changes.len() * part / 4..].to_vec();
            return quarters.iter().map(from).collect();
        }
    }
    panic!("no instruction to change");
}

/// The instruction with another operation and the same operands, which are not one register. One
/// byte differs.
fn changed(image: &Image, instruction: &Instruction, to: Mnemonic) -> Option<(u64, Vec<u8>)> {
    let count = instruction.op_count();
    let last_two = [count - 2, count - 1].map(|n| instruction.op_register(n));
    if last_two[0] == last_two[1] {
        return None;
    }
    let at = instruction.ip();
    let bytes = image.code(at, instruction.len())?;
    let all = (0..bytes.len()).flat_map(|place| (0..=255).map(move |byte| (place, byte)));
    all.map(|(place, byte)| {
        let mut bytes = bytes.to_vec();
        bytes[place] = byte;
        (at, bytes)
    })
    .find(|(at, bytes)| {
        let other = Decoder::with_ip(64, bytes, *at, DecoderOptions::NONE).decode();
        let same = |n| {
            other.op_kind(n) == instruction.op_kind(n)
                && other.op_register(n) == instruction.op_register(n)
        };
        other.mnemonic() == to
            && other.len() == bytes.len()
            && other.op_count() == count
            && (0..count).all(same)
            && other.memory_base() == instruction.memory_base()
            && other.memory_displacement64() == instruction.memory_displacement64()
    })
}

/// ASSURANCE.md names the reason: it branches on the distance of its keys from its stack, modulo
/// 4096.
#[test]
fn aes_gcm_in_one_loop_is_not_proved_for_its_shortest_data() {
    const SHORTEST: u64 = 288;
    let cells = SHORTEST as usize / 8;
    let outputs = formula!(|_a, contents| [0, 3, 5].map(|it: usize| contents[it].clone()).to_vec());
    let contract = Contract::new(outputs)
        .buffer("output", cells, 1, Access::Write)
        .buffer("input", cells, 1, Access::Read)
        .buffer("keys", 31, 16, Access::Read)
        .buffer("counter", 2, 16, Access::Write)
        .buffer("table", 32, 16, Access::Read)
        .buffer("Xi", 2, 16, Access::Write)
        .addresses(["input", "output"])
        .number(SHORTEST)
        .addresses(["keys", "counter", "table", "Xi"])
        .returns(0);
    let image = own();
    for name in ["aesni_gcm_encrypt", "aesni_gcm_decrypt"] {
        let mut symbols = image.symbols().iter();
        let is_it = |symbol: &&Symbol| symbol.is(&format!("aws_lc_*{name}"));
        let symbol = symbols.find(is_it).expect(name);
        let processor = Set::AvxClmul.processor();
        let finding = Session::new().prove(&image, symbol, &contract, &processor);
        let why = "a branch depends on where memory is";
        let found = finding.verdict.to_string();
        assert!(
            found.starts_with("UNPROVED") && found.contains(why),
            "{name}: {found}"
        );
    }
}
