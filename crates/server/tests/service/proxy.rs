//! Real proxies with the files of `deploy/`: they ask the verifier before they forward. The
//! distribution has no package of Envoy, so the test sends Envoy's requests.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sealstone_server::client::Client;
use sealstone_testing::servers::{free_port, wait_until};
use sealstone_token::privacypass::header;

use crate::world::{Service, World, now};

/// nginx with other addresses than in the file. It is killed when this value is dropped.
struct Nginx {
    process: Child,
    origin: u16,
    issuer: u16,
}

impl Nginx {
    fn start(directory: &Path, issuer: &Service, verifier: &Service) -> Self {
        let ports = [free_port(), free_port(), free_port()];
        let [origin, issuing, backend] = ports;
        let snippet = include_str!("../../../../deploy/proxies/nginx.conf");
        let snippet = snippet
            .replace("127.0.0.1:8090", &format!("127.0.0.1:{origin}"))
            .replace("127.0.0.1:8091", &format!("127.0.0.1:{issuing}"))
            .replace("127.0.0.1:8000", &format!("127.0.0.1:{backend}"))
            .replace("127.0.0.1:8080", issuer.address())
            .replace("127.0.0.1:8081", verifier.address());
        let home = directory.display();
        // The origin answers with the credentials that it sees.
        let text = format!(
            "daemon off; master_process off; pid {home}/pid; error_log {home}/errors;\n\
             events {{}}\nhttp {{\naccess_log off; client_body_temp_path {home}/b;\n\
             proxy_temp_path {home}/p; fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u;\n\
             scgi_temp_path {home}/s;\n{snippet}\nserver {{ listen 127.0.0.1:{backend};\n\
             location / {{ return 200 \"origin saw [$http_authorization] $request_method\"; }} }}\n\
             }}\n"
        );
        let file = directory.join("nginx.conf");
        std::fs::write(&file, text).expect("a file");
        let mut check = Command::new("nginx");
        let checked = check
            .arg("-t")
            .arg("-p")
            .arg(directory)
            .arg("-c")
            .arg(&file)
            .output();
        let checked = checked.expect("nginx: run scripts/setup services");
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success(), "{said}");
        let process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--", "nginx", "-p"])
            .arg(directory)
            .arg("-c")
            .arg(&file)
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx");
        wait_until("nginx answers", || {
            TcpStream::connect(("127.0.0.1", origin)).is_ok()
        });
        Self {
            process,
            origin,
            issuer: issuing,
        }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.origin)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
#[ignore = "starts nginx: make test-services"]
fn with_nginx_a_request_needs_a_token() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let nginx = Nginx::start(&world.path(""), &issuer, &verifier);
    let client = Client::new(&format!("http://127.0.0.1:{}", nginx.issuer));
    let url = format!("{}/a/page?x=1", nginx.url());
    let offer = client
        .challenge(&url)
        .expect("nginx passes the challenge on");
    let token = client
        .token(&offer.challenge, now())
        .expect("a token through nginx");
    let authorization = header::authorization(&token);
    let first = client.get(&url, Some(&authorization)).expect("an answer");
    let said = String::from_utf8_lossy(&first.body).into_owned();
    assert_eq!((first.status, said.as_str()), (200, "origin saw [] GET"));
    let second = client.get(&url, Some(&authorization)).expect("an answer");
    assert_eq!(second.status, 401);
    assert!(
        !second.challenges.is_empty(),
        "a challenge for the next token"
    );
    // Any method, and a body that nginx does not send to the verifier.
    let token = client.token(&offer.challenge, now()).expect("a token");
    let agent = ureq::agent();
    let mut posted = agent
        .post(&url)
        .header("authorization", header::authorization(&token))
        .send(&[b'x'; 10_000][..])
        .expect("an answer");
    let said = posted.body_mut().read_to_string().expect("text");
    assert_eq!(said, "origin saw [] POST");
    // Without a verifier, no request passes.
    let token = client.token(&offer.challenge, now()).expect("a token");
    drop(verifier);
    let closed = client.get(&url, Some(&header::authorization(&token)));
    assert_eq!(closed.expect("an answer").status, 500);
}

