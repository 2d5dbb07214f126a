//! `token redeem`

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use sealstone_files::{make_directory, sync_directory};
use sealstone_terminal::text::shown;
use sealstone_token::Error;
use sealstone_token::privacypass::{IssuerKey, IssuerPublicKey, Token};
use serde_json::json;

use super::files::{self, Secrecy};
use super::hex;
use crate::args::RedeemArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};

pub(super) fn run(args: &RedeemArgs, context: &Context) -> Result<()> {
    let keys: Vec<AnyKey> = args
        .keys
        .iter()
        .map(|path| AnyKey::read(path, context))
        .collect::<Result<_>>()?;
    let challenge = files::read_challenge(&args.challenge)?.challenge;
    let file = files::read(&args.token, "the token")?;
    let token = files::parse_token(&file).about(file.name())?;
    accept(&token, &keys, &challenge).about(file.name())?;
    spend(&args.spent, &token).about(file.name())?;
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
        match Secrecy::Key.parse(&file).about(file.name())? {
            Some(_) => Ok(Self::Secret(Box::new(files::read_key(path, context)?))),
            None => Ok(Self::Public(Box::new(
                files::parse_public(&file).about(file.name())?,
            ))),
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

fn accept(
    token: &Token,
    keys: &[AnyKey],
    challenge: &sealstone_token::privacypass::TokenChallenge,
) -> Result<(), Error> {
    token.answers(challenge)?;
    let key = keys
        .iter()
        .find(|key| key.id() == *token.key_id())
        .ok_or(Error::WrongKey)?;
    key.verify(token)
}

/// Remembers the token, durably, before anybody is told that it is good.
///
/// Each token has an empty file with the name of its nullifier, below a directory for its key.
/// The system makes such a file for one caller only, however many ask at once.
fn spend(spent: &Path, token: &Token) -> Result<()> {
    let directory = spent.join(hex(token.key_id()));
    make_directory(spent)
        .and_then(|()| make_directory(&directory))
        .about(shown(spent))?;
    let mark = directory.join(hex(&token.nullifier()));
    let made = File::create_new(&mark).and_then(|file| file.sync_all());
    match made.and_then(|()| sync_directory(&directory)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::new(
            Exit::Authentication,
            "the token was redeemed before",
        )),
        other => other.about(shown(&mark)),
    }
}
