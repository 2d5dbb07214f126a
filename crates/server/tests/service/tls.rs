//! TLS of the listener: its certificate changes while connections are open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sealstone_server::client::Client;
use sealstone_token::privacypass::header;

use crate::world::{Service, World, now};

/// An authority by OpenSSL, with the certificate and the key of the listener.
struct Authority<'w>(&'w World);

impl Authority<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn new(world: &World) -> Authority<'_> {
        let authority = Authority(world);
        let (key, certificate) = (authority.path("ca.key"), authority.path("ca.pem"));
        authority.run(&[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=A test's authority",
            "-days",
            "2",
            "-keyout",
            &text(&key),
            "-out",
            &text(&certificate),
        ]);
        authority.issue();
        authority
    }

    /// Replaces the listener's certificate and key.
    fn issue(&self) {
        let [key, request, new, certificate] =
            ["tls.key", "tls.csr", "new.pem", "tls.pem"].map(|name| self.path(name));
        std::fs::write(self.path("tls.ext"), "subjectAltName=IP:127.0.0.1").expect("a file");
        self.run(&[
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=a listener",
            "-keyout",
            &text(&key),
            "-out",
            &text(&request),
        ]);
        self.run(&[
            "x509",
            "-req",
            "-in",
            &text(&request),
            "-CA",
            &text(&self.path("ca.pem")),
            "-CAkey",
            &text(&self.path("ca.key")),
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            &text(&self.path("tls.ext")),
            "-out",
            &text(&new),
        ]);
        std::fs::rename(new, certificate).expect("a file");
    }

    fn run(&self, arguments: &[&str]) {
        let done = Command::new("openssl").args(arguments).output();
        let done = done.expect("openssl: run scripts/setup test");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// The table of an issuer, which reads the files at SIGHUP only.
    fn config(&self) -> String {
        format!(
            "[issuer]\ngate = \"none\"\n[connections]\nhead-seconds = 2\n[tls]\n\
             certificate-file = \"{}\"\nkey-file = \"{}\"\nreload-seconds = 3600\n",
            text(&self.path("tls.pem")),
            text(&self.path("tls.key")),
        )
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A connection that is kept.
struct Connection(BufReader<StreamOwned<ClientConnection, TcpStream>>);

impl Connection {
    fn new(service: &Service, ca_file: &Path) -> Self {
        let pem = std::fs::read(ca_file).expect("a file");
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(&pem).expect("a certificate");
        roots.add(certificate).expect("a root");
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").expect("a name");
        let client = ClientConnection::new(Arc::new(config), name).expect("a client");
        let stream = TcpStream::connect(service.address()).expect("a connection");
        Self(BufReader::new(StreamOwned::new(client, stream)))
    }

    fn is_served(&mut self) -> bool {
        let request = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
        self.0.get_mut().write_all(request).expect("room");
        let mut line = String::new();
        let status = {
            self.0.read_line(&mut line).expect("an answer");
            line.clone()
        };
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line).expect("a head");
        }
        status.starts_with("HTTP/1.1 200")
    }

    fn certificate(&mut self) -> Vec<u8> {
        let connection = &self.0.get_ref().conn;
        connection.peer_certificates().expect("a certificate")[0].to_vec()
    }
}

fn hang_up(service: &Service) {
    service.signal(rustix::process::Signal::HUP);
}

#[test]
fn tokens_travel_with_tls() {
    let world = World::with_rsa();
    let authority = Authority::new(&world);
    let issuer = world.configured(&authority.config());
    assert!(issuer.url().starts_with("https://"), "{}", issuer.url());
    let stranger = world
        .try_verifier(issuer.url(), &[])
        .err()
        .expect("no trust");
    assert!(
        stranger.to_lowercase().contains("certificate"),
        "{stranger}"
    );
    let ca_file = authority.path("ca.pem");
    let config = world.path("verifier.toml");
    let table = format!("[verifier]\nca-file = \"{}\"\n", text(&ca_file));
    std::fs::write(&config, table).expect("a file");
    let verifier = world.verifier(issuer.url(), &["--config", &text(&config)]);
    let client = Client::with_tls(issuer.url(), Some(&ca_file)).expect("a client");
    let url = format!("{}/verify", verifier.url());
    let offer = client.challenge(&url).expect("a challenge");
    let token = client.token(&offer.challenge, now()).expect("a token");
    let redeem = || {
        client
            .get(&url, Some(&header::authorization(&token)))
            .expect("an answer")
    };
    assert_eq!((redeem().status, redeem().status), (200, 401));
}

#[test]
fn a_new_certificate_breaks_no_connection() {
    let world = World::new();
    let authority = Authority::new(&world);
    let issuer = world.configured(&authority.config());
    let ca_file = authority.path("ca.pem");
    let mut old = Connection::new(&issuer, &ca_file);
    assert!(old.is_served());
    authority.issue();
    hang_up(&issuer);
    let until = Instant::now() + Duration::from_secs(20);
    let mut new = loop {
        let mut new = Connection::new(&issuer, &ca_file);
        assert!(new.is_served());
        if new.certificate() != old.certificate() {
            break new;
        }
        assert!(Instant::now() < until, "the certificate did not change");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(old.is_served() && new.is_served());
    // Half of a renewal: the key of another certificate. The service continues.
    std::fs::copy(authority.path("ca.key"), authority.path("tls.key")).expect("a file");
    hang_up(&issuer);
    std::thread::sleep(Duration::from_millis(300));
    let mut same = Connection::new(&issuer, &ca_file);
    assert!(same.is_served() && same.certificate() == new.certificate());
    assert_eq!(issuer.stop(), Some(0));
}

#[test]
fn a_connection_without_tls_is_cut_off() {
    let world = World::new();
    let authority = Authority::new(&world);
    let issuer = world.configured(&authority.config());
    let begun = Instant::now();
    let connect = || TcpStream::connect(issuer.address()).expect("a connection");
    let silent = connect();
    let mut plain = connect();
    plain
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
        .expect("room");
    for mut stream in [silent, plain] {
        let mut said = Vec::new();
        // A reset is an end too.
        drop(stream.read_to_end(&mut said));
        assert!(
            !String::from_utf8_lossy(&said).contains("HTTP"),
            "an answer without TLS"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert!(Connection::new(&issuer, &authority.path("ca.pem")).is_served());
}

#[test]
fn files_that_do_not_fit_are_named() {
    let world = World::new();
    let authority = Authority::new(&world);
    let config = world.path("config.toml");
    std::fs::write(&config, authority.config()).expect("a file");
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealstone-server"));
        let done = command
            .arg("check-config")
            .arg(&config)
            .output()
            .expect("an end");
        (
            done.status.success(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    assert!(check().0, "{}", check().1);
    std::fs::copy(authority.path("ca.key"), authority.path("tls.key")).expect("a file");
    let (is_good, said) = check();
    assert!(
        !is_good && said.contains("tls.key: it is not a key of this certificate"),
        "{said}"
    );
    std::fs::write(authority.path("tls.pem"), "").expect("a file");
    let (is_good, said) = check();
    assert!(
        !is_good && said.contains("tls.pem: it holds no PEM certificate"),
        "{said}"
    );
    std::fs::remove_file(authority.path("tls.pem")).expect("a file");
    let (is_good, said) = check();
    assert!(!is_good && said.contains("tls.pem"), "{said}");
}
