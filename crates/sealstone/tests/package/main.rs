//! Packages: each layer, signers, files.

mod cases;
mod common;
mod files;
mod golden;
mod interop;
mod layers;
mod manifests;
mod signers;
mod spec;
mod tree;
