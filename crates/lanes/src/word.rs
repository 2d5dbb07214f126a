//! Operations of kernels on words.

/// A 64-bit word, or several side by side that all do the same. Arithmetic is modulo 2^64.
pub trait Word: Copy {
    /// The token that is needed to make a word: proof that the CPU has the instructions.
    type Cpu: Copy;

    /// The public constant `x`, in every lane.
    fn splat(cpu: Self::Cpu, x: u64) -> Self;
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self ⊕ other`.
    fn xor(self, other: Self) -> Self;
    /// The product of the low halves: `(self mod 2^32) · (other mod 2^32)`.
    fn mul_lo32(self, other: Self) -> Self;
    /// `self` rotated left by `R` bits, 0 < R < 64.
    fn rotl<const R: u32>(self) -> Self;
    /// `self` rotated right by `R` bits, 0 < R < 64.
    fn rotr<const R: u32>(self) -> Self;

    /// The same value. In a scalar, the optimiser knows nothing about it. It costs no instruction.
    /// Without it, LLVM makes long chains of additions and rotations slower. It packs the words of
    /// one block into vectors, whose shuffles cost several times what the packing saves. It also
    /// moves constants from sum to sum across rounds, which doubles the number of additions. An
    /// opaque value every few rounds prevents both.
    #[inline(always)]
    fn opaque(self) -> Self {
        self
    }
}

/// One word, and the bytes it is made of.
pub trait Scalar: Word {
    /// `u8`, or a symbolic byte.
    type Byte: Copy;

    /// The public constant `x`.
    fn byte(cpu: Self::Cpu, x: u8) -> Self::Byte;
    /// The word whose little-endian bytes these are.
    fn from_le_bytes(bytes: [Self::Byte; 8]) -> Self;
    /// The little-endian bytes of this word.
    fn to_le_bytes(self) -> [Self::Byte; 8];
    /// `byte` with its `bits` most significant bits kept, the next one set and the others cleared,
    /// 0 < bits < 8.
    fn pad(byte: Self::Byte, bits: u32) -> Self::Byte;
    /// `byte` with its `bits` most significant bits kept and the others cleared, 0 < bits < 8.
    fn keep(byte: Self::Byte, bits: u32) -> Self::Byte;
    /// `a ⊕ b`.
    fn xor_bytes(a: Self::Byte, b: Self::Byte) -> Self::Byte;
}

/// `N` words side by side.
pub trait Vector<const N: usize>: Word {
    /// One of the words.
    type Lane: Scalar;

    /// Lane `i` is `words[i]`.
    fn load(cpu: Self::Cpu, words: &[Self::Lane; N]) -> Self;
    /// The inverse of [`Vector::load`].
    fn to_array(self) -> [Self::Lane; N];
}

/// `N` independent streams that advance in step, one in every lane.
pub trait Lanes<const N: usize>: Vector<N> {
    /// Reads one 64-byte block for every lane: lane `i` of word `j` is the `j`-th little-endian
    /// word of `blocks[i]`.
    fn load_blocks(cpu: Self::Cpu, blocks: [&[<Self::Lane as Scalar>::Byte; 64]; N]) -> [Self; 8];
    /// The inverse of [`Lanes::load_blocks`].
    fn to_blocks(words: [Self; 8]) -> [[<Self::Lane as Scalar>::Byte; 64]; N];
}

/// A row of a matrix of words, four columns wide, as BLAKE2b works on.
pub trait Row: Vector<4> {
    /// Sixteen words, in the form in which [`Row::pick`] is fastest.
    type Table: Copy;

    /// The row rotated left by `K` words: word `i` is what word `(i + K) mod 4` was, 0 < K < 4.
    fn turn<const K: usize>(self) -> Self;
    /// The table of `words`.
    fn table(cpu: Self::Cpu, words: &[Self::Lane; 16]) -> Self::Table;
    /// The words of these numbers, which are constants below 16.
    fn pick(table: &Self::Table, numbers: [usize; 4]) -> Self;
}

/// A computation on the four words of a column.
pub trait Column {
    /// The column afterwards.
    fn run<W: Word>(column: [W; 4]) -> [W; 4];
}

/// Two rows of four words, which Argon2 works on, in one of two orders. Without `ALTERNATING`, one
/// row follows the other. With it, halves alternate: the first half of the first row, the first
/// half of the second row, then the second halves.
pub trait RowPair: Vector<8> {
    /// How many matrices of four row pairs a kernel should advance in step to keep the CPU busy:
    /// 1, 2 or 4. Four advance operation by operation. Two, which do not fit into sixteen registers
    /// together, advance in turn, half a round each.
    const IN_STEP: usize;

    /// Both rows rotated left, as [`Row::turn`].
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self;
    /// `C` on every column of `N` pairs of 4 × 4 matrices.
    #[inline(always)]
    fn columns<C: Column, const N: usize>(rows: [[Self; N]; 4]) -> [[Self; N]; 4] {
        if Self::IN_STEP == 4 {
            return C::run(rows);
        }
        let [mut a, mut b, mut c, mut d] = rows;
        for i in 0..N {
            [a[i], b[i], c[i], d[i]] = C::run([a[i], b[i], c[i], d[i]]);
        }
        [a, b, c, d]
    }
    /// `C` on every column, then on every diagonal, of `N` pairs of 4 × 4 matrices. Each of the
    /// four row pairs has one row of both matrices.
    #[inline(always)]
    fn columns_then_diagonals<C: Column, const ALTERNATING: bool, const N: usize>(
        rows: [[Self; N]; 4],
    ) -> [[Self; N]; 4] {
        let [a, b, c, d] = Self::columns::<C, N>(rows);
        // Diagonals become columns. Row b, which `C` is likely to compute last, does not move.
        let (a, c, d) = (
            a.map(Self::turn::<3, ALTERNATING>),
            c.map(Self::turn::<1, ALTERNATING>),
            d.map(Self::turn::<2, ALTERNATING>),
        );
        let [a, b, c, d] = Self::columns::<C, N>([a, b, c, d]);
        [
            a.map(Self::turn::<1, ALTERNATING>),
            b,
            c.map(Self::turn::<3, ALTERNATING>),
            d.map(Self::turn::<2, ALTERNATING>),
        ]
    }
}

/// A word that may address memory, because it is public or because the algorithm requires it
/// (Argon2d). Kernels that must not address memory by words are generic over [`Word`], which
/// cannot.
pub trait Index: Scalar {
    /// `bool`, or a symbolic one.
    type Truth: Copy;

    /// `self` divided by 2^R, rounded down, 0 < R < 64.
    fn shift_right<const R: u32>(self) -> Self;
    /// `self` modulo `divisor`; both are less than 2^32, and the divisor is not zero.
    fn remainder(self, divisor: Self) -> Self;
    /// Whether `self < other`.
    fn is_below(self, other: Self) -> Self::Truth;
    /// Whether `self = other`.
    fn is_equal(self, other: Self) -> Self::Truth;
    /// `yes` if `truth`, else `no`.
    fn select(truth: Self::Truth, yes: Self, no: Self) -> Self;
}
