//! A function's inputs, its required results, and its rights.

pub(crate) mod few;
mod groups;
mod stream;

use crate::algebra::{Algebra, Numbers};
use crate::term::{Terms, Word};
pub use groups::Groups;
use std::rc::Rc;
pub use stream::Stream;

/// Eight bytes of a buffer at the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Any value: the proof covers all values. Always treated as secret.
    Input,
    /// Any value whose bits in `known` are those of `value`. Treated as secret.
    Partly {
        /// The bits that are known.
        known: u64,
        /// Their values.
        value: u64,
    },
    /// Any number below 2^bits. Treated as secret.
    Small(usize),
    /// Any number from 1 to 2^bits. Treated as secret.
    Count(usize),
    /// The number of elements of a buffer, from 2 to 2^bits + 1 ([`Contract::repeats`]).
    Many(usize),
    /// The number of elements of a call, any number from 1 on ([`Contract::in_groups`]).
    Elements,
    /// The address of a buffer.
    Address(&'static str),
    /// An address in a buffer, at this number of bytes from its start.
    Inside(&'static str, u64),
    /// A public number.
    Number(u64),
    /// A public number in one byte. It is the last cell of a variable, which ends with this byte.
    Byte(u8),
    /// The exclusive or of two earlier cells of this buffer.
    Xor([usize; 2]),
}

/// A function's rights on a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write; at the end, the content must be that of the specification.
    Write,
    /// Read and write; the content at the end does not matter. Example: an argument that Rust
    /// passes by reference to a copy.
    Scratch,
}

/// Memory that a caller passes to a function.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name in the contract.
    pub name: &'static str,
    /// Its contents at the entry.
    pub cells: Vec<Cell>,
    /// Its address is a multiple of this.
    pub alignment: u64,
    /// The operations on it.
    pub access: Access,
    /// The earlier buffer that is the same memory.
    pub same_as: Option<&'static str>,
    /// It is the program's variable of this name, as
    /// [`Symbol::is`](crate::image::Symbol::is) takes it.
    pub variable: Option<&'static str>,
}

