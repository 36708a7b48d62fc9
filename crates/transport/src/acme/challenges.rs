//! The answers to the challenges of an ACME server: over HTTP (RFC 8555, section 8.3) and in a TLS handshake (RFC 8737).
//! They are read from the database, so that the node which is asked need not be the one that orders.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base::app::App;
use model::installation::acme;
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ClientHello;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use sha2::{Digest, Sha256};

/// The one protocol that a server offers which asks in a handshake (RFC 8737, section 6.2).
const ACME_TLS: &[u8] = b"acme-tls/1";
/// Characters of a token, at the most.
const TOKEN_CHARS: usize = 128;

/// Answers challenges for one host.
#[derive(Clone)]
pub struct ChallengeAnswers {
    app: App,
    host: Arc<str>,
}

impl ChallengeAnswers {
    pub fn new(app: App, host: &str) -> ChallengeAnswers {
        ChallengeAnswers { app, host: host.into() }
    }

    /// The page that a server asks for by HTTP.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/.well-known/acme-challenge/{token}", get(answer))
            .with_state(self.clone())
    }

    /// The certificate by which a handshake is answered; `None` where nothing was to be proven.
    pub(crate) async fn tls_config(&self) -> Option<Arc<ServerConfig>> {
        let host = Arc::clone(&self.host);
        let found = self.app.store.read(move |tx| acme::tls_answer(tx, &host)).await;
        let made = match found {
            Ok(answer) => challenge_config(&self.host, &answer?),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = &made {
            tracing::warn!(error, "an ACME challenge could not be answered");
        }
        made.ok()
    }
}

/// True where the client asks for the proof and nothing else.
pub(crate) fn is_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().is_some_and(|mut protocols| {
        protocols.next() == Some(ACME_TLS) && protocols.next().is_none()
    })
}

async fn answer(State(answers): State<ChallengeAnswers>, Path(token): Path<String>) -> Response {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if token.len() > TOKEN_CHARS || !token.chars().all(is_plain) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let host = Arc::clone(&answers.host);
    let found = answers.app.store.read(move |tx| acme::http_answer(tx, &host, &token)).await;
    match found {
        Ok(Some(text)) => ([(CONTENT_TYPE, "application/octet-stream")], text).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => {
            tracing::warn!(%error, "an ACME challenge could not be answered");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// A self-signed certificate for the host with the digest of the answer (RFC 8737, section 3).
fn challenge_config(host: &str, key_authorization: &str) -> Result<Arc<ServerConfig>, String> {
    let unmade = |error: rcgen::Error| error.to_string();
    let unusable = |error: rustls::Error| error.to_string();
    let key = KeyPair::generate().map_err(unmade)?;
    let mut params = CertificateParams::new(vec![host.to_owned()]).map_err(unmade)?;
    params.distinguished_name = DistinguishedName::new();
    let digest = Sha256::digest(key_authorization);
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(&digest)];
    let certificate = params.self_signed(&key).map_err(unmade)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let key = ring::sign::any_ecdsa_type(&key).map_err(unusable)?;
    // Not checked against its key, because the check refuses critical extensions that it does not know.
    let certificate = CertifiedKey::new(vec![certificate.der().clone()], key);
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certificate)));
    config.alpn_protocols = vec![ACME_TLS.to_vec()];
    Ok(Arc::new(config))
}
