//! Spans reach a collector and identify no client. A failing collector does not affect the service.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};
use prost::Message;
use sealstone_server::client::Client;
use sealstone_testing::servers::{Redis, free_port, wait_until};
use sealstone_token::privacypass::header;

use crate::gates::{ask, request, solved};
use crate::world::{Service, World, get, now};

/// The behaviour of a collector.
#[derive(Clone, Copy)]
enum Behaviour {
    Takes,
    /// An invalid status and body.
    Breaks,
    /// No answer.
    Hangs,
}

/// A collector that keeps the bodies of all messages.
struct Collector {
    address: String,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Collector {
    fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let bodies = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let kept = bodies.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, kept) = (stream.expect("a connection"), kept.clone());
                std::thread::spawn(move || answer(stream, behaviour, &kept));
            }
        });
        Self { address, bodies }
    }

    fn spans(&self) -> Vec<Span> {
        let bodies = self.bodies.lock().expect("bodies");
        let read = |body: &Vec<u8>| {
            ExportTraceServiceRequest::decode(body.as_slice()).expect("a message of OTLP")
        };
        let resources = bodies.iter().flat_map(|body| read(body).resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

/// Answers the messages of one connection.
fn answer(stream: TcpStream, behaviour: Behaviour, kept: &Mutex<Vec<Vec<u8>>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut stream = stream;
    loop {
        let (mut line, mut head, mut length) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            head.push_str(&std::mem::take(&mut line));
        }
        if head.is_empty() {
            return;
        }
        assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
        let media_type = "content-type: application/x-protobuf\r\n";
        assert!(head.to_ascii_lowercase().contains(media_type), "{head}");
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        kept.lock().expect("bodies").push(body);
        let said: &[u8] = match behaviour {
            Behaviour::Takes => b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            Behaviour::Breaks => b"HTTP/1.1 500 No\r\ncontent-length: 3\r\n\r\n\xff\xff\xff",
            Behaviour::Hangs => continue,
        };
        if stream.write_all(said).is_err() {
            return;
        }
    }
}

fn config(collector: &str, more: &str) -> String {
    format!(
        "proxies = [\"127.0.0.1\"]\n[telemetry]\notlp = \"http://{collector}\"\n{more}\n\
         [issuer]\ngate = \"both\"\nverify = true\n[gates.both]\nkind = \"any\"\nof = [\"work\"]\n\
         [gates.work]\nkind = \"pow\"\nalgorithm = \"sha256\"\nbits = 4\n"
    )
}

/// Texts of clients that must not be disclosed.
const OF_CLIENTS: [&str; 6] = [
    "203.0.113.77",
    "visitors-own-browser",
    "a-secret-path",
    "a-secret-query",
    "4bf92f3577b34da6a3ce929d0e0e4736",
    "PURGE",
];

/// Sends a request with texts that must not be disclosed.
fn visit(method: &str, url: &str, authorization: &str) -> u16 {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true);
    let agent: ureq::Agent = config.build().into();
    let [address, browser, _, _, trace, _] = OF_CLIENTS;
    let asked = axum::http::Request::builder()
        .method(method)
        .uri(url)
        .header("authorization", authorization)
        .header("x-forwarded-for", address)
        .header("user-agent", browser)
        .header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"));
    let asked = asked.body(()).expect("a request");
    agent.run(asked).expect("an answer").status().as_u16()
}

/// Gets a token by work and presents it in several ways. Returns its secrets.
fn life_of_a_token(issuer: &Service) -> Vec<Vec<u8>> {
    let url = issuer.url();
    let asked = request(issuer);
    let proof = solved(issuer, "work", &asked);
    assert_eq!(
        ask(issuer, &asked, std::slice::from_ref(&proof)).status,
        200
    );
    let client = Client::new(url);
    let offer = client.challenge(&format!("{url}/verify"));
    let token = client.token(&offer.expect("a challenge").challenge, now());
    let token = token.expect("a token");
    let shown = header::authorization(&token);
    let page = format!("{url}/forward-auth/a-secret-path?x=a-secret-query");
    assert_eq!(visit("POST", &page, &shown), 200);
    assert_eq!(visit("GET", &format!("{url}/verify"), &shown), 401);
    assert_eq!(visit("PURGE", &page, &shown), 405);
    assert_eq!(visit("GET", &format!("{url}/a-secret-path"), &shown), 404);
    let text = shown.split('"').nth(1).expect("a token").to_owned();
    let proof = proof.split(' ').nth(1).expect("a proof").to_owned();
    let mut secrets = vec![text.into_bytes(), token.encode(), proof.into_bytes()];
    // Its nonce and its authenticator; the nullifier is a digest of them.
    let raw = token.encode();
    secrets.extend([raw[2..34].to_vec(), raw[raw.len() - 32..].to_vec()]);
    secrets.extend(OF_CLIENTS.map(|text| text.as_bytes().to_vec()));
    // The trace of the client in the form of the message.
    secrets.push(
        0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128
            .to_be_bytes()
            .to_vec(),
    );
    secrets.extend([issuer.address(), "127.0.0.1"].map(|text| text.as_bytes().to_vec()));
    secrets
}

