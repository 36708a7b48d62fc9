//! Rules of the team: making, changing, ordering and trying them.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{ConversationId, MemberId, RuleId};
use base::limits::{
    MINUTE_MS, RULE_ACTS, RULE_CONDITIONS, RULE_NAME_CHARS, RULE_VALUE_CHARS, RULES,
};
use base::states::View;
use db::{Json, Tx};
use model::conversations::{self, Conversation};
use model::figures::counters::{self, Counter};
use model::installation::audit_log::{self, Action};
use model::people::members;
use model::rule_queue::RuleEvent;
use rules::{
    ConditionField, RuleAct, RuleActKind, RuleCase, RuleCondition, RuleNames, TeamRule, case_of,
    first_failing, would_change,
};

/// Conversations that a rule is tried on.
const TRIED_ON: usize = 100;

/// A rule as a person enters it; values are names.
#[derive(Clone, Debug, Default)]
pub struct RuleInput {
    pub name: String,
    pub event: String,
    pub wait_hours: String,
    /// The field, `is` or `is-not`, and the value.
    pub conditions: Vec<(String, String, String)>,
    pub acts: Vec<(String, String)>,
    pub is_last: bool,
}

/// The rules that the actor sees, with the names that they use.
pub fn list_rules_named(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<(Vec<TeamRule>, RuleNames)> {
    Ok((rules::seen_by(tx, cx.actor)?, rules::rule_names(tx, cx.actor)?))
}

/// Adds a rule at the end, switched off: it is tried before it acts.
pub fn add_rule(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &RuleInput) -> Result<RuleId> {
    cx.actor.must_administer()?;
    let checked = check(tx, cx, input)?;
    let known = rules::all(tx, cx.actor.ws)?;
    if known.len() as i64 >= RULES {
        let sentence = format!("A workspace has at most {RULES} rules. Delete one first.");
        return Err(Error::invalid("name", sentence));
    }
    let circle = rules::circle_of(tx, cx.actor.ws, &checked.conditions)?;
    let id = RuleId::new(cx.ids, cx.now);
    let place = known.last().map_or(1, |last| last.place + 1);
    tx.exec(
        "INSERT INTO rules (
            ws, id, name, place, enabled, event, wait_minutes, conditions, acts, is_last,
            last_assigned, changed_at
         ) VALUES (?1, ?2, ?3, ?4, FALSE, ?5, ?6, ?7, ?8, ?9, '', ?10)",
        &[
            &cx.actor.ws,
            &id,
            &checked.name,
            &place,
            &checked.event,
            &checked.wait_minutes,
            &Json(checked.conditions),
            &Json(checked.acts),
            &input.is_last,
            &cx.now,
        ],
    )?;
    audit_log::record(tx, cx, &circle, Action::RuleAdded, &checked.name, "")?;
    Ok(id)
}

pub fn change_rule(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RuleId, input: &RuleInput) -> Result<()> {
    cx.actor.must_administer()?;
    rules::by_id(tx, cx.actor, id)?;
    let checked = check(tx, cx, input)?;
    let circle = rules::circle_of(tx, cx.actor.ws, &checked.conditions)?;
    tx.exec(
        "UPDATE rules SET name = ?3, event = ?4, wait_minutes = ?5, conditions = ?6, acts = ?7,
             is_last = ?8, changed_at = ?9
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            id,
            &checked.name,
            &checked.event,
            &checked.wait_minutes,
            &Json(checked.conditions),
            &Json(checked.acts),
            &input.is_last,
            &cx.now,
        ],
    )?;
    audit_log::record(tx, cx, &circle, Action::RuleChanged, &checked.name, "")
}

