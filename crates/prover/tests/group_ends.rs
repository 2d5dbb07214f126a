//! Ends of loops over groups, and specifications that do not fit their contract.

use iced_x86::code_asm::{
    CodeAssembler, CodeLabel, eax, ecx, qword_ptr, r8, r9, r10, rax, rbp, rbx, rcx, rdi, rdx, rsp,
};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Cell, Contents, Contract, Groups, Steps, Stepwise};
use sealstone_prover::features::Processor;
use sealstone_prover::image::Image;
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

/// Elements of one word, one in a group. The first step adds it; each step adds 3 and rotates by 7.
#[derive(Clone, Copy)]
struct Turned {
    /// The number of words in its result. One is right.
    results: usize,
}

const STEPS: usize = 4;

impl Stepwise for Turned {
    fn steps(&self) -> usize {
        STEPS
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        vec![contents[2][3].clone(), a.number(0)]
    }

    fn reads(&self, number: usize) -> (usize, Vec<usize>) {
        (0, (0..usize::from(number == 0)).collect())
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let mut sum = words[1].clone();
        for word in read {
            sum = a.add(&sum, word);
        }
        let three = a.number(3);
        let sum = a.add(&sum, &three);
        vec![words[0].clone(), a.rotate_left(&sum, 7)]
    }

    fn uncoupled(&self) -> usize {
        1
    }

    fn end<A: Algebra<64>>(&self, a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
        vec![vec![words[1].clone(); self.results], vec![a.number(1)]]
    }
}

/// rdi: addresses of elements and results, number of elements, position.
fn contract(results: usize) -> Contract {
    let record = vec![
        Cell::Address("elements"),
        Cell::Elements,
        Cell::Address("results"),
        Cell::Input,
    ];
    Contract::stepwise(Turned { results })
        .buffer("elements", 1, 8, Access::Read)
        .buffer("results", 1, 8, Access::Write)
        .record("record", record, 8, Access::Read)
        .addresses(["record"])
        .returns(1)
        .in_groups(Groups {
            input: "elements",
            output: "results",
            cells: [1, 1],
            position: ("record", 3),
            distance: 8,
            size: 1,
            least: 1,
            steps: Box::new(move |_| Steps::new(Turned { results })),
        })
}

/// Adds 3 and rotates by 7.
fn turn(code: &mut CodeAssembler) {
    code.add(rdx, 3).unwrap();
    code.rol(rdx, 7).unwrap();
}

/// The verdict on a function that goes from its last group to code above the header of its loop:
/// `last`, and a jump to the end.
fn verdict(contract: &Contract, last: &dyn Fn(&mut CodeAssembler)) -> Verdict {
    verdict_on(contract, last, &nothing)
}

/// The same, with code at the end of each group.
fn verdict_on(
    contract: &Contract,
    last: &dyn Fn(&mut CodeAssembler),
    group: &dyn Fn(&mut CodeAssembler),
) -> Verdict {
    let mut code = CodeAssembler::new(64).unwrap();
    let [mut header, mut inner, mut above, mut end]: [CodeLabel; 4] =
        [(); 4].map(|()| code.create_label());
    code.push(rbx).unwrap();
    code.push(rbp).unwrap();
    code.mov(rbp, rsp).unwrap();
    code.sub(rsp, 104).unwrap();
    code.and(rsp, -64).unwrap();
    code.mov(r8, qword_ptr(rdi)).unwrap();
    code.mov(r9, qword_ptr(rdi + 8)).unwrap();
    code.mov(r10, qword_ptr(rdi + 16)).unwrap();
    code.xor(eax, eax).unwrap();
    code.jmp(header).unwrap();
    code.set_label(&mut above).unwrap();
    last(&mut code);
    code.jmp(end).unwrap();
    code.set_label(&mut header).unwrap();
    code.mov(rdx, qword_ptr(r8)).unwrap();
    code.mov(ecx, STEPS as i32 - 1).unwrap();
    code.set_label(&mut inner).unwrap();
    turn(&mut code);
    code.dec(ecx).unwrap();
    code.jne(inner).unwrap();
    // rdx stays as it is before the last step.
    code.lea(rbx, qword_ptr(rdx + 3)).unwrap();
    code.rol(rbx, 7).unwrap();
    code.mov(qword_ptr(r10), rbx).unwrap();
    group(&mut code);
    code.add(r8, 8).unwrap();
    code.add(r10, 8).unwrap();
    code.mov(rcx, r9).unwrap();
    code.sub(rcx, rax).unwrap();
    code.inc(rax).unwrap();
    code.cmp(rcx, 1).unwrap();
    code.jne(header).unwrap();
    code.jmp(above).unwrap();
    code.set_label(&mut end).unwrap();
    code.mov(rsp, rbp).unwrap();
    code.pop(rbp).unwrap();
    code.pop(rbx).unwrap();
    code.ret().unwrap();
    let mut image = Image::of_code("program", &[0xcc]);
    let bytes = code.assemble(image.next_free()).unwrap();
    image.add_function("planted", &bytes);
    let symbol = image.symbols().last().unwrap().clone();
    let processor = Processor::baseline();
    Session::new()
        .prove(&image, &symbol, contract, &processor)
        .verdict
}

fn nothing(code: &mut CodeAssembler) {
    code.nop().unwrap();
}

#[test]
fn code_above_the_header_may_follow_the_last_group() {
    assert_eq!(verdict(&contract(1), &nothing), Verdict::Proved);
}

/// A step too many, after the result of the last group was compared and before it is compared
/// again. The jump backwards is in a coupled state. A cut there would give the unknowns in the
/// expected result another meaning: the result would look right.
#[test]
fn a_step_too_many_after_the_last_group() {
    let verdict = verdict(&contract(1), &|code| {
        turn(code);
        turn(code);
        code.mov(qword_ptr(r10 - 8), rdx).unwrap();
    });
    let is_unproved = matches!(&verdict, Verdict::Unproved(why) if why.contains("wrong output"));
    assert!(is_unproved, "{verdict}");
}

/// A group leaves the aligned stack, writes to the old one and aligns it again. The aligned stack
/// has these bytes for one distance only.
#[test]
fn a_stack_that_each_group_aligns_again() {
    let verdict = verdict_on(&contract(1), &nothing, &|code| {
        code.lea(rsp, qword_ptr(rbp - 104)).unwrap();
        code.mov(qword_ptr(rsp + 8), r9).unwrap();
        code.and(rsp, -64).unwrap();
    });
    let why = "aligns the stack in another place";
    let is_unproved = matches!(&verdict, Verdict::Unproved(found) if found.contains(why));
    assert!(is_unproved, "{verdict}");
}

/// Other groups have other elements. So an element must not be an argument, nor in another buffer.
#[test]
fn elements_that_are_something_else_too_are_refused() {
    let why = "elements or results that are other arguments or memory of the contract, too";
    let refused = Verdict::Unsupported(why.into());
    let others = [
        contract(1).values("elements"),
        contract(1)
            .buffer("alias", 1, 8, Access::Read)
            .with_same("alias", "alias", "elements"),
    ];
    for other in others {
        assert_eq!(verdict(&other, &nothing), refused);
    }
}

/// Results that the specification does not give are not right, whatever they are.
#[test]
fn a_specification_with_another_number_of_results_is_refused() {
    for results in [0, 2] {
        let why = format!(
            "the specification gives {results} words for `results` of a group, but 1 elements \
             have 1"
        );
        let refused = Verdict::Unsupported(why);
        assert_eq!(verdict(&contract(results), &nothing), refused);
    }
}
