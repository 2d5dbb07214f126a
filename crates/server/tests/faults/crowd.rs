//! Slow and broken clients under load: other clients lose no token and are served.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::load::{BATCH, Load};
use crate::victim::Process;

/// More connections than the service accepts at the same time.
const CROWD: usize = 100;
const LIMITS: &str = "[connections]\nmost = 64\nhead-seconds = 1\n[routes]\nseconds = 1";
/// A service that waits for all clients until it is full.
const PATIENT: &str = "[connections]\nmost = 32\nhead-seconds = 600\n[routes]\nseconds = 600";
/// The time limit for serving a new client, and for disconnecting a bad one.
const TIMEOUT: Duration = Duration::from_secs(20);

const HEAD: &str = "POST /v1/verify HTTP/1.1\r\nhost: a\r\n";

/// The behaviour of a bad client.
#[derive(Clone, Copy)]
enum Behaviour {
    /// Its head arrives byte by byte, and never ends.
    SlowHead,
    /// Its body arrives byte by byte.
    SlowBody,
    /// It connects, and sends nothing.
    Silent,
    /// It closes its side within a head, and waits.
    HalfClosed,
    /// It announces a body that exceeds every memory.
    Announced,
    /// It sends a body without end.
    Endless,
    /// It sends a token, and disconnects before the answer.
    Gone,
}

const BEHAVIOURS: [Behaviour; 7] = [
    Behaviour::SlowHead,
    Behaviour::SlowBody,
    Behaviour::Silent,
    Behaviour::HalfClosed,
    Behaviour::Announced,
    Behaviour::Endless,
    Behaviour::Gone,
];

impl Behaviour {
    /// The first bytes, and the bytes that follow repeatedly.
    fn sends(self, token: &str) -> (String, String) {
        let none = String::new();
        match self {
            Self::SlowHead => (format!("{HEAD}x: "), "x".to_owned()),
            Self::SlowBody => (
                format!("{HEAD}content-length: 60000\r\n\r\n"),
                "x".to_owned(),
            ),
            Self::Silent => (none.clone(), none),
            Self::HalfClosed => (format!("{HEAD}x: "), none),
            Self::Announced => (
                format!("{HEAD}connection: close\r\ncontent-length: 99999999999\r\n\r\n"),
                none,
            ),
            Self::Endless => (
                format!("{HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\n"),
                format!("1000\r\n{}\r\n", "x".repeat(4096)),
            ),
            Self::Gone => (
                format!("GET /verify HTTP/1.1\r\nhost: a\r\nauthorization: {token}\r\n\r\n"),
                none,
            ),
        }
    }

    /// Behaves like this until the service ends the connection. Returns whether it did.
    fn live(self, address: &str, token: &str, stop: &AtomicBool) -> bool {
        let mut stream = TcpStream::connect(address).expect("a connection");
        let pause = Some(Duration::from_millis(50));
        stream.set_read_timeout(pause).expect("a timeout");
        let (first, next) = self.sends(token);
        let mut is_open = stream.write_all(first.as_bytes()).is_ok();
        match self {
            Self::Gone => return true,
            Self::HalfClosed => drop(stream.shutdown(std::net::Shutdown::Write)),
            _ => {}
        }
        let until = Instant::now() + TIMEOUT;
        while is_open && Instant::now() < until && !stop.load(Ordering::Relaxed) {
            is_open = !is_ended(&mut stream) && stream.write_all(next.as_bytes()).is_ok();
        }
        !is_open
    }
}

/// Whether the other side has ended the connection. Waits briefly for it.
fn is_ended(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 4096]) {
        Ok(len) => len == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

/// Bad clients at the same time.
struct Crowd {
    clients: Vec<JoinHandle<bool>>,
    stop: Arc<AtomicBool>,
}

impl Crowd {
    fn start(address: &str, tokens: &[String]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = (0..CROWD).map(|number| {
            let behaviour = BEHAVIOURS[number % BEHAVIOURS.len()];
            let token = tokens[number / BEHAVIOURS.len()].clone();
            let (address, stop) = (address.to_owned(), stop.clone());
            std::thread::spawn(move || behaviour.live(&address, &token, &stop))
        });
        let clients = clients.collect();
        Self { clients, stop }
    }

    /// Waits until the service has disconnected all of them.
    fn end(self) -> Result<(), String> {
        let ended = self.clients.into_iter().map(|client| client.join());
        match ended
            .filter(|ended| !ended.as_ref().is_ok_and(|x| *x))
            .count()
        {
            0 => Ok(()),
            left => Err(format!("{left} bad clients were never cut off")),
        }
    }
}

/// Whether a new client is served in time.
fn is_served(url: &str) -> bool {
    let config = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT));
    let agent: ureq::Agent = config.build().into();
    agent.get(&format!("{url}/readyz")).call().is_ok()
}

/// Starts a number of crowds, one after the other, while good clients redeem. Returns the number of
/// accepted tokens.
fn campaign(limits: &str, crowds: usize) -> Result<usize, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (issuing, verifying, config) = (path("i"), path("v"), path("config.toml"));
    std::fs::write(&config, limits).expect("a file");
    let listen = ["--listen", "127.0.0.1:0"];
    let issuer = ["issuer", "--data", &issuing, "--gate", "none"];
    let issuer = Process::start(&[&issuer[..], &listen].concat());
    let verifier = ["verifier", "--data", &verifying, "--config", &config];
    let verifier = [&verifier[..], &listen, &["--issuer", issuer.url()]].concat();
    let verifier = Process::start(&verifier);
    let mut load = Load::new(&issuer, &verifier);
    for _ in 0..crowds {
        load.fetch();
        let running = load.start();
        running.wait_for(10);
        let crowd = Crowd::start(verifier.address(), &load.shown_and_left(BATCH / 4));
        let before = running.answered();
        if !is_served(verifier.url()) {
            crowd.stop.store(true, Ordering::Relaxed);
            return Err("a new client was not served".to_owned());
        }
        running.wait_for(before + 50);
        crowd.end()?;
        running.stop();
    }
    load.check()
}

#[test]
fn slow_and_broken_clients_cost_nobody_a_token() {
    let accepted = campaign(LIMITS, 2).expect("a right history");
    assert!(accepted > 100, "{accepted} tokens: the load is too small");
}

#[test]
#[ignore = "a campaign of some minutes: 50 crowds"]
fn fifty_crowds_of_slow_and_broken_clients() {
    let accepted = campaign(LIMITS, 50).expect("a right history");
    assert!(accepted > 1000, "{accepted} tokens: the load is too small");
    println!("50 crowds of {CROWD} bad clients, {accepted} tokens accepted once");
}

/// The campaign notices the planted fault. Such a service has no room for a new client, and it
/// keeps the bad ones. The campaign notices one of these first, depending on the moment.
#[test]
fn a_service_that_waits_for_everybody_is_caught() {
    let error = campaign(PATIENT, 1).expect_err("a service that is full");
    let expected = ["not served", "never cut off"];
    assert!(expected.iter().any(|what| error.contains(what)), "{error}");
}
