//! Composing in the app: replies, forwarded messages and first mails.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{ConversationId, MemberId, MessageId};
use base::limits::{REPLY_CHARS, SUBJECT_CHARS};
use base::states::Status;
use bookings::offers::{self, CheckedOffer, OfferInput};
use db::Tx;
use model::conversations::{self, Conversation};
use model::guests::secure::{self, SecureSendOptions};
use model::mailboxes;
use model::messages::attachments::{self, StoredAttachment};
use model::messages::recipients::{Party, RecipientList};
use model::messages::sealed_attachments;
use model::messages::send_effects::{BeforeClosing, SendEffects};
use model::messages::written_text::{TextFormat, WrittenText};
use model::people::members;
use outbound::drafts::ReplyResult;
use outbound::drafts::{self, DraftContent};
use outbound::scheduling::MessageTimes;

use crate::conversations::timeline::FileLocation;
use crate::sign_in::sessions::own_id;
use crate::writing::autosaves::{AutosaveKey, forget_autosave, too_long};
use crate::writing::seen::{DecisionOutcome, NewerMessage, SeenConversation, Writers, newer_than};
use crate::writing::sent_before::{PostedMessage, begun_since, written_since};

/// A message as a person wrote it.
#[derive(Clone, Debug)]
pub struct NewReply {
    pub body: String,
    pub format: TextFormat,
    pub recipients: RecipientList,
    /// True when the conversation is done with it.
    pub close: bool,
    /// False keeps it as a draft.
    pub send: bool,
    /// The message that it passes on.
    pub forwards: Option<ForwardedMessage>,
    /// Keeps the words on a page; `None` leaves it to the conversation and the inbox.
    pub secure: Option<bool>,
    pub times: MessageTimes,
}

impl NewReply {
    /// Whether it is secure, as far as its writer has said. A message that is passed on goes to others
    /// than the one who answered on a page.
    pub(crate) fn secure_wish(&self) -> SecureSendOptions {
        let in_the_clear = self.forwards.as_ref().map(|_| false);
        SecureSendOptions { secure: self.secure.or(in_the_clear), days: None }
    }

    fn words(&self) -> WrittenText {
        WrittenText::new(&self.body, self.format)
    }

    /// As it is compared with what the same form wrote before.
    fn posted_message<'a>(
        &'a self,
        words: &'a WrittenText,
        place: &'a AutosaveKey,
        offer: Option<&'a OfferInput>,
    ) -> PostedMessage<'a> {
        PostedMessage {
            words,
            recipients: &self.recipients,
            sends: self.send,
            forwards: self.forwards.as_ref().map(|forwarded| &forwarded.id),
            secure: self.secure_wish().secure,
            offer,
            documents: &[],
            place: Some(place),
        }
    }
}

/// A message that is passed on, and those of its files that go along.
#[derive(Clone, Debug)]
pub struct ForwardedMessage {
    pub id: MessageId,
    pub files: Vec<FileLocation>,
}

/// Sends a message after the undo window or at its time, or keeps it as a draft for the team. A reply
/// is sent only if nobody wrote meanwhile. A form that comes again is answered with what it wrote.
pub fn send_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    message: &NewReply,
    seen: SeenConversation,
) -> Result<DecisionOutcome<ReplyResult>> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    let place = AutosaveKey::Conversation(conversation.id.clone());
    if let Some(forwarded) = &message.forwards {
        add_forwarded_files(tx, cx, &conversation, forwarded)?;
    }
    let words = message.words();
    let posted = message.posted_message(&words, &place, None);
    if let Some(written) = written_since(tx, cx, &conversation, &posted, seen)? {
        return Ok(DecisionOutcome::Done(written));
    }
    if let Some(newer) = meanwhile(tx, cx, &conversation, message, seen)? {
        return Ok(DecisionOutcome::Meanwhile(newer));
    }
    check(message)?;
    let result = write(tx, cx, &conversation, message, &place, None)?;
    let mut effects = SendEffects::default();
    if message.send && message.forwards.is_none() {
        effects.assigned = take_unassigned(tx, cx, &mut conversation)?;
    }
    if message.send && message.close {
        effects.closed = BeforeClosing::of(cx, &conversation);
        conversations::set_status(tx, cx, &mut conversation, Status::Closed)?;
    }
    effects.keep(tx, cx.actor.ws, &result.message_id)?;
    Ok(DecisionOutcome::Done(result))
}

