//! STARTTLS and certificates.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use server::mail_in::smtp::SmtpLimits;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::support::{Client, TestApp, on_both, raw};

on_both!(a_mail_travels_encrypted, commands_put_behind_starttls_are_never_obeyed);

async fn a_mail_travels_encrypted(app: TestApp) {
    let key = app.key("read").await;
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    client.say("STARTTLS", "220 ").await;
    let mut client = encrypted(client).await;
    client.say("MAIL FROM:<ann@x.example>", "503 ").await;
    let offered = client.say("EHLO client.x.example", "250 ").await;
    assert!(!offered.contains("STARTTLS"), "{offered}");
    client.say("STARTTLS", "503 ").await;
    client.send("support@acme.example", &raw("ann@x.example", "Lamp", "text"), "250 ").await;
    assert_eq!(app.list(&key, "").await.len(), 1);
}

async fn commands_put_behind_starttls_are_never_obeyed(app: TestApp) {
    let doors = app.doors(SmtpLimits::default(), "").await;
    let mut client = doors.known_client().await;
    let injected = "STARTTLS\r\nEHLO evil.example\r\nMAIL FROM:<evil@x.example>\r\n";
    client.write(injected.as_bytes()).await;
    client.hears("220 ").await;
    let mut client = encrypted(client).await;
    client.say("NOOP", "250 2.0.0").await;
    client.say("RCPT TO:<support@acme.example>", "503 ").await;
}

/// What the server showed of itself.
pub fn certificate_of(client: Client<TlsStream<TcpStream>>) -> Vec<u8> {
    let stream = client.into_inner();
    let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
    shown.first().map(|first| first.to_vec()).unwrap_or_default()
}

/// Goes on encrypted without verifying the server, whose certificate is self-signed.
pub async fn encrypted(client: Client<TcpStream>) -> Client<TlsStream<TcpStream>> {
    let name = ServerName::try_from("mail.acme.example").unwrap();
    let connector = TlsConnector::from(Arc::new(trusting_anyone()));
    Client::over(connector.connect(name, client.into_inner()).await.unwrap())
}

/// What a client that verifies nobody connects with.
pub fn trusting_anyone() -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
        .with_no_client_auth()
}

/// Takes every certificate, as most mail servers do, but checks that the other side has its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
