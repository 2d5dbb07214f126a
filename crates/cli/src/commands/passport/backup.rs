//! `passport backup`

use std::io::{IsTerminal, stdout};
use std::path::Path;

use sealstone::passport::Words;
use sealstone_files::keep;
use sealstone_terminal::qr::Code;
use sealstone_terminal::text::shown;
use serde_json::json;
use zeroize::Zeroizing;

use crate::args::BackupArgs;
use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::identity::{Identity, or_default};
use crate::io::DASH;
use crate::passphrase::Passphrases;

pub(super) fn run(args: &BackupArgs, context: &Context) -> Result<()> {
    let output = to_file(args.output.as_deref());
    let open = output.is_none() && !args.force;
    must_be_meant(open, "a backup is", "-o FILE", context)?;
    if args.qr && output.is_none() && context.json() {
        let failure = Failure::usage("a QR code is a picture, which JSON does not hold");
        return Err(failure.hint("choose -o FILE.svg or -o FILE.png, or leave out --qr"));
    }
    keep::must_be_new(output)?;
    let identity = Identity::load(&or_default(args.file.as_deref())?)?;
    let unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    let words = unlocked.passport().words();
    match (output, args.qr) {
        (Some(path), true) => write(path, &picture(path, &words)?, context),
        (Some(path), false) => write(path, format!("{}\n", *words.expose()).as_bytes(), context),
        (None, true) => context.print(
            || code(&words).map_or(String::new(), |code| code.on_screen()),
            || words_json(&words),
        ),
        (None, false) => context.print(|| readable(&words), || words_json(&words)),
    }?;
    context.say("anybody who has this has the passport: keep it on paper, away from the machine");
    Ok(())
}

/// The file that `-o` names; `None` for standard output.
pub(super) fn to_file(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new(DASH))
}

fn write(path: &Path, bytes: &[u8], context: &Context) -> Result<()> {
    keep::write_new(path, bytes, keep::PRIVATE)?;
    context.result(
        &format!("wrote {}", shown(path)),
        || json!({"output": path.display().to_string()}),
    )
}

/// Fails if the whole passport would go `open`ly to something that is neither a terminal nor asks
/// for JSON.
pub(super) fn must_be_meant(
    open: bool,
    this_is: &str,
    option: &str,
    context: &Context,
) -> Result<()> {
    if !open || context.json() || stdout().is_terminal() {
        return Ok(());
    }
    let what = format!(
        "{this_is} the whole passport in clear text, and standard output is not a terminal"
    );
    Err(Failure::usage(what).hint(format!(
        "choose {option}, or --force to write it all the same"
    )))
}

/// For people a table, for programs one line.
fn readable(words: &Words) -> String {
    match stdout().is_terminal() {
        true => words.numbered().to_string(),
        false => words.expose().to_string(),
    }
}

fn words_json(words: &Words) -> serde_json::Value {
    json!({"words": words.expose().as_str()})
}

fn picture(path: &Path, words: &Words) -> Result<Zeroizing<Vec<u8>>> {
    let picture = code(words)?.picture(path).about(path.display())?;
    picture.ok_or_else(|| {
        Failure::usage("the name of a QR code ends in .svg or .png").about(path.display())
    })
}

fn code(words: &Words) -> Result<Code> {
    Ok(Code::new(words.expose().as_bytes())?)
}
