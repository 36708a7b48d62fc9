//! An answer made of a reply that was sent: what belongs to one customer is marked for removal.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AnswerId, MessageId};
use base::states::MessageStatus;
use db::Tx;
use drafting::examples::{self, ReplyLesson};
use drafting::matching::GAP;
use drafting::named_entities::{NamedEntity, NamedEntityKind, named_entities};
use model::conversations::Conversation;
use model::messages::answers::language_of;
use model::messages::placeholders::first_word;
use model::people::members;
use outbound::messages::{self, OutgoingMessage};

use crate::writing::answers::{AnswerInput, add_answer};

/// Particulars of one reply that are marked.
const MARKED: usize = 60;

/// A reply as the form for a new answer shows it.
#[derive(Clone, Debug)]
pub struct ReplyAsAnswer {
    pub input: AnswerInput,
    /// What belongs to this customer: what it is, and its words. Each once.
    pub particulars: Vec<(NamedEntityKind, String)>,
}

/// A sent reply as an answer that can be saved: names become placeholders, other particulars are
/// marked for removal.
pub fn reply_as_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<ReplyAsAnswer> {
    let (message, conversation) = sent_reply(tx, cx, id)?;
    let names = ReplyNames::of(tx, cx, &conversation, id)?;
    let body = message.markdown.as_deref().unwrap_or(&message.text);
    let body = with_placeholders(body, &names);
    let mut marked: Vec<(NamedEntityKind, String)> = Vec::new();
    for found in named_entities(&body, &names.all) {
        let words = body[found.start..found.end].to_owned();
        if !marked.iter().any(|(_, known)| *known == words) && marked.len() < MARKED {
            marked.push((found.kind, words));
        }
    }
    let is_private = conversation.circle.is_closed();
    let inboxes = if is_private { vec![conversation.mailbox.to_string()] } else { Vec::new() };
    let input = AnswerInput {
        title: title(&conversation.subject, &names.all).to_owned(),
        language: language_of(&body).unwrap_or_default().to_owned(),
        body,
        inboxes,
        ..AnswerInput::default()
    };
    Ok(ReplyAsAnswer { input, particulars: marked })
}

/// Saves an answer made of a reply; the mail that the reply answered is its first use. `removed` are
/// the particulars that a gap takes the place of.
pub fn add_answer_from_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
    input: &AnswerInput,
    removed: &[String],
) -> Result<AnswerId> {
    let (_, conversation) = sent_reply(tx, cx, id)?;
    let names = ReplyNames::of(tx, cx, &conversation, id)?;
    let body = with_gaps(&input.body, &names.all, removed);
    let answer = add_answer(tx, cx, &AnswerInput { body, ..input.clone() })?;
    let lesson = ReplyLesson::of_answer(tx, cx.actor.ws, &conversation, id, &answer)?;
    if let Some(lesson) = lesson {
        examples::record(tx, cx, &conversation, &lesson)?;
    }
    Ok(answer)
}

fn sent_reply(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MessageId,
) -> Result<(OutgoingMessage, Conversation)> {
    let (message, conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    match message.status {
        MessageStatus::Sent => Ok((message, conversation)),
        _ => Err(Error::NotFound("message")),
    }
}

/// The names that a reply can have.
struct ReplyNames {
    customer: String,
    sender: String,
    /// These two and the team's.
    all: Vec<String>,
}

impl ReplyNames {
    fn of(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        conversation: &Conversation,
        reply: &MessageId,
    ) -> Result<ReplyNames> {
        let (sender,): (Option<String>,) = tx.one(
            "SELECT from_name FROM messages WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, reply],
        )?;
        let name = |name: &Option<String>| name.as_deref().unwrap_or("").trim().to_owned();
        let (customer, sender) = (name(&conversation.contact_name), name(&sender));
        let team = members::people(tx, cx.actor.ws)?.into_iter().map(|person| person.name);
        let all = [customer.clone(), sender.clone()].into_iter().chain(team);
        let all = all.filter(|name| !name.is_empty()).collect();
        Ok(ReplyNames { customer, sender, all })
    }
}

/// A gap in place of each of these particulars, and of nothing that only has the same letters.
fn with_gaps(body: &str, names: &[String], removed: &[String]) -> String {
    let is_removed =
        |found: &NamedEntity| removed.iter().any(|words| *words == body[found.start..found.end]);
    replace_entities(
        body,
        named_entities(body, names)
            .iter()
            .filter(|found| is_removed(found))
            .map(|found| (found, GAP)),
    )
}

/// A text with something else in place of some of its particulars, which stand in their order.
fn replace_entities<'a>(
    body: &str,
    with: impl Iterator<Item = (&'a NamedEntity, &'static str)>,
) -> String {
    let mut shown = String::with_capacity(body.len());
    let mut done = 0;
    for (found, words) in with {
        shown.push_str(&body[done..found.start]);
        shown.push_str(words);
        done = found.end;
    }
    shown.push_str(&body[done..]);
    shown
}

/// The subject as a title; empty when it has particulars of this customer, because a title is shown
/// to the whole team and to the model.
fn title<'a>(subject: &'a str, names: &[String]) -> &'a str {
    let subject = without_reply_mark(subject);
    if named_entities(subject, names).is_empty() { subject } else { "" }
}

/// A subject without `Re:` before it.
fn without_reply_mark(subject: &str) -> &str {
    match subject.get(..3) {
        Some(mark) if mark.eq_ignore_ascii_case("re:") => subject[3..].trim(),
        _ => subject.trim(),
    }
}

/// The customer's name and the writer's as placeholders; those of others stay, as particulars.
fn with_placeholders(body: &str, names: &ReplyNames) -> String {
    let (customer, sender) = (names.customer.as_str(), names.sender.as_str());
    let placeholder = |found: &NamedEntity| match &body[found.start..found.end] {
        _ if found.kind != NamedEntityKind::Name => None,
        words if words == customer && words.contains(' ') => Some("{{name}}"),
        words if words == first_word(customer) => Some("{{first_name}}"),
        words if words == sender && words.contains(' ') => Some("{{my_name}}"),
        words if words == first_word(sender) => Some("{{my_first_name}}"),
        _ => None,
    };
    let found = named_entities(body, &names.all);
    replace_entities(body, found.iter().filter_map(|found| Some((found, placeholder(found)?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_with_particulars_is_no_title() {
        let names = ["Ann Berg".to_owned()];
        assert_eq!(title("Re: Fee twice", &names), "Fee twice");
        for subject in ["Fee of Ann Berg", "Re: Order 4711", "Fee of 9 November", "ann@x.example"] {
            assert_eq!(title(subject, &names), "", "{subject}");
        }
    }

    #[test]
    fn only_the_two_who_write_become_placeholders_and_only_what_is_marked_becomes_a_gap() {
        let names = ReplyNames {
            customer: "Ann Berg".to_owned(),
            sender: "Marit Aalto".to_owned(),
            all: ["Ann Berg", "Marit Aalto", "Bo Lind"].map(str::to_owned).into(),
        };
        let body = "Hello Ann, Bo Lind will call. Invoice 204 of 2024 is paid.\nMarit Aalto";
        let shown = with_placeholders(body, &names);
        assert!(shown.starts_with("Hello {{first_name}}, Bo Lind will call."), "{shown}");
        assert!(shown.ends_with("{{my_name}}"), "{shown}");
        let removed = ["204".to_owned(), "Bo Lind".to_owned()];
        let kept = with_gaps(&shown, &names.all, &removed);
        assert!(kept.contains(&format!("{GAP} will call. Invoice {GAP} of 2024")), "{kept}");
    }
}
