//! Keys, connected apps, webhooks and services.

pub mod agent_activity;
pub mod agent_policy;
pub mod connected_apps;
pub mod console;
pub mod delivery_log;
pub mod keys;
pub mod oauth_consent;
pub mod oauth_tokens;
pub mod services;
pub mod webhooks;
