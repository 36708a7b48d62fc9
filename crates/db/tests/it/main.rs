//! The rules of the store, each held on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[macro_use]
mod harness;

mod conflicts;
mod connections;
mod groups;
mod kill;
mod licences;
mod migrations;
mod outage;
mod proxy;
mod reads;
mod replica;
mod rows;
mod several_stores;
mod values;
mod wakes;
mod writes;
