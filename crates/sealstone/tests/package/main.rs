//! Packages: each layer, signers, files.

mod common;
mod files;
mod layers;
mod signers;
