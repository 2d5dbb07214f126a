//! A program or library as the system's loader maps it: the bytes that run.
//!
//! The bytes come from the file itself, not from the source and not through the compiler. Addresses
//! in it are relocated to the image's base, and functions of other libraries get addresses outside
//! of it ([`Image::import_at`]). The image has no memory that the program may change. A function
//! that reads such memory has no proof.

use crate::features::Features;
use iced_x86::{Decoder, DecoderOptions};
use object::elf;
use object::read::elf::ElfFile64;
use object::{
    Object, ObjectSection, ObjectSegment, ObjectSymbol, RelocationFlags, RelocationTarget,
    SegmentFlags,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

type Elf<'a> = ElfFile64<'a, object::LittleEndian>;

/// The constant memory of a program: code and constants.
#[derive(Clone)]
pub struct Image {
    /// Its name in messages.
    pub name: String,
    /// The features that processors need to run it.
    pub target: Features,
    /// The compiler that the file names; empty if it names none.
    pub compiler: String,
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    /// All variables.
    variables: Vec<Symbol>,
    imports: Vec<String>,
    /// Addresses of eight bytes that the loader fills with unknown values.
    unknown: Vec<u64>,
    /// Addresses of eight bytes that the loader fills with an address, and this address.
    relocated: BTreeMap<u64, u64>,
    version: u64,
}

/// A new version number of an image.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

#[derive(Clone)]
struct Segment {
    start: u64,
    bytes: Vec<u8>,
    code: bool,
    /// The loader may write to it before the program runs.
    relocated: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its path, and its generic arguments if the compiler recorded them.
    pub name: String,
    /// Its first address.
    pub start: u64,
    /// Its length in bytes.
    pub size: u64,
}

impl Symbol {
    /// Whether it is the function with this path and any generic arguments, or a copy of it by the
    /// compiler, which has a point in its name. A star in the path matches a version number (digits
    /// and underscores), which C libraries put into their names.
    pub fn is(&self, path: &str) -> bool {
        let rest = match path.split_once('*') {
            None => self.name.strip_prefix(path),
            Some((before, after)) => {
                let rest = self.name.strip_prefix(before);
                let is_of_version = |c: char| c.is_ascii_digit() || c == '_';
                let rest = rest.map(|rest| rest.trim_start_matches(is_of_version));
                rest.and_then(|rest| rest.strip_prefix(after))
            }
        };
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::<") || rest.starts_with('.'))
    }
}

const PAGE: u64 = 4096;
const BASE: u64 = Image::BASE;
const IMPORTS: u64 = Image::IMPORTS;

impl Image {
    /// The base address of images.
    pub const BASE: u64 = 0x2a00_0000_0000;
    /// The base address of functions of other libraries.
    pub const IMPORTS: u64 = 0x2900_0000_0000;

    /// Reads an ELF file for x86-64 Linux with its symbols.
    ///
    /// # Errors
    /// A message that names the error in the file.
    pub fn load(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self::parse(&name, &bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let file = Elf::parse(bytes).map_err(|error| error.to_string())?;
        if file.architecture() != object::Architecture::X86_64 {
            return Err("not for x86-64".into());
        }
        check_dynamic(&file)?;
        let mut image = Self::empty(name);
        image.symbols = functions(&file);
        image.variables = named(&file, object::SymbolKind::Data);
        image.compiler = compiler(&file).unwrap_or_default();
        if image.symbols.is_empty() {
            return Err("it has no symbols: give the file before it was stripped".into());
        }
        for segment in file.segments() {
            image.segments.extend(constant_part(&file, &segment)?);
        }
        image.relocate(&file)?;
        Ok(image)
    }

    /// An image that holds only this code, called `name`.
    pub fn of_code(name: &str, code: &[u8]) -> Self {
        let mut image = Self::empty(name);
        image.add_function(name, code);
        image
    }

    fn empty(name: &str) -> Self {
        Self {
            name: name.into(),
            target: Features::baseline(),
            compiler: String::new(),
            segments: Vec::new(),
            symbols: Vec::new(),
            variables: Vec::new(),
            imports: Vec::new(),
            unknown: Vec::new(),
            relocated: BTreeMap::new(),
            version: next_version(),
        }
    }

    /// Adds a function after all others, and returns its address. For planted bugs.
    pub fn add_function(&mut self, name: &str, code: &[u8]) -> u64 {
        self.version = next_version();
        let start = self.next_free();
        self.segments.push(Segment {
            start,
            bytes: code.to_vec(),
            code: true,
            relocated: false,
        });
        self.symbols.push(Symbol {
            name: name.into(),
            start,
            size: code.len() as u64,
        });
        start
    }

    /// Where [`Image::add_function`] will put the next function.
    pub fn next_free(&self) -> u64 {
        let end = self
            .segments
            .iter()
            .map(|segment| segment.start + segment.bytes.len() as u64);
        end.max().unwrap_or(BASE).next_multiple_of(4096)
    }

    /// Changes bytes. For planted bugs.
    ///
    /// # Panics
    /// If the image has no such bytes.
    pub fn patch(&mut self, address: u64, bytes: &[u8]) {
        let segment = self
            .segments
            .iter_mut()
            .find(|segment| segment.contains(address));
        self.version = next_version();
        let segment = segment.expect("bytes of the image");
        let at = (address - segment.start) as usize;
        segment.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Removes all other functions: their names, and their code. For planted bugs, if only few
    /// functions of a program are looked at.
    pub fn keep_functions(&mut self, is_kept: impl Fn(&Symbol) -> bool) {
        let (kept, others): (Vec<Symbol>, Vec<Symbol>) = core::mem::take(&mut self.symbols)
            .into_iter()
            .partition(is_kept);
        for Symbol { start, size, .. } in others {
            let end = start + size;
            let is_apart = |it: &Symbol| it.start + it.size <= start || end <= it.start;
            let length = self.code(start, size as usize).map_or(0, <[u8]>::len);
            if length > 0 && kept.iter().all(is_apart) {
                self.patch(start, &vec![0xcc; length]);
            }
        }
        self.symbols = kept;
    }

    /// Images with the same number have the same bytes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// At most `most` bytes of code from an address on.
    pub fn code(&self, address: u64, most: usize) -> Option<&[u8]> {
        let segment = self
            .segments
            .iter()
            .find(|segment| segment.code && segment.contains(address))?;
        let bytes = &segment.bytes[(address - segment.start) as usize..];
        Some(&bytes[..bytes.len().min(most)])
    }

    /// A byte that the program cannot change.
    pub fn byte(&self, address: u64) -> Option<u8> {
        if self
            .unknown
            .iter()
            .any(|start| (*start..start + 8).contains(&address))
        {
            return None;
        }
        let segment = self
            .segments
            .iter()
            .find(|segment| segment.contains(address))?;
        Some(segment.bytes[(address - segment.start) as usize])
    }

    /// The places where the loader writes addresses, and these addresses.
    pub fn relocated(&self, range: std::ops::Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        self.relocated.range(range).map(|(at, value)| (*at, *value))
    }

    /// All functions.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The address of a writable variable of at least `length` bytes. No part of it is constant.
    ///
    /// # Errors
    /// If there is no such variable.
    pub fn variable(&self, name: &str, length: u64) -> Result<u64, String> {
        let mut variables = self.variables.iter();
        let found = variables.find(|symbol| symbol.is(name) && symbol.size >= length);
        let start = found.map(|symbol| symbol.start);
        let start = start.ok_or_else(|| format!("no variable `{name}` of {length} bytes"))?;
        let is_constant = (start..start + length).any(|at| self.byte(at).is_some());
        match is_constant {
            true => Err(format!("`{name}` is a constant")),
            false => Ok(start),
        }
    }

    /// The name of another library's function at this address.
    pub fn import_at(&self, address: u64) -> Option<&str> {
        let distance = address.checked_sub(IMPORTS)?;
        let number = distance.is_multiple_of(16).then_some(distance / 16)?;
        Some(self.imports.get(number as usize)?)
    }

    /// Address and name of every function of other libraries.
    pub fn imports(&self) -> impl Iterator<Item = (u64, &str)> {
        (IMPORTS..)
            .step_by(16)
            .zip(self.imports.iter().map(String::as_str))
    }

    /// The function that contains an address.
    pub fn symbol_at(&self, address: u64) -> Option<&Symbol> {
        let inside =
            |symbol: &&Symbol| (symbol.start..symbol.start + symbol.size).contains(&address);
        self.symbols.iter().find(inside)
    }

    /// An address as the program file has it.
    pub fn in_file(address: u64) -> u64 {
        address.wrapping_sub(BASE)
    }

    /// An address as text: function and distance.
    pub fn describe(&self, address: u64) -> String {
        match self.symbol_at(address) {
            Some(symbol) => format!("{}+{:#x}", symbol.name, address - symbol.start),
            None => format!("{address:#x}"),
        }
    }

    /// Start and bytes of each segment, and whether it is code.
    pub fn segments(&self) -> impl Iterator<Item = (u64, &[u8], bool)> {
        self.segments
            .iter()
            .map(|segment| (segment.start, &segment.bytes[..], segment.code))
    }

    fn relocate(&mut self, file: &Elf<'_>) -> Result<(), String> {
        let mut imports: BTreeMap<String, u64> = BTreeMap::new();
        for (offset, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let address = BASE + offset;
            let mut segments = self.segments.iter();
            match segments.find(|segment| segment.contains(address)) {
                None => continue,
                Some(segment) if !segment.relocated => {
                    return Err("the loader would change its code".into());
                }
                Some(_) => {}
            }
            let value = match relocation.flags() {
                RelocationFlags::Elf {
                    r_type: elf::R_X86_64_RELATIVE,
                } => Some(BASE.wrapping_add_signed(relocation.addend())),
                RelocationFlags::Elf {
                    r_type: elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT,
                } => Some(self.resolve(file, relocation.target(), &mut imports)?),
                _ => None,
            };
            match value {
                Some(value) => {
                    self.patch(address, &value.to_le_bytes());
                    self.relocated.insert(address, value);
                }
                None => self.unknown.push(address),
            }
        }
        Ok(())
    }

    /// The address of a symbol that the loader looks up.
    fn resolve(
        &mut self,
        file: &Elf<'_>,
        target: RelocationTarget,
        imports: &mut BTreeMap<String, u64>,
    ) -> Result<u64, String> {
        let RelocationTarget::Symbol(index) = target else {
            return Err("a relocation without a symbol".into());
        };
        let symbols = file.dynamic_symbol_table().ok_or("no dynamic symbols")?;
        let symbol = object::ObjectSymbolTable::symbol_by_index(&symbols, index)
            .map_err(|error| error.to_string())?;
        let name = symbol.name().map_err(|error| error.to_string())?.to_owned();
        let next = IMPORTS + 16 * self.imports.len() as u64;
        Ok(*imports.entry(name.clone()).or_insert_with(|| {
            self.imports.push(name);
            next
        }))
    }
}

/// A decoder of code at an address, as AMD's processors decode it. Intel's ignore the prefix for 16
/// bits of a near branch. AMD's do not, so such a branch has no model.
pub fn decoder(code: &[u8], address: u64) -> Decoder<'_> {
    Decoder::with_ip(64, code, address, DecoderOptions::AMD)
}

impl Default for Image {
    fn default() -> Self {
        Self::empty("")
    }
}

impl Segment {
    fn contains(&self, address: u64) -> bool {
        address >= self.start && address - self.start < self.bytes.len() as u64
    }
}

fn functions(file: &Elf<'_>) -> Vec<Symbol> {
    let functions = named(file, object::SymbolKind::Text);
    let labels = labels(file, &functions);
    functions.into_iter().chain(labels).collect()
}

/// Functions or variables: all names of a kind that have a size.
fn named(file: &Elf<'_>, kind: object::SymbolKind) -> Vec<Symbol> {
    let symbols = file.symbols();
    let symbols = symbols.filter(|symbol| symbol.kind() == kind && symbol.size() > 0);
    let symbols = symbols.filter_map(|symbol| {
        Some(Symbol {
            name: format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?)),
            start: BASE + symbol.address(),
            size: symbol.size(),
        })
    });
    symbols.collect()
}

