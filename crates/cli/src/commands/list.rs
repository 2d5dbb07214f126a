//! `list`: what is in a sealed directory.

use std::io::{BufWriter, Write};
use std::sync::Mutex;

use sealstone::archive::{Entry, EntryKind};
use sealstone_terminal::clock;
use sealstone_terminal::text::{columns, json_line, one_line};
use serde_json::{Value, json};

use super::open::{Inside, KeyRing, hold};
use crate::args::ListArgs;
use crate::context::Context;
use crate::failure::{About, Result};
use crate::io::STDOUT;
use crate::io::output::standard_output;

pub(super) fn run(args: &ListArgs, context: &Context) -> Result<()> {
    let keys = Mutex::new(KeyRing::new(&args.access, context)?);
    let mut inside = Inside::open(&args.access, &args.input, &keys, context)?;
    // A list whose end does not fit is not shown at all.
    inside.each(|_| Ok(()))?;
    let mut lines = BufWriter::new(standard_output()?.lock());
    if context.json() {
        writeln!(lines, "{}", json_line(&summary(&inside))).about(STDOUT)?;
    } else {
        let begin = format!("{} is ", inside.archive.name());
        let (sender, below) = inside.sender(columns(&begin));
        context.say(&format!("{begin}{sender}{below}"));
    }
    inside.each(|entry| {
        let line = match (context.json(), args.long) {
            (true, _) => json_line(&entry.to_json()),
            (false, true) => long(entry),
            (false, false) => short(entry),
        };
        writeln!(lines, "{line}").about(STDOUT)
    })?;
    lines.flush().about(STDOUT)?;
    drop(lines);
    hold(&keys).countersign();
    Ok(())
}

fn summary(inside: &Inside) -> Value {
    let metadata = inside.metadata();
    json!({
        "name": metadata.name,
        "modified": metadata.modified,
        "note": metadata.note,
        "members": inside.archive.len(),
        "sender": inside.sender_json(),
    })
}

/// A path as `open` takes it, unless it has control characters of terminals.
fn short(entry: &Entry) -> String {
    let path = one_line(&String::from_utf8_lossy(&entry.path));
    match entry.kind {
        EntryKind::Directory => path + "/",
        _ => path,
    }
}

/// As `ls -l` shows it.
fn long(entry: &Entry) -> String {
    let kind = match entry.kind {
        EntryKind::Directory => 'd',
        EntryKind::Link { .. } => 'l',
        _ => '-',
    };
    let bit = |i: u32| match entry.mode >> (8 - i) & 1 {
        1 => ['r', 'w', 'x'][i as usize % 3],
        _ => '-',
    };
    let mode: String = (0..9).map(bit).collect();
    let time =
        u64::try_from(entry.modified).map_or_else(|_| entry.modified.to_string(), clock::show);
    let target = match &entry.kind {
        EntryKind::Link { target } => format!(" -> {}", one_line(&String::from_utf8_lossy(target))),
        _ => String::new(),
    };
    format!(
        "{kind}{mode} {:>14} {time} {}{target}",
        entry.size(),
        short(entry)
    )
}
