//! The TLS certificate of our listeners, configured or self-signed. Files that change are read again, and
//! those that are broken leave the certificate as it was.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use metrics::{counter, gauge};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_util::sync::CancellationToken;

use crate::net::der::{SEQUENCE, any, element};

/// The self-signed certificate and its key, in the data folder.
pub const OWN_FILE: &str = "smtp-tls.pem";
/// How often it is looked whether the files have changed.
const LOOKED_EVERY: Duration = Duration::from_secs(5);

/// What HTTPS offers, the best first.
const HTTP_PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// The tags of the two ways in which certificates write a time, and of their version.
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;

/// A certificate that can be reloaded at runtime.
pub struct TlsCertificate {
    cert: PathBuf,
    key: PathBuf,
    current: RwLock<LoadedCertificate>,
    /// The files as they were when they were last read, well or not.
    seen: Mutex<FileMarks>,
    /// True while the files are others than what is served.
    is_failing: AtomicBool,
}

#[derive(Clone)]
struct LoadedCertificate {
    mail: Arc<ServerConfig>,
    web: Arc<ServerConfig>,
    expires: Option<Timestamp>,
}

/// What tells that the files are others than before.
type FileMarks = [Option<(u64, u64, i64, i64)>; 2];

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
    let seen = Mutex::new(marks(&cert, &key));
    let current = RwLock::new(load(&cert, &key)?);
    Ok(Arc::new(TlsCertificate { cert, key, current, seen, is_failing: AtomicBool::new(false) }))
}

impl TlsCertificate {
    /// The TLS configuration of new mail connections.
    pub fn config(&self) -> Arc<ServerConfig> {
        self.current().mail
    }

    /// The same for HTTPS.
    pub fn web_config(&self) -> Arc<ServerConfig> {
        self.current().web
    }

    /// When the certificate ends; `None` when it does not say so in a way that is understood.
    pub fn expires(&self) -> Option<Timestamp> {
        self.current().expires
    }

