//! The names of what rules name by id, in both directions: people write and read names.

use std::collections::BTreeMap;

use base::actor::{Actor, Circle};
use base::error::Result;
use base::ids::{SavedReplyId, UserId};
use base::limits::TAG_CHARS;
use base::states::{ConversationRisk, Urgency};
use db::Tx;
use model::conversations::topics;
use model::fields::typed_value::FieldValue;
use model::fields::{self, CustomField, field_search};
use model::mailboxes;
use model::messages::answers::is_language;
use model::people::members;

use super::conditions::{ANY, KNOWN, YES};
use super::rule::{ConditionField, IN_TURN, LEAST_BUSY, RuleAct, RuleActKind, RuleCondition};

const TURN_WORDS: &str = "everybody in turn";
const BUSY_WORDS: &str = "the least busy";

/// Ids and names of what a rule can name.
#[derive(Clone, Debug, Default)]
pub struct RuleNames {
    pub inboxes: BTreeMap<String, String>,
    pub topics: BTreeMap<String, String>,
    /// People, then agents.
    pub members: BTreeMap<String, String>,
    pub replies: BTreeMap<String, String>,
    /// Fields of contacts and conversations.
    pub fields: Vec<CustomField>,
}

/// The names that the team's rules can use, as far as the actor sees what they name. Rules leave private
/// inboxes alone.
pub fn rule_names(tx: &mut Tx<'_>, actor: &Actor) -> Result<RuleNames> {
    let ws = actor.ws;
    let mut inboxes = mailboxes::all_seen_by(tx, actor)?;
    inboxes.retain(|inbox| inbox.circle.is_shared());
    let replies: Vec<(SavedReplyId, String)> =
        tx.all("SELECT id, name FROM saved_replies WHERE ws = ?1", &[&ws])?;
    let team = members::team(tx, ws, &Circle::team())?;
    let member = |one: members::TeamMember| {
        let id = one.id.split_once(':').map_or("", |(_, id)| id).to_owned();
        (id, one.name)
    };
    let topics = topics::all(tx, ws)?;
    Ok(RuleNames {
        inboxes: inboxes.into_iter().map(|one| (one.id.to_string(), one.name)).collect(),
        topics: topics.into_iter().map(|one| (one.id.to_string(), one.name)).collect(),
        members: team.people.into_iter().chain(team.agents).map(member).collect(),
        replies: replies.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        fields: fields::all(tx, ws)?,
    })
}

impl RuleNames {
    /// The value of a condition as people read it.
    pub fn condition_value(&self, condition: &RuleCondition) -> String {
        let names = match condition.field {
            ConditionField::Inbox => &self.inboxes,
            ConditionField::Topic => &self.topics,
            _ => return condition.value.clone(),
        };
        names.get(&condition.value).cloned().unwrap_or_else(|| "(removed)".into())
    }

    pub fn act_value(&self, act: &RuleAct) -> String {
        let names = match (act.act, act.value.as_str()) {
            (RuleActKind::Assign, IN_TURN) => return TURN_WORDS.into(),
            (RuleActKind::Assign, LEAST_BUSY) => return BUSY_WORDS.into(),
            (RuleActKind::Assign | RuleActKind::Notify, _) => &self.members,
            (RuleActKind::Topic, _) => &self.topics,
            (RuleActKind::Draft, _) => &self.replies,
            (_, value) => return value.to_owned(),
        };
        names.get(&act.value).cloned().unwrap_or_else(|| "(removed)".into())
    }

    /// What a person typed as the value of a condition; the error is a sentence.
    pub fn read_condition(
        &self,
        field: ConditionField,
        typed: &str,
    ) -> std::result::Result<String, String> {
        let choice = |words: &[&str]| choose(typed, words);
        match field {
            ConditionField::Inbox => find(&self.inboxes, typed, "inbox"),
            ConditionField::Topic => find(&self.topics, typed, "topic"),
            ConditionField::Urgency => choice(Urgency::NAMES),
            ConditionField::Risk => choice(&[&[ANY], ConversationRisk::NAMES].concat()),
            ConditionField::Contact => choice(&[KNOWN, "new"]),
            ConditionField::Automatic => choice(&[YES, "no"]),
            ConditionField::Language => match is_language(&typed.to_lowercase()) {
                true => Ok(typed.to_lowercase()),
                false => Err("A language is two letters, such as en or de.".into()),
            },
            ConditionField::Field => self.read_field_condition(typed),
            ConditionField::Domain => Ok(typed.trim_start_matches('@').to_lowercase()),
            _ => Ok(typed.to_owned()),
        }
    }

