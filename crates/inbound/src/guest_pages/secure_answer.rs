//! What a customer writes on a secure page, filed as a message of its conversation.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::{self, Blob};
use base::ids::MessageId;
use base::limits::REPLY_CHARS;
use base::states::{Direction, Removal};
use db::Tx;
use mail::Address;
use model::contacts::{self, ContactEvidence};
use model::conversations::timeline::RetiredBy;
use model::conversations::trash;
use model::conversations::{self, Conversation};
use model::figures::counted_mail::{self, CountedMail};
use model::figures::report_facts::count_received;
use model::guests::guest_forms::GuestFormId;
use model::guests::secure::{
    self, ANSWER_FILES, LinkState, PROTECTED, ProtectedContent, ProtectedFile, SENT_BEFORE,
    SecureLink,
};
use model::indexing::search_index;
use model::mailboxes::{self, Mailbox};
use model::messages::helper_drafts;
use model::messages::mail_language;
use model::messages::recipients::{self, Party, RecipientList};
use model::people::notices::{self, CustomerNotice, Notice};
use model::times::local_times::LocalTimes;
use outbound::messages::{self, NewMessage};
use search::{IndexRowKey, IndexedText};
use translation::t;

use crate::receive::{InboundAnnouncement, announce, hold, warn};
use crate::risk;

/// An answer as it was written on the page. Its files are sealed and stored already.
#[derive(Clone)]
pub struct SecureAnswer {
    pub text: String,
    pub files: Vec<(ProtectedFile, Blob)>,
    /// The form that it was sent from.
    pub form: Option<GuestFormId>,
}

/// Files an answer. Its sender is the address that was proven by a code. The scam check reads its words
/// here and nowhere else. What its form has sent before is not filed again.
pub fn receive_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    answer: &SecureAnswer,
) -> Result<MessageId> {
    check(answer)?;
    // Wrong codes of somebody else do not stop a reader who has proven the address.
    if link.state == LinkState::Closed {
        return Err(Error::NotFound("page"));
    }
    if let Some(earlier) = sent_before(tx, cx, link, answer)? {
        return Ok(earlier);
    }
    let mut conversation = conversations::load(tx, cx.actor, link.conversation.as_str())?;
    let is_open = quotas::takes_mail(tx, cx.actor.ws)?
        && !mailboxes::is_deleted(tx, cx.actor.ws, &conversation.mailbox)?;
    if !conversation.circle.is_sandbox() && !is_open {
        return Err(Error::invalid("text", Error::ClosedForNow.to_string()));
    }
    let mailbox = mailboxes::seen_by(tx, cx.actor, &conversation.mailbox)?;
    let mailbox = mailbox.ok_or(Error::NotFound("page"))?;
    // What was deleted comes back when somebody writes.
    if conversation.removed == Some(Removal::Trash) {
        trash::set_removed(tx, cx, &mut conversation, None)?;
    }
    let subject = reply_subject(&conversation);
    let from = author(&conversation, link);
    let sender = Address { name: from.name.clone(), email: from.email.clone() };
    let warning = risk::protected_warning(tx, cx, &mailbox, sender, &subject, &answer.text)?;
    let is_spam = conversation.removed == Some(Removal::Spam);
    let suspicious = warning.as_ref().is_some_and(|warning| warning.hold);
    let was_held = conversation.held;
    let held = was_held || (suspicious && !is_spam);
    let id = MessageId::new(cx.ids, cx.now);
    for (_, blob) in &answer.files {
        blobs::keep(tx, cx.actor.ws, blob)?;
    }
    write(tx, cx, (&conversation, &mailbox), &from, &id, held)?;
    let content = ProtectedContent {
        text: mail::clean_text(&answer.text),
        files: answer.files.iter().map(|(file, _)| file.clone()).collect(),
        ..ProtectedContent::default()
    };
    secure::insert(tx, cx, (&conversation.id, &id), &content, 0)?;
    if let Some(form) = &answer.form {
        secure::note_form(tx, cx, link, form, &id)?;
    }
    let counted = CountedMail {
        at: cx.now,
        direction: Direction::Inbound,
        automatic: false,
        secure_answer: Some(true),
        text: PROTECTED,
        // No helper sees protected words.
        sorts: false,
    };
    counted_mail::count_mail(tx, cx, &mut conversation, &counted)?;
    helper_drafts::retire(tx, cx, &conversation, None, RetiredBy::Customer)?;
    conversation.secure_answer = true;
    warn(tx, cx, &mut conversation, &id, warning.as_ref())?;
    match (held, was_held) {
        (true, false) => hold(tx, cx, &conversation)?,
        (true, true) => {}
        (false, _) => {
            count_received(tx, cx, &conversation.report_place(), cx.now)?;
            announce(tx, cx, &mut conversation, &id, InboundAnnouncement::Reply)?;
        }
    }
    confirm(tx, cx, &conversation, link, &subject)?;
    Ok(id)
}

