//! Their issuer behind HTTP, for `bench/issuers.mjs`: both types of RFC 9578, keys in memory, no
//! gate.

use std::convert::Infallible;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use blind_rsa_signatures::reexports::rand;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use p384::NistP384;
use privacypass::common::private::serialize_public_key;
use privacypass::public_tokens::server::{IssuerServer, serialize_public_key as serialize_rsa_key};
use privacypass::test_utils::private_memory_store::MemoryKeyStoreVoprf;
use privacypass::test_utils::public_memory_store::IssuerMemoryKeyStore;
use privacypass::{Deserialize, Serialize, private_tokens, public_tokens};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use crate::Result;

type Voprf = private_tokens::server::Server<NistP384>;

/// Serves until it is killed. It prints one JSON line with its URL when it is ready.
pub(crate) fn run() -> Result<()> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_io().build()?.block_on(listen())
}

async fn listen() -> Result<()> {
    let issuer = Arc::new(Issuer::new().await?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("{}", json!({"url": url}));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(converse(issuer.clone(), stream));
    }
}

async fn converse(issuer: Arc<Issuer>, stream: TcpStream) {
    let service = service_fn(move |request| {
        let issuer = issuer.clone();
        async move { Ok::<_, Infallible>(issuer.answer(request).await) }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A broken connection is no error of the server.
    drop(connection.await);
}

/// A key of each type, and the directory that names them.
struct Issuer {
    private: MemoryKeyStoreVoprf<NistP384>,
    public: IssuerMemoryKeyStore,
    directory: String,
}

impl Issuer {
    async fn new() -> Result<Self> {
        let (private, public) = (
            MemoryKeyStoreVoprf::default(),
            IssuerMemoryKeyStore::default(),
        );
        let voprf = Voprf::new().create_keypair(&private).await?;
        let rsa = IssuerServer::new()
            .create_keypair(&mut rand::rng(), &public)
            .await?;
        let entry = |kind: u16, key: &[u8]| json!({"token-type": kind, "token-key": URL_SAFE_NO_PAD.encode(key)});
        let voprf = entry(1, &serialize_public_key::<NistP384>(voprf));
        let keys = [voprf, entry(2, &serialize_rsa_key(&rsa)?)];
        let directory = json!({"issuer-request-uri": "/token-request", "token-keys": keys});
        Ok(Self {
            private,
            public,
            directory: directory.to_string(),
        })
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() == Method::GET {
            return respond("private-token-issuer-directory", self.directory.clone());
        }
        let issued = match request.into_body().collect().await {
            Ok(body) => self.issue(&body.to_bytes()).await,
            Err(_) => None,
        };
        issued.map_or_else(refuse, |response| {
            respond("private-token-response", response)
        })
    }

    /// The response to a request, if it is good.
    async fn issue(&self, mut request: &[u8]) -> Option<Vec<u8>> {
        match request {
            [0, 1, ..] => {
                let request = private_tokens::TokenRequest::tls_deserialize(&mut request).ok()?;
                let issued = Voprf::new()
                    .issue_token_response(&self.private, request)
                    .await;
                issued.ok()?.tls_serialize_detached().ok()
            }
            [0, 2, ..] => {
                let request = public_tokens::TokenRequest::tls_deserialize(&mut request).ok()?;
                let server = IssuerServer::new();
                let issued = server.issue_token_response(&self.public, request).await;
                issued.ok()?.tls_serialize_detached().ok()
            }
            _ => None,
        }
    }
}

fn respond(kind: &str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let response = Response::builder().header(CONTENT_TYPE, format!("application/{kind}"));
    response.body(Full::new(body.into())).unwrap_or_default()
}

fn refuse() -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    response
}
