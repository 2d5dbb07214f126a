//! Loops over groups of elements, and bugs planted into them. Contracts of one group, full or not,
//! do not notice these bugs: they are PROVED.

#[path = "groups/shapes.rs"]
mod shapes;

use iced_x86::code_asm::{
    CodeAssembler, CodeLabel, eax, ebx, ecx, edi, edx, esi, qword_ptr, r8, r9, r10, r11, r12, r12b,
    r12d, r13, rax, rbp, rbx, rcx, rdi, rdx, rsi,
};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Cell, Contents, Contract, Groups, Steps, Stepwise};
use sealstone_prover::features::Processor;
use sealstone_prover::image::Image;
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

/// Sums of elements of four words, two elements at once. Each word is added to the sum, and so is
/// the position behind it; then the sum is rotated by 7.
#[derive(Clone, Copy)]
struct Sums {
    elements: usize,
}

const WORDS: usize = 4;
const SIZE: usize = 2;

impl Stepwise for Sums {
    fn steps(&self) -> usize {
        WORDS
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        let zero = a.number(0);
        vec![contents[2][3].clone(), zero.clone(), zero]
    }

    fn reads(&self, number: usize) -> (usize, Vec<usize>) {
        let second = if self.elements > 1 { WORDS } else { 0 };
        (0, vec![number, second + number])
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let eight = a.number(8);
        let position = a.add(&words[0], &eight);
        let mut after = vec![position.clone()];
        for (i, (sum, word)) in words[1..].iter().zip(read).enumerate() {
            let before = a.number((8 * WORDS * i) as u64);
            let position = a.add(&position, &before);
            let sum = a.add(sum, word);
            let sum = a.add(&sum, &position);
            after.push(a.rotate_left(&sum, 7));
        }
        after
    }

    fn uncoupled(&self) -> usize {
        1
    }

    fn auxiliary<A: Algebra<64>>(
        &self,
        a: &mut A,
        number: usize,
        words: &[A::Word],
    ) -> Vec<A::Word> {
        let mut auxiliary = Vec::new();
        for back in [0, number] {
            let before = a.number((8 * back as u64).wrapping_neg());
            auxiliary.push(a.add(&words[0], &before));
        }
        auxiliary
    }

    fn end<A: Algebra<64>>(&self, a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
        let results = words[1..][..self.elements].to_vec();
        vec![results, vec![a.number(self.elements as u64)]]
    }
}

/// rdi: addresses of elements and results, number of elements, position.
fn memory(contract: Contract, elements: usize, number: Cell) -> Contract {
    let record = vec![
        Cell::Address("elements"),
        number,
        Cell::Address("results"),
        Cell::Input,
    ];
    contract
        .buffer("elements", WORDS * elements, 8, Access::Read)
        .buffer("results", elements, 8, Access::Write)
        .record("record", record, 8, Access::Read)
        .addresses(["record"])
        .returns(1)
}

fn some(elements: usize) -> Contract {
    let contract = Contract::stepwise(Sums { elements });
    memory(contract, elements, Cell::Number(elements as u64))
}

fn any(least: usize) -> Contract {
    let contract = Contract::stepwise(Sums { elements: SIZE });
    memory(contract, SIZE, Cell::Elements).in_groups(Groups {
        input: "elements",
        output: "results",
        cells: [WORDS, 1],
        position: ("record", 3),
        distance: 8 * WORDS as u64,
        size: SIZE,
        least,
        steps: Box::new(|elements| Steps::new(Sums { elements })),
    })
}

/// Code in a place of the loop.
type Code<'a> = &'a dyn Fn(&mut CodeAssembler);

