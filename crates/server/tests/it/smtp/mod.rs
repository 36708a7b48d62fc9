//! The mail doors over real sockets.

mod limits;
mod machine;
mod sessions;
mod tls;
