//! The mail about a draft that waits, to somebody who chose to approve by mail: the draft as it stands, and a link to
//! its page. Of inboxes that not everybody sees, and of protected messages, no word is in it.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MessageId, RequestId, UserId};
use db::Tx;
use model::conversations;
use model::documents::document_requests::{self, RequestedDocument};
use model::messages::helper_drafts;
use model::messages::recipients::{self, Party};
use model::people::agent_limits::unusual::{self, JudgedMessage};
use model::people::agent_limits::words::words_of_message;
use model::people::notifications::notified_conversation::NotifiedConversation;
use model::people::notifications::settings::NoticeSettings;
use model::people::notifications::wording::{NoticeMail, clip, footer};
use model::times::local_times::LocalTimes;
use translation::t;

use crate::approval_links;
use crate::unusual_words::unusual_sentence;

/// Characters of a draft that its mail has.
const TEXT_CHARS: usize = 4_000;
const NAME_CHARS: usize = 80;
const SUBJECT_CHARS: usize = 160;

db::row! {
    /// The newest draft of a conversation that waits for somebody else than its writer.
    struct MailedDraft from "m" {
        id: MessageId,
        text: String,
        revision: i64,
        author: Option<String>,
        author_name: String = "coalesce(m.from_name, '')",
        request: Option<RequestId>,
        has_files: bool = "m.attachments <> '[]' OR m.forwards IS NOT NULL",
        secure: bool,
    }
}

/// The mail that tells a person of a draft; `None` for those who did not choose it, and where a mail may name nothing:
/// they are told as of everything else.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    told: &NotifiedConversation,
    settings: &NoticeSettings,
) -> Result<Option<NoticeMail>> {
    if !settings.approves_by_mail || told.circle.is_closed() {
        return Ok(None);
    }
    let ws = cx.actor.ws;
    let draft: Option<MailedDraft> = tx.opt(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.status = 'draft' AND m.discarded_at IS NULL
               AND coalesce(m.author, '') <> ?3
             ORDER BY m.at DESC, m.id DESC LIMIT 1",
            MailedDraft::COLUMNS
        ),
        &[&ws, &told.id, person],
    )?;
    let Some(draft) = draft else { return Ok(None) };
    let (link, until) = approval_links::make(tx, cx, person, (&draft.id, draft.revision))?;
    let facts = facts_of(tx, cx, &told.id, &told.circle, &draft)?;
    let link = Link { address: link, until: facts.times.clock(until) };
    Ok(Some(write(cx.public_url, &draft, &facts, &link, settings.shows_names)))
}

struct Link {
    address: String,
    until: String,
}

/// What a mail says beside the draft's words.
struct DraftFacts {
    contact: String,
    subject: String,
    to: Vec<String>,
    copies: Vec<String>,
    /// The documents that it asks for, as the customer reads it.
    asks: Vec<String>,
    sources: Vec<String>,
    unusual: Vec<String>,
    is_marked: bool,
    times: LocalTimes,
}

