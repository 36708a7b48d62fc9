//! Whether the conditions of a rule hold.

use base::error::Result;
use base::ids::MessageId;
use db::Tx;
use model::contacts;
use model::conversations::Conversation;
use model::fields::field_search;
use model::fields::stored_values::{self, FieldEntry};
use model::mailboxes::office_hours;
use model::rule_queue::RuleEvent;

use super::rule::{ConditionField, RuleCondition, TeamRule};

/// Characters of a mail that conditions look at.
const READ_CHARS: usize = 50_000;

/// What the conditions are held against.
pub struct RuleCase {
    pub sender: String,
    pub subject: String,
    /// Lower case; empty for what was written on a protected page.
    text: String,
    automatic: bool,
    is_known: bool,
    /// It came outside the office hours of its inbox.
    pub is_outside_hours: bool,
    pub arrived_at: i64,
    /// The fields of the conversation and its contact, as everybody who sees it knows them.
    fields: Vec<FieldEntry>,
}

/// The case of a conversation: the named mail, or the latest of the customer.
pub fn case_of(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
    message: Option<&MessageId>,
) -> Result<RuleCase> {
    let only = message.map_or("", |message| message.as_str());
    let found: Option<(String, String, String, bool, bool, i64)> = tx.opt(
        "SELECT from_email, subject, text, auto_reply OR no_automatic_reply, secure,
             coalesce(counted_at, at)
         FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND (?3 = '' OR id = ?3)
         ORDER BY at DESC, id DESC LIMIT 1",
        &[&ws, &conversation.id, &only],
    )?;
    let (sender, subject, text, automatic, secure, arrived_at) = found.unwrap_or_else(|| {
        let (sender, subject) = (conversation.contact_email.to_string(), &conversation.subject);
        (sender, subject.clone(), String::new(), false, false, conversation.last_message_at)
    });
    let text = if secure { String::new() } else { text };
    Ok(RuleCase {
        sender: sender.to_lowercase(),
        subject: subject.to_lowercase(),
        text: text.chars().take(READ_CHARS).collect::<String>().to_lowercase(),
        automatic,
        is_known: contacts::is_known(tx, ws, &conversation.id)?,
        is_outside_hours: office_hours::is_closed(tx, ws, &conversation.mailbox, arrived_at)?,
        arrived_at,
        fields: stored_values::known_about(tx, ws, conversation)?,
    })
}

/// True where a rule is for what happened.
pub fn is_for(rule: &TeamRule, event: RuleEvent, case: &RuleCase) -> bool {
    match rule.event {
        RuleEvent::Arrives => matches!(event, RuleEvent::Arrives | RuleEvent::Replies),
        RuleEvent::OutsideHours => {
            matches!(event, RuleEvent::Arrives | RuleEvent::Replies) && case.is_outside_hours
        }
        RuleEvent::Replies | RuleEvent::Tagged | RuleEvent::Unanswered => rule.event == event,
    }
}

/// The number of the first condition that does not hold; `None` where all do.
pub fn first_failing(
    rule: &TeamRule,
    case: &RuleCase,
    conversation: &Conversation,
) -> Option<usize> {
    rule.conditions.iter().position(|one| holds(one, case, conversation) == one.not)
}

/// True where the value is the case.
fn holds(condition: &RuleCondition, case: &RuleCase, conversation: &Conversation) -> bool {
    let wanted = condition.value.to_lowercase();
    let is = |found: Option<&str>| found.is_some_and(|found| found == wanted);
    match condition.field {
        ConditionField::Sender => case.sender.contains(&wanted),
        ConditionField::Domain => is_domain(&case.sender, &wanted),
        ConditionField::Subject => case.subject.contains(&wanted),
        ConditionField::Words => case.text.contains(&wanted) || case.subject.contains(&wanted),
        ConditionField::Inbox => is(Some(conversation.mailbox.as_str())),
        ConditionField::Topic => is(conversation.topic_id.as_ref().map(|id| id.as_str())),
        ConditionField::Urgency => is(conversation.urgency.map(|urgency| urgency.as_str())),
        ConditionField::Risk if wanted == ANY => conversation.risk.is_some(),
        ConditionField::Risk => is(conversation.risk.map(|risk| risk.as_str())),
        ConditionField::Language => is(conversation.language.as_deref()),
        ConditionField::Contact => (wanted == KNOWN) == case.is_known,
        ConditionField::Tag => conversation.tags.iter().any(|tag| tag.to_lowercase() == wanted),
        ConditionField::Automatic => (wanted == YES) == case.automatic,
        ConditionField::Field => field_search::parse_condition(&condition.value)
            .is_some_and(|query| field_search::is_among(&case.fields, &query)),
    }
}

/// Words that values are chosen from.
pub const ANY: &str = "any";
pub const KNOWN: &str = "known";
pub const YES: &str = "yes";

/// The domain itself, or one below it.
fn is_domain(sender: &str, wanted: &str) -> bool {
    let Some((_, domain)) = sender.rsplit_once('@') else { return false };
    domain == wanted || domain.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_itself_and_what_is_below_it() {
        assert!(is_domain("a@acme.example", "acme.example"));
        assert!(is_domain("a@mail.acme.example", "acme.example"));
        assert!(!is_domain("a@evilacme.example", "acme.example"));
        assert!(!is_domain("acme.example", "acme.example"));
    }
}
