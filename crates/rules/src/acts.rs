//! What a rule does. Each act goes the way of the same act by hand, so that timeline, events and
//! counters follow.

use base::actor::Circle;
use base::app::Cx;
use base::assignee::Assignee;
use base::error::Result;
use base::ids::{MemberId, SavedReplyId, TopicId, UserId};
use base::limits::HOUR_MS;
use base::states::{Status, Urgency, View};
use db::Tx;
use model::contacts::contact_addresses;
use model::conversations::sorting;
use model::conversations::tags::{self, TagName};
use model::conversations::timeline::{self, TimelineEvent};
use model::conversations::topics;
use model::conversations::{self, Conversation};
use model::fields::stored_values;
use model::fields::typed_value::FieldValue;
use model::fields::{self, CustomField, FieldOwner};
use model::messages::markdown_values::escape_markdown;
use model::messages::placeholder_values::PlaceholderValues;
use model::messages::placeholders::fill;
use model::messages::recipients::RecipientList;
use model::messages::written_text::{TextFormat, WrittenText};
use model::people::members::{self, Person};
use model::people::notices::{Notice, notify};
use model::rule_queue::RuleEvent;
use outbound::drafts::{self, DraftContent};
use serde_json::Map;

use super::rule::{IN_TURN, LEAST_BUSY, RuleAct, RuleActKind, TeamRule};
use super::words::split_field_act;

/// Open conversations of one person that are counted to find the least busy.
const COUNTED: i64 = 1_000;

/// Does one act; false where it does nothing, because what it names is gone by now. Who has a
/// conversation, its topic and its urgency are settled even where they stood so already.
pub fn perform(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: &TeamRule,
    act: &RuleAct,
    conversation: &mut Conversation,
) -> Result<bool> {
    match act.act {
        RuleActKind::Assign => assign(tx, cx, rule, &act.value, conversation),
        RuleActKind::Tag => tag(tx, cx, &act.value, conversation),
        RuleActKind::Topic => match TopicId::parse(&act.value) {
            Some(id) => {
                let topic = topics::all(tx, cx.actor.ws)?.into_iter().find(|one| one.id == id);
                sorting::set_by_rule(tx, cx, conversation, topic.as_ref(), None)
            }
            None => Ok(false),
        },
        RuleActKind::Urgency => {
            sorting::set_by_rule(tx, cx, conversation, None, Urgency::parse(&act.value))
        }
        RuleActKind::Snooze => snooze(tx, cx, &act.value, conversation),
        RuleActKind::Close if conversation.status == Status::Closed => Ok(false),
        RuleActKind::Close => {
            conversations::set_status(tx, cx, conversation, Status::Closed)?;
            Ok(true)
        }
        RuleActKind::Draft => draft(tx, cx, rule, &act.value, conversation),
        RuleActKind::Notify => tell(tx, cx, rule, &act.value, conversation),
        RuleActKind::SetField => set_field(tx, cx, &act.value, conversation),
    }
}

/// True where an act would change a conversation as it stands.
pub fn would_change(
    tx: &mut Tx<'_>,
    ws: i64,
    rule: &TeamRule,
    act: &RuleAct,
    conversation: &Conversation,
) -> Result<bool> {
    let value = act.value.as_str();
    let is_other = |found: Option<&str>| found != Some(value);
    Ok(match act.act {
        RuleActKind::Assign => {
            is_other(conversation.assignee.as_ref().map(|id| id.as_str()))
                && !keeps_assignee(tx, ws, rule, value, conversation)?
                && can_take(tx, ws, value, conversation)?
        }
        RuleActKind::Tag => {
            let tag = TagName::new(value).folded;
            !conversation.tags.iter().any(|one| one.to_lowercase() == tag)
        }
        RuleActKind::Topic => {
            is_other(conversation.topic_id.as_ref().map(|id| id.as_str()))
                && !sorting::is_by_member(conversation.topic_by.as_deref())
        }
        RuleActKind::Urgency => {
            is_other(conversation.urgency.map(|urgency| urgency.as_str()))
                && !sorting::is_by_member(conversation.urgency_by.as_deref())
        }
        RuleActKind::Snooze => can_snooze(conversation),
        RuleActKind::Close => conversation.status != Status::Closed,
        RuleActKind::Draft => !conversation.has_draft,
        RuleActKind::Notify => can_take(tx, ws, value, conversation)?,
        RuleActKind::SetField => match field_to_set(tx, ws, value)? {
            Some((field, wanted)) => {
                let known = stored_values::known_about(tx, ws, conversation)?;
                !known.iter().any(|entry| entry.key == field.key && entry.value == wanted)
            }
            None => false,
        },
    })
}

