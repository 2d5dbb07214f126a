//! Small packages: creating and verifying one, compared with the sum of its primitives and with
//! hybrid signatures of the fastest libraries, alternating.
//!
//! *Primitives* are the operations of the format, called directly on prepared keys: the digests of
//! the content, the policy and the signer's keys, the policy in canonical form, HMAC, HKDF, Ed25519
//! and ML-DSA-65. The creator of a package verifies both new signatures, because a faulty signature
//! can reveal the key. So the sum includes this too. *Hybrids* are digest, HMAC and both signatures
//! of other libraries, without a check, a policy, a manifest, or decoding of keys.
//!
//! usage: bench-package [--rounds N] [--only TEXT] [--markdown]
#![forbid(unsafe_code)]

mod jobs;

use std::hint::black_box;
use std::rc::Rc;

use graviola::signing::eddsa::Ed25519SigningKey;
use libcrux_ml_dsa::ml_dsa_65 as libcrux;
use pqcrypto_mldsa::mldsa65 as pqclean;
use sealstone::package::{Draft, Json, Layer, Package, Verdict, Verifier};
use sealstone::passport::Passport;
use sealstone_primitives::hash::{sha3_256, sha3_512};
use sealstone_primitives::kdf;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_65};

use crate::jobs::{Bar, Job};

const CONTENT: [u8; 1024] = [7; 1024];
const POLICY: &[u8] = br#"{"purpose":["research","teaching"],"review":2027,"term":"ten years"}"#;
const KEY: &[u8] = b"32 bytes that both sides know ...";
const SECRET: &[u8] = b"32 bytes that keys come from .....";
const TIME: u64 = 1_790_000_000;
const CONTEXT: &[u8] = b"sealstone.package.v1";
/// As long as the message that the signatures of a package cover.
const MESSAGE: [u8; 290] = [9; 290];
/// As long as the encoded manifest of a package with one file.
const MANIFEST: [u8; 240] = [5; 240];

const BARS: &[Bar] = &[
    ("package create", "create, primitives", 1.0 / 1.1),
    ("package verify", "verify, primitives", 1.0 / 1.1),
    ("package create", "hybrid sign, the quickest", 1.0),
    ("package verify", "hybrid verify, the quickest", 1.0),
];

fn main() {
    let mut jobs = Vec::new();
    ours(&mut jobs);
    primitives(&mut jobs);
    hybrid(&mut jobs);
    parts(&mut jobs);
    others(&mut jobs);
    jobs::main("bench-package", jobs, BARS);
}

fn create(passport: &Passport) -> Vec<u8> {
    let mut draft = Draft::new();
    draft.embed("data.csv", &CONTENT).expect("a path");
    draft.policy(Json::parse(POLICY).expect("a policy"));
    draft.hmac(KEY).expect("a key");
    draft.derive_keys(SECRET).expect("a secret");
    draft.require(Layer::Hmac).expect("a key was given");
    draft.require(Layer::Keys).expect("a secret was given");
    draft.sign(passport, TIME).expect("a package").encode()
}

fn ours(jobs: &mut Vec<Job>) {
    let passport = Passport::generate("Bench", TIME).expect("a passport");
    let contact = passport.contact().clone();
    let stored = create(&passport);
    jobs.push(Job::new("package create", 1, move || {
        black_box(create(&passport));
    }));
    jobs.push(Job::new("package verify", 1, move || {
        let package = Package::decode(black_box(&stored)).expect("a package");
        let verifier = Verifier::new()
            .signer(&contact)
            .hmac_key(KEY)
            .secret(SECRET);
        assert_eq!(verifier.verify(&package).verdict, Verdict::Good);
    }));
}

/// Ed25519 and ML-DSA-65 of aws-lc, prepared.
struct Keys {
    classical: ed25519::SigningKey,
    post_quantum: ml_dsa_65::SigningKey,
}

impl Keys {
    fn new() -> Self {
        Self {
            classical: ed25519::SigningKey::from_seed(&Secret::from_array(&mut [1; 32])),
            post_quantum: ml_dsa_65::SigningKey::from_seed(&Secret::from_array(&mut [2; 32])),
        }
    }

    fn sign(&self) -> ([u8; 64], Box<[u8; 3309]>) {
        let message = black_box(&MESSAGE);
        let post_quantum = self.post_quantum.sign(message, CONTEXT);
        (
            self.classical.sign(message),
            post_quantum.expect("a signature"),
        )
    }

    fn verify(&self, signatures: &([u8; 64], Box<[u8; 3309]>)) {
        let message = black_box(&MESSAGE);
        let classical = self.classical.verifying_key();
        let post_quantum = self.post_quantum.verifying_key();
        classical.verify(message, &signatures.0).expect("right");
        post_quantum
            .verify(message, CONTEXT, &*signatures.1)
            .expect("right");
    }
}

