//! Rules in the reader's language. The domain knows them and their values in English.

use actions::workspace::rules::RuleInput;
use model::rule_queue::RuleEvent;
use rules::{
    ConditionField, IN_TURN, LEAST_BUSY, RuleAct, RuleActKind, RuleCondition, RuleNames, TeamRule,
};
use translation::{t, text_in_context};

/// Values that are words of ours, as the domain reads them.
const TAKERS: &[&str] = &["everybody in turn", "the least busy"];
const CHOICES: &[&str] = &[
    "low",
    "normal",
    "high",
    "any",
    "suspicious",
    "phishing",
    "scam",
    "impersonation",
    "injection",
    "known",
    "new",
    "yes",
    "no",
];
/// What the domain calls something that is not there any more.
const REMOVED: &str = "(removed)";

/// A rule in a sentence: `When mail arrives and topic is Refunds: give it to Ines`.
pub fn rule(names: &RuleNames, rule: &TeamRule) -> String {
    let conditions: String =
        rule.conditions.iter().map(|one| format!(" {}", condition(names, one))).collect();
    let acts = acts(names, &rule.acts);
    match rule.event {
        RuleEvent::Arrives => t!("When mail arrives{conditions}: {acts}", conditions, acts),
        RuleEvent::Replies => t!("When a customer replies{conditions}: {acts}", conditions, acts),
        RuleEvent::OutsideHours => {
            t!("When mail arrives outside office hours{conditions}: {acts}", conditions, acts)
        }
        RuleEvent::Tagged => t!("When a tag is added{conditions}: {acts}", conditions, acts),
        RuleEvent::Unanswered => t!(
            "When nobody answered for {hours} h{conditions}: {acts}",
            hours = rule.wait_minutes / 60,
            conditions,
            acts
        ),
    }
}

fn condition(names: &RuleNames, one: &RuleCondition) -> String {
    let (field, value) = (field_name(one.field), condition_value(names, one));
    let is_part = matches!(
        one.field,
        ConditionField::Sender | ConditionField::Subject | ConditionField::Words
    );
    match (is_part, one.not) {
        (true, false) => t!("and {field} has {value}", field, value),
        (true, true) => t!("and {field} has not {value}", field, value),
        (false, false) => t!("and {field} is {value}", field, value),
        (false, true) => t!("and {field} is not {value}", field, value),
    }
}

/// Acts in words: `give it to Ines, set urgency high`.
pub fn acts(names: &RuleNames, acts: &[RuleAct]) -> String {
    let words = acts.iter().map(|one| {
        let value = act_value(names, one);
        match one.act {
            RuleActKind::Assign => t!("give it to {value}", value),
            RuleActKind::Tag => t!("tag it {value}", value),
            RuleActKind::Topic => t!("set the topic {value}", value),
            RuleActKind::Urgency => t!("set urgency {value}", value),
            RuleActKind::Snooze => t!("snooze it for {value} h", value),
            RuleActKind::Close => t!("close it").to_owned(),
            RuleActKind::Draft => t!("draft the saved reply {value}", value),
            RuleActKind::Notify => t!("tell {value}", value),
            RuleActKind::SetField => t!("set the field {value}", value),
        }
    });
    words.collect::<Vec<String>>().join(", ")
}

/// The value of a condition as the reader knows it.
pub fn condition_value(names: &RuleNames, one: &RuleCondition) -> String {
    let value = names.condition_value(one);
    match one.field {
        field if has_choices(field) => word(&value).to_owned(),
        ConditionField::Inbox | ConditionField::Topic if value == REMOVED => {
            t!("(removed)").to_owned()
        }
        _ => value,
    }
}

/// The same for an act.
pub fn act_value(names: &RuleNames, one: &RuleAct) -> String {
    let value = names.act_value(one);
    match (one.act, one.value.as_str()) {
        (RuleActKind::Assign, IN_TURN | LEAST_BUSY) | (RuleActKind::Urgency, _) => {
            word(&value).to_owned()
        }
        (
            RuleActKind::Tag | RuleActKind::Snooze | RuleActKind::Close | RuleActKind::SetField,
            _,
        ) => value,
        _ if value == REMOVED => t!("(removed)").to_owned(),
        _ => value,
    }
}

/// Words to choose a value from.
pub fn choices(names: &RuleNames) -> Vec<String> {
    let offered = names.choices();
    let mut offered: Vec<String> = offered.iter().map(|one| word(one).to_owned()).collect();
    offered.sort();
    offered
}

/// What was typed, as the domain reads it.
pub fn in_english(typed: &RuleInput) -> RuleInput {
    let mut input = typed.clone();
    for (field, _, value) in &mut input.conditions {
        if ConditionField::parse(field).is_some_and(has_choices) {
            make_english(value, CHOICES);
        }
    }
    for (act, value) in &mut input.acts {
        match RuleActKind::parse(act) {
            Some(RuleActKind::Assign) => make_english(value, TAKERS),
            Some(RuleActKind::Urgency) => make_english(value, CHOICES),
            _ => {}
        }
    }
    input
}