/// True for somebody who sees a conversation. Turns and the least busy are among those who do.
fn can_take(tx: &mut Tx<'_>, ws: i64, value: &str, conversation: &Conversation) -> Result<bool> {
    if matches!(value, IN_TURN | LEAST_BUSY) {
        return Ok(true);
    }
    let Some(id) = MemberId::parse(value) else { return Ok(false) };
    Ok(members::in_circle(tx, ws, &conversation.circle, &id)?.is_some())
}

/// True where a conversation keeps its assignee. Rules that mail starts never replace an assignee that a
/// member set; round robin and least busy apply only to unassigned conversations.
fn keeps_assignee(
    tx: &mut Tx<'_>,
    ws: i64,
    rule: &TeamRule,
    value: &str,
    conversation: &Conversation,
) -> Result<bool> {
    if conversation.assignee.is_none() {
        return Ok(false);
    }
    let is_anybody = matches!(value, IN_TURN | LEAST_BUSY);
    Ok(is_anybody || (is_for_mail(rule) && !is_by_rule(tx, ws, conversation)?))
}

fn assign(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: &TeamRule,
    value: &str,
    conversation: &mut Conversation,
) -> Result<bool> {
    let ws = cx.actor.ws;
    if keeps_assignee(tx, ws, rule, value, conversation)? {
        return Ok(true);
    }
    let to: Option<Assignee> = match value {
        IN_TURN => next_in_turn(tx, ws, rule, &conversation.circle)?,
        LEAST_BUSY => least_busy(tx, ws, &conversation.circle)?,
        id => match MemberId::parse(id) {
            Some(id) => members::in_circle(tx, ws, &conversation.circle, &id)?,
            None => None,
        },
    };
    let Some(to) = to else { return Ok(false) };
    if conversation.assignee.as_ref() == Some(&to.id) {
        return Ok(true);
    }
    conversations::assign(tx, cx, conversation, Some(&to))?;
    conversation.assignee = Some(to.id);
    Ok(true)
}

/// True for a rule that mail starts, rather than a member's tag or that nobody answers.
fn is_for_mail(rule: &TeamRule) -> bool {
    matches!(rule.event, RuleEvent::Arrives | RuleEvent::Replies | RuleEvent::OutsideHours)
}

/// True where a rule gave the conversation to whom it belongs.
fn is_by_rule(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<bool> {
    let (by_rule,): (bool,) = tx.one(
        "SELECT assigned_by_rule FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, &conversation.id],
    )?;
    Ok(by_rule)
}

/// The person after the one who got the last.
fn next_in_turn(
    tx: &mut Tx<'_>,
    ws: i64,
    rule: &TeamRule,
    circle: &Circle,
) -> Result<Option<Assignee>> {
    // Read again: another process may have given a conversation away meanwhile.
    let lock = tx.pick("", " FOR UPDATE");
    let (last,): (String,) = tx.one(
        &format!("SELECT last_assigned FROM rules WHERE ws = ?1 AND id = ?2{lock}"),
        &[&ws, &rule.id],
    )?;
    let mut people = members::people_in(tx, ws, circle)?;
    people.sort_by(|a, b| a.id.cmp(&b.id));
    let place = people.iter().position(|person| person.id.as_str() > last.as_str()).unwrap_or(0);
    let Some(next) = people.into_iter().nth(place) else { return Ok(None) };
    tx.exec_soon(
        "UPDATE rules SET last_assigned = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, &rule.id, &next.id],
    )?;
    Ok(Some(assignee(next)))
}

/// The person with the fewest open conversations among those who see the circle, in that circle.
fn least_busy(tx: &mut Tx<'_>, ws: i64, circle: &Circle) -> Result<Option<Assignee>> {
    let mut least: Option<(i64, Person)> = None;
    for person in members::people_in(tx, ws, circle)? {
        let (open,): (i64,) = tx.one(
            "SELECT CAST(count(*) AS BIGINT) FROM (
                 SELECT 1 FROM conversations
                 WHERE ws = ?1 AND circle = ?4 AND assignee = ?2 AND view = 'open' LIMIT ?3
             ) AS assigned",
            &[&ws, &person.id, &COUNTED, circle],
        )?;
        if least.as_ref().is_none_or(|(fewest, _)| open < *fewest) {
            least = Some((open, person));
        }
    }
    Ok(least.map(|(_, person)| assignee(person)))
}

