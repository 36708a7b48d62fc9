//! Webhook endpoints as everyone who uses them sees them.

pub mod events;
pub mod registration;
pub mod webhook_signing;

use base::string_enum::string_enum;

string_enum! {
    /// `paused` after a day of failures or by a person, `off` after a 410.
    State { Active = "active", Paused = "paused", Off = "off" }
}
