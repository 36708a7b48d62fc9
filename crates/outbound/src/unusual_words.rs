//! What is unusual about a draft, in a sentence for whoever approves it.

use model::people::agent_limits::unusual::{Unusual, UnusualKind};
use translation::t;

/// The sentence about something unusual; a marked conversation has a warning of its own.
pub fn unusual_sentence(unusual: &Unusual) -> Option<String> {
    let what = unusual.what.join(", ");
    Some(match unusual.kind {
        UnusualKind::Recipients => {
            t!("It goes to {what}, who is not one of the people of this conversation.", what)
        }
        UnusualKind::FirstContact => {
            t!("Nobody on the team has written to {what} before.", what)
        }
        UnusualKind::Links => t!("It links to {what}, which nobody here has named.", what),
        UnusualKind::Files => t!("It has files.").to_owned(),
        UnusualKind::Amounts => t!("It names {what}.", what),
        UnusualKind::Secrets => {
            t!("It has an API key, a card number or an account number in plain mail.").to_owned()
        }
        UnusualKind::Marked => return None,
    })
}