/// The secrets that occur in the bytes.
fn leaks(bytes: &[u8], secrets: &[Vec<u8>]) -> Vec<usize> {
    let holds = |secret: &[u8]| bytes.windows(secret.len()).any(|part| part == secret);
    let found = secrets.iter().enumerate();
    let found = found.filter(|(_, secret)| holds(secret));
    found.map(|(index, _)| index).collect()
}

fn text(value: &KeyValue) -> String {
    match value.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key == key);
    found.map(text)
}

/// All keys that a span may have besides its name, which has the same words.
const KEYS: [&str; 4] = [
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "sealstone.outcome",
];

/// The name of a span, and its result.
fn summary(span: &Span) -> String {
    let became = attribute(span, "sealstone.outcome");
    let status = attribute(span, "http.response.status_code");
    let became = became.or(status).unwrap_or_default();
    format!("{} {became}", span.name).trim().to_owned()
}

fn is_error(span: &Span) -> bool {
    span.status
        .as_ref()
        .is_some_and(|status| status.code() == StatusCode::Error)
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_redis_that_is_gone_spans_tell_the_failure() {
    let world = World::with_rsa();
    let collector = Collector::start(Behaviour::Takes);
    let mut redis = Redis::start("always");
    let passphrase = world.path("passphrase");
    std::fs::write(&passphrase, "of four plain words").expect("a file");
    let more = format!(
        "[store]\nkind = \"redis\"\nurls = [\"{}\"]\nseconds = 1\n\
         [passport]\npassphrase-file = {passphrase:?}",
        redis.url()
    );
    let issuer = world.configured(&config(&collector.address, &more));
    let asked = request(&issuer);
    let proof = solved(&issuer, "work", &asked);
    redis.kill();
    assert_eq!(ask(&issuer, &asked, &[proof]).status, 503);
    assert_eq!(issuer.stop(), Some(0));
    let failed: BTreeSet<String> = collector
        .spans()
        .iter()
        .filter(|span| is_error(span))
        .map(summary)
        .collect();
    assert!(failed.contains("POST /token-request 503"), "{failed:#?}");
    let is_store = |name: &String| name.starts_with("store ");
    assert!(failed.iter().any(is_store), "{failed:#?}");
}

#[test]
fn spans_reach_a_collector_and_name_nobody() {
    let world = World::new();
    let collector = Collector::start(Behaviour::Takes);
    let issuer = world.configured(&config(&collector.address, ""));
    let secrets = life_of_a_token(&issuer);
    assert_eq!(issuer.stop(), Some(0), "the end sends what is left");
    let spans = collector.spans();
    let seen: BTreeSet<String> = spans.iter().map(summary).collect();
    for expected in [
        "POST /token-request 200",
        "POST /token-request 401",
        "POST /forward-auth/{*path} 200",
        "GET /verify 401",
        "gate any passed",
        "gate pow passed",
        "gate pow missing",
        "token issue",
        "token redeem accepted",
        "token redeem spent",
        "store probe",
        "store apply",
    ] {
        assert!(seen.contains(expected), "{expected} is not in {seen:#?}");
    }
    for span in &spans {
        let is_known = |attribute: &KeyValue| KEYS.contains(&attribute.key.as_str());
        assert!(span.attributes.iter().all(is_known), "{span:?}");
        assert!(span.events.is_empty() && span.links.is_empty(), "{span:?}");
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        assert!(!is_error(span), "no part of the service failed: {span:?}");
    }
    let bodies = collector.bodies.lock().expect("bodies").concat();
    assert_eq!(leaks(&bodies, &secrets), Vec::<usize>::new());
    for index in 0..secrets.len() {
        let planted = [bodies.as_slice(), &secrets[index]].concat();
        assert!(leaks(&planted, &secrets).contains(&index));
    }
}

/// A part of a request's work has the request's trace and lies within its time.
#[test]
fn parts_belong_to_their_request() {
    let world = World::new();
    let collector = Collector::start(Behaviour::Takes);
    let issuer = world.configured(&config(&collector.address, ""));
    life_of_a_token(&issuer);
    assert_eq!(issuer.stop(), Some(0));
    let spans = collector.spans();
    let named = |name: &str| {
        let found = spans.iter().filter(|span| summary(span) == name);
        found.collect::<Vec<_>>()
    };
    let around = |part: &Span| {
        let parent = spans
            .iter()
            .find(|span| span.span_id == part.parent_span_id);
        let parent = parent.unwrap_or_else(|| panic!("{part:?} has no parent"));
        assert_eq!(parent.trace_id, part.trace_id);
        assert!(parent.start_time_unix_nano <= part.start_time_unix_nano);
        parent.name.clone()
    };
    for (part, parent) in [
        ("gate pow passed", "gate any"),
        ("gate any passed", "POST /token-request"),
        ("token issue", "POST /token-request"),
        ("token redeem accepted", "POST /forward-auth/{*path}"),
        ("token redeem spent", "GET /verify"),
    ] {
        let found = named(part);
        assert!(!found.is_empty(), "{part}");
        found
            .iter()
            .for_each(|span| assert_eq!(around(span), parent, "{part}"));
    }
    assert!(
        named("store apply")
            .iter()
            .any(|span| around(span) == "token redeem")
    );
    let requests = named("GET /verify 401");
    let roots = requests
        .iter()
        .filter(|span| span.parent_span_id.is_empty());
    assert_eq!(roots.count(), requests.len());
    let traces: BTreeSet<&[u8]> = requests
        .iter()
        .map(|span| span.trace_id.as_slice())
        .collect();
    assert_eq!(
        traces.len(),
        requests.len(),
        "no two requests share a trace"
    );
}

#[test]
fn one_in_many_requests_has_spans() {
    let world = World::new();
    let collector = Collector::start(Behaviour::Takes);
    let issuer = world.configured(&config(&collector.address, "one-in = 10"));
    for _ in 0..1000 {
        assert_eq!(get(&format!("{}/healthz", issuer.url())).0, 200);
    }
    assert_eq!(issuer.stop(), Some(0));
    let spans = collector.spans();
    let shown = spans.iter().filter(|span| span.name == "GET /healthz");
    let shown = shown.count();
    // 100 are expected, and the deviation is 9.5.
    assert!((50..=150).contains(&shown), "{shown} of 1000");
}

/// An issuer, and the file of its log.
fn logged(world: &World, config: &str) -> (Service, PathBuf) {
    let (file, log, data) = (
        world.path("config.toml"),
        world.path("log"),
        world.path("issuer"),
    );
    std::fs::write(&file, config).expect("a file");
    let errors = std::fs::File::create(&log).expect("a file");
    let (data, file) = (data.display().to_string(), file.display().to_string());
    let first = ["issuer", "--data", &data, "--listen", "127.0.0.1:0"];
    let arguments = [&first[..], &["--config", &file]].concat();
    (Service::start_with_errors(&arguments, errors.into()), log)
}

/// All clients are served independent of the collector. The service reports once that it fails.
fn serves_with(collector: &str) {
    let world = World::new();
    let (issuer, log) = logged(&world, &config(collector, ""));
    let complaints = || {
        let said = std::fs::read_to_string(&log).expect("text");
        said.matches("takes no spans").count()
    };
    let begun = Instant::now();
    let agent = ureq::agent();
    let alive = format!("{}/healthz", issuer.url());
    // More spans than the queue holds, so that some are dropped.
    for _ in 0..4000 {
        assert_eq!(agent.get(&alive).call().expect("an answer").status(), 200);
    }
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    wait_until("the service says that spans are lost", || complaints() > 0);
    life_of_a_token(&issuer);
    std::thread::sleep(Duration::from_secs(3));
    let begun = Instant::now();
    assert_eq!(issuer.stop(), Some(0));
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(complaints(), 1);
}

#[test]
fn a_collector_that_is_not_there_keeps_nobody_waiting() {
    serves_with(&format!("127.0.0.1:{}", free_port()));
}

#[test]
fn a_broken_collector_keeps_nobody_waiting() {
    let collector = Collector::start(Behaviour::Breaks);
    serves_with(&collector.address);
    assert!(!collector.spans().is_empty());
}

#[test]
fn a_slow_collector_keeps_nobody_waiting() {
    serves_with(&Collector::start(Behaviour::Hangs).address);
}

#[test]
fn a_collector_that_comes_back_is_used_again() {
    let world = World::new();
    let (port, metrics) = (free_port(), format!("127.0.0.1:{}", free_port()));
    let more = format!("[metrics]\nlisten = \"{metrics}\"");
    let (issuer, log) = logged(&world, &config(&format!("127.0.0.1:{port}"), &more));
    let exports = |kind: &str| {
        let answer = Client::new("").get(&format!("http://{metrics}/metrics"), None);
        let text = String::from_utf8(answer.expect("an answer").body).expect("text");
        text.contains(&format!("sealstone_trace_exports_total{{kind=\"{kind}\"}}"))
    };
    let alive = format!("{}/healthz", issuer.url());
    assert_eq!(get(&alive).0, 200);
    std::thread::sleep(Duration::from_secs(3));
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port");
    let bodies = Mutex::new(Vec::new());
    assert_eq!(get(&alive).0, 200);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (stream, _) = listener.accept().expect("a connection");
            answer(stream, Behaviour::Takes, &bodies);
        });
        wait_until("spans arrive", || {
            !bodies.lock().expect("bodies").is_empty()
        });
        wait_until("both are counted", || exports("failed") && exports("done"));
        assert_eq!(issuer.stop(), Some(0));
    });
    let said = std::fs::read_to_string(&log).expect("text");
    assert_eq!(said.matches("takes spans again").count(), 1, "{said}");
}