/// The common part of creating and verifying: digests of content, policy, manifest and of the
/// signer's two keys and fingerprint; the policy in canonical form; the tag; the confirmation.
fn digests_and_macs() {
    black_box(sha3_256(black_box(&CONTENT)));
    let policy = Json::parse(black_box(POLICY)).expect("a policy");
    black_box(policy.digest());
    let digest = sha3_512(black_box(&MANIFEST));
    black_box(sha3_256(black_box(&[1; 32])));
    black_box(sha3_256(black_box(&[1; 1952])));
    black_box(sha3_256(black_box(&[1; 200])));
    let mut extract = HmacSha3_256::new(b"sealstone.package.hmac.v1");
    extract.update(KEY);
    let mut mac = HmacSha3_256::new(extract.finish_secret().expose());
    mac.update(&digest);
    black_box(mac.finish());
    let prk = kdf::extract(b"sealstone.package.keys.v1", &[SECRET]);
    black_box(prk.expand_secret::<32>(&[b"confirmation", &digest, &[0; 32]]));
}

fn primitives(jobs: &mut Vec<Job>) {
    let keys = Rc::new(Keys::new());
    let signing = keys.clone();
    jobs.push(Job::new("create, primitives", 1, move || {
        digests_and_macs();
        signing.verify(&signing.sign());
    }));
    let signatures = keys.sign();
    jobs.push(Job::new("verify, primitives", 1, move || {
        digests_and_macs();
        keys.verify(&signatures);
    }));
}

/// Ed25519 of graviola and ML-DSA-65 of PQClean: the fastest that this program measures.
fn hybrid(jobs: &mut Vec<Job>) {
    let classical = Rc::new(Ed25519SigningKey::generate().expect("a key"));
    let (public, secret) = pqclean::keypair();
    let hash_and_mac = || {
        let digest = sha3_256(black_box(&CONTENT));
        let mut mac = HmacSha3_256::new(KEY);
        mac.update(&digest);
        black_box(mac.finish());
    };
    let sign = move |key: &Ed25519SigningKey| {
        hash_and_mac();
        let post_quantum = pqclean::detached_sign_ctx(black_box(&MESSAGE), CONTEXT, &secret);
        (key.sign(black_box(&MESSAGE)), post_quantum)
    };
    let signatures = sign(&classical);
    let verifying = classical.public_key();
    jobs.push(Job::new("hybrid sign, the quickest", 1, move || {
        black_box(sign(&classical));
    }));
    jobs.push(Job::new("hybrid verify, the quickest", 1, move || {
        hash_and_mac();
        verifying.verify(&signatures.0, &MESSAGE).expect("right");
        pqclean::verify_detached_signature_ctx(&signatures.1, &MESSAGE, CONTEXT, &public)
            .expect("right");
    }));
}

/// The parts of creating.
fn parts(jobs: &mut Vec<Job>) {
    jobs.push(Job::new("digests, policy, HMAC, HKDF", 1, digests_and_macs));
    let keys = Rc::new(Keys::new());
    let signing = keys.clone();
    jobs.push(Job::new("both sign, aws-lc", 1, move || {
        black_box(signing.sign());
    }));
    let signatures = keys.sign();
    jobs.push(Job::new("both verify, aws-lc", 1, move || {
        keys.verify(&signatures);
    }));
}

/// The compared back ends for ML-DSA-65 and Ed25519, one by one.
fn others(jobs: &mut Vec<Job>) {
    let keys = Rc::new(Keys::new());
    let signature = keys.sign();
    let signing = keys.clone();
    jobs.push(Job::new("ML-DSA-65 sign, aws-lc", 1, move || {
        black_box(signing.post_quantum.sign(&MESSAGE, CONTEXT)).expect("a signature");
    }));
    jobs.push(Job::new("ML-DSA-65 verify, aws-lc", 1, move || {
        let key = keys.post_quantum.verifying_key();
        key.verify(&MESSAGE, CONTEXT, &*signature.1).expect("right");
    }));
    let (public, secret) = pqclean::keypair();
    let signature = pqclean::detached_sign_ctx(&MESSAGE, CONTEXT, &secret);
    jobs.push(Job::new("ML-DSA-65 sign, PQClean", 1, move || {
        black_box(pqclean::detached_sign_ctx(&MESSAGE, CONTEXT, &secret));
    }));
    jobs.push(Job::new("ML-DSA-65 verify, PQClean", 1, move || {
        pqclean::verify_detached_signature_ctx(&signature, &MESSAGE, CONTEXT, &public)
            .expect("right");
    }));
    let pair = libcrux::generate_key_pair([3; 32]);
    let sign = |pair: &libcrux::MLDSA65KeyPair, number: u64| {
        let mut randomness = [0; 32];
        randomness[..8].copy_from_slice(&number.to_be_bytes());
        libcrux::sign(&pair.signing_key, &MESSAGE, CONTEXT, randomness).expect("a signature")
    };
    let signature = sign(&pair, 0);
    let verification_key = pair.verification_key.clone();
    let mut number = 0;
    jobs.push(Job::new("ML-DSA-65 sign, libcrux", 1, move || {
        number += 1;
        black_box(sign(&pair, number));
    }));
    jobs.push(Job::new("ML-DSA-65 verify, libcrux", 1, move || {
        libcrux::verify(&verification_key, &MESSAGE, CONTEXT, &signature).expect("right");
    }));
}
