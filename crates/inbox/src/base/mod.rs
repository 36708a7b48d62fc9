//! What every layer may use: ids, time, errors, limits, and who is asking.

pub mod actor;
pub mod addresses;
pub(crate) mod error;
pub mod ids;
pub mod limits;
pub mod looks;
pub mod private_files;
pub(crate) mod rate;
pub mod time;
pub(crate) mod words;