fn assignee(person: Person) -> Assignee {
    Assignee::new(MemberId::User(person.id), person.name)
}

fn tag(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str, conversation: &mut Conversation) -> Result<bool> {
    let Some(added) = tags::put_on(tx, cx, conversation, &TagName::new(name))? else {
        return Ok(false);
    };
    tags::save_names(tx, cx, conversation)?;
    let tagged = TimelineEvent::Tagged { added: vec![added], removed: Vec::new() };
    timeline::record(tx, cx, &conversation.id, &tagged)?;
    Ok(true)
}

fn snooze(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    hours: &str,
    conversation: &mut Conversation,
) -> Result<bool> {
    let hours: i64 = hours.parse().unwrap_or(0);
    if hours <= 0 || !can_snooze(conversation) {
        return Ok(false);
    }
    conversations::snooze(tx, cx, conversation, cx.now + hours * HOUR_MS)?;
    Ok(true)
}

fn can_snooze(conversation: &Conversation) -> bool {
    conversation.status == Status::Open && conversation.view != View::Snoozed
}

/// Drafts a saved reply, unless a draft waits already. A person approves it, in their name.
fn draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: &TeamRule,
    reply: &str,
    conversation: &mut Conversation,
) -> Result<bool> {
    let Some(reply) = SavedReplyId::parse(reply).filter(|_| !conversation.has_draft) else {
        return Ok(false);
    };
    let found: Option<(String, String)> = tx.opt(
        "SELECT s.body, b.name FROM saved_replies s
         JOIN mailboxes b ON b.ws = s.ws AND b.id = ?3
         WHERE s.ws = ?1 AND s.id = ?2",
        &[&cx.actor.ws, &reply, &conversation.mailbox],
    )?;
    let Some((body, inbox)) = found else { return Ok(false) };
    let values = PlaceholderValues::of(tx, cx.actor.ws, conversation, &inbox)?;
    let body = fill(&body, |placeholder| Some(escape_markdown(&values.value_of(placeholder)?)));
    let written = WrittenText::new(&body, TextFormat::Markdown);
    let content = DraftContent {
        recipients: RecipientList::contact(conversation),
        text: &written.text,
        markdown: written.markdown.as_deref(),
        summary: Some(&format!("Drafted by the rule “{}”.", rule.name)),
        ..DraftContent::default()
    };
    drafts::keep_as_draft(tx, cx, conversation, &content)?;
    conversation.has_draft = true;
    Ok(true)
}

/// The field that an act names, and the value that it is given; none where either is gone by now.
fn field_to_set(
    tx: &mut Tx<'_>,
    ws: i64,
    value: &str,
) -> Result<Option<(CustomField, FieldValue)>> {
    let Some((key, typed)) = split_field_act(value) else { return Ok(None) };
    let Some(field) = fields::find(tx, ws, &key)? else { return Ok(None) };
    Ok(FieldValue::of_text(&field, &typed).ok().map(|value| (field, value)))
}

/// Sets a field of the conversation or of its contact.
fn set_field(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    value: &str,
    conversation: &Conversation,
) -> Result<bool> {
    let Some((field, wanted)) = field_to_set(tx, cx.actor.ws, value)? else { return Ok(false) };
    let values = Map::from_iter([(field.key.clone(), wanted.json(field.kind))]);
    match field.owner {
        FieldOwner::Conversation => {
            stored_values::set_of_conversation(tx, cx, conversation, &values)?;
        }
        FieldOwner::Contact | FieldOwner::Company => {
            let email = &conversation.contact_email;
            let addresses = contact_addresses::of(tx, cx.actor, email)?;
            stored_values::set_of_contact(tx, cx, &addresses, &values)?;
        }
    }
    Ok(true)
}

/// Mails a person a link; the notice has no word of the customer.
fn tell(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: &TeamRule,
    person: &str,
    conversation: &Conversation,
) -> Result<bool> {
    let Some(person) = UserId::parse(person) else { return Ok(false) };
    if members::in_circle(tx, cx.actor.ws, &conversation.circle, &MemberId::User(person.clone()))?
        .is_none()
    {
        return Ok(false);
    }
    let subject = format!("A conversation for you: {}", rule.name);
    let text = format!(
        "The rule \"{}\" asks you to look at a conversation.\n\nRead it: {}/conversations/{}\n",
        rule.name, cx.public_url, conversation.id,
    );
    notify(tx, cx, &person, &Notice { subject: &subject, text: &text })?;
    Ok(true)
}
