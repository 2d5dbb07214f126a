//! `timestamp verify`

use sealstone::timestamp::{
    Chain, ChainRefusal, Digests, Options, Refusal, Response, Roots, Verified,
};
use sealstone_terminal::clock;
use sealstone_terminal::text::one_line;
use serde_json::{Value, json};

use super::{exit_of, files};
use crate::args::{Hex, StampVerifyArgs};
use crate::context::Context;
use crate::failure::{Failure, Result};

pub(super) fn run(args: &StampVerifyArgs, context: &Context) -> Result<()> {
    let roots = files::read_roots(&args.roots)?;
    let options = options(args)?;
    match check(args, &roots, &options)? {
        Ok(all) => context.print(|| text(&all), || good(&all)),
        Err(refused) if context.json() => {
            context.print(String::new, || bad(&refused))?;
            Err(Failure::silent(exit_of(&refused.refusal)))
        }
        Err(refused) => Err(Failure::from(refused).about("bad")),
    }
}

fn options(args: &StampVerifyArgs) -> Result<Options> {
    let now = clock::now();
    let query = args.require.query.as_deref();
    let query = query.map(files::read_request).transpose()?;
    let answering = query.as_ref().map(Options::answering).unwrap_or_default();
    Ok(Options {
        policy: args.require.policy.or(answering.policy),
        now: Some(now),
        also_valid_at: args.require.valid_now.then_some(now),
        refuse_sha1_id: args.require.no_sha1_id,
        ..answering
    })
}

/// The verdict; the outer error is one of reading.
fn check(
    args: &StampVerifyArgs,
    roots: &Roots,
    options: &Options,
) -> Result<std::result::Result<Vec<Verified>, ChainRefusal>> {
    let mut responses = Vec::new();
    for (at, path) in args.responses.iter().enumerate() {
        match Response::parse(&files::read_response(path)?) {
            Ok(response) => responses.push(response),
            Err(refusal) => return Ok(Err(ChainRefusal { at, refusal })),
        }
    }
    let chain = match Chain::new(responses) {
        Ok(chain) => chain,
        Err(refusal) => return Ok(Err(ChainRefusal { at: 0, refusal })),
    };
    let hashes = match chain.hashes() {
        Ok(hashes) => hashes,
        Err(refused) => return Ok(Err(refused)),
    };
    let digests = match digests(args, &hashes)? {
        Ok(digests) => digests,
        Err(refusal) => return Ok(Err(ChainRefusal { at: 0, refusal })),
    };
    Ok(chain.verify(&digests, roots, options))
}

/// The digests of the data. A digest of the wrong length is the verdict, not an error of usage.
fn digests(
    args: &StampVerifyArgs,
    hashes: &[sealstone::timestamp::Sha2],
) -> Result<std::result::Result<Digests, Refusal>> {
    let (Some(digest), Some(hash)) = (&args.data.digest_hex, hashes.first()) else {
        return files::digests(&args.data, hashes).map(Ok);
    };
    let imprint = sealstone::timestamp::Imprint::from_digest(*hash, &digest.0);
    Ok(imprint.map(Digests::from_imprint))
}

/// The table for people.
fn text(all: &[Verified]) -> String {
    let Some((first, last)) = all.first().zip(all.last()) else {
        return String::new();
    };
    let mut lines = vec![format!("good: the data existed at {}", time(first))];
    let mut line =
        |name: &str, value: &str| lines.push(format!("  {name:<11} {}", one_line(value)));
    line("authority", first.tsa());
    line("root", first.path.last().map_or("", |root| &root.subject));
    line("policy", &first.policy.to_string());
    line("serial", &Hex::encode(&first.serial));
    line("imprint", &first.hash.to_string());
    for renewal in &all[1..] {
        line(
            "renewed",
            &format!("{} by {}", time(renewal), renewal.tsa()),
        );
    }
    line("renew by", &clock::show(last.expires()));
    if all.iter().any(|verified| verified.sha1_id) {
        line("note", "only SHA-1 says which certificate signed");
    }
    lines.join("\n")
}

/// `2025-05-09 11:58:55 UTC (± 1 s)`
fn time(verified: &Verified) -> String {
    let time = clock::show(verified.time.as_secs());
    match verified.accuracy {
        Some(accuracy) => format!("{time} (± {} s)", accuracy.as_secs_f64()),
        None => time,
    }
}

fn good(all: &[Verified]) -> Value {
    let first = all.first();
    json!({
        "verdict": "good",
        "reason": "every check passed",
        "time": first.map(|verified| verified.time.as_secs()),
        "utc": first.map(|verified| clock::show(verified.time.as_secs())),
        "timestamps": all.iter().map(stamp).collect::<Vec<_>>(),
    })
}

fn bad(refused: &ChainRefusal) -> Value {
    json!({
        "verdict": "bad",
        "reason": refused.refusal.name(),
        "message": refused.refusal.to_string(),
        "response": refused.at,
        "time": null,
    })
}

fn stamp(verified: &Verified) -> Value {
    let path = verified.path.iter().map(|certificate| {
        json!({
            "subject": certificate.subject,
            "issuer": certificate.issuer,
            "serial": Hex::encode(&certificate.serial),
            "not_before": certificate.not_before,
            "not_after": certificate.not_after,
        })
    });
    json!({
        "time": verified.time.as_secs(),
        "microseconds": verified.time.subsec_micros(),
        "accuracy_microseconds": verified.accuracy.map(|accuracy| accuracy.as_micros() as u64),
        "authority": verified.tsa(),
        "policy": verified.policy.to_string(),
        "serial": Hex::encode(&verified.serial),
        "hash": verified.hash.to_string(),
        "renew_by": verified.expires(),
        "sha1_id": verified.sha1_id,
        "path": path.collect::<Vec<_>>(),
    })
}