/// Code in places of the loop, for bugs.
#[derive(Clone, Copy)]
struct Planted<'a> {
    /// Before the loop.
    begin: Code<'a>,
    /// At the header. rcx has the number of elements that remain.
    header: Code<'a>,
    /// In each turn over a word.
    word: Code<'a>,
    /// After the results of a full group, before all advances.
    group: Code<'a>,
    /// The advance to the next group, and the jump to the header.
    advance: &'a dyn Fn(&mut CodeAssembler, CodeLabel),
    /// At the end of a group that is not full.
    rest: Code<'a>,
    /// The header is where the loop ends, too; the advance is above it, and the first group skips
    /// that. `advance` has no jump then.
    is_while: bool,
    /// At the header of such a loop, with the flags of the number of elements that remain: where it
    /// goes if nothing remains.
    ends: &'a dyn Fn(&mut CodeAssembler, CodeLabel, CodeLabel),
    /// After the loop.
    after: Code<'a>,
}

fn nothing(_: &mut CodeAssembler) {}

/// Advances elements, results, position and number of elements that are done.
fn advance_by(code: &mut CodeAssembler, [elements, results, position, done]: [i32; 4]) {
    code.add(r8, elements).unwrap();
    code.add(r10, results).unwrap();
    code.add(r11, position).unwrap();
    code.add(rax, done).unwrap();
}

fn advance(code: &mut CodeAssembler, header: CodeLabel) {
    advance_by(code, [64, 16, 64, 2]);
    code.cmp(rcx, 2).unwrap();
    code.jne(header).unwrap();
}

const RIGHT: Planted<'_> = Planted {
    begin: &nothing,
    header: &nothing,
    word: &nothing,
    group: &nothing,
    advance: &advance,
    rest: &nothing,
    is_while: false,
    ends: &|code, _, end| code.je(end).unwrap(),
    after: &nothing,
};

const WHILE: Planted<'_> = Planted {
    advance: &|code, _| advance_by(code, [64, 16, 64, 2]),
    is_while: true,
    ..RIGHT
};

/// Verdicts on one group of one and of two elements, and on any number of elements.
fn verdicts(planted: Planted<'_>) -> [Verdict; 3] {
    verdicts_of([some(1), some(2), any(1)], planted)
}

fn verdicts_of<const N: usize>(contracts: [Contract; N], planted: Planted<'_>) -> [Verdict; N] {
    verdicts_for(&Processor::baseline(), contracts, planted)
}

fn verdicts_for<const N: usize>(
    processor: &Processor,
    contracts: [Contract; N],
    planted: Planted<'_>,
) -> [Verdict; N] {
    let mut image = Image::of_code("program", &[0xcc]);
    let bytes = code(planted).assemble(image.next_free()).unwrap();
    image.add_function("planted", &bytes);
    let symbol = image.symbols().last().unwrap().clone();
    contracts.map(|contract| {
        Session::new()
            .prove(&image, &symbol, &contract, processor)
            .verdict
    })
}

