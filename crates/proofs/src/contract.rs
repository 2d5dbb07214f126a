//! What a kernel is given, what it must give, and what it may do.

use crate::spec::Numbers;
use crate::term::{Terms, Word};

/// Eight bytes of a buffer at the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Anything: the proof is for all values. Always treated as secret.
    Input,
    /// A number from 1 to 2^bits, each of which is possible. Treated as secret.
    Count(usize),
    /// The address of a buffer.
    Address(&'static str),
}

/// What a kernel may do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write; at the end it must hold what the specification says.
    Write,
    /// Read and write; what it holds at the end does not matter. (An argument that Rust passes by reference to a copy.)
    Scratch,
}

/// Memory that a kernel is given.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name in the contract.
    pub name: &'static str,
    /// Its contents at the entry.
    pub cells: Vec<Cell>,
    /// Its address is a multiple of this.
    pub alignment: u64,
    /// What may be done with it.
    pub access: Access,
    /// It is the same memory as this earlier buffer.
    pub same_as: Option<&'static str>,
}

/// An argument in a register.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The address of a buffer.
    Address(&'static str),
    /// A public number in the low byte, as an enumeration without fields is passed. The bits above are anything.
    Byte(u8),
    /// What a cell of a buffer holds: the buffer only says what it is, the kernel gets the value.
    Value(&'static str, usize),
}

/// Cells of each buffer, in the order of declaration.
pub type Contents<W> = Vec<Vec<W>>;

/// From what all buffers held at the entry, what those with [`Access::Write`] hold at the end.
type Function<A, W> = dyn Fn(&mut A, &Contents<W>) -> Contents<W>;

/// What the buffers with [`Access::Write`] must hold at the end, in the order of declaration, and then what the kernel returns in
/// registers if it does, from what all buffers held at the entry; once as formulas and once as numbers. [`formula!`](crate::formula) makes both from one text.
pub struct Formula {
    /// On formulas.
    pub symbolic: Box<Function<Terms, Word>>,
    /// On numbers.
    pub numeric: Box<Function<Numbers, u64>>,
}

/// `formula!(|algebra, contents| …)`: a [`Formula`] from an expression that is good for any algebra.
#[macro_export]
macro_rules! formula {
    (|$algebra:ident, $contents:ident| $body:expr) => {
        $crate::contract::Formula {
            symbolic: Box::new(move |$algebra, $contents| $body),
            numeric: Box::new(move |$algebra, $contents| $body),
        }
    };
}

/// All that is promised to a kernel, and by it.
pub struct Contract {
    /// What distinguishes it from other contracts of the kernel; may be empty.
    pub case: &'static str,
    /// Memory.
    pub buffers: Vec<Buffer>,
    /// Arguments in registers.
    pub arguments: Vec<Argument>,
    /// How many words it returns in registers: none, one (rax) or two (rax and rdx).
    pub results: usize,
    /// Data may decide about prefetching and division: Argon2d's addressing, by definition.
    pub by_data: bool,
    /// The kernel promises to leave no byte that depends on its input on the stack and in registers.
    pub wipes: bool,
    /// What it computes.
    pub formula: Formula,
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
            formula,
        }
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

    /// It returns so many words, at most two, in registers.
    pub fn returns(self, results: usize) -> Self {
        assert!(results <= 2, "rax and rdx");
        Self { results, ..self }
    }

    /// The next arguments are what the cells of a buffer hold.
    pub fn values(mut self, name: &'static str) -> Self {
        let cells = self.buffers[self.index(name)].cells.len();
        self.arguments
            .extend((0..cells).map(|cell| Argument::Value(name, cell)));
        self
    }

    /// Data may decide about prefetching and division.
    pub fn by_data(self) -> Self {
        Self {
            by_data: true,
            ..self
        }
    }

    /// The kernel promises to leave nothing behind.
    pub fn wipes(self) -> Self {
        Self {
            wipes: true,
            ..self
        }
    }

    /// Where buffer `name` is in the order of declaration.
    pub(crate) fn index(&self, name: &str) -> usize {
        let index = self.buffers.iter().position(|buffer| buffer.name == name);
        index.expect("a declared buffer")
    }
}
