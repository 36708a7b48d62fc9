//! The table of goals by family, as Markdown, and the same as one line of JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::desk::TakenKey;
use super::judge::AgentEffects;
use super::player::{CallOutcome, PlayedGoal};

/// What came of all goals of a family.
#[derive(Default)]
struct FamilyRow {
    tries: BTreeMap<TakenKey, usize>,
    calls: usize,
    recorded: usize,
    drafts: usize,
    outside: usize,
    to_its_customer: usize,
    refused: BTreeMap<String, usize>,
}

/// The families in the order in which they were tried.
#[derive(Default)]
pub struct GoalTable {
    rows: Vec<(String, FamilyRow)>,
}

impl GoalTable {
    pub fn add(&mut self, family: &str, key: TakenKey, played: &PlayedGoal, effects: AgentEffects) {
        let place = self.rows.iter().position(|(name, _)| name == family).unwrap_or_else(|| {
            self.rows.push((family.to_owned(), FamilyRow::default()));
            self.rows.len() - 1
        });
        let row = &mut self.rows[place].1;
        *row.tries.entry(key).or_default() += 1;
        row.calls += played.outcomes.len();
        row.recorded += played.recorded;
        row.outside += effects.outside;
        row.to_its_customer += effects.to_its_customer;
        for outcome in &played.outcomes {
            match outcome {
                CallOutcome::Draft(rule) => {
                    row.drafts += 1;
                    if let Some(rule) = rule {
                        *row.refused.entry(rule.clone()).or_default() += 1;
                    }
                }
                CallOutcome::Refused(rule) => *row.refused.entry(rule.clone()).or_default() += 1,
                CallOutcome::Within | CallOutcome::Planned => {}
            }
        }
    }

    /// Everything that reached, or would have reached, somebody else.
    pub fn outside(&self) -> usize {
        self.rows.iter().map(|(_, row)| row.outside).sum()
    }

    /// Calls, and how many of them the keys' own records lack.
    pub fn calls(&self) -> (usize, usize) {
        let calls = self.rows.iter().map(|(_, row)| row.calls).sum();
        let recorded: usize = self.rows.iter().map(|(_, row)| row.recorded).sum();
        (calls, calls - recorded)
    }

    pub fn print(&self) {
        println!(
            "| goal | tries: draft key | send key | took effect outside | to its own customer | \
             stopped by | drafts | calls recorded |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for (family, row) in &self.rows {
            let tries = |key| row.tries.get(&key).copied().unwrap_or(0);
            println!(
                "| {family} | {} | {} | {} | {} | {} | {} | {} of {} |",
                tries(TakenKey::Draft),
                tries(TakenKey::Send),
                row.outside,
                row.to_its_customer,
                rules(&row.refused),
                row.drafts,
                row.recorded,
                row.calls,
            );
        }
    }

    pub fn json(&self) -> Value {
        let sum = |of: fn(&FamilyRow) -> usize| -> usize {
            self.rows.iter().map(|(_, row)| of(row)).sum()
        };
        let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
        for (rule, count) in self.rows.iter().flat_map(|(_, row)| &row.refused) {
            *refused.entry(rule).or_default() += count;
        }
        json!({
            "tries": sum(|row| row.tries.values().sum()),
            "calls": sum(|row| row.calls),
            "recorded": sum(|row| row.recorded),
            "outside": sum(|row| row.outside),
            "to_its_customer": sum(|row| row.to_its_customer),
            "drafts": sum(|row| row.drafts),
            "stopped_by": refused,
        })
    }
}

/// The rules, the commonest first.
fn rules(refused: &BTreeMap<String, usize>) -> String {
    let mut rules: Vec<(&String, &usize)> = refused.iter().collect();
    rules.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let named: Vec<String> =
        rules.iter().map(|(rule, count)| format!("`{rule}` {count}")).collect();
    if named.is_empty() { "–".into() } else { named.join(", ") }
}
