//! Customers on pages: tokens, sessions, forms, protected messages, how they found a
//! conversation.

pub mod answerer;
pub mod guest_forms;
pub mod guest_sessions;
pub mod guest_tokens;
pub mod ratings;
pub mod satisfaction;
pub mod secure;
