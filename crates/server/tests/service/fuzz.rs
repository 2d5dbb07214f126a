//! Altered requests for every route cause no fault, no panic and no exit of the service.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_server::client::Client;
use sealstone_token::privacypass::{Pending, header};

use crate::world::{Service, World, get, now, token};

/// Clients at the same time. Those that send half a request wait until they are disconnected.
const CLIENTS: usize = 48;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Values that are difficult for parsers.
const PIECES: [&[u8]; 22] = [
    b"\r\n",
    b"\r\n\r\n",
    b"\0",
    b"\xff\xfe",
    b" ",
    b"\t",
    b":",
    b"%",
    b"%2e%2e/",
    b"../",
    b"//",
    b"?",
    b"\"",
    b"{",
    b"[[[[[[[[[[[[[[[[",
    b"-1",
    b"18446744073709551616",
    b"1e999",
    b"null",
    b"Content-Length: 18446744073709551615\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Authorization: PrivateToken token=\"\"\r\n",
];

/// Alters a request at some places.
fn alter(request: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = request.to_vec();
    for _ in 0..=random.below(5) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below(bytes.len() - at + 1).min(1 + random.below(40));
        match random.below(8) {
            0 => drop(bytes.splice(at..at, random.pick::<&[u8]>(&PIECES).iter().copied())),
            1 => drop(bytes.splice(at..end, [])),
            2 => {
                let part = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, part));
            }
            3 => {
                let other = random.pick(others);
                let from = random.below(other.len());
                drop(bytes.splice(at..end, other[from..].iter().copied()));
            }
            4 => {
                let long = vec![random.next() as u8; random.below(70_000)];
                drop(bytes.splice(at..at, long));
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => bytes.push(random.next() as u8),
        }
    }
    bytes
}

fn request(method: &str, path: &str, heads: &str, body: &[u8]) -> Vec<u8> {
    let length = match body.is_empty() {
        true => String::new(),
        false => format!("content-length: {}\r\n", body.len()),
    };
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{heads}{length}\r\n");
    [head.as_bytes(), body].concat()
}

