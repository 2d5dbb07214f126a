//! Calls of functions of other libraries, of which only what the C standard says is known.

use super::*;
use iced_x86::code_asm::{CodeAssembler, edx, esi, qword_ptr, r11, rax, rdi, rsi, rsp};

/// The called function, or a signal handler, may overwrite the stack below the caller's stack
/// pointer before it reads there.
#[test]
fn a_library_call_with_memory_below_the_stack_pointer() {
    let copied = |reserved: i32, at: i32| {
        identity(true, |code, image| {
            load_import("memcpy", code, image);
            code.sub(rsp, reserved).unwrap();
            code.mov(rax, qword_ptr(rdi)).unwrap();
            code.mov(qword_ptr(rsp + at), rax).unwrap();
            code.mov(rdi, rsi).unwrap();
            code.lea(rsi, qword_ptr(rsp + at)).unwrap();
            code.mov(edx, 8).unwrap();
            code.call(r11).unwrap();
            code.add(rsp, reserved).unwrap();
            code.ret().unwrap();
        })
    };
    assert_eq!(copied(24, 8), Verdict::Proved);
    assert_refuted(&copied(8, -64), "the called function may overwrite");
    let cleared = identity(true, |code, image| {
        load_memset(code, image);
        code.push(rsi).unwrap();
        code.lea(rdi, qword_ptr(rsp - 64)).unwrap();
        code.mov(edx, 8).unwrap();
        code.call(r11).unwrap();
        code.pop(rsi).unwrap();
        code.ret().unwrap();
    });
    assert_refuted(&cleared, "the called function may overwrite");
}

/// A number of bytes after memset is the middle of it, or whatever follows it.
#[test]
fn an_address_near_a_function_of_another_library() {
    let near = |distance: i32| {
        identity(false, |code, image| {
            load_memset(code, image);
            code.sub(rsp, 8).unwrap();
            code.add(r11, distance).unwrap();
            code.mov(rdi, rsi).unwrap();
            code.mov(edx, 8).unwrap();
            code.call(r11).unwrap();
            code.add(rsp, 8).unwrap();
            code.ret().unwrap();
        })
    };
    // It sets bytes of `out`, so the output is wrong.
    assert_refuted(&near(0), "wrong output");
    for distance in [5, 16, -16] {
        let verdict = near(distance);
        let is_stopped =
            matches!(&verdict, Verdict::Unproved(why) if why.contains("where memory is"));
        assert!(is_stopped, "{distance}: {verdict}");
    }
}

/// What memset leaves in registers and on the stack is not known.
#[test]
fn a_library_call_in_a_function_that_wipes() {
    let wiped = |wipes: bool| {
        let zero = formula!(|a, _contents| vec![vec![Algebra::<64>::number(a, 0)]]);
        let contract = Contract::new(zero)
            .buffer("out", 1, 8, Access::Write)
            .addresses(["out"]);
        let contract = if wipes { contract.wipes() } else { contract };
        let mut image = own_image();
        let mut code = CodeAssembler::new(64).unwrap();
        load_memset(&mut code, &image);
        code.sub(rsp, 8).unwrap();
        code.xor(esi, esi).unwrap();
        code.mov(edx, 8).unwrap();
        code.call(r11).unwrap();
        code.add(rsp, 8).unwrap();
        code.ret().unwrap();
        let symbol = added(&mut image, code);
        let processor = Processor::baseline();
        Session::new()
            .prove(&image, &symbol, &contract, &processor)
            .verdict
    };
    assert_eq!(wiped(false), Verdict::Proved);
    let verdict = wiped(true);
    let is_unsupported =
        matches!(&verdict, Verdict::Unsupported(why) if why.contains("a function that wipes"));
    assert!(is_unsupported, "{verdict}");
}
