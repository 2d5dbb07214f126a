//! Unusual contracts, and functions that break their contract in an expensive way.

use iced_x86::code_asm::{CodeAssembler, ecx, qword_ptr, rax, rdi, rdx, rsi};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Cell, Contents, Contract, Stepwise};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::Image;
use sealstone_prover::prove::{Finding, Session};
use sealstone_prover::verdict::Verdict;

fn prove(
    session: &mut Session,
    contract: &Contract,
    write: impl Fn(&mut CodeAssembler),
) -> Finding {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code);
    code.ret().unwrap();
    let image = Image::of_code("function", &code.assemble(Image::BASE).unwrap());
    let processor = Processor::baseline();
    session.prove(&image, &image.symbols()[0], contract, &processor)
}

/// rdi: a cell of this kind, rsi: where it is copied to.
fn copied(cell: Cell) -> Contract {
    Contract::new(formula!(|_a, contents| vec![contents[0].clone()]))
        .record("x", vec![cell], 8, Access::Read)
        .buffer("copy", 1, 8, Access::Write)
        .addresses(["x", "copy"])
}

fn copy(code: &mut CodeAssembler) {
    code.mov(rax, qword_ptr(rdi)).unwrap();
    code.mov(qword_ptr(rsi), rax).unwrap();
}

/// A session keeps the inputs of a name from an earlier contract.
#[test]
fn contracts_of_a_session_may_have_other_cells_of_the_same_name() {
    let known = Cell::Partly { known: 1, value: 1 };
    let cells = [
        Cell::Count(24),
        Cell::Input,
        Cell::Many(8),
        Cell::Count(63),
        Cell::Small(40),
        known,
        Cell::Count(1),
    ];
    let mut session = Session::new();
    for cell in cells {
        let text = format!("{cell:?}");
        let finding = prove(&mut session, &copied(cell), copy);
        assert_eq!(finding.verdict, Verdict::Proved, "{text}");
    }
}

/// Cells of other buffers have eight bytes.
#[test]
#[should_panic(expected = "`x`: a byte ends a variable")]
fn a_byte_in_a_buffer_that_is_no_variable_is_a_wrong_contract() {
    prove(&mut Session::new(), &copied(Cell::Byte(1)), copy);
}

#[test]
#[should_panic(expected = "`x`: a byte ends a variable")]
fn a_byte_before_another_cell_is_a_wrong_contract() {
    let cells = vec![Cell::Byte(1), Cell::Input];
    let contract = copied(Cell::Input).variable("x", cells);
    prove(&mut Session::new(), &contract, copy);
}

