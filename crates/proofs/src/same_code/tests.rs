//! Tests that the same code and each difference is found.

use super::*;
use iced_x86::IcedError;
use iced_x86::code_asm::{
    CodeAssembler, CodeLabel, ptr, qword_ptr, rax, rbx, rdx, xmm0, xmmword_ptr,
};

/// A function with its constant and the function that it calls.
struct Program {
    /// The number of bytes before the constant.
    distance: usize,
    constant: u64,
    /// The number that the called function adds.
    addend: i32,
    function: fn(&mut CodeAssembler, CodeLabel, CodeLabel) -> Result<(), IcedError>,
}

const PLAIN: Program = Program {
    distance: 16,
    constant: 5,
    addend: 1,
    function: |code, constant, callee| {
        code.mov(rax, qword_ptr(constant))?;
        code.call(callee)?;
        code.mov(rbx, rax)?;
        code.ret()
    },
};

impl Program {
    /// The image, and the trace of a run that executes and reads everything.
    fn build(&self) -> (Image, Trace) {
        self.write().expect("code")
    }

    fn write(&self) -> Result<(Image, Trace), IcedError> {
        // Other code before it moves it to another address.
        let mut image = Image::of_code("other", &vec![0x90; 4096 * self.distance]);
        let start = image.next_free();
        let mut code = CodeAssembler::new(64)?;
        let (mut constant, mut callee) = (code.create_label(), code.create_label());
        (self.function)(&mut code, constant, callee)?;
        code.db(&vec![0xcc; self.distance])?;
        code.set_label(&mut constant)?;
        code.dq(&[self.constant, 0])?;
        code.set_label(&mut callee)?;
        code.add(rax, self.addend)?;
        code.ret()?;
        let bytes = code.assemble(start)?;
        image.add_function("function", &bytes);
        let padding = bytes.windows(2).position(|two| two == [0xcc; 2]);
        let end = padding.expect("padding");
        let mut trace = Trace {
            start,
            ..Trace::default()
        };
        let read = start + (end + self.distance) as u64;
        trace.constants.extend(read..read + 8);
        for (from, to) in [(0, end), (end + self.distance + 16, bytes.len())] {
            let code = &bytes[from..to];
            let ip = start + from as u64;
            let decoder = decoder(code, ip);
            let instructions = decoder.into_iter();
            let executed = instructions.map(|instruction| (instruction.ip(), instruction.len()));
            trace.executed.extend(executed);
        }
        Ok((image, trace))
    }
}

/// The trace in the library.
fn found(program: &Program, library: &Program) -> Option<Trace> {
    let ((program, trace), (library, own)) = (program.build(), library.build());
    find(&program, &trace, &library, own.start)
}

#[test]
fn the_same_code_is_found_wherever_it_stands() {
    let elsewhere = Program {
        distance: 96,
        ..PLAIN
    };
    assert_eq!(found(&PLAIN, &elsewhere), Some(elsewhere.build().1));
}

#[test]
fn another_instruction_constant_or_called_function_is_another_code() {
    let function: fn(&mut CodeAssembler, CodeLabel, CodeLabel) -> _ = |code, constant, callee| {
        code.mov(rax, qword_ptr(constant))?;
        code.call(callee)?;
        code.mov(rdx, rax)?;
        code.ret()
    };
    let others = [
        Program { function, ..PLAIN },
        Program {
            constant: 6,
            ..PLAIN
        },
        Program { addend: 2, ..PLAIN },
    ];
    for other in others {
        assert_eq!(found(&PLAIN, &other), None);
    }
}

/// The instruction is as long as `mov rax, [constant]`.
#[test]
fn an_address_of_the_program_is_no_constant() {
    let taken = Program {
        function: |code, constant, callee| {
            code.lea(rax, ptr(constant))?;
            code.call(callee)?;
            code.ret()
        },
        ..PLAIN
    };
    assert_eq!(found(&taken, &taken), None);
}

#[test]
fn a_jump_by_a_register_may_go_anywhere() {
    let indirect = Program {
        function: |code, constant, _| {
            code.mov(rax, qword_ptr(constant))?;
            code.jmp(rax)
        },
        ..PLAIN
    };
    assert_eq!(found(&indirect, &indirect), None);
}

/// Sixteen bytes. The instruction needs them at a multiple of sixteen.
#[test]
fn a_constant_is_as_aligned_as_in_the_proof() {
    let with = |distance: usize| {
        let program = Program {
            distance,
            function: |code, constant, callee| {
                code.movaps(xmm0, xmmword_ptr(constant))?;
                code.call(callee)?;
                code.ret()
            },
            ..PLAIN
        };
        let (image, mut trace) = program.build();
        let first = *trace.constants.first().unwrap();
        trace.constants.extend(first..first + 16);
        (image, trace)
    };
    // Seven bytes, five, and one are before the padding.
    let ((program, trace), (aligned, own)) = (with(16 + 3), with(32 + 3));
    assert!(trace.constants.first().unwrap().is_multiple_of(16));
    assert_eq!(find(&program, &trace, &aligned, own.start), Some(own));
    let (unaligned, own) = with(32 + 4);
    assert_eq!(find(&program, &trace, &unaligned, own.start), None);
}