/// Switches a rule on or off.
pub fn switch_rule(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RuleId, on: bool) -> Result<()> {
    cx.actor.must_administer()?;
    let rule = rules::by_id(tx, cx.actor, id)?;
    tx.exec("UPDATE rules SET enabled = ?3 WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id, &on])?;
    let action = if on { Action::RuleSwitchedOn } else { Action::RuleSwitchedOff };
    record(tx, cx, action, &rule)
}

/// Moves a rule up or down, past the next one that the actor sees.
pub fn move_rule(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RuleId, up: bool) -> Result<()> {
    cx.actor.must_administer()?;
    let seen = rules::seen_by(tx, cx.actor)?;
    let at = seen.iter().position(|rule| rule.id == *id).ok_or(Error::NotFound("rule"))?;
    let beside = if up { at.checked_sub(1) } else { Some(at + 1) };
    let Some(beside) = beside.and_then(|place| seen.get(place)) else { return Ok(()) };
    let mut all = rules::all(tx, cx.actor.ws)?;
    let place_of = |wanted: &RuleId| all.iter().position(|rule| rule.id == *wanted);
    let (Some(from), Some(to)) = (place_of(id), place_of(&beside.id)) else { return Ok(()) };
    let moved = all.remove(from);
    all.insert(to, moved);
    for (place, rule) in all.iter().enumerate() {
        tx.exec(
            "UPDATE rules SET place = ?3 WHERE ws = ?1 AND id = ?2",
            &[&cx.actor.ws, &rule.id, &(place as i64 + 1)],
        )?;
    }
    record(tx, cx, Action::RuleMoved, &all[to])
}

pub fn delete_rule(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RuleId) -> Result<()> {
    cx.actor.must_administer()?;
    let rule = rules::by_id(tx, cx.actor, id)?;
    tx.exec("DELETE FROM rules WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    counters::forget(tx, cx.actor.ws, &Circle::team(), Counter::RuleRuns(id))?;
    record(tx, cx, Action::RuleDeleted, &rule)
}

/// Notes what was done with a rule, for those who see it.
fn record(tx: &mut Tx<'_>, cx: &Cx<'_>, action: Action, rule: &TeamRule) -> Result<()> {
    let circle = rules::circle_of(tx, cx.actor.ws, &rule.conditions)?;
    audit_log::record(tx, cx, &circle, action, &rule.name, "")
}

/// A conversation that a rule was tried on.
#[derive(Clone, Debug)]
pub struct TriedConversation {
    pub id: ConversationId,
    pub subject: String,
    pub contact: String,
    pub at: i64,
    pub assignee: String,
    /// The number of the condition that did not hold; `None` where all do.
    pub failing: Option<usize>,
    /// What the rule would change; nothing where a condition fails or it is so already.
    pub acts: Vec<RuleAct>,
}

/// Holds a rule against the last conversations in the team's inboxes that the actor sees, and changes
/// nothing.
pub fn try_rule(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &RuleId) -> Result<Vec<TriedConversation>> {
    let rule = rules::by_id(tx, cx.actor, id)?;
    let mut latest: Vec<(i64, ConversationId)> = Vec::new();
    for circle in cx.actor.circles.distinct().filter(|circle| circle.is_shared()) {
        for view in View::SHOWN {
            let found: Vec<(i64, ConversationId)> = tx.all(
                "SELECT last_message_at, id FROM conversations
                 WHERE ws = ?1 AND circle = ?4 AND view = ?2
                 ORDER BY last_message_at DESC, id DESC LIMIT ?3",
                &[&cx.actor.ws, view, &(TRIED_ON as i64), circle],
            )?;
            latest.extend(found);
        }
    }
    latest.sort_by(|a, b| b.cmp(a));
    latest.truncate(TRIED_ON);
    let mut tried = Vec::new();
    for (at, id) in latest {
        let conversation = conversations::load(tx, cx.actor, id.as_str())?;
        if conversation.held || conversation.removed.is_some() {
            continue;
        }
        let case = case_of(tx, cx.actor.ws, &conversation, None)?;
        if !has_happened(tx, cx, &rule, &case, &conversation)? {
            continue;
        }
        let failing = first_failing(&rule, &case, &conversation);
        let mut acts = Vec::new();
        for act in rule.acts.iter().filter(|_| failing.is_none()) {
            if would_change(tx, cx.actor.ws, &rule, act, &conversation)? {
                acts.push(act.clone());
            }
        }
        let assignee = conversation.assignee_named(tx, cx.actor.ws)?;
        let contact = conversation.contact_name.clone();
        tried.push(TriedConversation {
            failing,
            acts,
            contact: contact.unwrap_or_else(|| conversation.contact_email.to_string()),
            assignee: assignee.map_or_else(|| "nobody".into(), |assignee| assignee.name),
            subject: conversation.subject,
            id,
            at,
        });
    }
    Ok(tried)
}

/// True where what starts a rule has happened to a conversation.
fn has_happened(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: &TeamRule,
    case: &RuleCase,
    conversation: &Conversation,
) -> Result<bool> {
    let waited = rule.wait_minutes * MINUTE_MS;
    Ok(match rule.event {
        RuleEvent::Arrives => true,
        RuleEvent::OutsideHours => case.is_outside_hours,
        RuleEvent::Tagged => !conversation.tags.is_empty(),
        RuleEvent::Unanswered => {
            conversation.waiting_since.is_some_and(|since| since + waited <= cx.now)
        }
        RuleEvent::Replies => {
            let later: Option<(i64,)> = tx.opt(
                "SELECT serial FROM messages
                 WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' AND serial > 1
                 LIMIT 1",
                &[&cx.actor.ws, &conversation.id],
            )?;
            later.is_some()
        }
    })
}

/// A rule whose parts were read.
struct CheckedRule {
    name: String,
    event: RuleEvent,
    wait_minutes: i64,
    conditions: Vec<RuleCondition>,
    acts: Vec<RuleAct>,
}

fn check(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &RuleInput) -> Result<CheckedRule> {
    let names = rules::rule_names(tx, cx.actor)?;
    let mut problems = ValidationErrors::default();
    let mut wrong = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    let name = input.name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || name.chars().count() > RULE_NAME_CHARS || name.contains('\0') {
        wrong("name", format!("A name has 1 to {RULE_NAME_CHARS} characters."));
    }
    let event = RuleEvent::parse(&input.event).unwrap_or_else(|| {
        wrong("wait", format!("Choose when it runs: {}.", RuleEvent::NAMES.join(", ")));
        RuleEvent::Arrives
    });
    let hours: i64 = input.wait_hours.trim().parse().unwrap_or(0);
    if event == RuleEvent::Unanswered && !(1..=2_160).contains(&hours) {
        wrong("wait", "Say after how many hours without an answer, from 1 to 2160.".into());
    }
    let is_long = |value: &str| value.chars().count() > RULE_VALUE_CHARS || value.contains('\0');
    let mut conditions = Vec::new();
    for (field, how, value) in input.conditions.iter().take(RULE_CONDITIONS) {
        let value = value.trim();
        let Some(field) = ConditionField::parse(field) else {
            if !field.is_empty() || !value.is_empty() {
                wrong("conditions", format!("Choose what is to be “{value}”."));
            }
            continue;
        };
        if value.is_empty() || is_long(value) {
            wrong("conditions", format!("Say what {} is to be.", field.as_str()));
            continue;
        }
        match names.read_condition(field, value) {
            Ok(value) => conditions.push(RuleCondition { field, not: how == "is-not", value }),
            Err(sentence) => wrong("conditions", sentence),
        }
    }
    let mut acts = Vec::new();
    for (act, value) in input.acts.iter().take(RULE_ACTS) {
        let value = value.trim();
        let Some(act) = RuleActKind::parse(act) else {
            if !act.is_empty() || !value.is_empty() {
                wrong("acts", format!("Choose what to do with “{value}”."));
            }
            continue;
        };
        if act != RuleActKind::Close && (value.is_empty() || is_long(value)) {
            wrong("acts", format!("Say what to {} it with.", act.as_str()));
            continue;
        }
        match names.read_act(act, value) {
            Ok(value) => acts.push(RuleAct { act, value }),
            Err(sentence) => wrong("acts", sentence),
        }
    }
    for sentence in outsiders(tx, cx, &names, &conditions, &acts)? {
        wrong("acts", sentence);
    }
    if acts.is_empty() && problems.0.iter().all(|one| one.field != "acts") {
        let sentence = "A rule does at least one thing.".into();
        problems.0.push(ValidationError { field: "acts".into(), sentence });
    }
    if problems.0.is_empty() {
        return Ok(CheckedRule { name, event, wait_minutes: hours * 60, conditions, acts });
    }
    Err(Error::Invalid(problems))
}

/// What is wrong where a rule for an inbox for some gives a conversation to somebody who does not see it,
/// or tells them of it.
fn outsiders(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    names: &RuleNames,
    conditions: &[RuleCondition],
    acts: &[RuleAct],
) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    let inboxes = rules::asked_for(tx, cx.actor.ws, conditions)?;
    let is_given = |act: &&RuleAct| matches!(act.act, RuleActKind::Assign | RuleActKind::Notify);
    for act in acts.iter().filter(is_given) {
        let Some(id) = MemberId::parse(&act.value) else { continue };
        for inbox in &inboxes {
            if members::in_circle(tx, cx.actor.ws, &inbox.circle, &id)?.is_none() {
                let name = names.act_value(act);
                sentences.push(format!("{name} does not see the inbox “{}”.", inbox.name));
            }
        }
    }
    Ok(sentences)
}
