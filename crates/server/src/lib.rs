//! The binary's rooms: the REST, MCP and mail doors, the web app, the command line, and the process
//! that serves.
//!
//! Only this crate knows HTTP and sockets; it never writes SQL.

pub mod authentication;
pub mod clamd;
pub mod cli;
pub mod courier;
pub mod demo;
mod descriptors;
pub mod dns_health;
pub mod dns_records;
pub mod doors;
pub mod health;
pub mod http;
pub mod imap;
mod listening;
mod log_filter;
pub mod lookup;
pub mod mcp;
mod metrics;
mod node_files;
pub mod permissions;
pub mod quiet;
pub mod reader;
pub mod relay;
mod request_body;
pub mod rest;
pub mod serve;
pub mod services;
pub mod settings;
mod slots;
pub mod smtp;
pub mod storage_check;
pub mod vault;
pub mod web;