/// Caddy with other addresses than in the file. It is killed when this value is dropped.
struct Caddy {
    process: Child,
    origin: u16,
    issuer: u16,
}

impl Caddy {
    fn start(directory: &Path, issuer: &Service, verifier: &Service) -> Self {
        let [origin, issuing, backend] = [free_port(), free_port(), free_port()];
        let file = include_str!("../../../../deploy/proxies/Caddyfile");
        let sites = file
            .replace("origin.example.org", &format!("http://127.0.0.1:{origin}"))
            .replace("issuer.example.org", &format!("http://127.0.0.1:{issuing}"))
            .replace("127.0.0.1:8000", &format!("127.0.0.1:{backend}"))
            .replace("127.0.0.1:8080", issuer.address())
            .replace("127.0.0.1:8081", verifier.address());
        let text = format!(
            "{{\n\tadmin off\n\tauto_https off\n}}\n{sites}\nhttp://127.0.0.1:{backend} {{\n\
             \trespond \"origin saw [{{header.Authorization}}] {{method}}\"\n}}\n"
        );
        let path = directory.join("Caddyfile");
        std::fs::write(&path, text).expect("a file");
        let process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--", "caddy", "run", "--adapter"])
            .args(["caddyfile", "--config"])
            .arg(&path)
            .env("HOME", directory)
            .env("XDG_DATA_HOME", directory)
            .env("XDG_CONFIG_HOME", directory)
            .stderr(Stdio::null())
            .spawn()
            .expect("caddy: run scripts/setup services");
        wait_until("Caddy answers", || {
            TcpStream::connect(("127.0.0.1", origin)).is_ok()
        });
        Self {
            process,
            origin,
            issuer: issuing,
        }
    }
}

impl Drop for Caddy {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
#[ignore = "starts caddy: make test-services"]
fn with_caddy_a_request_needs_a_token() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let caddy = Caddy::start(&world.path(""), &issuer, &verifier);
    let client = Client::new(&format!("http://127.0.0.1:{}", caddy.issuer));
    let url = format!("http://127.0.0.1:{}/a/page?x=1", caddy.origin);
    let offer = client.challenge(&url);
    let offer = offer.expect("Caddy passes the challenge on");
    let fresh = || {
        let token = client.token(&offer.challenge, now());
        header::authorization(&token.expect("a token through Caddy"))
    };
    let authorization = fresh();
    let first = client.get(&url, Some(&authorization)).expect("an answer");
    let said = String::from_utf8_lossy(&first.body).into_owned();
    assert_eq!((first.status, said.as_str()), (200, "origin saw [] GET"));
    let second = client.get(&url, Some(&authorization)).expect("an answer");
    assert_eq!((second.status, second.challenges.is_empty()), (401, false));
    let posted = ureq::agent().post(&url).header("authorization", fresh());
    let mut posted = posted.send(&[b'x'; 10_000][..]).expect("an answer");
    let said = posted.body_mut().read_to_string().expect("text");
    assert_eq!(said, "origin saw [] POST");
    let authorization = fresh();
    drop(verifier);
    let closed = client.get(&url, Some(&authorization)).expect("an answer");
    assert_eq!(closed.status, 502, "without a verifier, nobody passes");
}

const ENVOY: &str = include_str!("../../../../deploy/proxies/envoy.yaml");

/// The value of an option that occurs once in the file for Envoy.
fn of_envoy(option: &str) -> &'static str {
    let found: Vec<_> = ENVOY.split(option).skip(1).collect();
    assert_eq!(found.len(), 1, "{option}");
    found[0].lines().next().unwrap_or("").trim()
}