fn code(planted: Planted<'_>) -> CodeAssembler {
    let mut code = CodeAssembler::new(64).unwrap();
    let [mut header, mut inner, mut one, mut end] = [(); 4].map(|()| code.create_label());
    let mut next = code.create_label();
    code.push(rbx).unwrap();
    code.push(r12).unwrap();
    code.push(r13).unwrap();
    code.mov(r8, qword_ptr(rdi)).unwrap();
    code.mov(r9, qword_ptr(rdi + 8)).unwrap();
    code.mov(r10, qword_ptr(rdi + 16)).unwrap();
    code.mov(r11, qword_ptr(rdi + 24)).unwrap();
    code.mov(r13, rdi).unwrap();
    code.xor(eax, eax).unwrap();
    (planted.begin)(&mut code);
    if planted.is_while {
        code.jmp(header).unwrap();
        code.set_label(&mut next).unwrap();
        (planted.advance)(&mut code, header);
    }
    code.set_label(&mut header).unwrap();
    code.mov(rcx, r9).unwrap();
    code.sub(rcx, rax).unwrap();
    if planted.is_while {
        (planted.ends)(&mut code, header, end);
    }
    (planted.header)(&mut code);
    code.lea(rdx, qword_ptr(r8 + 32)).unwrap();
    code.cmp(rcx, 2).unwrap();
    code.cmovb(rdx, r8).unwrap();
    code.xor(esi, esi).unwrap();
    code.xor(edi, edi).unwrap();
    code.xor(ebx, ebx).unwrap();
    code.mov(r12, r11).unwrap();
    code.set_label(&mut inner).unwrap();
    code.add(r12, 8).unwrap();
    code.add(rdi, qword_ptr(r8 + rsi)).unwrap();
    code.add(rdi, r12).unwrap();
    code.rol(rdi, 7).unwrap();
    code.add(rbx, qword_ptr(rdx + rsi)).unwrap();
    code.add(rbx, r12).unwrap();
    code.add(rbx, 32).unwrap();
    code.rol(rbx, 7).unwrap();
    (planted.word)(&mut code);
    code.add(rsi, 8).unwrap();
    code.cmp(rsi, 32).unwrap();
    code.jne(inner).unwrap();
    code.mov(qword_ptr(r10), rdi).unwrap();
    code.cmp(rcx, 2).unwrap();
    code.jb(one).unwrap();
    code.mov(qword_ptr(r10 + 8), rbx).unwrap();
    (planted.group)(&mut code);
    if planted.is_while {
        code.jmp(next).unwrap();
    } else {
        (planted.advance)(&mut code, header);
        code.jmp(end).unwrap();
    }
    code.set_label(&mut one).unwrap();
    code.inc(rax).unwrap();
    (planted.rest)(&mut code);
    if planted.is_while {
        code.jmp(header).unwrap();
    }
    code.set_label(&mut end).unwrap();
    (planted.after)(&mut code);
    code.pop(r13).unwrap();
    code.pop(r12).unwrap();
    code.pop(rbx).unwrap();
    code.ret().unwrap();
    code
}

/// It is proved for one group, and not for any number.
#[track_caller]
fn assert_only_one_group(planted: Planted<'_>) {
    let [one, two, any] = verdicts(planted);
    assert_eq!([one, two], [Verdict::Proved, Verdict::Proved]);
    assert!(matches!(any, Verdict::Unproved(_)), "{any}");
}

#[test]
fn a_loop_over_groups_is_proved() {
    let [one, two, any] = verdicts(RIGHT);
    assert_eq!([one, two, any], [(); 3].map(|()| Verdict::Proved));
}

/// So is one that ends at its header, and has its advance above that.
#[test]
fn a_loop_that_ends_at_its_header_is_proved() {
    let [one, two, any] = verdicts(WHILE);
    assert_eq!([one, two, any], [(); 3].map(|()| Verdict::Proved));
}

/// Its next group has other elements, another position, or other places for its results.
#[test]
fn an_advance_above_the_header_that_is_wrong() {
    for steps in [
        [0, 16, 64, 2],
        [32, 16, 64, 2],
        [64, 8, 64, 2],
        [64, 24, 64, 2],
        [64, 16, 0, 2],
        [64, 16, 32, 2],
    ] {
        assert_only_one_group(Planted {
            advance: &|code, _| advance_by(code, steps),
            ..WHILE
        });
    }
}

/// The same from the fourth group on: three arrivals at the header suggest the right invariant.
#[test]
fn an_advance_above_the_header_that_is_wrong_later() {
    for register in [r8, r10, r11, rax] {
        assert_only_one_group(Planted {
            advance: &|code, _| {
                code.mov(rcx, rax).unwrap();
                code.shr(rcx, 2).unwrap();
                advance_by(code, [64, 16, 64, 2]);
                code.add(register, rcx).unwrap();
            },
            ..WHILE
        });
    }
}

