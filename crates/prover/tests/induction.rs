//! Loops of any number of iterations, and bugs planted into them. Contracts of one, two and three
//! elements do not notice these bugs: they are PROVED.

#[path = "induction/few.rs"]
mod few;
#[path = "induction/offset.rs"]
mod offset;
#[path = "induction/trace.rs"]
mod trace;

use iced_x86::code_asm::{
    CodeAssembler, CodeLabel, dl, edx, qword_ptr, r8, r9, r9d, r10, r10b, r10d, rax, rbp, rbx, rcx,
    rdi, rdx, rsi, rsp,
};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Contents, Contract, Parity, Stepwise};
use sealstone_prover::features::Processor;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::prove::Session;
use sealstone_prover::verdict::Verdict;

/// A rotating sum: each element is added, and the sum is rotated by 7. The second word counts
/// elements.
#[derive(Clone, Copy)]
struct Sums {
    elements: usize,
}

impl Stepwise for Sums {
    fn steps(&self) -> usize {
        self.elements
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        summed(a, words, read)
    }
}

fn summed<A: Algebra<64>>(a: &mut A, words: &[A::Word], elements: &[A::Word]) -> Vec<A::Word> {
    let mut words = words.to_vec();
    for element in elements {
        let (sum, one) = (a.add(&words[0], element), a.number(1));
        words = vec![a.rotate_left(&sum, 7), a.add(&words[1], &one)];
    }
    words
}

/// The same with two elements in a step, and one element before them or none.
#[derive(Clone, Copy)]
struct Pairs {
    before: usize,
}

impl Stepwise for Pairs {
    fn steps(&self) -> usize {
        1
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        summed(a, &contents[0], &contents[1][..self.before])
    }

    fn reads(&self, step: usize) -> (usize, Vec<usize>) {
        let first = self.before + 2 * step;
        (1, vec![first, first + 1])
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        summed(a, words, read)
    }
}

/// rdi: the sums, rsi: elements.
fn some(elements: usize) -> Contract {
    Contract::stepwise(Sums { elements })
        .buffer("sums", 2, 8, Access::Write)
        .buffer("elements", elements, 8, Access::Read)
        .addresses(["sums", "elements"])
        .number(elements as u64)
}

/// The same, and rdx: the number of elements, any number.
fn many() -> Contract {
    Contract::stepwise(Sums { elements: 1 })
        .buffer("sums", 2, 8, Access::Write)
        .repeats("elements", (1, 8), "number")
        .addresses(["sums", "elements"])
        .values("number")
}

/// Any even number, or any odd one.
fn any(parity: Parity) -> Contract {
    let before = usize::from(parity == Parity::Odd);
    Contract::stepwise(Pairs { before })
        .buffer("sums", 2, 8, Access::Write)
        .repeats("elements", (2, 8), "pairs")
        .after(before)
        .addresses(["sums", "elements"])
        .twice("pairs", parity)
}

/// Verdicts on one, two, three, and any number of elements.
fn verdicts(write: impl Fn(&mut CodeAssembler)) -> [Verdict; 4] {
    verdicts_on([some(1), some(2), some(3), many()], write)
}

fn verdicts_on<const N: usize>(
    contracts: [Contract; N],
    write: impl Fn(&mut CodeAssembler),
) -> [Verdict; N] {
    let (image, symbol) = planted(write);
    contracts.map(|contract| {
        let processor = Processor::baseline();
        Session::new()
            .prove(&image, &symbol, &contract, &processor)
            .verdict
    })
}

fn planted(write: impl Fn(&mut CodeAssembler)) -> (Image, Symbol) {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code);
    let mut image = Image::of_code("program", &[0xcc]);
    let bytes = code.assemble(image.next_free()).unwrap();
    image.add_function("planted", &bytes);
    let symbol = image.symbols().last().unwrap().clone();
    (image, symbol)
}

