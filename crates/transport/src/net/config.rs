//! How this process reaches the outside.

use std::net::SocketAddr;

/// The DNS server, and which addresses may be called.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetConfig {
    /// The DNS server to use instead of the system's resolver.
    pub dns: Option<SocketAddr>,
    /// Private networks and `http` may be called too, for development only.
    pub allow_private: bool,
    /// Mail servers in private networks may be named in the app.
    pub mail_allow_private: bool,
    /// Nothing outside is called, whatever anybody asks for.
    pub sealed_off: bool,
}
