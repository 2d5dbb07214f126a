//! The command `sealstone`.
#![forbid(unsafe_code)]

mod agent;
mod args;
mod commands;
mod context;
mod exit;
mod failure;
mod hardening;
mod identity;
mod io;
mod key_lifecycle;
mod monitor;
mod named;
mod network;
mod passphrase;
mod paths;
mod trust;
mod usage;

use std::process::ExitCode;

use args::Cli;
use context::Context;
use exit::Exit;
use failure::Failure;

/// Wipes freed memory: secrets pass through buffers of libraries that do not wipe them.
#[global_allocator]
static ALLOCATOR: zeroizing_alloc::ZeroAlloc<std::alloc::System> =
    zeroizing_alloc::ZeroAlloc(std::alloc::System);

fn main() -> ExitCode {
    hardening::apply();
    sealstone_terminal::signals::install();
    usage::report_panics();
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(e) => return usage::report(e),
    };
    let context = Context::new(&cli.global);
    let done = std::panic::catch_unwind(|| commands::run(cli.command, &context));
    sealstone_terminal::question::finish();
    match done.unwrap_or_else(|_| Err(Failure::silent(Exit::Internal))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => context.report(&failure),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use sealstone_testing::own_memory::read_at;

    fn at(address: usize) -> [u8; 2048] {
        let mut bytes = [0; 2048];
        read_at(address, &mut bytes);
        bytes
    }

    #[test]
    fn freed_memory_is_wiped() {
        let secret = std::hint::black_box(vec![0xa7_u8; 2048]);
        let address = secret.as_ptr() as usize;
        assert!(at(address).iter().all(|&byte| byte == 0xa7));
        drop(secret);
        // The allocator writes its own data at the beginning of freed memory.
        assert!(!at(address).contains(&0xa7));
    }
}
