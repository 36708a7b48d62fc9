//! `GET /rules`: the team's rules in the order in which they run.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use base::time::Moment;
use db::Tx;
use model::rule_queue::RuleEvent;

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::rules_json::{RuleActJson, RuleConditionJson, RuleJson};

pub const OPERATION: Operation = Operation {
    name: "list_rules",
    method: Method::Get,
    path: "/rules",
    tool: Some(Tool {
        name: "list_rules",
        about: "The team's rules, which act on mail.",
        help: "Lists the team's rules in the order in which they run: when, if and then, and how \
                often each ran. Use it to learn why a conversation was assigned, tagged or closed by \
                itself, or before you do by hand what a rule does. Rules are made by people in the \
                app. The customer notices nothing.",
        hints: &[],
        example: r#"{}"#,
        list: Some("rules"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List rules",
    about: "Every rule of the team, in the order in which they run, but those for an inbox that the \
            key does not see. A test key sees none: rules do not run in the sandbox.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<RuleJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "rul_01kag0v1b3n5m7k9j2h4g6f8ds",
        "name": "Refunds to Ines",
        "enabled": true,
        "when": "mail-arrives",
        "waitMinutes": null,
        "conditions": [{ "field": "topic", "negated": false, "value": "Refunds" }],
        "acts": [{ "act": "assign", "value": "Ines Hallgren" }, { "act": "urgency", "value": "high" }],
        "skipsRulesBelow": false,
        "runs": 81,
        "lastRunAt": "2026-11-15T10:42:00.000Z"
    }]"#,
    run: |tx, cx, _| answer(&list_rules(tx, cx)?),
};

pub fn list_rules(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<RuleJson>> {
    if !cx.actor.livemode() {
        return Ok(Vec::new());
    }
    let names = rules::rule_names(tx, cx.actor)?;
    let rules = rules::seen_by(tx, cx.actor)?;
    Ok(rules
        .into_iter()
        .map(|rule| RuleJson {
            conditions: rule
                .conditions
                .iter()
                .map(|one| RuleConditionJson {
                    field: one.field,
                    negated: one.not,
                    value: names.condition_value(one),
                })
                .collect(),
            acts: rule
                .acts
                .iter()
                .map(|one| RuleActJson { act: one.act, value: names.act_value(one) })
                .collect(),
            wait_minutes: (rule.event == RuleEvent::Unanswered).then_some(rule.wait_minutes),
            last_run_at: rule.last_run_at.map(Moment),
            id: rule.id,
            name: rule.name,
            enabled: rule.enabled,
            when: rule.event,
            skips_rules_below: rule.is_last,
            runs: rule.runs,
        })
        .collect())
}
