//! What differs between two runs, case by case.

use crate::runs::EvalResult;

/// A case in two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalDifference {
    pub name: String,
    /// Whether it passed, in the runs that it was played in.
    pub before: Option<bool>,
    pub after: Option<bool>,
    /// What is wrong in one of them alone; empty where nothing differs.
    pub differs: Vec<String>,
}

impl EvalDifference {
    pub fn is_worse(&self) -> bool {
        self.before == Some(true) && self.after == Some(false)
    }
}

/// The cases of both runs: the worse ones first, then those that differ, each by name.
pub fn compare_results(before: &[EvalResult], after: &[EvalResult]) -> Vec<EvalDifference> {
    let mut names: Vec<&str> =
        before.iter().chain(after).map(|result| result.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let compare = |name: &str| {
        let find =
            |results: &[EvalResult]| results.iter().find(|result| result.name == name).cloned();
        let (was, is) = (find(before), find(after));
        EvalDifference {
            name: name.to_owned(),
            before: was.as_ref().map(|result| result.passed),
            after: is.as_ref().map(|result| result.passed),
            differs: differences(was.as_ref(), is.as_ref()),
        }
    };
    let mut compared: Vec<EvalDifference> = names.into_iter().map(compare).collect();
    compared.sort_by_key(|one| (!one.is_worse(), one.differs.is_empty()));
    compared
}

/// What a case has for problems in one run and not in the other.
fn differences(before: Option<&EvalResult>, after: Option<&EvalResult>) -> Vec<String> {
    match (before.map(EvalResult::problems), after.map(EvalResult::problems)) {
        (Some(was), Some(is)) => {
            let gone = was.iter().filter(|line| !is.contains(line));
            let new = is.iter().filter(|line| !was.contains(line));
            let gone = gone.map(|line| format!("no longer: {line}"));
            new.map(|line| format!("now: {line}")).chain(gone).collect()
        }
        (None, Some(_)) => vec!["new in the later run".into()],
        (Some(_), None) => vec!["not in the later run".into()],
        (None, None) => Vec::new(),
    }
}
