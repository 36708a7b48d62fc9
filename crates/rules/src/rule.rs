//! A rule as it is stored.

use base::error::Result;
use base::ids::RuleId;
use base::limits::RULES;
use base::string_enum::string_enum;
use db::{Json, Tx};
use model::rule_queue::RuleEvent;
use serde::{Deserialize, Serialize};

/// Values of [`RuleActKind::Assign`] that are nobody in particular.
pub const IN_TURN: &str = "in-turn";
pub const LEAST_BUSY: &str = "least-busy";

string_enum! {
    /// What a condition looks at.
    ConditionField {
        Sender = "sender",
        Domain = "domain",
        Subject = "subject",
        Words = "words",
        Inbox = "inbox",
        Topic = "topic",
        Urgency = "urgency",
        Risk = "risk",
        Language = "language",
        Contact = "contact",
        Tag = "tag",
        Automatic = "automatic",
        Field = "field",
    }
}

string_enum! {
    /// What a rule does.
    RuleActKind {
        Assign = "assign",
        Tag = "tag",
        Topic = "topic",
        Urgency = "urgency",
        Snooze = "snooze",
        Close = "close",
        Draft = "draft",
        Notify = "notify",
        SetField = "set-field",
    }
}

/// A condition. Inboxes and topics are named by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCondition {
    pub field: ConditionField,
    /// It holds where the value is not the case.
    pub not: bool,
    pub value: String,
}

/// An act. People, topics and saved replies are named by id; a snooze has its hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleAct {
    pub act: RuleActKind,
    pub value: String,
}

db::row! {
    #[derive(Clone, Debug)]
    pub struct TeamRule from "rules" {
        pub id: RuleId,
        pub name: String,
        pub place: i64,
        pub enabled: bool,
        pub event: RuleEvent,
        /// How long nobody answered, for [`RuleEvent::Unanswered`].
        pub wait_minutes: i64,
        pub conditions: Json<Vec<RuleCondition>>,
        pub acts: Json<Vec<RuleAct>>,
        /// The rules below are not looked at after it acted.
        pub is_last: bool,
        pub last_assigned: String,
        /// How often it acted, as [`Counter::RuleRuns`] counts it.
        ///
        /// [`Counter::RuleRuns`]: model::figures::counters::Counter::RuleRuns
        pub runs: i64 = "(SELECT coalesce(CAST(sum(c.n) AS BIGINT), 0) FROM counters c
             WHERE c.ws = rules.ws AND c.circle = 'team' AND c.what = 'rule-runs:' || rules.id)",
        pub last_run_at: Option<i64>,
    }
}

impl TeamRule {
    /// As it is named where it acts.
    pub fn actor_name(&self) -> String {
        format!("The rule “{}”", self.name)
    }
}

/// The rules of a workspace in their order.
pub fn all(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<TeamRule>> {
    let sql = format!(
        "SELECT {} FROM rules WHERE ws = ?1 ORDER BY place, id LIMIT ?2",
        TeamRule::COLUMNS
    );
    Ok(tx.read_once("rules", &sql, &[&ws, &RULES])?)
}
