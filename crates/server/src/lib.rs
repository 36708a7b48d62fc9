//! The binary's rooms: the REST door, the web app, the command line, and the process that serves.
//!
//! Only this crate knows HTTP and sockets; it never writes SQL.

pub mod cli;
pub mod demo;
pub mod doors;
pub mod rest;
pub mod serve;
pub mod settings;
pub mod web;
