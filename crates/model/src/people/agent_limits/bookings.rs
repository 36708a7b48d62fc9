//! Bookings that an agent makes, moves and cancels. They cannot be drafts, so what its policy does not allow
//! is refused; the rest can be stopped for a while before anybody outside is told.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::limits::MINUTE_MS;
use base::security::agent_policy::{
    FirstContactRule, HoursRule, LinkRule, MarkedMailRule, PolicyRule, RecipientRule, SecretRule,
};
use db::Tx;
use mail::{link_hosts, written_secrets};

use super::messages::is_of_domains;
use super::recent_acts::{self, ActKind};
use super::unusual;
use super::{HAND_OVER, limits_of, refusal};
use crate::conversations::Conversation;
use crate::mailboxes::office_hours;
use crate::messages::recipients::Party;

/// A booking as far as it is judged.
pub struct JudgedBooking<'a> {
    /// Its id, or for one that is made what it is counted by.
    pub id: &'a str,
    pub guest: &'a EmailAddress,
    /// What the agent wrote that the guest will read: a name, a reason, answers.
    pub words: &'a [&'a str],
    pub conversation: Option<&'a Conversation>,
}

/// Refuses what the policy of whoever books does not allow, and counts the rest. Returns when the guest is
/// told; `None` for at once.
pub fn admit_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    booking: &JudgedBooking<'_>,
) -> Result<Option<i64>> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(None) };
    if booking.conversation.is_some_and(Conversation::is_marked)
        && policy.marked_mail != MarkedMailRule::Allow
    {
        return Err(refusal(PolicyRule::MarkedMail, HAND_OVER));
    }
    admit_guest(tx, cx, booking)?;
    let has_link = || booking.words.iter().find_map(|words| link_hosts(words).into_iter().next());
    if policy.links != LinkRule::Anyone
        && let Some(host) = has_link()
    {
        let sentence = format!(
            "A booking's words are mailed without approval, so they must not link to {host}."
        );
        return Err(refusal(PolicyRule::Links, sentence));
    }
    let has_secret = booking.words.iter().any(|words| !written_secrets(words).is_empty());
    if policy.secrets != SecretRule::Allow && has_secret {
        let sentence =
            "A booking's words are mailed, so they must not have a key, card or account number.";
        return Err(refusal(PolicyRule::Secrets, sentence));
    }
    if policy.hours == HoursRule::Office
        && let Some(conversation) = booking.conversation
        && office_hours::is_closed(tx, cx.actor.ws, &conversation.mailbox, cx.now)?
    {
        return Err(refusal(PolicyRule::Hours, "This key books only in office hours."));
    }
    if recent_acts::is_used_up(tx, cx, agent, ActKind::Booking, policy.bookings_per_hour)? {
        let most = policy.bookings_per_hour.unwrap_or_default();
        let sentence = format!(
            "This key has made, moved and cancelled {most} bookings within an hour, which is all it may."
        );
        return Err(refusal(PolicyRule::BookingsPerHour, sentence));
    }
    if policy.bookings_per_hour.is_some() {
        let subject = booking.conversation.map_or("", |conversation| conversation.id.as_str());
        recent_acts::note(tx, cx, agent, ActKind::Booking, subject, booking.id)?;
    }
    Ok(policy.undo_minutes.map(|minutes| cx.now + minutes * MINUTE_MS))
}

/// Only somebody of the conversation is booked for, or whom else the policy names.
fn admit_guest(tx: &mut Tx<'_>, cx: &Cx<'_>, booking: &JudgedBooking<'_>) -> Result<()> {
    let Some((_, policy)) = limits_of(cx.actor) else { return Ok(()) };
    let party = Party { name: None, email: booking.guest.to_string() };
    let (is_of_conversation, is_known) = match booking.conversation {
        Some(conversation) => (
            unusual::is_of_conversation(tx, cx, conversation, booking.guest)?,
            unusual::is_known(tx, cx, conversation, &party)?,
        ),
        None => (false, false),
    };
    let is_allowed = match policy.recipients {
        RecipientRule::Anyone => true,
        RecipientRule::Conversation => is_of_conversation,
        RecipientRule::Contacts => is_of_conversation || is_known,
        RecipientRule::Domains => {
            is_of_conversation || is_of_domains(&policy.domains, booking.guest)
        }
    };
    if !is_allowed {
        let sentence = format!(
            "This key books only for people of a conversation, and {} is none of the one that conversationId \
             names. Name the conversation, or reply with booking so that the customer picks the time.",
            booking.guest
        );
        return Err(refusal(PolicyRule::Recipients, sentence));
    }
    if policy.first_contact == FirstContactRule::Approve && !is_of_conversation && !is_known {
        let sentence = format!(
            "Nobody on the team has written to {} before, and an invitation would be the first mail. Reply \
             with booking instead: a person approves it.",
            booking.guest
        );
        return Err(refusal(PolicyRule::FirstContact, sentence));
    }
    Ok(())
}
