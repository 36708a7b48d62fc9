//! The JSON of rules.

use base::ids::RuleId;
use base::time::Moment;
use model::rule_queue::RuleEvent;
use rules::{ConditionField, RuleActKind};
use schemars::JsonSchema;
use serde::Serialize;

/// A rule of the team.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Rule")]
pub struct RuleJson {
    pub id: RuleId,
    pub name: String,
    /// False while it is switched off.
    pub enabled: bool,
    /// What has to happen.
    pub when: RuleEvent,
    /// How long nobody answered, for `no-answer`; otherwise null.
    pub wait_minutes: Option<i64>,
    /// All of these hold.
    pub conditions: Vec<RuleConditionJson>,
    /// What it does.
    pub acts: Vec<RuleActJson>,
    /// The rules below are not looked at after it acted.
    pub skips_rules_below: bool,
    /// How often it acted.
    pub runs: i64,
    pub last_run_at: Option<Moment>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RuleCondition")]
pub struct RuleConditionJson {
    pub field: ConditionField,
    /// True where it must not be the case.
    pub negated: bool,
    /// Inboxes and topics by name.
    pub value: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RuleAct")]
pub struct RuleActJson {
    pub act: RuleActKind,
    /// People, topics and saved replies by name; the hours of a snooze.
    pub value: String,
}
