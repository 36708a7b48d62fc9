//! What a form has written already: a second click, a retry of the browser and the back button post it again,
//! and it is written once.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MailboxId, MessageId};
use base::limits::ATTACHMENTS;
use base::time::Moment;
use bookings::offers::{self, OfferInput};
use db::Tx;
use model::conversations::Conversation;
use model::documents::document_requests::RequestedDocument;
use model::guests::secure;
use model::messages::attachments;
use model::messages::recipients::{self, RecipientList};
use model::messages::written_text::WrittenText;
use outbound::drafts::{ReplyResult, ReplyStatus};
use outbound::messages::{self, OutgoingMessage};

use crate::sign_in::sessions::own_id;
use crate::writing::autosaves::{AutosaveKey, load_autosave};
use crate::writing::seen::SeenConversation;
use crate::writing::unsent_files;

/// Own messages, the newest first, that a posted one is compared with.
const COMPARED: i64 = 10;

/// A message as its form has it.
#[derive(Clone, Copy)]
pub(crate) struct PostedMessage<'a> {
    pub words: &'a WrittenText,
    pub recipients: &'a RecipientList,
    /// False for a draft.
    pub sends: bool,
    /// The message that it passes on.
    pub forwards: Option<&'a MessageId>,
    /// `None` where the form does not say.
    pub secure: Option<bool>,
    pub offer: Option<&'a OfferInput>,
    pub documents: &'a [RequestedDocument],
    /// Where its files are until it is written, if it takes files along.
    pub place: Option<&'a AutosaveKey>,
}

/// What the actor's form wrote in a conversation since its page was shown.
pub(crate) fn written_since(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    posted: &PostedMessage<'_>,
    seen: SeenConversation,
) -> Result<Option<ReplyResult>> {
    let own: Vec<OutgoingMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.serial >= ?3 AND m.author = ?4
               AND m.discarded_at IS NULL AND {}
             ORDER BY m.serial DESC LIMIT ?5",
            OutgoingMessage::COLUMNS,
            posted.state()
        ),
        &[&cx.actor.ws, &conversation.id, &seen.next_number, own_id(cx)?, &COMPARED],
    )?;
    let written = find_same(tx, cx, own, posted)?;
    written.map(|message| repeat_result(tx, cx, message, posted)).transpose()
}

/// The conversation that the actor's form began since its page was shown, with its first mail.
pub(crate) fn begun_since(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (mailbox, subject): (&MailboxId, &str),
    posted: &PostedMessage<'_>,
    opened_at: i64,
) -> Result<Option<(ConversationId, ReplyResult)>> {
    let Some(contact) = posted.recipients.to.first() else { return Ok(None) };
    let me = own_id(cx)?;
    // Two at once have no other row in common: the second of them runs again and finds the first.
    tx.exec("UPDATE users SET name = name WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, me])?;
    let own: Vec<OutgoingMessage> = tx.all(
        &format!(
            "SELECT {} FROM conversations c
             JOIN messages m ON m.ws = c.ws AND m.conversation = c.id
             WHERE c.ws = ?1 AND c.mailbox = ?2 AND c.contact_email = ?3 AND c.created_at >= ?4
               AND c.subject = ?5 AND m.author = ?6 AND m.discarded_at IS NULL AND {}
             ORDER BY c.created_at DESC, m.serial DESC LIMIT ?7",
            OutgoingMessage::COLUMNS,
            posted.state()
        ),
        &[&cx.actor.ws, mailbox, &contact.email, &opened_at, &subject, me, &COMPARED],
    )?;
    let Some(message) = find_same(tx, cx, own, posted)? else { return Ok(None) };
    let conversation = message.conversation.clone();
    Ok(Some((conversation, repeat_result(tx, cx, message, posted)?)))
}

fn find_same(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    own: Vec<OutgoingMessage>,
    posted: &PostedMessage<'_>,
) -> Result<Option<OutgoingMessage>> {
    for message in own {
        let message = messages::with_words(tx, cx, message)?;
        if posted.is_like(&message)
            && is_to_the_same(tx, cx, &message, posted)?
            && offers_the_same(tx, cx, &message, posted)?
            && asks_for_the_same(tx, cx, &message, posted)?
            && has_its_files(tx, cx, &message, posted)?
        {
            return Ok(Some(message));
        }
    }
    Ok(None)
}

impl PostedMessage<'_> {
    /// The states of a message that this form wrote. One that was stopped or failed is written again.
    fn state(&self) -> &'static str {
        match self.sends {
            true => "m.status IN ('scheduled', 'sending', 'sent')",
            false => "m.status = 'draft'",
        }
    }

    fn is_like(&self, message: &OutgoingMessage) -> bool {
        let words = match (&message.markdown, &self.words.markdown) {
            (Some(kept), Some(posted)) => self.fits(kept, posted),
            (None, None) => self.fits(&message.text, &self.words.text),
            _ => false,
        };
        let is_protected_alike = self.secure.is_none_or(|secure| secure == message.secure);
        words && is_protected_alike && message.forwards.as_ref() == self.forwards
    }

    /// Links stand under the words once it was sent.
    fn fits(&self, kept: &str, posted: &str) -> bool {
        let has_links = self.offer.is_some() || !self.documents.is_empty();
        kept == posted || (has_links && kept.starts_with(&format!("{}\n\n", posted.trim_end())))
    }
}

