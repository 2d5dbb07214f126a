//! The layer in a separate application.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Request};
use axum::http::header::AUTHORIZATION;
use axum::routing::get;
use sealstone_files::TrustDirectory;
use sealstone_server::client::Client;
use sealstone_server::clock::Clock;
use sealstone_server::http::{self, Connections, Stop};
use sealstone_server::origin::TokenLayer;
use sealstone_server::pinned::Pinned;
use sealstone_server::store::{RedbStore, Store};
use sealstone_server::verifier::{Accepted, Source, Verifier};
use sealstone_token::privacypass::header;

use crate::world::{World, now};

/// Answers with the epoch of the visitor's token, and whether the application sees the token.
async fn page(accepted: Extension<Accepted>, request: Request) -> String {
    let is_told = request.headers().contains_key(AUTHORIZATION);
    format!("epoch {}, told {is_told}", accepted.epoch)
}

#[test]
fn an_application_lets_requests_with_tokens_pass() {
    let world = World::with_rsa();
    let issuer = world.issuer(&["--gate", "none"]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let stop = Stop::default();
    let address = runtime.block_on(async {
        let store = RedbStore::open(&world.path("store.redb")).expect("a store");
        let store: Arc<dyn Store> = Arc::new(store);
        let trust = TrustDirectory::new(world.path("trust"));
        let pinned = Pinned::open(
            issuer.url(),
            ureq::agent(),
            None,
            trust,
            store.clone(),
            now(),
        )
        .await;
        let source = Source::Pinned(Arc::new(pinned.expect("an issuer")));
        let origins = ["shop.example".to_owned()];
        let verifier = Verifier::new(source, store, "issuer.example", &origins, Clock::system());
        let layer = TokenLayer::new(Arc::new(verifier.expect("names")));
        let router = Router::new().route("/", get(page)).layer(layer);
        let listener = http::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = stop.clone();
        tokio::spawn(async move {
            http::serve(listener, router, &Connections::default(), &stop).await;
        });
        address
    });
    let (client, url) = (Client::new(issuer.url()), format!("http://{address}/"));
    let offer = client.challenge(&url).expect("a challenge");
    let token = client.token(&offer.challenge, now()).expect("a token");
    let value = header::authorization(&token);
    let first = client.get(&url, Some(&value)).expect("an answer");
    assert_eq!(
        (first.status, first.body),
        (200, b"epoch 1, told false".to_vec())
    );
    let again = client.get(&url, Some(&value)).expect("an answer");
    assert_eq!(
        (again.status, again.json()["reason"].as_str()),
        (401, Some("spent"))
    );
    stop.now();
}
