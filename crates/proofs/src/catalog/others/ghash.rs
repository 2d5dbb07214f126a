//! aws-lc's GHASH with PCLMULQDQ: the authentication of AES-256-GCM, without the functions that
//! encrypt and authenticate long data in one loop.
//!
//! A table has powers of H. The functions that read it are proved for any entries, which are
//! independent unknowns.

use super::{Set, row};
use crate::catalog::Kernel;
use crate::spec::ghash::{self, CELLS};
use sealstone_prover::algebra::{Algebra, Polynomials};
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract};
use sealstone_prover::formula;

/// All of them.
pub(super) fn rows() -> Vec<Kernel> {
    let rows = [with_sse(), with_avx(), with_avx_512()];
    rows.into_iter().flatten().collect()
}

/// For processors with PCLMULQDQ, but without AVX or MOVBE.
fn with_sse() -> [Kernel; 3] {
    let blocks: Vec<usize> = (1..=8).collect();
    [
        CLMUL.table(
            ["aws-lc gcm_init_clmul", "aws_lc_*gcm_init_clmul"],
            "SP 800-38D, 6.3: H to H⁴, each times x⁻¹",
        ),
        CLMUL.one_product(["aws-lc gcm_gmult_clmul", "aws_lc_*gcm_gmult_clmul"]),
        CLMUL.blocks(
            ["aws-lc gcm_ghash_clmul", "aws_lc_*gcm_ghash_clmul"],
            "sums of products of SP 800-38D, 6.3: with any entries of the table for the powers of \
             H, 4 blocks at once, then 2 and 1 of the rest, for 1 to 8 blocks",
            &blocks,
        ),
    ]
}

/// For processors with AVX and MOVBE.
fn with_avx() -> [Kernel; 3] {
    let blocks: Vec<usize> = (1..=9).chain([17]).collect();
    [
        AVX.table(
            ["aws-lc gcm_init_avx", "aws_lc_*gcm_init_avx"],
            "SP 800-38D, 6.3: H to H⁸, each times x⁻¹",
        ),
        AVX.one_product(["aws-lc gcm_gmult_avx", "aws_lc_*gcm_gmult_avx"]),
        AVX.blocks(
            ["aws-lc gcm_ghash_avx", "aws_lc_*gcm_ghash_avx"],
            "sums of products of SP 800-38D, 6.3: with any entries of the table for the powers of \
             H, 8 blocks at once, then all of the rest, for 1 to 9 and for 17 blocks",
            &blocks,
        ),
    ]
}

/// For processors with AVX-512 and VPCLMULQDQ.
fn with_avx_512() -> [Kernel; 3] {
    let blocks = [1, 2, 3, 4, 8, 12, 15, 16, 17];
    [
        AVX_512.table(
            ["aws-lc gcm_init_avx512", "aws_lc_*gcm_init_avx512"],
            "SP 800-38D, 6.3: H to H¹⁶, each times x⁻¹",
        ),
        AVX_512.one_product(["aws-lc gcm_gmult_avx512", "aws_lc_*gcm_gmult_avx512"]),
        AVX_512.blocks(
            ["aws-lc gcm_ghash_avx512", "aws_lc_*gcm_ghash_avx512"],
            "sums of products of SP 800-38D, 6.3: with any entries of the table for the powers of \
             H, 16 blocks at once, then all of the rest, for 1 to 4, 8, 12 and 15 to 17 blocks",
            &blocks,
        ),
    ]
}

/// The method of an instruction set.
struct Method {
    set: Set,
    family: &'static str,
    /// The two powers whose product is each power from the second on.
    factors: fn(usize) -> [usize; 2],
    /// The places of the powers, in entries of two cells; H is the first one.
    places: &'static [usize],
    /// For two powers, the place of an entry with the exclusive or of the cells of one, and of the
    /// other.
    sums: &'static [(usize, [usize; 2])],
    /// The number of blocks that are multiplied at once, of the remaining blocks.
    at_once: fn(usize) -> usize,
}

static CLMUL: Method = Method {
    set: Set::Clmul,
    family: "aws-lc GHASH with SSE",
    factors: one_more,
    places: &[0, 1, 3, 4],
    sums: &[(2, [0, 1]), (5, [3, 4])],
    at_once: |blocks| match blocks {
        0..=1 => 1,
        2..=3 => 2,
        _ => 4,
    },
};

/// The last sums are in reverse order.
static AVX: Method = Method {
    set: Set::AvxClmul,
    family: "aws-lc GHASH with AVX",
    factors: one_more,
    places: &[0, 1, 3, 4, 6, 7, 9, 10],
    sums: &[(2, [0, 1]), (5, [3, 4]), (8, [6, 7]), (11, [10, 9])],
    at_once: |blocks| blocks.min(8),
};

