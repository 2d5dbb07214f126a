//! `token inspect`

use sealstone::statement::Statement;
use sealstone_terminal::clock;
use sealstone_terminal::text::one_line;
use sealstone_token::privacypass::directory::{Directory, DirectoryKey};
use sealstone_token::privacypass::header::{self, Offer};
use sealstone_token::privacypass::{
    IssuerPublicKey, Pending, RequestHead, Token, TokenChallenge, TokenType,
};
use serde_json::{Map, Value};

use super::files::{self, Secrecy};
use super::hex;
use crate::args::TokenInspectArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named::Parse;

/// A heading, and names with values.
pub(super) struct Description {
    kind: String,
    facts: Vec<(&'static str, String)>,
}

impl Description {
    pub(super) fn new(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            facts: Vec::new(),
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.facts.push((name, value.into()));
        self
    }

    fn text(&self) -> String {
        let fact = |(name, value): &(&str, String)| format!("  {name:<11} {}\n", one_line(value));
        format!(
            "{}\n{}",
            self.kind,
            self.facts.iter().map(fact).collect::<String>()
        )
    }

    fn json(&self) -> Value {
        let facts = self.facts.iter();
        let fact =
            |(name, value): &(&str, String)| (name.replace(' ', "_"), Value::from(value.as_str()));
        let mut object = Map::from_iter([("kind".to_owned(), Value::from(self.kind.as_str()))]);
        object.extend(facts.map(fact));
        Value::Object(object)
    }
}

pub(super) fn run(args: &TokenInspectArgs, context: &Context) -> Result<()> {
    let bytes = files::read(&args.file, "the file")?;
    let found = bytes.parse(describe)?;
    print(&found, context)
}

/// Shows descriptions to people, or as JSON.
pub(super) fn print(found: &[Description], context: &Context) -> Result<()> {
    let text = || {
        found
            .iter()
            .map(Description::text)
            .collect::<Vec<_>>()
            .join("\n")
    };
    context.print(text, || match found {
        [one] => one.json(),
        many => Value::from(many.iter().map(Description::json).collect::<Vec<_>>()),
    })
}

/// How a JSON object begins: an opening brace.
const JSON_OBJECT: u8 = 0x7b;

/// The kind of the bytes. Texts have names; of the rest, the strictest form is tried first.
fn describe(bytes: &[u8]) -> Result<Vec<Description>> {
    for secrecy in Secrecy::ALL {
        if let Some(secret) = secrecy.parse(bytes)? {
            return Ok(vec![secret_of(secrecy, secret.expose())?]);
        }
    }
    if let Some(text) = files::header_text(bytes) {
        return header_of(text);
    }
    if bytes.trim_ascii_start().first() == Some(&JSON_OBJECT) {
        return directory(bytes);
    }
    let found = TokenChallenge::decode(bytes)
        .map(|challenge| vec![challenge_of(&challenge)])
        .ok()
        .or_else(|| tokens(bytes))
        .or_else(|| request(bytes).map(|found| vec![found]))
        .or_else(|| {
            files::parse_public(bytes)
                .ok()
                .map(|key| vec![public(&key)])
        })
        .or_else(|| response(bytes).map(|found| vec![found]))
        .or_else(|| signed(bytes));
    found.ok_or_else(|| {
        Failure::new(
            Exit::Format,
            "is not a token, challenge, request, response, key, directory or header",
        )
    })
}

fn secret_of(secrecy: Secrecy, bytes: &[u8]) -> Result<Description> {
    match secrecy {
        Secrecy::Key => {
            let key = files::parse_key(bytes)?;
            let described = public(&key.public_key());
            Ok(Description {
                kind: "issuer's secret key (keep it secret)".to_owned(),
                ..described
            })
        }
        Secrecy::Root => {
            files::parse_root(bytes)?;
            Ok(Description::new(
                "root of the keys of all epochs (keep it secret)",
            ))
        }
        Secrecy::State => {
            let pending = Pending::decode(bytes)?;
            let kind = "saved request (keep it secret; `token finalize` needs it)";
            Ok(Description::new(kind)
                .with("type", pending.key().token_type().to_string())
                .with("tokens", pending.count().to_string())
                .with("challenge", hex(pending.challenge_digest()))
                .with("key id", hex(pending.key().id())))
        }
    }
}

fn public(key: &IssuerPublicKey) -> Description {
    Description::new("issuer's public key")
        .with("type", key.token_type().to_string())
        .with("key id", hex(key.id()))
        .with("in requests", format!("{:02x}", key.truncated_key_id()))
        .with("verifies", verifier(key.token_type()))
}

fn verifier(token_type: TokenType) -> &'static str {
    match token_type.is_publicly_verifiable() {
        true => "everybody who has the public key",
        false => "the issuer, with the secret key",
    }
}

