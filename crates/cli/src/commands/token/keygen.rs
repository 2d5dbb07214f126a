//! `token keygen`

use std::path::Path;

use sealstone_files::{PUBLIC, keep, with_suffix};
use sealstone_terminal::text::shown;
use sealstone_token::epoch::Root;
use sealstone_token::privacypass::IssuerKey;
use serde_json::json;

use super::files::{self, Secrecy};
use super::hex;
use crate::args::KeygenArgs;
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(args: &KeygenArgs, context: &Context) -> Result<()> {
    let Some(kind) = args.kind else {
        return root(&args.output, context);
    };
    let token_type = kind.token_type();
    let key = match (&args.from, args.epoch) {
        (Some(root), Some(epoch)) => files::read_root(root, context)?.key(token_type, epoch)?,
        _ => IssuerKey::generate(token_type)?,
    };
    let public = key.public_key();
    let public_path = with_suffix(&args.output, ".pub");
    keep::must_be_new([args.output.as_path(), &public_path])?;
    files::write_secret(
        &args.output,
        Secrecy::Key,
        files::encode_key(&key)?.expose(),
    )?;
    keep::write_new(&public_path, public.as_bytes(), PUBLIC)?;
    let text = format!(
        "wrote {} (secret) and {} (publish it)\n  type        {token_type}\n  key id      {}",
        shown(&args.output),
        shown(&public_path),
        hex(public.id())
    );
    context.result(&text, || {
        json!({
            "secret": args.output.display().to_string(),
            "public": public_path.display().to_string(),
            "token_type": token_type.number(),
            "key_id": hex(public.id()),
        })
    })
}

fn root(path: &Path, context: &Context) -> Result<()> {
    files::write_secret(path, Secrecy::Root, Root::generate().secret().expose())?;
    let text = format!(
        "wrote {} (secret)\n  all epochs' keys come from it: keep a copy, such as\n  \
         sealstone seal -o {}.sealed {}",
        shown(path),
        shown(path),
        shown(path)
    );
    context.result(&text, || json!({"secret": path.display().to_string()}))
}
