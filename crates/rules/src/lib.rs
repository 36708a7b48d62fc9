//! Rules: what the team wants done with mail by itself. When something happens, if all conditions hold,
//! then the rule acts, in the order of the list.

mod acts;
mod conditions;
mod rule;
mod run;
mod visibility;
mod words;

pub use acts::would_change;
pub use conditions::{RuleCase, case_of, first_failing};
pub use rule::{
    ConditionField, IN_TURN, LEAST_BUSY, RuleAct, RuleActKind, RuleCondition, TeamRule, all,
};
pub use run::run_due;
pub use visibility::{ClosedInbox, asked_for, by_id, circle_of, forget_inbox, seen_by};
pub use words::{RuleNames, rule_names};
