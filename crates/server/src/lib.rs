//! The binary's rooms: the REST and MCP doors, the web app, the command line, and the process that
//! serves.
//!
//! Only this crate knows HTTP and sockets; it never writes SQL.

pub mod cli;
pub mod courier;
pub mod demo;
pub mod doors;
mod health;
pub mod mcp;
mod metrics;
pub mod reader;
pub mod relay;
pub mod rest;
pub mod serve;
pub mod settings;
pub mod web;