/// An argument: the first six are in registers, the others on the stack.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The address of a buffer.
    Address(&'static str),
    /// A public number in the low byte, as Rust passes an enumeration without fields. The bits
    /// above have any value.
    Byte(u8),
    /// A public number.
    Number(u64),
    /// The content of a buffer's cell. The function gets the value; the buffer only describes it.
    Value(&'static str, usize),
    /// Twice the content of a buffer's only cell, which is below 2^63; plus one for an odd number.
    Twice(&'static str, Parity),
}

/// Whether a number is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Even.
    Even,
    /// Odd.
    Odd,
}

/// Cells of each buffer, in the order of declaration.
pub type Contents<W> = Vec<Vec<W>>;

/// Maps the content of all buffers at the entry to the content of the buffers with
/// [`Access::Write`] at the end.
type Function<A, W> = dyn Fn(&mut A, &Contents<W>) -> Contents<W>;

/// The required content of the buffers with [`Access::Write`] at the end, in the order of
/// declaration. The registers of a result follow, if there is one. The function's input is the
/// content of all buffers at the entry. It exists once on formulas and once on numbers;
/// [`formula!`](crate::formula) makes both from one text.
pub struct Formula {
    /// On formulas.
    pub symbolic: Box<Function<Terms, Word>>,
    /// On numbers.
    pub numeric: Box<Function<Numbers, u64>>,
}

/// `formula!(|algebra, contents| …)`: a [`Formula`] from an expression over any algebra.
#[macro_export]
macro_rules! formula {
    (|$algebra:ident, $contents:ident| $body:expr) => {
        $crate::contract::Formula {
            symbolic: Box::new(move |$algebra, $contents| $body),
            numeric: Box::new(move |$algebra, $contents| $body),
        }
    };
}

/// A specification of steps. Each step computes words from the words of the previous step: a loop
/// over the blocks of a message. The prover proves a function with such a loop one iteration after
/// the other, because the formulas of all iterations would be too many.
///
/// If the machine holds all words of the next step after a jump backwards, machine and
/// specification are *cut*: these words become new unknowns, everything else that depends on inputs
/// is forgotten (*havoc*), and the next iteration starts from there. The file `prove/cut.rs` has
/// the invariant and the proof of soundness.
///
/// # Example
///
/// A checksum of eight words: each word is added to the checksum, and the sum is rotated.
///
/// ```
/// use iced_x86::code_asm::{CodeAssembler, ecx, qword_ptr, rax, rdi, rsi};
/// use sealstone_prover::algebra::Algebra;
/// use sealstone_prover::contract::{Access, Contract, Stepwise};
/// use sealstone_prover::features::Processor;
/// use sealstone_prover::image::Image;
/// use sealstone_prover::prove::Session;
///
/// #[derive(Clone, Copy)]
/// struct Checksum;
///
/// impl Stepwise for Checksum {
///     fn steps(&self) -> usize {
///         8
///     }
///     // Each step reads one cell of the second buffer. The words are those of the first buffer.
///     fn step<A: Algebra<64>>(
///         &self,
///         a: &mut A,
///         _number: usize,
///         words: &[A::Word],
///         read: &[A::Word],
///     ) -> Vec<A::Word> {
///         let sum = a.add(&words[0], &read[0]);
///         vec![a.rotate_left(&sum, 7)]
///     }
/// }
///
/// // The same as machine code, in a loop that rotates by `turn`.
/// let function = |turn: u32| -> Result<Image, iced_x86::IcedError> {
///     let mut code = CodeAssembler::new(64)?;
///     let mut header = code.create_label();
///     code.mov(rax, qword_ptr(rdi))?;
///     code.mov(ecx, 8)?;
///     code.set_label(&mut header)?;
///     code.add(rax, qword_ptr(rsi))?;
///     code.rol(rax, turn)?;
///     code.add(rsi, 8)?;
///     code.dec(ecx)?;
///     code.jnz(header)?;
///     code.mov(qword_ptr(rdi), rax)?;
///     code.ret()?;
///     Ok(Image::of_code("checksum", &code.assemble(Image::BASE)?))
/// };
/// let contract = Contract::stepwise(Checksum)
///     .buffer("sum", 1, 8, Access::Write)
///     .buffer("words", 8, 8, Access::Read)
///     .addresses(["sum", "words"]);
/// let prove = |image: &Image| {
///     let processor = Processor::baseline();
///     Session::new().prove(image, &image.symbols()[0], &contract, &processor)
/// };
///
/// let finding = prove(&function(7)?);
/// assert!(finding.verdict.is_proof() && finding.cuts > 0);
/// // No state of this loop is coupled with the specification. A native run shows the wrong output.
/// let finding = prove(&function(8)?);
/// assert!(finding.verdict.to_string().starts_with("REFUTED"));
/// # Ok::<(), iced_x86::IcedError>(())
/// ```
pub trait Stepwise {
    /// How many steps there are, at least one.
    fn steps(&self) -> usize;
    /// The words before the first step. By default, the content of the first buffer.
    fn begin<A: Algebra<64>>(&self, _a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        contents[0].clone()
    }
    /// The index of a buffer in the contract, and its cells that step `number` reads. No other step
    /// reads them. By default, each step reads a cell of the second buffer.
    fn reads(&self, number: usize) -> (usize, Vec<usize>) {
        (1, vec![number])
    }
    /// The words after step `number`, from the words before it and the cells that it reads.
    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        number: usize,
        words: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word>;
    /// How many of the first words need not be in the machine. It may hold the
    /// [`auxiliary`](Stepwise::auxiliary) words instead.
    fn uncoupled(&self) -> usize {
        0
    }
    /// Auxiliary words. They follow from the words after `number` steps, and a function may hold
    /// them in addition or instead. Example: a function that counts bytes may hold the start of its
    /// counter, which is the count minus the bytes done.
    fn auxiliary<A: Algebra<64>>(
        &self,
        _a: &mut A,
        _number: usize,
        _words: &[A::Word],
    ) -> Vec<A::Word> {
        Vec::new()
    }
    /// The result of [`Formula`], from the words after the last step. By default, one buffer that
    /// holds these words.
    fn end<A: Algebra<64>>(&self, _a: &mut A, words: &[A::Word]) -> Contents<A::Word> {
        vec![words.to_vec()]
    }
}

type Begin = dyn Fn(&mut Terms, &Contents<Word>) -> Vec<Word>;
type Step = dyn Fn(&mut Terms, usize, &[Word], &[Word]) -> Vec<Word>;
type Auxiliary = dyn Fn(&mut Terms, usize, &[Word]) -> Vec<Word>;
type End = dyn Fn(&mut Terms, &[Word]) -> Contents<Word>;

/// [`Stepwise`] on formulas. A specification whose words do not have 64 bits sets the fields
/// itself.
pub struct Steps {
    /// [`Stepwise::steps`].
    pub count: usize,
    /// [`Stepwise::begin`].
    pub begin: Box<Begin>,
    /// [`Stepwise::reads`].
    pub reads: Box<dyn Fn(usize) -> (usize, Vec<usize>)>,
    /// [`Stepwise::step`].
    pub step: Box<Step>,
    /// [`Stepwise::uncoupled`].
    pub uncoupled: usize,
    /// [`Stepwise::auxiliary`].
    pub auxiliary: Box<Auxiliary>,
    /// [`Stepwise::end`].
    pub end: Box<End>,
}

impl Steps {
    /// The steps of a specification.
    pub fn new(spec: impl Stepwise + Copy + 'static) -> Self {
        Self {
            count: spec.steps(),
            begin: Box::new(move |a, contents| spec.begin(a, contents)),
            reads: Box::new(move |number| spec.reads(number)),
            step: Box::new(move |a, number, words, read| spec.step(a, number, words, read)),
            uncoupled: spec.uncoupled(),
            auxiliary: Box::new(move |a, number, words| spec.auxiliary(a, number, words)),
            end: Box::new(move |a, words| spec.end(a, words)),
        }
    }
}

fn all_steps<A: Algebra<64>>(
    spec: &impl Stepwise,
    a: &mut A,
    contents: &Contents<A::Word>,
) -> Contents<A::Word> {
    let mut words = spec.begin(a, contents);
    for number in 0..spec.steps() {
        let (buffer, cells) = spec.reads(number);
        words = spec.step(a, number, &words, &pick(&contents[buffer], &cells));
    }
    spec.end(a, &words)
}

/// Some cells of a buffer.
pub(crate) fn pick<W: Clone>(buffer: &[W], cells: &[usize]) -> Vec<W> {
    cells.iter().map(|cell| buffer[*cell].clone()).collect()
}

/// The assumptions that a function may make, and its guarantees.
pub struct Contract {
    /// The difference from other contracts of the function; may be empty.
    pub case: &'static str,
    /// Memory, at most 22 buffers, each aligned to at most 2^32 bytes.
    pub buffers: Vec<Buffer>,
    /// Arguments, at most 14.
    pub arguments: Vec<Argument>,
    /// The number of words that it returns in registers: none, one (rax) or two (rax and rdx).
    pub results: usize,
    /// Prefetching and division may depend on data, as in functions whose addresses depend on data
    /// by definition.
    pub by_data: bool,
    /// The function promises to leave no byte that depends on its input on the stack and in
    /// registers.
    pub wipes: bool,
    /// It may return while the upper halves of vector registers are in use. That costs time on some
    /// processors, and is allowed by the ABI.
    pub leaves_upper_halves: bool,
    /// The prover treats sums of 64 bits together with their carries, as integers. This is for
    /// arithmetic on wide numbers in pieces. The prover may no longer find other equal formulas
    /// equal.
    pub integers: bool,
    /// The caller's stack pointer modulo 32, which is 0 or 16 by the ABI. `None` means either. A
    /// function that aligns another register to its stack pointer needs a contract for each value.
    pub stack: Option<u64>,
    /// The specification.
    pub formula: Formula,
    /// The steps of the specification, if the proof goes step by step.
    pub steps: Option<Rc<Steps>>,
    /// The repeated part, if its number is arbitrary.
    pub repeats: Option<Repeats>,
    /// Data of any length.
    pub stream: Option<Rc<Stream>>,
    /// Elements of any number, group by group.
    pub groups: Option<Rc<Groups>>,
}

/// A buffer of at least two elements. The contract describes the first element and the cells before
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    /// The buffer.
    pub buffer: &'static str,
    /// A buffer of one cell, [`Cell::Many`]: their number.
    pub count: &'static str,
    /// The number of cells before the elements. [`Stepwise::begin`] and the function read them
    /// before the loop.
    pub before: usize,
}

