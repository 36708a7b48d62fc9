//! What a key may ask for: the operations, their input and JSON, and how a call is made.

pub mod booking_json;
pub(crate) mod calls;
pub(crate) mod cursor;
pub mod fields;
pub mod idempotency;
pub mod operations;
pub mod wire;
pub mod wire_rules;
