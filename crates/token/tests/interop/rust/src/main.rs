//! The crate `privacypass` as a client, or as an issuer with its origin. Our tests call it, in
//! `crates/token/tests/privacypass_interop.rs`.
//!
//! It reads one JSON object per line and answers each with one, as `peer.mjs` does: the result, or
//! `error`. Bytes are hexadecimal, challenges and tokens are values of HTTP headers. With `--serve`
//! it is an issuer behind HTTP instead, which `bench/issuers.mjs` measures.

#![forbid(unsafe_code)]

mod client;
mod issuer;
mod serve;

use std::error::Error;
use std::io::stdin;

use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The state that a command leaves for the next.
#[derive(Default)]
struct Peer {
    finish: Option<client::Finish>,
    issuer: Option<issuer::Issuer>,
}

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some("--serve") {
        return serve::run();
    }
    let mut peer = Peer::default();
    for line in stdin().lines() {
        let command: Value = serde_json::from_str(&line?)?;
        let failed = |error: Box<dyn Error>| json!({"error": error.to_string()});
        println!("{}", peer.answer(&command).unwrap_or_else(failed));
    }
    Ok(())
}

impl Peer {
    fn answer(&mut self, command: &Value) -> Result<Value> {
        match text(command, "command")? {
            "request" => {
                let (request, finish) = client::request(text(command, "header")?, count(command)?)?;
                self.finish = Some(finish);
                Ok(json!({"request": hex(&request)}))
            }
            "finalize" => {
                let finish = self.finish.take().ok_or("no request waits")?;
                let tokens = finish(&bytes(text(command, "response")?)?)?;
                Ok(json!({"header": tokens[0], "headers": tokens}))
            }
            "challenge" => {
                let context = bytes(text(command, "context")?)?;
                let (issuer, header) = issuer::new(&command["type"], &context, count(command)?)?;
                self.issuer = Some(issuer);
                Ok(json!({"header": header}))
            }
            "issue" => {
                let request = bytes(text(command, "request")?)?;
                Ok(json!({"response": hex(&(self.issuer()?.issue)(&request)?)}))
            }
            "verify" => {
                let valid = (self.issuer()?.verify)(text(command, "header")?)?;
                Ok(json!({"valid": valid}))
            }
            other => Err(format!("unknown command {other}").into()),
        }
    }

    fn issuer(&self) -> Result<&issuer::Issuer> {
        Ok(self.issuer.as_ref().ok_or("no issuer yet")?)
    }
}

fn text<'a>(command: &'a Value, field: &str) -> Result<&'a str> {
    Ok(command[field]
        .as_str()
        .ok_or_else(|| format!("no {field}"))?)
}

/// The number of tokens of a batch; `None` for a request of one token.
fn count(command: &Value) -> Result<Option<u16>> {
    let count = command["count"].as_u64();
    Ok(count.map(u16::try_from).transpose()?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?);
    digits.map(byte).collect()
}
