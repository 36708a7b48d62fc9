//! An answer made of a reply that was sent: what belongs to one customer is marked for removal.

use db::Tx;

use super::answers::{AnswerInput, add_answer};
use crate::app::Cx;
use crate::base::error::{Error, Result};
use crate::base::ids::{AnswerId, MessageId};
use crate::base::states::MessageStatus;
use crate::model::answers::language_of;
use crate::model::conversations::Conversation;
use crate::model::drafting::examples;
use crate::model::drafting::matching::GAP;
use crate::model::drafting::particulars::{ParticularKind, particulars};
use crate::model::members;
use crate::model::messages::{self, OutgoingMessage};
use crate::model::placeholders::first_word;

/// Particulars of one reply that are marked.
const MARKED: usize = 60;

/// A reply as the form for a new answer shows it.
#[derive(Clone, Debug)]
pub struct ReplyAsAnswer {
    pub input: AnswerInput,
    /// What belongs to this customer: what it is, and its words. Each once.
    pub particulars: Vec<(ParticularKind, String)>,
}

/// A sent reply as an answer that can be saved: names become placeholders, other particulars are
/// marked for removal.
pub fn reply_as_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<ReplyAsAnswer> {
    let (message, conversation) = sent_reply(tx, cx, id)?;
    let names = names(tx, cx, &conversation, id)?;
    let body = message.markdown.as_deref().unwrap_or(&message.text);
    let body = with_placeholders(body, &conversation, &names);
    let mut marked: Vec<(ParticularKind, String)> = Vec::new();
    for found in particulars(&body, &names) {
        let words = body[found.start..found.end].to_owned();
        if !marked.iter().any(|(_, known)| *known == words) && marked.len() < MARKED {
            marked.push((found.kind, words));
        }
    }
    let is_private = conversation.circle.person().is_some();
    let inboxes = if is_private { vec![conversation.mailbox.to_string()] } else { Vec::new() };
    let input = AnswerInput {
        title: title(&conversation.subject, &names).to_owned(),
        language: language_of(&body).unwrap_or_default().to_owned(),
        body,
        inboxes,
        valid_until: String::new(),
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
    let body = removed
        .iter()
        .filter(|words| !words.is_empty())
        .fold(input.body.clone(), |body, words| body.replace(words.as_str(), GAP));
    let answer = add_answer(tx, cx, &AnswerInput { body, ..input.clone() })?;
    examples::record(tx, cx, &conversation, id, Some(&answer))?;
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

/// The names of the customer, of the sender and of the team.
fn names(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    id: &MessageId,
) -> Result<Vec<String>> {
    let (sender,): (Option<String>,) =
        tx.one("SELECT from_name FROM messages WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let mut names: Vec<String> = sender.into_iter().collect();
    names.extend(conversation.contact_name.clone());
    names.extend(members::people(tx, cx.actor.ws)?.into_iter().map(|person| person.name));
    Ok(names)
}

/// The subject as a title; empty when it has particulars of this customer, because a title is shown
/// to the whole team and to the model.
fn title<'a>(subject: &'a str, names: &[String]) -> &'a str {
    let subject = without_reply_mark(subject);
    if particulars(subject, names).is_empty() { subject } else { "" }
}

/// A subject without `Re:` before it.
fn without_reply_mark(subject: &str) -> &str {
    match subject.get(..3) {
        Some(mark) if mark.eq_ignore_ascii_case("re:") => subject[3..].trim(),
        _ => subject.trim(),
    }
}

/// The customer's name and the writer's as placeholders.
fn with_placeholders(body: &str, conversation: &Conversation, names: &[String]) -> String {
    let customer = conversation.contact_name.as_deref().unwrap_or("").trim();
    let mut shown = String::with_capacity(body.len());
    let mut done = 0;
    for found in particulars(body, names) {
        let words = &body[found.start..found.end];
        let placeholder = match found.kind {
            ParticularKind::Name if words == customer && words.contains(' ') => "{{name}}",
            ParticularKind::Name if words == first_word(customer) => "{{first_name}}",
            ParticularKind::Name if !customer.contains(words) => {
                match names.iter().any(|name| name == words) {
                    true => "{{my_name}}",
                    false => "{{my_first_name}}",
                }
            }
            _ => continue,
        };
        shown.push_str(&body[done..found.start]);
        shown.push_str(placeholder);
        done = found.end;
    }
    shown.push_str(&body[done..]);
    shown
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
}
