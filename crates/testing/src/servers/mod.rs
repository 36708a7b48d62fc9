//! Servers of others, as tests run them.

pub(crate) mod dovecot;
pub(crate) mod graph;
pub(crate) mod help_desk;
pub(crate) mod oauth_provider;
pub(crate) mod push_service;
pub(crate) mod reply_model;