/// Sends a reply that offers times if nobody wrote meanwhile, or keeps it as a draft for the team.
pub fn offer_times(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    message: &NewReply,
    offer: &OfferInput,
    seen: SeenConversation,
) -> Result<DecisionOutcome<ReplyResult>> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    let place = AutosaveKey::Conversation(conversation.id.clone());
    let words = message.words();
    let posted = message.posted_message(&words, &place, Some(offer));
    if let Some(written) = written_since(tx, cx, &conversation, &posted, seen)? {
        return Ok(DecisionOutcome::Done(written));
    }
    if let Some(newer) = meanwhile(tx, cx, &conversation, message, seen)? {
        return Ok(DecisionOutcome::Meanwhile(newer));
    }
    check(message)?;
    let offer = offers::check(tx, cx, offer)?;
    let result = write(tx, cx, &conversation, message, &place, Some(offer))?;
    if message.send {
        let assigned = take_unassigned(tx, cx, &mut conversation)?;
        SendEffects { assigned, closed: None }.keep(tx, cx.actor.ws, &result.message_id)?;
    }
    Ok(DecisionOutcome::Done(result))
}

/// What stops a message. A draft waits for a person anyway, and what is passed on answers nobody.
fn meanwhile(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &NewReply,
    seen: SeenConversation,
) -> Result<Option<NewerMessage>> {
    match message.send && message.forwards.is_none() {
        true => newer_than(tx, cx, conversation, seen, Writers::Everybody),
        false => Ok(None),
    }
}

/// Gives a conversation that nobody has to the person who answers it, where the workspace wants that.
/// Answers who got it.
pub(crate) fn take_unassigned(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
) -> Result<Option<String>> {
    let (is_wanted,): (bool,) =
        tx.one("SELECT answer_assigns FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    if !is_wanted || conversation.assignee.is_some() {
        return Ok(None);
    }
    let Some(me) = members::find_name(tx, cx.actor.ws, &MemberId::User(own_id(cx)?.clone()))?
    else {
        return Ok(None);
    };
    conversations::assign(tx, cx, conversation, Some(&me))?;
    let taken_by = me.id.as_str().to_owned();
    conversation.assignee = Some(me.id);
    Ok(Some(taken_by))
}

/// The first mail to somebody, as a person wrote it.
#[derive(Clone, Debug)]
pub struct FirstMail {
    /// The id of the inbox that it is sent from.
    pub mailbox: String,
    pub subject: String,
    pub message: NewReply,
    /// When its form was shown, if that is known: what the form began since is not begun again.
    pub opened_at: Option<i64>,
}

/// Starts a conversation with a first mail. Once it has left, the conversation waits for them.
pub fn send_first_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    first: &FirstMail,
) -> Result<(ConversationId, ReplyResult)> {
    let mailbox = mailboxes::find(tx, cx.actor, &first.mailbox)?;
    let mailbox = mailbox.ok_or_else(|| Error::invalid("mailbox", "Choose an inbox."))?;
    let mut problems = problems(&first.message);
    let subject = first.subject.trim();
    if subject.is_empty() || subject.contains('\0') || subject.chars().count() > SUBJECT_CHARS {
        let sentence = format!("Give it a subject of at most {SUBJECT_CHARS} characters.");
        problems.0.push(ValidationError { field: "subject".into(), sentence });
    }
    if !problems.0.is_empty() {
        return Err(Error::Invalid(problems));
    }
    if let Some(opened_at) = first.opened_at {
        let words = first.message.words();
        let posted = first.message.posted_message(&words, &AutosaveKey::New, None);
        let begun = begun_since(tx, cx, (&mailbox.id, subject), &posted, opened_at)?;
        if let Some(begun) = begun {
            return Ok(begun);
        }
    }
    let recipients = &first.message.recipients;
    let conversation = drafts::begin_conversation(tx, cx, &mailbox, subject, recipients)?;
    let result = write(tx, cx, &conversation, &first.message, &AutosaveKey::New, None)?;
    Ok((conversation.id, result))
}

/// The message with the files of the unsent text, which is forgotten.
fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &NewReply,
    place: &AutosaveKey,
    offer: Option<CheckedOffer>,
) -> Result<ReplyResult> {
    let written = message.words();
    let wish = message.secure_wish();
    let me = own_id(cx)?;
    let is_secure = secure::days_of(tx, cx, conversation, wish)?.is_some();
    let files = match is_secure {
        true => sealed_attachments::take(tx, cx, place.key(), me)?,
        false => {
            sealed_attachments::must_be_open(tx, cx, place.key(), me)?;
            Vec::new()
        }
    };
    let draft = DraftContent {
        recipients: message.recipients.clone(),
        text: &written.text,
        markdown: written.markdown.as_deref(),
        forwards: message.forwards.as_ref().map(|forwarded| &forwarded.id),
        secure: wish,
        files,
        offer,
        times: message.times,
        ..DraftContent::default()
    };
    let result = match message.send {
        true => drafts::send(tx, cx, conversation, &draft)?,
        false => drafts::keep_as_draft(tx, cx, conversation, &draft)?,
    };
    let message = &result.message_id;
    attachments::attach_to_message(tx, cx.actor.ws, place.key(), me, (&conversation.id, message))?;
    forget_autosave(tx, cx, place)?;
    Ok(result)
}

