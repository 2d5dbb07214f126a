//! Gates with accounts: rates of accounts, growing trust, vouching. Every gate keeps its proofs if
//! a later one fails.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_server::gate::vouch::Newcomer;
use serde_json::{Value, json};

use crate::attestation::{Attester, partner};
use crate::gates::{admin, ask, outcome, refused, request, solved};
use crate::world::{Service, World, now, post};

const FRIENDS: &str = "[gates.friends]\nkind = \"invitation\"\n";

fn invited(world: &World, quota: u64) -> Value {
    let body = json!({"gate": "friends", "quota": quota, "days": 1});
    admin(world, "/api/invite", &body)
}

fn text(value: &Value) -> &str {
    value["invitation"].as_str().expect("a text")
}

/// The status of a new request with this proof.
fn status(issuer: &Service, proof: &str) -> u16 {
    ask(issuer, &request(issuer), &[proof.to_owned()]).status
}

#[test]
fn accounts_have_rates_wherever_they_ask_from() {
    let (world, attester) = (World::new(), Attester::new());
    let config = "[issuer]\ngate = \"fair\"\n[gates.fair]\nkind = \"rate\"\nof = \"either\"\n\
        limit = 2\nperiod = 100000\n[gates.either]\nkind = \"any\"\nof = [\"friends\", \"partner\"]\n";
    let issuer = world.configured(&format!("{config}{FRIENDS}{}", partner(&world, &attester)));
    let attested = |sub: &str| {
        let mine = request(&issuer);
        let shown = [format!("partner {}", attester.attest(&mine, sub))];
        ask(&issuer, &mine, &shown)
    };
    assert_eq!(attested("alice").status, 200);
    assert_eq!(attested("alice").status, 200);
    assert_eq!(outcome(&attested("alice")), refused(429, "rate-limited"));
    assert_eq!(attested("bob").status, 200, "another account");
    let friend = format!("friends {}", text(&invited(&world, 10)));
    assert_eq!([0, 1, 2].map(|_| status(&issuer, &friend)), [200, 200, 429]);
    let other = format!("friends {}", text(&invited(&world, 10)));
    assert_eq!(status(&issuer, &other), 200);
}

#[test]
fn trust_is_of_an_age() {
    let config = "[issuer]\ngate = \"grown\"\n[gates.grown]\nkind = \"trust\"\nof = \"friends\"\n\
        period = 100000\n";
    let grown = |levels: &str| {
        let world = World::new();
        let issuer = world.configured(&format!("{config}levels = [{levels}]\n{FRIENDS}"));
        let proof = [format!("friends {}", text(&invited(&world, 100)))];
        [0, 1].map(|_| outcome(&ask(&issuer, &request(&issuer), &proof)))
    };
    let one = "{ age = 0, limit = 1 }, { age = 100000, limit = 5 }";
    let limited = [(200, String::new()), refused(429, "rate-limited")];
    assert_eq!(grown(one), limited);
    let young = refused(403, "gate-refused");
    assert_eq!(grown("{ age = 100000, limit = 5 }"), [young.clone(), young]);
}

fn vouched(issuer: &Service, holder: &str, newcomer: &str) -> (u16, Value) {
    let body = json!({"gate": "newcomers", "invitation": holder, "newcomer": newcomer});
    post(&format!("{}/v1/vouches", issuer.url()), &body)
}

fn newcomers(world: &World) -> Service {
    let config = "[issuer]\ngate = \"newcomers\"\n[gates.newcomers]\nkind = \"vouch\"\n\
        of = \"friends\"\nthreshold = 2\nquota = 3\nlifetime = 3600\n";
    world.configured(&format!("{config}{FRIENDS}"))
}

#[test]
fn two_holders_of_other_trees_let_a_newcomer_in() {
    let world = World::new();
    let issuer = newcomers(&world);
    let (alice, bob) = (invited(&world, 4), invited(&world, 4));
    let newcomer = Newcomer::random(now() + 600).to_string();
    let vouch = |holder: &str| {
        let (status, made) = vouched(&issuer, holder, &newcomer);
        assert_eq!(status, 200, "{made}");
        made["vouch"].as_str().expect("a text").to_owned()
    };
    let of_alice = vouch(text(&alice));
    let alone = format!("newcomers {of_alice}");
    assert_eq!(status(&issuer, &alone), 403, "one is too few");
    assert_eq!(
        status(&issuer, &format!("{alone}.{of_alice}")),
        403,
        "twice the same"
    );
    let again = vouch(text(&alice));
    assert_eq!(
        status(&issuer, &format!("{alone}.{again}")),
        403,
        "twice by the same"
    );
    let both = format!("{alone}.{}", vouch(text(&bob)));
    assert_eq!(
        [0; 4].map(|_| status(&issuer, &both)),
        [200, 200, 200, 429],
        "its quota"
    );
    let (status, _) = vouched(&issuer, text(&alice), &newcomer);
    assert_eq!(
        status, 429,
        "each vouch takes its part of the holder's quota"
    );
}

