//! Tokens by Sealstone and by the crate `voprf`, alternating, with times and ratios.
//!
//! Every round runs every job once, so that a machine whose speed drifts treats all alike. Both
//! sides exchange bytes: they decode received messages and encode sent messages.
//!
//! usage: bench-token [--rounds N] [--only TEXT] [--markdown]
#![forbid(unsafe_code)]

mod jobs;

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use aws_lc_rs::hmac;
use rand_core::OsRng;
use rayon::ThreadPool;
use sealstone_primitives::curve::{Element, Group, P256, P384, Scalar};
use sealstone_primitives::kdf;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_token::privacypass::{IssuerKey, Pending, Token, TokenChallenge, TokenType};
use sealstone_token::voprf::verifiable::{Client, Server};
use sealstone_token::voprf::{
    Blinded, Evaluated, P256Sha256, P384Sha384, Proof, Ristretto255Sha512, Suite,
};
use voprf::{BlindedElement, EvaluationElement, VoprfClient, VoprfServer};

use crate::jobs::{Bar, Job};

const INPUT: &[u8] = b"sealstone bench: an input as long as a token's authenticator input is, which is ninety-eight bytes.";

fn main() {
    jobs::main("bench-token", jobs(), BARS);
}

/// The project's bars: job, peer, the least ratio of times.
const BARS: &[Bar] = &[
    ("P-256 evaluate 1", "voprf P-256 evaluate 1", 3.5),
    ("P-256 evaluate 100", "voprf P-256 evaluate 100", 3.0),
    ("P-256 blind 1", "voprf P-256 blind 1", 3.0),
    ("P-256 finalize 1", "voprf P-256 finalize 1", 4.0),
    ("P-384 evaluate 1", "voprf P-384 evaluate 1", 5.0),
    ("P-384 evaluate 100", "voprf P-384 evaluate 100", 4.0),
    (
        "ristretto255 evaluate 100",
        "voprf ristretto255 evaluate 100",
        1.6,
    ),
    (
        "P-256 redeem",
        "P-256 one multiplication and hash-to-curve",
        1.0 / 1.3,
    ),
    (
        "P-256 evaluate 1000, 2 threads",
        "P-256 evaluate 1000, 1 thread",
        1.85,
    ),
];

fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    ours::<P256Sha256>("P-256", &mut jobs);
    theirs_p256(&mut jobs);
    ours::<P384Sha384>("P-384", &mut jobs);
    theirs_p384(&mut jobs);
    ours::<Ristretto255Sha512>("ristretto255", &mut jobs);
    theirs_ristretto(&mut jobs);
    parts::<P256>("P-256", &mut jobs);
    parts::<P384>("P-384", &mut jobs);
    batches(&mut jobs);
    tokens(&mut jobs);
    macs(&mut jobs);
    jobs
}

fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a thread pool")
}

/// A batch on one thread. A single token never leaves the caller's thread, so it needs no pool.
fn on_one_thread(pool: &ThreadPool, count: usize, work: impl FnOnce() + Send) {
    if count == 1 {
        work()
    } else {
        pool.install(work)
    }
}

/// Blinded elements as concatenated bytes.
fn blinded<S: Suite>(client: &Client<S>) -> Vec<u8> {
    client
        .blinded()
        .iter()
        .flat_map(|element| element.as_bytes().to_vec())
        .collect()
}

/// A server's work on a row of blinded elements.
fn evaluate<S: Suite>(server: &Server<S>, blinded: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let blinded = Blinded::decode_all(blinded).expect("elements");
    let (evaluated, proof) = server.evaluate(&blinded).expect("a batch");
    (
        evaluated
            .iter()
            .flat_map(|element| element.as_bytes().to_vec())
            .collect(),
        proof.encode(),
    )
}

fn ours<S: Suite>(name: &str, jobs: &mut Vec<Job>) {
    for count in [1, 100] {
        let server = Server::<S>::generate();
        let key = server.key().public_key().clone();
        let inputs = vec![INPUT; count];
        let client = Client::blind(&key, &inputs).expect("inputs");
        let (request, blinds) = (blinded(&client), client.blinds());
        let (evaluated, proof) = evaluate(&server, &request);
        let one = pool(1);
        let blind_key = key.clone();
        jobs.push(Job::new(
            format!("{name} blind {count}"),
            count,
            move || {
                let inputs = vec![INPUT; count];
                on_one_thread(&one, count, || {
                    black_box(blinded(
                        &Client::blind(&blind_key, &inputs).expect("inputs"),
                    ));
                });
            },
        ));
        let one = pool(1);
        jobs.push(Job::new(
            format!("{name} evaluate {count}"),
            count,
            move || {
                on_one_thread(&one, count, || {
                    black_box(evaluate(&server, &request));
                });
            },
        ));
        // Each run's client is made before the measurement.
        let one = pool(1);
        let run = move || {
            let blinds: Vec<&[u8]> = blinds.iter().map(|blind| blind.expose()).collect();
            let inputs = vec![INPUT; count];
            let client = Client::blind_again(&key, &inputs, &blinds).expect("inputs");
            let start = Instant::now();
            on_one_thread(&one, count, || {
                let evaluated = Evaluated::decode_all(&evaluated).expect("elements");
                let proof = Proof::decode(&proof).expect("a proof");
                black_box(client.finalize(&evaluated, &proof).expect("outputs"));
            });
            start.elapsed().as_secs_f64()
        };
        jobs.push(timed(format!("{name} finalize {count}"), count, run));
    }
}

