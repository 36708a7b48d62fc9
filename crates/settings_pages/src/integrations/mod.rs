//! Keys, apps, webhooks, services and queues.

pub(crate) mod activity;
pub(crate) mod agent;
pub(crate) mod apps;
pub(crate) mod keys;
pub(crate) mod queues;
pub(crate) mod services;
pub(crate) mod webhook;
pub(crate) mod webhooks;
