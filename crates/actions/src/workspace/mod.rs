//! What concerns a whole workspace.

pub mod audit_log;
pub mod deletion;
pub mod rules;
pub mod secure_settings;
