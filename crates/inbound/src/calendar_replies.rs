//! Answers of calendar programs to our invitations. A guest who declines cancels the booking, if the mail
//! is proven to be theirs; that somebody accepts is no news. Neither is filed, unless the guest adds words
//! of their own: those are filed in the conversation of the booking. A guest who declines when it is too
//! late to cancel by themselves cancels nothing: their mail is filed there, and the team decides. An
//! answer from anybody else is a mail like any other.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{BookingId, ConversationId};
use bookings::{Booking, booking};
use calendar::{CalendarReply, ParticipationStatus};
use db::Tx;
use mail::{AuthorKind, Dmarc, Mail};

use crate::incoming_mail::IncomingMail;

/// What a guest's program says, as the reason of a cancellation.
const DECLINED: &str = "Declined in the guest's calendar.";

/// What programs write into answers.
const PHRASES: &str = include_str!("calendar_phrases.txt");
/// What the text of an answer by Google Calendar names, beside a phrase.
const GOOGLE_MARKS: &[&str] = &["calendar.google.com/calendar", "google.com/calendar"];
/// Words before and behind a phrase in a line that a program wrote: a name, and "this invitation".
const WORDS_BEFORE: usize = 6;
const WORDS_BEHIND: usize = 4;
/// Lines of an answer that are looked at for the guest's own words.
const LINES: usize = 200;

/// The answers in a mail; none for almost every mail.
pub(super) fn read(raw: &[u8]) -> Vec<CalendarReply> {
    if memchr::memmem::find(raw, b"calendar").is_none() {
        return Vec::new();
    }
    let part = mail::calendar_part(raw).filter(|part| part.method.as_deref() == Some("REPLY"));
    part.and_then(|part| calendar::read_reply(&part.bytes).ok()).unwrap_or_default()
}

/// What becomes of a mail with answers of a calendar program.
pub(super) enum AnswerOutcome {
    /// All of them are dealt with, and say nothing else: the mail is not filed.
    Settled,
    /// The mail is filed like any other.
    Filed,
    /// The guest says something that somebody has to read: the mail is filed in the conversation of the
    /// booking, where it has one.
    Heard(Option<ConversationId>),
}

/// Does what the answers ask for.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    incoming: &mut IncomingMail,
    replies: &[CalendarReply],
) -> Result<AnswerOutcome> {
    let mut settled = !replies.is_empty();
    let mut heard: Option<Option<ConversationId>> = None;
    for reply in replies {
        let outcome = match find_invited(tx, cx, &reply.uid)? {
            Some(booking) => answer(tx, cx, incoming, reply, &booking)?,
            None => AnswerOutcome::Filed,
        };
        match outcome {
            AnswerOutcome::Settled => {}
            AnswerOutcome::Filed => settled = false,
            AnswerOutcome::Heard(conversation) => {
                add_comment(&mut incoming.mail.text, reply);
                heard = Some(heard.flatten().or(conversation));
            }
        }
    }
    Ok(match heard {
        Some(conversation) => {
            // A program sent it and may say so; what it says is the guest's.
            incoming.mail.kind = AuthorKind::Person;
            AnswerOutcome::Heard(conversation)
        }
        None if settled => AnswerOutcome::Settled,
        None => AnswerOutcome::Filed,
    })
}

