//! What the server adds to the domain: REST and MCP, mail over sockets, the web app and the commands.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod cli;
mod code_style;
mod depth;
mod documents;
mod drafting;
mod http;
mod mail_in;
mod mail_out;
mod node;
mod plans;
mod support;
mod tracker_calls;
mod values;
mod web;
mod webhooks;