/// The loop, with other code before it, in each iteration, and at its end.
fn sums(
    turn: impl Fn(&mut CodeAssembler),
    advance: impl Fn(&mut CodeAssembler, CodeLabel),
) -> [Verdict; 4] {
    verdicts(|code| {
        let mut again = code.create_label();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
        code.xor(r9d, r9d).unwrap();
        code.lea(r8, qword_ptr(rsi + rdx * 8)).unwrap();
        code.set_label(&mut again).unwrap();
        code.add(rax, qword_ptr(rsi)).unwrap();
        code.rol(rax, 7).unwrap();
        code.inc(rcx).unwrap();
        turn(code);
        advance(code, again);
        code.mov(qword_ptr(rdi), rax).unwrap();
        code.mov(qword_ptr(rdi + 8), rcx).unwrap();
        code.ret().unwrap();
    })
}

/// To the end, by addresses.
fn to_the_end(code: &mut CodeAssembler, again: CodeLabel) {
    code.add(rsi, 8).unwrap();
    code.cmp(rsi, r8).unwrap();
    code.jne(again).unwrap();
}

fn nothing(_: &mut CodeAssembler) {}

#[track_caller]
fn assert_proved(verdicts: &[Verdict]) {
    for verdict in verdicts {
        assert_eq!(*verdict, Verdict::Proved);
    }
}

/// It is proved for up to three elements, and not for any number.
#[track_caller]
fn assert_only_some(verdicts: &[Verdict; 4]) {
    assert_proved(&verdicts[..3]);
    assert!(
        matches!(verdicts[3], Verdict::Unproved(_)),
        "{}",
        verdicts[3]
    );
}

#[test]
fn a_loop_by_addresses_is_proved() {
    assert_proved(&sums(nothing, to_the_end));
}

#[test]
fn a_loop_that_counts_down_is_proved() {
    assert_proved(&sums(nothing, |code, again| {
        code.add(rsi, 8).unwrap();
        code.dec(rdx).unwrap();
        code.jne(again).unwrap();
    }));
}

#[test]
fn a_loop_that_keeps_its_words_on_the_stack_is_proved() {
    assert_proved(&sums(
        |code| {
            code.mov(qword_ptr(rsp - 8), rax).unwrap();
            code.mov(rax, qword_ptr(rsp - 8)).unwrap();
        },
        to_the_end,
    ));
}

/// A buffer is in one piece: an address in it is below its end.
#[test]
fn a_loop_that_asks_whether_an_address_is_below_the_end_is_proved() {
    assert_proved(&sums(nothing, |code, again| {
        code.add(rsi, 8).unwrap();
        code.cmp(rsi, r8).unwrap();
        code.jb(again).unwrap();
    }));
    assert_proved(&sums(nothing, |code, again| {
        code.add(rsi, 8).unwrap();
        code.cmp(r8, rsi).unwrap();
        code.ja(again).unwrap();
    }));
}

/// It ends an element early, or continues after the end. Other addresses are unknown.
#[test]
fn a_loop_that_compares_with_another_address_than_the_end() {
    for distance in [-8, 8, 1 << 20] {
        let wrong = sums(
            |code| code.lea(r10, qword_ptr(r8 + distance)).unwrap(),
            |code, again| {
                code.add(rsi, 8).unwrap();
                code.cmp(rsi, r10).unwrap();
                code.jb(again).unwrap();
            },
        );
        assert!(!wrong[1].is_proof() && !wrong[3].is_proof(), "{distance}");
    }
    let of_another = sums(nothing, |code, again| {
        code.add(rsi, 8).unwrap();
        code.cmp(rsi, rdi).unwrap();
        code.jb(again).unwrap();
    });
    assert!(of_another.iter().all(|verdict| !verdict.is_proof()));
}

