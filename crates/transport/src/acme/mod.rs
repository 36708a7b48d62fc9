//! Certificates from an ACME server (RFC 8555), such as Let's Encrypt: the client that orders one, and the answers to the
//! challenges by which the server sees that the host is ours.

mod authority;
mod certificate_id;
pub mod challenges;
mod client;

use std::fs;
use std::path::{Path, PathBuf};

use model::installation::acme::ChallengeKind;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::net::http_client::system_roots;

pub use authority::{AcmeServer, CertificateAuthority, OrderFailure, OrderRequest, RenewalWindow};

/// The directory of Let's Encrypt.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Which certificate is ordered, and from whom.
#[derive(Clone)]
pub struct AcmeConfig {
    pub host: String,
    /// The address of the server's directory.
    pub directory: String,
    /// Where the server writes to about the account.
    pub email: Option<String>,
    /// A file of authorities that are trusted beside the system's, for a server of one's own.
    pub ca_file: Option<PathBuf>,
    /// The account at the server's operator that ours belongs to (RFC 8555, section 7.3.4).
    pub external_account: Option<ExternalAccount>,
    /// What our listeners can answer, the best first.
    pub challenges: Vec<ChallengeKind>,
}

base::debug_without_secrets!(AcmeConfig { host, directory, email, ca_file, challenges });

/// The id and key that the server's operator gave out.
#[derive(Clone)]
pub struct ExternalAccount {
    pub key_id: String,
    pub key: Vec<u8>,
}

/// The authorities that the server's own certificate may come from.
fn trusted_roots(ca_file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = system_roots();
    let Some(path) = ca_file else { return Ok(roots) };
    let named = |why: &str| format!("acme_ca_file: {}: {why}", path.display());
    let pem = fs::read(path).map_err(|error| named(&error.to_string()))?;
    let mut added = 0;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| named(&error.to_string()))?;
        roots.add(certificate).map_err(|error| named(&error.to_string()))?;
        added += 1;
    }
    if added == 0 { Err(named("there is no certificate in it")) } else { Ok(roots) }
}
