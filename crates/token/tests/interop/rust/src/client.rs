//! Their client.

use blind_rsa_signatures::reexports::rand;
use http::HeaderValue;
use p384::NistP384;
use privacypass::amortized_tokens::{AmortizedBatchTokenRequest, AmortizedBatchTokenResponse};
use privacypass::auth::authenticate::{Challenge, parse_www_authenticate_header};
use privacypass::auth::authorize::{Token, build_authorization_header};
use privacypass::common::private::{PrivateCipherSuite, deserialize_public_key};
use privacypass::{Deserialize, Serialize, TokenType, private_tokens, public_tokens};
use voprf::Ristretto255;

use crate::Result;

/// Converts a response to tokens, as values of the header Authorization.
pub(crate) type Finish = Box<dyn FnOnce(&[u8]) -> Result<Vec<String>>>;

/// Asks for one token, or for `count` at once.
pub(crate) fn request(header: &str, count: Option<u16>) -> Result<(Vec<u8>, Finish)> {
    // RFC 9577 has quoted strings, which the crate does not read.
    let header = HeaderValue::from_str(&header.replace('"', ""))?;
    let offers = parse_www_authenticate_header(&header)?;
    let offer = &offers[0];
    match (offer.token_challenge().token_type(), count) {
        (TokenType::PrivateP384, None) => one::<NistP384>(offer),
        (TokenType::PrivateRistretto255, None) => one::<Ristretto255>(offer),
        (TokenType::PrivateP384, Some(count)) => batch::<NistP384>(offer, count),
        (TokenType::PrivateRistretto255, Some(count)) => batch::<Ristretto255>(offer, count),
        (TokenType::Public, None) => public(offer),
        (TokenType::Public, Some(_)) => Err("RSA has no batches".into()),
    }
}

fn one<S: PrivateCipherSuite + 'static>(offer: &Challenge) -> Result<(Vec<u8>, Finish)> {
    let key = deserialize_public_key::<S>(offer.token_key())?;
    let (request, state) = private_tokens::TokenRequest::<S>::new(key, offer.token_challenge())?;
    let finish = move |response: &[u8]| {
        let response = private_tokens::TokenResponse::<S>::try_from_bytes(response)?;
        Ok(vec![authorization(&response.issue_token(&state)?)?])
    };
    Ok((request.tls_serialize_detached()?, Box::new(finish)))
}

fn batch<S: PrivateCipherSuite + 'static>(
    offer: &Challenge,
    count: u16,
) -> Result<(Vec<u8>, Finish)> {
    let key = deserialize_public_key::<S>(offer.token_key())?;
    let (request, state) =
        AmortizedBatchTokenRequest::<S>::new(key, offer.token_challenge(), count)?;
    let finish = move |response: &[u8]| {
        let response = AmortizedBatchTokenResponse::<S>::try_from_bytes(response)?;
        let tokens = response.issue_tokens(&state)?;
        tokens.iter().map(authorization).collect()
    };
    Ok((request.tls_serialize_detached()?, Box::new(finish)))
}

fn public(offer: &Challenge) -> Result<(Vec<u8>, Finish)> {
    let key = public_tokens::PublicKey::from_spki(offer.token_key())?;
    let (request, state) =
        public_tokens::TokenRequest::new(&mut rand::rng(), key, offer.token_challenge())?;
    let finish = move |mut response: &[u8]| {
        let response = public_tokens::TokenResponse::tls_deserialize(&mut response)?;
        Ok(vec![authorization(&response.issue_token(&state)?)?])
    };
    Ok((request.tls_serialize_detached()?, Box::new(finish)))
}

fn authorization<N: hybrid_array::ArraySize>(token: &Token<N>) -> Result<String> {
    let (_, value) = build_authorization_header(token)?;
    Ok(value.to_str()?.to_owned())
}
