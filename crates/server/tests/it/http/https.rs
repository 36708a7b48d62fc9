//! HTTPS: a certificate that changes while connections are open, and the way there from HTTP.

use std::path::Path;

use rcgen::generate_simple_self_signed;
use tokio::io::AsyncRead;
use tokio_rustls::client::TlsStream;
use transport::http::redirect;
use transport::http::secure_listeners::{HttpsListen, SecureListeners};
use transport::net::tls_certificate::{CertificateSource, TlsCertificate, certificate};

use super::*;
use crate::mail_in::smtp::tls::{certificate_of, encrypted};
use crate::support::Client;

fn write_certificate(folder: &Path) {
    let made = generate_simple_self_signed(["mail.example.test".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
}

async fn serve_tls(folder: &Path) -> (SocketAddr, Arc<TlsCertificate>) {
    write_certificate(folder);
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let certificate = certificate(&CertificateSource::Files { cert, key }, "x").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = HttpServer { tls: Some(certificate.clone()), ..HttpServer::default() };
    let router = Router::new().route("/", get(|| async { "hello" }));
    tokio::spawn(server.serve(listener, router, std::future::pending()));
    (address, certificate)
}

async fn connect(address: SocketAddr) -> TlsStream<TcpStream> {
    let stream = TcpStream::connect(address).await.unwrap();
    encrypted(Client::over(stream)).await.into_inner()
}

/// One request; the connection stays open.
async fn ask(stream: &mut TlsStream<TcpStream>) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    read_until(stream, "hello").await
}

async fn read_until(stream: &mut (impl AsyncRead + Unpin), end: &str) -> String {
    let (mut heard, mut piece) = (Vec::new(), [0; 1_024]);
    while !String::from_utf8_lossy(&heard).contains(end) {
        let read = timeout(PATIENCE, stream.read(&mut piece)).await.expect("an answer").unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&heard));
        heard.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&heard).into_owned()
}

#[tokio::test]
async fn a_new_certificate_serves_the_next_connection_and_ends_none() {
    let folder = tempfile::tempdir().unwrap();
    let (address, certificate) = serve_tls(folder.path()).await;
    let mut open = connect(address).await;
    assert!(ask(&mut open).await.starts_with("HTTP/1.1 200"));
    let first = certificate_of(Client::over(connect(address).await));
    write_certificate(folder.path());
    assert_eq!(certificate.reload_if_changed(), Ok(true));
    let second = certificate_of(Client::over(connect(address).await));
    assert!(!first.is_empty() && first != second);
    assert!(ask(&mut open).await.starts_with("HTTP/1.1 200"), "the open connection goes on");
    std::fs::write(folder.path().join("cert.pem"), "broken").unwrap();
    assert!(certificate.reload_if_changed().is_err());
    assert_eq!(certificate_of(Client::over(connect(address).await)), second);
}

#[tokio::test]
async fn who_speaks_no_tls_is_hung_up_on() {
    let folder = tempfile::tempdir().unwrap();
    let (address, _) = serve_tls(folder.path()).await;
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut heard = Vec::new();
    // An alert of TLS, or nothing.
    let _ = timeout(PATIENCE, plain.read_to_end(&mut heard)).await.expect("an end");
    assert!(!heard.starts_with(b"HTTP"), "{heard:?}");
}

#[tokio::test]
async fn http_leads_to_the_same_place_under_the_public_url() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = Arc::from("https://mail.example.test");
    tokio::spawn(redirect::serve(listener, url, None, std::future::pending()));
    for (target, status, location) in [
        ("/inbox?view=1", "308", "location: https://mail.example.test/inbox?view=1\r\n"),
        ("//evil.test/", "308", "location: https://mail.example.test//evil.test/\r\n"),
        ("http://evil.test/x", "308", "location: https://mail.example.test/x\r\n"),
        ("*", "400", "content-length: 0\r\n"),
    ] {
        let mut client = TcpStream::connect(address).await.unwrap();
        let method = if target == "*" { "OPTIONS" } else { "POST" };
        let head =
            format!("{method} {target} HTTP/1.1\r\nHost: other.test\r\nContent-Length: 0\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        let answer = read_until(&mut client, "\r\n\r\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert!(answer.contains(location), "{answer}");
    }
}

#[tokio::test]
async fn browsers_that_came_by_https_are_told_to_come_no_other_way() {
    let folder = tempfile::tempdir().unwrap();
    write_certificate(folder.path());
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let certificate = certificate(&CertificateSource::Files { cert, key }, "x").unwrap();
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    for (setting, header) in [
        ("31536000", Some("strict-transport-security: max-age=31536000\r\n")),
        ("0", Some("strict-transport-security: max-age=0\r\n")),
        ("OFF", None),
    ] {
        let listen =
            HttpsListen { https: Some(anywhere), redirect: None, hsts: setting.parse().unwrap() };
        let url: Arc<str> = "https://mail.example.test".into();
        let listeners = SecureListeners::open(listen, &url, certificate.clone()).await.unwrap();
        let address = listeners.https_address().unwrap();
        let router = Router::new().route("/", get(|| async { "hello" }));
        let stopping = CancellationToken::new();
        let serving =
            tokio::spawn(listeners.serve(HttpServer::default(), router, stopping.clone()));
        let said = ask(&mut connect(address).await).await;
        match header {
            Some(header) => assert!(said.contains(header), "{said}"),
            None => assert!(!said.contains("strict-transport-security"), "{said}"),
        }
        stopping.cancel();
        serving.await.unwrap();
    }
}
