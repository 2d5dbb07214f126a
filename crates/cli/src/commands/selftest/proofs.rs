//! `selftest --proofs`: whether the machine code of this program is code that was proved.
//!
//! The list of proved functions is what `sealstone-prove --write-json` writes; the one in this
//! program was taken from there by `cargo xtask assurance --proofs`. Code names other places of the
//! program by their distance, so a digest is of a function with zeros in place of those, and of the
//! constants that are there (`crates/proofs/src/digest.rs`).

use object::read::elf::ElfFile64;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use sealstone_primitives::hash::sha256;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

const PROVED: &str = include_str!("proved.json");

/// The command's name in lists of proofs.
const COMMAND: &str = "sealstone";

/// A function that was proved.
struct Function {
    sha256: String,
    size: u64,
    /// Four bytes that are a distance, where it is counted from, and how much of what is there is
    /// in the digest.
    distances: Vec<[usize; 3]>,
}

/// A kernel, and whether all functions of it that were proved are in the program.
struct Kernel {
    name: String,
    set: String,
    functions: Vec<Function>,
    is_here: bool,
}

/// A program file: its memory, and the places of its functions by their size.
struct Program<'a> {
    segments: Vec<(u64, &'a [u8])>,
    functions: BTreeMap<u64, Vec<u64>>,
}

/// Compares this program with its own list, or with that of `file`.
pub(super) fn run(file: Option<&Path>, context: &Context) -> Result<()> {
    let proved = match file {
        None => PROVED.into(),
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| Failure::new(Exit::Io, format!("{}: {error}", file.display())))?,
    };
    let path = std::env::current_exe().map_err(|error| unreadable(&error.to_string()))?;
    let bytes = std::fs::read(&path).map_err(|error| unreadable(&error.to_string()))?;
    let program = Program::parse(&bytes).map_err(|why| unreadable(&why))?;
    conclude(&kernels(&proved, &program)?, context)
}

fn unreadable(why: &str) -> Failure {
    let what = format!("this program cannot say what of it was proved: {why}");
    Failure::new(Exit::Io, what)
        .hint("proofs are about programs for x86-64 Linux that still have their symbols")
}

fn conclude(kernels: &[Kernel], context: &Context) -> Result<()> {
    let proved = kernels.iter().all(|kernel| kernel.is_here);
    let text = || kernels.iter().map(Kernel::line).collect();
    context.print(text, || {
        let kernels: Vec<Value> = kernels.iter().map(Kernel::json).collect();
        json!({ "proved": proved, "kernels": kernels })
    })?;
    if proved {
        return Ok(());
    }
    let what = "machine code of this program is not that which was proved";
    Err(Failure::new(Exit::Internal, what).hint(
        "other compilers make other code: `make prove` proves it and writes a list of its own",
    ))
}

/// All kernels that were proved in the command, and which of them this program has.
fn kernels(proved: &str, program: &Program<'_>) -> Result<Vec<Kernel>> {
    let proved: Value = serde_json::from_str(proved).unwrap_or_default();
    let all = list(&proved["kernels"]).iter();
    let shipped = all.filter(|kernel| kernel["program"] == COMMAND);
    let kernels: Vec<Kernel> = shipped.map(|json| Kernel::of(json, program)).collect();
    if kernels.is_empty() {
        return Err(Failure::new(Exit::Format, "this is not a list of proofs")
            .hint("`make prove` writes one: target/proofs.json"));
    }
    Ok(kernels)
}

impl Kernel {
    fn of(json: &Value, program: &Program<'_>) -> Self {
        let functions: Vec<Function> = list(&json["functions"]).iter().map(Function::of).collect();
        let is_proved = json["verdict"] == "PROVED" && !functions.is_empty();
        Self {
            name: text(&json["kernel"]),
            set: text(&json["instruction_set"]),
            is_here: is_proved && functions.iter().all(|function| program.has(function)),
            functions,
        }
    }

    fn line(&self) -> String {
        let word = if self.is_here { "proved " } else { "UNKNOWN" };
        let digests = self.functions.iter().map(|function| &function.sha256);
        let digests: Vec<&str> = digests.map(|x| x.get(..16).unwrap_or(x)).collect();
        let (name, set) = (&self.name, &self.set);
        format!("{word} {name:32} {set:8} {}\n", digests.join(" "))
    }

    fn json(&self) -> Value {
        let digests: Vec<&str> = self
            .functions
            .iter()
            .map(|function| &function.sha256[..])
            .collect();
        json!({
            "kernel": self.name,
            "instruction_set": self.set,
            "proved": self.is_here,
            "sha256": digests,
        })
    }
}

