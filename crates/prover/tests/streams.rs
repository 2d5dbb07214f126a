//! Loops that transform data of any length, and bugs planted into them. Contracts of 8, 16 and 24
//! bytes do not notice these bugs: they are PROVED.

use iced_x86::code_asm::{
    CodeAssembler, CodeLabel, al, byte_ptr, eax, edx, qword_ptr, r8, r9, r10, r11, rax, rcx, rdi,
    rdx, rsi, rsp,
};
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::{Access, Cell, Contents, Contract, Stream};
use sealstone_prover::features::Processor;
use sealstone_prover::formula;
use sealstone_prover::image::Image;
use sealstone_prover::prove::{Finding, Session};
use sealstone_prover::verdict::Verdict;

/// The key stream of 8 bytes: the key plus the counter, rotated by 9.
fn stream_of<A: Algebra<64>>(a: &mut A, key: &A::Word, counter: &A::Word) -> A::Word {
    let sum = a.add(key, counter);
    a.rotate_left(&sum, 9)
}

fn encrypted<A: Algebra<64>>(
    a: &mut A,
    [key, counter]: [&A::Word; 2],
    data: &[A::Word],
) -> Contents<A::Word> {
    let output = data.iter().enumerate().map(|(number, data)| {
        let number = a.number(number as u64);
        let counter = a.add(counter, &number);
        let stream = stream_of(a, key, &counter);
        a.xor(data, &stream)
    });
    vec![output.collect()]
}

/// rdi: output, rsi: input, rdx: bytes, rcx: key, r8: counter.
fn some(cells: usize) -> Contract {
    let formula =
        formula!(|a, contents| encrypted(a, [&contents[0][0], &contents[1][0]], &contents[3]));
    Contract::new(formula)
        .buffer("key", 1, 1, Access::Read)
        .buffer("counter", 1, 1, Access::Read)
        .buffer("output", cells, 1, Access::Write)
        .buffer("input", cells, 1, Access::Read)
        .addresses(["output", "input"])
        .number(8 * cells as u64)
        .addresses(["key", "counter"])
}

/// A loop of 8 bytes, in units. It needs `needed` units for another iteration, and at least one.
fn stream(unit: u64, needed: u64) -> Stream {
    Stream {
        input: "input",
        output: "output",
        count: "length",
        unit,
        group: 8 / unit,
        least: 1,
        needed,
        begin: Box::new(|_, contents| contents[1].clone()),
        next: Box::new(|a, words| {
            let one = Algebra::<64>::number(a, 1);
            vec![Algebra::<64>::add(a, &words[0], &one)]
        }),
        transform: Box::new(|a, contents, words, data| {
            encrypted(a, [&contents[0][0], &words[0]], data).concat()
        }),
        carried: Box::new(|_, _, _| Vec::new()),
    }
}

fn any_of(stream: Stream) -> Contract {
    let formula = formula!(|a, contents| encrypted(
        a,
        [&contents[0][0], &contents[1][0]],
        &contents[contents.len() - 2]
    ));
    let input = stream.input;
    Contract::new(formula)
        .buffer("key", 1, 1, Access::Read)
        .buffer("counter", 1, 1, Access::Read)
        .stream(stream)
        .addresses(["output", input])
        .values("length")
        .addresses(["key", "counter"])
}

fn any() -> Contract {
    any_of(stream(1, 1))
}

fn in_place() -> Contract {
    any_of(Stream {
        input: "output",
        ..stream(1, 1)
    })
}

fn verdict(contract: &Contract, write: &dyn Fn(&mut CodeAssembler)) -> Verdict {
    finding(contract, write).verdict
}

fn finding(contract: &Contract, write: &dyn Fn(&mut CodeAssembler)) -> Finding {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code);
    let mut image = Image::of_code("program", &[0xcc]);
    let bytes = code.assemble(image.next_free()).unwrap();
    image.add_function("planted", &bytes);
    let symbol = image.symbols().last().unwrap().clone();
    let processor = Processor::baseline();
    Session::new().prove(&image, &symbol, contract, &processor)
}