/// Native runs have fixed addresses and one handler of traps. They wait for each other.
#[test]
fn threads_may_prove_at_the_same_time() {
    let branch = |code: &mut CodeAssembler| {
        let mut end = code.create_label();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(qword_ptr(rsi), rax).unwrap();
        code.test(rax, 1).unwrap();
        code.jz(end).unwrap();
        code.nop().unwrap();
        code.set_label(&mut end).unwrap();
        code.nop().unwrap();
    };
    let work = || {
        for _ in 0..20 {
            let proved = prove(&mut Session::new(), &copied(Cell::Input), copy);
            assert_eq!(proved.verdict, Verdict::Proved);
            assert!(proved.ran_natively);
            let refuted = prove(&mut Session::new(), &copied(Cell::Input), branch).verdict;
            assert!(refuted.to_string().contains("natively"), "{refuted}");
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
}

/// A buffer of two cells, and a cell with an address in it.
fn with_place(distance: u64) -> Verdict {
    let contract = Contract::new(formula!(|_a, contents| vec![contents[2].clone()]))
        .record(
            "place",
            vec![Cell::Inside("words", distance)],
            8,
            Access::Read,
        )
        .buffer("words", 2, 8, Access::Read)
        .buffer("untouched", 1, 8, Access::Write)
        .addresses(["place"]);
    let touch = |code: &mut CodeAssembler| {
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(rax, qword_ptr(rax - 8)).unwrap();
    };
    prove(&mut Session::new(), &contract, touch).verdict
}

/// The last one is the end of the buffer.
#[test]
fn a_place_is_in_its_buffer_or_at_its_end() {
    assert_eq!(with_place(8), Verdict::Proved);
    assert_eq!(with_place(16), Verdict::Proved);
}

#[test]
#[should_panic(expected = "`place`: 17 bytes are more than `words` has")]
fn a_place_behind_its_buffer_is_a_wrong_contract() {
    with_place(17);
}

/// Each step adds a word and the same word rotated.
#[derive(Clone, Copy)]
struct Turned;

const STEPS: usize = 1 << 16;

impl Stepwise for Turned {
    fn steps(&self) -> usize {
        STEPS
    }
    fn reads(&self, _number: usize) -> (usize, Vec<usize>) {
        (0, Vec::new())
    }
    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        _read: &[A::Word],
    ) -> Vec<A::Word> {
        let turned = a.rotate_left(&words[0], 7);
        vec![a.add(&words[0], &turned)]
    }
}

/// Its loop squares, so no state is coupled.
fn squares(code: &mut CodeAssembler) {
    let mut header = code.create_label();
    code.mov(rax, qword_ptr(rdi)).unwrap();
    code.mov(ecx, STEPS as i32).unwrap();
    code.set_label(&mut header).unwrap();
    code.mul(rax).unwrap();
    code.add(rax, rdx).unwrap();
    code.dec(ecx).unwrap();
    code.jne(header).unwrap();
    code.mov(qword_ptr(rdi), rax).unwrap();
}

/// No iteration of the loop is a step, and its formulas grow. The run stops long before the loop
/// ends, and native runs show the error.
#[test]
fn a_loop_that_is_never_cut_is_given_up() {
    let contract = Contract::stepwise(Turned)
        .buffer("x", 1, 8, Access::Write)
        .addresses(["x"]);
    let mut session = Session::new().with_longest_formulas(1 << 20);
    let finding = prove(&mut session, &contract, squares);
    let verdict = finding.verdict.to_string();
    let words = "REFUTED: the turns of its loop are not seen to be the steps of the specification; \
                 reproduced natively";
    assert!(verdict.starts_with(words), "{verdict}");
    assert_eq!(finding.cuts, 0);
    assert!(finding.steps < 2 * STEPS as u64, "{}", finding.steps);
}

/// A specification of another shape is not followed either. Native runs do not call that a bug.
#[test]
fn steps_with_another_number_of_results_are_refused() {
    #[derive(Clone, Copy)]
    struct Twice;
    impl Stepwise for Twice {
        fn steps(&self) -> usize {
            STEPS
        }
        fn reads(&self, number: usize) -> (usize, Vec<usize>) {
            Turned.reads(number)
        }
        fn step<A: Algebra<64>>(
            &self,
            a: &mut A,
            number: usize,
            words: &[A::Word],
            read: &[A::Word],
        ) -> Vec<A::Word> {
            Turned.step(a, number, words, read)
        }
        fn end<A: Algebra<64>>(&self, _a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
            vec![words.to_vec(); 2]
        }
    }
    let contract = Contract::stepwise(Twice)
        .buffer("x", 1, 8, Access::Write)
        .addresses(["x"]);
    let mut session = Session::new().with_longest_formulas(1 << 20);
    let why = "the specification gives 2 outputs, but the contract has 1: `x`";
    assert_eq!(
        prove(&mut session, &contract, squares).verdict,
        Verdict::Unsupported(why.into())
    );
}

/// The same loop under a contract without steps.
#[test]
fn formulas_that_become_too_many_end_a_run() {
    let contract = Contract::new(formula!(|_a, contents| contents.clone()))
        .buffer("x", 1, 8, Access::Write)
        .addresses(["x"]);
    let mut session = Session::new().with_longest_formulas(100_000);
    let finding = prove(&mut session, &contract, squares);
    let verdict = finding.verdict.to_string();
    assert!(
        verdict.starts_with("UNSUPPORTED: its formulas become too many, at function+"),
        "{verdict}"
    );
}

/// A specification with too few or too many words is told. It is neither a proof nor a panic.
#[test]
fn a_specification_of_another_shape_is_refused() {
    let refused = |contract: Contract, why: &str| {
        let contract = contract
            .buffer("x", 1, 8, Access::Read)
            .buffer("copy", 1, 8, Access::Write)
            .addresses(["x", "copy"]);
        let finding = prove(&mut Session::new(), &contract, copy);
        assert_eq!(finding.verdict, Verdict::Unsupported(why.into()));
        assert!(!finding.ran_natively);
    };
    refused(
        Contract::new(formula!(|_a, _contents| vec![])),
        "the specification gives 0 outputs, but the contract has 1: `copy`",
    );
    refused(
        Contract::new(formula!(|_a, contents| contents.clone())),
        "the specification gives 2 outputs, but the contract has 1: `copy`",
    );
    refused(
        Contract::new(formula!(|_a, _contents| vec![vec![]])),
        "the specification gives 0 words for `copy`, but the contract has 1",
    );
    refused(
        Contract::new(formula!(|_a, contents| vec![contents.concat()])),
        "the specification gives 2 words for `copy`, but the contract has 1",
    );
    let nothing = Contract::new(formula!(|_a, _contents| vec![]))
        .buffer("x", 1, 8, Access::Read)
        .buffer("copy", 1, 8, Access::Scratch)
        .addresses(["x", "copy"]);
    assert_eq!(
        prove(&mut Session::new(), &nothing, copy).verdict,
        Verdict::Unsupported("the contract has no output: no buffer to write, no result".into())
    );
}
