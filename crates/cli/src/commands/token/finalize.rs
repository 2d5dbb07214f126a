//! `token finalize`

use sealstone_token::privacypass::{Token, header};
use serde_json::json;

use super::files::Form;
use super::{files, hex};
use crate::args::FinalizeArgs;
use crate::context::Context;
use crate::failure::Result;
use crate::named::Parse;

pub(super) fn run(args: &FinalizeArgs, context: &Context) -> Result<()> {
    // The response first: in a pipe, the command that makes it writes the state before.
    let response = files::read(&args.response, "the response")?;
    let pending = files::read_state(&args.state, context)?;
    let tokens = response.parse(|bytes| pending.finalize(bytes))?;
    let line = |token: &Token| format!("{}\n", header::authorization(token));
    let bytes = match args.header {
        true => tokens.iter().map(line).collect::<String>().into_bytes(),
        false => tokens.iter().flat_map(Token::encode).collect(),
    };
    let kind = if args.header {
        Form::SecretText
    } else {
        Form::Secret
    };
    files::write(&args.output, &bytes, kind)?;
    let what = if tokens.len() == 1 {
        "a token".to_owned()
    } else {
        format!("{} tokens", tokens.len())
    };
    files::done(&args.output, context, &what, || {
        let marks: Vec<String> = tokens.iter().map(|token| hex(&token.nullifier())).collect();
        json!({"count": tokens.len(), "nullifiers": marks})
    })
}
