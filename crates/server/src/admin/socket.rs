//! The socket in the data directory: whoever may enter the directory may do everything.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tokio::net::UnixListener;
use tower::ServiceExt;

use super::{Desk, Identity, routes};
use crate::http::Stop;
use crate::operators::Role;
use crate::{Error, Result};

const SOCKET: &str = "admin.sock";
const PATIENCE: Duration = Duration::from_secs(60);

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
pub fn listen(data: &Path, desk: Arc<Desk>, stop: &Stop) -> Result<Socket> {
    let path = data.join(SOCKET);
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(&path, e)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(|e| Error::io(&path, e))?;
    let (router, stop) = (router(desk), stop.clone());
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

fn router(desk: Arc<Desk>) -> Router {
    let owner = Identity {
        name: "local".to_owned(),
        role: Role::Admin,
    };
    routes::router(desk).layer(axum::Extension(owner))
}

/// Asks the service whose data directory this is.
///
/// # Errors
/// If it does not run, or refuses.
pub fn ask(data: &Path, method: &str, path: &str, body: &Value) -> Result<Value> {
    let socket = data.join(SOCKET);
    let failed = |e| Error::io(&socket, e);
    let mut stream = UnixStream::connect(&socket).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
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
