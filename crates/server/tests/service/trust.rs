//! Verifiers and their pinned issuer.

use std::sync::Arc;

use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, Status, TrustStore};
use sealstone_files::TrustDirectory;
use sealstone_server::network;
use sealstone_server::pinned::{FETCH_TIME, Pinned};
use sealstone_server::store::{RedbStore, Store};
use sealstone_token::privacypass::TokenType;
use serde_json::json;

use crate::world::{World, get, now, redeem, token};

#[test]
fn a_verifier_goes_on_with_the_last_good_directory() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let verifier = world.verifier(issuer.url(), &[]);
    let (url, address) = (issuer.url().to_owned(), verifier.address().to_owned());
    let tokens = [token(&url, verifier.url()), token(&url, verifier.url())];
    assert_eq!(issuer.stop(), Some(0));
    assert_eq!(redeem(verifier.url(), &tokens[0]).0, 200);
    assert_eq!(verifier.stop(), Some(0));
    let verifier = world.verifier(&url, &["--listen", &address]);
    assert_eq!(
        redeem(verifier.url(), &tokens[1]).0,
        200,
        "also after a restart"
    );
    assert_eq!(get(&format!("{}/readyz", verifier.url())).0, 200);
}

#[test]
fn another_issuer_at_the_same_url_is_refused() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let (url, address) = (issuer.url().to_owned(), issuer.address().to_owned());
    let verifier = world.verifier(&url, &[]);
    let listen = verifier.address().to_owned();
    let old = token(&url, verifier.url());
    drop(issuer);
    std::fs::rename(world.path("issuer"), world.path("old")).expect("a directory");
    let impostor = world.issuer(&["--gate", "none", "--listen", &address]);
    let forged = token(impostor.url(), verifier.url());
    assert_eq!(
        redeem(verifier.url(), &forged),
        (401, "unknown-key".to_owned())
    );
    assert_eq!(
        redeem(verifier.url(), &old).0,
        200,
        "the last good directory stays"
    );
    drop(verifier);
    let verifier = world.verifier(&url, &["--listen", &listen]);
    assert_eq!(
        redeem(verifier.url(), &forged).1,
        "unknown-key",
        "also after a restart"
    );
}

#[test]
fn the_configured_fingerprint_counts() {
    let world = World::new();
    let issuer = world.issuer(&["--gate", "none"]);
    let wrong = Fingerprint::from_bytes([7; 32]).to_string();
    let error = world
        .try_verifier(issuer.url(), &["--fingerprint", &wrong])
        .err();
    let error = error.expect("another issuer");
    assert!(error.contains("its fingerprint is"), "{error}");
    let right = issuer.ready["fingerprint"]
        .as_str()
        .expect("a fingerprint")
        .to_owned();
    drop(world.verifier(issuer.url(), &["--fingerprint", &right]));
    let error = world
        .try_verifier(issuer.url(), &["--fingerprint", &wrong])
        .err();
    assert!(error.expect("another issuer").contains("is pinned"));
}

#[test]
fn an_issuer_that_was_denied_is_not_used() {
    let world = World::new();
    let issuer = world.issuer(&["--gate", "none"]);
    drop(world.verifier(issuer.url(), &[]));
    let directory = TrustDirectory::new(world.path("verifier").join("trust"));
    let mut store = TrustStore::open(directory).expect("a trust store");
    let fingerprint = issuer.ready["fingerprint"].as_str().expect("a fingerprint");
    let change = Change {
        time: now(),
        operator: "test",
        note: None,
    };
    let fingerprint = fingerprint.parse().expect("a fingerprint");
    store
        .set_status(&fingerprint, Status::Denied, &change)
        .expect("a record");
    let error = world
        .try_verifier(issuer.url(), &[])
        .err()
        .expect("a refusal");
    assert!(error.contains("denied"), "{error}");
}

