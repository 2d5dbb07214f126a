//! A client: does an origin's challenge, for operators who try a service, and for tests.
//!
//! ```no_run
//! use sealstone_server::client::Client;
//! use sealstone_token::privacypass::header;
//!
//! let client = Client::new("http://127.0.0.1:8080");
//! let origin = "http://127.0.0.1:8081/verify";
//! let offer = client.challenge(origin)?;
//! let token = client.token(&offer.challenge, 1_767_225_600)?;
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
use crate::issuer::GATE_HEADER;
use crate::{Error, Result, network};

const PATIENCE: Duration = Duration::from_secs(60);

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
            .timeout_global(Some(PATIENCE));
        Self::asking(config.build().into(), issuer)
    }

    /// The same with TLS, for servers whose certificates come from `ca_file`, by default from one
    /// of the system's roots.
    ///
    /// # Errors
    /// If the file holds no certificate.
    pub fn with_tls(issuer: &str, ca_file: Option<&Path>) -> Result<Self> {
        Ok(Self::asking(network::agent(ca_file, PATIENCE)?, issuer))
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

    /// The key of the issuer for a challenge.
    ///
    /// # Errors
    /// If its directory has none.
    pub fn key(&self, challenge: &TokenChallenge, now: u64) -> Result<IssuerPublicKey> {
        let answer = self.get(&format!("{}{WELL_KNOWN_PATH}", self.issuer), None)?;
        let directory = Directory::from_json(&String::from_utf8_lossy(&answer.body))?;
        let key = directory.key(challenge.token_type()?, now);
        key.cloned()
            .ok_or_else(|| Error::Issuer("its directory has no such key".to_owned()))
    }

    /// One token for a challenge. Does the work that the gate asks for.
    ///
    /// # Errors
    /// If the issuer refuses.
    pub fn token(&self, challenge: &TokenChallenge, now: u64) -> Result<Token> {
        let key = self.key(challenge, now)?;
        let (pending, request) = Pending::one(&key, challenge)?;
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
