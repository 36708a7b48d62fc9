//! The mail doors over real sockets.

mod limits;
mod sessions;
mod tls;