/// A job that measures a part of itself.
fn timed(name: String, count: usize, mut run: impl FnMut() -> f64 + 'static) -> Job {
    let part = Rc::new(Cell::new(0.0));
    let seconds = part.clone();
    let mut job = Job::new(name, count, move || seconds.set(run()));
    job.part = Some(part);
    job
}

/// The jobs of the crate `voprf` for one of its ciphersuites.
macro_rules! theirs {
    ($function:ident, $name:literal, $suite:ty) => {
        fn $function(jobs: &mut Vec<Job>) {
            type Theirs = $suite;
            for count in [1, 100] {
                let mut rng = OsRng;
                let server = VoprfServer::<Theirs>::new(&mut rng).expect("a key");
                let key = server.get_public_key();
                let clients: Vec<_> = (0..count)
                    .map(|_| VoprfClient::<Theirs>::blind(INPUT, &mut rng).expect("an input"))
                    .collect();
                let request: Vec<Vec<u8>> = clients
                    .iter()
                    .map(|client| client.message.serialize().to_vec())
                    .collect();
                let states: Vec<_> = clients.into_iter().map(|client| client.state).collect();
                let evaluate = move |server: &VoprfServer<Theirs>| {
                    let blinded: Vec<BlindedElement<Theirs>> = request
                        .iter()
                        .map(|bytes| BlindedElement::deserialize(bytes).expect("an element"))
                        .collect();
                    let result = server
                        .batch_blind_evaluate(&mut OsRng, &blinded)
                        .expect("a batch");
                    let row: Vec<Vec<u8>> = result
                        .messages
                        .iter()
                        .map(|m| m.serialize().to_vec())
                        .collect();
                    (row, result.proof.serialize().to_vec())
                };
                let (evaluated, proof) = evaluate(&server);
                jobs.push(Job::new(
                    format!("voprf {} blind {count}", $name),
                    count,
                    move || {
                        for _ in 0..count {
                            let client =
                                VoprfClient::<Theirs>::blind(INPUT, &mut OsRng).expect("an input");
                            black_box(client.message.serialize());
                        }
                    },
                ));
                jobs.push(Job::new(
                    format!("voprf {} evaluate {count}", $name),
                    count,
                    move || {
                        black_box(evaluate(&server));
                    },
                ));
                jobs.push(Job::new(
                    format!("voprf {} finalize {count}", $name),
                    count,
                    move || {
                        let inputs = vec![INPUT; count];
                        let messages: Vec<EvaluationElement<Theirs>> = evaluated
                            .iter()
                            .map(|bytes| EvaluationElement::deserialize(bytes).expect("an element"))
                            .collect();
                        let proof = voprf::Proof::deserialize(&proof).expect("a proof");
                        let outputs =
                            VoprfClient::batch_finalize(&inputs, &states, &messages, &proof, key)
                                .expect("a valid proof");
                        black_box(outputs.collect::<Result<Vec<_>, _>>().expect("outputs"));
                    },
                ));
            }
        }
    };
}

theirs!(theirs_p256, "P-256", p256::NistP256);
theirs!(theirs_p384, "P-384", p384::NistP384);
theirs!(theirs_ristretto, "ristretto255", voprf::Ristretto255);

/// The cost of a group's operations alone: the lower limit of all protocols.
fn parts<G: Group>(name: &str, jobs: &mut Vec<Job>) {
    let mut part = |what: &str, count, run: Box<dyn FnMut()>| {
        jobs.push(Job::new(format!("{name} {what}"), count, run));
    };
    let scalar = G::Scalar::random();
    let point = G::Element::mul_generator(&scalar);
    let encoding = point.encode().expect("no identity");
    let hashed = || G::hash_to_element(INPUT, b"bench").expect("a point");
    let (s, p) = (scalar.clone(), point.clone());
    part(
        "part: multiplication",
        1,
        Box::new(move || drop(black_box(p.mul(&s)))),
    );
    let s = scalar.clone();
    part(
        "part: multiplication of the generator",
        1,
        Box::new(move || drop(black_box(G::Element::mul_generator(&s)))),
    );
    part(
        "part: hash-to-curve",
        1,
        Box::new(move || drop(black_box(hashed()))),
    );
    let s = scalar.clone();
    part(
        "one multiplication and hash-to-curve",
        1,
        Box::new(move || drop(black_box(hashed().mul(&s)))),
    );
    part(
        "part: decode",
        1,
        Box::new(move || {
            black_box(G::Element::decode(encoding.as_bytes()).expect("a point"));
        }),
    );
    part(
        "part: encode",
        1,
        Box::new(move || {
            black_box(point.encode().expect("no identity"));
        }),
    );
    part(
        "part: inverse of a scalar",
        1,
        Box::new(move || {
            black_box(scalar.invert().expect("not zero"));
        }),
    );
    part("part: sum of 2 products", 1, sum::<G>(2));
    part("part: sum of 100 products", 100, sum::<G>(100));
}