/// Encrypts the bytes after the last iteration with the key stream in r10.
fn byte_by_byte(code: &mut CodeAssembler) {
    let mut byte = code.create_label();
    code.mov(qword_ptr(rsp - 8), r10).unwrap();
    code.xor(r11, r11).unwrap();
    code.set_label(&mut byte).unwrap();
    code.movzx(eax, byte_ptr(rsi + r11)).unwrap();
    code.xor(al, byte_ptr(rsp + r11 - 8)).unwrap();
    code.mov(byte_ptr(rdi + r11), al).unwrap();
    code.inc(r11).unwrap();
    code.dec(rdx).unwrap();
    code.jne(byte).unwrap();
}

/// The function, with other code in each iteration before and after the transformation, and another
/// end of the iteration.
fn cipher(
    before: impl Fn(&mut CodeAssembler),
    after: impl Fn(&mut CodeAssembler),
    turn: impl Fn(&mut CodeAssembler, CodeLabel),
) -> impl Fn(&mut CodeAssembler) {
    move |code| {
        let [mut again, mut tail, mut end] = [(); 3].map(|()| code.create_label());
        code.mov(rax, qword_ptr(rcx)).unwrap();
        code.mov(r9, qword_ptr(r8)).unwrap();
        code.xor(rcx, rcx).unwrap();
        code.set_label(&mut again).unwrap();
        code.lea(r10, qword_ptr(rax + r9)).unwrap();
        code.rol(r10, 9).unwrap();
        code.inc(r9).unwrap();
        before(code);
        code.cmp(rdx, 8).unwrap();
        code.jb(tail).unwrap();
        code.xor(r10, qword_ptr(rsi)).unwrap();
        code.mov(qword_ptr(rdi), r10).unwrap();
        after(code);
        code.add(rsi, 8).unwrap();
        code.add(rdi, 8).unwrap();
        turn(code, again);
        code.jmp(end).unwrap();
        code.set_label(&mut tail).unwrap();
        byte_by_byte(code);
        code.set_label(&mut end).unwrap();
        code.ret().unwrap();
    }
}

fn nothing(_: &mut CodeAssembler) {}

/// Until nothing is left.
fn to_the_end(code: &mut CodeAssembler, again: CodeLabel) {
    code.sub(rdx, 8).unwrap();
    code.jne(again).unwrap();
}

/// It is proved for 8, 16 and 24 bytes, and not for any length.
#[track_caller]
fn assert_only_some(write: impl Fn(&mut CodeAssembler), why: &str) {
    for cells in 1..=3 {
        assert_eq!(verdict(&some(cells), &write), Verdict::Proved, "{cells}");
    }
    for contract in [any(), in_place()] {
        let verdict = verdict(&contract, &write);
        let is_unproved = matches!(&verdict, Verdict::Unproved(found) if found.contains(why));
        assert!(is_unproved, "{verdict}");
    }
}

/// `bug` at this number of remaining bytes, after the transformation of the iteration's data.
fn when_left(bytes: i32, bug: impl Fn(&mut CodeAssembler)) -> impl Fn(&mut CodeAssembler) {
    move |code| {
        let mut right = code.create_label();
        code.cmp(rdx, bytes).unwrap();
        code.jne(right).unwrap();
        bug(code);
        code.set_label(&mut right).unwrap();
        code.nop().unwrap();
    }
}

#[test]
fn a_stream_cipher_is_proved_for_any_length() {
    let right = cipher(nothing, nothing, to_the_end);
    for contract in [some(1), some(2), some(3), any(), in_place()] {
        assert_eq!(verdict(&contract, &right), Verdict::Proved);
    }
    // From 1 to 8 bytes in all, and from 1 to 8 after other ones.
    assert_eq!(finding(&any(), &right).cases, 16);
}