#[test]
fn vouches_are_bound_and_end_with_their_invitations() {
    let world = World::new();
    let issuer = newcomers(&world);
    let (alice, bob) = (invited(&world, 100), invited(&world, 100));
    let body = json!({"invitation": text(&alice), "quota": 50, "until": now() + 3000});
    let (_, child) = post(&format!("{}/v1/invitations", issuer.url()), &body);
    let vouch = |holder: &Value, newcomer: &Newcomer| {
        let (status, made) = vouched(&issuer, text(holder), &newcomer.to_string());
        assert_eq!(status, 200, "{made}");
        made["vouch"].as_str().expect("a text").to_owned()
    };
    let (one, two) = (Newcomer::random(now() + 600), Newcomer::random(now() + 600));
    let shown = |a: &str, b: &str| status(&issuer, &format!("newcomers {a}.{b}"));
    let same_tree = shown(&vouch(&alice, &one), &vouch(&child, &one));
    assert_eq!(same_tree, 403, "who invited himself vouches once");
    let mixed = shown(&vouch(&alice, &one), &vouch(&bob, &two));
    assert_eq!(mixed, 403, "for two newcomers");
    let (a, b) = (vouch(&child, &one), vouch(&bob, &one));
    let mut bytes = URL_SAFE_NO_PAD.decode(&b).expect("base64url");
    bytes[10] ^= 1;
    assert_eq!(
        shown(&a, &URL_SAFE_NO_PAD.encode(bytes)),
        403,
        "an altered vouch"
    );
    assert_eq!(shown(&a, &b), 200);
    let id = alice["id"].clone();
    admin(
        &world,
        "/api/uninvite",
        &json!({"gate": "friends", "id": id}),
    );
    assert_eq!(shown(&a, &b), 403, "the tree of one who vouched is revoked");
    let ends = |until: u64| vouched(&issuer, text(&bob), &Newcomer::random(until).to_string()).0;
    assert_eq!(
        (ends(now() - 1), ends(now() + 7200), ends(now() + 60)),
        (403, 403, 200)
    );
}

/// Each gate with a quota of one, together with work: wrong work does not consume the quota.
#[test]
fn a_later_failure_burns_nothing_earlier() {
    let (world, attester) = (World::new(), Attester::new());
    let keys = partner(&world, &attester);
    let gates = format!(
        "{FRIENDS}{keys}[gates.pow]\nkind = \"pow\"\nbits = 6\n\
         [gates.fair]\nkind = \"rate\"\nof = \"friends\"\nlimit = 1\nperiod = 100000\n\
         [gates.grown]\nkind = \"trust\"\nof = \"friends\"\nperiod = 100000\n\
         levels = [{{ age = 0, limit = 1 }}]\n\
         [gates.newcomers]\nkind = \"vouch\"\nof = \"friends\"\nthreshold = 2\nquota = 1\n\
         lifetime = 3600\n"
    );
    for gate in ["friends", "fair", "grown", "newcomers", "partner"] {
        let world = World::new();
        let all =
            "kind = \"all\"\nof = [\"GATE\", \"pow\", \"friends-too\"]\n".replace("GATE", gate);
        // The last part counts with a quota of one, too.
        let last = "[gates.friends-too]\nkind = \"invitation\"\n";
        let config = format!("[issuer]\ngate = \"both\"\n[gates.both]\n{all}{last}{gates}");
        let issuer = world.configured(&config);
        let body = json!({"gate": "friends-too", "quota": 2, "days": 1});
        let last = format!("friends-too {}", text(&admin(&world, "/api/invite", &body)));
        let shown = match gate {
            "partner" => String::new(),
            "newcomers" => {
                let newcomer = Newcomer::random(now() + 600).to_string();
                let vouches = [0, 1].map(|_| {
                    let holder = invited(&world, 1);
                    let made = vouched(&issuer, text(&holder), &newcomer).1;
                    made["vouch"].as_str().expect("a text").to_owned()
                });
                format!("newcomers {}", vouches.join("."))
            }
            "friends" => format!("friends {}", text(&invited(&world, 1))),
            _ => format!("friends {}", text(&invited(&world, 9))),
        };
        let mine = request(&issuer);
        let shown = match gate {
            "partner" => format!("partner {}", attester.attest(&mine, "alice")),
            _ => shown,
        };
        let work = solved(&issuer, "pow", &mine);
        let wrong = work.replace('.', "x.");
        for _ in 0..3 {
            let answer = ask(
                &issuer,
                &mine,
                &[shown.clone(), wrong.clone(), last.clone()],
            );
            assert_eq!(outcome(&answer), refused(403, "gate-refused"), "{gate}");
            let answer = ask(
                &issuer,
                &mine,
                &[shown.clone(), work.clone(), "friends-too A".into()],
            );
            assert_eq!(outcome(&answer), refused(403, "gate-refused"), "{gate}");
        }
        let good = [shown.clone(), work, last.clone()];
        assert_eq!(
            ask(&issuer, &mine, &good).status,
            200,
            "{gate}: all is there still"
        );
        let next = request(&issuer);
        let good = [shown, solved(&issuer, "pow", &next), last.clone()];
        assert_ne!(
            ask(&issuer, &next, &good).status,
            200,
            "{gate}: and is used now"
        );
    }
}
