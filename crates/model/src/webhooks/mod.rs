//! Webhook endpoints as everyone who uses them sees them.

pub mod events;
pub mod registration;
pub mod webhook_signing;

use base::string_enum::string_enum;

string_enum! {
    /// `paused` after a day of failures or by a person, `off` after a 410.
    State { Active = "active", Paused = "paused", Off = "off" }
}

string_enum! {
    /// The form in which a webhook is told of events: Mailroom's own, signed, or a message of a chat, whose address is
    /// the secret.
    WebhookFormat {
        Mailroom = "mailroom",
        Slack = "slack",
        Mattermost = "mattermost",
        Teams = "teams",
    }
}

impl WebhookFormat {
    pub fn is_chat(self) -> bool {
        self != WebhookFormat::Mailroom
    }
}