impl Contract {
    /// A contract without buffers.
    pub fn new(formula: Formula) -> Self {
        Self {
            case: "",
            buffers: Vec::new(),
            arguments: Vec::new(),
            results: 0,
            by_data: false,
            wipes: false,
            leaves_upper_halves: false,
            integers: false,
            stack: None,
            formula,
            steps: None,
            repeats: None,
            stream: None,
            groups: None,
        }
    }

    /// A contract without buffers, that is proved step by step.
    pub fn stepwise(spec: impl Stepwise + Copy + 'static) -> Self {
        Self {
            steps: Some(Steps::new(spec).into()),
            ..Self::new(formula!(|a, contents| all_steps(&spec, a, contents)))
        }
    }

    /// The difference from other contracts of the function.
    pub fn case(self, case: &'static str) -> Self {
        Self { case, ..self }
    }

    /// A buffer of `cells` unknown cells.
    pub fn buffer(self, name: &'static str, cells: usize, alignment: u64, access: Access) -> Self {
        self.record(name, vec![Cell::Input; cells], alignment, access)
    }

    /// A buffer with cells of all kinds: a structure.
    pub fn record(
        mut self,
        name: &'static str,
        cells: Vec<Cell>,
        alignment: u64,
        access: Access,
    ) -> Self {
        self.buffers.push(Buffer {
            name,
            cells,
            alignment,
            access,
            same_as: None,
            variable: None,
        });
        self
    }

