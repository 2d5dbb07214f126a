//! Skein 1.3 and Threefish.
#![forbid(unsafe_code)]

mod output;
pub mod threefish;
pub mod tree;
mod tweak;
mod ubi;

pub use sealstone_lanes::Cpu;
pub use tweak::Type;
pub use ubi::Ubi;
