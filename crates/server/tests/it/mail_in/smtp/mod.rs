//! The mail doors over real sockets.

mod limits;
mod refusals;
mod sessions;
pub mod tls;
