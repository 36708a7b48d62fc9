//! Accepts SMTP and LMTP connections within limits, until shutdown.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inbox::App;
use inbox::inbound::Authenticator;
use mail::smtp::Protocol;
use metrics::{counter, gauge};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::SmtpConnection;
use super::limits::SmtpLimits;
use super::listen_address::{ListenAddress, Networks, SocketAccess};
use super::refusals::RefusalLog;
use super::tls::TlsCertificate;
use crate::http::ClientNetwork;
use crate::net::listening::AcceptPause;

/// Mail that is being taken in when the server stops has this long to be filed.
const GRACE: Duration = Duration::from_secs(2);

const TOO_MANY_CONNECTIONS: &str = "too-many-connections";
const FULL: &[u8] = b"421 4.7.0 Too many connections. Come again later.\r\n";

/// A place that is listened on.
pub struct MailListener {
    listener: Listener,
    protocol: Protocol,
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl MailListener {
    /// Opens a door; none where it is off.
    pub async fn open(
        place: &ListenAddress,
        protocol: Protocol,
    ) -> Result<Option<MailListener>, String> {
        MailListener::open_for(place, protocol, SocketAccess::default()).await
    }

    /// The same; a socket in the file system is for these users.
    pub async fn open_for(
        place: &ListenAddress,
        protocol: Protocol,
        access: SocketAccess,
    ) -> Result<Option<MailListener>, String> {
        let listener = match place {
            ListenAddress::Off => return Ok(None),
            ListenAddress::Tcp(address) => TcpListener::bind(address).await.map(Listener::Tcp),
            ListenAddress::Unix(path) => bind_socket(path, access).await,
        };
        match listener {
            Ok(listener) => Ok(Some(MailListener { listener, protocol })),
            Err(error) => Err(format!("cannot take mail on {place}: {error}")),
        }
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Where it is, for a door that has an address.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }
}

/// A socket that an earlier process left behind is taken over; one that answers is not.
async fn bind_socket(path: &Path, access: SocketAccess) -> io::Result<Listener> {
    if UnixStream::connect(path).await.is_ok() {
        return Err(io::ErrorKind::AddrInUse.into());
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    if let Some(group) = access.group {
        std::os::unix::fs::chown(path, None, Some(group))?;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(access.mode))?;
    Ok(Listener::Unix(listener, path.to_owned()))
}

/// What every connection shares.
pub struct MailListeners {
    pub(super) app: App,
    pub(super) authenticator: Arc<dyn Authenticator>,
    pub(super) tls: Arc<TlsCertificate>,
    /// What this server calls itself.
    pub(super) name: String,
    pub(super) trusted: Networks,
    pub(super) limits: SmtpLimits,
    pub(super) bytes_held: AtomicUsize,
    pub(super) stopping: CancellationToken,
    pub(super) refusals: RefusalLog,
    connections: Mutex<Connections>,
}

impl MailListeners {
    pub fn new(
        app: App,
        authenticator: Arc<dyn Authenticator>,
        tls: Arc<TlsCertificate>,
        name: &str,
        trusted: Networks,
        limits: SmtpLimits,
    ) -> MailListeners {
        MailListeners {
            app,
            authenticator,
            tls,
            name: name.to_owned(),
            trusted,
            bytes_held: AtomicUsize::new(0),
            limits,
            stopping: CancellationToken::new(),
            refusals: RefusalLog::default(),
            connections: Mutex::default(),
        }
    }

    /// Takes mail through these doors until `stop` is ready; mail that has come is still filed.
    pub async fn serve(self, listeners: Vec<MailListener>, stop: impl Future<Output = ()>) {
        let (all, conversations) = (Arc::new(self), TaskTracker::new());
        let listening = listeners.into_iter().map(|listener| {
            let (all, conversations) = (Arc::clone(&all), conversations.clone());
            tokio::spawn(async move { all.listen(listener, &conversations).await })
        });
        let listening: Vec<_> = listening.collect();
        stop.await;
        all.stopping.cancel();
        for listener in listening {
            let _ = listener.await;
        }
        conversations.close();
        if tokio::time::timeout(GRACE, conversations.wait()).await.is_err() {
            tracing::warn!("some mail was not taken in in time; it will be brought again");
        }
    }

    async fn listen(self: &Arc<Self>, listener: MailListener, conversations: &TaskTracker) {
        let mut pause = AcceptPause::new("mail");
        loop {
            let accepted = tokio::select! {
                accepted = accept(&listener.listener) => accepted,
                () = self.stopping.cancelled() => break,
            };
            match accepted {
                Ok(client) => self.admit(client, listener.protocol, conversations),
                Err(error) => pause.after(&error).await,
            }
        }
        if let Listener::Unix(_, path) = &listener.listener {
            let _ = fs::remove_file(path);
        }
    }

    fn admit(self: &Arc<Self>, client: Client, protocol: Protocol, conversations: &TaskTracker) {
        let peer = client.peer();
        let ours = protocol == Protocol::Lmtp || peer.is_none_or(|ip| self.trusted.hold(ip));
        let place = Seat::take(self, peer.filter(|_| !ours));
        let listeners = Arc::clone(self);
        conversations.spawn(async move {
            let outcome = match (place, client) {
                (None, mut client) => {
                    listeners.refusals.note(peer, protocol_name(protocol), TOO_MANY_CONNECTIONS);
                    client.refuse().await
                }
                (Some(_place), Client::Tcp(stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    SmtpConnection::new(&listeners, protocol, peer).converse(stream).await
                }
                (Some(_place), Client::Unix(stream)) => {
                    SmtpConnection::new(&listeners, protocol, peer).converse(stream).await
                }
            };
            if let Err(error) = outcome {
                // A client that breaks off concerns nobody else.
                tracing::debug!(%error, "a mail connection broke");
            }
        });
    }
}

/// What a protocol is called in the log.
pub(super) fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Smtp => "smtp",
        Protocol::Lmtp => "lmtp",
    }
}

enum Client {
    Tcp(TcpStream, IpAddr),
    Unix(UnixStream),
}

async fn accept(listener: &Listener) -> io::Result<Client> {
    match listener {
        Listener::Tcp(listener) => {
            let (stream, peer) = listener.accept().await?;
            Ok(Client::Tcp(stream, peer.ip().to_canonical()))
        }
        Listener::Unix(listener, _) => Ok(Client::Unix(listener.accept().await?.0)),
    }
}

impl Client {
    fn peer(&self) -> Option<IpAddr> {
        match self {
            Client::Tcp(_, ip) => Some(*ip),
            Client::Unix(_) => None,
        }
    }

