//! What every layer may use: ids, time, errors, limits, and who is asking.

pub mod actor;
pub mod agent_presence;
pub mod assignee;
pub(crate) mod error;
pub mod ids;
pub(crate) mod json_list;
pub mod limits;
pub mod private_files;
pub mod public_ip;
pub(crate) mod rate_limit;
pub mod states;
pub(crate) mod string_enum;
pub mod time;
