//! Any JSON as the conditions and acts of a rule, and any words as what a person typed into them.
#![no_main]

use rules::{RuleAct, RuleCondition, RuleNames};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (json, typed) = input;
    let mut names = RuleNames::default();
    names.topics.insert("top_1".into(), typed.into());
    names.members.insert("usr_1".into(), typed.into());
    for condition in serde_json::from_str::<Vec<RuleCondition>>(json).unwrap_or_default() {
        let _ = names.condition_value(&condition);
        let _ = names.read_condition(condition.field, typed);
    }
    for act in serde_json::from_str::<Vec<RuleAct>>(json).unwrap_or_default() {
        let _ = names.act_value(&act);
        let _ = names.read_act(act.act, typed);
    }
});
