//! Hashes of files, one per line, as `sha512sum` writes them: the algorithms and their names, the
//! lines, and checking files against them.
//!
//! ```
//! use sealstone_skein::sums::{Algorithm, Arguments, ChecksumLine, Style};
//!
//! let algorithm = Algorithm::parse("Skein-256-160").unwrap();
//! let hash = algorithm.hash(&Arguments::default(), &b"content"[..], None, 1)?;
//! let style = Style { tag: true, zero: false };
//! let line = style.line(&algorithm, b"a name", &hash);
//! assert!(line.starts_with(b"Skein-256-160 (a name) = "));
//!
//! let line = ChecksumLine::parse(&line[..line.len() - 1], false).unwrap();
//! assert_eq!((line.algorithm, line.hash), (Some(algorithm), hash));
//! # Ok::<(), std::io::Error>(())
//! ```

mod algorithm;
mod line;
mod list;
mod message;

pub use algorithm::{ARGUMENTS, Algorithm, Arguments, MAX_OUTPUT_BITS, STANDARD, State, Uses};
pub use line::{ChecksumLine, Style, digits, result_line};
pub use list::{Count, Expected, Found, Lines, Refusal, Verdict};
pub use message::ReadAt;
