//! What the words of outgoing mail have in them that somebody should look at: where links lead, secrets,
//! and sums of money. Whoever wrote them may have been talked into hiding it.

mod currencies;
mod link_hosts;
mod money;
mod number_words;
mod secrets;
mod unmask;

pub use currencies::is_currency_code;
pub use link_hosts::{familiar_hosts, link_hosts};
pub use money::{MoneyAmount, money_amounts};
pub use secrets::{SecretKind, written_secrets};

/// Hosts and sums of one text that are listed.
const MOST_FOUND: usize = 200;
