//! The tables of the design. A new crate, a place for `unsafe` or a module gets its row here, in
//! the same commit.

/// Lowest first. A crate may depend on crates of lower rows, never on its own row or a higher one.
pub(super) const LAYERS: &[(&str, &[&str])] = &[
    ("testing", &["crates/testing"]),
    ("proved", &["crates/proved"]),
    ("words", &["crates/lanes"]),
    ("kernels", &["crates/argon2", "crates/skein"]),
    ("primitives", &["crates/primitives"]),
    ("products", &["crates/sealstone", "crates/token"]),
    ("files", &["crates/files"]),
    ("terminal", &["crates/terminal"]),
    (
        "apps",
        &[
            "crates/capi",
            "crates/cli",
            "crates/server",
            "crates/work",
            "python",
        ],
    ),
    (
        "specimens",
        &["crates/proofs/kernels", "crates/token/constant-time"],
    ),
    ("engine", &["crates/prover"]),
    ("checks", &["crates/proofs", "bench", "fuzz", "xtask"]),
];

/// The places that may have `unsafe`, with its purpose: whole crates, or single files of a crate
/// that denies it elsewhere.
pub(super) const UNSAFE: &[(&str, &str)] = &[
    ("crates/lanes", "SIMD loads and intrinsics"),
    ("crates/capi", "pointers of C callers"),
    ("crates/primitives", "calls into aws-lc, locking memory"),
    (
        "crates/argon2/src/pages/linux.rs",
        "the huge-page allocation",
    ),
    (
        "crates/files/src/standard.rs",
        "looking at descriptors before Rust's runtime does",
    ),
    (
        "crates/work/src/exports.rs",
        "the names that WebAssembly exports",
    ),
    (
        "python/src/output.rs",
        "writing into a new object of Python without its lock",
    ),
    (
        "crates/prover/src/native/bench.rs",
        "running single instructions",
    ),
    (
        "crates/prover/src/native/caller.rs",
        "running proved code, and up to where a proof stops",
    ),
    (
        "crates/prover/src/native/mapping.rs",
        "machine code and buffers in memory",
    ),
];

/// Crates that others may have as a dev-dependency only.
pub(super) const TESTS_ONLY: &[&str] = &["crates/testing"];

/// The order of modules inside a crate, lowest first; a row may use lower rows only. `lib.rs`
/// stands above them all. A crate that is listed here lists every module.
pub(super) const MODULES: &[(&str, &[&[&str]])] = &[
    (
        "crates/sealstone",
        &[
            &["lifecycle"],
            &["error"],
            &["wire"],
            &["kdf", "kind", "sign"],
            &["passport"],
            &["file", "monitor", "statement", "timestamp", "trust"],
            &["agent", "archive", "package"],
            &["selftest"],
        ],
    ),
    (
        "crates/cli",
        &[
            &["hardening"],
            &["exit"],
            &["failure"],
            &["named"],
            &["io"],
            &["paths"],
            &["args"],
            &["context"],
            &["agent"],
            &["network", "usage"],
            &["passphrase"],
            &["identity"],
            &["trust"],
            &["key_lifecycle", "monitor"],
            &["commands"],
        ],
    ),
];

/// The row of a crate in [`LAYERS`].
pub(super) fn layer(place: &str) -> Option<usize> {
    LAYERS
        .iter()
        .position(|(_, places)| places.contains(&place))
}

/// The order of a crate's modules, if one is declared.
pub(super) fn order(place: &str) -> Option<&'static [&'static [&'static str]]> {
    MODULES
        .iter()
        .find(|(listed, _)| *listed == place)
        .map(|(_, rows)| *rows)
}
