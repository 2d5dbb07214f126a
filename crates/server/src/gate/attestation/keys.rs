//! The attester's keys: from a file or a URL, and read again at intervals.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::jws::Key;
use crate::network;

/// Seconds between two tries, also for a key that is unknown here.
const RETRY: u64 = 10;
/// Seconds after which keys are forgotten, unless they are confirmed again.
const KEPT: u64 = 24 * 60 * 60;
/// How long the attester may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request waits for that answer. It keeps one of the few workers busy.
const BRIEF: Duration = Duration::from_millis(500);
/// The longest set of keys, in bytes.
const MAX_LEN: u64 = 64 * 1024;
/// The most keys that are looked at.
const MAX_KEYS: usize = 64;

enum Source {
    File(PathBuf),
    Url(String, ureq::Agent),
}

/// The last good keys.
#[derive(Default)]
struct Known {
    keys: Arc<Vec<Key>>,
    fetched: Option<u64>,
}

/// When the source was asked the last time, and whether it has not answered yet.
#[derive(Default)]
struct Asked {
    at: Option<u64>,
    is_open: bool,
}

pub(super) struct Keys {
    shared: Arc<Shared>,
    refresh: u64,
}

struct Shared {
    source: Source,
    known: RwLock<Known>,
    asked: Mutex<Asked>,
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

impl Keys {
    /// Keys of a file, which must be there.
    pub(super) fn of_file(path: &Path, refresh: u64) -> Result<Self, String> {
        let keys = Self::new(Source::File(path.to_owned()), refresh);
        keys.shared.fetch()?;
        Ok(keys)
    }

    /// Keys of a URL, which is asked when they are needed.
    pub(super) fn of_url(url: &str, refresh: u64) -> Result<Self, String> {
        let is_near = ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| {
            let rest = url
                .strip_prefix("http://")
                .and_then(|url| url.strip_prefix(host));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        });
        if !is_near && !url.starts_with("https://") {
            return Err("keys-url needs https, except on this machine".to_owned());
        }
        let agent = network::agent(None, TIMEOUT).map_err(|error| error.to_string())?;
        Ok(Self::new(Source::Url(url.to_owned(), agent), refresh))
    }

    fn new(source: Source, refresh: u64) -> Self {
        let shared = Arc::new(Shared {
            source,
            known: RwLock::default(),
            asked: Mutex::default(),
        });
        Self { shared, refresh }
    }

    /// Whether `is_it` holds for a key that fits the id; none if no key is known at all.
    pub(super) fn any(
        &self,
        id: Option<&str>,
        now: u64,
        is_it: impl Fn(&Key) -> bool,
    ) -> Option<bool> {
        let fits = |key: &&Key| id.is_none() || key.id() == id;
        let mut keys = self.current(now, self.refresh);
        if !keys.iter().any(|key| fits(&key)) {
            // It may be new.
            keys = self.current(now, 0);
        }
        (!keys.is_empty()).then(|| keys.iter().filter(fits).any(is_it))
    }

    /// The keys; the source is asked if they are older than `age` seconds.
    fn current(&self, now: u64, age: u64) -> Arc<Vec<Key>> {
        if is_older(self.shared.known().1, now, age) && self.shared.begin(now) {
            self.ask(now);
        }
        let (keys, fetched) = self.shared.known();
        match is_older(fetched, now, KEPT) {
            true => Arc::default(),
            false => keys,
        }
    }

    /// Asks the source in another thread, and waits briefly.
    fn ask(&self, now: u64) {
        let (shared, (sender, answered)) = (self.shared.clone(), channel());
        let asking = std::thread::Builder::new().spawn(move || {
            shared.look(now);
            shared.end();
            // Perhaps nobody waits any more.
            let _ = sender.send(());
        });
        match asking {
            Ok(_) => {
                let _ = answered.recv_timeout(BRIEF);
            }
            // The system has no thread left.
            Err(_) => self.shared.end(),
        }
    }
}

fn is_older(time: Option<u64>, now: u64, age: u64) -> bool {
    time.is_none_or(|time| now.abs_diff(time) >= age)
}