fn answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    incoming: &IncomingMail,
    reply: &CalendarReply,
    booking: &Booking,
) -> Result<AnswerOutcome> {
    let mail = &incoming.mail;
    let is_guest = |email: &str| EmailAddress::new(email) == booking.guest_email;
    let answers_for_guest = reply.attendees.iter().all(|person| is_guest(&person.email));
    let is_from_guest = is_guest(&mail.from.email) && answers_for_guest;
    if !is_from_guest {
        // Hosts have the appointment in their calendars too, and their answers change nothing.
        let says_nothing = reply.comment.is_none() && !has_own_words(mail);
        let is_settled = says_nothing && is_of_team(tx, cx, &mail.from.email)?;
        return Ok(if is_settled { AnswerOutcome::Settled } else { AnswerOutcome::Filed });
    }
    let has_words = reply.comment.is_some() || has_own_words(mail);
    let said = match (has_words, mail.dmarc) {
        (false, _) => AnswerOutcome::Settled,
        // Somebody else may have written it.
        (true, Dmarc::Fail) => AnswerOutcome::Filed,
        (true, Dmarc::Pass | Dmarc::Absent) => AnswerOutcome::Heard(booking.conversation.clone()),
    };
    let declines = |status: ParticipationStatus| status == ParticipationStatus::Declined;
    if !reply.attendees.iter().any(|person| declines(person.status)) {
        return Ok(said);
    }
    // It answers a time from which the appointment has moved.
    if reply.sequence < booking.sequence {
        return Ok(said);
    }
    if mail.dmarc != Dmarc::Pass {
        return Ok(AnswerOutcome::Filed);
    }
    if booking.is_late_for_guest(cx.now) {
        return Ok(AnswerOutcome::Heard(booking.conversation.clone()));
    }
    if booking.guest_may_change(cx.now) {
        booking::cancel(tx, cx, booking, DECLINED)?;
    }
    Ok(said)
}

/// True when the text of an answer has words that no calendar program wrote. What cannot be told is the
/// guest's.
fn has_own_words(mail: &Mail) -> bool {
    if mail.attachments.iter().any(|file| !is_calendar(file)) {
        return true;
    }
    let text = mail.text.to_lowercase();
    let lines = text.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    let mut lines = lines.take(LINES);
    let Some(first) = lines.next() else { return false };
    // Google repeats the whole invitation; what a guest adds stands in the calendar's part.
    let is_google = GOOGLE_MARKS.iter().any(|mark| text.contains(mark));
    !is_of_program(first) || !is_google && lines.any(|line| !is_of_program(line))
}

fn is_calendar(file: &mail::Attachment) -> bool {
    matches!(file.content_type.as_str(), "text/calendar" | "application/ics")
        || file.filename.to_ascii_lowercase().ends_with(".ics")
}

/// True for a line that is a program's phrase, with little more than whose answer it is.
fn is_of_program(line: &str) -> bool {
    let mut phrases = PHRASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    phrases.any(|phrase| {
        line.split_once(phrase).is_some_and(|(before, behind)| {
            before.split_whitespace().count() <= WORDS_BEFORE
                && behind.split_whitespace().count() <= WORDS_BEHIND
                && !behind.contains([',', ';', '?'])
        })
    })
}

/// Shows what the guest wrote beside the answer, where the text of the mail does not say it.
fn add_comment(text: &mut String, reply: &CalendarReply) {
    let Some(comment) = &reply.comment else { return };
    if !text.contains(comment.as_str()) {
        let words = text.trim_end().len();
        text.truncate(words);
        text.push_str(if words == 0 { "" } else { "\n\n" });
        text.push_str(comment);
    }
}

fn is_of_team(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT id FROM users WHERE ws = ?1 AND email = ?2",
        &[&cx.actor.ws, &EmailAddress::new(email)],
    )?;
    Ok(found.is_some())
}

/// The newest booking that an entry of a calendar is about.
fn find_invited(tx: &mut Tx<'_>, cx: &Cx<'_>, uid: &str) -> Result<Option<Booking>> {
    let found: Option<(BookingId, Circle)> = tx.opt(
        "SELECT id, circle FROM bookings WHERE ws = ?1 AND uid = ?2
         ORDER BY sequence DESC, id DESC LIMIT 1",
        &[&cx.actor.ws, &uid],
    )?;
    let Some((id, circle)) = found else { return Ok(None) };
    let actor = Actor::system(cx.actor.ws, cx.actor.workspace.clone(), circle);
    bookings::load(tx, &actor, id.as_str()).map(Some)
}
