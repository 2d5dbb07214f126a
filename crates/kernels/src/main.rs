//! A program with every kernel in it and little else: quick to build at any level of optimisation,
//! for `scripts/prove-levels`.
#![forbid(unsafe_code)]

fn main() {
    sealstone_kernels::call_every_kernel();
}