    async fn refuse(&mut self) -> io::Result<()> {
        counter!("mailroom_mail_connections_refused_total").increment(1);
        match self {
            Client::Tcp(stream, _) => stream.write_all(FULL).await,
            Client::Unix(stream) => stream.write_all(FULL).await,
        }
    }
}

/// Who is connected.
#[derive(Default)]
struct Connections {
    all: usize,
    each: HashMap<ClientNetwork, usize>,
}

/// A connection's place among the others, free again when it is dropped.
struct Seat {
    listeners: Arc<MailListeners>,
    counted: Option<ClientNetwork>,
}

impl Seat {
    /// None when there are too many, in all or from this address.
    fn take(listeners: &Arc<MailListeners>, peer: Option<IpAddr>) -> Option<Seat> {
        let counted = peer.map(ClientNetwork::of);
        let mut connections = listeners.connections();
        let each = counted.map_or(0, |ip| connections.each.get(&ip).copied().unwrap_or(0));
        if connections.all >= listeners.limits.connections
            || each >= listeners.limits.connections_each
        {
            return None;
        }
        connections.all += 1;
        if let Some(ip) = counted {
            connections.each.insert(ip, each + 1);
        }
        gauge!("mailroom_mail_connections").set(connections.all as f64);
        drop(connections);
        Some(Seat { listeners: Arc::clone(listeners), counted })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut connections = self.listeners.connections();
        connections.all -= 1;
        if let Some(ip) = self.counted {
            match connections.each.get_mut(&ip) {
                Some(each) if *each > 1 => *each -= 1,
                _ => drop(connections.each.remove(&ip)),
            }
        }
        gauge!("mailroom_mail_connections").set(connections.all as f64);
    }
}

impl MailListeners {
    fn connections(&self) -> std::sync::MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