/// In the library, the second call goes to another function with the same code.
#[test]
fn an_instruction_has_one_place() {
    let twice = Program {
        function: |code, constant, callee| {
            code.mov(rax, qword_ptr(constant))?;
            code.call(callee)?;
            code.call(callee)?;
            code.ret()
        },
        ..PLAIN
    };
    assert_eq!(found(&twice, &twice), Some(twice.build().1));
    let (mut library, trace) = twice.build();
    let callee = *trace.executed.keys().nth_back(1).unwrap();
    let callee = library.code(callee, usize::MAX).unwrap().to_vec();
    let copy = library.add_function("copy", &callee);
    let call = trace.start + 12;
    let distance = (copy - (call + 5)) as u32;
    library.patch(call + 1, &distance.to_le_bytes());
    let (program, _) = twice.build();
    assert_eq!(find(&program, &trace, &library, trace.start), None);
}

/// Parts that the proof has executed or read, but the check did not reach.
#[test]
fn nothing_of_the_proof_is_left_out() {
    let (image, trace) = PLAIN.build();
    let is_found = |trace: &Trace| find(&image, trace, &image, trace.start).is_some();
    assert!(is_found(&trace));
    let mut more = trace.clone();
    more.executed.insert(trace.start + 1, 1);
    assert!(!is_found(&more));
    let mut more = trace.clone();
    more.constants.insert(trace.start);
    assert!(!is_found(&more));
    let mut less = trace.clone();
    less.constants.pop_first();
    assert!(!is_found(&less), "a place that the proof has not read");
}

/// This program's own code, for tests of addresses that the loader writes.
fn own() -> Image {
    Image::load(&std::env::current_exe().unwrap()).unwrap()
}

/// Places where the program calls or reads through an address that the loader writes, found by the
/// instruction's first two bytes.
fn sites<'a>(image: &'a Image, opcode: &'a [u8]) -> impl Iterator<Item = (u64, u64)> + 'a {
    let length = opcode.len() + 4;
    let code = image.segments().filter(|(_, _, is_code)| *is_code);
    let places = code.flat_map(move |(start, bytes, _)| {
        let places = bytes.windows(length).zip(start..);
        places.filter_map(move |(window, at)| {
            let distance = window.strip_prefix(opcode)?;
            let distance = i32::from_le_bytes(distance.try_into().ok()?);
            let place = (at + length as u64).wrapping_add_signed(distance.into());
            Some((at, place))
        })
    });
    places.filter_map(|(at, place)| {
        let (found, target) = image.relocated(place..place.wrapping_add(1)).next()?;
        (found == place).then_some((at, target))
    })
}

fn trace_of(start: u64, executed: &[(u64, usize)]) -> Trace {
    Trace {
        start,
        executed: executed.iter().copied().collect(),
        constants: BTreeSet::new(),
    }
}

/// `call [rip + distance]`
const CALL: [u8; 2] = [0xff, 0x15];

#[test]
fn a_call_of_another_library_is_of_the_same_function() {
    let image = own();
    let name = |target: u64| image.import_at(target);
    let calls: Vec<_> = sites(&image, &CALL).collect();
    let mut imports = calls.iter().filter(|(_, target)| name(*target).is_some());
    let is_called_again = |(first, target): &&(u64, u64)| {
        let mut later = calls.iter().filter(|(at, _)| at > first);
        later.any(|(_, other)| other == target)
    };
    let (first, target) = *imports.find(is_called_again).expect("two such calls");
    let trace = trace_of(first, &[(first, 6)]);
    let (mut same, mut others) = (0, 0);
    for (at, other) in imports {
        let is_found = find(&image, &trace, &image, *at).is_some();
        assert_eq!(is_found, name(target) == name(*other));
        match is_found {
            true => same += 1,
            false => others += 1,
        }
    }
    assert!(same > 0 && others > 0, "{same} {others}");
}

#[test]
fn an_indirect_call_is_of_the_same_code() {
    let image = own();
    let calls: Vec<_> = sites(&image, &CALL)
        .filter(|(_, target)| {
            image.import_at(*target).is_none() && image.code(*target, 1).is_some()
        })
        .collect();
    let (first, target) = *calls.first().expect("an indirect call");
    let bytes = image.code(target, 15).unwrap();
    let mut decoder = decoder(bytes, target);
    let length = decoder.decode().len();
    let trace = trace_of(first, &[(first, 6), (target, length)]);
    assert!(find(&image, &trace, &image, first).is_some());
    let differs = |other: u64| image.code(other, length) != image.code(target, length);
    let others = calls.iter().filter(|(_, other)| differs(*other));
    let mut others = others.map(|(at, _)| find(&image, &trace, &image, *at));
    assert!(others.next().is_some_and(|trace| trace.is_none()));
    assert!(others.all(|trace| trace.is_none()));
}

/// The program has a constant. The library has the same bytes, but the loader writes them.
#[test]
fn bytes_that_the_loader_writes_are_no_constant() {
    // mov rax, [rip + distance]
    let load = [0x48, 0x8b, 0x05];
    let library = own();
    let (start, target) = sites(&library, &load).next().expect("an address");
    let program = Program {
        distance: 16,
        constant: target,
        addend: 1,
        function: |code, constant, _| code.mov(rax, qword_ptr(constant)),
    };
    let (image, trace) = program.build();
    let trace = Trace {
        executed: [(trace.start, 7)].into(),
        ..trace
    };
    assert!(find(&image, &trace, &image, trace.start).is_some());
    assert_eq!(find(&image, &trace, &library, start), None);
}
