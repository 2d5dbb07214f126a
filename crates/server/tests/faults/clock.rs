//! Clocks that jump: no token is accepted twice, no key is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sealstone_server::clock::{Clock, Setter};
use sealstone_server::keys::{Form, KeyOptions, Keyring};
use sealstone_server::store::{RedbStore, Store};
use sealstone_server::vault::Vault;
use sealstone_server::verifier::{Reason, Source, Verdict, Verifier};
use sealstone_token::privacypass::directory::Directory;
use sealstone_token::privacypass::{Pending, Token, TokenChallenge, TokenType};

const HOUR: u64 = 3600;
/// Half past the hour at which an epoch begins.
const NOW: u64 = 1_767_225_600 + HOUR / 2;
const KINDS: [TokenType; 2] = [TokenType::BlindRsa2048, TokenType::VoprfRistretto255];

/// An issuer with epochs of an hour that verifies its own tokens.
struct World {
    keyring: Arc<Keyring>,
    verifier: Verifier,
    store: Arc<dyn Store>,
    setter: Setter,
    clock: Clock,
    _directory: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (clock, setter) = Clock::settable(NOW);
        let vault = Vault::open(directory.path(), None, "Issuer", NOW).expect("a vault");
        let store = RedbStore::open(&directory.path().join("store.redb")).expect("a store");
        let store: Arc<dyn Store> = Arc::new(store);
        let options = KeyOptions {
            types: KINDS.to_vec(),
            length: HOUR,
            issue_grace: HOUR / 4,
            redeem_grace: HOUR,
        };
        let keyring = Keyring::open(store.clone(), Arc::new(vault), &options, NOW).await;
        let keyring = Arc::new(keyring.expect("keys"));
        let (source, origins) = (Source::Own(keyring.clone()), ["origin".to_owned()]);
        let verifier = Verifier::new(source, store.clone(), "issuer", &origins, clock.clone());
        Self {
            keyring,
            verifier: verifier.expect("names"),
            store,
            setter,
            clock,
            _directory: directory,
        }
    }

    /// Sets the clock, and runs the service's task of each half minute.
    async fn set(&self, now: u64) {
        self.setter.set(now);
        self.keyring.refresh(now).await.expect("keys");
        let kept = 24 * HOUR;
        self.store.close_sets(now - kept).await.expect("a store");
    }

    fn directory(&self) -> Directory {
        Directory::from_json(&self.keyring.published().json).expect("a directory")
    }

    fn token(&self, kind: TokenType) -> Token {
        let challenge = TokenChallenge::new(kind, "issuer", None, &["origin"]).expect("names");
        let now = self.clock.now();
        let directory = self.directory();
        let key = directory.key(kind, now).expect("a key");
        let (pending, request) = Pending::one(key, &challenge).expect("a request");
        let response = self
            .keyring
            .issue(Form::One, &request, 1, now)
            .expect("a response");
        pending.finalize(&response).expect("a token").remove(0)
    }

    async fn spend(&self, token: &Token) -> Verdict {
        self.verifier.spend(token, None).await.expect("a store")
    }
}

#[tokio::test]
async fn an_hour_forth_and_back_spends_nothing_twice() {
    let world = World::new().await;
    for kind in KINDS {
        let (spent, kept) = (world.token(kind), world.token(kind));
        assert!(world.spend(&spent).await.is_ok());
        for now in [NOW + HOUR, NOW, NOW - HOUR / 4, NOW] {
            world.set(now).await;
            assert!(world.spend(&spent).await.is_err(), "{now}");
        }
        assert!(world.spend(&kept).await.is_ok(), "nothing was lost");
        assert_eq!(world.spend(&kept).await, Err(Reason::Spent));
    }
}

