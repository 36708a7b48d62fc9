//! The TLS certificate of our listeners, configured, issued to this server or self-signed. Files that change are
//! read again, and those that are broken leave the certificate as it was.

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
/// So long before its end a certificate is said to end, in milliseconds.
pub const SOON_MS: i64 = 14 * 24 * 60 * 60 * 1_000;
/// One that is renewed by itself is said to end in the last part of its lifetime, which may be shorter than that.
const LAST_PART: i64 = 6;
/// How often it is looked whether the files have changed.
const LOOKED_EVERY: Duration = Duration::from_secs(5);

/// The largest file of a certificate or key, in bytes.
const PEM_BYTES: u64 = 4 * 1024 * 1024;

/// What HTTPS offers, the best first.
const HTTP_PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// The tags of the two ways in which certificates write a time, and of their version.
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;

/// A certificate that can be replaced at runtime.
pub struct TlsCertificate {
    origin: CertificateOrigin,
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
    /// So long before its end it is said to end, in milliseconds.
    soon_ms: i64,
    is_self_signed: bool,
}

/// How a certificate is replaced.
enum CertificateOrigin {
    Files(PathBuf, PathBuf),
    /// It is ordered for a host and [installed](TlsCertificate::install).
    Ordered(String),
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
    /// Ordered by this server; until it is [installed](TlsCertificate::install), the self-signed one of this folder.
    Ordered(PathBuf),
}

