//! What the command line says of test cases and their runs.

use evals::{EvalCase, EvalDifference, EvalResult, EvalRun};
use serde_json::{Value, json};

pub fn run_json(number: i64, agent: &str, results: &[EvalResult]) -> Value {
    let passed = results.iter().filter(|result| result.passed).count();
    json!({
        "run": number,
        "agent": agent,
        "passed": passed,
        "failed": results.len() - passed,
        "cases": results,
    })
}

pub fn run_lines(number: i64, agent: &str, results: &[EvalResult]) -> String {
    let width = results.iter().map(|result| result.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for result in results {
        let calls = result.outcome.calls.len();
        let word = word_of(result.passed);
        lines.push(format!("{word:4}  {:width$}  {calls} calls", result.name));
        lines.extend(result.problems().into_iter().map(|problem| format!("      {problem}")));
    }
    let passed = results.iter().filter(|result| result.passed).count();
    lines.push(format!("Run {number}, {agent}: {passed} of {} passed.", results.len()));
    lines.join("\n")
}

pub fn case_list(cases: &[EvalCase], runs: &[EvalRun], last: &[EvalResult]) -> Value {
    let shown = cases.iter().map(|case| {
        json!({
            "name": case.name,
            "about": case.about,
            "mails": case.mails.len(),
            "checks": case.must.count() + case.must_not.count(),
            "passed": passed_in(last, &case.name),
        })
    });
    json!({ "cases": shown.collect::<Vec<_>>(), "runs": runs })
}

pub fn case_list_lines(cases: &[EvalCase], runs: &[EvalRun], last: &[EvalResult]) -> String {
    let width = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let case_line = |case: &EvalCase| {
        let word = passed_in(last, &case.name).map_or("-", word_of);
        format!("{word:4}  {:width$}  {}", case.name, case.about)
    };
    let run_line = |run: &EvalRun| {
        let (number, agent) = (run.number, &run.agent);
        let (passed, cases) = (run.passed, run.cases);
        format!("Run {number}  {}  {agent}  {passed} of {cases} passed", run.begun_at.iso())
    };
    cases.iter().map(case_line).chain(runs.iter().map(run_line)).collect::<Vec<_>>().join("\n")
}

pub fn comparison_json(old: i64, new: i64, compared: &[EvalDifference]) -> Value {
    let mut cases: Vec<&EvalDifference> = compared.iter().collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    let shown = cases.into_iter().map(|one| {
        json!({
            "name": one.name, "before": one.before, "after": one.after, "differs": one.differs,
        })
    });
    json!({ "old": old, "new": new, "cases": shown.collect::<Vec<_>>() })
}

/// The worse ones first; cases that differ in nothing are counted.
pub fn comparison_lines(compared: &[EvalDifference]) -> String {
    let shown = |passed: Option<bool>| passed.map_or("-", word_of);
    let differs = compared.iter().filter(|one| !one.differs.is_empty());
    let mut lines: Vec<String> = Vec::new();
    for one in differs.clone() {
        lines.push(format!("{}: {} -> {}", one.name, shown(one.before), shown(one.after)));
        lines.extend(one.differs.iter().map(|line| format!("  {line}")));
    }
    let worse = compared.iter().filter(|one| one.is_worse()).count();
    let changed = differs.count();
    let same = compared.len() - changed;
    lines.push(format!("{worse} worse, {} changed, {same} the same.", changed - worse));
    lines.join("\n")
}

fn passed_in(results: &[EvalResult], name: &str) -> Option<bool> {
    results.iter().find(|result| result.name == name).map(|result| result.passed)
}

fn word_of(passed: bool) -> &'static str {
    if passed { "ok" } else { "FAIL" }
}
