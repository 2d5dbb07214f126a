//! The socket in the data directory: anyone who may enter the directory may do everything.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Router};
use hyper::body::Frame;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::{Actions, Identity, routes};
use crate::http::Stop;
use crate::operators::Role;
use crate::problem::Problem;
use crate::{Error, Result};

const SOCKET: &str = "admin.sock";
const TIMEOUT: Duration = Duration::from_secs(60);

/// The socket file, which is removed with this value.
pub struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        // The next start removes it too.
        drop(std::fs::remove_file(&self.0));
    }
}

/// Serves the directory's owner until `stop`. The store's lock keeps other processes out of the
/// directory.
///
/// # Errors
/// If the system refuses.
pub fn listen(data: &Path, actions: Arc<Actions>, stop: &Stop) -> Result<Socket> {
    let path = data.join(SOCKET);
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(&path, e)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(|e| Error::io(&path, e))?;
    let (router, stop) = (router(actions), stop.clone());
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.wait() => break,
            };
            if let Ok((stream, _)) = accepted {
                let service = router
                    .clone()
                    .map_request(|request: axum::http::Request<_>| {
                        request.map(axum::body::Body::new)
                    });
                let service = TowerToHyperService::new(service);
                let io = TokioIo::new(stream);
                tokio::spawn(http1::Builder::new().serve_connection(io, service));
            }
        }
    });
    Ok(Socket(path))
}

fn router(actions: Arc<Actions>) -> Router {
    let owner = Identity {
        name: "local".to_owned(),
        role: Role::Admin,
    };
    let backup = Router::new().route("/backup", axum::routing::get(backup));
    let backup = backup.with_state(actions.clone());
    routes::router(actions)
        .merge(backup)
        .layer(Extension(owner))
}

/// A backup, which only this socket offers: its callers may read the files anyway.
async fn backup(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
) -> std::result::Result<Response, Problem> {
    let parts = actions.backup(&who).await?;
    Ok(Response::new(axum::body::Body::new(Parts(parts))))
}

/// A body that is made while it is sent.
struct Parts(mpsc::Receiver<Vec<u8>>);

impl hyper::body::Body for Parts {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Self::Error>>> {
        let part = self.0.poll_recv(context);
        part.map(|part| part.map(|bytes| Ok(Frame::data(bytes.into()))))
    }
}

/// The bytes that the service sends at `path`, from the first byte after the head on.
///
/// # Errors
/// If it does not run, or refuses.
pub fn fetch(data: &Path, path: &str) -> Result<impl Read + use<>> {
    let socket = data.join(SOCKET);
    let failed = |e| Error::io(&socket, e);
    let mut stream = UnixStream::connect(&socket).map_err(failed)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    // The body ends with the connection.
    let request = format!("GET {path} HTTP/1.0\r\nhost: admin\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut stream = BufReader::new(stream);
    let (mut status, mut line) = (String::new(), String::from("-"));
    while !line.trim_end().is_empty() {
        line.clear();
        stream.read_line(&mut line).map_err(failed)?;
        if status.is_empty() {
            status = line.clone();
        }
    }
    if status.split(' ').nth(1) == Some("200") {
        return Ok(stream);
    }
    let mut said = String::new();
    stream.read_to_string(&mut said).map_err(failed)?;
    Err(Error::Config(format!("the service refused: {said}")))
}

/// Asks the service whose data directory this is.
///
/// # Errors
/// If it does not run, or refuses.
pub fn ask(data: &Path, method: &str, path: &str, body: &Value) -> Result<Value> {
    let socket = data.join(SOCKET);
    let failed = |e| Error::io(&socket, e);
    let mut stream = UnixStream::connect(&socket).map_err(failed)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    let body = body.to_string();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(failed)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    match head.split(' ').nth(1) {
        Some("200") => Ok(value),
        _ => Err(Error::Config(format!("the service refused: {value}"))),
    }
}
