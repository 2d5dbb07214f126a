//! Functions of others that do the work of rows and are not proved, each with the reason.
//!
//! `make prove` compares this list with the programs, and ASSURANCE.md with this list.

use serde_json::{Value, json};

/// A library, with the names of its functions that do the work of rows or work beside it.
pub struct Family {
    /// The library.
    pub library: &'static str,
    /// Whether the command has it. If not, the prover's own program has it.
    pub shipped: bool,
    /// The names, without version numbers of the library. A star stands for any text.
    pub names: &'static [&'static str],
    /// Functions in C that have such names, call functions with them, and do none of their work. A
    /// compiler may inline them, so the program need not have them.
    pub callers: &'static [&'static str],
}

/// Code of others that is not proved.
#[derive(Clone, Copy)]
pub struct Unproved {
    /// The library.
    pub library: &'static str,
    /// The code.
    pub code: Code,
    /// The verdict, or that there is none.
    pub verdict: &'static str,
    /// The reason.
    pub why: &'static str,
}

/// How the list says which code it means.
#[derive(Clone, Copy)]
pub enum Code {
    /// Functions with these names, which the program has. A star stands for any text.
    Functions(&'static [&'static str]),
    /// Code without functions of its own: inlined into others, or in no program. The program has no
    /// function of the names.
    Nameless {
        /// The code, as the table calls it.
        what: &'static str,
        /// Names that its functions would have.
        absent: &'static [&'static str],
    },
}

impl Unproved {
    /// As JSON.
    pub fn json(&self) -> Value {
        let function = match &self.code {
            Code::Functions(names) if names[0].contains(self.library) => names.join(", "),
            Code::Functions(names) => format!("{} {}", self.library, names.join(", ")),
            Code::Nameless { what, .. } => format!("{}, {what}", self.library),
        };
        json!({ "function": function, "verdict": self.verdict, "why": self.why })
    }
}

/// All libraries.
pub const FAMILIES: &[Family] = &[
    Family {
        library: "aws-lc",
        shipped: true,
        names: &[
            "aes_gcm_decrypt*",
            "aes_gcm_encrypt*",
            "aes_hw_*",
            "aes_nohw_*",
            "aesni_*",
            "vpaes_*",
            "gcm_*",
            "ChaCha20_ctr32*",
            "CRYPTO_hchacha20",
            "chacha20_poly1305_*",
            "CRYPTO_poly1305_*",
            "poly1305_*",
            "poly_hash_*",
            "sha256_block_data_order*",
            "sha512_block_data_order*",
            "sha3_keccak*",
            "KeccakF1600*",
        ],
        callers: &[
            "aes_hw_encrypt_wrapper",
            "aes_hw_ctr32_encrypt_blocks_wrapper",
            "chacha20_poly1305_seal_scatter",
            "sha256_block_data_order",
            "KeccakF1600",
            "KeccakF1600_ExtractBytes",
            "KeccakF1600_XORBytes",
        ],
    },
    Family {
        library: "bitcoin_hashes",
        shipped: true,
        names: &["<bitcoin_hashes::*", "bitcoin_hashes::*"],
        callers: &[],
    },
    Family {
        library: "blake3",
        shipped: false,
        names: &["blake3_*", "blake3::portable::*"],
        callers: &[],
    },
    Family {
        library: "sha2",
        shipped: false,
        names: &[
            "sha2::sha256::compress*",
            "sha2::sha256::soft*",
            "sha2::sha256::x86*",
            "sha2::sha512::compress*",
            "sha2::sha512::soft*",
            "sha2::sha512::x86*",
        ],
        callers: &[],
    },
    Family {
        library: "chacha20",
        shipped: false,
        names: &["chacha20::backends::*"],
        callers: &[],
    },
    Family {
        library: "blake2",
        shipped: false,
        names: &["blake2::*"],
        callers: &[],
    },
];

