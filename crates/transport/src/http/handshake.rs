//! The handshake of HTTPS.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, TlsAcceptor};

use crate::acme::challenges::{ChallengeAnswers, is_challenge};
use crate::net::tls_certificate::TlsCertificate;

/// The stream within, with the certificate of the moment, which the connection keeps. `None` where the handshake broke
/// off, or was the question of a certificate authority and is over with its answer.
pub(super) async fn accept(
    stream: TcpStream,
    certificate: &TlsCertificate,
    challenges: Option<&ChallengeAnswers>,
) -> Option<TlsStream<TcpStream>> {
    let Some(challenges) = challenges else {
        return TlsAcceptor::from(certificate.web_config()).accept(stream).await.ok();
    };
    let begun = LazyConfigAcceptor::new(Default::default(), stream).await.ok()?;
    if is_challenge(&begun.client_hello()) {
        let config = challenges.tls_config().await?;
        let mut answered = begun.into_stream(config).await.ok()?;
        let _ = answered.shutdown().await;
        return None;
    }
    begun.into_stream(certificate.web_config()).await.ok()
}
