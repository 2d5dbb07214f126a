//! A real nginx with the file of `deploy/`: it asks the verifier before it forwards.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sealstone_server::client::Client;
use sealstone_testing::servers::{free_port, wait_until};
use sealstone_token::privacypass::header;

use crate::world::{Service, World, now};

/// nginx with addresses in place of those of the file. It is killed with this value.
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
        // The origin says which credentials it sees.
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
    let world = World::new();
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
    // Any method, and a body that nginx keeps back from the verifier.
    let token = client.token(&offer.challenge, now()).expect("a token");
    let agent = ureq::agent();
    let mut posted = agent
        .post(&url)
        .header("authorization", header::authorization(&token))
        .send(&[b'x'; 10_000][..])
        .expect("an answer");
    let said = posted.body_mut().read_to_string().expect("text");
    assert_eq!(said, "origin saw [] POST");
    // Without a verifier, nobody passes.
    let token = client.token(&offer.challenge, now()).expect("a token");
    drop(verifier);
    let closed = client.get(&url, Some(&header::authorization(&token)));
    assert_eq!(closed.expect("an answer").status, 500);
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
    let world = World::new();
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