#[test]
fn revoked_keys_are_worthless_and_new_ones_work() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    // A refresh each second, for the test.
    let config = world.path("verifier.toml");
    std::fs::write(&config, "[verifier]\nrefresh = 1").expect("a file");
    let verifier = world.verifier(issuer.url(), &["--config", &config.display().to_string()]);
    let old = token(issuer.url(), verifier.url());
    let data = world.path("issuer");
    let asked =
        sealstone_server::admin::ask(&data, "POST", "/api/revoke-keys", &serde_json::json!({}));
    asked.expect("an answer");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let fresh = token(issuer.url(), verifier.url());
    while redeem(verifier.url(), &fresh).0 != 200 {
        assert!(
            std::time::Instant::now() < deadline,
            "the new keys never arrived"
        );
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert_eq!(
        redeem(verifier.url(), &old),
        (401, "unknown-key".to_owned())
    );
}

/// The first process stores the new directory. The second one finds it in the store, and must use
/// it too.
#[test]
fn verifiers_with_one_store_all_follow_the_issuer() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let store = RedbStore::open(&world.path("store.redb")).expect("a store");
    let store: Arc<dyn Store> = Arc::new(store);
    let open = async |name| {
        let trust = TrustDirectory::new(world.path(name));
        let agent = network::agent(None, FETCH_TIME).expect("an agent");
        let pinned = Pinned::open(issuer.url(), agent, None, trust, store.clone(), now());
        pinned.await.expect("an issuer")
    };
    let key = |pinned: &Pinned| pinned.public_key(TokenType::BlindRsa2048, now());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (first, second) = runtime.block_on(async { (open("first").await, open("second").await) });
    let old = key(&first);
    assert_eq!(key(&second), old);
    let revoke = "/api/revoke-keys";
    let asked = sealstone_server::admin::ask(&world.path("issuer"), "POST", revoke, &json!({}));
    asked.expect("an answer");
    for pinned in [&first, &second] {
        runtime
            .block_on(pinned.refresh(now()))
            .expect("a directory");
    }
    assert_ne!(key(&first), old);
    assert_eq!(key(&second), key(&first));
}

#[test]
fn an_unchanged_answer_is_not_sent_again() {
    let world = World::new();
    let metrics = format!("127.0.0.1:{}", sealstone_testing::servers::free_port());
    let config = format!("[issuer]\ngate = \"none\"\n[metrics]\nlisten = \"{metrics}\"");
    let issuer = world.configured(&config);
    let store = RedbStore::open(&world.path("store.redb")).expect("a store");
    let trust = TrustDirectory::new(world.path("trust"));
    let agent = network::agent(None, FETCH_TIME).expect("an agent");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let pinned = Pinned::open(issuer.url(), agent, None, trust, Arc::new(store), now());
    let pinned = runtime.block_on(pinned).expect("an issuer");
    assert_eq!(pinned.fresh_for(), 300, "as the issuer said");
    runtime
        .block_on(pinned.refresh(now()))
        .expect("a directory");
    assert_eq!(pinned.fresh_for(), 300);
    let answer = sealstone_server::client::Client::new("");
    let answer = answer.get(&format!("http://{metrics}/metrics"), None);
    let text = String::from_utf8(answer.expect("an answer").body).expect("text");
    for status in ["200", "304"] {
        let line = format!("{{route=\"signed-directory\",status=\"{status}\"}} 1");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn a_data_directory_has_one_role_and_one_process() {
    let world = World::new();
    let issuer = world.issuer(&["--gate", "none"]);
    let data = world.path("issuer").display().to_string();
    let again = ["issuer", "--data", &data, "--listen", "127.0.0.1:0"];
    let error = crate::world::Service::try_start(&again).err();
    let error = error.expect("two processes");
    assert!(error.contains("another process uses"), "{error}");
    let url = issuer.url().to_owned();
    assert_eq!(issuer.stop(), Some(0));
    let other = [
        "verifier",
        "--data",
        &data,
        "--listen",
        "127.0.0.1:0",
        "--issuer",
        &url,
    ];
    let error = crate::world::Service::try_start(&other)
        .err()
        .expect("another role");
    assert!(error.contains("another kind"), "{error}");
}
