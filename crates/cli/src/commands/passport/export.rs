//! `passport export`

use std::io::Write;

use sealstone_files::Sync;
use sealstone_terminal::text::shown;
use serde_json::json;

use crate::args::ExportArgs;
use crate::context::Context;
use crate::failure::Result;
use crate::identity::{Identity, or_default};
use crate::io::output::{ContentKind, Destination, How, Output};
use crate::io::{DASH, input};
use crate::passphrase::Passphrases;

pub(super) fn run(args: &ExportArgs, context: &Context) -> Result<()> {
    let file = or_default(args.file.as_deref())?;
    let identity = Identity::load(&file)?;
    let to_stdout = args.output.as_os_str() == DASH;
    let destination = Destination::named(&args.output);
    let input = input::open(&file, "the passport")?;
    let how = How {
        kind: ContentKind::Text,
        force: args.force,
        sync: Sync::Full,
    };
    let output = Output::create(&destination, how, Some(&input))?;
    let unlocked = identity.unlock(&Passphrases::from(&args.unlock), context)?;
    // The existing public half may name a predecessor, and only that one can sign the statement.
    let passport = unlocked.passport();
    let public = identity
        .public()
        .ok()
        .filter(|public| public.contact().fingerprint() == passport.fingerprint())
        .unwrap_or_else(|| passport.public());
    if to_stdout && context.json() {
        return context.print(String::new, || json!({"public": public.to_armor()}));
    }
    (&output).write_all(public.to_armor().as_bytes())?;
    output.commit()?;
    if to_stdout {
        return Ok(());
    }
    let text = format!("wrote {} (hand it out)", shown(&args.output));
    context.result(&text, || json!({"output": args.output.display().to_string(), "fingerprint": public.contact().fingerprint().to_string()}))
}
