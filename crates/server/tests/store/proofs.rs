//! Proofs of every kind of gate, in a reopened store: none is valid twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::ed25519::SigningKey;
use sealstone_server::config::Config;
use sealstone_server::gate::vouch::Newcomer;
use sealstone_server::gate::{Ask, GateOptions, Gates, Proofs, pow};
use sealstone_server::store::{Outcome, Refusal, Store};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::Kind;

const NOW: u64 = 1_767_225_600;
const SUBJECT: [u8; 32] = [7; 32];
/// After the grace period in which the same request gets the same answer.
const LATER: u64 = NOW + 40;
const GATES: &str = r#"
    [gates.pow]
    kind = "pow"
    bits = 4
    [gates.friends]
    kind = "invitation"
    [gates.fair]
    kind = "rate"
    of = "friends"
    limit = 1
    period = 86400
    [gates.grown]
    kind = "trust"
    of = "friends"
    period = 86400
    levels = [{ age = 0, limit = 1 }]
    [gates.newcomers]
    kind = "vouch"
    of = "friends"
    threshold = 2
    quota = 1
    lifetime = 3600
    [gates.partner]
    kind = "attestation"
    issuer = "partner"
    audience = "issuer"
    keys-file = "KEYS"
"#;

struct World {
    configured: BTreeMap<String, GateOptions>,
    secret: Secret<32>,
    attester: SigningKey,
    jti: String,
}

impl World {
    fn new(directory: &Path) -> Self {
        let attester = SigningKey::from_seed(&Secret::random());
        let x = URL_SAFE_NO_PAD.encode(attester.verifying_key().as_bytes());
        let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]});
        let path = directory.join("keys.json");
        std::fs::write(&path, keys.to_string()).expect("a file");
        let text = GATES.replace("KEYS", &path.display().to_string());
        Self {
            configured: Config::parse(&text, []).expect("gates").gates,
            secret: Secret::random(),
            attester,
            jti: URL_SAFE_NO_PAD.encode(rng::array::<16>()),
        }
    }

    fn gates(&self, name: &str) -> Gates {
        Gates::new(name, &self.configured, &self.secret).expect("a gate")
    }

    /// A proof for one token.
    fn proof(&self, gates: &Gates, name: &str) -> String {
        let friend = |quota| {
            gates.invitations()[0]
                .invite(quota, NOW, NOW + 86_400)
                .to_string()
        };
        match name {
            "pow" => {
                let work = pow::Work::from_json(&gates.describe(NOW)).expect("a challenge");
                let solved = work.solve(&SUBJECT, 1, || true);
                format!("pow {}", solved.expect("a proof"))
            }
            "partner" => format!("partner {}", self.attest()),
            "newcomers" => {
                let newcomer = Newcomer::random(NOW + 600).to_string();
                let vouch = |_| {
                    let vouch = gates.vouches()[0].vouch(&friend(9), &newcomer, NOW);
                    vouch.expect("a vouch").0
                };
                format!("newcomers {}", [0, 1].map(vouch).join("."))
            }
            _ => format!("friends {}", friend(1)),
        }
    }

    fn attest(&self) -> String {
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let claims = json!({
            "iss": "partner", "aud": "issuer", "jti": self.jti, "exp": NOW + 300,
            "sealstone-request": URL_SAFE_NO_PAD.encode(SUBJECT),
        });
        let signed = format!("{}.{}", part(json!({"alg": "EdDSA"})), part(claims));
        let signature = self.attester.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

pub(crate) fn proofs_of_gates_are_used_once(kind: &dyn Kind) {
    let directory = tempfile::tempdir().expect("a directory");
    let world = World::new(directory.path());
    let runtime = Runtime::new().expect("a runtime");
    let names = ["pow", "friends", "fair", "grown", "newcomers", "partner"];
    let gates = names.map(|name| (name, world.gates(name)));
    let shown = gates.each_ref().map(|(name, gates)| {
        let proofs = Proofs::parse([world.proof(gates, name)]);
        (*name, gates, proofs)
    });
    let show = |store: &Arc<dyn Store>, gates: &Gates, proofs: &Proofs, now| {
        let ask = Ask {
            subject: SUBJECT,
            tokens: 1,
            network: None,
            now,
            proofs,
        };
        let way = gates.check(&ask).expect("a way").remove(0);
        runtime
            .block_on(store.apply(way))
            .expect("a store that works")
    };
    let store = kind.open(directory.path(), &runtime);
    for (name, gates, proofs) in &shown {
        assert_eq!(show(&store, gates, proofs, NOW), Outcome::Done, "{name}");
    }
    drop(store);
    kind.restart();
    let store = kind.open(directory.path(), &runtime);
    for (name, gates, proofs) in &shown {
        assert_eq!(
            show(&store, gates, proofs, NOW + 1),
            Outcome::Repeated,
            "{name}"
        );
        let spent = Outcome::Refused(Refusal::Spent);
        assert_eq!(show(&store, gates, proofs, LATER), spent, "{name}");
    }
}
