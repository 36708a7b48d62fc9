//! Test cases for agents: a customer writes to the sandbox, an agent works on it, and what it did is graded
//! exactly. The same case with the same acts has the same verdicts.

mod case;
mod comparison;
mod from_conversation;
mod grading;
mod judging;
mod junit;
mod outcome;
mod play;
mod played_runs;
mod runs;
mod samples;
mod stored_cases;
mod webhook_agent;

pub use crate::case::{EvalCase, EvalExpectations, EvalFact, EvalMail, EvalStep};
pub use crate::comparison::{EvalDifference, compare_results};
pub use crate::from_conversation::case_of_conversation;
pub use crate::grading::{EvalVerdict, grade};
pub use crate::junit::junit;
pub use crate::outcome::{EvalCall, EvalMessage, EvalOutcome};
pub use crate::play::{EvalPace, EvalPlayer, EvalWay, play_case};
pub use crate::played_runs::{EvalRunPlan, plan_run, play_run, start_run};
pub use crate::runs::{
    EvalResult, EvalRun, begin_run, end_run, keep_result, last_results, list_runs, load_results,
};
pub use crate::samples::{SAMPLES, add_samples};
pub use crate::stored_cases::{
    find_definition, list_cases, remove_case, save_case, save_definition,
};
pub use crate::webhook_agent::EvalWebhook;
