//! An issuer, tokens, and clients that redeem them at the same time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use sealstone_server::client::Client;
use sealstone_server::clock::Clock;
use sealstone_token::privacypass::{GenericPending, IssuerPublicKey, TokenChallenge, header};

use crate::history::{History, Seen};
use crate::victim::Process;

/// Clients at the same time.
const CLIENTS: usize = 6;
/// The number of tokens that are fetched at once.
pub(crate) const BATCH: usize = 100;

/// Tokens as values of headers, with their history.
pub(crate) struct Load {
    urls: Vec<String>,
    issuers: Vec<String>,
    fetched: usize,
    challenge: TokenChallenge,
    key: IssuerPublicKey,
    tokens: Vec<String>,
    history: Arc<Mutex<History>>,
}

impl Load {
    /// Tokens for a running verifier.
    pub(crate) fn new(issuer: &Process, verifier: &Process) -> Self {
        Self::across(&[issuer], &[verifier])
    }

    /// Tokens of any of these issuers, for any of these verifiers.
    pub(crate) fn across(issuers: &[&Process], verifiers: &[&Process]) -> Self {
        let urls = verifiers.iter().map(|one| format!("{}/verify", one.url()));
        let urls: Vec<String> = urls.collect();
        let issuers: Vec<String> = issuers.iter().map(|one| one.url().to_owned()).collect();
        let client = Client::new(&issuers[0]);
        let challenge = client.challenge(&urls[0]).expect("a challenge").challenge;
        let key = client
            .key(&challenge, Clock::system().now())
            .expect("a key");
        Self {
            urls,
            issuers,
            fetched: 0,
            challenge,
            key,
            tokens: Vec::new(),
            history: Arc::default(),
        }
    }

    /// Gets a hundred tokens more, from the next issuer.
    pub(crate) fn fetch(&mut self) {
        let issuer = &self.issuers[self.fetched % self.issuers.len()];
        self.fetched += 1;
        let wanted = vec![(&self.key, &self.challenge); BATCH];
        let (pending, request) = GenericPending::new(&wanted).expect("a request");
        let media_type = "application/private-token-generic-batch-request";
        let response = Client::new(issuer).issue(media_type, &request, BATCH as u64);
        let tokens = pending
            .finalize(&response.expect("a response"))
            .expect("tokens");
        let values = tokens
            .into_iter()
            .map(|token| header::authorization(&token.expect("a token")));
        self.tokens.extend(values);
    }

    /// Clients redeem the newest tokens, each token by several of them, until they are stopped.
    pub(crate) fn start(&self) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let answers = Arc::new(AtomicUsize::new(0));
        let first = self.tokens.len() - BATCH;
        let clients = (0..CLIENTS).map(|client| {
            let tokens = self.tokens[first..].to_vec();
            let (urls, history) = (self.urls.clone(), self.history.clone());
            let (stop, answers) = (stop.clone(), answers.clone());
            std::thread::spawn(move || {
                let agent = agent();
                // Neighbours are a few tokens apart, so that they use the same tokens.
                for turn in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let index = (turn + client * 3) % tokens.len();
                    let url = &urls[(turn + client) % urls.len()];
                    let seen = redeem(&agent, url, &tokens[index]);
                    history.lock().expect("a history").add(first + index, seen);
                    answers.fetch_add(usize::from(seen != Seen::Unknown), Ordering::Relaxed);
                }
            })
        });
        Running {
            clients: clients.collect(),
            stop,
            answers,
        }
    }

    /// The newest `count` tokens, for clients that send one and do not wait for the answer.
    pub(crate) fn shown_and_left(&self, count: usize) -> Vec<String> {
        let first = self.tokens.len() - count;
        let mut history = self.history.lock().expect("a history");
        (first..self.tokens.len()).for_each(|token| history.add(token, Seen::Unknown));
        self.tokens[first..].to_vec()
    }

    /// Redeems the first token twice.
    pub(crate) fn first(&self) -> [Seen; 2] {
        [(); 2].map(|()| redeem(&agent(), &self.urls[0], &self.tokens[0]))
    }

    /// The number of attempts without an answer.
    pub(crate) fn unknown(&self) -> usize {
        self.history.lock().expect("a history").count(Seen::Unknown)
    }

    /// Redeems every token once more, and checks the whole history.
    pub(crate) fn check(&self) -> Result<usize, String> {
        let agent = agent();
        let mut history = self.history.lock().expect("a history");
        for (index, token) in self.tokens.iter().enumerate() {
            history.add(
                index,
                redeem(&agent, &self.urls[index % self.urls.len()], token),
            );
        }
        history.check()?;
        Ok(history.count(Seen::Accepted))
    }
}

/// Running clients.
pub(crate) struct Running {
    clients: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
}

impl Running {
    /// The number of answered attempts.
    pub(crate) fn answered(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }

    /// Waits for this number of answered attempts.
    pub(crate) fn wait_for(&self, answers: usize) {
        for _ in 0..2000 {
            if self.answered() >= answers {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no more answers");
    }

    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.join().expect("a client");
        }
    }
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(5)));
    config.build().into()
}

pub(crate) fn redeem(agent: &ureq::Agent, url: &str, authorization: &str) -> Seen {
    let answer = agent.get(url).header("authorization", authorization).call();
    match answer.map(|answer| answer.status().as_u16()) {
        Ok(200) => Seen::Accepted,
        Ok(401) => Seen::Spent,
        Ok(503 | 408) | Err(_) => Seen::Unknown,
        Ok(other) => Seen::Other(other),
    }
}
