//! Every route of the router, by everybody who may not use it.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::routing::get;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::guard::{Guard, Origins};
use super::routes::{Access, ROUTES};
use super::{Actions, Service};
use crate::clock::{Clock, Setter};
use crate::operators::Role;
use crate::session::Lifetime;
use crate::store::{RedbStore, Transfer};

const HOST: &str = "127.0.0.1:8079";
const PASSWORD: &str = "correct horse battery";
const NOW: u64 = 1_767_225_600;
/// Open routes: the page, and the login. To add a route here is a decision.
const OPEN: [&str; 4] = ["/", "/page.js", "/page.css", "/api/login"];
const ROLES: [Role; 3] = [Role::Viewer, Role::Operator, Role::Admin];

struct World {
    _directory: tempfile::TempDir,
    setter: Setter,
    actions: Arc<Actions>,
    guard: Guard,
}

/// A status, a problem's name, a cookie, a body.
struct Answer {
    status: u16,
    problem: String,
    cookie: Option<String>,
    body: String,
}

impl World {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = RedbStore::open(&directory.path().join("store.redb")).expect("a store");
        let store: Arc<dyn Transfer> = Arc::new(store);
        let (clock, setter) = Clock::settable(NOW);
        let service = Service {
            role: "verifier",
            address: HOST.to_owned(),
            store,
            data: directory.path().to_owned(),
            clock,
            issuer: None,
            metrics: None,
        };
        let actions = Arc::new(Actions::new(service, Lifetime::default()));
        for role in ROLES {
            let set = actions
                .operators
                .set(name(role), role, Some(PASSWORD.as_bytes()));
            set.await.expect("an operator");
        }
        let configured = ["https://admin.example.org".to_owned()];
        let address = HOST.parse().expect("an address");
        let origins = Origins::new(address, &configured).expect("origins");
        let guard = Guard::new(actions.clone(), origins);
        Self {
            _directory: directory,
            setter,
            actions,
            guard,
        }
    }

    fn router(&self) -> Router {
        self.guard.clone().router()
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        send(&self.router(), request).await
    }

    async fn log_in(&self, who: &str, password: &str) -> Answer {
        let body = json!({"name": who, "password": password});
        self.send(ask(Method::POST, "/api/login", None, &body))
            .await
    }

    /// The cookie of a new session.
    async fn cookie(&self, role: Role) -> String {
        let answer = self.log_in(name(role), PASSWORD).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        pair(&answer.cookie.expect("a cookie"))
    }
}

fn pair(cookie: &str) -> String {
    cookie.split(';').next().expect("a pair").to_owned()
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "vera",
        Role::Operator => "otto",
        Role::Admin => "ada",
    }
}

/// A request as our page sends it.
fn ask(method: Method, path: &str, cookie: Option<&str>, body: &Value) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", HOST)
        .header("origin", format!("http://{HOST}"))
        .header("sealstone-admin", "1")
        .header("content-type", "application/json");
    if let Some(cookie) = cookie {
        request = request.header("cookie", cookie);
    }
    request
        .body(Body::from(body.to_string()))
        .expect("a request")
}

async fn send(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.expect("an answer");
    let status = response.status().as_u16();
    let cookie = response.headers().get("set-cookie");
    let cookie = cookie.map(|value| value.to_str().expect("text").to_owned());
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    let body = String::from_utf8(body.expect("a body").to_vec()).expect("text");
    let value: Value = serde_json::from_str(&body).unwrap_or_default();
    let problem = value["type"].as_str().unwrap_or("");
    let problem = problem
        .trim_start_matches("urn:sealstone:problem:")
        .to_owned();
    Answer {
        status,
        problem,
        cookie,
        body,
    }
}

/// All paths that the router itself knows, from its description.
fn paths(router: &Router) -> Vec<String> {
    let text = format!("{router:?}");
    let quoted = text.split('"').skip(1).step_by(2);
    let mut paths: Vec<String> = quoted
        .filter(|text| text.starts_with('/') && !text.contains("__private__"))
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The routes of a router that answer without a session, beside [`OPEN`].
async fn unprotected(router: &Router) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths(router) {
        for method in [
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::DELETE,
        ] {
            let answer = send(router, ask(method.clone(), &path, None, &json!({}))).await;
            let is_shut = answer.problem == "login-required" || answer.status == 405;
            let is_shut = is_shut || (method == Method::HEAD && answer.status == 401);
            if !is_shut && !OPEN.contains(&path.as_str()) {
                found.push(format!("{method} {path}: {}", answer.status));
            }
        }
    }
    found
}

#[tokio::test]
async fn every_route_refuses_those_without_a_session() {
    let world = World::new().await;
    let router = world.router();
    let mut of_table: Vec<&str> = ROUTES.iter().map(|route| route.path).collect();
    of_table.sort_unstable();
    of_table.dedup();
    assert_eq!(paths(&router), of_table, "the router has the table's paths");
    assert_eq!(unprotected(&router).await, Vec::<String>::new());
}