/// Global names in code without a type and a size, as in some assembly. Each names the code up to
/// the next name or the end of the section. Several may name the same code.
fn labels(file: &Elf<'_>, functions: &[Symbol]) -> Vec<Symbol> {
    let is_code = |section: &object::SectionIndex| {
        let section = file.section_by_index(*section);
        section.is_ok_and(|section| section.kind() == object::SectionKind::Text)
    };
    let untyped = file
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Unknown && symbol.is_global());
    let untyped: Vec<_> = untyped
        .filter(|symbol| symbol.section_index().as_ref().is_some_and(is_code))
        .collect();
    let starts = functions.iter().map(|symbol| symbol.start);
    let starts = starts.chain(untyped.iter().map(|symbol| BASE + symbol.address()));
    let starts: BTreeSet<u64> = starts.collect();
    let labels = untyped.iter().filter_map(|symbol| {
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let start = BASE + symbol.address();
        let end = BASE + section.address() + section.size();
        let next = starts.range(start + 1..).next().copied().unwrap_or(end);
        Some(Symbol {
            name: symbol.name().ok()?.into(),
            start,
            size: next.min(end).checked_sub(start)?,
        })
    });
    labels.collect()
}

/// The comment of rustc in every program: its name, version and commit.
fn compiler(file: &Elf<'_>) -> Option<String> {
    let comments = file.section_by_name(".comment")?.data().ok()?;
    let mut comments = comments.split(|byte| *byte == 0);
    let rustc = comments.find(|comment| comment.starts_with(b"rustc "))?;
    Some(String::from_utf8_lossy(rustc).into_owned())
}