/// Jumps of an hour, equally often forwards and backwards, while many clients spend. Returns the
/// number of accepted tokens.
async fn jumps_under_load(jumps: usize) -> usize {
    let world = Arc::new(World::new().await);
    let tokens: Vec<Token> = (0..jumps * 4).map(|n| world.token(KINDS[n % 2])).collect();
    let accepted = Arc::new(AtomicUsize::new(0));
    for (jump, four) in tokens.chunks(4).enumerate() {
        let mut clients = tokio::task::JoinSet::new();
        // Three clients show each token, and one client shows all earlier tokens.
        let shown = four.iter().flat_map(|token| [token, token, token]);
        for token in shown.chain(&tokens[..jump * 4]) {
            let (world, accepted, token) = (world.clone(), accepted.clone(), token.clone());
            clients.spawn(async move {
                let is_accepted = world.spend(&token).await.is_ok();
                accepted.fetch_add(usize::from(is_accepted), Ordering::Relaxed);
            });
        }
        let next = [NOW + HOUR, NOW, NOW - HOUR, NOW][jump % 4];
        world.set(next).await;
        clients.join_all().await;
    }
    // A token refused because of the time is accepted now. No token is accepted twice.
    world.set(NOW).await;
    for token in &tokens {
        let is_accepted = world.spend(token).await.is_ok();
        accepted.fetch_add(usize::from(is_accepted), Ordering::Relaxed);
        assert_eq!(world.spend(token).await, Err(Reason::Spent));
    }
    let accepted = accepted.load(Ordering::Relaxed);
    assert_eq!(accepted, tokens.len(), "each token once");
    accepted
}

#[tokio::test(flavor = "multi_thread")]
async fn jumps_of_an_hour_under_load_spend_nothing_twice() {
    jumps_under_load(4).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a campaign of some minutes: 50 jumps each way"]
async fn fifty_jumps_of_an_hour_each_way_under_load() {
    let accepted = jumps_under_load(100).await;
    println!("50 jumps each way, {accepted} tokens accepted once");
}

#[tokio::test]
async fn keys_come_back_with_the_time() {
    let world = World::new().await;
    world.set(NOW).await;
    let key = |kind| world.directory().key(kind, NOW).expect("a key").clone();
    let before: Vec<_> = KINDS.iter().map(|kind| key(*kind)).collect();
    for now in [NOW + HOUR, NOW + 30 * HOUR, NOW - HOUR, NOW] {
        world.set(now).await;
        assert!(world.keyring.is_ready(now), "{now}");
    }
    let after: Vec<_> = KINDS.iter().map(|kind| key(*kind)).collect();
    assert_eq!(before, after);
}

/// Days later the sets of spent tokens are dropped. A clock that goes back does not reopen them.
#[tokio::test]
async fn dropped_sets_stay_closed() {
    let world = World::new().await;
    let (spent, kept) = (world.token(KINDS[0]), world.token(KINDS[0]));
    assert!(world.spend(&spent).await.is_ok());
    world.set(NOW + 100 * HOUR).await;
    assert_eq!(world.store.sets().await.expect("a store"), []);
    world.set(NOW).await;
    assert_eq!(world.spend(&spent).await, Err(Reason::Spent));
    assert_eq!(
        world.spend(&kept).await,
        Err(Reason::Spent),
        "rather refused than twice"
    );
}

#[tokio::test]
async fn the_next_epochs_key_is_announced_before_it_begins() {
    let world = World::new().await;
    world.set(NOW).await;
    let announced = world.directory();
    let next = NOW + HOUR;
    world.set(next).await;
    for kind in KINDS {
        let is_next = |key: &&sealstone_token::privacypass::directory::DirectoryKey| {
            key.key.token_type() == kind && key.not_before == Some(next - HOUR / 2)
        };
        let key = announced.keys.iter().find(is_next).expect("the next key");
        assert_eq!(world.directory().key(kind, next), Some(&key.key), "{kind}");
        let token = world.token(kind);
        assert_eq!(world.spend(&token).await.expect("a good token").epoch, 2);
    }
}

#[tokio::test]
async fn replicas_with_one_store_have_the_same_keys() {
    let world = World::new().await;
    world.set(NOW).await;
    // Another process would unlock the same passport.
    let vault = Vault::open(world._directory.path(), None, "Issuer", NOW).expect("a vault");
    let options = KeyOptions {
        types: KINDS.to_vec(),
        ..KeyOptions::default()
    };
    let other = Keyring::open(world.store.clone(), Arc::new(vault), &options, NOW).await;
    let other = other.expect("keys");
    other.refresh(NOW).await.expect("keys");
    assert_eq!(other.published().json, world.keyring.published().json);
    other.revoke(NOW).await.expect("a revocation");
    world.set(NOW).await;
    assert_eq!(other.published().json, world.keyring.published().json);
}
