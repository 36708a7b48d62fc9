//! Customers on pages: tokens, sessions, forms, protected messages.

pub mod guest_forms;
pub mod guest_sessions;
pub mod guest_tokens;
pub mod secure;
