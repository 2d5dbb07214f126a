//! Loops of any number of turns, with bugs that a run with a few elements shows: on one input of
//! very many, or in the second group.

use super::witnesses::{RARE, assert_unproved, z3};
use super::*;
use sealstone_prover::contract::{Contents, Groups, Steps, Stepwise, Stream};

/// The sum of all elements. Each sum is rotated by 7.
#[derive(Clone, Copy)]
struct Sum;

impl Stepwise for Sum {
    fn steps(&self) -> usize {
        1
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let sum = a.add(&words[0], &read[0]);
        vec![a.rotate_left(&sum, 7)]
    }
}

/// rdi: the sum, rsi: elements, rdx: their number.
fn sum() -> Contract {
    Contract::stepwise(Sum)
        .buffer("sum", 1, 8, Access::Write)
        .repeats("elements", (1, 8), "number")
        .addresses(["sum", "elements"])
        .values("number")
}

fn sum_with(code: &mut CodeAssembler, bug: Bug) {
    let mut again = code.create_label();
    code.mov(rax, qword_ptr(rdi)).unwrap();
    code.set_label(&mut again).unwrap();
    code.mov(rcx, qword_ptr(rsi)).unwrap();
    bug(code);
    code.add(rax, rcx).unwrap();
    code.rol(rax, 7).unwrap();
    code.add(rsi, 8).unwrap();
    code.dec(rdx).unwrap();
    code.jne(again).unwrap();
    code.mov(qword_ptr(rdi), rax).unwrap();
    code.ret().unwrap();
}

fn keyed<A: Algebra<64>>(a: &mut A, word: &A::Word, key: &A::Word) -> A::Word {
    a.xor(word, key)
}

/// rdi: words that are encrypted in place, rsi: their number, rdx: the key. The key is
/// rotated after each word.
fn cipher() -> Contract {
    let formula = formula!(|a, contents| vec![vec![keyed(a, &contents[1][0], &contents[0][0])]]);
    let stream = Stream {
        input: "data",
        output: "data",
        count: "words",
        unit: 8,
        group: 1,
        least: 1,
        needed: 1,
        begin: Box::new(|_, contents| contents[0].clone()),
        next: Box::new(|a, key| vec![Algebra::<64>::rotate_left(a, &key[0], 7)]),
        transform: Box::new(|a, _, key, data| vec![keyed(a, &data[0], &key[0])]),
        carried: Box::new(|_, _, _| Vec::new()),
    };
    Contract::new(formula)
        .buffer("key", 1, 8, Access::Read)
        .stream(stream)
        .addresses(["data"])
        .values("words")
        .values("key")
}

fn cipher_with(code: &mut CodeAssembler, bug: Bug) {
    let mut again = code.create_label();
    code.set_label(&mut again).unwrap();
    code.mov(rcx, qword_ptr(rdi)).unwrap();
    bug(code);
    code.xor(rcx, rdx).unwrap();
    code.mov(qword_ptr(rdi), rcx).unwrap();
    code.rol(rdx, 7).unwrap();
    code.add(rdi, 8).unwrap();
    code.dec(rsi).unwrap();
    code.jne(again).unwrap();
    code.ret().unwrap();
}

/// Each element plus its position.
#[derive(Clone, Copy)]
struct Placed;

impl Stepwise for Placed {
    fn steps(&self) -> usize {
        1
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        vec![contents[2][3].clone(), a.number(0)]
    }

    fn reads(&self, _number: usize) -> (usize, Vec<usize>) {
        (0, vec![0])
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        vec![words[0].clone(), a.add(&read[0], &words[0])]
    }

    fn end<A: Algebra<64>>(&self, a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
        vec![vec![words[1].clone()], vec![a.number(1)]]
    }
}

/// rdi: addresses of elements and results, number of elements, position.
fn placed() -> Contract {
    let record = vec![
        Cell::Address("elements"),
        Cell::Elements,
        Cell::Address("results"),
        Cell::Input,
    ];
    Contract::stepwise(Placed)
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
            steps: Box::new(|_| Steps::new(Placed)),
        })
}

fn placed_with(code: &mut CodeAssembler, bug: Bug) {
    let mut again = code.create_label();
    code.mov(rsi, qword_ptr(rdi)).unwrap();
    code.mov(r9, qword_ptr(rdi + 16)).unwrap();
    code.mov(rdx, qword_ptr(rdi + 24)).unwrap();
    code.mov(rdi, qword_ptr(rdi + 8)).unwrap();
    code.xor(eax, eax).unwrap();
    code.set_label(&mut again).unwrap();
    code.mov(rcx, qword_ptr(rsi)).unwrap();
    bug(code);
    code.add(rcx, rdx).unwrap();
    code.mov(qword_ptr(r9), rcx).unwrap();
    code.add(rsi, 8).unwrap();
    code.add(r9, 8).unwrap();
    code.add(rdx, 8).unwrap();
    code.add(rax, 1).unwrap();
    code.cmp(rax, rdi).unwrap();
    code.jne(again).unwrap();
    code.ret().unwrap();
}

/// Code that may change the element in rcx.
type Bug = fn(&mut CodeAssembler);

/// Takes one from the element if it is `RARE`.
fn wrong_once(code: &mut CodeAssembler) {
    code.mov(r8, RARE).unwrap();
    code.xor(r11, r11).unwrap();
    code.cmp(rcx, r8).unwrap();
    code.sete(r11b).unwrap();
    code.sub(rcx, r11).unwrap();
}

/// A contract of any number of elements, and code for it.
type Loop = (fn() -> Contract, fn(&mut CodeAssembler, Bug));

/// The verdicts without a solver and with z3.
fn verdicts((contract, write): Loop, bug: Bug) -> [Verdict; 2] {
    let mut image = Image::of_code("program", &[0xcc]);
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code, bug);
    let symbol = added(&mut image, code);
    [Session::new(), Session::new().with_solver(z3())].map(|mut session| {
        session
            .prove(&image, &symbol, &contract(), &Processor::baseline())
            .verdict
    })
}

const LOOPS: [(Loop, &str); 3] = [
    ((sum, sum_with), "`sum`"),
    ((cipher, cipher_with), "`data`"),
    ((placed, placed_with), "`results`"),
];

#[test]
fn loops_without_a_bug() {
    for (of, _) in LOOPS {
        for verdict in verdicts(of, |_| {}) {
            assert_eq!(verdict, Verdict::Proved);
        }
    }
}

#[test]
fn an_element_that_is_wrong_for_one_input() {
    for (of, output) in LOOPS {
        let [without, with] = verdicts(of, wrong_once);
        assert_unproved(&without);
        assert_refuted(&with, &format!("wrong output in {output}"));
        assert_refuted(&with, &format!("{RARE:016x}"));
        assert_refuted(&with, "reproduced natively");
    }
}

/// It shows for two groups, on every input.
#[test]
fn a_second_group_that_is_wrong() {
    let [without, with] = verdicts((placed, placed_with), |code| {
        code.xor(r11, r11).unwrap();
        code.cmp(rax, 1).unwrap();
        code.sete(r11b).unwrap();
        code.sub(rcx, r11).unwrap();
    });
    assert_unproved(&without);
    assert_refuted(&with, "wrong output in `results`, word 1");
    assert_refuted(&with, "reproduced natively");
}