fn check(answer: &SecureAnswer) -> Result<()> {
    let text = &answer.text;
    if text.trim().is_empty() && answer.files.is_empty() {
        return Err(Error::invalid("text", "Write something, or attach a file."));
    }
    if text.contains('\0') || text.chars().count() > REPLY_CHARS {
        return Err(Error::invalid("text", "This is too long for one reply. Send it in parts."));
    }
    if answer.files.len() > ANSWER_FILES {
        let sentence = format!("A reply has at most {ANSWER_FILES} files.");
        return Err(Error::invalid("files", sentence));
    }
    Ok(())
}

/// The same answer, if its form has sent it already. Other words are refused, so that none are lost.
fn sent_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    link: &SecureLink,
    answer: &SecureAnswer,
) -> Result<Option<MessageId>> {
    let Some(form) = &answer.form else { return Ok(None) };
    let Some(earlier) = secure::earlier_answer(tx, cx, link, form)? else { return Ok(None) };
    let files = answer.files.iter();
    let files = files.map(|(file, _)| (file.filename.as_str(), file.digest.clone()));
    if earlier.is_same(&answer.text, files) {
        Ok(Some(earlier.id))
    } else {
        Err(Error::invalid("text", SENT_BEFORE))
    }
}

/// The proven address, with the name that the conversation knows it by.
fn author(conversation: &Conversation, link: &SecureLink) -> Party {
    let is_contact = conversation.contact_email == link.email.as_str();
    let name = conversation.contact_name.clone().filter(|_| is_contact);
    Party { name, email: link.email.clone() }
}

fn reply_subject(conversation: &Conversation) -> String {
    match conversation.subject.get(..3) {
        Some(start) if start.eq_ignore_ascii_case("re:") => conversation.subject.clone(),
        _ => format!("Re: {}", conversation.subject),
    }
}

fn write(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (conversation, mailbox): (&Conversation, &Mailbox),
    from: &Party,
    id: &MessageId,
    held: bool,
) -> Result<()> {
    let inbox = Party { name: None, email: mailbox.address.as_str().to_owned() };
    let header_id = format!("{id}@{}", mailbox.address.message_id_domain());
    let withheld = held.then_some(InboundAnnouncement::Reply.as_str());
    let message = NewMessage {
        id: id.clone(),
        direction: Direction::Inbound,
        status: None,
        at: cx.now,
        counted_at: Some(cx.now),
        header_id: &header_id,
        header_key: None,
        answers: &[],
        from: from.clone(),
        recipients: RecipientList { to: vec![inbox], ..RecipientList::default() },
        subject: &conversation.subject,
        text: PROTECTED,
        attachments: Vec::new(),
        raw_hash: None,
        // No mail says the same.
        content_hash: Some(id.as_str()),
        has_html: false,
        authentication: None,
        withheld,
        author: None,
        summary: None,
        request: None,
        sends_at: None,
        markdown: None,
        forwards: None,
        secure: true,
    };
    let serial = messages::insert(tx, cx, conversation, &message)?;
    recipients::add_participant(tx, cx.actor.ws, &conversation.id, &from.email)?;
    if !held {
        contacts::note(tx, cx, &conversation.circle, from, ContactEvidence::Proven)?;
    }
    let text = IndexedText {
        subject: &conversation.subject,
        from: search_index::names(from).collect(),
        ..IndexedText::default()
    };
    let place = IndexRowKey { num: conversation.num, conversation: &conversation.id, serial };
    search::index_mail(tx, cx.actor.ws, place, &text)
}

/// A line to the customer that the answer is here, without a word of it.
fn confirm(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    link: &SecureLink,
    subject: &str,
) -> Result<()> {
    let (firm, header_id): (String, String) = tx.one(
        "SELECT w.name, m.header_id FROM messages m JOIN workspaces w ON w.ws = m.ws
         WHERE m.ws = ?1 AND m.id = ?2",
        &[&cx.actor.ws, &link.message],
    )?;
    let times = LocalTimes::of(tx, cx.actor.ws, &conversation.mailbox)?;
    let reader = mail_language::of_conversation(tx, cx.actor.ws, &conversation.id)?;
    let text = reader.run(|| {
        let arrived = t!(
            "Your reply on the protected page arrived at {firm} on {day} at {clock}.",
            firm,
            day = times.day(cx.now),
            clock = times.clock(cx.now)
        );
        let stays = t!(
            "The page stays open until {time}. Use the link in the earlier mail to read it again.",
            time = times.moment(link.expires_at)
        );
        format!("{arrived}\n\n{stays}\n")
    });
    let notice = CustomerNotice {
        mailbox: &conversation.mailbox,
        from_name: &firm,
        email: &link.email,
        answers: Some(&header_id),
        conversation: None,
        calendar: None,
        notice: Notice { subject, text: &text },
    };
    notices::write_to_customer(tx, cx, &conversation.circle, &notice)
}