/// After the loop, where its header was passed once more: what it returns is wrong from four
/// elements on, if the last group is full or not.
#[test]
fn a_wrong_number_after_a_loop_that_ends_at_its_header() {
    for odd in [0, 1] {
        assert_only_one_group(Planted {
            after: &|code| {
                code.mov(rcx, rax).unwrap();
                code.shr(rcx, 2).unwrap();
                code.mov(rdx, rax).unwrap();
                code.and(rdx, 1).unwrap();
                code.cmp(rdx, odd).unwrap();
                code.mov(edx, 0).unwrap();
                code.cmovne(rcx, rdx).unwrap();
                code.add(rax, rcx).unwrap();
            },
            ..WHILE
        });
    }
}

/// After the loop, a result changes: that of the last group, full or not, or the first one.
#[test]
fn a_result_that_changes_after_a_loop_that_ends_at_its_header() {
    let places: [Code<'_>; 3] = [
        &|code| code.lea(rdx, qword_ptr(r10 - 8)).unwrap(),
        &|code| code.mov(rdx, r10).unwrap(),
        &|code| code.mov(rdx, qword_ptr(r13 + 16)).unwrap(),
    ];
    for (place, odd) in places.into_iter().zip([0, 1, 1]) {
        assert_only_one_group(Planted {
            after: &|code| {
                place(code);
                let mut right = code.create_label();
                code.mov(rcx, rax).unwrap();
                code.and(ecx, 1).unwrap();
                code.cmp(ecx, odd).unwrap();
                code.jne(right).unwrap();
                code.mov(rcx, rax).unwrap();
                code.shr(rcx, 2).unwrap();
                code.xor(qword_ptr(rdx), rcx).unwrap();
                code.set_label(&mut right).unwrap();
                code.nop().unwrap();
            },
            ..WHILE
        });
    }
}

/// With nothing left, it comes to its header again and again, if the number of elements is odd, or
/// if it is even. All results are right by then, and so is the number that it would return. A
/// prover that takes the second arrival for an end would prove it.
#[test]
fn a_loop_that_comes_to_its_header_for_ever() {
    for odd in [0, 1] {
        let [any] = verdicts_of(
            [any(1)],
            Planted {
                ends: &|code, header, end| {
                    let mut on = code.create_label();
                    code.jne(on).unwrap();
                    code.mov(ecx, eax).unwrap();
                    code.and(ecx, 1).unwrap();
                    code.cmp(ecx, odd).unwrap();
                    code.je(header).unwrap();
                    code.jmp(end).unwrap();
                    code.set_label(&mut on).unwrap();
                    code.nop().unwrap();
                },
                ..WHILE
            },
        );
        let why = "its loop over groups does not end in time";
        let is_unproved = matches!(&any, Verdict::Unproved(found) if found.contains(why));
        assert!(is_unproved, "{any}");
    }
}

/// The next group has other elements, another position, or other places for its results.
#[test]
fn an_address_or_a_position_that_does_not_advance() {
    for [elements, results, position] in [[0, 16, 64], [32, 16, 64], [64, 8, 64], [64, 24, 64]]
        .into_iter()
        .chain([[64, 16, 0], [64, 16, 32]])
    {
        assert_only_one_group(Planted {
            advance: &|code, header| {
                advance_by(code, [elements, results, position, 2]);
                code.cmp(rcx, 2).unwrap();
                code.jne(header).unwrap();
            },
            ..RIGHT
        });
    }
}

/// A last group of one element behind others is not done.
#[test]
fn a_last_group_that_is_left_out() {
    assert_only_one_group(Planted {
        header: &|code| {
            let mut right = code.create_label();
            code.cmp(rcx, 1).unwrap();
            code.jne(right).unwrap();
            code.test(rax, rax).unwrap();
            code.je(right).unwrap();
            code.pop(r13).unwrap();
            code.pop(r12).unwrap();
            code.pop(rbx).unwrap();
            code.ret().unwrap();
            code.set_label(&mut right).unwrap();
            code.nop().unwrap();
        },
        ..RIGHT
    });
}

