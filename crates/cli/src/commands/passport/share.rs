//! `passport split` and `passport join`

use std::path::{Path, PathBuf};

use sealstone::passport::{Passport, Share};
use sealstone_files::{keep, with_suffix};
use sealstone_terminal::clock;
use sealstone_terminal::text::one_line;
use serde_json::json;
use zeroize::Zeroizing;

use super::backup::{must_be_meant, to_file};
use super::creation::{FirstSlot, label_of_backup, place_or_default};
use crate::args::{JoinArgs, SplitArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::identity::{Identity, or_default};
use crate::io::input;
use crate::named::Parse;
use crate::passphrase::Passphrases;

/// 16 shares are shorter.
const MAX_LEN: usize = 16 << 10;

pub(super) fn split(args: &SplitArgs, context: &Context) -> Result<()> {
    if args.threshold > args.shares {
        let what = format!(
            "{} shares cannot restore a passport that needs {} of them",
            args.shares, args.threshold
        );
        return Err(Failure::usage(what)
            .hint("choose -k (shares that restore it) no greater than -n (shares that are made)"));
    }
    let output = to_file(args.output.as_deref());
    let open = output.is_none() && !args.force;
    must_be_meant(open, "these shares together are", "-o PREFIX", context)?;
    let identity = Identity::load(&or_default(args.file.as_deref())?)?;
    let paths = output
        .map(|prefix| share_paths(prefix, args.shares))
        .transpose()?;
    let unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    let shares = unlocked.passport().split(args.threshold, args.shares)?;
    let text: Vec<Zeroizing<String>> = shares.iter().map(Share::expose).collect();
    match paths {
        Some(paths) => write(&paths, &text, context)?,
        None => print(&text, context)?,
    }
    let any = format!(
        "any {} of these {} shares restore the passport; give each share to another person",
        args.threshold, args.shares
    );
    context.say(&any);
    Ok(())
}

pub(super) fn join(args: &JoinArgs, context: &Context) -> Result<()> {
    let place = place_or_default(args.output.as_deref())?;
    let slot = FirstSlot::new(&args.creation, context)?;
    let mut shares = Vec::new();
    for path in &args.shares {
        shares.extend(read(path)?);
    }
    let needed = shares
        .iter()
        .map(Share::threshold)
        .max()
        .unwrap_or_default();
    if shares.len() < usize::from(needed) {
        let what = format!(
            "{needed} shares of this split are needed, and {} given",
            shares.len()
        );
        return Err(Failure::usage(what));
    }
    let label = label_of_backup(args.creation.label.as_deref())?;
    let passport = Passport::from_shares(&shares, &label, clock::now())?;
    slot.write(&passport, &passport.public(), &place)
}

fn share_paths(prefix: &Path, count: u8) -> Result<Vec<PathBuf>> {
    let paths: Vec<PathBuf> = (1..=count)
        .map(|i| with_suffix(prefix, &format!("-{i}.share")))
        .collect();
    keep::must_be_new(paths.iter().map(PathBuf::as_path))?;
    Ok(paths)
}

fn write(paths: &[PathBuf], text: &[Zeroizing<String>], context: &Context) -> Result<()> {
    for (path, share) in paths.iter().zip(text) {
        let line = Zeroizing::new(format!("{}\n", **share));
        keep::write_new(path, line.as_bytes(), keep::PRIVATE)?;
    }
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let shown: Vec<String> = names.iter().map(|name| one_line(name)).collect();
    context.result(
        &format!("wrote {}", shown.join(", ")),
        || json!({"output": names}),
    )
}

fn print(text: &[Zeroizing<String>], context: &Context) -> Result<()> {
    let lines = || {
        text.iter()
            .map(|share| format!("{}\n", **share))
            .collect::<String>()
    };
    context.print(
        lines,
        || json!({"shares": text.iter().map(|share| share.as_str()).collect::<Vec<_>>()}),
    )
}

/// The shares in a file, one per line.
fn read(path: &Path) -> Result<Vec<Share>> {
    let file = input::read(path, "the shares", MAX_LEN)?;
    file.parse(|bytes| {
        let malformed = |what| Failure::new(Exit::Format, what);
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("not a share"))?;
        let shares = Share::parse_all(text).map_err(not_a_share)?;
        match shares.is_empty() {
            true => Err(malformed("there is no share in it")),
            false => Ok(shares),
        }
    })
}

/// An error of the file, not of the command line.
fn not_a_share(error: sealstone::Error) -> Failure {
    Failure::new(Exit::Format, error.to_string())
}
