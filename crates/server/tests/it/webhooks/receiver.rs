//! Receivers of webhooks: well-behaved ones over HTTP/1.1 and HTTP/2, and streams on which a test
//! may misbehave as it likes.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Response, Uri, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{NAME, OUTSIDE};

/// The wait between two bytes of a receiver that drips.
const DRIP: Duration = Duration::from_millis(20);
pub const HTTP1: &[&[u8]] = &[b"http/1.1"];
pub const HTTP2: &[&[u8]] = &[b"h2"];

/// A certificate authority of the test's own.
pub struct Authority {
    root: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Two authorities of one name would be taken for one that signs badly.
        let name = format!("Authority {:?}", key.public_key_raw());
        params.distinguished_name.push(DnType::CommonName, name);
        let root = params.self_signed(&key).unwrap().der().clone();
        Authority { root, issuer: Issuer::new(params, key) }
    }

    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        roots
    }

    /// A certificate for the name, changed as the test likes.
    pub fn acceptor(
        &self,
        name: &str,
        protocols: &[&[u8]],
        change: impl FnOnce(&mut CertificateParams),
    ) -> TlsAcceptor {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// A request as it reached a receiver.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    pub uri: Uri,
    pub version: Version,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The name that the client asked for in TLS.
    pub sni: Option<String>,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A listening receiver, what it saw, and how often it was dialled.
pub struct Receiver {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Receiver {
    /// Answers every request alike, over TLS.
    pub async fn answering(
        authority: &Authority,
        protocols: &[&[u8]],
        answer: impl Fn() -> Response<Body> + Send + Sync + 'static,
    ) -> Receiver {
        let acceptor = authority.acceptor(NAME, protocols, |_| {});
        Receiver::with_acceptor(OUTSIDE, acceptor, answer).await
    }

    pub async fn with_acceptor(
        ip: IpAddr,
        acceptor: TlsAcceptor,
        answer: impl Fn() -> Response<Body> + Send + Sync + 'static,
    ) -> Receiver {
        let (seen, answer) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::new(answer));
        let log = Arc::clone(&seen);
        let mut receiver = Receiver::raw(ip, move |stream| {
            let (acceptor, answer, log) = (acceptor.clone(), Arc::clone(&answer), log.clone());
            async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let sni = stream.get_ref().1.server_name().map(str::to_owned);
                serve(stream, sni, answer, log).await;
            }
        })
        .await;
        receiver.seen = seen;
        receiver
    }

    /// Answers every request alike, without TLS.
    pub async fn plain(
        ip: IpAddr,
        answer: impl Fn() -> Response<Body> + Send + Sync + 'static,
    ) -> Receiver {
        let (seen, answer) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::new(answer));
        let log = Arc::clone(&seen);
        let mut receiver =
            Receiver::raw(ip, move |stream| serve(stream, None, Arc::clone(&answer), log.clone()))
                .await;
        receiver.seen = seen;
        receiver
    }

    /// Hands each TLS stream to the test once the request's head and body have come.
    pub async fn scripted<F>(
        authority: &Authority,
        script: impl Fn(TlsStream<TcpStream>) -> F + Send + Sync + 'static,
    ) -> Receiver
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let acceptor = authority.acceptor(NAME, HTTP1, |_| {});
        let script = Arc::new(script);
        Receiver::raw(OUTSIDE, move |stream| {
            let (acceptor, script) = (acceptor.clone(), Arc::clone(&script));
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                read_request(&mut stream).await;
                script(stream).await;
            }
        })
        .await
    }

    /// Hands each connection to the test.
    pub async fn raw<F>(
        ip: IpAddr,
        script: impl Fn(TcpStream) -> F + Send + Sync + 'static,
    ) -> Receiver
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Receiver::listening(listener, port, script)
    }

    pub fn listening<F>(
        listener: TcpListener,
        port: u16,
        script: impl Fn(TcpStream) -> F + Send + Sync + 'static,
    ) -> Receiver
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let connections = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                stream.set_nodelay(true).unwrap();
                tokio::spawn(script(stream));
            }
        });
        Receiver { port, connections, seen: Arc::default() }
    }

    /// The address of this receiver under the name that its certificate is for.
    pub fn url(&self) -> String {
        format!("https://{NAME}:{}/hook", self.port)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The one request that came.
    pub fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.into_iter().next().unwrap()
    }
}

async fn serve<S>(
    stream: S,
    sni: Option<String>,
    answer: Arc<impl Fn() -> Response<Body> + Send + Sync + 'static>,
    log: Arc<Mutex<Vec<Seen>>>,
) where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (sni, answer, log) = (sni.clone(), Arc::clone(&answer), Arc::clone(&log));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            log.lock().unwrap().push(Seen {
                method: head.method,
                uri: head.uri,
                version: head.version,
                headers: head.headers,
                body,
                sni,
            });
            Ok::<_, Infallible>(answer())
        }
    });
    let _ = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Reads until the event's closing brace, which the test's events hold only at their end.
async fn read_request(stream: &mut (impl AsyncReadExt + Unpin)) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    while !bytes.ends_with(b"}") {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

/// Writes, and says whether the other side still listens.
pub async fn write(stream: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) -> bool {
    stream.write_all(bytes).await.is_ok() && stream.flush().await.is_ok()
}

/// Writes a byte again and again, slowly, until the other side hangs up: the slowness is what is
/// tested.
pub async fn drip(stream: &mut (impl AsyncWriteExt + Unpin)) {
    while write(stream, b"a").await {
        tokio::time::sleep(DRIP).await;
    }
}

pub fn answer(code: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(code).body(body.into()).unwrap()
}