impl Shared {
    /// Whether the caller is to ask the source now: nobody else does, and nobody did recently.
    fn begin(&self, now: u64) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_open || !is_older(asked.at, now, RETRY) {
            return false;
        }
        *asked = Asked {
            at: Some(now),
            is_open: true,
        };
        true
    }

    fn end(&self) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_open = false;
    }

    fn known(&self) -> (Arc<Vec<Key>>, Option<u64>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.keys.clone(), known.fetched)
    }

    fn look(&self, now: u64) {
        match self.fetch() {
            Ok(keys) => {
                let keys = Arc::new(keys);
                let fetched = Some(now);
                *self.known.write().unwrap_or_else(PoisonError::into_inner) =
                    Known { keys, fetched };
            }
            Err(error) => tracing::warn!(%error, "the attester's keys were not refreshed"),
        }
    }

    fn fetch(&self) -> Result<Vec<Key>, String> {
        let text = match &self.source {
            Source::File(path) => {
                std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            Source::Url(url, agent) => get(url, agent)?,
        };
        let malformed = |_| "the attester's keys are not a JWK set (RFC 7517)".to_owned();
        let set: JwkSet = serde_json::from_slice(&text).map_err(malformed)?;
        let keys: Vec<Key> = set
            .keys
            .iter()
            .take(MAX_KEYS)
            .filter_map(Key::from_jwk)
            .collect();
        match keys.is_empty() {
            true => Err("the attester has no key for ES256, EdDSA or RS256".to_owned()),
            false => Ok(keys),
        }
    }
}

fn get(url: &str, agent: &ureq::Agent) -> Result<Vec<u8>, String> {
    let failed = |error: ureq::Error| format!("{url}: {error}");
    let mut response = agent.get(url).call().map_err(failed)?;
    if response.status() != 200 {
        return Err(format!("{url} answers with {}", response.status()));
    }
    let body = response.body_mut().with_config().limit(MAX_LEN);
    body.read_to_vec().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Instant;

    const JWK: &str = r#"{"kty":"OKP","crv":"Ed25519","kid":"KID","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn set(kid: &str) -> String {
        format!("{{\"keys\":[{}]}}", JWK.replace("KID", kid))
    }

    fn has(keys: &Keys, kid: &str, now: u64) -> Option<bool> {
        keys.any(Some(kid), now, |_| true)
    }

    #[test]
    fn files_are_read_again_and_the_last_good_one_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("keys.json");
        assert!(Keys::of_file(&path, 300).is_err(), "no file");
        std::fs::write(&path, "{}").expect("a file");
        assert!(Keys::of_file(&path, 300).is_err(), "no set");
        std::fs::write(&path, set("a")).expect("a file");
        let keys = Keys::of_file(&path, 300).expect("keys");
        assert_eq!(has(&keys, "a", 1000), Some(true));
        std::fs::write(&path, set("b")).expect("a file");
        assert_eq!(
            has(&keys, "a", 1005),
            Some(true),
            "it is not read each time"
        );
        assert_eq!(
            has(&keys, "b", 1005),
            Some(false),
            "nor for each unknown key"
        );
        assert_eq!(
            has(&keys, "b", 1010),
            Some(true),
            "but for one, from time to time"
        );
        assert_eq!(has(&keys, "a", 1011), Some(false), "the old key is gone");
        std::fs::write(&path, "nothing").expect("a file");
        assert_eq!(has(&keys, "b", 1400), Some(true), "the last good set stays");
        assert_eq!(has(&keys, "b", 1010 + KEPT), None, "for a day");
    }

    #[test]
    fn urls_are_encrypted_or_near() {
        let is_taken = |url: &str| Keys::of_url(url, 300).is_ok();
        assert!(is_taken("https://attester.example/keys"));
        assert!(is_taken("http://127.0.0.1:8080/keys") && is_taken("http://[::1]/keys"));
        for url in [
            "http://attester.example/keys",
            "http://127.0.0.1.example/",
            "ftp://a/",
            "",
        ] {
            assert!(!is_taken(url), "{url}");
        }
    }

    #[test]
    fn a_request_does_not_wait_for_a_slow_attester() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let (go, answering) = channel();
        let attester = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a request");
            answering.recv().expect("the signal");
            let body = set("a");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            stream
                .write_all((head + &body).as_bytes())
                .expect("an answer");
            // Until the other side ends it.
            drop(stream.read_to_end(&mut Vec::new()));
        });
        let keys = Keys::of_url(&url, 300).expect("keys");
        assert_eq!(has(&keys, "a", 1000), None, "the attester is silent still");
        assert_eq!(has(&keys, "a", 1020), None, "and is asked once at a time");
        go.send(()).expect("the attester");
        let until = Instant::now() + TIMEOUT;
        while has(&keys, "a", 1005).is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(has(&keys, "a", 1005), Some(true));
        drop(keys);
        attester.join().expect("the attester");
    }
}