/// Loads the certificate, or creates a self-signed one. Senders encrypt with either; few verify it.
pub fn certificate(source: &CertificateSource, name: &str) -> Result<Arc<TlsCertificate>, String> {
    let (cert, key) = match source {
        CertificateSource::Files { cert, key } => (cert.clone(), key.clone()),
        CertificateSource::SelfSigned(folder) | CertificateSource::Ordered(folder) => {
            let own = folder.join(OWN_FILE);
            if !own.exists() {
                make(&own, name).map_err(|error| format!("{}: {error}", own.display()))?;
            }
            (own.clone(), own)
        }
    };
    let seen = Mutex::new(marks(&cert, &key));
    let loaded = load(&cert, &key)?;
    if loaded.is_self_signed && matches!(source, CertificateSource::Files { .. }) {
        tracing::warn!("{}", self_signed_sentence(&cert));
    }
    let origin = match source {
        CertificateSource::Ordered(_) => CertificateOrigin::Ordered(name.to_owned()),
        _ => CertificateOrigin::Files(cert, key),
    };
    let current = RwLock::new(loaded);
    Ok(Arc::new(TlsCertificate { origin, current, seen, is_failing: AtomicBool::new(false) }))
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
    pub fn problem(&self, now: i64) -> Option<String> {
        if self.is_failing.load(Ordering::Relaxed) {
            return Some("the new TLS certificate cannot be used: the old one is served".into());
        }
        let expires = self.expires()?;
        let left = expires.as_millisecond() - now;
        match left {
            ..=0 => Some("the TLS certificate has ended".into()),
            left if left < self.current().soon_ms => {
                Some(format!("the TLS certificate ends soon, on {}", expires.strftime("%Y-%m-%d")))
            }
            _ => None,
        }
    }

    /// Serves a certificate that was issued to this server from the next connection on: the chain and its key as PEM.
    /// One that cannot be used leaves the old one.
    pub fn install(&self, chain: &str, key: &str) -> Result<(), String> {
        let loaded = parse_issued(chain, key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        self.report();
        Ok(())
    }

    /// The host for which it is ordered; `None` where it is read from files.
    pub fn ordered_for(&self) -> Option<&str> {
        match &self.origin {
            CertificateOrigin::Files(..) => None,
            CertificateOrigin::Ordered(host) => Some(host),
        }
    }

    /// Reloads the files, if there are any. On failure the old certificate stays, and the sentence says why.
    pub fn reload(&self) -> Result<(), String> {
        let CertificateOrigin::Files(cert, key) = &self.origin else { return Ok(()) };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = marks(cert, key);
        let read = load(cert, key);
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
        let CertificateOrigin::Files(cert, key) = &self.origin else { return Ok(false) };
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if marks(cert, key) == seen {
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

/// What is in the files of a certificate and its key.
pub struct CertificateFacts {
    /// When it ends, if it says so in a way that is understood.
    pub expires: Option<Timestamp>,
    pub is_self_signed: bool,
}

/// The facts of files that can be used.
pub fn certificate_facts(cert: &Path, key: &Path) -> Result<CertificateFacts, String> {
    let LoadedCertificate { expires, is_self_signed, .. } = load(cert, key)?;
    Ok(CertificateFacts { expires, is_self_signed })
}

/// When a certificate that was issued to this server ends. The error says why it cannot be used.
pub fn issued_until(chain: &str, key: &str) -> Result<Timestamp, String> {
    let ends = parse_issued(chain, key)?.expires;
    ends.ok_or_else(|| "the certificate does not say when it ends".to_owned())
}

/// Names the file of a certificate that nobody vouches for.
pub fn self_signed_sentence(cert: &Path) -> String {
    format!(
        "tls_cert: the certificate in {} is self-signed: browsers warn of it, and mail servers that check \
         certificates do not deliver",
        cert.display()
    )
}

/// Inode, size and time of the last change, of both files.
fn marks(cert: &Path, key: &Path) -> FileMarks {
    [cert, key].map(|path| {
        let file = fs::metadata(path).ok()?;
        Some((file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
    })
}

fn load(cert: &Path, key: &Path) -> Result<LoadedCertificate, String> {
    let chain = read_pem("tls_cert", cert)?;
    let chain = CertificateDer::pem_slice_iter(&chain);
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(|error| {
        format!("tls_cert: {} is no PEM file of certificates: {error}", cert.display())
    })?;
    if chain.is_empty() {
        return Err(format!(
            "tls_cert: {} has no certificate in it: a PEM file has the line \
             -----BEGIN CERTIFICATE-----",
            cert.display()
        ));
    }
    let secret = PrivateKeyDer::from_pem_slice(&read_pem("tls_key", key)?).map_err(|error| {
        format!(
            "tls_key: {} has no private key in it that can be used, in a PEM file without a \
             passphrase: {error}",
            key.display()
        )
    })?;
    load_pair(chain, secret).map_err(|error| refused_pair(cert, key, &error))
}

/// A certificate that was issued to this server, and its key.
fn parse_issued(chain: &str, key: &str) -> Result<LoadedCertificate, String> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(chain.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| format!("the certificate is no PEM: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|error| format!("the key of the certificate is no PEM: {error}"))?;
    let validity = chain.first().and_then(|first| validity(first));
    let loaded = load_pair(chain, key)
        .map_err(|error| format!("the certificate cannot be used: {error}"))?;
    let lifetime =
        validity.map_or(i64::MAX, |(from, until)| until.as_millisecond() - from.as_millisecond());
    Ok(LoadedCertificate { soon_ms: SOON_MS.min(lifetime / LAST_PART), ..loaded })
}

fn load_pair(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<LoadedCertificate, rustls::Error> {
    let expires = chain.first().and_then(|first| validity(first)).map(|(_, until)| until);
    let is_self_signed = chain.first().and_then(|first| names_itself(first)).unwrap_or(false);
    let mail = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    let mut web = mail.clone();
    web.alpn_protocols = HTTP_PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    let (mail, web) = (Arc::new(mail), Arc::new(web));
    Ok(LoadedCertificate { mail, web, expires, soon_ms: SOON_MS, is_self_signed })
}

fn read_pem(setting: &str, path: &Path) -> Result<Vec<u8>, String> {
    let is_large = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > PEM_BYTES);
    if is_large {
        return Err(format!("{setting}: {} is too large for a PEM file", path.display()));
    }
    fs::read(path).map_err(|error| format!("{setting}: {} cannot be read: {error}", path.display()))
}

/// Why a certificate and a key, each of them readable, cannot be used.
fn refused_pair(cert: &Path, key: &Path, error: &rustls::Error) -> String {
    let (cert, key) = (cert.display(), key.display());
    match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("tls_cert, tls_key: the key in {key} is not that of the certificate in {cert}")
        }
        rustls::Error::InvalidCertificate(_) => {
            format!("tls_cert: what is in {cert} is no certificate that can be used: {error}")
        }
        error => format!("tls_cert, tls_key: {cert} and {key} cannot be used: {error}"),
    }
}

/// The beginning and the end of a certificate's validity (RFC 5280, section 4.1.2.5).
fn validity(der: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (_, rest) = any(issuer_and_rest(der)?)?;
    let (validity, _) = element(rest, SEQUENCE)?;
    let (_, end) = any(validity)?;
    Some((time(validity)?, time(end)?))
}

/// The time that stands first.
fn time(der: &[u8]) -> Option<Timestamp> {
    let (text, _) = any(der)?;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let century = match *der.first()? {
        UTC_TIME if text.get(..2)? < "50" => "20",
        UTC_TIME => "19",
        GENERALIZED_TIME => "",
        _ => return None,
    };
    let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", format!("{century}{text}")).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// True where the issuer of a certificate is its subject.
fn names_itself(der: &[u8]) -> Option<bool> {
    let (issuer, rest) = any(issuer_and_rest(der)?)?;
    let (_validity, rest) = any(rest)?;
    let (subject, _) = any(rest)?;
    Some(issuer == subject)
}

/// The certificate's fields from the issuer on (RFC 5280, section 4.1).
fn issuer_and_rest(der: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut rest, _) = element(certificate, SEQUENCE)?;
    if rest.first() == Some(&VERSION) {
        rest = any(rest)?.1;
    }
    // Serial number and signature algorithm.
    for _ in 0..2 {
        rest = any(rest)?.1;
    }
    Some(rest)
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

    #[test]
    fn an_issued_certificate_replaces_the_self_signed_one_and_a_broken_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let source = CertificateSource::Ordered(folder.path().into());
        let certificate = certificate(&source, "mail.example.test").unwrap();
        let self_signed = certificate.web_config();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["mail.example.test".into()]).unwrap();
        params.not_before = date_time_ymd(2031, 3, 1);
        params.not_after = date_time_ymd(2031, 3, 7);
        let chain = params.self_signed(&key).unwrap().pem();
        let other_key = KeyPair::generate().unwrap().serialize_pem();
        assert!(certificate.install(&chain, &other_key).is_err());
        assert!(certificate.install("", &key.serialize_pem()).is_err());
        assert!(Arc::ptr_eq(&self_signed, &certificate.web_config()));
        certificate.install(&chain, &key.serialize_pem()).unwrap();
        assert!(!Arc::ptr_eq(&self_signed, &certificate.web_config()));
        // The self-signed file is not read again.
        assert_eq!((certificate.reload(), certificate.reload_if_changed()), (Ok(()), Ok(false)));
        let ends = issued_until(&chain, &key.serialize_pem()).unwrap();
        assert_eq!(certificate.expires(), Some(ends));
        // Six days: it is said to end on the last of them.
        let hours_before = |hours: i64| ends.as_millisecond() - hours * 60 * 60 * 1_000;
        assert_eq!(certificate.problem(hours_before(25)), None);
        assert!(certificate.problem(hours_before(23)).is_some());
    }
}
