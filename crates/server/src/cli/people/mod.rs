//! Commands about people and teams, and the forms by which customers write to them.

pub(crate) mod admin;
pub(crate) mod agent;
mod agent_record;
pub(crate) mod contact_form;
mod eval_report;
pub(crate) mod evals;
pub(crate) mod key;
pub(crate) mod person;
pub(crate) mod team;
pub(crate) mod user;