#[tokio::test]
async fn planted_unprotected_routes_are_caught() {
    let world = World::new().await;
    let secret = || get(|| async { "keys" });
    let behind = world.router().route("/api/planted", secret());
    assert_eq!(
        unprotected(&behind).await,
        ["GET /api/planted: 200", "HEAD /api/planted: 200"]
    );
    // The guard refuses a route that is not in the table.
    let before = world
        .guard
        .clone()
        .before(Router::new().route("/api/planted", secret()));
    let asked = ask(Method::GET, "/api/planted", None, &json!({}));
    assert_eq!(send(&before, asked).await.status, 404);
}

#[tokio::test]
async fn every_route_refuses_roles_that_are_too_low() {
    let world = World::new().await;
    for role in ROLES {
        let cookie = world.cookie(role).await;
        for route in ROUTES {
            let Access::AtLeast(least) = route.access else {
                assert!(OPEN.contains(&route.path), "{} is open", route.path);
                continue;
            };
            if role < least {
                let asked = ask(route.method.clone(), route.path, Some(&cookie), &json!({}));
                let answer = world.send(asked).await;
                assert_eq!(answer.problem, "role-too-low", "{role:?} {}", route.path);
            }
        }
        let allowed = world.send(ask(Method::GET, "/api/status", Some(&cookie), &json!({})));
        assert_eq!(allowed.await.status, 200);
    }
}

/// The specification lists the same routes with the same roles.
#[test]
fn the_specification_has_the_same_table() {
    let page = include_str!("../../../../spec/service.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let (method, path, role) = (cells.next()?, cells.next()?, cells.next()?);
        let is_row = matches!(method, "GET" | "POST") && path.starts_with('`');
        is_row.then(|| format!("{method} {} {role}", path.trim_matches('`')))
    });
    let expected = ROUTES.iter().map(|route| {
        let role = match route.access {
            Access::Everybody => "everybody".to_owned(),
            Access::AtLeast(role) => format!("{role:?}").to_lowercase(),
        };
        format!("{} {} {role}", route.method, route.path)
    });
    assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn logging_out_ends_the_session() {
    let world = World::new().await;
    let cookie = world.cookie(Role::Viewer).await;
    let session = || ask(Method::GET, "/api/session", Some(&cookie), &json!({}));
    assert_eq!(world.send(session()).await.status, 200);
    let out = ask(Method::POST, "/api/logout", Some(&cookie), &json!({}));
    let answer = world.send(out).await;
    assert!(answer.cookie.expect("a cookie").contains("Max-Age=0"));
    assert_eq!(
        world.send(session()).await.problem,
        "login-required",
        "the same cookie again"
    );
}

#[tokio::test]
async fn sessions_end_by_themselves() {
    let world = World::new().await;
    let lifetime = Lifetime::default();
    let status = async |cookie: &str, now| {
        world.setter.set(now);
        let asked = ask(Method::GET, "/api/session", Some(cookie), &json!({}));
        world.send(asked).await.status
    };
    let cookie = world.cookie(Role::Viewer).await;
    assert_eq!(status(&cookie, NOW + lifetime.idle - 1).await, 200);
    assert_eq!(
        status(&cookie, NOW + 2 * lifetime.idle - 2).await,
        200,
        "it was in use"
    );
    assert_eq!(
        status(&cookie, NOW + 3 * lifetime.idle - 2).await,
        401,
        "idle"
    );
    world.setter.set(NOW);
    let cookie = world.cookie(Role::Viewer).await;
    let mut now = NOW;
    while now + lifetime.idle / 2 < NOW + lifetime.most {
        now += lifetime.idle / 2;
        assert_eq!(status(&cookie, now).await, 200);
    }
    assert_eq!(
        status(&cookie, NOW + lifetime.most).await,
        401,
        "too old, though in use"
    );
}

#[tokio::test]
async fn sessions_are_of_one_host_and_one_operator() {
    let world = World::new().await;
    let cookie = world.cookie(Role::Admin).await;
    let secret = cookie.split_once('=').expect("a pair").1;
    let elsewhere = Request::get("/api/session").header("host", "admin.example.org");
    let elsewhere = elsewhere.header("cookie", format!("__Host-sealstone={secret}"));
    let elsewhere = elsewhere.body(Body::empty()).expect("a request");
    assert_eq!(world.send(elsewhere).await.problem, "login-required");
    let viewer = json!({"name": "ada", "role": "viewer"});
    let set = ask(Method::POST, "/api/operators/set", Some(&cookie), &viewer);
    assert_eq!(world.send(set).await.status, 200);
    let again = ask(Method::GET, "/api/session", Some(&cookie), &json!({}));
    assert_eq!(
        world.send(again).await.problem,
        "login-required",
        "a changed operator logs in"
    );
    let cookie = pair(
        &world
            .log_in("ada", PASSWORD)
            .await
            .cookie
            .expect("a cookie"),
    );
    let asked = ask(Method::GET, "/api/operators", Some(&cookie), &json!({}));
    assert_eq!(
        world.send(asked).await.problem,
        "role-too-low",
        "the new role counts"
    );
}

