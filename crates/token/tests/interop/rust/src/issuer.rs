//! Their issuer with its origin.

use blind_rsa_signatures::reexports::rand;
use http::HeaderValue;
use p384::NistP384;
use privacypass::amortized_tokens::{self, AmortizedBatchTokenRequest};
use privacypass::auth::authenticate::{TokenChallenge, build_www_authenticate_header};
use privacypass::auth::authorize::{Token, parse_authorization_header};
use privacypass::common::private::{PrivateCipherSuite, serialize_public_key};
use privacypass::public_tokens::server::{
    IssuerServer, OriginKeyStore, OriginServer, serialize_public_key as serialize_rsa_key,
};
use privacypass::test_utils::nonce_store::MemoryNonceStore;
use privacypass::test_utils::private_memory_store::MemoryKeyStoreVoprf;
use privacypass::test_utils::public_memory_store::{IssuerMemoryKeyStore, OriginMemoryKeyStore};
use privacypass::{Deserialize, Serialize, TokenType, private_tokens, public_tokens};
use serde_json::Value;
use voprf::Ristretto255;

use crate::Result;

/// Answers a request.
type Issue = dyn Fn(&[u8]) -> Result<Vec<u8>>;
/// Whether the value of a header Authorization holds a token for this issuer's challenge.
type Verify = dyn Fn(&str) -> Result<bool>;

/// A key, its issuer and the origin that trusts it.
pub(crate) struct Issuer {
    pub(crate) issue: Box<Issue>,
    pub(crate) verify: Box<Verify>,
}

/// An issuer with a new key, and the value of the header WWW-Authenticate of its origin.
pub(crate) fn new(
    token_type: &Value,
    context: &[u8],
    count: Option<u16>,
) -> Result<(Issuer, String)> {
    match token_type.as_u64() {
        Some(1) => private::<NistP384>(context, count.is_some()),
        Some(2) => public(context),
        Some(5) => private::<Ristretto255>(context, count.is_some()),
        _ => Err("unknown type of token".into()),
    }
}

fn private<S>(context: &[u8], is_batch: bool) -> Result<(Issuer, String)>
where
    S: PrivateCipherSuite + 'static,
{
    let keys = std::rc::Rc::new(MemoryKeyStoreVoprf::<S>::default());
    let server = private_tokens::server::Server::<S>::new();
    let key = wait(server.create_keypair(&*keys))?;
    let (challenge, header) = challenge(S::token_type(), context, &serialize_public_key::<S>(key))?;
    let issuing = keys.clone();
    let issue = move |mut request: &[u8]| {
        if is_batch {
            let request = AmortizedBatchTokenRequest::<S>::tls_deserialize(&mut request)?;
            let server = amortized_tokens::server::Server::<S>::new();
            let response = wait(server.issue_token_response(&*issuing, request))?;
            return Ok(response.tls_serialize_detached()?);
        }
        let request = private_tokens::TokenRequest::<S>::tls_deserialize(&mut request)?;
        let server = private_tokens::server::Server::<S>::new();
        let response = wait(server.issue_token_response(&*issuing, request))?;
        Ok(response.tls_serialize_detached()?)
    };
    let verify = move |header: &str| {
        let token: private_tokens::PrivateToken<S> = token(header)?;
        let nonces = MemoryNonceStore::default();
        let redeemed = wait(server.redeem_token(&*keys, &nonces, token.clone()));
        Ok(token.challenge_digest() == &challenge.digest()? && redeemed.is_ok())
    };
    let (issue, verify) = (Box::new(issue), Box::new(verify));
    Ok((Issuer { issue, verify }, header))
}

fn public(context: &[u8]) -> Result<(Issuer, String)> {
    let keys = IssuerMemoryKeyStore::default();
    let key = wait(IssuerServer::new().create_keypair(&mut rand::rng(), &keys))?;
    let encoded = serialize_rsa_key(&key)?;
    let (challenge, header) = challenge(TokenType::Public, context, &encoded)?;
    let trusted = OriginMemoryKeyStore::default();
    let id = public_tokens::public_key_to_truncated_token_key_id(&key)?;
    wait(trusted.insert(id, key));
    let issue = move |mut request: &[u8]| {
        let request = public_tokens::TokenRequest::tls_deserialize(&mut request)?;
        let response = wait(IssuerServer::new().issue_token_response(&keys, request))?;
        Ok(response.tls_serialize_detached()?)
    };
    let verify = move |header: &str| {
        let token: public_tokens::PublicToken = token(header)?;
        let nonces = MemoryNonceStore::default();
        let redeemed = wait(OriginServer::new().redeem_token(&trusted, &nonces, token.clone()));
        Ok(token.challenge_digest() == &challenge.digest()? && redeemed.is_ok())
    };
    let (issue, verify) = (Box::new(issue), Box::new(verify));
    Ok((Issuer { issue, verify }, header))
}

fn challenge(
    token_type: TokenType,
    context: &[u8],
    key: &[u8],
) -> Result<(TokenChallenge, String)> {
    let context = match context {
        [] => None,
        context => Some(context.try_into()?),
    };
    let origins = ["origin.example".to_owned(), "other.example".to_owned()];
    let challenge = TokenChallenge::new(token_type, "issuer.example", context, &origins);
    let (_, value) = build_www_authenticate_header(&challenge, key, Some(60))?;
    Ok((challenge, value.to_str()?.to_owned()))
}

fn token<N: hybrid_array::ArraySize>(header: &str) -> Result<Token<N>> {
    // As in a challenge: the crate reads no quoted strings.
    let value = HeaderValue::from_str(&header.replace('"', ""))?;
    Ok(parse_authorization_header(&value)?)
}

/// Runs a future. The stores in memory never wait.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}
