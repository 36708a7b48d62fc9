//! What people do in the app and at the command line: approve and stop what agents write, snooze,
//! and look after keys, people, inboxes and webhooks.

mod deliveries;
mod drafts;
mod keys;
mod setup;
mod snooze;
mod webhooks;

pub use deliveries::{
    Delivery, DeliveryState, LogFilter, LoggedTry, delete_webhook, delivery_log, pause_webhook,
    redeliver, resume_webhook, rotate_secret, send_test_event,
};
pub use drafts::{approve_draft, discard_draft, edit_draft, stop_message};
pub use keys::{KeyListing, MadeKey, list_keys, make_key, revoke_key};
pub use setup::{
    NewWorkspace, Person, SetUp, WorkspaceListing, add_mailbox, add_person, list_people,
    list_workspaces, set_plan, set_up_workspace,
};
pub use snooze::{release_held, snooze};
pub use webhooks::{MadeWebhook, WebhookListing, add_webhook, check_url, list_webhooks};