    /// The program's variable `symbol`, which the function reads. It has the same name in the
    /// contract.
    pub fn variable(mut self, symbol: &'static str, cells: Vec<Cell>) -> Self {
        self.buffers.push(Buffer {
            name: symbol,
            cells,
            alignment: 1,
            access: Access::Read,
            same_as: None,
            variable: Some(symbol),
        });
        self
    }

    /// Buffer `name` is the same memory as `other`, an earlier one: both are only read.
    pub fn with_same(mut self, case: &'static str, name: &str, other: &'static str) -> Self {
        let buffer = self.buffers.iter_mut().find(|buffer| buffer.name == name);
        buffer.expect("a declared buffer").same_as = Some(other);
        self.case = case;
        self
    }

    /// A buffer of elements of `cells` unknown cells, and the number of elements, at least 2,
    /// called `count`. Each element is a step of the specification.
    pub fn repeats(
        self,
        name: &'static str,
        (cells, alignment): (usize, u64),
        count: &'static str,
    ) -> Self {
        // All numbers of elements that fit into half of the address space.
        let bits = 63 - (8 * cells).ilog2() as usize;
        let contract = self.buffer(name, cells, alignment, Access::Read);
        let contract = contract.record(count, vec![Cell::Many(bits)], 8, Access::Read);
        let repeats = Some(Repeats {
            buffer: name,
            count,
            before: 0,
        });
        Self {
            repeats,
            ..contract
        }
    }

