//! Chains of timestamps.

use sealstone::timestamp::{
    Chain, Digests, Imprint, MAX_CHAIN, Options, Refusal, Request, Response, Roots, Sha2,
};
use sealstone_testing::tsa::{Authority, Info, generalized_time, now};

use crate::common::DATA;

const CADES: [&str; 3] = ["-cades", "-certfile", "between.pem"];

fn stamp(tsa: &Authority, imprint: &Imprint, time: u64) -> Response {
    let info = Info::new(imprint.digest(), &generalized_time(time));
    let bytes = tsa.sign("signer", &info.encode(), &CADES);
    Response::parse(&bytes).expect("a response")
}

fn name(
    chain: &Chain,
    data: &[u8],
    roots: &Roots,
    options: &Options,
) -> Option<(usize, &'static str)> {
    let verdict = chain.verify(&Digests::of(&Sha2::ALL, data), roots, options);
    verdict
        .err()
        .map(|refused| (refused.at, refused.refusal.name()))
}

#[test]
fn a_chain_of_three() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    let digests = Digests::of(&Sha2::ALL, DATA);
    let start = now() + 600;
    let first = stamp(&tsa, &Imprint::of(Sha2::Sha256, DATA), start);
    let mut chain = Chain::new(vec![first.clone()]).expect("one response");
    for days in [100, 200] {
        let imprint = chain.renewal(&digests, Sha2::Sha256).expect("an imprint");
        let renewal = stamp(&tsa, &imprint, start + days * 86_400);
        chain.push(renewal).expect("a short chain");
    }
    let options = Options::default();
    let all = chain
        .verify(&digests, &roots, &options)
        .expect("a good chain");
    let times: Vec<u64> = all
        .iter()
        .map(|verified| verified.time.as_secs() - start)
        .collect();
    assert_eq!(times, [0, 8_640_000, 17_280_000]);
    assert_eq!(
        name(&chain, b"other", &roots, &options),
        Some((2, "imprint"))
    );
    // Missing, swapped, repeated.
    let [a, b, c] = chain.responses() else {
        panic!("three")
    };
    let verdict = |responses: Vec<&Response>| {
        let chain = Chain::new(responses.into_iter().cloned().collect()).expect("a chain");
        name(&chain, DATA, &roots, &options)
    };
    assert_eq!(verdict(vec![a, b]), None);
    assert_eq!(verdict(vec![a, c]), Some((1, "imprint")));
    assert_eq!(verdict(vec![b, c]), Some((1, "imprint")));
    assert_eq!(verdict(vec![b]), Some((0, "imprint")));
    assert_eq!(verdict(vec![b, a, c]), Some((2, "imprint")));
    assert_eq!(verdict(vec![a, b, b, c]), Some((3, "imprint")));
    // A verifier may require that the last one is valid today.
    let late = Options {
        also_valid_at: Some(start + 366 * 86_400),
        ..Options::default()
    };
    assert_eq!(name(&chain, DATA, &roots, &late), Some((2, "expired")));
}

/// Each algorithm hashes the data again.
#[test]
fn a_renewal_with_another_hash() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    let query = |imprint: Imprint| Request::new(imprint, None).encode();
    let reply = |imprint: Imprint| {
        let bytes = tsa.reply("signer", &["between.pem"], "sha512", &query(imprint));
        Response::parse(&bytes).expect("a response")
    };
    let mut chain = Chain::new(vec![reply(Imprint::of(Sha2::Sha256, DATA))]).expect("one");
    let digests = Digests::of(&[Sha2::Sha256, Sha2::Sha512], DATA);
    let imprint = chain.renewal(&digests, Sha2::Sha512).expect("an imprint");
    // Computed by the specification.
    let bytes = chain.responses()[0].as_bytes();
    let covered = [
        &b"sealstone.timestamp.renewal.v1\0"[..],
        &[0, 0, 0, 1],
        &Sha2::Sha512.digest(&[DATA]),
        &(bytes.len() as u64).to_be_bytes(),
        bytes,
    ];
    assert_eq!(imprint, Imprint::of(Sha2::Sha512, &covered.concat()));
    chain.push(reply(imprint)).expect("a short chain");
    assert_eq!(chain.hashes(), Ok(vec![Sha2::Sha256, Sha2::Sha512]));
    let options = Options::default();
    assert!(chain.verify(&digests, &roots, &options).is_ok());
    let one = Digests::of(&[Sha2::Sha256], DATA);
    let refused = chain
        .verify(&one, &roots, &options)
        .expect_err("a digest is missing");
    assert_eq!(
        (refused.at, refused.refusal),
        (1, Refusal::DataNeeded("SHA-512".to_owned()))
    );
}

#[test]
fn a_renewal_comes_in_time_and_in_order() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    let digests = Digests::of(&[Sha2::Sha256], DATA);
    let start = now() + 600;
    for (offset, expected) in [
        (0, None),
        (-1, Some((0, "renewal-order"))),
        // The signer of the renewal is a new one, whose certificate is longer.
        (366 * 86_400, Some((0, "expired"))),
    ] {
        let first = stamp(&tsa, &Imprint::of(Sha2::Sha256, DATA), start);
        let mut chain = Chain::new(vec![first]).expect("one response");
        let imprint = chain.renewal(&digests, Sha2::Sha256).expect("an imprint");
        let time = start.checked_add_signed(offset).expect("a time");
        let info = Info::new(imprint.digest(), &generalized_time(time));
        tsa.key("later", "P-256");
        let long = ["-days", "3650"];
        tsa.certify(
            "later",
            "later",
            None,
            sealstone_testing::tsa::SIGNER,
            &long,
        );
        let bytes = tsa.sign("later", &info.encode(), &["-cades"]);
        chain
            .push(Response::parse(&bytes).expect("a response"))
            .expect("short");
        let both = [tsa.read("root.pem"), tsa.read("later.pem")].concat();
        let both = Roots::parse(&both).expect("two roots");
        assert_eq!(
            name(&chain, DATA, &both, &Options::default()),
            expected,
            "{offset}"
        );
        assert_eq!(
            name(&chain, DATA, &roots, &Options::default()),
            Some((1, "no-path"))
        );
    }
}

#[test]
fn chains_are_not_empty_and_not_endless() {
    assert_eq!(Chain::new(vec![]), Err(Refusal::ChainLength));
    let rejected = Response::parse(&[0x30, 5, 0x30, 3, 2, 1, 2]).expect("a response");
    let long = vec![rejected.clone(); MAX_CHAIN + 1];
    assert_eq!(Chain::new(long), Err(Refusal::ChainLength));
    let mut full = Chain::new(vec![rejected.clone(); MAX_CHAIN]).expect("the longest");
    assert_eq!(full.push(rejected), Err(Refusal::ChainLength));
    assert_eq!(full.hashes().map_err(|refused| refused.at), Err(0));
}
