//! The TLS certificate of the mail listeners, configured or self-signed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The self-signed certificate and its key, in the data folder.
pub const OWN_FILE: &str = "smtp-tls.pem";

/// The certificate of STARTTLS, which can be reloaded at runtime.
pub struct TlsCertificate {
    cert: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
}

/// Where the certificate and its key come from.
#[derive(Clone, Debug)]
pub enum CertificateSource {
    Files {
        cert: PathBuf,
        key: PathBuf,
    },
    /// Self-signed, created once in this folder.
    SelfSigned(PathBuf),
}

/// Loads the certificate, or creates a self-signed one. Senders encrypt with either; few verify it.
pub fn certificate(source: &CertificateSource, name: &str) -> Result<Arc<TlsCertificate>, String> {
    let (cert, key) = match source {
        CertificateSource::Files { cert, key } => (cert.clone(), key.clone()),
        CertificateSource::SelfSigned(folder) => {
            let own = folder.join(OWN_FILE);
            if !own.exists() {
                make(&own, name).map_err(|error| format!("{}: {error}", own.display()))?;
            }
            (own.clone(), own)
        }
    };
    let current = RwLock::new(config(&cert, &key)?);
    Ok(Arc::new(TlsCertificate { cert, key, current }))
}

impl TlsCertificate {
    /// The TLS configuration of new connections.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reloads the files. On failure the old certificate stays, and the sentence says why.
    pub fn reload(&self) -> Result<(), String> {
        let read = config(&self.cert, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }
}

fn config(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let of = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let chain = CertificateDer::pem_file_iter(cert).map_err(|error| of(cert, &error))?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(|error| of(cert, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| of(key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| of(cert, &error))?;
    Ok(Arc::new(config))
}

/// Written to a temporary file and renamed, readable by the owner only.
fn make(path: &Path, name: &str) -> io::Result<()> {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).map_err(io::Error::other)?;
    let aside = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    file.write_all(made.signing_key.serialize_pem().as_bytes())?;
    file.write_all(made.cert.pem().as_bytes())?;
    file.sync_all()?;
    fs::rename(&aside, path)
}
