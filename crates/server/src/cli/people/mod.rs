//! Commands about people and teams.

pub(crate) mod admin;
pub(crate) mod agent;
mod agent_record;
pub(crate) mod key;
pub(crate) mod person;
pub(crate) mod team;
pub(crate) mod user;