static AVX_512: Method = Method {
    set: Set::Avx512Clmul,
    family: "aws-lc GHASH with AVX-512",
    factors: of_a_power_of_two,
    places: &[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    sums: &[],
    at_once: |blocks| blocks.min(16),
};

fn one_more(power: usize) -> [usize; 2] {
    [power - 1, 1]
}

/// The largest power of two below it.
fn of_a_power_of_two(power: usize) -> [usize; 2] {
    let largest = power.next_power_of_two() / 2;
    [largest, power - largest]
}

impl Method {
    fn row(
        &self,
        names: [&'static str; 2],
        shows: &'static str,
        contracts: Vec<Contract>,
    ) -> Kernel {
        row(self.family, self.set, names, shows, contracts)
    }

    fn entries(&self) -> usize {
        self.places.len() + self.sums.len()
    }

    /// Any powers. The sums follow from them.
    fn with_table(&self, contract: Contract) -> Contract {
        let mut cells = vec![Cell::Input; CELLS * self.entries()];
        for (place, of) in self.sums {
            for (cell, entry) in of.iter().enumerate() {
                cells[CELLS * place + cell] = Cell::Xor([CELLS * entry, CELLS * entry + 1]);
            }
        }
        contract.record("table", cells, 8, Read)
    }

    fn table_of<A: Algebra<64>>(&self, a: &mut A, powers: &[Vec<A::Word>]) -> Vec<A::Word> {
        let mut entries = vec![vec![]; self.entries()];
        for (place, power) in self.places.iter().zip(powers) {
            entries[*place] = ghash::to_entry(a, power);
        }
        for (place, of) in self.sums {
            entries[*place] = of
                .iter()
                .map(|entry| a.xor(&entries[*entry][0], &entries[*entry][1]))
                .collect();
        }
        entries.concat()
    }

    fn powers_in<A: Algebra<64>>(&self, a: &mut A, table: &[A::Word]) -> Vec<Vec<A::Word>> {
        let places = self.places.iter();
        places
            .map(|place| ghash::of_entry(a, &table[CELLS * place..][..CELLS]))
            .collect()
    }

    fn hashed<A: Polynomials>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        let powers = self.powers_in(a, &contents[1]);
        let (mut y, mut blocks) = (contents[0].clone(), &contents[2][..]);
        while !blocks.is_empty() {
            let (now, later) = blocks.split_at(CELLS * (self.at_once)(blocks.len() / CELLS));
            y = ghash::at_once(a, &y, now, &powers);
            blocks = later;
        }
        y
    }
    /// The caller passes H as two numbers. The highest byte of each is the first one in the block.
    fn table(&'static self, names: [&'static str; 2], shows: &'static str) -> Kernel {
        let formula = formula!(|a, contents| vec![self.made_of(a, &contents[1])]);
        let contract = Contract::new(formula)
            .buffer("table", CELLS * self.entries(), 8, Write)
            .buffer("H", CELLS, 8, Read)
            .addresses(["table", "H"]);
        self.row(names, shows, vec![contract])
    }

    fn made_of<A: Polynomials>(&self, a: &mut A, h: &[A::Word]) -> Vec<A::Word> {
        let h: Vec<_> = h.iter().map(|word| a.swap_bytes(word)).collect();
        let powers = ghash::powers(a, &h, self.places.len(), self.factors);
        self.table_of(a, &powers)
    }

    fn one_product(&'static self, names: [&'static str; 2]) -> Kernel {
        let formula = formula!(|a, contents| {
            let h = &self.powers_in(a, &contents[1])[0];
            vec![ghash::product(a, &contents[0], h)]
        });
        let contract = self.with_table(Contract::new(formula).buffer("Y", CELLS, 1, Write));
        let contract = contract.addresses(["Y", "table"]);
        let shows = "SP 800-38D, 6.3: Y · H, with any entry of the table for H";
        self.row(names, shows, vec![contract])
    }

    fn blocks(
        &'static self,
        names: [&'static str; 2],
        shows: &'static str,
        counts: &[usize],
    ) -> Kernel {
        let contracts = counts.iter().map(|count| self.some_blocks(*count));
        self.row(names, shows, contracts.collect())
    }

    fn some_blocks(&'static self, count: usize) -> Contract {
        let formula = formula!(|a, contents| vec![self.hashed(a, contents)]);
        let contract = self.with_table(Contract::new(formula).buffer("Y", CELLS, 1, Write));
        contract
            .buffer("blocks", CELLS * count, 1, Read)
            .addresses(["Y", "table", "blocks"])
            .number(8 * (CELLS * count) as u64)
    }
}
