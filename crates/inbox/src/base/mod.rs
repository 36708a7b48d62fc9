//! Types that every layer may use: ids, time, errors, limits, states, and the actor.

pub mod actor;
pub mod agent_presence;
pub mod api_key;
pub mod assignee;
pub mod background_writes;
pub(crate) mod backoff;
pub mod blobs;
pub mod content_key;
pub mod email_address;
pub(crate) mod error;
pub mod future;
pub mod ids;
pub mod limits;
pub(crate) mod partial_uploads;
pub mod private_files;
pub mod public_ip;
pub mod queue;
pub(crate) mod rate_limit;
pub(crate) mod reference;
pub mod scanner;
pub mod scopes;
pub mod secret_sealer;
pub mod states;
pub(crate) mod string_enum;
pub mod time;
