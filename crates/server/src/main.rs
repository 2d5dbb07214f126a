//! The command `sealstone-server`.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use sealstone_server::args::{Cli, Command, ServiceArgs, TokenArgs};
use sealstone_server::client::{self, Client};
use sealstone_server::clock::Clock;
use sealstone_server::config::{self, Config};
use sealstone_server::http::Stop;
use sealstone_server::{Error, Result, admin, moving, service, telemetry};
use sealstone_token::privacypass::header;

/// Wipes freed memory: secrets pass through buffers of libraries that do not wipe them.
#[global_allocator]
static ALLOCATOR: zeroizing_alloc::ZeroAlloc<std::alloc::System> =
    zeroizing_alloc::ZeroAlloc(std::alloc::System);

fn main() -> ExitCode {
    keep_memory_private();
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sealstone-server: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Keeps memory out of core dumps, as far as the system can.
fn keep_memory_private() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Issuer(args) => {
            let mut config = configured(&args.service)?;
            config.issuer.gate = args.gate.unwrap_or(config.issuer.gate);
            serve(&config, "issuer", service::issuer)
        }
        Command::Verifier(args) => {
            let mut config = configured(&args.service)?;
            config.verifier.issuer = args.issuer.or(config.verifier.issuer);
            config.verifier.fingerprint = args.fingerprint.or(config.verifier.fingerprint);
            config.fingerprint()?;
            serve(&config, "verifier", service::verifier)
        }
        Command::CheckConfig { file } => {
            let config = Config::read(Some(&file))?;
            config.check_gates()?;
            config.check_files()?;
            print(&format!("{}: good", file.display()))
        }
        Command::Config => print(config::DOCUMENTED.trim_end()),
        Command::Migrate(args) => print(&waited(moving::migrate(&args))?),
        Command::Backup(args) => print(&waited(moving::backup(&args))?),
        Command::Restore(args) => print(&waited(moving::restore(&args))?),
        Command::Token(args) => token(&args),
        Command::Admin(args) => print(&admin::command::run(&args)?),
        Command::Audit(command) => print(&admin::command::audit(&command)?),
    }
}

/// Does one thing, and returns what to print.
fn waited(work: impl Future<Output = Result<serde_json::Value>>) -> Result<String> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|e| Error::io("the runtime".as_ref(), e))?;
    runtime.block_on(work).map(|value| value.to_string())
}

fn configured(args: &ServiceArgs) -> Result<Config> {
    let mut config = Config::read(args.config.as_deref())?;
    config.data = args.data.clone().or(config.data);
    config.listen = args.listen.clone().unwrap_or(config.listen);
    Ok(config)
}

fn serve(
    config: &Config,
    role: &'static str,
    service: impl AsyncFnOnce(&Config, &Stop) -> Result<()>,
) -> Result<()> {
    log_to_standard_error(config)?;
    // At the end of this function, the last spans are sent.
    let _telemetry = telemetry::start(&config.telemetry, role)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|e| Error::io("the runtime".as_ref(), e))?;
    let done = runtime.block_on(async {
        let stop = Stop::default();
        stop.on_signals()?;
        service(config, &stop).await
    });
    // Work that nobody waits for any more does not delay the end.
    runtime.shutdown_background();
    done
}

fn log_to_standard_error(config: &Config) -> Result<()> {
    let level: tracing::Level = config.log.level.parse().map_err(|_| {
        Error::Config("log: the level is error, warn, info, debug or trace".to_owned())
    })?;
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr);
    match config.log.json {
        true => lines.json().init(),
        false => lines.with_ansi(false).init(),
    }
    Ok(())
}

fn token(args: &TokenArgs) -> Result<()> {
    let tls = |issuer: &str| Client::with_tls(issuer, args.ca_file.as_deref());
    let offer = tls("")?.challenge(&args.origin)?;
    let name = offer.challenge.issuer_name();
    let issuer = args
        .issuer
        .clone()
        .unwrap_or_else(|| format!("https://{name}"));
    let asking = args
        .proofs
        .iter()
        .fold(tls(&issuer)?, |asking, proof| asking.with_proof(proof));
    let host = args.host.as_deref();
    let host = host.unwrap_or_else(|| client::host(&args.origin));
    let token = asking.token_for(&offer, host, Clock::system().now())?;
    print(&header::authorization(&token))
}

fn print(text: &str) -> Result<()> {
    let written = writeln!(std::io::stdout(), "{text}");
    written.map_err(|e| Error::io("standard output".as_ref(), e))
}
