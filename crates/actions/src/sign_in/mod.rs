//! Sessions and every way into them.

pub mod interrupted_forms;
pub mod passkeys;
pub mod provider_accounts;
pub mod provider_rules;
pub mod second_step;
pub mod sessions;
pub mod sign_in_reset;
pub mod sign_in_steps;
