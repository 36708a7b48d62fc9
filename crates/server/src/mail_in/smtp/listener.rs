//! Accepts SMTP and LMTP connections within limits, until shutdown.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mail::smtp::{Protocol, RefusedEnvelope};
use metrics::counter;
use node::supervisor::Supervisor;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_util::task::TaskTracker;
use tracing::Instrument;
use transport::net::listen_address::{ListenAddress, SocketAccess};
use transport::net::listening::{AcceptPause, cannot_listen};

use super::connection::SmtpConnection;
use super::refusals::TOO_MANY_CONNECTIONS;
use super::shared::{ConnectionPermit, MailListeners, protocol_name};

/// Mail that is being taken in when the server stops has this long to be filed.
const GRACE: Duration = Duration::from_secs(2);

/// Characters of the id by which the log names a connection.
const ID_CHARS: usize = 10;

const FULL: &[u8] = b"421 4.7.0 Too many connections, try again later\r\n";

/// One open listener.
pub struct MailListener {
    listener: Listener,
    protocol: Protocol,
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl MailListener {
    /// Starts to listen; `None` if the address is `off`.
    pub async fn open(
        place: &ListenAddress,
        protocol: Protocol,
    ) -> Result<Option<MailListener>, String> {
        MailListener::open_for(place, protocol, SocketAccess::default()).await
    }

    /// The same, with the permissions of a socket in the file system.
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
            Err(error) => Err(cannot_listen(setting(protocol), place, &error)),
        }
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The address, of a TCP listener.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }
}

/// A stale socket file is replaced; one that accepts connections is not.
async fn bind_socket(path: &Path, access: SocketAccess) -> io::Result<Listener> {
    if UnixStream::connect(path).await.is_ok() {
        return Err(io::ErrorKind::AddrInUse.into());
    }
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::other("there is a file or folder of this name"));
        }
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    if let Some(group) = access.group {
        std::os::unix::fs::chown(path, None, Some(group))?;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(access.mode))?;
    Ok(Listener::Unix(listener, path.to_owned()))
}

impl MailListeners {
    /// Accepts mail until the tasks are to stop; mail that has arrived is still filed.
    pub async fn serve(self, listeners: Vec<MailListener>, tasks: &Supervisor) {
        let (all, conversations) = (Arc::new(self), TaskTracker::new());
        let listening = listeners.into_iter().map(|listener| {
            let (all, conversations) = (Arc::clone(&all), conversations.clone());
            let (name, listener) = (task_name(listener.protocol), Arc::new(listener));
            tasks.start(name, move |_| {
                let (all, conversations) = (Arc::clone(&all), conversations.clone());
                let listener = Arc::clone(&listener);
                async move { all.listen(&listener, &conversations).await }
            })
        });
        let listening: Vec<_> = listening.collect();
        tasks.stopping().cancelled().await;
        all.stopping.cancel();
        for listener in listening {
            let _ = listener.await;
        }
        conversations.close();
        if tokio::time::timeout(GRACE, conversations.wait()).await.is_err() {
            tracing::warn!("shutdown interrupted mail that was being received; senders will retry");
        }
    }

    async fn listen(self: &Arc<Self>, listener: &MailListener, conversations: &TaskTracker) {
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
        let ours = protocol == Protocol::Lmtp || peer.is_none_or(|ip| self.trusted.contains(ip));
        let permit = ConnectionPermit::take(self, peer.filter(|_| !ours));
        let listeners = Arc::clone(self);
        // A neighbour on this machine has no address.
        let span = tracing::error_span!(
            "mail",
            id = %self.app.ids.token(ID_CHARS),
            client = %peer.map_or_else(|| "local".to_owned(), |ip| ip.to_string()),
            protocol = %protocol_name(protocol),
        );
        let conversation = async move {
            let outcome = match (permit, client) {
                (None, mut client) => {
                    let unknown = RefusedEnvelope::default();
                    listeners.refusals.note(peer, TOO_MANY_CONNECTIONS, &unknown);
                    client.refuse().await
                }
                (Some(_permit), Client::Tcp(stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    SmtpConnection::new(&listeners, protocol, peer).converse(stream).await
                }
                (Some(_permit), Client::Unix(stream)) => {
                    SmtpConnection::new(&listeners, protocol, peer).converse(stream).await
                }
            };
            if let Err(error) = outcome {
                // A client that disconnects affects no other.
                tracing::debug!(%error, "mail connection failed");
            }
        };
        conversations.spawn(conversation.instrument(span));
    }
}

/// The setting that says where a protocol is taken.
fn setting(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Smtp => "smtp_listen",
        Protocol::Lmtp => "lmtp_listen",
    }
}

/// What `/readyz` and the metrics call the task that accepts connections.
fn task_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Smtp => "SMTP listener",
        Protocol::Lmtp => "LMTP listener",
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
