//! The binary's rooms: the REST, MCP and mail doors, the web app, the command line, and the process
//! that serves.
//!
//! Only this crate knows HTTP and sockets; it never writes SQL.

pub mod authentication;
pub mod clamd;
pub mod cli;
pub mod courier;
pub mod demo;
pub mod dns_health;
pub mod dns_records;
pub mod doors;
pub mod health;
pub mod imap;
mod node_files;
pub mod lookup;
pub mod mcp;
mod metrics;
pub mod reader;
pub mod relay;
pub mod rest;
pub mod serve;
pub mod services;
pub mod settings;
pub mod smtp;
pub mod storage_check;
pub mod vault;
pub mod web;
