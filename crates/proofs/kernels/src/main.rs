//! A program with every kernel in it and little else: quick to build at any level of optimisation,
//! for `cargo xtask levels`.
#![forbid(unsafe_code)]

fn main() {
    sealstone_kernels::call_every_kernel();
}