fn facts_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ConversationId,
    circle: &Circle,
    draft: &MailedDraft,
) -> Result<DraftFacts> {
    let ws = cx.actor.ws;
    let reader = base::actor::Actor::system(ws, cx.actor.workspace.clone(), circle.clone());
    let cx = &Cx { actor: &reader, ..*cx };
    let conversation = conversations::load(tx, cx.actor, id.as_str())?;
    let recipients = recipients::of_message(tx, ws, &draft.id)?;
    let documents = match &draft.request {
        Some(request) => document_requests::documents_of(tx, ws, request)?,
        None => Vec::new(),
    };
    let asked = documents.iter().map(RequestedDocument::words);
    let judged = JudgedMessage {
        recipients: &recipients,
        words: &words_of_message(&conversation, &draft.text, asked),
        has_files: draft.has_files,
        is_secure: draft.secure,
        summary: None,
    };
    let is_persons = draft.author.as_deref().is_some_and(|id| UserId::parse(id).is_some());
    let found = match is_persons {
        true => Vec::new(),
        false => unusual::find(tx, cx, &conversation, &judged)?,
    };
    let sources = helper_drafts::in_conversation(tx, ws, id)?.remove(&draft.id);
    let names = |parties: &[Party]| parties.iter().map(|party| party.email.clone()).collect();
    let contact = conversation.contact_name.clone().filter(|name| !name.trim().is_empty());
    Ok(DraftFacts {
        contact: contact.unwrap_or_else(|| conversation.contact_email.to_string()),
        subject: conversation.subject.clone(),
        to: names(&recipients.to),
        copies: recipients.cc.iter().chain(&recipients.bcc).map(|it| it.email.clone()).collect(),
        asks: documents.iter().map(RequestedDocument::line).collect(),
        sources: sources.into_iter().flatten().map(|source| source.title).collect(),
        unusual: found.iter().filter_map(unusual_sentence).collect(),
        is_marked: conversation.is_marked(),
        times: LocalTimes::of(tx, ws, &conversation.mailbox)?,
    })
}

fn write(
    public_url: &str,
    draft: &MailedDraft,
    facts: &DraftFacts,
    link: &Link,
    names: bool,
) -> NoticeMail {
    let contact = clip(&facts.contact, NAME_CHARS);
    let named = names && !draft.secure;
    let subject = match named {
        true => t!("To approve: a reply to {contact}", contact),
        false => t!("A draft waits for approval").to_owned(),
    };
    let mut parts: Vec<String> = Vec::new();
    if named {
        let about = clip(&facts.subject, SUBJECT_CHARS);
        parts.push(match draft.author_name.trim() {
            "" => t!("A reply to {contact} waits for you: \"{about}\".", contact, about),
            by => {
                let by = clip(by, NAME_CHARS);
                t!(
                    "{by} wrote a reply to {contact}, \"{about}\". It waits for you.",
                    by,
                    contact,
                    about
                )
            }
        });
        parts.push(quote(&draft.text));
        parts.push(t!("It goes to: {to}", to = facts.to.join(", ")));
        if !facts.copies.is_empty() {
            parts.push(t!("Copies go to: {to}", to = facts.copies.join(", ")));
        }
        if !facts.asks.is_empty() {
            parts.push(t!("It asks for: {documents}", documents = facts.asks.join("; ")));
        }
        if !facts.sources.is_empty() {
            parts.push(t!("It rests on: {sources}", sources = facts.sources.join(", ")));
        }
    } else {
        parts.push(format!("{}.", t!("A draft waits for approval")));
        if draft.secure {
            parts.push(t!("It is a protected message: its words stand in Mailroom alone.").into());
        }
    }
    if named && !facts.unusual.is_empty() {
        let lines = facts.unusual.iter().map(|sentence| format!("- {sentence}"));
        let lines: Vec<String> = lines.collect();
        parts.push(format!("{}:\n{}", t!("Unusual about this draft"), lines.join("\n")));
    }
    if facts.is_marked {
        let sentence = t!("The mail that it answers was marked as a risk. Check before you act.");
        parts.push(sentence.into());
    }
    let address = &link.address;
    parts.push(t!("Look and approve: {address}", address));
    let address = format!("{public_url}/approvals/{}", draft.id);
    parts.push(t!("Change it in Mailroom: {address}", address));
    let until = &link.until;
    parts.push(t!(
        "The link works until {until}, and for you alone. Opening it approves nothing, and neither does an \
         answer to this mail.",
        until
    ));
    parts.push(footer(public_url));
    NoticeMail { subject, text: parts.join("\n\n") }
}

/// The words of a draft, marked as such in each line.
fn quote(text: &str) -> String {
    let mut words: String = text.chars().take(TEXT_CHARS).collect();
    if words.len() < text.len() {
        words.push('…');
    }
    let lines = words.lines().map(|line| format!("> {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
