//! Bookings that an agent makes, moves and cancels: each is a mail to the guest, so the rules for messages
//! hold for it. A booking cannot be a draft, so what the policy does not allow is refused; the rest can be
//! stopped for a while before anybody outside is told.

use base::actor::Circle;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{BookingId, MailboxId};
use base::limits::MINUTE_MS;
use base::security::agent_policy::{
    AgentPolicy, FirstContactRule, HoursRule, LinkRule, MarkedMailRule, PolicyRule, RecipientRule,
    SecretRule,
};
use base::string_enum::string_enum;
use db::Tx;
use mail::{link_hosts, written_secrets};

use super::messages::{self, is_of_domains};
use super::recent_acts::{self, ActKind};
use super::unusual;
use super::{HAND_OVER, limits_of, refusal};
use crate::conversations::Conversation;
use crate::mailboxes::office_hours;

string_enum! {
    /// What an agent does to a booking, as it is counted.
    BookingDeed { Made = "made", Moved = "moved", Cancelled = "cancelled" }
}

/// A booking as far as it is judged.
pub struct JudgedBooking<'a> {
    pub guest: &'a EmailAddress,
    /// What the agent wrote that the guest will read, as it is kept and mailed: a name, answers, a reason.
    pub words: &'a str,
    /// Whose contact the guest is.
    pub circle: &'a Circle,
    /// The inbox that writes to the guest.
    pub mailbox: &'a MailboxId,
    pub conversation: Option<&'a Conversation>,
}

/// Refuses what the policy of whoever books does not allow. One that it allows is counted once it is
/// written, by [`count_booking`]. Returns when the guest is told; `None` for at once.
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
    admit_guest(tx, cx, policy, booking)?;
    admit_words(policy, booking.words)?;
    let due_at = policy.undo_minutes.map(|minutes| cx.now + minutes * MINUTE_MS);
    if policy.hours == HoursRule::Office
        && office_hours::is_closed(tx, cx.actor.ws, booking.mailbox, due_at.unwrap_or(cx.now))?
    {
        let sentence =
            "This key books only in office hours, and the guest would be told outside them.";
        return Err(refusal(PolicyRule::Hours, sentence));
    }
    if let Some(why) = messages::enough_mails(tx, cx, [booking.guest.clone()])? {
        return Err(refusal(PolicyRule::PerCustomerPerDay, format!("{why}.")));
    }
    if recent_acts::is_used_up(tx, cx, agent, ActKind::Booking, policy.bookings_per_hour)? {
        let most = policy.bookings_per_hour.unwrap_or_default();
        let sentence = format!(
            "This key has made, moved and cancelled {most} bookings within an hour, which is all it may."
        );
        return Err(refusal(PolicyRule::BookingsPerHour, sentence));
    }
    Ok(due_at)
}

/// Counts what was done to a booking. The same again is no other act.
pub fn count_booking(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    deed: BookingDeed,
    booking: &BookingId,
    guest: &EmailAddress,
) -> Result<()> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(()) };
    if policy.bookings_per_hour.is_some() {
        recent_acts::note(tx, cx, agent, ActKind::Booking, deed.as_str(), booking.as_str())?;
    }
    messages::count_mails(tx, cx, [guest.clone()], &format!("{} {booking}", deed.as_str()))
}

/// Only somebody of the conversation is booked for, or whom else the policy names.
fn admit_guest(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    policy: &AgentPolicy,
    booking: &JudgedBooking<'_>,
) -> Result<()> {
    let is_of_conversation = match booking.conversation {
        Some(conversation) => unusual::is_of_conversation(tx, cx, conversation, booking.guest)?,
        None => false,
    };
    let is_known = unusual::is_known(tx, cx, booking.circle, booking.guest)?;
    let is_allowed = match policy.recipients {
        RecipientRule::Anyone => true,
        RecipientRule::Conversation => is_of_conversation,
        RecipientRule::Contacts => is_of_conversation || is_known,
        RecipientRule::Domains => {
            is_of_conversation || is_of_domains(&policy.domains, booking.guest)
        }
    };
    if !is_allowed {
        let who = messages::recipient_words(policy.recipients);
        let sentence = format!(
            "This key books only for {who}, and {} is not one. Name their conversation as conversationId, \
             or reply with booking so that the customer picks the time.",
            booking.guest
        );
        return Err(refusal(PolicyRule::Recipients, sentence));
    }
    if policy.first_contact == FirstContactRule::Approve && !is_known {
        let sentence = format!(
            "Nobody on the team has written to {} before, and this would be the first mail. Reply with \
             booking instead: a person approves it.",
            booking.guest
        );
        return Err(refusal(PolicyRule::FirstContact, sentence));
    }
    Ok(())
}

/// The words of a booking are mailed as they are: no person approves them.
fn admit_words(policy: &AgentPolicy, words: &str) -> Result<()> {
    if policy.links != LinkRule::Anyone
        && let Some(host) = link_hosts(words).first()
    {
        let sentence = format!(
            "A booking's words are mailed without approval, so they must not link to {host}."
        );
        return Err(refusal(PolicyRule::Links, sentence));
    }
    if policy.secrets != SecretRule::Allow && !written_secrets(words).is_empty() {
        let sentence =
            "A booking's words are mailed, so they must not have a key, card or account number.";
        return Err(refusal(PolicyRule::Secrets, sentence));
    }
    if let Some(limit) = &policy.amount_above
        && let Some(sum) = messages::sum_above(limit, words)
    {
        let sentence = format!(
            "A booking's words are mailed without approval, and they name {} {}; above {} {} a person \
             approves.",
            sum.written, sum.currency, limit.value, limit.currency
        );
        return Err(refusal(PolicyRule::AmountAbove, sentence));
    }
    Ok(())
}
