//! `token challenge`

use sealstone_primitives::rng;
use sealstone_token::privacypass::TokenChallenge;
use sealstone_token::privacypass::header::{self, Offer};
use serde_json::json;

use super::files::Form;
use super::{files, hex};
use crate::args::{ChallengeArgs, ContextValue};
use crate::context::Context;
use crate::failure::Result;

pub(super) fn run(args: &ChallengeArgs, context: &Context) -> Result<()> {
    let redemption_context = match args.context {
        ContextValue::Random => Some(rng::array()),
        ContextValue::Absent => None,
        ContextValue::Given(bytes) => Some(bytes),
    };
    let origins: Vec<&str> = args.origins.iter().map(String::as_str).collect();
    let token_type = args.kind.token_type();
    let challenge = TokenChallenge::new(token_type, &args.issuer, redemption_context, &origins)?;
    let digest = hex(&challenge.digest());
    let bytes = match args.header {
        false => challenge.encode(),
        true => {
            let key = args.key.as_deref().map(files::read_public).transpose()?;
            let token_key = key.map(|key| key.as_bytes().to_vec());
            let offer = Offer {
                challenge,
                token_key,
                max_age: args.max_age,
            };
            format!("{}\n", header::challenge(&offer)).into_bytes()
        }
    };
    let form = if args.header {
        Form::Text
    } else {
        Form::Message
    };
    files::write(&args.output, &bytes, form)?;
    files::done(
        &args.output,
        context,
        &format!("a challenge for {token_type}"),
        || json!({"token_type": token_type.number(), "digest": digest}),
    )
}
