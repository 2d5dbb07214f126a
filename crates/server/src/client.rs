//! A client that answers an origin's challenge, for operators who try a service, and for tests.
//!
//! ```no_run
//! use sealstone_server::client::Client;
//! use sealstone_token::privacypass::header;
//!
//! let client = Client::new("http://127.0.0.1:8080");
//! let origin = "http://127.0.0.1:8081/verify";
//! let offer = client.challenge(origin)?;
//! let token = client.token_for(&offer, "127.0.0.1:8081", 1_767_225_600)?;
//! let answer = client.get(origin, Some(&header::authorization(&token)))?;
//! assert_eq!(answer.status, 200);
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::path::Path;
use std::time::Duration;

use sealstone_primitives::hash::sha256;
use sealstone_token::privacypass::directory::{Directory, WELL_KNOWN_PATH};
use sealstone_token::privacypass::{IssuerPublicKey, Pending, Token, TokenChallenge, header};
use serde_json::Value;

use crate::gate::pow::Work;
use crate::http::GATE_HEADER;
use crate::{Error, Result, network};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Asks for tokens at an issuer's URL.
pub struct Client {
    agent: ureq::Agent,
    issuer: String,
    proofs: Vec<String>,
}

/// A status and a body.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The values of `WWW-Authenticate`.
    pub challenges: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body's value, or null.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Client {
    /// A client of the issuer at this URL.
    #[must_use]
    pub fn new(issuer: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT));
        Self::asking(config.build().into(), issuer)
    }

    /// The same with TLS, for servers whose certificates come from `ca_file`, by default from one
    /// of the system's roots.
    ///
    /// # Errors
    /// If the file holds no certificate.
    pub fn with_tls(issuer: &str, ca_file: Option<&Path>) -> Result<Self> {
        Ok(Self::asking(network::agent(ca_file, TIMEOUT)?, issuer))
    }

    fn asking(agent: ureq::Agent, issuer: &str) -> Self {
        Self {
            agent,
            issuer: issuer.trim_end_matches('/').to_owned(),
            proofs: Vec::new(),
        }
    }

    /// Shows this too: a gate's name and a proof, such as an invitation.
    #[must_use]
    pub fn with_proof(mut self, proof: &str) -> Self {
        self.proofs.push(proof.to_owned());
        self
    }

    /// Gets a URL, with an `Authorization` if there is one.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn get(&self, url: &str, authorization: Option<&str>) -> Result<Answer> {
        let mut request = self.agent.get(url);
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        answer(url, request.call())
    }

    /// Posts a body of a media type, with proofs.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn post(
        &self,
        url: &str,
        media_type: &str,
        body: &[u8],
        proofs: &[String],
    ) -> Result<Answer> {
        let mut request = self.agent.post(url).header("content-type", media_type);
        for proof in proofs {
            request = request.header(GATE_HEADER, proof);
        }
        answer(url, request.send(body))
    }

    /// The first challenge of an origin that is understood here.
    ///
    /// # Errors
    /// If it answers without one.
    pub fn challenge(&self, origin: &str) -> Result<header::Offer> {
        let answer = self.get(origin, None)?;
        let offers = answer
            .challenges
            .iter()
            .filter_map(|value| header::parse_challenges(value).ok());
        let known = |offer: &header::Offer| offer.challenge.token_type().is_ok();
        let found = offers.flatten().find(known);
        found.ok_or_else(|| Error::Issuer(format!("{origin} asks for no token that is known here")))
    }

    /// The key of the issuer for a challenge: the first one.
    ///
    /// # Errors
    /// If its directory has none.
    pub fn key(&self, challenge: &TokenChallenge, now: u64) -> Result<IssuerPublicKey> {
        let key = self.directory()?.key(challenge.token_type()?, now).cloned();
        key.ok_or_else(|| Error::Issuer("its directory has no such key".to_owned()))
    }

    fn directory(&self) -> Result<Directory> {
        let answer = self.get(&format!("{}{WELL_KNOWN_PATH}", self.issuer), None)?;
        Ok(Directory::from_json(&String::from_utf8_lossy(
            &answer.body,
        ))?)
    }

    /// One token for what the origin `host` offers. Does the work that the gate asks for.
    ///
    /// # Errors
    /// [`Error::Challenge`] if the challenge is for other hosts (RFC 9577 section 2.1.3), or names
    /// a key that the issuer's directory does not have or that issues no more. [`Error::Issuer`] if
    /// the issuer refuses.
    pub fn token_for(&self, offer: &header::Offer, host: &str, now: u64) -> Result<Token> {
        must_be_for(&offer.challenge, host)?;
        let key = listed(offer, &self.directory()?, now)?;
        self.token_by(&key, &offer.challenge)
    }

    /// One token for a challenge that is known to be right, by the first key of the directory.
    /// [`Self::token_for`] is for those that an origin sent.
    ///
    /// # Errors
    /// If the issuer refuses.
    pub fn token(&self, challenge: &TokenChallenge, now: u64) -> Result<Token> {
        self.token_by(&self.key(challenge, now)?, challenge)
    }

    fn token_by(&self, key: &IssuerPublicKey, challenge: &TokenChallenge) -> Result<Token> {
        let (pending, request) = Pending::one(key, challenge)?;
        let response = self.issue("application/private-token-request", &request, 1)?;
        Ok(pending.finalize(&response)?.remove(0))
    }

    /// The response to a request. If the gate asks for work, does it.
    ///
    /// # Errors
    /// If the issuer refuses.
    pub fn issue(&self, media_type: &str, request: &[u8], tokens: u64) -> Result<Vec<u8>> {
        let url = format!("{}/token-request", self.issuer);
        let mut answer = self.post(&url, media_type, request, &self.proofs)?;
        if answer.status == 401 || answer.status == 403 {
            let problem = answer.json();
            if let Some(work) = Work::from_json(&problem["gate"]) {
                let solved = work.solve(&sha256(&[request]), tokens, || true);
                let name = pow_name(&problem["gate"]).unwrap_or("pow");
                let mut proofs = self.proofs.clone();
                proofs.extend(solved.map(|proof| format!("{name} {proof}")));
                answer = self.post(&url, media_type, request, &proofs)?;
            }
        }
        match answer.status {
            200 => Ok(answer.body),
            _ => Err(Error::Issuer(format!("it refused: {}", answer.json()))),
        }
    }
}

