//! Keys, apps, webhooks, services and queues.

pub(crate) mod activity;
pub(crate) mod agent;
pub(crate) mod apps;
pub(crate) mod customer_panel;
pub(crate) mod keys;
pub(crate) mod linked_items;
pub(crate) mod queues;
pub(crate) mod services;
pub(crate) mod test_case;
pub(crate) mod test_cases;
pub(crate) mod webhook;
pub(crate) mod webhooks;