    /// The same for an act.
    pub fn read_act(&self, act: RuleActKind, typed: &str) -> std::result::Result<String, String> {
        match act {
            RuleActKind::Assign if typed.eq_ignore_ascii_case(TURN_WORDS) => Ok(IN_TURN.into()),
            RuleActKind::Assign if typed.eq_ignore_ascii_case(BUSY_WORDS) => Ok(LEAST_BUSY.into()),
            RuleActKind::Assign => find(&self.members, typed, "person"),
            RuleActKind::Notify => {
                let is_person = |id: &str| UserId::parse(id).is_some();
                let people = self.members.iter().filter(|(id, _)| is_person(id));
                let people: BTreeMap<String, String> =
                    people.map(|(id, name)| (id.clone(), name.clone())).collect();
                find(&people, typed, "person")
            }
            RuleActKind::Topic => find(&self.topics, typed, "topic"),
            RuleActKind::Draft => find(&self.replies, typed, "saved reply"),
            RuleActKind::Urgency => choose(typed, Urgency::NAMES),
            RuleActKind::Snooze => match typed.parse::<i64>() {
                Ok(hours) if (1..=2_160).contains(&hours) => Ok(hours.to_string()),
                _ => Err("A snooze has 1 to 2160 hours.".into()),
            },
            RuleActKind::Close => Ok(String::new()),
            RuleActKind::SetField => self.read_field_act(typed),
            RuleActKind::Tag if typed.chars().count() > TAG_CHARS => {
                Err(format!("A tag has at most {TAG_CHARS} characters."))
            }
            RuleActKind::Tag => Ok(typed.to_owned()),
        }
    }

    fn read_field_condition(&self, typed: &str) -> std::result::Result<String, String> {
        let query = field_search::parse_condition(typed);
        let known = query.as_ref().and_then(|query| self.field(&query.key));
        match (query, known) {
            (None, _) => Err("A field is asked for as KEY:value, KEY>value or KEY<value.".into()),
            (Some(query), None) => Err(format!("There is no field “{}”.", query.key)),
            (Some(query), Some(field)) if !field_search::fits(field, &query) => {
                Err(format!("“{}” is no value of the field “{}”.", query.value, query.key))
            }
            (Some(_), Some(_)) => Ok(typed.to_owned()),
        }
    }

    fn read_field_act(&self, typed: &str) -> std::result::Result<String, String> {
        let Some((key, value)) = split_field_act(typed) else {
            return Err("A field is set as KEY: value.".into());
        };
        let Some(field) = self.field(&key) else {
            return Err(format!("There is no field “{key}”."));
        };
        match FieldValue::of_text(field, &value) {
            Ok(value) => Ok(format!("{key}: {}", value.text)),
            Err(sentence) => Err(format!("The field “{key}” {sentence}.")),
        }
    }

    fn field(&self, key: &str) -> Option<&CustomField> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// Words to choose a value from.
    pub fn choices(&self) -> Vec<String> {
        let named = [&self.members, &self.topics, &self.inboxes, &self.replies];
        let names = named.into_iter().flat_map(|names| names.values().cloned());
        let fixed = [TURN_WORDS, BUSY_WORDS, "high", "normal", "low", KNOWN, "new", YES, "no", ANY];
        let fields = self.fields.iter().map(|field| format!("{}:", field.key));
        let mut offered: Vec<String> =
            names.chain(fixed.map(str::to_owned)).chain(fields).collect();
        offered.sort();
        offered.dedup();
        offered
    }
}

/// The key and the value of an act that sets a field.
pub fn split_field_act(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once([':', '='])?;
    let (key, value) = (key.trim().to_lowercase(), value.trim().to_owned());
    (!key.is_empty() && !value.is_empty()).then_some((key, value))
}

fn find(
    names: &BTreeMap<String, String>,
    typed: &str,
    what: &str,
) -> std::result::Result<String, String> {
    let wanted = typed.trim().to_lowercase();
    let mut found = names.iter().filter(|(_, name)| name.to_lowercase() == wanted);
    match (found.next(), found.next()) {
        (Some((id, _)), None) => Ok(id.clone()),
        (None, _) => Err(format!("There is no {what} called “{typed}”.")),
        (Some(_), Some(_)) => {
            Err(format!("“{typed}” is the name of more than one {what}. Rename one first."))
        }
    }
}

fn choose(typed: &str, words: &[&str]) -> std::result::Result<String, String> {
    let wanted = typed.trim().to_lowercase();
    match words.contains(&wanted.as_str()) {
        true => Ok(wanted),
        false => Err(format!("“{typed}” is none of {}.", words.join(", "))),
    }
}
