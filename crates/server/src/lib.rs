//! The program: REST, MCP, mail in and out, the web app, the command line, and the process
//! that serves.
//!
//! Only this crate uses HTTP and sockets; it contains no SQL.

pub mod api;
pub mod cli;
pub mod demo;
pub mod mail_in;
pub mod router;
pub mod serve;
pub mod settings;
pub mod tracker_calls;
