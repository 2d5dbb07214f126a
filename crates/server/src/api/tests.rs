//! The document and the router agree.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::routing::get;
use sealstone_primitives::secret::Secret;
use sealstone_token::privacypass::TokenType;
use serde_json::Value;
use tower::ServiceExt;

use crate::clock::Clock;
use crate::gate::Gates;
use crate::http::{Proxies, RouteLimits, with_fallbacks};
use crate::issuer::Issuer;
use crate::keys::{KeyOptions, Keyring};
use crate::store::{RedbStore, Store};
use crate::vault::Vault;
use crate::verifier::{Source, Verifier};

const NOW: u64 = 1_767_225_600;
const METHODS: [&str; 6] = ["get", "post", "put", "delete", "patch", "options"];

/// All routes for clients, of an issuer that verifies.
async fn router(directory: &std::path::Path) -> Router {
    let vault = Arc::new(Vault::open(directory, None, "Issuer", NOW).expect("a vault"));
    let store = RedbStore::open(&directory.join("store.redb")).expect("a store");
    let store: Arc<dyn Store> = Arc::new(store);
    let options = KeyOptions {
        types: vec![TokenType::VoprfRistretto255],
        ..KeyOptions::default()
    };
    let keyring = Keyring::open(store.clone(), vault, &options, NOW).await;
    let keyring = Arc::new(keyring.expect("keys"));
    let gates = Gates::new(
        "none",
        &std::collections::BTreeMap::new(),
        &Secret::random(),
    );
    let (clock, _setter) = Clock::settable(NOW);
    let source = Source::Own(keyring.clone());
    let origins = ["origin.example".to_owned()];
    let verifier = Verifier::new(source, store.clone(), "issuer", &origins, clock.clone());
    let proxies = Proxies::default();
    let issuer = Issuer::new(keyring, store, gates.expect("a gate"), proxies, clock, 10);
    let limits = RouteLimits::default();
    let routes = Arc::new(issuer).router(&limits);
    let routes = routes.merge(Arc::new(verifier.expect("a verifier")).router(&limits));
    with_fallbacks(routes.merge(super::router(&super::both())))
}

/// Paths and methods of the document, without those of the service's health, which has a router
/// of its own.
fn documented() -> BTreeSet<String> {
    let document = serde_json::to_value(super::both()).expect("JSON");
    let paths = document["paths"].as_object().expect("paths").iter();
    let of_path = |(path, item): (&String, &Value)| -> Vec<String> {
        let methods = item.as_object().expect("methods").keys();
        methods.map(|method| format!("{method} {path}")).collect()
    };
    let all = paths.flat_map(of_path);
    // Every GET answers HEAD too.
    all.filter(|route| !route.ends_with('z') && !route.starts_with("head "))
        .collect()
}

/// Paths and methods of the router: its description, and whether it refuses the method.
async fn routed(router: &Router) -> BTreeSet<String> {
    let text = format!("{router:?}");
    let quoted = text.split('"').skip(1).step_by(2);
    let is_path = |text: &&str| text.starts_with('/') && !text.contains("__private__");
    let mut found = BTreeSet::new();
    for path in quoted.filter(is_path) {
        for method in METHODS {
            let verb: Method = method.to_uppercase().parse().expect("a method");
            let request = Request::builder().method(verb).uri(path);
            let request = request.body(Body::empty()).expect("a request");
            let answer = router.clone().oneshot(request).await.expect("an answer");
            // The fallback's own path is in the description too.
            if ![404, 405].contains(&answer.status().as_u16()) {
                // Documents cannot say "any path below", of which the empty one is a route.
                let path = path.trim_end_matches("{*path}").trim_end_matches('/');
                found.insert(format!("{method} {path}"));
            }
        }
    }
    found
}

#[tokio::test]
async fn the_document_and_the_router_agree() {
    let directory = tempfile::tempdir().expect("a directory");
    let router = router(directory.path()).await;
    assert_eq!(routed(&router).await, documented());
    let planted = router.route("/v1/planted", get(|| async { "" }));
    let differ: Vec<String> = routed(&planted)
        .await
        .difference(&documented())
        .cloned()
        .collect();
    assert_eq!(
        differ,
        ["get /v1/planted"],
        "a route without a document is found"
    );
}