/// The host of a URL, with its port if it names one: what challenges name.
#[must_use]
pub fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

/// A host may hand on the challenge that it got from another, to spend the token there itself.
fn must_be_for(challenge: &TokenChallenge, host: &str) -> Result<()> {
    let without_port = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if challenge.is_for(host) || challenge.is_for(without_port) {
        return Ok(());
    }
    let names: Vec<&str> = challenge.origins().collect();
    let names = names.join(", ");
    Err(Error::Challenge(format!(
        "the challenge of {host} is for {names}; if it is that host, say so: --host NAME"
    )))
}

/// The key that a challenge names, or the first one. An origin could name another key for each
/// client, to know them again, so only usable keys of the directory count. It may be the key of the
/// epoch before: the origin asks for the directory from time to time.
fn listed(offer: &header::Offer, directory: &Directory, now: u64) -> Result<IssuerPublicKey> {
    let mut keys = directory.usable_keys(offer.challenge.token_type()?, now);
    let named = offer.token_key.as_deref();
    let found = keys.find(|key| named.is_none_or(|named| named == key.as_bytes()));
    found.cloned().ok_or_else(|| {
        Error::Challenge(
            "the challenge names no key of the issuer's directory; ask again for both".to_owned(),
        )
    })
}

/// The name of the gate whose work [`Work::from_json`] finds.
fn pow_name(gate: &Value) -> Option<&str> {
    match gate["of"].as_array() {
        Some(parts) => parts.iter().find_map(pow_name),
        None => gate["algorithm"].as_str().and(gate["name"].as_str()),
    }
}

