//! Gates over HTTP: proofs are bound, used once, and not consumed by later failures.

use sealstone_primitives::hash::sha256;
use sealstone_server::client::{Answer, Client};
use sealstone_server::gate::pow::Work;
use sealstone_token::privacypass::{Pending, TokenChallenge, TokenType};
use serde_json::{Value, json};

use crate::world::{Service, World, now, post, problem};

const TYPE: TokenType = TokenType::VoprfP384;
const ONE: &str = "application/private-token-request";

/// A request for one token.
pub(crate) fn request(issuer: &Service) -> Vec<u8> {
    let challenge = TokenChallenge::new(TYPE, "issuer", None, &["origin"]).expect("names");
    let key = Client::new(issuer.url())
        .key(&challenge, now())
        .expect("a key");
    Pending::one(&key, &challenge).expect("a request").1
}

pub(crate) fn ask(issuer: &Service, request: &[u8], proofs: &[String]) -> Answer {
    let url = format!("{}/token-request", issuer.url());
    let answer = Client::new("").post(&url, ONE, request, proofs);
    answer.expect("an answer")
}

pub(crate) fn outcome(answer: &Answer) -> (u16, String) {
    (answer.status, problem(&answer.json()).to_owned())
}

pub(crate) fn refused(status: u16, name: &str) -> (u16, String) {
    (status, name.to_owned())
}

/// The work that the issuer asks for now, done for `request`.
pub(crate) fn solved(issuer: &Service, name: &str, request: &[u8]) -> String {
    let gate = ask(issuer, request, &[]).json();
    let work = Work::from_json(&gate["gate"]).expect("a challenge");
    let proof = work.solve(&sha256(&[request]), 1, || true);
    format!("{name} {}", proof.expect("a proof"))
}

/// Two requests, and a proof for the first that does not hold for the second. With few bits, a
/// proof may hold for another request by chance. But no counter below the least one of a request
/// holds for that request.
fn bound(issuer: &Service, name: &str) -> (Vec<u8>, Vec<u8>, String) {
    let counter = |proof: &str| -> u64 {
        let (_, counter) = proof.rsplit_once('.').expect("a counter");
        counter.parse().expect("a number")
    };
    loop {
        let (mine, other) = (request(issuer), request(issuer));
        let gate = ask(issuer, &mine, &[]).json();
        let work = Work::from_json(&gate["gate"]).expect("a challenge");
        let solve = |request: &[u8]| {
            work.solve(&sha256(&[request]), 1, || true)
                .expect("a proof")
        };
        let proof = solve(&mine);
        if counter(&proof) < counter(&solve(&other)) {
            return (mine, other, format!("{name} {proof}"));
        }
    }
}

#[test]
fn work_is_bound_to_its_request_and_used_once() {
    let world = World::new();
    for algorithm in [
        "algorithm = \"sha256\"\nbits = 10",
        "algorithm = \"argon2id\"\nbits = 3\nmemory-kib = 64",
    ] {
        let config =
            format!("[issuer]\ngate = \"work\"\n[gates.work]\nkind = \"pow\"\n{algorithm}");
        let issuer = world.configured(&config);
        let (mine, other, proof) = bound(&issuer, "work");
        let proof = [proof];
        assert_eq!(
            outcome(&ask(&issuer, &mine, &[])),
            refused(401, "gate-required")
        );
        assert_eq!(
            outcome(&ask(&issuer, &other, &proof)),
            refused(403, "gate-refused")
        );
        let first = ask(&issuer, &mine, &proof);
        assert_eq!(first.status, 200);
        let again = ask(&issuer, &mine, &proof);
        assert_eq!(again.status, 200, "the same request is answered again");
        assert_eq!(
            first.body[..49],
            again.body[..49],
            "with the same evaluation"
        );
        let altered = [proof[0].replace('.', "x.")];
        assert_eq!(
            outcome(&ask(&issuer, &mine, &altered)),
            refused(403, "gate-refused")
        );
    }
}

/// A proof for another request needs another counter, and is another proof of the same challenge.
#[test]
fn a_challenge_serves_one_request() {
    let world = World::new();
    let issuer = world.configured("[issuer]\ngate = \"w\"\n[gates.w]\nkind = \"pow\"\nbits = 6");
    let (mine, other) = (request(&issuer), request(&issuer));
    let gate = ask(&issuer, &mine, &[]).json();
    let work = Work::from_json(&gate["gate"]).expect("a challenge");
    let proof = |body: &[u8]| {
        let solved = work.solve(&sha256(&[body]), 1, || true);
        [format!("w {}", solved.expect("a proof"))]
    };
    assert_eq!(ask(&issuer, &mine, &proof(&mine)).status, 200);
    let used = ask(&issuer, &other, &proof(&other));
    assert_eq!(outcome(&used), refused(403, "gate-refused"));
    assert_eq!(used.json()["detail"], "the proof was used before");
    drop(issuer);
    let issuer = world.issuer(&["--config", &world.path("config.toml").display().to_string()]);
    let after = ask(&issuer, &other, &proof(&other));
    assert_eq!(
        outcome(&after),
        refused(403, "gate-refused"),
        "also after a kill"
    );
}