/// The head of the answer to a request like that of Envoy's filter: the client's method, its path
/// after the prefix, its host and authorization, no body.
fn as_envoy(verifier: &Service, method: &str, path: &str, authorization: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = TcpStream::connect(verifier.address()).expect("a connection");
    let prefix = of_envoy("path_prefix:");
    let request = format!(
        "{method} {prefix}{path} HTTP/1.1\r\nhost: origin.example.org\r\n{authorization}\
         content-length: 0\r\nx-envoy-internal: true\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("room");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("an answer");
    let head = said.split("\r\n\r\n").next().unwrap_or("");
    head.to_ascii_lowercase()
}

#[test]
fn the_requests_of_envoy_are_answered_as_it_wants() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    assert_eq!(of_envoy("failure_mode_allow:"), "false");
    assert!(!ENVOY.contains("with_request_body"), "no body is asked for");
    let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];
    for (number, method) in methods.into_iter().enumerate() {
        let path = ["/", "/a/page?x=1", "/a//b/%2e%2e/c", "/?next=/forward-auth"][number % 4];
        let refused = as_envoy(&verifier, method, path, "");
        assert!(
            refused.starts_with("http/1.1 401 "),
            "{method} {path}: {refused}"
        );
        let names = refused
            .lines()
            .skip(1)
            .filter_map(|line| line.split(':').next());
        for name in names.filter(|name| *name != "content-length" && *name != "date") {
            let is_passed = ENVOY.contains(&format!("{{exact: {name}}}"));
            assert!(
                is_passed || name == "connection" || name == "cache-control",
                "{name}"
            );
        }
        assert!(
            refused.contains("www-authenticate: privatetoken "),
            "{refused}"
        );
        let token = crate::world::token(issuer.url(), verifier.url());
        let shown = format!("authorization: {}\r\n", header::authorization(&token));
        let accepted = as_envoy(&verifier, method, path, &shown);
        assert!(
            accepted.starts_with("http/1.1 200 "),
            "{method} {path}: {accepted}"
        );
        let spent = as_envoy(&verifier, method, path, &shown);
        assert!(
            spent.starts_with("http/1.1 401 "),
            "{method} {path}: {spent}"
        );
    }
    // An unsupported method is refused, even with a token.
    let refused = as_envoy(&verifier, "TRACE", "/", "");
    assert!(refused.starts_with("http/1.1 405 "), "{refused}");
}

/// The status of a request for a token with another source address and a forged header.
fn ask(issuer: u16, forwarded: &str, body: &Path) -> String {
    let done = Command::new("curl")
        .args([
            "--silent",
            "--output",
            "/dev/null",
            "--write-out",
            "%{http_code}",
        ])
        .args(["--interface", "127.0.0.2", "--header"])
        .arg(format!("X-Forwarded-For: {forwarded}"))
        .args([
            "--header",
            "Content-Type: application/private-token-request",
            "--data-binary",
        ])
        .arg(format!("@{}", body.display()))
        .arg(format!("http://127.0.0.1:{issuer}/token-request"))
        .output()
        .expect("curl: run scripts/setup services");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
#[ignore = "starts nginx: make test-services"]
fn with_nginx_a_forged_header_evades_no_limit() {
    let world = World::with_rsa();
    let issuer = world.configured(
        "proxies = [\"127.0.0.1\"]\n[issuer]\ngate = \"slow\"\n\
         [gates.slow]\nkind = \"rate\"\nlimit = 3\nperiod = 86400\n",
    );
    let verifier = world.verifier(issuer.url(), &[]);
    let nginx = Nginx::start(&world.path(""), &issuer, &verifier);
    let client = Client::new(issuer.url());
    let offer = client
        .challenge(&format!("{}/verify", verifier.url()))
        .expect("a challenge");
    let key = client.key(&offer.challenge, now()).expect("a key");
    let mut statuses = Vec::new();
    for number in 0..5 {
        let pending = sealstone_token::privacypass::Pending::one(&key, &offer.challenge);
        let (_, request) = pending.expect("a request");
        let body = world.path("request");
        std::fs::write(&body, request).expect("a file");
        let forged = format!("203.0.113.{number}, 198.51.100.{number}");
        statuses.push(ask(nginx.issuer, &forged, &body));
    }
    assert_eq!(statuses, ["200", "200", "200", "429", "429"]);
}
