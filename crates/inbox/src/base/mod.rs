//! What every layer may use: ids, time, errors, limits, and who is asking.

pub mod actor;
pub mod agent_presence;
pub(crate) mod error;
pub mod future;
pub mod ids;
pub mod limits;
pub mod private_files;
pub mod public_ip;
pub mod queue;
pub(crate) mod rate_limit;
pub(crate) mod string_enum;
pub mod time;