/// One loop has no code after it. The other one continues while a whole group remains.
#[test]
fn whole_units_are_proved_with_each_kind_of_loop() {
    let cells = |code: &mut CodeAssembler| {
        let mut again = code.create_label();
        code.mov(rax, qword_ptr(rcx)).unwrap();
        code.mov(r9, qword_ptr(r8)).unwrap();
        code.set_label(&mut again).unwrap();
        code.lea(r10, qword_ptr(rax + r9)).unwrap();
        code.rol(r10, 9).unwrap();
        code.inc(r9).unwrap();
        code.xor(r10, qword_ptr(rsi)).unwrap();
        code.mov(qword_ptr(rdi), r10).unwrap();
        code.add(rsi, 8).unwrap();
        code.add(rdi, 8).unwrap();
        code.dec(rdx).unwrap();
        code.jne(again).unwrap();
        code.ret().unwrap();
    };
    assert_eq!(verdict(&any_of(stream(8, 1)), &cells), Verdict::Proved);
    let while_whole = cipher(nothing, nothing, |code, again| {
        let mut end = code.create_label();
        code.sub(rdx, 8).unwrap();
        code.cmp(rdx, 8).unwrap();
        code.jae(again).unwrap();
        code.test(rdx, rdx).unwrap();
        code.je(end).unwrap();
        code.lea(r10, qword_ptr(rax + r9)).unwrap();
        code.rol(r10, 9).unwrap();
        let mut tail = code.create_label();
        code.jmp(tail).unwrap();
        code.set_label(&mut end).unwrap();
        code.ret().unwrap();
        code.set_label(&mut tail).unwrap();
        byte_by_byte(code);
    });
    assert_eq!(
        verdict(&any_of(stream(1, 8)), &while_whole),
        Verdict::Proved
    );
    // Its header needs 8 bytes. A loop that reaches it with fewer is not proved.
    let verdicts =
        [stream(1, 1), stream(1, 7)].map(|stream| verdict(&any_of(stream), &while_whole));
    assert!(verdicts.iter().all(|verdict| !verdict.is_proof()));
}

/// The bug is from the fourth iteration on, and at one length.
#[test]
fn a_wrong_step_of_the_counter_in_a_later_turn() {
    let fourth = |code: &mut CodeAssembler| {
        let mut right = code.create_label();
        code.inc(rcx).unwrap();
        code.cmp(rcx, 4).unwrap();
        code.jb(right).unwrap();
        code.inc(r9).unwrap();
        code.set_label(&mut right).unwrap();
        code.nop().unwrap();
    };
    assert_only_some(cipher(nothing, fourth, to_the_end), "invariant");
    let grows = |code: &mut CodeAssembler| {
        code.inc(rcx).unwrap();
        code.mov(r11, rcx).unwrap();
        code.shr(r11, 2).unwrap();
        code.add(r9, r11).unwrap();
    };
    assert_only_some(cipher(nothing, grows, to_the_end), "invariant");
    let once = when_left(1 << 20, |code| code.inc(r9).unwrap());
    assert_only_some(cipher(nothing, once, to_the_end), "a branch");
}

#[test]
fn a_pointer_that_moves_too_little_after_a_turn() {
    for pointer in [rsi, rdi] {
        let once = when_left(800, |code| code.sub(pointer, 1).unwrap());
        assert_only_some(cipher(nothing, once, to_the_end), "a branch");
        let fourth = |code: &mut CodeAssembler| {
            code.inc(rcx).unwrap();
            code.mov(r11, rcx).unwrap();
            code.shr(r11, 2).unwrap();
            code.sub(pointer, r11).unwrap();
        };
        assert_only_some(cipher(nothing, fourth, to_the_end), "invariant");
    }
}

/// The loop ends at remaining multiples of 2^32, or at 2^20 bytes.
#[test]
fn a_loop_that_ends_early() {
    let cut = |code: &mut CodeAssembler, again: CodeLabel| {
        code.sub(rdx, 8).unwrap();
        code.test(edx, edx).unwrap();
        code.jne(again).unwrap();
    };
    assert_only_some(cipher(nothing, nothing, cut), "a branch");
    let early = |code: &mut CodeAssembler, again: CodeLabel| {
        let mut end = code.create_label();
        code.sub(rdx, 8).unwrap();
        code.cmp(rdx, 1 << 20).unwrap();
        code.je(end).unwrap();
        code.test(rdx, rdx).unwrap();
        code.jne(again).unwrap();
        code.set_label(&mut end).unwrap();
        code.nop().unwrap();
    };
    assert_only_some(cipher(nothing, nothing, early), "a branch");
}