fn answer(
    url: &str,
    called: std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<Answer> {
    let failed = |error: ureq::Error| Error::Issuer(format!("{url}: {error}"));
    let mut response = called.map_err(failed)?;
    let values = response.headers().get_all("www-authenticate").iter();
    let challenges = values
        .filter_map(|value| value.to_str().ok().map(str::to_owned))
        .collect();
    Ok(Answer {
        status: response.status().as_u16(),
        challenges,
        body: response.body_mut().read_to_vec().map_err(failed)?,
    })
}

#[cfg(test)]
mod tests {
    use sealstone_token::privacypass::directory::{DirectoryKey, Lifetime};
    use sealstone_token::privacypass::{IssuerKey, TokenType};

    use super::*;

    fn challenge(origins: &[&str]) -> TokenChallenge {
        let made = TokenChallenge::new(TokenType::VoprfP384, "issuer.example", None, origins);
        made.expect("names")
    }

    #[test]
    fn the_host_of_a_url() {
        for (url, expected) in [
            ("https://shop.example/a?b#c", "shop.example"),
            ("http://127.0.0.1:8081/verify", "127.0.0.1:8081"),
            (
                "https://shop.example?next=https://bank.example",
                "shop.example",
            ),
            ("https://bank.example@shop.example:1/", "shop.example:1"),
            ("http://[::1]:8081", "[::1]:8081"),
        ] {
            assert_eq!(host(url), expected);
        }
    }

    #[test]
    fn a_challenge_for_another_host_is_not_answered() {
        let ours = challenge(&["a.example", "shop.example"]);
        for host in ["shop.example", "SHOP.example", "shop.example:8081"] {
            must_be_for(&ours, host).expect(host);
        }
        must_be_for(&challenge(&[]), "any.example").expect("for all");
        let ports = challenge(&["127.0.0.1:8081"]);
        must_be_for(&ports, "127.0.0.1:8081").expect("its port");
        for (asked, host) in [
            (&ours, "bank.example"),
            (&ours, "shop.example.bank.example"),
            (&ours, "a.example,shop.example"),
            (&ours, ""),
            (&ports, "127.0.0.1:8082"),
            (&ports, "127.0.0.1"),
        ] {
            let said = must_be_for(asked, host).expect_err(host).to_string();
            assert!(said.contains("is for "), "{said}");
        }
    }

    #[test]
    fn a_key_that_is_not_the_directorys_is_not_used() {
        let key = || IssuerKey::generate(TokenType::VoprfP384).expect("a key");
        let [new, old, older, over, next, other] = [(); 6].map(|()| key().public_key());
        let entry = |key: &IssuerPublicKey, epoch, not_before, issue_until| DirectoryKey {
            key: key.clone(),
            not_before: Some(not_before),
            lifetime: Some(Lifetime {
                epoch,
                not_before,
                issue_until,
                redeem_until: 900,
            }),
        };
        let directory = Directory {
            request_uri: "/token-request".to_owned(),
            keys: vec![
                entry(&new, 3, 100, 300),
                entry(&old, 2, 50, 150),
                entry(&older, 1, 0, 150),
                entry(&over, 0, 0, 101),
                entry(&next, 4, 102, 400),
            ],
        };
        let found = |named: Option<&[u8]>| {
            let offer = header::Offer {
                challenge: challenge(&[]),
                token_key: named.map(<[u8]>::to_vec),
                max_age: None,
            };
            listed(&offer, &directory, 101)
        };
        assert_eq!(found(None).expect("none is named"), new);
        for key in [&new, &old] {
            assert_eq!(
                &found(Some(key.as_bytes())).expect("a key that issues"),
                key
            );
        }
        for named in [&older, &over, &next, &other].map(|key| key.as_bytes().to_vec()) {
            let said = found(Some(&named))
                .expect_err("no key that issues")
                .to_string();
            assert!(said.contains("names no key"), "{said}");
        }
        assert!(found(Some(b"")).is_err());
    }
}