/// Adds the chosen files of a message that is passed on to the actor's unsent text.
fn add_forwarded_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    forwarded: &ForwardedMessage,
) -> Result<()> {
    let ws = cx.actor.ws;
    let known: Option<(bool,)> = tx.opt(
        "SELECT secure FROM messages
         WHERE ws = ?1 AND id = ?2 AND conversation = ?3 AND counted_at IS NOT NULL",
        &[&ws, &forwarded.id, &conversation.id],
    )?;
    let (is_secure,) = known.ok_or(Error::NotFound("message"))?;
    if is_secure {
        return Err(Error::invalid("send", "A protected message cannot be passed on."));
    }
    let mut files: Vec<StoredAttachment> = Vec::new();
    for file in &forwarded.files {
        let (table, id) = match file {
            FileLocation::Document(id) => ("documents", id.as_str()),
            FileLocation::Attachment(id) => ("attachments", id.as_str()),
            FileLocation::Protected(..) => return Err(Error::NotFound("file")),
        };
        let found: Option<StoredAttachment> = tx.opt(
            &format!(
                "SELECT {} FROM {table} stored
                 WHERE ws = ?1 AND id = ?2 AND conversation = ?3 AND message = ?4",
                StoredAttachment::COLUMNS
            ),
            &[&ws, &id, &conversation.id, &forwarded.id],
        )?;
        files.push(found.ok_or(Error::NotFound("file"))?);
    }
    attachments::add_stored(tx, cx, conversation.id.as_str(), own_id(cx)?, &files)
}

fn check(message: &NewReply) -> Result<()> {
    let problems = problems(message);
    if problems.0.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

fn problems(message: &NewReply) -> ValidationErrors {
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    // Whoever passes a message on need not add words.
    if message.body.trim().is_empty() && message.forwards.is_none() {
        add("body", "Write something first.".into());
    } else if message.body.contains('\0') || message.body.chars().count() > REPLY_CHARS {
        add("body", too_long());
    }
    if let Some(sentence) = message.recipients.problem() {
        add("to", sentence);
    }
    if message.close && message.times.follow_up_at.is_some() {
        add("followUpAt", "A conversation that is closed does not come back. Press Send.".into());
    }
    problems
}

/// A line of addresses as it is typed: `Bo Li <bo@example.com>, ann@example.com`.
pub fn recipient_line(parties: &[Party]) -> String {
    let one = |party: &Party| match &party.name {
        Some(name) if !name.is_empty() && !name.contains(['<', '>', ',', ';', '"']) => {
            format!("{name} <{}>", party.email)
        }
        _ => party.email.clone(),
    };
    parties.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Reads a line of addresses with commas between them: `ann@example.com, Bo Li <bo@example.com>`.
/// The error is the part that is no address.
pub fn parties(line: &str) -> Result<Vec<Party>, String> {
    let mut parties: Vec<Party> = Vec::new();
    for part in line.split([',', ';', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
        let (name, email) = match part.strip_suffix('>').and_then(|part| part.rsplit_once('<')) {
            Some((name, email)) => (Some(name.trim().trim_matches('"')), email.trim()),
            None => (None, part),
        };
        if !mail::is_address(email) || name.is_some_and(|name| name.contains(char::is_control)) {
            return Err(part.to_owned());
        }
        let email = String::from(EmailAddress::new(email));
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        if !parties.iter().any(|known| known.email == email) {
            parties.push(Party { name, email });
        }
    }
    Ok(parties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_addresses_names_each_once_or_says_what_is_wrong() {
        let read = |line| {
            parties(line).map(|parties| {
                let shown = parties.iter().map(|party| {
                    format!("{}/{}", party.name.as_deref().unwrap_or("-"), party.email)
                });
                shown.collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(read("ann@example.com").as_deref(), Ok("-/ann@example.com"));
        assert_eq!(
            read("Bo Li <Bo@Example.com>; \"Cy\" <cy@example.com>, bo@example.com,").as_deref(),
            Ok("Bo Li/bo@example.com Cy/cy@example.com")
        );
        assert_eq!(read("").as_deref(), Ok(""));
        assert_eq!(read("ann@example.com, nonsense"), Err("nonsense".into()));
        assert_eq!(read("a\u{7}b <ann@example.com>"), Err("a\u{7}b <ann@example.com>".into()));
    }
}