/// No later iteration may read or write a finished group.
#[test]
fn a_turn_that_touches_what_another_one_has_made() {
    // In each iteration except the first. It changes nothing.
    let again = |code: &mut CodeAssembler| {
        let mut first = code.create_label();
        code.test(rcx, rcx).unwrap();
        code.je(first).unwrap();
        code.xor(qword_ptr(rdi - 8), 0).unwrap();
        code.set_label(&mut first).unwrap();
        code.mov(rcx, 1u64).unwrap();
    };
    let verdict = verdict(&any(), &cipher(nothing, again, to_the_end));
    assert!(
        verdict.to_string().contains("read of 8 bytes outside"),
        "{verdict}"
    );
}

/// A record in memory still has the address of the output. Its first group is removed at the
/// header.
#[test]
fn an_address_in_memory_leads_to_no_group_that_is_done() {
    let stream = stream(1, 1);
    let formula = formula!(|a, contents| encrypted(
        a,
        [&contents[0][0], &contents[1][0]],
        &contents[contents.len() - 2]
    ));
    let contract = Contract::new(formula)
        .buffer("key", 1, 1, Access::Read)
        .buffer("counter", 1, 1, Access::Read)
        .record("record", vec![Cell::Address("output")], 8, Access::Read)
        .stream(stream)
        .addresses(["output", "input"])
        .values("length")
        .addresses(["key", "counter", "record"]);
    let with_record = |write: &dyn Fn(&mut CodeAssembler)| {
        verdict(&contract, &|code| {
            code.mov(r11, r9).unwrap();
            cipher(
                nothing,
                |code| {
                    let mut first = code.create_label();
                    code.test(rcx, rcx).unwrap();
                    code.je(first).unwrap();
                    write(code);
                    code.set_label(&mut first).unwrap();
                    code.mov(rcx, 1u64).unwrap();
                },
                to_the_end,
            )(code);
        })
    };
    assert_eq!(with_record(&nothing), Verdict::Proved);
    let verdict = with_record(&|code| {
        code.mov(r10, qword_ptr(r11)).unwrap();
        code.mov(byte_ptr(r10), 1).unwrap();
    });
    assert!(
        verdict.to_string().contains("write of 1 bytes outside"),
        "{verdict}"
    );
}

/// The pointer to the finished group is invalid.
#[test]
fn a_pointer_to_the_first_group_leads_nowhere_later() {
    let first = |code: &mut CodeAssembler| {
        code.test(rcx, rcx).unwrap();
        code.cmove(rcx, rdi).unwrap();
        code.xor(qword_ptr(rcx), 0).unwrap();
    };
    let verdict = verdict(&any(), &cipher(nothing, first, to_the_end));
    assert!(!verdict.is_proof(), "{verdict}");
}

/// Only the data of one iteration exist for certain.
#[test]
fn a_read_behind_the_data() {
    let behind = |code: &mut CodeAssembler| {
        code.mov(r11, qword_ptr(rsi + 8)).unwrap();
    };
    let verdict = verdict(&any(), &cipher(nothing, behind, to_the_end));
    assert!(
        verdict.to_string().contains("read of 8 bytes outside"),
        "{verdict}"
    );
    let early = |code: &mut CodeAssembler| code.mov(r11, qword_ptr(rsi)).unwrap();
    let verdict = self::verdict(&any(), &cipher(early, nothing, to_the_end));
    assert!(
        verdict.to_string().contains("read of 8 bytes outside"),
        "{verdict}"
    );
}

/// The result is written before all of the input is read.
#[test]
fn a_function_that_is_wrong_in_place() {
    let over = cipher(
        |code| code.mov(r11, r10).unwrap(),
        |code| {
            code.mov(qword_ptr(rdi), r11).unwrap();
            code.xor(r11, qword_ptr(rsi)).unwrap();
            code.mov(qword_ptr(rdi), r11).unwrap();
        },
        to_the_end,
    );
    assert_eq!(verdict(&any(), &over), Verdict::Proved);
    assert!(!verdict(&in_place(), &over).is_proof());
}

/// The bug is at one length of the rest, or of short data.
#[test]
fn a_bug_for_one_length_behind_the_loop() {
    let odd = |bytes: i32| when_left(bytes, |code| code.inc(r10).unwrap());
    for bytes in [1, 7] {
        let verdict = verdict(&any(), &cipher(odd(bytes), nothing, to_the_end));
        let expected = "wrong output";
        assert!(verdict.to_string().contains(expected), "{bytes}: {verdict}");
    }
}

