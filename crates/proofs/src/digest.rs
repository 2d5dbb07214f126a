//! Digests of proved functions that do not depend on the function's place in a program: those of
//! [`sealstone_proved::normal_form`].

use crate::coverage::{Executed, Function};
use crate::spec::sha256;
use iced_x86::Instruction;
use sealstone_proved::{Distance, normal_form};
use sealstone_prover::image::{Image, decoder};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A digest, and the data that are needed to compute it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// In hexadecimal.
    pub sha256: String,
    /// The distances in the code.
    pub distances: Vec<Distance>,
}

impl Digest {
    /// The digest of a function. A proof has executed these instructions and read these constants.
    pub fn new(
        image: &Image,
        function: &Function,
        executed: &Executed,
        constants: &BTreeSet<u64>,
    ) -> Self {
        let (start, end) = (Image::BASE + function.start, Image::BASE + function.end);
        let size = (end - start) as usize;
        let code = image.code(start, size).unwrap_or_default().to_vec();
        let mut decoder = decoder(&code, start);
        let mut distances = Vec::new();
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let offsets = decoder.get_constant_offsets(&instruction);
            let ip = (instruction.ip() - start) as usize;
            let (at, length) = if instruction.is_ip_rel_memory_operand() {
                let is_read = executed.contains_key(&instruction.ip());
                let length = if is_read {
                    constant(&instruction, constants)
                } else {
                    0
                };
                (ip + offsets.displacement_offset(), length)
            } else if leaves(&instruction, start..end) && offsets.immediate_size() == 4 {
                (ip + offsets.immediate_offset(), 0)
            } else {
                continue;
            };
            let from = ip + instruction.len();
            distances.push(Distance { at, from, length });
        }
        let read = |place, length| {
            let constant = place..place + length as u64;
            constant.map(|address| image.byte(address)).collect()
        };
        let form = normal_form(&code, start, &distances, read).expect("the proof has read it");
        let sha256 = sha256::hash(&form);
        let sha256 = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { sha256, distances }
    }

    /// As JSON.
    pub fn json(&self, function: &Function) -> Value {
        let distances = self.distances.iter();
        let distances = distances.map(|Distance { at, from, length }| json!([at, from, length]));
        let mut json = function.json();
        json["size"] = (function.end - function.start).into();
        json["sha256"] = self.sha256.as_str().into();
        json["distances"] = distances.collect();
        json
    }
}

/// The number of bytes of a constant that an instruction has read; 0 if it is an address or the
/// loader wrote it.
fn constant(instruction: &Instruction, constants: &BTreeSet<u64>) -> usize {
    let (start, length) = (
        instruction.ip_rel_memory_address(),
        instruction.memory_size().size(),
    );
    let mut place = start..start + length as u64;
    match place.all(|address| constants.contains(&address)) {
        true => length,
        false => 0,
    }
}

/// Whether it is a jump or a call out of the function.
fn leaves(instruction: &Instruction, function: core::ops::Range<u64>) -> bool {
    let target = instruction.near_branch_target();
    target != 0 && !function.contains(&target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::code_asm::{CodeAssembler, qword_ptr, rax};

    /// A function that reads a constant after itself and calls the code after the constant.
    fn program(before: usize, constant: u64, more: u64) -> (Image, Function, Executed) {
        let mut image = Image::of_code("other", &vec![0x90; before]);
        let mut code = CodeAssembler::new(64).unwrap();
        let (mut number, mut callee) = (code.create_label(), code.create_label());
        code.mov(rax, qword_ptr(number)).unwrap();
        code.call(callee).unwrap();
        code.add(rax, more as i32).unwrap();
        code.ret().unwrap();
        let size = 7 + 5 + 6 + 1;
        code.db(&vec![0xcc; before]).unwrap();
        code.set_label(&mut number).unwrap();
        code.dq(&[constant]).unwrap();
        code.set_label(&mut callee).unwrap();
        code.ret().unwrap();
        let start = image.next_free();
        let bytes = code.assemble(start).unwrap();
        image.add_function("function", &bytes);
        let function = Function {
            symbol: "function".into(),
            start: Image::in_file(start),
            end: Image::in_file(start) + size,
        };
        let executed = Executed::from([(start, 7), (start + 7, 5)]);
        (image, function, executed)
    }

    fn digest(before: usize, constant: u64, more: u64) -> Digest {
        let (image, function, executed) = program(before, constant, more);
        let place = Image::BASE + function.end + before as u64;
        Digest::new(&image, &function, &executed, &(place..place + 8).collect())
    }

    #[test]
    fn it_is_the_same_elsewhere_and_another_for_other_code_and_constants() {
        let one = digest(16, 5, 1);
        assert_eq!(digest(999, 5, 1), one);
        assert_ne!(digest(16, 5, 2).sha256, one.sha256, "code");
        assert_ne!(digest(16, 6, 1).sha256, one.sha256, "constant");
        let distances = [(3, 7, 8), (8, 12, 0)];
        let distances = distances.map(|(at, from, length)| Distance { at, from, length });
        assert_eq!(one.distances, distances);
    }

    #[test]
    fn bytes_that_were_not_read_are_not_in_it() {
        let (image, function, _) = program(16, 5, 1);
        let of = |image: &Image| Digest::new(image, &function, &Executed::new(), &BTreeSet::new());
        let other = program(16, 6, 1).0;
        assert_eq!(of(&image), of(&other));
    }
}
