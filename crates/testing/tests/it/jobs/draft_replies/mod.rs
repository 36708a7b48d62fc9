//! The drafting helper: drafts from answers, their end, their outcomes, and the language model.

mod built_in;
mod findings;
mod model;
mod outcomes;
mod private;
mod retiring;
