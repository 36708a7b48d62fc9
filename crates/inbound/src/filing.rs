//! Files a mail in one inbox, after checking for duplicates, copies of our own mail, reports, and
//! replies to a signed address.

use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use calendar::CalendarReply;
use db::Tx;
use mail::{AddressToken, Dmarc};
use model::installation::mail_secret::{self, MailSecret};
use model::mailboxes::Mailbox;

use super::calendar_replies::{self, AnswerOutcome};
use super::plus_tag_return;
use super::reports;
use super::routes;
use super::{FetchedMail, Ingested};
use crate::duplicates::{self, MailLookup};
use crate::imap;
use crate::incoming_mail::IncomingMail;
use crate::own_mail::own_copies;
use crate::own_mail::own_markers::OwnMarkers;
use crate::receive;

/// Files a mail in one inbox, unless it is a duplicate or a copy of our own mail. Fetched mail is
/// filed only while the fetching process holds the account's lease.
pub(super) fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &mut IncomingMail,
    (signs, replies): (&OwnMarkers, &[CalendarReply]),
    fetched: Option<&FetchedMail>,
) -> Result<Ingested> {
    let Some((mailbox, actor)) = &routes::as_it_is(tx, cx.actor, mailbox)? else {
        return Ok(Ingested::NoInbox);
    };
    let cx = &Cx { actor, ..*cx };
    if !quotas::takes_mail(tx, cx.actor.ws)? {
        return Ok(Ingested::Deferred);
    }
    if let Some(fetched) = fetched
        && !imap::is_held(tx, &fetched.account, mailbox)?
    {
        return Ok(Ingested::NoInbox);
    }
    let secret = mail_secret::mail_secret(tx, cx)?;
    if plus_tag_return::ends_test(tx, cx, mailbox, &secret, (incoming, signs))? {
        return Ok(Ingested::OwnCopy);
    }
    if own_copies::is_one(tx, cx, &secret, incoming, signs)? {
        return Ok(Ingested::OwnCopy);
    }
    own_copies::disown_message_id(&secret, incoming);
    let dates = signs.dates(fetched, cx.now);
    let lookup = match fetched {
        Some(fetched) => duplicates::look_up_fetched(tx, cx, mailbox, incoming, fetched, &dates)?,
        None => duplicates::look_up(tx, cx, mailbox, incoming)?,
    };
    let unknown = match lookup {
        MailLookup::Duplicate(known) => return Ok(Ingested::Duplicate(known.filed)),
        MailLookup::Unknown(unknown) => unknown,
    };
    let booked = match calendar_replies::settle(tx, cx, incoming, replies)? {
        AnswerOutcome::Settled => return Ok(Ingested::CalendarAnswer),
        AnswerOutcome::Filed => None,
        AnswerOutcome::Heard(conversation) => conversation,
    };
    let report = reports::verify(tx, cx, &secret, signs)?;
    incoming.joins = match &report {
        Some(report) => Some(report.conversation.id.clone()),
        None => find_answered(&secret, incoming, signs).or(booked),
    };
    let received = receive::file(tx, cx, mailbox, incoming, &dates, unknown)?;
    if let Some(report) = report {
        reports::apply(tx, cx, report)?;
    }
    quotas::warn_of_mail(tx, cx)?;
    Ok(Ingested::Filed(received))
}

/// The conversation whose reply address it was sent to. Only recipients of our mail have that
/// address; still, a mail that fails DMARC joins no conversation.
fn find_answered(
    secret: &MailSecret,
    incoming: &IncomingMail,
    signs: &OwnMarkers,
) -> Option<ConversationId> {
    if incoming.mail.dmarc == Dmarc::Fail {
        return None;
    }
    signs.tokens(secret).find_map(|token| match token {
        AddressToken::Conversation(id) => ConversationId::parse(&id),
        AddressToken::Bounce(_) => None,
    })
}
