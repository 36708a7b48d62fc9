//! The rules of the domain, on both databases, without HTTP.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod actions;
mod api;
mod evals;
mod inbound;
mod jobs;
mod maintenance;
mod model;
mod parity;
mod search;
