//! TLS of a listener: PEM files, read again when they change.
//!
//! A connection keeps the certificate that it began with. Files that cannot be used are reported,
//! and the previous certificate stays in use.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use sealstone_primitives::hash::sha256;
use sealstone_primitives::secret::SecretVec;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_cert::der::Decode;

use super::Stop;
use crate::{Error, Result};

/// The certificate of the listener for clients.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TlsOptions {
    /// PEM: the certificate, then those between it and its root.
    pub certificate_file: Option<PathBuf>,
    /// PEM: its private key.
    pub key_file: Option<PathBuf>,
    /// Seconds between two looks at the files.
    pub reload_seconds: u64,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            certificate_file: None,
            key_file: None,
            reload_seconds: 60,
        }
    }
}

impl TlsOptions {
    /// The files, if there are any.
    ///
    /// # Errors
    /// If only one is named.
    pub fn files(&self) -> Result<Option<(&Path, &Path)>> {
        match (&self.certificate_file, &self.key_file) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            _ => {
                let text = "tls: certificate-file and key-file belong together";
                Err(Error::Config(text.to_owned()))
            }
        }
    }
}

/// TLS with a certificate that may change while connections are open.
pub struct Tls {
    acceptor: TlsAcceptor,
    current: Arc<Current>,
    certificate_file: PathBuf,
    key_file: PathBuf,
}

/// The certificate for new connections, and the digest of the files that it came from.
#[derive(Debug)]
struct Current(RwLock<(Arc<CertifiedKey>, [u8; 32])>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.get().0)
    }
}

impl Current {
    fn get(&self) -> (Arc<CertifiedKey>, [u8; 32]) {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (current.0.clone(), current.1)
    }
}

impl Tls {
    /// Reads the files; none if the options name none.
    ///
    /// # Errors
    /// If a file cannot be read or used, or key and certificate do not belong together.
    pub fn open(options: &TlsOptions) -> Result<Option<Arc<Self>>> {
        let Some((certificate_file, key_file)) = options.files()? else {
            return Ok(None);
        };
        let current = Current(RwLock::new(read(certificate_file, key_file)?));
        let current = Arc::new(current);
        let unusable = |e: rustls::Error| Error::Config(format!("tls: {e}"));
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth();
        let mut config = config.with_cert_resolver(current.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Some(Arc::new(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            current,
            certificate_file: certificate_file.to_owned(),
            key_file: key_file.to_owned(),
        })))
    }

    /// Reads the files again. Whether they changed.
    ///
    /// # Errors
    /// If they cannot be used. Then nothing changes.
    pub fn reload(&self) -> Result<bool> {
        let (_, before) = self.current.get();
        let found = read(&self.certificate_file, &self.key_file)?;
        let is_new = found.1 != before;
        if is_new {
            let mut current = self
                .current
                .0
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            *current = found;
        }
        Ok(is_new)
    }

    /// Speaks TLS on a connection that was accepted.
    pub(super) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }

    /// Sets the gauge of when the certificate ends.
    fn show(&self) {
        let (key, _) = self.current.get();
        let first = key.cert.first();
        let certificate = first.and_then(|der| x509_cert::Certificate::from_der(der).ok());
        if let Some(certificate) = certificate {
            let validity = certificate.tbs_certificate().validity();
            let end = validity.not_after.to_unix_duration().as_secs();
            metrics::gauge!("sealstone_tls_certificate_end_seconds").set(end as f64);
        }
    }
}

/// Reads certificates and keys again at SIGHUP, and each `every`, until `stop`. Without TLS,
/// SIGHUP does nothing.
///
/// # Errors
/// If the system refuses.
pub fn reload_on_hangup(tls: Option<Arc<Tls>>, every: Duration, stop: &Stop) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let hangups = signal(SignalKind::hangup());
    let mut hangups = hangups.map_err(|e| Error::io(Path::new("signals"), e))?;
    let (stop, every) = (stop.clone(), every.max(Duration::from_secs(1)));
    tokio::spawn(async move {
        loop {
            if let Some(tls) = &tls {
                tls.show();
            }
            tokio::select! {
                _ = hangups.recv() => {}
                () = tokio::time::sleep(every) => {}
                () = stop.wait() => break,
            }
            if let Some(tls) = &tls {
                look(tls);
            }
        }
    });
    Ok(())
}

fn look(tls: &Tls) {
    let kind = match tls.reload() {
        Ok(false) => return,
        Ok(true) => {
            tracing::info!("new connections use another certificate");
            "done"
        }
        Err(error) => {
            tracing::error!(%error, "the previous certificate stays in use");
            "failed"
        }
    };
    metrics::counter!("sealstone_tls_reloads_total", "kind" => kind).increment(1);
}

/// The certificate and its key, and the digest of both files.
fn read(certificate_file: &Path, key_file: &Path) -> Result<(Arc<CertifiedKey>, [u8; 32])> {
    let bytes = |path: &Path| {
        let read = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Ok::<_, Error>(SecretVec::from_vec(read))
    };
    let (chain, key) = (bytes(certificate_file)?, bytes(key_file)?);
    let unusable =
        |path: &Path, why: String| Error::Config(format!("tls: {}: {why}", path.display()));
    let certificates = CertificateDer::pem_slice_iter(chain.expose()).collect::<Vec<_>>();
    let certificates = certificates
        .into_iter()
        .collect::<std::result::Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|e| unusable(certificate_file, e.to_string()))?;
    if certificates.is_empty() {
        let why = "it holds no PEM certificate".to_owned();
        return Err(unusable(certificate_file, why));
    }
    let secret = PrivateKeyDer::from_pem_slice(key.expose())
        .map_err(|_| unusable(key_file, "it holds no PEM private key".to_owned()))?;
    let certified =
        CertifiedKey::from_der(certificates, secret, &default_provider()).map_err(|e| {
            unusable(
                key_file,
                format!("it is not a key of this certificate: {e}"),
            )
        })?;
    let digest = sha256(&[&sha256(&[chain.expose()]), key.expose()]);
    Ok((Arc::new(certified), digest))
}