    /// The data of `stream`, at least `stream.least` units, in buffers with the alignment of bytes;
    /// and the number of units.
    ///
    /// # Panics
    /// If the loop that `stream` describes is impossible.
    pub fn stream(self, stream: Stream) -> Self {
        let possible = (1..=stream.longest()).contains(&stream.least)
            && (1..=stream.group).contains(&stream.needed);
        assert!(possible, "a loop of groups");
        let cells = (stream.longest() * stream.unit).div_ceil(8) as usize;
        let contract = self.buffer(stream.output, cells, 1, Access::Write);
        let contract = match stream.input == stream.output {
            true => contract,
            false => contract.buffer(stream.input, cells, 1, Access::Read),
        };
        let contract = contract.buffer(stream.count, 1, 8, Access::Read);
        Self {
            stream: Some(stream.into()),
            ..contract
        }
    }

    /// Puts this number of unknown cells before the elements of the repeated buffer.
    ///
    /// # Panics
    /// If no buffer repeats.
    pub fn after(mut self, cells: usize) -> Self {
        let repeats = self.repeats.as_mut().expect("a buffer that repeats");
        repeats.before = cells;
        let buffer = self.index(self.repeats.expect("just changed").buffer);
        let all = &mut self.buffers[buffer].cells;
        all.extend(vec![Cell::Input; cells]);
        self
    }

    /// The next arguments are the addresses of these buffers.
    pub fn addresses<const N: usize>(mut self, names: [&'static str; N]) -> Self {
        self.arguments.extend(names.map(Argument::Address));
        self
    }

    /// The next argument is this number, in one byte.
    pub fn byte(mut self, number: u8) -> Self {
        self.arguments.push(Argument::Byte(number));
        self
    }

    /// The next argument is this number.
    pub fn number(mut self, number: u64) -> Self {
        self.arguments.push(Argument::Number(number));
        self
    }

    /// The number of words that it returns in registers, at most two.
    pub fn returns(self, results: usize) -> Self {
        assert!(results <= 2, "rax and rdx");
        Self { results, ..self }
    }

    /// The next arguments are the contents of a buffer's cells.
    pub fn values(mut self, name: &'static str) -> Self {
        let cells = self.buffers[self.index(name)].cells.len();
        self.arguments
            .extend((0..cells).map(|cell| Argument::Value(name, cell)));
        self
    }

    /// The next argument is twice the content of a buffer's only cell, plus one for an odd number.
    pub fn twice(mut self, name: &'static str, parity: Parity) -> Self {
        self.arguments.push(Argument::Twice(name, parity));
        self
    }

    /// Prefetching and division may depend on data.
    pub fn by_data(self) -> Self {
        Self {
            by_data: true,
            ..self
        }
    }

    /// The function promises to leave no secret in registers or on the stack. A proof by induction
    /// cannot show that.
    pub fn wipes(self) -> Self {
        Self {
            wipes: true,
            ..self
        }
    }

    /// It may return without `vzeroupper`.
    pub fn leaves_upper_halves(self) -> Self {
        Self {
            leaves_upper_halves: true,
            ..self
        }
    }

    /// Sums are seen as integers.
    pub fn integers(self) -> Self {
        Self {
            integers: true,
            ..self
        }
    }

    /// The caller's stack pointer is this modulo 32: 0 or 16.
    pub fn stack(self, remainder: u64) -> Self {
        assert!(matches!(remainder, 0 | 16), "the ABI aligns the stack");
        Self {
            stack: Some(remainder),
            ..self
        }
    }

    /// Whether it covers any number of elements or data of any length. One run cannot prove that.
    pub fn is_by_induction(&self) -> bool {
        self.repeats.is_some() || self.stream.is_some() || self.groups.is_some()
    }

    /// The index of buffer `name` in the order of declaration.
    pub(crate) fn index(&self, name: &str) -> usize {
        let index = self.buffers.iter().position(|buffer| buffer.name == name);
        index.expect("a declared buffer")
    }
}