/// A last group of one element has the first element of all.
#[test]
fn a_last_group_of_other_elements() {
    assert_only_one_group(Planted {
        header: &|code| {
            code.cmp(rcx, 2).unwrap();
            code.cmovb(r8, qword_ptr(r13)).unwrap();
        },
        ..RIGHT
    });
}

/// One group more after the second one, and none after the third one.
#[test]
fn a_group_too_many_and_groups_too_few() {
    let with = |groups: i32, again: bool| {
        assert_only_one_group(Planted {
            advance: &|code, header| {
                let mut end = code.create_label();
                advance(code, header);
                code.jmp(end).unwrap();
                code.nop().unwrap();
                code.set_label(&mut end).unwrap();
                code.cmp(rax, 2 * groups).unwrap();
                if again {
                    code.je(header).unwrap();
                }
            },
            group: &|code| {
                let mut right = code.create_label();
                if !again {
                    code.cmp(rax, 2 * groups).unwrap();
                    code.jne(right).unwrap();
                    code.mov(rcx, 2u64).unwrap();
                }
                code.set_label(&mut right).unwrap();
                code.nop().unwrap();
            },
            ..RIGHT
        });
    };
    with(2, true);
    with(2, false);
}

/// The result is wrong from five elements on, or for full groups from the third one on.
#[test]
fn a_wrong_number_of_elements() {
    assert_only_one_group(Planted {
        rest: &|code| {
            code.mov(rcx, rax).unwrap();
            code.shr(rcx, 2).unwrap();
            code.add(rax, rcx).unwrap();
        },
        ..RIGHT
    });
    assert_only_one_group(Planted {
        advance: &|code, header| {
            advance(code, header);
            code.mov(rcx, rax).unwrap();
            code.shr(rcx, 2).unwrap();
            code.add(rax, rcx).unwrap();
        },
        ..RIGHT
    });
}

/// A result is wrong from the third group on, or for one number of elements.
#[test]
fn a_wrong_result_in_a_later_group() {
    assert_only_one_group(Planted {
        group: &|code| {
            code.mov(r12, rax).unwrap();
            code.shr(r12, 2).unwrap();
            code.xor(qword_ptr(r10), r12).unwrap();
        },
        ..RIGHT
    });
    assert_only_one_group(Planted {
        word: &|code| {
            code.xor(r12d, r12d).unwrap();
            code.cmp(r9, 1000).unwrap();
            code.sete(r12b).unwrap();
            code.xor(rdi, r12).unwrap();
            code.lea(r12, qword_ptr(r11 + rsi + 8)).unwrap();
        },
        ..RIGHT
    });
}

/// A later group changes the result before its own.
#[test]
fn a_result_that_a_later_group_changes() {
    assert_only_one_group(Planted {
        group: &|code| {
            code.lea(rdx, qword_ptr(r10 - 8)).unwrap();
            code.test(rax, rax).unwrap();
            code.cmove(rdx, r10).unwrap();
            code.mov(r12, qword_ptr(rdx)).unwrap();
            code.xor(r12, rdi).unwrap();
            code.cmove(r12, rdi).unwrap();
            code.mov(qword_ptr(rdx), r12).unwrap();
        },
        ..RIGHT
    });
}

/// A register of the caller is lost from the third group on.
#[test]
fn a_register_of_the_caller_that_later_groups_change() {
    assert_only_one_group(Planted {
        group: &|code| {
            code.mov(r12, rax).unwrap();
            code.shr(r12, 2).unwrap();
            code.add(rbp, r12).unwrap();
        },
        ..RIGHT
    });
}

/// The contract says that one element is left to the caller, and the function does it.
#[test]
fn a_group_that_should_be_left_to_the_caller() {
    let [_, _, right] = verdicts_of([some(1), some(2), any(1)], RIGHT);
    assert_eq!(right, Verdict::Proved);
    let [_, _, other] = verdicts_of([some(1), some(2), any(2)], RIGHT);
    assert!(matches!(other, Verdict::Unproved(_)), "{other}");
}
