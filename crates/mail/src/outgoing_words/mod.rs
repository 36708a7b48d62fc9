//! What the words of outgoing mail have in them that somebody should look at: where links lead, secrets,
//! and sums of money.

mod link_hosts;
mod money;
mod secrets;

pub use link_hosts::link_hosts;
pub use money::{MoneyAmount, money_amounts};
pub use secrets::{SecretKind, written_secrets};

/// Hosts, secrets and sums that are looked for in one text.
const MOST_FOUND: usize = 200;
