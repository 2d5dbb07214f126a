//! How this program asks others over HTTP: with TLS, and with which roots.
//!
//! ```
//! use std::time::Duration;
//! use sealstone_server::network;
//!
//! let agent = network::agent(None, Duration::from_secs(10))?;
//! assert!(agent.get("http://127.0.0.1:1/").call().is_err());
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::{Error, Result};

/// The system's roots, read once.
static SYSTEM: LazyLock<Arc<Vec<Certificate<'static>>>> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs().certs;
    let owned = |der: &CertificateDer<'_>| Certificate::from_der(der).to_owned();
    Arc::new(found.iter().map(owned).collect())
});

/// Asks over HTTP and HTTPS. Server certificates must come from `ca_file` (PEM), by default from
/// one of the system's roots. Statuses are not errors, and redirections are not followed.
///
/// # Errors
/// If the file cannot be read or holds no certificate.
pub fn agent(ca_file: Option<&Path>, patience: Duration) -> Result<ureq::Agent> {
    let roots = match ca_file {
        Some(path) => Arc::new(authorities(path)?),
        None => SYSTEM.clone(),
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(roots))
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(patience))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .tls_config(tls);
    Ok(config.build().into())
}

fn authorities(path: &Path) -> Result<Vec<Certificate<'static>>> {
    let pem = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let found: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .filter_map(|der| Some(Certificate::from_der(&der.ok()?).to_owned()))
        .collect();
    match found.is_empty() {
        true => Err(Error::Config(format!(
            "ca-file: {} holds no PEM certificate",
            path.display()
        ))),
        false => Ok(found),
    }
}