#[test]
fn a_loop_on_an_aligned_stack_is_proved() {
    let aligned = |last: i32| {
        verdicts(|code| {
            let mut again = code.create_label();
            code.mov(r10, rsp).unwrap();
            code.sub(rsp, 64).unwrap();
            code.and(rsp, -64).unwrap();
            code.mov(qword_ptr(rsp + 8), r10).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
            code.set_label(&mut again).unwrap();
            code.add(rax, qword_ptr(rsi)).unwrap();
            code.mov(qword_ptr(rsp + last), rax).unwrap();
            code.mov(rax, qword_ptr(rsp + last)).unwrap();
            code.rol(rax, 7).unwrap();
            code.inc(rcx).unwrap();
            code.add(rsi, 8).unwrap();
            code.dec(rdx).unwrap();
            code.jne(again).unwrap();
            code.mov(qword_ptr(rdi), rax).unwrap();
            code.mov(qword_ptr(rdi + 8), rcx).unwrap();
            code.mov(rsp, qword_ptr(rsp + 8)).unwrap();
            code.ret().unwrap();
        })
    };
    assert_proved(&aligned(56));
    for verdict in aligned(64) {
        assert!(!verdict.is_proof(), "behind what was reserved");
    }
}

/// Wrong from the fourth iteration on.
#[test]
fn a_bug_in_a_later_turn() {
    assert_only_some(&sums(
        |code| {
            code.inc(r9).unwrap();
            code.cmp(r9, 4).unwrap();
            code.sete(r10b).unwrap();
            code.movzx(r10d, r10b).unwrap();
            code.xor(rax, r10).unwrap();
        },
        to_the_end,
    ));
}

/// Wrong for one number of elements.
#[test]
fn a_bug_for_one_number_of_elements() {
    assert_only_some(&sums(
        |code| {
            code.xor(r10d, r10d).unwrap();
            code.cmp(rdx, 1000).unwrap();
            code.sete(r10b).unwrap();
            code.xor(rax, r10).unwrap();
        },
        to_the_end,
    ));
}

/// Wrong from the fourth iteration on, with a growing error.
#[test]
fn a_bug_that_grows() {
    assert_only_some(&sums(
        |code| {
            code.add(r9, 1).unwrap();
            code.mov(r10, r9).unwrap();
            code.shr(r10, 2).unwrap();
            code.xor(rax, r10).unwrap();
        },
        to_the_end,
    ));
}

/// At most three elements are read, or 2^32 fewer.
#[test]
fn a_loop_that_ends_early() {
    assert_only_some(&sums(nothing, |code, again| {
        let mut end = code.create_label();
        code.inc(r9).unwrap();
        code.cmp(r9, 3).unwrap();
        code.je(end).unwrap();
        to_the_end(code, again);
        code.set_label(&mut end).unwrap();
        code.nop().unwrap();
    }));
    let cut = sums(nothing, |code, again| {
        code.add(rsi, 8).unwrap();
        code.dec(edx).unwrap();
        code.jne(again).unwrap();
    });
    assert_only_some(&cut);
}

/// The register of the caller is lost after some iterations.
#[test]
fn a_register_of_the_caller_that_later_turns_change() {
    assert_only_some(&sums(
        |code| {
            code.inc(r9).unwrap();
            code.mov(r10, r9).unwrap();
            code.shr(r10, 2).unwrap();
            code.add(rbx, r10).unwrap();
        },
        to_the_end,
    ));
}

/// Each iteration moves the stack pointer further down.
#[test]
fn a_stack_that_grows_with_each_turn() {
    let deeper = verdicts(|code| {
        let (mut again, mut pop) = (code.create_label(), code.create_label());
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
        code.mov(r8, rdx).unwrap();
        code.set_label(&mut again).unwrap();
        code.push(rax).unwrap();
        code.add(rax, qword_ptr(rsi)).unwrap();
        code.rol(rax, 7).unwrap();
        code.inc(rcx).unwrap();
        code.add(rsi, 8).unwrap();
        code.dec(rdx).unwrap();
        code.jne(again).unwrap();
        code.set_label(&mut pop).unwrap();
        code.pop(r10).unwrap();
        code.dec(r8).unwrap();
        code.jne(pop).unwrap();
        code.mov(qword_ptr(rdi), rax).unwrap();
        code.mov(qword_ptr(rdi + 8), rcx).unwrap();
        code.ret().unwrap();
    });
    assert_only_some(&deeper);
}

