//! `token redeem`

use std::path::Path;

use sealstone_files::take_once;
use sealstone_token::Error;
use sealstone_token::privacypass::header::Offer;
use sealstone_token::privacypass::{IssuerKey, IssuerPublicKey, Token};
use serde_json::json;

use super::files::{self, Secrecy};
use super::hex;
use crate::args::RedeemArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named::Parse;

pub(super) fn run(args: &RedeemArgs, context: &Context) -> Result<()> {
    let keys: Vec<AnyKey> = args
        .keys
        .iter()
        .map(|path| AnyKey::read(path, context))
        .collect::<Result<_>>()?;
    let offers = files::read_offers(&args.challenge)?;
    let file = files::read(&args.token, "the token")?;
    let token = file.parse(|bytes| -> Result<_> {
        let token = files::parse_token(bytes)?;
        accept(&token, &keys, &offers)?;
        spend(&args.spent, &token)?;
        Ok(token)
    })?;
    let nullifier = hex(&token.nullifier());
    let text = format!("accepted\n  nullifier   {nullifier}");
    context.result(&text, || json!({"accepted": true, "nullifier": nullifier}))
}

/// A key that can verify tokens.
enum AnyKey {
    Secret(Box<IssuerKey>),
    Public(Box<IssuerPublicKey>),
}

impl AnyKey {
    fn read(path: &Path, context: &Context) -> Result<Self> {
        let file = files::read(path, "the key")?;
        match file.parse(|line| Secrecy::Key.parse(line))? {
            Some(_) => Ok(Self::Secret(Box::new(files::read_key(path, context)?))),
            None => Ok(Self::Public(Box::new(file.parse(files::parse_public)?))),
        }
    }

    fn id(&self) -> [u8; 32] {
        match self {
            Self::Secret(key) => *key.public_key().id(),
            Self::Public(key) => *key.id(),
        }
    }

    fn verify(&self, token: &Token) -> Result<(), Error> {
        match self {
            Self::Secret(key) => key.verify(token),
            Self::Public(key) => key.verify(token),
        }
    }
}

/// A token answers one of the challenges that a header offers.
fn accept(token: &Token, keys: &[AnyKey], offers: &[Offer]) -> Result<(), Error> {
    let same_type = |offer: &&Offer| offer.challenge.token_type() == Ok(token.token_type());
    let answered = |offer: &&Offer| token.answers(&offer.challenge).is_ok();
    let offer = offers.iter().find(answered);
    let offer = offer.or_else(|| offers.iter().find(same_type));
    token.answers(&offer.unwrap_or(&offers[0]).challenge)?;
    let key = keys
        .iter()
        .find(|key| key.id() == *token.key_id())
        .ok_or(Error::WrongKey)?;
    key.verify(token)
}

/// Remembers the token, durably, before anybody is told that it is good: its nullifier, in a
/// directory for its key.
fn spend(spent: &Path, token: &Token) -> Result<()> {
    match take_once(spent, &hex(token.key_id()), &hex(&token.nullifier())) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let what = "the token was redeemed before";
            Err(Failure::new(Exit::Authentication, what))
        }
        Err(error) => {
            Err(Failure::from(error).hint("the token was not redeemed: it may be shown again"))
        }
    }
}
