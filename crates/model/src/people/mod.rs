//! People, teams, keys and apps of a workspace, and how they are told of things.

pub mod agent_calls;
pub mod agent_limits;
pub mod api_keys;
pub mod members;
pub mod notices;
pub mod notifications;
pub mod oauth_clients;
pub mod oauth_tokens;
pub mod one_time_codes;
pub mod owners;
pub mod removed_people;
pub mod teams;
