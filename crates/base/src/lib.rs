//! Types that every layer may use: ids, time, errors, limits, states, and the actor.

pub mod actor;
pub mod agent_presence;
pub mod app;
pub mod assignee;
pub mod call_log;
pub mod circles;
pub mod concurrency;
pub mod email_address;
pub mod error;
pub mod files;
pub mod ids;
pub mod limits;
pub mod mail_reading;
pub mod panel_answers;
pub mod rate_limit;
pub mod reference;
pub mod request_id;
pub mod security;
pub mod sorter_models;
pub mod states;
pub mod string_enum;
pub mod time;
pub mod usage;
pub mod workspaces;
