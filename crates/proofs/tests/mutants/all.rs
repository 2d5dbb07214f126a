//! The mutants of a proved function, in an order that every program shares.

use super::Proved;
use super::change::{CHANGES, Change, mutated};
use iced_x86::Instruction;
use sealstone_prover::image::{Image, Symbol};
use sealstone_prover::term::Random;

/// A changed instruction.
pub(super) struct Mutant {
    pub(super) at: u64,
    pub(super) change: Change,
    pub(super) bytes: Vec<u8>,
}

/// Each change of each instruction, in their order. Random choices depend only on the place of the
/// instruction in its function, so every run makes the same ones, in other programs too.
pub(super) fn mutants(image: &Image, proved: &Proved) -> Vec<Mutant> {
    let mut all = Vec::new();
    for instruction in &proved.instructions {
        let at = instruction.ip();
        let bytes = image.code(at, instruction.len()).unwrap();
        let mut random = Random::new(place(image, &proved.symbol, at).1);
        for change in CHANGES {
            // Some operands have no other register.
            let mut tries =
                (0..8).filter_map(|_| mutated((proved, bytes), instruction, change, &mut random));
            let mutant = tries.find(|mutant| mutant != bytes);
            all.extend(mutant.map(|bytes| Mutant { at, change, bytes }));
        }
    }
    all
}

/// The function of an instruction, which the proved function may call, and its offset there.
pub(super) fn place<'a>(image: &'a Image, proved: &'a Symbol, at: u64) -> (&'a Symbol, u64) {
    let function = image.symbol_at(at).unwrap_or(proved);
    (function, at.wrapping_sub(function.start))
}

/// Sorts the instructions of a proved function, and then those of the functions that it calls, by
/// their offsets. The order of functions in a program may change with any other code.
pub(super) fn sort(instructions: &mut [Instruction], image: &Image, proved: &Symbol) {
    instructions.sort_by_key(|instruction| {
        let (function, offset) = place(image, proved, instruction.ip());
        (function != proved, function.name.clone(), offset)
    });
}

#[cfg(test)]
mod tests {
    use super::{Proved, mutants, place, sort};
    use iced_x86::{Decoder, DecoderOptions, Instruction};
    use sealstone_proofs::catalog::kernels;
    use sealstone_prover::image::Image;

    /// The mutants of a function and of one that it calls do not depend on where these are.
    #[test]
    fn the_order_of_functions_in_a_program_changes_no_mutant() {
        // add rax, rcx; ret, and xor edx, 5; mov rsi, rdx; ret.
        let functions: [(&str, &[u8]); 3] = [
            ("x::proved", &[0x48, 0x01, 0xc8, 0xc3]),
            ("x::called", &[0x83, 0xf2, 5, 0x48, 0x89, 0xd6, 0xc3]),
            ("x::other", &[0x90; 99]),
        ];
        let of = |order: [usize; 3]| {
            let mut image = Image::default();
            for (name, code) in order.map(|number| functions[number]) {
                image.add_function(name, code);
            }
            let symbols = image.symbols().iter();
            let symbol = symbols.clone().find(|it| it.name == functions[0].0);
            let symbol = symbol.unwrap().clone();
            let theirs = symbols.filter(|it| it.name != functions[2].0);
            let mut instructions: Vec<Instruction> = theirs
                .flat_map(|it| {
                    let code = image.code(it.start, it.size as usize).unwrap();
                    Decoder::with_ip(64, code, it.start, DecoderOptions::NONE).into_iter()
                })
                .collect();
            sort(&mut instructions, &image, &symbol);
            let proved = Proved {
                kernel: kernels().remove(0),
                symbol,
                instructions,
                executed: Vec::new(),
                steps: 0,
            };
            let mutants = mutants(&image, &proved).into_iter().map(|it| {
                let (function, offset) = place(&image, &proved.symbol, it.at);
                (function.name.clone(), offset, it.change, it.bytes)
            });
            mutants.collect::<Vec<_>>()
        };
        assert!(of([0, 1, 2]).len() > 10);
        for order in [[1, 0, 2], [2, 1, 0], [0, 2, 1]] {
            assert_eq!(of(order), of([0, 1, 2]));
        }
    }
}