#[test]
fn a_request_that_fails_burns_no_proof() {
    let world = World::new();
    let config = "[issuer]\ngate = \"both\"\n[gates.both]\nkind = \"all\"\nof = [\"pow\", \"rate\"]\n\
                  [gates.rate]\nkind = \"rate\"\nlimit = 2\nperiod = 100000\n\
                  [gates.pow]\nkind = \"pow\"\nbits = 6";
    let issuer = world.configured(config);
    // Bytes that are not an element of the group: the gate passes, issuing fails.
    let mut bad = request(&issuer);
    bad[4..].fill(0xff);
    for _ in 0..4 {
        let proof = [solved(&issuer, "pow", &bad)];
        assert_eq!(
            outcome(&ask(&issuer, &bad, &proof)),
            refused(422, "invalid-request")
        );
        assert_eq!(
            outcome(&ask(&issuer, &bad, &proof)),
            refused(422, "invalid-request")
        );
    }
    for _ in 0..2 {
        let good = request(&issuer);
        let proof = [solved(&issuer, "pow", &good)];
        assert_eq!(
            ask(&issuer, &good, &proof).status,
            200,
            "the quota is whole"
        );
    }
    let late = request(&issuer);
    let proof = [solved(&issuer, "pow", &late)];
    assert_eq!(
        outcome(&ask(&issuer, &late, &proof)),
        refused(429, "rate-limited")
    );
}

#[test]
fn rates_do_not_listen_to_headers_of_clients() {
    let world = World::new();
    let config = "[issuer]\ngate = \"r\"\n[gates.r]\nkind = \"rate\"\nlimit = 1\nperiod = 100000";
    let issuer = world.configured(config);
    assert_eq!(ask(&issuer, &request(&issuer), &[]).status, 200);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    for name in [
        "x-forwarded-for",
        "forwarded",
        "x-real-ip",
        "cf-connecting-ip",
    ] {
        let asked = agent
            .post(format!("{}/token-request", issuer.url()))
            .header("content-type", ONE)
            .header(name, "198.51.100.7")
            .send(&request(&issuer)[..]);
        assert_eq!(asked.expect("an answer").status().as_u16(), 429, "{name}");
    }
}

#[test]
fn any_falls_back_to_the_next_gate() {
    let world = World::new();
    let config = "[issuer]\ngate = \"e\"\n[gates.e]\nkind = \"any\"\nof = [\"r\", \"pow\"]\n\
                  [gates.r]\nkind = \"rate\"\nlimit = 1\nperiod = 100000\n\
                  [gates.pow]\nkind = \"pow\"\nbits = 6";
    let issuer = world.configured(config);
    assert_eq!(
        ask(&issuer, &request(&issuer), &[]).status,
        200,
        "the first is free"
    );
    let second = request(&issuer);
    assert_eq!(
        outcome(&ask(&issuer, &second, &[])),
        refused(429, "rate-limited")
    );
    let proof = [solved(&issuer, "pow", &second)];
    assert_eq!(ask(&issuer, &second, &proof).status, 200);
}

#[test]
fn a_threshold_takes_any_two_of_three_and_burns_nothing_before() {
    let world = World::new();
    let part = |name: &str| format!("[gates.{name}]\nkind = \"pow\"\nalgorithm = \"sha256\"\n");
    let config = format!(
        "[issuer]\ngate = \"two\"\n[gates.two]\nkind = \"at-least\"\nthreshold = 2\n\
         of = [\"a\", \"b\", \"friends\"]\n{}bits = 6\n{}bits = 7\n\
         [gates.friends]\nkind = \"invitation\"",
        part("a"),
        part("b")
    );
    let issuer = world.configured(&config);
    let shown = |mine: &[u8]| {
        let parts = ask(&issuer, mine, &[]).json()["gate"]["of"].clone();
        let work = |name: &str, part: &Value| {
            let work = Work::from_json(part).expect("a challenge");
            let proof = work.solve(&sha256(&[mine]), 1, || true);
            format!("{name} {}", proof.expect("a proof"))
        };
        let body = json!({"gate": "friends", "quota": 1, "days": 1});
        let invitation = admin(&world, "/api/invite", &body)["invitation"].clone();
        let friends = format!("friends {}", invitation.as_str().expect("a text"));
        [work("a", &parts[0]), work("b", &parts[1]), friends]
    };
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        let mine = request(&issuer);
        let proofs = shown(&mine);
        for one in &proofs {
            let alone = ask(&issuer, &mine, std::slice::from_ref(one));
            assert_eq!(outcome(&alone), refused(401, "gate-required"), "{one}");
        }
        let wrong = proofs[second].clone() + "x";
        let failed = ask(&issuer, &mine, &[proofs[first].clone(), wrong]);
        assert_eq!(outcome(&failed), refused(403, "gate-refused"));
        let both = [proofs[first].clone(), proofs[second].clone()];
        assert_eq!(ask(&issuer, &mine, &both).status, 200, "nothing was burnt");
        let again = ask(&issuer, &request(&issuer), &both);
        assert_ne!(again.status, 200, "each proof was used");
    }
}