/// A sum of `count` products of public values, with new factors each time.
fn sum<G: Group>(count: usize) -> Box<dyn FnMut()> {
    let points: Vec<_> = (0..count)
        .map(|_| G::Element::mul_generator(&G::Scalar::random()))
        .collect();
    Box::new(move || {
        let term = |point| (G::Scalar::random(), point);
        let terms: Vec<_> = points.iter().map(term).collect();
        black_box(G::Element::sum_of_products_public(&terms));
    })
}

/// Batches of the original's sizes, on one thread and on two.
fn batches(jobs: &mut Vec<Job>) {
    for (threads, label) in [(1, "1 thread"), (2, "2 threads")] {
        for count in [10, 50, 100, 500, 1000] {
            let server = Server::<P256Sha256>::generate();
            let inputs = vec![INPUT; count];
            let client = Client::blind(server.key().public_key(), &inputs).expect("inputs");
            let request = blinded(&client);
            let pool = pool(threads);
            jobs.push(Job::new(
                format!("P-256 evaluate {count}, {label}"),
                count,
                move || {
                    pool.install(|| {
                        black_box(evaluate(&server, &request));
                    });
                },
            ));
        }
    }
}

/// Whole tokens of Privacy Pass.
fn tokens(jobs: &mut Vec<Job>) {
    for (token_type, name) in [
        (TokenType::VoprfP256, "P-256"),
        (TokenType::VoprfP384, "P-384"),
        (TokenType::VoprfRistretto255, "ristretto255"),
        (TokenType::BlindRsa2048, "blind RSA"),
    ] {
        let challenge =
            TokenChallenge::new(token_type, "issuer.example", None, &[]).expect("names");
        let key = IssuerKey::generate(token_type).expect("a key");
        let public = key.public_key();
        jobs.push(Job::new(format!("{name} token end to end"), 1, move || {
            let (pending, request) = Pending::one(&public, &challenge).expect("a request");
            let response = key.issue(&request).expect("a response");
            let token = pending.finalize(&response).expect("a token").remove(0);
            key.verify(&token).expect("a valid token");
        }));
        jobs.push(verify(token_type, name));
    }
    jobs.push(redeem(TokenType::VoprfP256));
}

/// A token of a new key that answers the challenge.
fn token(token_type: TokenType) -> (IssuerKey, TokenChallenge, Token) {
    let key = IssuerKey::generate(token_type).expect("a key");
    let challenge = TokenChallenge::new(token_type, "issuer.example", None, &[]).expect("names");
    let (pending, request) = Pending::one(&key.public_key(), &challenge).expect("a request");
    let response = key.issue(&request).expect("a response");
    let token = pending.finalize(&response).expect("a token").remove(0);
    (key, challenge, token)
}

/// The original's row: the authenticator alone, by the issuer's key.
fn verify(token_type: TokenType, name: &str) -> Job {
    let (key, _, token) = token(token_type);
    Job::new(format!("{name} verify"), 1, move || {
        key.verify(black_box(&token)).expect("a valid token");
    })
}

/// An origin's work on a token that only the issuer can verify.
fn redeem(token_type: TokenType) -> Job {
    let (key, challenge, token) = token(token_type);
    let token = token.encode();
    Job::new("P-256 redeem", 1, move || {
        let token = Token::decode(&token).expect("a token");
        token.answers(&challenge).expect("an answer");
        key.verify(&token).expect("a valid token");
        black_box(token.nullifier());
    })
}

/// The rows of the original's page on MACs and keys.
fn macs(jobs: &mut Vec<Job>) {
    for len in [32, 64, 128, 256, 512] {
        let message = vec![7; len];
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[1; 32]);
        let tag = hmac::sign(&key, &message);
        let (k, m) = (key.clone(), message.clone());
        jobs.push(Job::new(
            format!("HMAC-SHA256 compute {len} B (aws-lc)"),
            1,
            move || {
                black_box(hmac::sign(&k, &m));
            },
        ));
        let m = message.clone();
        jobs.push(Job::new(
            format!("HMAC-SHA256 verify {len} B (aws-lc)"),
            1,
            move || {
                hmac::verify(&key, &m, tag.as_ref()).expect("a valid tag");
            },
        ));
        jobs.push(Job::new(
            format!("HMAC-SHA3-256 compute {len} B"),
            1,
            move || {
                let mut mac = HmacSha3_256::new(&[1; 32]);
                mac.update(&message);
                black_box(mac.finish());
            },
        ));
    }
    jobs.push(Job::new("epoch key: HKDF-SHA3-256", 1, || {
        black_box(kdf::extract(b"", &[&[1; 32]]).expand_secret::<32>(&[b"epoch", &[0; 8]]));
    }));
    jobs.push(Job::new("epoch key: P-256 with its public half", 1, || {
        black_box(IssuerKey::derive(TokenType::VoprfP256, &[1; 32], b"epoch").expect("a key"));
    }));
}