impl Function {
    fn of(json: &Value) -> Self {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let distances = list(&json["distances"]).iter();
        Self {
            sha256: text(&json["sha256"]),
            size: number(&json["size"]),
            distances: distances
                .map(|distance| core::array::from_fn(|i| number(&distance[i]) as usize))
                .collect(),
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

impl<'a> Program<'a> {
    fn parse(bytes: &'a [u8]) -> core::result::Result<Self, String> {
        let file = ElfFile64::<object::LittleEndian>::parse(bytes);
        let file = file.map_err(|error| error.to_string())?;
        if file.architecture() != object::Architecture::X86_64 {
            return Err("it is not for x86-64".into());
        }
        let mut functions: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for symbol in file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
        {
            functions
                .entry(symbol.size())
                .or_default()
                .push(symbol.address());
        }
        if functions.is_empty() {
            return Err("it has no symbols".into());
        }
        let segments = file.segments();
        let segments =
            segments.filter_map(|segment| Some((segment.address(), segment.data().ok()?)));
        Ok(Self {
            segments: segments.collect(),
            functions,
        })
    }

    fn has(&self, function: &Function) -> bool {
        let places = self.functions.get(&function.size);
        let mut places = places.into_iter().flatten();
        places.any(|start| self.digest(*start, function).as_ref() == Some(&function.sha256))
    }

    /// The digest of what is there, if it is that function.
    fn digest(&self, start: u64, function: &Function) -> Option<String> {
        let mut code = self.bytes(start, function.size as usize)?.to_vec();
        for [at, from, length] in &function.distances {
            let bytes = code.get_mut(*at..at + 4)?;
            let distance = i32::from_le_bytes((&*bytes).try_into().ok()?);
            bytes.fill(0);
            let place = start.wrapping_add(*from as u64);
            let place = place.wrapping_add_signed(distance.into());
            let constant = if *length == 0 {
                &[]
            } else {
                self.bytes(place, *length)?
            };
            code.extend(constant);
        }
        let digest = sha256(&[&code]);
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn bytes(&self, address: u64, length: usize) -> Option<&'a [u8]> {
        self.segments.iter().find_map(|(start, bytes)| {
            let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(offset..offset.checked_add(length)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with this code at 0x1000, of one function of five bytes.
    fn program(code: &[u8]) -> Program<'_> {
        Program {
            segments: vec![(0x1000, code)],
            functions: BTreeMap::from([(5, vec![0x1000])]),
        }
    }

    /// The distance is in the last four bytes, and two bytes of a constant are there.
    fn proved(code: &[u8]) -> Function {
        let mut function = Function {
            sha256: String::new(),
            size: 5,
            distances: vec![[1, 5, 2]],
        };
        function.sha256 = program(code).digest(0x1000, &function).unwrap();
        function
    }

    #[test]
    fn code_is_known_wherever_its_constants_are() {
        let function = proved(&[0xe8, 0, 0, 0, 0, 7, 8]);
        assert!(program(&[0xe8, 0, 0, 0, 0, 7, 8]).has(&function));
        assert!(program(&[0xe8, 1, 0, 0, 0, 9, 7, 8]).has(&function));
        let others: [&[u8]; 5] = [
            &[0xe9, 0, 0, 0, 0, 7, 8],
            &[0xe8, 1, 0, 0, 0, 7, 8, 9],
            &[0xe8, 0, 0, 0, 0, 7, 9],
            // Not there.
            &[0xe8, 0, 0, 0, 0, 7],
            &[0xe8, 0, 0, 0, 0x80, 7, 8],
        ];
        for other in others {
            assert!(!program(other).has(&function), "{other:x?}");
        }
    }

    #[test]
    fn functions_of_another_size_are_not_looked_at() {
        let code = [0xe8, 0, 0, 0, 0, 7, 8];
        let mut other = program(&code);
        other.functions = BTreeMap::from([(6, vec![0x1000])]);
        assert!(!other.has(&proved(&code)));
    }

    /// A list of one kernel with this function.
    fn listed(function: &Function, verdict: &str) -> String {
        let Function {
            sha256,
            size,
            distances,
        } = function;
        let function = json!({ "sha256": sha256, "size": size, "distances": distances });
        let kernel = |program: &str, functions: Value| {
            let mut kernel = json!({ "program": program, "verdict": verdict });
            kernel["functions"] = functions;
            kernel
        };
        let kernels = [
            kernel(COMMAND, json!([function])),
            kernel("other", json!([])),
        ];
        json!({ "kernels": kernels }).to_string()
    }

    #[test]
    fn a_kernel_is_here_if_it_was_proved_and_all_of_it_is() {
        let (right, wrong) = ([0xe8, 0, 0, 0, 0, 7, 8], [0xe8, 0, 0, 0, 0, 7, 9]);
        let function = proved(&right);
        for (code, verdict, is_here) in [
            (&right, "PROVED", true),
            (&right, "UNPROVED", false),
            (&wrong, "PROVED", false),
        ] {
            let kernels = kernels(&listed(&function, verdict), &program(code)).unwrap();
            assert_eq!(kernels.len(), 1, "the command's");
            assert_eq!(kernels[0].is_here, is_here, "{verdict} {code:x?}");
        }
    }

    #[test]
    fn the_list_of_this_program_has_kernels_with_functions() {
        let kernels = kernels(PROVED, &program(&[])).unwrap();
        assert!(kernels.len() > 30, "{} kernels", kernels.len());
        let is_listed = |kernel: &Kernel| !kernel.functions.is_empty() && !kernel.is_here;
        assert!(kernels.iter().all(is_listed));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for other in [
            "",
            "{}",
            "[1]",
            r#"{"kernels": []}"#,
            r#"{"kernels": [{}]}"#,
        ] {
            assert!(kernels(other, &program(&[])).is_err(), "{other}");
        }
    }

    #[test]
    fn files_that_are_no_programs_are_refused() {
        assert!(Program::parse(b"no program").is_err());
        assert!(Program::parse(&[]).is_err());
    }
}
