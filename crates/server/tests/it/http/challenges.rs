//! The questions of an ACME server, over HTTP and in a handshake, which any node answers.

use base::app::App;
use model::installation::acme::{self, AcmeChallenge, ChallengeKind};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use sha2::{Digest, Sha256};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use transport::acme::challenges::ChallengeAnswers;
use transport::http::redirect;
use transport::http::secure_listeners::{HttpsListen, SecureListeners};
use transport::net::tls_certificate::{CertificateSource, certificate};

use super::*;
use crate::mail_in::smtp::tls::trusting_anyone;
use crate::support::{TestApp, on_both};

on_both!(
    a_question_over_http_is_answered_and_the_rest_leads_to_https,
    a_question_in_a_handshake_is_answered_with_the_digest_and_nothing_else,
);

const HOST: &str = "mail.acme.example";
const ANSWER: &str = "token-1.thumbprint";
/// The extension id-pe-acmeIdentifier, critical, with an octet string of 32 bytes (RFC 8737, section 3).
const ACME_IDENTIFIER: [u8; 17] = [
    0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x1f, 0x01, 0x01, 0xff, 0x04, 0x22, 0x04,
    0x20,
];

async fn publish(app: &App, kind: ChallengeKind) {
    let challenge =
        AcmeChallenge { kind, token: "token-1".into(), key_authorization: ANSWER.into() };
    let publish = move |tx: &mut db::Tx<'_>| acme::publish_challenge(tx, HOST, &challenge);
    app.store.write(publish).await.unwrap();
}

/// The whole response.
async fn get_page(address: SocketAddr, path: &str) -> String {
    let mut client = TcpStream::connect(address).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let mut heard = String::new();
    timeout(PATIENCE, client.read_to_string(&mut heard)).await.expect("an answer").unwrap();
    heard
}

async fn a_question_over_http_is_answered_and_the_rest_leads_to_https(app: TestApp) {
    let answers = ChallengeAnswers::new(app.on_another_node(), HOST);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = Arc::from("https://mail.acme.example");
    tokio::spawn(async move {
        redirect::serve(listener, url, Some(&answers), std::future::pending()).await
    });
    let path = "/.well-known/acme-challenge/token-1";
    assert!(get_page(address, path).await.starts_with("HTTP/1.1 404"));
    publish(&app.app, ChallengeKind::Http01).await;
    let page = get_page(address, path).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.ends_with(ANSWER), "{page}");
    for other in ["token-2", "..%2ftoken-1", "token-1%00", "token-1%20", &"x".repeat(500)] {
        let page = get_page(address, &format!("/.well-known/acme-challenge/{other}")).await;
        assert!(page.starts_with("HTTP/1.1 404") && !page.contains(ANSWER), "{page}");
    }
    assert!(get_page(address, "/inbox").await.starts_with("HTTP/1.1 308"));
    app.app.store.write(acme::clear_challenges).await.unwrap();
    assert!(get_page(address, path).await.starts_with("HTTP/1.1 404"));
}

/// Takes what is shown as it is: rustls reads no certificate with a critical extension that it does not know, as the one
/// of a challenge has (RFC 8737, section 3).
#[derive(Debug)]
struct Unread;

impl ServerCertVerifier for Unread {
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
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// A handshake with these protocols, and the certificate that was shown.
async fn shake_hands(
    address: SocketAddr,
    protocols: &[&str],
) -> std::io::Result<(TlsStream<TcpStream>, Vec<u8>)> {
    let mut config = trusting_anyone();
    config.dangerous().set_certificate_verifier(Arc::new(Unread));
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from(HOST).unwrap();
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = timeout(PATIENCE, connecting).await.expect("an answer")?;
    let shown = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
    Ok((stream, shown))
}

async fn a_question_in_a_handshake_is_answered_with_the_digest_and_nothing_else(app: TestApp) {
    let folder = tempfile::tempdir().unwrap();
    let source = CertificateSource::Ordered(folder.path().into());
    let certificate = certificate(&source, HOST).unwrap();
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let listen = HttpsListen { https: Some(anywhere), ..HttpsListen::default() };
    let url = Arc::from("https://mail.acme.example");
    let listeners = SecureListeners::open(listen, &url, certificate).await.unwrap();
    let address = listeners.https_address().unwrap();
    let challenges = Some(ChallengeAnswers::new(app.on_another_node(), HOST));
    let server = HttpServer { challenges, ..HttpServer::default() };
    let router = Router::new().route("/", get(|| async { "hello" }));
    tokio::spawn(listeners.serve(server, router, CancellationToken::new()));
    assert!(shake_hands(address, &["acme-tls/1"]).await.is_err(), "nothing is to be proven");
    publish(&app.app, ChallengeKind::TlsAlpn01).await;
    let (mut stream, shown) = shake_hands(address, &["acme-tls/1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"acme-tls/1"[..]));
    let expected = [&ACME_IDENTIFIER[..], &Sha256::digest(ANSWER)].concat();
    let position = shown.windows(expected.len()).position(|window| window == expected);
    assert!(position.is_some(), "the digest is in a critical extension");
    // The connection is over: nobody speaks HTTP there.
    let mut heard = Vec::new();
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let _ = timeout(PATIENCE, stream.read_to_end(&mut heard)).await.expect("an end");
    assert!(heard.is_empty(), "{heard:?}");
    // Others get pages and the usual certificate.
    for protocols in [&["h2", "http/1.1"][..], &[], &["acme-tls/1", "http/1.1"]] {
        let (_, usual) = shake_hands(address, protocols).await.unwrap();
        assert!(!usual.is_empty() && usual != shown);
    }
}
