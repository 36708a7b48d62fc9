//! Keys, connected apps, webhooks and services.

pub mod activity_csv;
pub mod agent_activity;
pub mod agent_policy;
pub mod agent_replay;
pub mod connected_apps;
pub mod console;
pub mod delivery_log;
pub mod issue_trackers;
pub mod keys;
pub mod oauth_consent;
pub mod oauth_tokens;
pub mod services;
pub mod webhooks;