/// Verdicts on one, two and three elements, any even number and any odd one, of a loop that takes
/// two elements in an iteration, and one before the loop if their number is odd. `turn` is other
/// code in each iteration, and `last` is the second element that it takes.
fn pairs(turn: impl Fn(&mut CodeAssembler), last: i32) -> [Verdict; 5] {
    let some = [1, 2, 3].map(some);
    let [one, two, three] = some;
    let contracts = [one, two, three, any(Parity::Even), any(Parity::Odd)];
    verdicts_on(contracts, |code| {
        let [mut even, mut again, mut end] = [(); 3].map(|()| code.create_label());
        let add = |code: &mut CodeAssembler, at: i32| {
            code.add(rax, qword_ptr(rsi + at)).unwrap();
            code.rol(rax, 7).unwrap();
            code.inc(rcx).unwrap();
        };
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
        code.xor(r9d, r9d).unwrap();
        code.test(dl, 1).unwrap();
        code.je(even).unwrap();
        add(code, 0);
        code.add(rsi, 8).unwrap();
        code.set_label(&mut even).unwrap();
        code.shl(rdx, 3).unwrap();
        code.and(rdx, -16).unwrap();
        code.je(end).unwrap();
        code.lea(r8, qword_ptr(rsi + rdx)).unwrap();
        code.set_label(&mut again).unwrap();
        add(code, 0);
        add(code, last);
        turn(code);
        code.add(rsi, 16).unwrap();
        code.cmp(rsi, r8).unwrap();
        code.jne(again).unwrap();
        code.set_label(&mut end).unwrap();
        code.mov(qword_ptr(rdi), rax).unwrap();
        code.mov(qword_ptr(rdi + 8), rcx).unwrap();
        code.ret().unwrap();
    })
}

#[test]
fn a_loop_of_two_elements_is_proved_for_even_and_odd_numbers() {
    assert_proved(&pairs(nothing, 8));
}

/// A bug from the third iteration on, which needs at least six elements; and a wrong element.
#[test]
fn a_bug_in_a_loop_of_two_elements() {
    let later = pairs(
        |code| {
            code.inc(r9).unwrap();
            code.cmp(r9, 3).unwrap();
            code.sete(r10b).unwrap();
            code.movzx(r10d, r10b).unwrap();
            code.xor(rax, r10).unwrap();
        },
        8,
    );
    assert_proved(&later[..3]);
    assert!(later[3..].iter().all(|verdict| !verdict.is_proof()));
    for wrong in [0, 16] {
        let verdicts = pairs(nothing, wrong);
        assert!(verdicts[1..].iter().all(|verdict| !verdict.is_proof()));
    }
}

/// The loop of `sums` with a 7 on an aligned stack, which each turn adds and takes away again. The
/// first element has code of its own, after the loop. `turn` is at the end of all other turns.
fn with_aligned_stack(turn: impl Fn(&mut CodeAssembler)) -> [Verdict; 4] {
    verdicts(|code| {
        let [mut again, mut first, mut end] = [(); 3].map(|()| code.create_label());
        let element = |code: &mut CodeAssembler| {
            code.add(rax, qword_ptr(rsi)).unwrap();
            code.add(rax, qword_ptr(rsp + 8)).unwrap();
            code.sub(rax, 7).unwrap();
            code.rol(rax, 7).unwrap();
            code.inc(rcx).unwrap();
            code.add(rsi, 8).unwrap();
        };
        code.push(rbp).unwrap();
        code.mov(rbp, rsp).unwrap();
        code.sub(rsp, 112).unwrap();
        code.and(rsp, -64).unwrap();
        code.mov(qword_ptr(rsp + 8), 7).unwrap();
        code.mov(rax, qword_ptr(rdi)).unwrap();
        code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
        code.jmp(first).unwrap();
        code.set_label(&mut again).unwrap();
        element(code);
        turn(code);
        code.dec(rdx).unwrap();
        code.jne(again).unwrap();
        code.jmp(end).unwrap();
        code.set_label(&mut first).unwrap();
        element(code);
        code.dec(rdx).unwrap();
        code.jne(again).unwrap();
        code.set_label(&mut end).unwrap();
        code.mov(qword_ptr(rdi), rax).unwrap();
        code.mov(qword_ptr(rdi + 8), rcx).unwrap();
        code.mov(rsp, rbp).unwrap();
        code.pop(rbp).unwrap();
        code.ret().unwrap();
    })
}

