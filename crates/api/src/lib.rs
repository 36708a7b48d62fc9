//! What a key may ask for: the operations, their input and JSON, and how a call is made.

pub mod booking_json;
pub mod calls;
pub mod contact_json;
pub mod conversation_json;
pub mod cursor;
pub mod fields;
pub mod idempotency;
mod input;
mod kept_arguments;
pub mod operations;
pub mod rules_json;
mod string_format;
pub mod webhook_json;
pub mod wire;