/// Code that is not proved.
pub const UNPROVED: &[Unproved] = &[
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&[
            "aesni_gcm_encrypt",
            "aesni_gcm_decrypt",
            "aesni_ctr32_6x",
            "aesni_ctr32_ghash_6x",
        ]),
        verdict: "UNPROVED for 288 bytes (a test tries it)",
        why: "they compare the place of the round keys with the stack pointer, modulo 4096, and \
              branch on it: the prover would have to split the proof there. Behind it, one loop \
              encrypts 96 bytes a turn and authenticates those of an earlier turn; a contract by \
              induction has to describe both",
    },
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&[
            "aes_gcm_encrypt_avx512",
            "aes_gcm_decrypt_avx512",
            "gcm_setiv_avx512",
        ]),
        verdict: "not tried",
        why: "the same loop with AVX-512, and its start",
    },
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&["vpaes_*"]),
        verdict: "not tried",
        why: "key schedules, one block, counter mode, for processors with SSSE3 and without AES \
              instructions. The S-box is computed from tables of 16 entries; in the proofs it is \
              an uninterpreted operation, so its formulas would have to be compared first",
    },
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&["aes_nohw_*"]),
        verdict: "not tried",
        why: "for processors without SSSE3. The S-box is a circuit over bits of eight blocks; the \
              same",
    },
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&["gcm_*_ssse3", "gcm_*_nohw"]),
        verdict: "not tried",
        why: "for processors without PCLMULQDQ",
    },
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&["CRYPTO_poly1305_*", "poly1305_*"]),
        verdict: "not tried",
        why: "Poly1305 in C, for processors without SSE4.1",
    },
    Unproved {
        library: "aws-lc",
        code: Code::Functions(&[
            "aes_hw_decrypt",
            "aes_hw_set_decrypt_key",
            "aes_hw_cbc_encrypt",
            "aes_hw_ecb_encrypt",
            "aes_hw_xts_*",
            "aesni_decrypt*",
            "aesni_encrypt2",
            "aesni_encrypt3",
            "aesni_encrypt4",
            "aesni_encrypt6",
        ]),
        verdict: "not tried",
        why: "for modes of AES that this page does not claim",
    },
    Unproved {
        library: "bitcoin_hashes",
        code: Code::Functions(&[
            "<bitcoin_hashes::sha256::HashEngine as bitcoin_hashes::HashEngine>::input",
            "<bitcoin_hashes::sha256::Hash as bitcoin_hashes::Hash>::from_engine",
        ]),
        verdict: "not tried",
        why: "SHA-256 in Rust, only for the checksum in a passport's words. The compiler inlines \
              the compression into a loop that fills a buffer, so it is no function of its own. \
              The published vectors of BIP 39 test it",
    },
    Unproved {
        library: "blake3",
        code: Code::Functions(&["blake3_xof_many_avx512"]),
        verdict: "not tried",
        why: "many blocks of long output in one loop, for AVX-512: nothing here asks for it",
    },
    Unproved {
        library: "blake3",
        code: Code::Functions(&["blake3::portable::compress_in_place"]),
        verdict: "not tried",
        why: "Rust, of which the compiler has inlined the rest into its callers; the crate uses it \
              where no assembly is built",
    },
    Unproved {
        library: "blake2",
        code: Code::Nameless {
            what: "BLAKE2s",
            absent: &["blake2::Blake2s*"],
        },
        verdict: "not tried",
        why: "the command does not use it; the same generic code as BLAKE2b, with words of 32 bits",
    },
    Unproved {
        library: "sha2",
        code: Code::Nameless {
            what: "SHA-256 without SHA instructions, SHA-512 without AVX2",
            absent: &["sha2::sha256::soft*", "sha2::sha512::soft*"],
        },
        verdict: "UNPROVED for one block (a test tries SHA-256)",
        why: "the compiler inlines it into `compress256` and `compress512`, and forms sums in an \
              order of its own: the prover does not see that they are those of the specification. \
              No sample input tells them apart",
    },
    Unproved {
        library: "chacha20",
        code: Code::Nameless {
            what: "portable",
            absent: &["chacha20::backends::soft*"],
        },
        verdict: "no code",
        why: "no program for x86-64 contains it",
    },
];
