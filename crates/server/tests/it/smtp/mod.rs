//! The mail doors over real sockets.

mod limits;
mod sessions;
pub mod tls;
