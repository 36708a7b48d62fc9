//! The program: REST, MCP, mail in and out, the web app, the command line, and the process
//! that serves.
//!
//! Only this crate uses HTTP and sockets; it contains no SQL.

pub mod api;
pub mod backup;
pub mod calendars;
pub mod cli;
pub mod demo;
pub mod documents;
pub mod drafting;
pub mod http;
pub mod imap_client;
pub mod mail_in;
pub mod mail_oauth;
pub mod mail_out;
pub mod mailbox_setup;
pub mod net;
pub mod node;
pub mod oidc;
pub mod serve;
pub mod settings;
pub mod web;
pub mod webhooks;