/// A good request for each route, with good content where there is one.
fn requests(issuer: &Service) -> Vec<Vec<u8>> {
    let url = issuer.url();
    let token = token(url, url);
    let offer = Client::new(url)
        .challenge(&format!("{url}/verify"))
        .expect("a challenge");
    let key = Client::new(url)
        .key(&offer.challenge, now())
        .expect("a key");
    let (_, asked) = Pending::one(&key, &offer.challenge).expect("a request");
    let (token64, asked64) = (
        URL_SAFE_NO_PAD.encode(token.encode()),
        URL_SAFE_NO_PAD.encode(&asked),
    );
    let json = "content-type: application/json\r\n";
    let kind = "content-type: application/private-token-request\r\nsealstone-gate: pow a.b\r\n";
    let shown = format!("authorization: {}\r\n", header::authorization(&token));
    let mut all = vec![
        request("POST", "/token-request", kind, &asked),
        request("GET", "/verify", &shown, b""),
        request("PUT", "/forward-auth/a/b?c=d", &shown, b"body"),
        request(
            "POST",
            "/v1/issue",
            json,
            format!(r#"{{"request":"{asked64}"}}"#).as_bytes(),
        ),
        request(
            "POST",
            "/v1/issue/batch",
            json,
            format!(r#"{{"requests":["{asked64}","{asked64}"],"proofs":["a b"]}}"#).as_bytes(),
        ),
        request(
            "POST",
            "/v1/verify",
            json,
            format!(r#"{{"token":"{token64}","operation":"o"}}"#).as_bytes(),
        ),
        request(
            "POST",
            "/v1/verify/batch",
            json,
            format!(r#"{{"tokens":[{{"token":"{token64}"}},{{"token":"AA"}}]}}"#).as_bytes(),
        ),
        request(
            "POST",
            "/v1/check",
            json,
            format!(r#"{{"token":"{token64}"}}"#).as_bytes(),
        ),
        request(
            "POST",
            "/v1/invitations",
            json,
            br#"{"invitation":"a","quota":1,"until":2}"#,
        ),
    ];
    for batch in ["amortized", "generic"] {
        let kind = format!("content-type: application/private-token-{batch}-batch-request\r\n");
        all.push(request("POST", "/token-request", &kind, &asked));
    }
    for path in [
        "/gate",
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/docs",
        "/.well-known/private-token-issuer-directory",
        "/.well-known/sealstone-token-directory",
        "/.well-known/sealstone-passport",
    ] {
        all.push(request("GET", path, "if-none-match: \"a\"\r\n", b""));
    }
    all
}

/// Requests of the operators' listener without a login.
fn admin_requests() -> Vec<Vec<u8>> {
    let heads = "sealstone-admin: 1\r\norigin: http://localhost\r\ncookie: session=aaaa\r\n\
                 content-type: application/json\r\n";
    let login = br#"{"name":"alice","password":"a long password"}"#;
    let mut all = vec![request("POST", "/api/login", heads, login)];
    for path in ["/", "/api/session", "/api/status", "/api/audit?before=5"] {
        all.push(request("GET", path, heads, b""));
    }
    for path in ["/api/invite", "/api/revoke-keys", "/api/operators/set"] {
        all.push(request(
            "POST",
            path,
            heads,
            br#"{"name":"a","role":"admin"}"#,
        ));
    }
    all
}

/// The first bytes of an answer; empty if the service closes without one.
fn ask(address: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the service accepts");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    // It may stop reading at any time.
    drop(stream.write_all(request));
    let mut answer = vec![0; 64];
    let len = stream.read(&mut answer).unwrap_or(0);
    answer.truncate(len);
    answer
}

/// Fuzzes for a number of seconds. Returns the numbers of sent and of answered requests.
fn fuzz(seconds: u64, seed: u64) -> (usize, usize) {
    let world = World::with_rsa();
    let issuer = world.configured(
        "[issuer]\ngate = \"none\"\nverify = true\n[connections]\nhead-seconds = 1\n\
         [routes]\nseconds = 2\n",
    );
    let admin = issuer.ready["admin"].as_str().expect("a URL").to_owned();
    let admin = admin.trim_start_matches("http://");
    let targets = [
        (issuer.address(), requests(&issuer)),
        (admin, admin_requests()),
    ];
    let until = Instant::now() + Duration::from_secs(seconds);
    let (sent, answered, turn) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while Instant::now() < until {
                    let number = turn.fetch_add(1, Ordering::Relaxed);
                    let mut random = Random(seed.wrapping_add(number << 20));
                    let (address, good) = &targets[usize::from(random.below(4) == 0)];
                    let chosen: &Vec<u8> = random.pick(good);
                    let altered = alter(chosen, good, &mut random);
                    let answer = ask(address, &altered);
                    sent.fetch_add(1, Ordering::Relaxed);
                    let text = String::from_utf8_lossy(&answer);
                    assert!(
                        !text.starts_with("HTTP/1.1 500"),
                        "seed {seed}, request {number}: {}",
                        altered.escape_ascii()
                    );
                    answered.fetch_add(
                        usize::from(text.starts_with("HTTP/1.1 ")),
                        Ordering::Relaxed,
                    );
                }
            });
        }
    });
    assert_eq!(get(&format!("{}/healthz", issuer.url())).0, 200);
    assert_eq!(issuer.stop(), Some(0));
    (sent.into_inner(), answered.into_inner())
}

#[test]
fn altered_requests_cause_no_fault() {
    let (sent, answered) = fuzz(3, 1);
    assert!(answered > 20, "{answered} of {sent} were answered");
}

/// An hour, or SEALSTONE_FUZZ_SECONDS.
#[test]
#[ignore = "an hour of altered requests"]
fn an_hour_of_altered_requests_causes_no_fault() {
    let seconds = std::env::var("SEALSTONE_FUZZ_SECONDS");
    let seconds = seconds.map_or(3600, |text| text.parse().expect("seconds"));
    let seed = now();
    let (sent, answered) = fuzz(seconds, seed);
    println!("seed {seed}: {sent} requests in {seconds} s, {answered} answered, no fault");
}

/// A panicking handler counts as a fault of the service.
#[tokio::test]
async fn a_panic_is_seen_as_a_fault() {
    use sealstone_server::http::{Connections, Stop, bind, serve, with_fallbacks};
    async fn planted() -> &'static str {
        panic!("planted")
    }
    let router = axum::Router::new().route("/", axum::routing::get(planted));
    let listener = bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let stop = Stop::default();
    let serving = stop.clone();
    tokio::spawn(async move {
        serve(
            listener,
            with_fallbacks(router),
            &Connections::default(),
            &serving,
        )
        .await;
    });
    let request = request("GET", "/", "", b"");
    let answer = tokio::task::spawn_blocking(move || ask(&address, &request)).await;
    let answer = answer.expect("a thread");
    assert!(
        answer.starts_with(b"HTTP/1.1 500"),
        "{}",
        answer.escape_ascii()
    );
    stop.now();
}
