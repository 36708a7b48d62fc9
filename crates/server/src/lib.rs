//! The binary's rooms: the REST door, the command line, and the process that serves.
//!
//! Only this crate knows HTTP and sockets; it never writes SQL.

pub mod cli;
pub mod courier;
pub mod demo;
mod health;
mod metrics;
pub mod relay;
pub mod rest;
pub mod serve;
pub mod settings;
