//! A program file, and the functions in it.

use std::collections::BTreeMap;
use std::fmt;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use crate::{Function, Kernel, normal_form};

/// A program file for x86-64 Linux: its memory, and the places of its functions.
#[derive(Debug)]
pub struct Program<'a> {
    segments: Vec<(u64, &'a [u8])>,
    /// By their size.
    functions: BTreeMap<u64, Vec<u64>>,
    sha256: fn(&[u8]) -> [u8; 32],
}

/// Why nothing can be said of a file; the text says it.
#[derive(Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl<'a> Program<'a> {
    /// Reads a file. The caller has SHA-256.
    ///
    /// # Errors
    /// [`Unreadable`] if it is no ELF file for x86-64, or has no symbols.
    pub fn parse(bytes: &'a [u8], sha256: fn(&[u8]) -> [u8; 32]) -> Result<Self, Unreadable> {
        let file = ElfFile64::<object::LittleEndian>::parse(bytes);
        let file = file.map_err(|error| Unreadable(error.to_string()))?;
        if file.architecture() != object::Architecture::X86_64 {
            return Err(Unreadable("it is not for x86-64".into()));
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
            return Err(Unreadable("it has no symbols".into()));
        }
        let segments = file.segments();
        let segments =
            segments.filter_map(|segment| Some((segment.address(), segment.data().ok()?)));
        Ok(Self {
            segments: segments.collect(),
            functions,
            sha256,
        })
    }

    /// Whether a kernel was proved, and the program has all of it.
    pub fn has_kernel(&self, kernel: &Kernel) -> bool {
        kernel.is_proved && kernel.functions.iter().all(|function| self.has(function))
    }

    /// Whether it has a function, wherever that is.
    pub fn has(&self, function: &Function) -> bool {
        let places = self.functions.get(&function.size);
        let mut places = places.into_iter().flatten();
        places.any(|start| self.digest(*start, function).as_ref() == Some(&function.sha256))
    }

    /// The digest of what is there, if it is that function.
    fn digest(&self, start: u64, function: &Function) -> Option<String> {
        let code = self.bytes(start, function.size as usize)?;
        let read = |place, length| self.bytes(place, length).map(<[u8]>::to_vec);
        let form = normal_form(code, start, &function.distances, read)?;
        let digest = (self.sha256)(&form);
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
    use crate::Distance;

    /// The first bytes: enough to tell the code of these tests.
    fn first(bytes: &[u8]) -> [u8; 32] {
        core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0xff))
    }

    /// A program with this code at 0x1000, of one function of five bytes.
    fn program(code: &[u8]) -> Program<'_> {
        Program {
            segments: vec![(0x1000, code)],
            functions: BTreeMap::from([(5, vec![0x1000])]),
            sha256: first,
        }
    }

    /// The distance is in the last four bytes, and two bytes of a constant are there.
    fn proved(code: &[u8]) -> Function {
        let mut function = Function {
            sha256: String::new(),
            size: 5,
            distances: vec![Distance {
                at: 1,
                from: 5,
                length: 2,
            }],
        };
        function.sha256 = program(code).digest(0x1000, &function).unwrap();
        function
    }

    const CODE: [u8; 7] = [0xe8, 0, 0, 0, 0, 7, 8];

    #[test]
    fn code_is_known_wherever_its_constants_are() {
        let function = proved(&CODE);
        assert!(program(&CODE).has(&function));
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
        let mut other = program(&CODE);
        other.functions = BTreeMap::from([(6, vec![0x1000])]);
        assert!(!other.has(&proved(&CODE)));
    }

    #[test]
    fn a_kernel_is_here_if_it_was_proved_and_all_of_it_is() {
        let wrong = [0xe8, 0, 0, 0, 0, 7, 9];
        for (code, is_proved, is_here) in [
            (&CODE, true, true),
            (&CODE, false, false),
            (&wrong, true, false),
        ] {
            let kernel = Kernel {
                name: String::new(),
                set: String::new(),
                is_proved,
                functions: vec![proved(&CODE)],
            };
            assert_eq!(program(code).has_kernel(&kernel), is_here, "{code:x?}");
        }
    }

    #[test]
    fn files_that_are_no_programs_are_refused() {
        assert!(Program::parse(b"no program", first).is_err());
        assert!(Program::parse(&[], first).is_err());
    }
}