/// A group that differs from the iteration's, and a length that is not allowed.
#[test]
fn another_loop_than_the_contract_says() {
    let right = cipher(nothing, nothing, to_the_end);
    let twice = Stream {
        group: 16,
        ..stream(1, 1)
    };
    assert!(!verdict(&any_of(twice), &right).is_proof());
    let never_empty = cipher(nothing, nothing, |code, again| {
        code.sub(rdx, 8).unwrap();
        code.jae(again).unwrap();
    });
    assert!(!verdict(&any(), &never_empty).is_proof());
}

#[test]
fn what_a_loop_leaves_behind_is_not_claimed() {
    let right = cipher(nothing, nothing, to_the_end);
    for contract in [any(), in_place()] {
        let verdict = verdict(&contract.wipes(), &right);
        assert!(matches!(verdict, Verdict::Unsupported(_)), "{verdict}");
    }
}

/// The header is the return address of a function that each iteration calls. `left` is the first
/// code at the end of the loop.
fn called(left: impl Fn(&mut CodeAssembler)) -> impl Fn(&mut CodeAssembler) {
    let tail = |code: &mut CodeAssembler| {
        code.lea(r10, qword_ptr(rax + r9)).unwrap();
        code.rol(r10, 9).unwrap();
        byte_by_byte(code);
        code.ret().unwrap();
    };
    move |code| {
        let [mut header, mut turn, mut done] = [(); 3].map(|()| code.create_label());
        code.mov(rax, qword_ptr(rcx)).unwrap();
        code.mov(r9, qword_ptr(r8)).unwrap();
        code.xor(rcx, rcx).unwrap();
        code.push(rax).unwrap();
        code.cmp(rdx, 8).unwrap();
        code.jae(turn).unwrap();
        code.pop(rax).unwrap();
        tail(code);
        code.set_label(&mut header).unwrap();
        code.push(rax).unwrap();
        code.cmp(rdx, 8).unwrap();
        code.jae(turn).unwrap();
        left(code);
        code.pop(rax).unwrap();
        tail(code);
        code.set_label(&mut turn).unwrap();
        code.pop(rax).unwrap();
        code.lea(r11, qword_ptr(header)).unwrap();
        code.push(r11).unwrap();
        code.lea(r10, qword_ptr(rax + r9)).unwrap();
        code.rol(r10, 9).unwrap();
        code.inc(r9).unwrap();
        code.mov(qword_ptr(rsp - 128), r9).unwrap();
        code.xor(r10, qword_ptr(rsi)).unwrap();
        code.mov(qword_ptr(rdi), r10).unwrap();
        code.add(rsi, 8).unwrap();
        code.add(rdi, 8).unwrap();
        code.sub(rdx, 8).unwrap();
        code.je(done).unwrap();
        code.ret().unwrap();
        code.set_label(&mut done).unwrap();
        code.pop(r11).unwrap();
        code.ret().unwrap();
    }
}

#[test]
fn a_turn_that_returns_to_the_header_is_proved() {
    for contract in [any(), in_place()] {
        assert_eq!(verdict(&contract, &called(nothing)), Verdict::Proved);
    }
}

/// It reads data that the iteration left on the given-up stack.
#[test]
fn a_stack_given_back_at_the_header_is_not_read() {
    let reads = called(|code| {
        code.mov(r9, qword_ptr(rsp - 128)).unwrap();
    });
    for contract in [any(), in_place()] {
        let verdict = verdict(&contract, &reads);
        assert!(!verdict.is_proof(), "{verdict}");
    }
}

/// A result that is shorter than the data is no specification.
#[test]
fn a_specification_with_too_short_a_result_is_refused() {
    let contract = any_of(Stream {
        transform: Box::new(|_, _, _, data| data[1..].to_vec()),
        ..stream(1, 1)
    });
    let why = "the specification gives 0 bytes for `output`, but the data has 8";
    assert_eq!(
        verdict(&contract, &|code| code.ret().unwrap()),
        Verdict::Unsupported(why.into())
    );
}