    /// What is wrong with the certificate at a moment, in milliseconds; names no path.
    pub fn problem(&self, now: i64) -> Option<&'static str> {
        if self.is_failing.load(Ordering::Relaxed) {
            return Some("the new TLS certificate cannot be used: the old one is served");
        }
        let ended = self.expires().is_some_and(|expires| expires.as_millisecond() <= now);
        ended.then_some("the TLS certificate has ended")
    }

    /// Reloads the files. On failure the old certificate stays, and the sentence says why.
    pub fn reload(&self) -> Result<(), String> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = marks(&self.cert, &self.key);
        let read = load(&self.cert, &self.key);
        gauge!("mailroom_tls_reload_failing").set(if read.is_ok() { 0.0 } else { 1.0 });
        self.is_failing.store(read.is_err(), Ordering::Relaxed);
        if read.is_err() {
            counter!("mailroom_tls_reload_failures_total").increment(1);
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = read?;
        self.report();
        Ok(())
    }

    /// Reloads the files when they are others than before; answers whether they were read.
    pub fn reload_if_changed(&self) -> Result<bool, String> {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if marks(&self.cert, &self.key) == seen {
            return Ok(false);
        }
        self.reload().map(|()| true)
    }

    /// Looks at the files again and again until `stopping`.
    pub async fn follow(self: Arc<Self>, stopping: CancellationToken) {
        gauge!("mailroom_tls_reload_failing").set(0.0);
        counter!("mailroom_tls_reload_failures_total").absolute(0);
        self.report();
        while !stopping.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep(LOOKED_EVERY) => {}
                () = stopping.cancelled() => return,
            }
            let this = Arc::clone(&self);
            match tokio::task::spawn_blocking(move || this.reload_if_changed()).await {
                Ok(Ok(true)) => tracing::info!("TLS certificate reloaded: its files changed"),
                Ok(Err(error)) => {
                    tracing::error!(%error, "TLS certificate not reloaded; the old one stays");
                }
                Ok(Ok(false)) | Err(_) => {}
            }
        }
    }

    fn report(&self) {
        if let Some(expires) = self.expires() {
            let seconds = expires.as_second() as f64;
            gauge!("mailroom_tls_certificate_expires_timestamp_seconds").set(seconds);
        }
    }

    fn current(&self) -> LoadedCertificate {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// When the certificate of these files ends, if they can be used.
pub fn usable_until(cert: &Path, key: &Path) -> Result<Option<Timestamp>, String> {
    load(cert, key).map(|loaded| loaded.expires)
}

/// Inode, size and time of the last change, of both files.
fn marks(cert: &Path, key: &Path) -> FileMarks {
    [cert, key].map(|path| {
        let file = fs::metadata(path).ok()?;
        Some((file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
    })
}

fn load(cert: &Path, key: &Path) -> Result<LoadedCertificate, String> {
    let of = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let chain = CertificateDer::pem_file_iter(cert).map_err(|error| of(cert, &error))?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(|error| of(cert, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| of(key, &error))?;
    let expires = chain.first().and_then(|first| not_after(first));
    let mail = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| of(cert, &error))?;
    let mut web = mail.clone();
    web.alpn_protocols = HTTP_PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(LoadedCertificate { mail: Arc::new(mail), web: Arc::new(web), expires })
}

/// The end of a certificate's validity (RFC 5280, section 4.1.2.5).
fn not_after(der: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut rest, _) = element(certificate, SEQUENCE)?;
    if rest.first() == Some(&VERSION) {
        rest = any(rest)?.1;
    }
    // Serial number, signature algorithm and issuer.
    for _ in 0..3 {
        rest = any(rest)?.1;
    }
    let (validity, _) = element(rest, SEQUENCE)?;
    let (_, end) = any(validity)?;
    let (text, _) = any(end)?;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let century = match *end.first()? {
        UTC_TIME if text.get(..2)? < "50" => "20",
        UTC_TIME => "19",
        GENERALIZED_TIME => "",
        _ => return None,
    };
    let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", format!("{century}{text}")).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
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

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn write(folder: &Path, year: i32) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["mail.example.test".into()]).unwrap();
        params.not_after = date_time_ymd(year, 3, 4);
        let cert = params.self_signed(&key).unwrap();
        let paths = (folder.join("cert.pem"), folder.join("key.pem"));
        fs::write(&paths.0, cert.pem()).unwrap();
        fs::write(&paths.1, key.serialize_pem()).unwrap();
        paths
    }

    #[test]
    fn changed_files_are_read_and_broken_ones_leave_the_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = write(folder.path(), 2031);
        let source = CertificateSource::Files { cert: cert.clone(), key: key.clone() };
        let certificate = certificate(&source, "x").unwrap();
        let year = || certificate.expires().unwrap().strftime("%Y-%m-%d").to_string();
        assert_eq!(year(), "2031-03-04");
        assert_eq!(certificate.reload_if_changed(), Ok(false));
        // Beyond 2049 the time is written in another way.
        write(folder.path(), 2055);
        assert_eq!(certificate.reload_if_changed(), Ok(true));
        assert_eq!(year(), "2055-03-04");
        // A certificate without its key, then nothing that is one.
        let (old_key, before) = (fs::read(&key).unwrap(), certificate.web_config());
        write(folder.path(), 2060);
        fs::write(&key, &old_key).unwrap();
        assert!(certificate.problem(0).is_none());
        assert!(certificate.reload_if_changed().is_err());
        assert!(certificate.problem(0).is_some());
        assert_eq!(certificate.reload_if_changed(), Ok(false), "it is said once");
        fs::write(&cert, "nonsense").unwrap();
        assert!(certificate.reload_if_changed().is_err());
        fs::remove_file(&cert).unwrap();
        assert!(certificate.reload_if_changed().is_err());
        assert!(year() == "2055-03-04" && Arc::ptr_eq(&before, &certificate.web_config()));
    }
}