/// A turn leaves the aligned stack, writes a 7 to the old one and aligns it again. The aligned
/// stack has this 7 for one distance only.
#[test]
fn a_stack_that_each_turn_aligns_again() {
    assert_proved(&with_aligned_stack(nothing));
    let [.., many] = with_aligned_stack(|code| {
        code.mov(qword_ptr(rsp + 8), r9).unwrap();
        code.lea(rsp, qword_ptr(rbp - 112)).unwrap();
        code.mov(qword_ptr(rsp + 8), 7).unwrap();
        code.and(rsp, -64).unwrap();
    });
    let why = "a turn of its loop aligns the stack in another place";
    let is_unproved = matches!(&many, Verdict::Unproved(found) if found.contains(why));
    assert!(is_unproved, "{many}");
}

/// Steps that differ: the second and later ones read their cells in another order, or use their
/// number.
#[derive(Clone, Copy)]
struct Uneven {
    /// Whether the order differs.
    reads: bool,
    /// Whether the number is added.
    adds: bool,
}

impl Stepwise for Uneven {
    fn steps(&self) -> usize {
        1
    }

    fn reads(&self, step: usize) -> (usize, Vec<usize>) {
        match self.reads && step > 0 {
            true => (1, vec![2 * step + 1, 2 * step]),
            false => (1, vec![2 * step, 2 * step + 1]),
        }
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let number = a.number(number as u64 * u64::from(self.adds));
        let words = [a.add(&words[0], &number), words[1].clone()];
        summed(a, &words, read)
    }
}

/// Only steps that are alike are followed by induction.
#[test]
fn steps_that_differ_are_refused() {
    let verdict = |reads: bool, adds: bool| {
        let contract = Contract::stepwise(Uneven { reads, adds })
            .buffer("sums", 2, 8, Access::Write)
            .repeats("elements", (2, 8), "pairs")
            .addresses(["sums", "elements"])
            .values("pairs");
        let [verdict] = verdicts_on([contract], |code| {
            let mut again = code.create_label();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(rcx, qword_ptr(rdi + 8)).unwrap();
            code.set_label(&mut again).unwrap();
            for at in [0, 8] {
                code.add(rax, qword_ptr(rsi + at)).unwrap();
                code.rol(rax, 7).unwrap();
                code.inc(rcx).unwrap();
            }
            code.add(rsi, 16).unwrap();
            code.dec(rdx).unwrap();
            code.jne(again).unwrap();
            code.mov(qword_ptr(rdi), rax).unwrap();
            code.mov(qword_ptr(rdi + 8), rcx).unwrap();
            code.ret().unwrap();
        });
        verdict
    };
    assert_eq!(verdict(false, false), Verdict::Proved);
    let other = verdict(true, false);
    let why = "steps that do not read an element each, in order";
    assert_eq!(other, Verdict::Unsupported(why.into()));
    let other = verdict(false, true);
    let why = "other steps for later elements";
    assert!(
        matches!(&other, Verdict::Unproved(found) if found.contains(why)),
        "{other}"
    );
}
