//! An HTTP server in front of a local authority, which also misbehaves intentionally.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sealstone_testing::tsa::Authority;

/// Answers requests until the process ends.
pub(crate) struct Server {
    port: u16,
    counts: Arc<Mutex<HashMap<String, u32>>>,
}

impl Server {
    pub(crate) fn start(tsa: Authority) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Mutex::new(HashMap::new()));
        let counted = Arc::clone(&counts);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A closed connection is not a failure of the server.
                let _ = serve(&stream, &tsa, &counted);
            }
        });
        Self { port, counts }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// The number of requests for a path.
    pub(crate) fn count(&self, path: &str) -> u32 {
        *self.counts.lock().unwrap().get(path).unwrap_or(&0)
    }
}

fn serve(
    stream: &TcpStream,
    tsa: &Authority,
    counts: &Mutex<HashMap<String, u32>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    // As a proxy, it forwards to itself only.
    let mut head = read_head(&mut reader)?;
    if head
        .first()
        .is_some_and(|line| line.starts_with("connect tsa.invalid:80 "))
    {
        (&*stream).write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        head = read_head(&mut reader)?;
    }
    let (path, query) = read_body(&head, &mut reader)?;
    let count = {
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(path.clone()).or_insert(0);
        *count += 1;
        *count
    };
    let reply = || tsa.reply("signer", &["between.pem"], "tsa", &query);
    let response = match path.as_str() {
        "html" => answer("200 OK", "text/html", b"<html>"),
        "big" => answer("200 OK", REPLY, &vec![0x30; (1 << 20) + 1]),
        "rejected" => answer("200 OK", REPLY, &[0x30, 5, 0x30, 3, 2, 1, 2]),
        "other" => answer("200 OK", REPLY, &other_nonce(tsa, &query)),
        "redirect" => {
            b"HTTP/1.1 302 Found\r\nLocation: /good\r\nContent-Length: 0\r\n\r\n".to_vec()
        }
        "busy" => answer("503 Service Unavailable", "text/plain", b"busy"),
        "busy-twice" if count < 3 => answer("503 Service Unavailable", "text/plain", b"busy"),
        "slow" => {
            thread::sleep(Duration::from_secs(3));
            vec![]
        }
        "good" | "busy-twice" => answer("200 OK", REPLY, &reply()),
        _ => answer("404 Not Found", "text/plain", b"nothing"),
    };
    (&*stream).write_all(&response)
}

const REPLY: &str = "application/timestamp-reply";

fn answer(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let len = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\n\
         Connection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// An answer to another request of the same data: the last byte of the nonce, which is before the
/// flag for certificates, differs.
fn other_nonce(tsa: &Authority, query: &[u8]) -> Vec<u8> {
    let mut other = query.to_vec();
    let last = other.len() - 4;
    other[last] ^= 1;
    tsa.reply("signer", &["between.pem"], "tsa", &other)
}

/// The path and the body of a request for a timestamp.
fn read_request(reader: &mut impl BufRead) -> std::io::Result<(String, Vec<u8>)> {
    let head = read_head(reader)?;
    read_body(&head, reader)
}

fn read_body(lines: &[String], reader: &mut impl BufRead) -> std::io::Result<(String, Vec<u8>)> {
    let header = |name: &str| {
        let found = lines.iter().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_default().trim()
    };
    if header("content-type:") != "application/timestamp-query" {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; header("content-length:").parse().unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let target = lines[0].split(' ').nth(1).unwrap_or_default();
    let path = target.rsplit('/').next().unwrap_or_default();
    Ok((path.to_owned(), body))
}

/// The request line and the headers, in lower case.
fn read_head(reader: &mut impl BufRead) -> std::io::Result<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end() {
            "" => return Ok(lines),
            line => lines.push(line.to_ascii_lowercase()),
        }
    }
}

/// A server that answers one request by TLS, with the certificate `web`. Returns its address.
pub(crate) fn tls(tsa: Arc<Authority>) -> String {
    // The port is free again when the listener is dropped.
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let accept = format!("127.0.0.1:{port}");
    let mut server = Command::new("openssl")
        .args([
            "s_server", "-quiet", "-naccept", "1", "-cert", "web.pem", "-key", "web.key",
        ])
        .args(["-accept", &accept])
        .current_dir(tsa.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // `openssl` prints the client's request. The answer goes the other way.
    thread::spawn(move || {
        let mut reader = BufReader::new(server.stdout.take().unwrap());
        if let Ok((_, query)) = read_request(&mut reader) {
            let reply = tsa.reply("signer", &["between.pem"], "tsa", &query);
            let mut writer = server.stdin.take().unwrap();
            let _ = writer.write_all(&answer("200 OK", REPLY, &reply));
        }
        let _ = server.wait();
    });
    format!("https://{accept}/")
}
