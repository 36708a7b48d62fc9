//! The server: REST, MCP, SMTP, LMTP, IMAP, the web app and the command line.
//!
//! Only this crate knows HTTP and sockets; it never writes SQL.

pub mod api;
pub mod cli;
pub mod demo;
pub mod documents;
pub mod http;
pub mod mail_in;
pub mod mail_out;
pub mod net;
pub mod node;
pub mod serve;
pub mod settings;
pub mod web;
pub mod webhooks;
