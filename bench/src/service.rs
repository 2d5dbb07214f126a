//! The token service over HTTP compared with the library alone, alternating, on one core. The load
//! comes from another core.
//!
//! usage: taskset -c 1 bench-service --server PATH [--rounds N] [--seconds N] [--redis]
#![forbid(unsafe_code)]

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sealstone_token::privacypass::directory::{Directory, WELL_KNOWN_PATH};
use sealstone_token::privacypass::{
    IssuerKey, IssuerPublicKey, Pending, Token, TokenChallenge, TokenType, header,
};

const TYPE: TokenType = TokenType::VoprfP256;
const BATCH: usize = 100;
/// The core of the service and of the library.
const CORE: &str = "0";
/// Connections for issuance, which is limited by the processor, and for redemption, which waits for
/// the disk.
const ISSUING: usize = 4;
const REDEEMING: usize = 256;
/// Connections of the measured latency.
const STEADY: usize = 64;
/// The promised least ratios: issuance, redemption in redb, in Redis.
const ISSUANCE: f64 = 0.70;
const EMBEDDED: f64 = 0.50;
const REDIS: f64 = 0.35;
/// The promised 99th percentile of redemptions at half of the highest rate, in milliseconds.
const LATENCY: f64 = 20.0;

const CONFIG: &str = "[issuer]\ngate = \"none\"\nverify = true\norigins = [\"bench\"]\n\
                      name = \"bench\"\n[keys]\ntypes = [0xff01]\n[admin]\nlisten = \"\"\n";

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, default: u64| {
        value(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let time = Duration::from_secs(number("--seconds", 3));
    if let Some(job) = value("--library") {
        println!("{}", library(&job, time));
        return;
    }
    let server = value("--server").expect("usage: bench-service --server PATH");
    let rounds = number("--rounds", 5);
    let directory = env::temp_dir().join(format!("bench-service-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let redis = arguments.iter().any(|argument| argument == "--redis");
    let redis = redis.then(|| Redis::start(&directory));
    let service = Service::start(&server, &directory, redis.as_ref());
    let is_reached = measure(&service, rounds, time, redis.is_some());
    drop((service, redis));
    std::fs::remove_dir_all(&directory).expect("a directory");
    std::process::exit(i32::from(!is_reached));
}

/// The service on its core, killed at the end.
struct Service {
    process: Child,
    address: String,
}

impl Service {
    fn start(program: &str, directory: &Path, redis: Option<&Redis>) -> Self {
        let config = directory.join("config.toml");
        let store = redis.map_or_else(String::new, |redis| redis.config(directory));
        std::fs::write(&config, format!("{CONFIG}{store}")).expect("a file");
        let mut process = Command::new("taskset")
            .args([
                "-c",
                CORE,
                program,
                "issuer",
                "--listen",
                "127.0.0.1:0",
                "--data",
            ])
            .arg(directory.join("data"))
            .arg("--config")
            .arg(config)
            .stdout(Stdio::piped())
            .spawn()
            .expect("taskset");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let (_, after) = line.split_once("http://").expect("a URL");
        let address = after.split('"').next().expect("a URL").to_owned();
        Self { process, address }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A server of Redis on the core of the load, killed at the end.
struct Redis {
    process: Child,
    port: u16,
}

impl Redis {
    fn start(directory: &Path) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let process = Command::new("redis-server")
            .args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
            ])
            .args(["--appendonly", "yes", "--appendfsync", "everysec", "--dir"])
            .arg(directory)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server: run scripts/setup services");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { process, port }
    }

    fn config(&self, directory: &Path) -> String {
        let passphrase = directory.join("passphrase");
        std::fs::write(&passphrase, "a passphrase for measuring").expect("a file");
        format!(
            "[store]\nkind = \"redis\"\nurls = [\"redis://127.0.0.1:{}\"]\n\
             durability = \"everysec\"\n[passport]\npassphrase-file = {passphrase:?}\n",
            self.port
        )
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A persistent connection.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn new(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, request: &[u8]) -> (u16, Vec<u8>) {
        self.0.get_mut().write_all(request).expect("room");
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        loop {
            line.clear();
            self.0.read_line(&mut line).expect("an answer");
            let text = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().expect("a status");
            } else if let Some(rest) = text.strip_prefix("content-length: ") {
                length = rest.parse().expect("a length");
            } else if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("a body");
        (status, body)
    }
}

fn get(path: &str, more: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: bench\r\n{more}\r\n").into_bytes()
}

fn post(body: &[u8]) -> Vec<u8> {
    let media_type = "application/private-token-amortized-batch-request";
    let head = format!(
        "POST /token-request HTTP/1.1\r\nhost: bench\r\ncontent-type: {media_type}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn challenge() -> TokenChallenge {
    TokenChallenge::new(TYPE, "bench", None, &["bench"]).expect("names")
}

fn key(address: &str) -> IssuerPublicKey {
    let (_, body) = Connection::new(address).ask(&get(WELL_KNOWN_PATH, ""));
    let directory = Directory::from_json(&String::from_utf8_lossy(&body)).expect("a directory");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    directory.key(TYPE, now).expect("a key").clone()
}

/// Requests a second over this number of connections. No request may be refused.
fn rate(
    address: &str,
    connections: usize,
    time: Duration,
    next: impl Fn() -> Option<Vec<u8>> + Sync,
) -> f64 {
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(|| {
                let mut connection = Connection::new(address);
                while !stop.load(Ordering::Relaxed) {
                    let Some(request) = next() else { break };
                    assert_eq!(connection.ask(&request).0, 200);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
    });
    done.into_inner() as f64 / begun.elapsed().as_secs_f64()
}

/// The 99th percentile of the latency in milliseconds, at a steady rate. The delay of a request
/// that waits for the previous one counts.
fn latency(address: &str, rate: f64, requests: Vec<Vec<u8>>) -> f64 {
    let each = Duration::from_secs_f64(STEADY as f64 / rate);
    let shares: Vec<Vec<Vec<u8>>> = (0..STEADY)
        .map(|first| {
            requests
                .iter()
                .skip(first)
                .step_by(STEADY)
                .cloned()
                .collect()
        })
        .collect();
    let begin = Instant::now() + Duration::from_millis(200);
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = shares
            .iter()
            .enumerate()
            .map(|(number, share)| {
                scope.spawn(move || {
                    let mut connection = Connection::new(address);
                    let mut due = begin + each.mul_f64(number as f64 / STEADY as f64);
                    let mut times = Vec::with_capacity(share.len());
                    for request in share {
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        assert_eq!(connection.ask(request).0, 200);
                        times.push(due.elapsed().as_secs_f64() * 1e3);
                        due += each;
                    }
                    times
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread"))
            .collect()
    });
    times.sort_by(f64::total_cmp);
    times[times.len() * 99 / 100]
}

/// Requests that redeem new tokens.
fn redemptions(address: &str, count: usize) -> Vec<Vec<u8>> {
    let (key, challenge, mut connection) = (key(address), challenge(), Connection::new(address));
    let mut requests = Vec::with_capacity(count);
    while requests.len() < count {
        let (pending, request) = Pending::batch(&key, &challenge, BATCH).expect("a request");
        let (_, response) = connection.ask(&post(&request));
        for token in pending.finalize(&response).expect("tokens") {
            let value = format!("authorization: {}\r\n", header::authorization(&token));
            requests.push(get("/verify", &value));
        }
    }
    requests
}

/// The rate per second of the library alone, on the service's core.
fn library(job: &str, time: Duration) -> f64 {
    let key = IssuerKey::generate(TYPE).expect("a key");
    let (pending, request) =
        Pending::batch(&key.public_key(), &challenge(), BATCH).expect("a request");
    let response = key.issue_batch(&request, BATCH).expect("a response");
    let token = pending
        .finalize(&response)
        .expect("tokens")
        .remove(0)
        .encode();
    let (begun, mut done) = (Instant::now(), 0_u32);
    while begun.elapsed() < time {
        match job {
            "issue" => drop(key.issue_batch(&request, BATCH).expect("a response")),
            _ => {
                let token = Token::decode(&token).expect("a token");
                key.verify(&token).expect("a good token");
                std::hint::black_box(token.nullifier());
            }
        }
        done += 1;
    }
    f64::from(done) / begun.elapsed().as_secs_f64()
}

fn alone(job: &str, time: Duration) -> f64 {
    let program = env::current_exe().expect("this program");
    let seconds = time.as_secs().to_string();
    let done = Command::new("taskset")
        .args(["-c", CORE])
        .arg(program)
        .args(["--library", job, "--seconds", &seconds])
        .output()
        .expect("taskset");
    String::from_utf8_lossy(&done.stdout)
        .trim()
        .parse()
        .expect("a rate")
}

/// Prints the rates and ratios. Returns whether all bars are reached.
fn measure(service: &Service, rounds: u64, time: Duration, is_redis: bool) -> bool {
    let address = &service.address;
    let request = post(
        &Pending::batch(&key(address), &challenge(), BATCH)
            .expect("a request")
            .1,
    );
    let mut rows: [Vec<f64>; 5] = Default::default();
    let mut spare = Vec::new();
    for _ in 0..rounds {
        let wanted = 15_000 * time.as_secs() as usize;
        let missing = wanted.saturating_sub(spare.len());
        spare.extend(redemptions(address, missing));
        let left = Mutex::new(std::mem::take(&mut spare));
        let batches = BATCH as f64;
        rows[0].push(batches * alone("issue", time));
        rows[1].push(batches * rate(address, ISSUING, time, || Some(request.clone())));
        rows[2].push(alone("check", time));
        rows[3].push(rate(address, REDEEMING, time, || Some(get("/healthz", ""))));
        rows[4].push(rate(address, REDEEMING, time, || {
            left.lock().expect("requests").pop()
        }));
        spare = left.into_inner().expect("requests");
    }
    let names = [
        "library: issue, batches of 100 (tokens/s)",
        "service: issue, batches of 100 (tokens/s)",
        "library: check one token (tokens/s)",
        "service: an empty route (requests/s)",
        match is_redis {
            true => "service: redeem one token, Redis with everysec (tokens/s)",
            false => "service: redeem one token, redb, synced (tokens/s)",
        },
    ];
    let medians = rows.map(|mut row| {
        row.sort_by(f64::total_cmp);
        row[row.len() / 2]
    });
    println!("| on one core, P-256 | median of {rounds} |\n|---|---|");
    for (name, median) in names.iter().zip(medians) {
        println!("| {name} | {median:.0} |");
    }
    let possible = 1.0 / (1.0 / medians[2] + 1.0 / medians[3]);
    let ratios = [medians[1] / medians[0], medians[4] / possible];
    println!(
        "\n| the service's rate as a part of what is possible | ratio | bar | |\n|---|---|---|---|"
    );
    let redemption = if is_redis { REDIS } else { EMBEDDED };
    let bars = [("issuance", ISSUANCE), ("redemption", redemption)];
    let mut is_reached = true;
    for ((name, bar), ratio) in bars.iter().zip(ratios) {
        let verdict = verdict(ratio >= *bar);
        is_reached &= ratio >= *bar;
        println!("| {name} | {ratio:.2} | {bar:.2} | {verdict} |");
    }
    let half = medians[4] / 2.0;
    let count = (half * time.as_secs_f64()) as usize;
    let p99 = latency(address, half, redemptions(address, count));
    let is_quick = p99 < LATENCY;
    println!(
        "\n99 in 100 redemptions at {half:.0}/s take at most {p99:.1} ms: {} (bar: {LATENCY} ms)",
        verdict(is_quick)
    );
    is_reached && is_quick
}

fn verdict(is_reached: bool) -> &'static str {
    match is_reached {
        true => "reached",
        false => "**missed**",
    }
}