fn make_english(value: &mut String, words: &[&str]) {
    let typed = value.trim().to_lowercase();
    let is_typed = |one: &&&str| word(one) != **one && word(one).to_lowercase() == typed;
    if let Some(english) = words.iter().find(is_typed) {
        *value = (*english).to_owned();
    }
}

fn has_choices(field: ConditionField) -> bool {
    matches!(
        field,
        ConditionField::Urgency
            | ConditionField::Risk
            | ConditionField::Contact
            | ConditionField::Automatic
    )
}

/// A word of ours in the reader's language; everything else stays.
fn word(english: &str) -> &str {
    match english {
        "everybody in turn" => text_in_context("rule value", "everybody in turn"),
        "the least busy" => text_in_context("rule value", "the least busy"),
        "low" => text_in_context("rule value", "low"),
        "normal" => text_in_context("rule value", "normal"),
        "high" => text_in_context("rule value", "high"),
        "any" => text_in_context("rule value", "any"),
        "suspicious" => text_in_context("rule value", "suspicious"),
        "phishing" => text_in_context("rule value", "phishing"),
        "scam" => text_in_context("rule value", "scam"),
        "impersonation" => text_in_context("rule value", "impersonation"),
        "injection" => text_in_context("rule value", "injection"),
        "known" => text_in_context("rule value", "known"),
        "new" => text_in_context("rule value", "new"),
        "yes" => text_in_context("rule value", "yes"),
        "no" => text_in_context("rule value", "no"),
        other => other,
    }
}

/// What starts a rule, as one of the choices after "When".
pub fn event(event: RuleEvent) -> &'static str {
    match event {
        RuleEvent::Arrives => t!("mail arrives"),
        RuleEvent::Replies => t!("a customer replies"),
        RuleEvent::OutsideHours => t!("mail arrives outside office hours"),
        RuleEvent::Tagged => t!("a tag is added"),
        RuleEvent::Unanswered => t!("nobody answered for a time"),
    }
}

/// What a condition looks at, within a sentence.
fn field_name(field: ConditionField) -> &'static str {
    match field {
        ConditionField::Sender => text_in_context("rule field", "sender"),
        ConditionField::Domain => text_in_context("rule field", "domain"),
        ConditionField::Subject => text_in_context("rule field", "subject"),
        ConditionField::Words => text_in_context("rule field", "words"),
        ConditionField::Inbox => text_in_context("rule field", "inbox"),
        ConditionField::Topic => text_in_context("rule field", "topic"),
        ConditionField::Urgency => text_in_context("rule field", "urgency"),
        ConditionField::Risk => text_in_context("rule field", "risk"),
        ConditionField::Language => text_in_context("rule field", "language"),
        ConditionField::Contact => text_in_context("rule field", "contact"),
        ConditionField::Tag => text_in_context("rule field", "tag"),
        ConditionField::Automatic => text_in_context("rule field", "automatic"),
        ConditionField::Field => text_in_context("rule field", "field"),
    }
}

/// The same as a choice of the form, with the values that it can have.
pub fn field_label(field: ConditionField) -> &'static str {
    match field {
        ConditionField::Sender => t!("Sender has"),
        ConditionField::Domain => t!("Sender's domain"),
        ConditionField::Subject => t!("Subject has"),
        ConditionField::Words => t!("Words in the mail"),
        ConditionField::Inbox => text_in_context("rule field", "Inbox"),
        ConditionField::Topic => text_in_context("rule field", "Topic"),
        ConditionField::Urgency => t!("Urgency (low, normal, high)"),
        ConditionField::Risk => t!("Risk (any, phishing, …)"),
        ConditionField::Language => t!("Language (en, de, …)"),
        ConditionField::Contact => t!("Contact (known, new)"),
        ConditionField::Tag => text_in_context("rule field", "Tag"),
        ConditionField::Automatic => t!("Automatic mail (yes, no)"),
        ConditionField::Field => t!("Field (order:A-17, items>2)"),
    }
}

/// What a rule does, as a choice of the form.
pub fn act_label(act: RuleActKind) -> &'static str {
    match act {
        RuleActKind::Assign => t!("Give it to"),
        RuleActKind::Tag => t!("Tag it"),
        RuleActKind::Topic => t!("Set the topic"),
        RuleActKind::Urgency => t!("Set urgency"),
        RuleActKind::Snooze => t!("Snooze it, hours"),
        RuleActKind::Close => t!("Close it"),
        RuleActKind::Draft => t!("Draft the saved reply"),
        RuleActKind::Notify => t!("Tell by mail"),
        RuleActKind::SetField => t!("Set the field (order: A-17)"),
    }
}
