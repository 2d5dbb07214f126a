//! Packages: layers, signers, files, the worked example, golden packages, the second
//! implementation.

mod altered;
mod cases;
mod common;
mod files;
mod golden;
mod interop;
mod item;
mod layers;
mod manifests;
mod moved;
mod signers;
mod spec;
mod stamps;
mod tree;