fn header_of(text: &str) -> Result<Vec<Description>> {
    if let Ok(token) = header::parse_authorization(text) {
        return Ok(vec![token_of(&token)]);
    }
    let offers = header::parse_challenges(text)?;
    if offers.is_empty() {
        return Err(Failure::new(
            Exit::Format,
            "the header holds no challenge that can be read",
        ));
    }
    offers.iter().map(offer_of).collect()
}

fn offer_of(offer: &Offer) -> Result<Description> {
    let mut described = challenge_of(&offer.challenge);
    if let Some(key) = &offer.token_key {
        let key = offer
            .challenge
            .token_type()
            .and_then(|kind| IssuerPublicKey::decode(kind, key));
        let id = key.map_or("of a type that is unknown here".to_owned(), |key| {
            hex(key.id())
        });
        described = described.with("key id", id);
    }
    Ok(match offer.max_age {
        Some(age) => described.with("good for", format!("{age} seconds")),
        None => described,
    })
}

fn challenge_of(challenge: &TokenChallenge) -> Description {
    let kind = match challenge.token_type() {
        Ok(known) => known.to_string(),
        Err(_) => format!("0x{:04x}, unknown here", challenge.token_type_number()),
    };
    let origins: Vec<&str> = challenge.origins().collect();
    let context = challenge.redemption_context();
    Description::new("challenge")
        .with("type", kind)
        .with("issuer", challenge.issuer_name())
        .with(
            "origins",
            if origins.is_empty() {
                "all".to_owned()
            } else {
                origins.join(", ")
            },
        )
        .with(
            "context",
            context.map_or("none: a token may be fetched ahead".to_owned(), |bytes| {
                hex(bytes)
            }),
        )
        .with("digest", hex(&challenge.digest()))
}

/// One token, or those of a batch.
fn tokens(bytes: &[u8]) -> Option<Vec<Description>> {
    let number = u16::from_be_bytes(*bytes.first_chunk()?);
    let len = 98 + TokenType::from_number(number).ok()?.authenticator_len();
    if !bytes.len().is_multiple_of(len) {
        return None;
    }
    let tokens: Result<Vec<Token>, _> = bytes.chunks(len).map(Token::decode).collect();
    Some(tokens.ok()?.iter().map(token_of).collect())
}

fn token_of(token: &Token) -> Description {
    Description::new("token (anybody who reads it can spend it)")
        .with("type", token.token_type().to_string())
        .with("nonce", hex(token.nonce()))
        .with("challenge", hex(token.challenge_digest()))
        .with("key id", hex(token.key_id()))
        .with("nullifier", hex(&token.nullifier()))
        .with("verifies", verifier(token.token_type()))
}

fn request(bytes: &[u8]) -> Option<Description> {
    let head = RequestHead::of(bytes).ok()?;
    let body = bytes.len() - 3;
    let len = head.token_type.blinded_len();
    // A batch has its length before its elements, in one to four bytes.
    let (kind, count) = match body {
        _ if body == len => ("request for a token", 1),
        _ if head.token_type == TokenType::BlindRsa2048 => return None,
        _ if (1..=4).contains(&(body % len)) => {
            ("request for tokens that share a proof", body / len)
        }
        _ => return None,
    };
    Some(
        Description::new(kind)
            .with("type", head.token_type.to_string())
            .with("tokens", count.to_string())
            .with("key id", format!("ends in {:02x}", head.truncated_key_id)),
    )
}

/// A response tells no type; for one token its length does.
fn response(bytes: &[u8]) -> Option<Description> {
    let fits = |token_type: &TokenType| token_type.response_len() == bytes.len();
    let token_type = TokenType::ALL.into_iter().find(fits)?;
    Some(Description::new("response for a token").with("type", token_type.to_string()))
}

fn directory(bytes: &[u8]) -> Result<Vec<Description>> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| sealstone_token::Error::Malformed("directory"))?;
    let directory = Directory::from_json(text)?;
    let heading = Description::new("issuer's directory").with("asks at", &directory.request_uri);
    Ok(std::iter::once(heading)
        .chain(directory.keys.iter().map(listed))
        .collect())
}

/// A directory with signatures, which `inspect` does not check.
fn signed(bytes: &[u8]) -> Option<Vec<Description>> {
    let statement = Statement::decode(bytes).ok()?;
    let kind = "signed directory (not checked: use `sealstone token directory --check`)";
    Some(vec![
        Description::new(kind)
            .with("names", statement.signer().to_string())
            .with("signed", clock::show(statement.time())),
    ])
}

/// A key of a directory.
pub(super) fn listed(entry: &DirectoryKey) -> Description {
    let described = public(&entry.key);
    let described = match entry.not_before {
        Some(time) => described.with("from", clock::show(time)),
        None => described,
    };
    match entry.lifetime {
        Some(lifetime) => described
            .with("epoch", lifetime.epoch.to_string())
            .with("issues till", clock::show(lifetime.issue_until))
            .with("good till", clock::show(lifetime.redeem_until)),
        None => described,
    }
}