/// Asks the operator's socket.
pub(crate) fn admin(world: &World, path: &str, body: &Value) -> Value {
    let asked = sealstone_server::admin::ask(&world.path("issuer"), "POST", path, body);
    asked.expect("an answer")
}

#[test]
fn invitations_have_quotas_and_are_revoked_as_trees() {
    let world = World::new();
    let issuer =
        world.configured("[issuer]\ngate = \"friends\"\n[gates.friends]\nkind = \"invitation\"");
    let made = admin(
        &world,
        "/api/invite",
        &json!({"gate": "friends", "quota": 3, "days": 1}),
    );
    let text = |value: &Value| value["invitation"].as_str().expect("a text").to_owned();
    let proof = |invitation: &str| [format!("friends {invitation}")];
    let alice = text(&made);
    assert_eq!(
        outcome(&ask(&issuer, &request(&issuer), &[])),
        refused(401, "gate-required")
    );
    let divide = |holder: &str, quota: u64| {
        let body = json!({"invitation": holder, "quota": quota, "until": now() + 3600});
        post(&format!("{}/v1/invitations", issuer.url()), &body)
    };
    let (status, bob) = divide(&alice, 2);
    assert_eq!(status, 200, "{bob}");
    let bob = text(&bob);
    assert_eq!(divide(&alice, 2).0, 429, "one is left");
    let repeated = request(&issuer);
    for _ in 0..3 {
        assert_eq!(
            ask(&issuer, &repeated, &proof(&bob)).status,
            200,
            "it counts once"
        );
    }
    assert_eq!(ask(&issuer, &request(&issuer), &proof(&alice)).status, 200);
    let exhausted = ask(&issuer, &request(&issuer), &proof(&alice));
    assert_eq!(outcome(&exhausted), refused(429, "rate-limited"));
    let mut forged = bob.clone();
    forged.replace_range(40..41, if &forged[40..41] == "A" { "B" } else { "A" });
    let forged = ask(&issuer, &request(&issuer), &proof(&forged));
    assert_eq!(outcome(&forged), refused(403, "gate-refused"));
    let id = made["id"].clone();
    admin(
        &world,
        "/api/uninvite",
        &json!({"gate": "friends", "id": id}),
    );
    let revoked = ask(&issuer, &request(&issuer), &proof(&bob));
    assert_eq!(outcome(&revoked), refused(403, "gate-refused"));
    assert_eq!(revoked.json()["detail"], "the invitation is revoked");
    assert_eq!(divide(&bob, 1).0, 403, "nor can it be divided");
}

#[test]
fn the_json_interface_passes_the_same_gate() {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    let world = World::new();
    let issuer = world.configured("[issuer]\ngate = \"w\"\n[gates.w]\nkind = \"pow\"\nbits = 6");
    let url = format!("{}/v1/issue", issuer.url());
    let one = request(&issuer);
    let text = URL_SAFE_NO_PAD.encode(&one);
    let (status, value) = post(&url, &json!({"request": text}));
    assert_eq!((status, problem(&value)), (401, "gate-required"));
    let proof = solved(&issuer, "w", &one);
    let (status, value) = post(&url, &json!({"request": text, "proofs": [proof]}));
    assert_eq!(status, 200, "{value}");

    let batch = [request(&issuer), request(&issuer), request(&issuer)];
    let digests: Vec<u8> = batch.iter().flat_map(|one| sha256(&[one])).collect();
    let gate = ask(&issuer, &one, &[]).json();
    let work = Work::from_json(&gate["gate"]).expect("a challenge");
    let proof = work
        .solve(&sha256(&[&digests]), 3, || true)
        .expect("a proof");
    let texts: Vec<String> = batch
        .iter()
        .map(|one| URL_SAFE_NO_PAD.encode(one))
        .collect();
    let body = json!({"requests": texts, "proofs": [format!("w {proof}")]});
    let (status, value) = post(&format!("{url}/batch"), &body);
    assert_eq!(status, 200, "{value}");
    assert_eq!(value["responses"].as_array().map(Vec::len), Some(3));
}