/// Refuses files that need actions of the loader which are not implemented here.
fn check_dynamic(file: &Elf<'_>) -> Result<(), String> {
    use object::read::elf::{Dyn, ProgramHeader};
    let endian = object::LittleEndian;
    for header in file.elf_program_headers() {
        let entries = header.dynamic(endian, file.data());
        let entries = entries.map_err(|error| error.to_string())?;
        for entry in entries.unwrap_or_default() {
            let flags = entry.d_val(endian);
            match entry.tag32(endian) {
                Some(elf::DT_TEXTREL) => return Err(TEXTREL.into()),
                Some(elf::DT_FLAGS) if flags & u64::from(elf::DF_TEXTREL) != 0 => {
                    return Err(TEXTREL.into());
                }
                Some(DT_RELRSZ..=DT_RELRENT) => {
                    return Err("it has packed relocations, which are not supported".into());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Packed relocations: their size, their place and the size of an entry. `object` has no names for
/// these.
const DT_RELRSZ: u32 = 35;
const DT_RELRENT: u32 = 37;
const TEXTREL: &str = "the loader may change its code (DT_TEXTREL)";

/// The constant part of a segment: the whole segment if it is not writable, else the part that the
/// loader makes read-only after relocation.
fn constant_part<'a>(
    file: &Elf<'a>,
    segment: &impl ObjectSegment<'a>,
) -> Result<Option<Segment>, String> {
    let SegmentFlags::Elf { p_flags } = segment.flags() else {
        return Ok(None);
    };
    let mut bytes = segment.data().map_err(|error| error.to_string())?.to_vec();
    if p_flags & elf::PF_W != 0 {
        let kept = protected_length(file, segment.address());
        bytes.truncate(kept as usize);
    }
    Ok((!bytes.is_empty()).then(|| Segment {
        start: BASE + segment.address(),
        bytes,
        code: p_flags & elf::PF_X != 0,
        relocated: p_flags & elf::PF_W != 0,
    }))
}

/// The number of bytes from `address` on that the loader makes read-only after relocation.
fn protected_length(file: &Elf<'_>, address: u64) -> u64 {
    use object::read::elf::ProgramHeader;
    let endian = object::LittleEndian;
    let headers = file.elf_program_headers().iter();
    let protected = headers.filter(|header| header.p_type(endian) == elf::PT_GNU_RELRO);
    let lengths = protected.filter_map(|header| {
        let start = header.p_vaddr(endian);
        // The loader protects whole pages: the last one only if it ends there.
        let end = (start + header.p_memsz(endian)) / PAGE * PAGE;
        (start..end).contains(&address).then(|| end - address)
    });
    lengths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    /// This program, with one changed entry of its dynamic section.
    fn with_entry(tag: u32, value: u64) -> Result<Image, String> {
        use object::read::elf::{Dyn, ProgramHeader};
        let endian = object::LittleEndian;
        let mut bytes = own();
        let file = Elf::parse(&bytes[..]).unwrap();
        let header = file
            .elf_program_headers()
            .iter()
            .find(|header| header.p_type(endian) == elf::PT_DYNAMIC)
            .unwrap();
        let entries = header.dynamic(endian, file.data()).unwrap().unwrap();
        let number = entries
            .iter()
            .position(|entry| entry.tag32(endian) == Some(elf::DT_DEBUG))
            .unwrap();
        let at = header.p_offset(endian) as usize + 16 * number;
        bytes[at..at + 8].copy_from_slice(&u64::from(tag).to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&value.to_le_bytes());
        Image::parse("planted", &bytes)
    }

    #[test]
    fn what_the_loader_would_change_in_another_way_is_refused() {
        assert!(with_entry(elf::DT_DEBUG, 0).is_ok());
        for (tag, value) in [
            (elf::DT_TEXTREL, 0),
            (elf::DT_FLAGS, elf::DF_TEXTREL.into()),
            (DT_RELRSZ + 1, 0x1000),
        ] {
            assert!(with_entry(tag, value).is_err(), "tag {tag}");
        }
    }

    #[test]
    fn only_whole_pages_are_protected_after_relocation() {
        use object::read::elf::ProgramHeader;
        let (bytes, endian) = (own(), object::LittleEndian);
        let file = Elf::parse(&bytes[..]).unwrap();
        let header = file
            .elf_program_headers()
            .iter()
            .find(|header| header.p_type(endian) == elf::PT_GNU_RELRO)
            .unwrap();
        let (start, size) = (header.p_vaddr(endian), header.p_memsz(endian));
        let kept = protected_length(&file, start);
        assert!(kept <= size && (start + kept).is_multiple_of(PAGE));
        assert_eq!(protected_length(&file, start + kept), 0);
    }

    #[test]
    fn copies_that_the_compiler_makes_have_the_name() {
        let is = |name: &str| {
            let symbol = Symbol {
                name: name.into(),
                start: 0,
                size: 1,
            };
            symbol.is("module::function")
        };
        assert!(is("module::function") && is("module::function::<1>"));
        assert!(is("module::function.specialized.1") && is("module::function.llvm.7"));
        assert!(!is("module::function_ahead") && !is("module::function::{{closure}}"));
    }

    #[test]
    fn a_star_stands_for_a_version() {
        let is = |name: &str| {
            let symbol = Symbol {
                name: name.into(),
                start: 0,
                size: 1,
            };
            symbol.is("lib_*ChaCha20_avx2")
        };
        assert!(is("lib_0_47_0_ChaCha20_avx2") && is("lib_ChaCha20_avx2"));
        assert!(!is("lib_x_ChaCha20_avx2") && !is("lib_0_47_0_ChaCha20_avx"));
        assert!(!is("lib_0_47_0_ChaCha20_avx2_4x") && !is("other_0_ChaCha20_avx2"));
    }
}
