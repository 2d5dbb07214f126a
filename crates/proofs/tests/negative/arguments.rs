//! Arguments without a register, and cells with partly known contents.

use super::*;

/// The verdict on a function that returns what this code leaves in rax: the seventh argument.
fn of_seventh(write: impl Fn(&mut CodeAssembler)) -> Verdict {
    let contract = Contract::new(formula!(|_a, contents| vec![contents[0][6..].to_vec()]))
        .buffer("arguments", 7, 8, Access::Read)
        .values("arguments")
        .returns(1);
    verdict(&contract, write)
}

fn verdict(contract: &Contract, write: impl Fn(&mut CodeAssembler)) -> Verdict {
    let mut code = CodeAssembler::new(64).unwrap();
    write(&mut code);
    code.ret().unwrap();
    let mut image = own_image();
    let symbol = added(&mut image, code);
    prove(&image, &symbol, contract, Set::Baseline).verdict
}

#[test]
fn the_seventh_is_behind_the_return_address() {
    let right = of_seventh(|code| code.mov(rax, qword_ptr(rsp + 8)).unwrap());
    assert_eq!(right, Verdict::Proved);
    // It belongs to the function, which may store a value there.
    let kept = of_seventh(|code| {
        code.mov(rax, qword_ptr(rsp + 8)).unwrap();
        code.mov(qword_ptr(rsp + 8), rdi).unwrap();
    });
    assert_eq!(kept, Verdict::Proved);
    let other = of_seventh(|code| code.mov(rax, r8).unwrap());
    assert!(matches!(other, Verdict::Refuted(_)), "{other}");
}

/// A value that the function stores in place of an argument stays on the caller's stack.
#[test]
fn a_secret_in_the_place_of_an_argument_is_not_wiped() {
    let wiped = |kept: bool| {
        let contract = Contract::new(formula!(|_a, contents| vec![contents[0][6..].to_vec()]))
            .buffer("arguments", 7, 8, Access::Read)
            .values("arguments")
            .returns(1)
            .wipes();
        verdict(&contract, |code| {
            code.mov(rax, qword_ptr(rsp + 8)).unwrap();
            if kept {
                code.mov(qword_ptr(rsp + 8), rdi).unwrap();
            }
            for register in [rcx, rdx, rsi, rdi, r8] {
                code.xor(register, register).unwrap();
            }
            code.mov(r9, r8).unwrap();
        })
    };
    assert_eq!(wiped(false), Verdict::Proved);
    assert_refuted(&wiped(true), "it leaves 8 bytes");
}

#[test]
fn an_eighth_does_not_exist() {
    for beyond in [9, 16] {
        let read = of_seventh(|code| code.mov(rax, qword_ptr(rsp + beyond)).unwrap());
        let why = "outside of its memory";
        assert!(
            matches!(&read, Verdict::Refuted(text) if text.contains(why)),
            "{read}"
        );
    }
    let written = of_seventh(|code| {
        code.mov(rax, qword_ptr(rsp + 8)).unwrap();
        code.mov(qword_ptr(rsp + 16), rdi).unwrap();
    });
    assert!(matches!(written, Verdict::Refuted(_)), "{written}");
}

/// Code may use the whole register of a byte with zeros above it, but not of a byte with unknown
/// bits above it.
#[test]
fn zeros_above_a_byte_are_an_assumption() {
    let low_byte = |cell: Cell| {
        let contract = Contract::new(formula!(|a, contents| {
            let byte = Algebra::<64>::number(a, 0xff);
            vec![vec![Algebra::<64>::and(a, &contents[0][0], &byte)]]
        }))
        .record("number", vec![cell], 8, Access::Read)
        .values("number")
        .returns(1);
        verdict(&contract, |code| code.mov(rax, rdi).unwrap())
    };
    assert_eq!(low_byte(Cell::Small(8)), Verdict::Proved);
    for cell in [Cell::Small(9), Cell::Input] {
        let verdict = low_byte(cell);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict}");
    }
}

#[test]
fn a_place_inside_a_buffer_is_where_the_contract_says() {
    let loaded = |distance: i32| {
        let contract = Contract::new(formula!(|_a, contents| vec![contents[1][1..].to_vec()]))
            .record("table", vec![Cell::Inside("words", 8)], 8, Access::Read)
            .buffer("words", 2, 1, Access::Read)
            .addresses(["table"])
            .returns(1);
        verdict(&contract, |code| {
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(rax, qword_ptr(rax + distance)).unwrap();
        })
    };
    assert_eq!(loaded(0), Verdict::Proved);
    for wrong in [-8, 1, 8] {
        let verdict = loaded(wrong);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict}");
    }
}
