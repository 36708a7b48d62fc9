//! Rows, states, and the steps that the API, people and jobs share.

pub mod authentication;
pub mod branding;
pub mod contacts;
pub mod conversations;
pub mod documents;
pub mod erasure;
pub mod fields;
pub mod figures;
pub mod guests;
pub mod indexing;
pub mod installation;
pub mod linked_items;
pub mod mailboxes;
pub mod messages;
pub mod people;
pub mod rule_queue;
pub mod schema;
pub mod times;
pub mod webhooks;
