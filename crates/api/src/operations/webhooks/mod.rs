//! Operations on webhooks, for keys that administer.

pub(crate) mod create_webhook;
pub(crate) mod delete_webhook;
pub(crate) mod list_webhooks;