fn is_to_the_same(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    posted: &PostedMessage<'_>,
) -> Result<bool> {
    let kept = recipients::of_message(tx, cx.actor.ws, &message.id)?;
    Ok(addresses(&kept) == addresses(posted.recipients))
}

/// To, Cc and Bcc.
fn addresses(list: &RecipientList) -> [Vec<&str>; 3] {
    [&list.to, &list.cc, &list.bcc]
        .map(|parties| parties.iter().map(|party| party.email.as_str()).collect())
}

fn offers_the_same(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    posted: &PostedMessage<'_>,
) -> Result<bool> {
    let kept = offers::of_message(tx, cx.actor.ws, &message.id)?;
    Ok(match (kept, posted.offer) {
        (None, None) => true,
        (Some(kept), Some(offer)) => {
            let mut times: Vec<i64> = offer.times.iter().map(|time| time.0).collect();
            times.sort_unstable();
            times.dedup();
            kept.type_id.as_str() == offer.type_id && kept.times.0 == times
        }
        _ => false,
    })
}

fn asks_for_the_same(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    posted: &PostedMessage<'_>,
) -> Result<bool> {
    let asked: Vec<(String,)> = match &message.request {
        Some(request) => tx.all(
            "SELECT label FROM requested_documents WHERE ws = ?1 AND request = ?2 ORDER BY place",
            &[&cx.actor.ws, request],
        )?,
        None => Vec::new(),
    };
    let labels = posted.documents.iter().map(|document| document.label.trim());
    Ok(asked.iter().map(|(label,)| label.as_str()).eq(labels))
}

/// True unless files were added since, which would not go along. The first time took those that were there.
fn has_its_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
    posted: &PostedMessage<'_>,
) -> Result<bool> {
    let Some(place) = posted.place else { return Ok(true) };
    let unsent = unsent_files::list(tx, cx, place)?;
    if unsent.is_empty() {
        return Ok(true);
    }
    let kept: Vec<(String, i64)> = if message.secure {
        let files = secure::load(tx, cx, &message.id)?.files.into_iter();
        files.map(|file| (file.filename, file.size)).collect()
    } else {
        let (ids, most) = ([message.id.clone()], ATTACHMENTS as i64);
        let files = attachments::of_messages(tx, cx.actor.ws, &ids, most)?.into_iter();
        files.map(|file| (file.filename, file.size)).collect()
    };
    Ok(unsent.into_iter().all(|file| kept.contains(&(file.filename, file.size))))
}

/// The answer to the form that came again. What it left in the composer is written already.
fn repeat_result(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: OutgoingMessage,
    posted: &PostedMessage<'_>,
) -> Result<ReplyResult> {
    if let Some(place) = posted.place {
        let words = posted.words.markdown.as_deref().unwrap_or(&posted.words.text);
        let saved = load_autosave(tx, cx, place)?;
        if saved.is_none_or(|saved| saved.body.trim() == words.trim()) {
            unsent_files::discard_autosave(tx, cx, place)?;
        }
    }
    let (sends_at,): (Option<i64>,) = tx.one(
        "SELECT sends_at FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    Ok(ReplyResult {
        message_id: message.id,
        status: if posted.sends { ReplyStatus::Scheduled } else { ReplyStatus::Draft },
        sends_at: sends_at.map(Moment),
        request_id: message.request,
        note: "Was written already.".into(),
        other_drafts: Vec::new(),
        policy: None,
    })
}
