//! `inspect` of a package: it proves nothing.

use data_encoding::HEXLOWER;
use sealstone::package::{Entry, EntryContent, Layer, Package, Role};
use sealstone::passport::Fingerprint;
use sealstone_files::Document;
use sealstone_terminal::clock;
use sealstone_terminal::text::{one_line, quoted};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Result;
use crate::named::Parse;

/// More files are counted only.
const SHOWN_FILES: usize = 20;

pub(in crate::commands) fn run(file: &Document, context: &Context) -> Result<()> {
    let package = file.parse(Package::decode)?;
    context.print(
        || text(&package, file.len()),
        || value(&package, file.len()),
    )
}

fn text(package: &Package, size: usize) -> String {
    let manifest = package.manifest();
    let signed: Vec<(Fingerprint, Role, u64)> = package.signatures().collect();
    let mut lines = vec![
        field("size", format!("{size} bytes")),
        field("says it is of", clock::show(manifest.time)),
    ];
    if !manifest.author.is_empty() {
        lines.push(field("author", quoted(&manifest.author)));
    }
    let count = manifest.signers.len();
    lines.push(field(
        "signers",
        format!("{} of {count} have to sign", manifest.threshold),
    ));
    let named = manifest.signers.iter().map(|signer| {
        let time = signed.iter().find(|it| it.0 == *signer).map(|it| it.2);
        let state = time.map_or("not signed yet".to_owned(), |it| {
            format!("signed {}", clock::show(it))
        });
        format!("    {signer}, {state}\n")
    });
    lines.extend(named);
    let counter = signed.iter().filter(|it| it.1 == Role::CounterSigner);
    lines.extend(
        counter.map(|(signer, _, time)| {
            format!("    {signer}, counter-signed {}\n", clock::show(*time))
        }),
    );
    lines.push(field("layers", names(&package.layers())));
    lines.push(field("required", names(&required(package))));
    lines.push(field("timestamps", package.timestamps().len()));
    if let Some(digest) = &manifest.policy {
        lines.push(field(
            "policy",
            format!("SHA3-256 {}", HEXLOWER.encode(digest)),
        ));
    }
    lines.push(field("files", summary(package)));
    lines.extend(manifest.entries.iter().take(SHOWN_FILES).map(file_line));
    let more = manifest.entries.len().saturating_sub(SHOWN_FILES);
    if more > 0 {
        lines.push(format!("    and {more} more\n"));
    }
    format!(
        "package (version 1), not verified: sealstone verify does that\n{}",
        lines.concat()
    )
}

fn field(name: &str, value: impl std::fmt::Display) -> String {
    format!("  {name:<14}{value}\n")
}

fn names(layers: &[Layer]) -> String {
    let names: Vec<&str> = layers.iter().map(|it| it.name()).collect();
    names.join(", ")
}

fn required(package: &Package) -> Vec<Layer> {
    let by_signer = &package.manifest().required;
    let is_required = |it: &Layer| it.is_always_required() || by_signer.contains(it);
    Layer::ALL.into_iter().filter(is_required).collect()
}

fn summary(package: &Package) -> String {
    let manifest = package.manifest();
    let bytes: u128 = manifest
        .entries
        .iter()
        .map(|it| u128::from(it.size()))
        .sum();
    let complete = match manifest.complete {
        true => ", all files of a directory",
        false => "",
    };
    let count = manifest.entries.len();
    format!(
        "{count}, {bytes} bytes, {}{complete}",
        manifest.digest.name()
    )
}

fn file_line(entry: &Entry) -> String {
    let path = one_line(entry.path.as_str());
    match &entry.content {
        EntryContent::File { size, embedded, .. } => {
            let place = if *embedded { ", in the package" } else { "" };
            format!("    {path}, {size} bytes{place}\n")
        }
        EntryContent::Link(target) => format!("    {path}, a link to {}\n", quoted(target)),
    }
}

fn value(package: &Package, size: usize) -> Value {
    let manifest = package.manifest();
    let metadata = manifest.metadata.as_ref();
    json!({
        "type": "package",
        "version": 1,
        "size": size,
        "time": manifest.time,
        "author": manifest.author,
        "threshold": manifest.threshold,
        "signers": manifest.signers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "signatures": package.signatures().map(|(signer, role, time)| {
            json!({"fingerprint": signer.to_string(), "role": role.name(), "time": time})
        }).collect::<Vec<_>>(),
        "layers": package.layers().iter().map(|it| it.name()).collect::<Vec<_>>(),
        "required": required(package).iter().map(|it| it.name()).collect::<Vec<_>>(),
        "timestamps": package.timestamps().len(),
        "policy_sha3_256": manifest.policy.map(|digest| HEXLOWER.encode(&digest)),
        "metadata": metadata.and_then(|it| serde_json::from_str::<Value>(it.as_str()).ok()),
        "digest": manifest.digest.name(),
        "complete": manifest.complete,
        "files": manifest.entries.iter().map(file_value).collect::<Vec<_>>(),
    })
}

fn file_value(entry: &Entry) -> Value {
    let path = entry.path.as_str();
    match &entry.content {
        EntryContent::File {
            size,
            digest,
            embedded,
        } => json!({
            "path": path,
            "size": size,
            "digest": HEXLOWER.encode(digest),
            "embedded": embedded,
            "media_type": entry.media_type,
            "modified": entry.modified,
        }),
        EntryContent::Link(target) => json!({"path": path, "link": target}),
    }
}
