//! Commands about people and teams.

pub(crate) mod admin;
pub(crate) mod agent;
pub(crate) mod key;
pub(crate) mod person;
pub(crate) mod team;
pub(crate) mod user;