#[tokio::test]
async fn cookies_are_kept_from_scripts_and_other_sites() {
    let world = World::new().await;
    let cookie = world
        .log_in("ada", PASSWORD)
        .await
        .cookie
        .expect("a cookie");
    assert!(cookie.starts_with("sealstone-8079="), "{cookie}");
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    let body = json!({"name": "ada", "password": PASSWORD}).to_string();
    let request = Request::post("/api/login")
        .header("host", "admin.example.org")
        .header("origin", "https://admin.example.org")
        .header("sealstone-admin", "1")
        .header("content-type", "application/json");
    let answer = world
        .send(request.body(Body::from(body)).expect("a request"))
        .await;
    let cookie = answer.cookie.expect("a cookie");
    assert!(cookie.starts_with("__Host-sealstone="), "{cookie}");
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"),
        "{cookie}"
    );
}

#[tokio::test]
async fn pages_of_other_hosts_are_refused() {
    let world = World::new().await;
    let cookie = world.cookie(Role::Admin).await;
    let changed = |name: &'static str, value: Option<&str>| {
        let mut request = ask(Method::POST, "/api/logout", Some(&cookie), &json!({}));
        match value {
            Some(value) => {
                let value = value.parse().expect("a value");
                drop(request.headers_mut().insert(name, value));
            }
            None => drop(request.headers_mut().remove(name)),
        }
        request
    };
    for (request, problem) in [
        (
            changed("origin", Some("https://evil.example")),
            "foreign-page",
        ),
        (
            changed("origin", Some("https://admin.example.org")),
            "foreign-page",
        ),
        (changed("origin", None), "foreign-page"),
        (changed("sealstone-admin", None), "foreign-page"),
        (changed("host", Some("evil.example")), "foreign-page"),
        (changed("host", None), "foreign-page"),
        (
            changed("content-type", Some("text/plain")),
            "unsupported-media-type",
        ),
    ] {
        assert_eq!(world.send(request).await.problem, problem);
    }
    let read = Request::get("/api/status").header("host", "evil.example:8079");
    let read = read
        .header("cookie", &cookie)
        .body(Body::empty())
        .expect("a request");
    assert_eq!(
        world.send(read).await.problem,
        "foreign-page",
        "a name that points here"
    );
    let asked = ask(Method::GET, "/api/session", Some(&cookie), &json!({}));
    assert_eq!(
        world.send(asked).await.status,
        200,
        "the session is still valid"
    );
}

#[tokio::test]
async fn guessing_is_slow() {
    let world = World::new().await;
    for attempt in 0..10 {
        let answer = world.log_in("ada", "a wrong password").await;
        assert_eq!(answer.problem, "login-refused", "{attempt}");
    }
    let right = world.log_in("ada", PASSWORD).await;
    assert_eq!(
        right.problem, "too-many-attempts",
        "even the right password"
    );
    assert_eq!(
        world.log_in("otto", PASSWORD).await.status,
        200,
        "another name"
    );
    world.setter.set(NOW + 600);
    assert_eq!(world.log_in("ada", PASSWORD).await.status, 200, "later");
}

/// The log tells who tried, and never what was typed.
#[tokio::test]
async fn the_log_names_operators_and_nothing_that_was_typed() {
    let world = World::new().await;
    world.log_in("ada", "a wrong password").await;
    world.log_in(PASSWORD, "ada").await;
    world.cookie(Role::Admin).await;
    let entries = world.actions.log.page(None, 50).await.expect("entries");
    let text = serde_json::to_string(&entries).expect("JSON");
    let who: Vec<&str> = entries.iter().map(|entry| entry.who.as_str()).collect();
    assert_eq!(who, ["ada", "unknown", "ada"]);
    assert!(!text.contains("horse") && !text.contains("wrong"), "{text}");
}

#[tokio::test]
async fn origins_are_checked_at_the_start() {
    let beyond = "192.0.2.1:80".parse().expect("an address");
    assert!(Origins::new(beyond, &[]).is_err());
    assert!(Origins::new(beyond, &["https://a.example".to_owned()]).is_ok());
    assert!(Origins::new(beyond, &["a.example".to_owned()]).is_err());
    assert!(Origins::new(beyond, &["https://a.example/x".to_owned()]).is_err());
}
