//! Waiting, queues and work beside requests.

pub mod background_writes;
pub mod backoff;
pub mod blocking;
pub mod call_progress;
pub mod future;
pub mod low_priority;
pub mod queue;
pub mod recent_map;
