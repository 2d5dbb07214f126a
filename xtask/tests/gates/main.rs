//! Each gate accepts a clean repository, and refuses every planted violation.

mod assurance;
mod dependencies;
mod features;
mod layers;
mod levels;
mod lints;
mod repository;
mod shell;
mod sizes;
mod skipped;
mod tree;
