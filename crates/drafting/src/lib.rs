//! The drafting helper: which answer a customer's mail asks for, the drafts that are made of it, and
//! what becomes of them.
//!
//! `queue` has the messages to look at, `case` one of them with everything that is decided by.
//! `matching` decides without a model: by the mail that an answer was used on before. With a model,
//! `redaction` takes names and numbers out, `request` is what leaves, `reply` checks what comes back
//! (`grounds`, `promises`). `writing` makes the draft, `helper_drafts` retires it and counts
//! outcomes.

pub mod budget;
pub mod case;
pub mod examples;
pub mod findings;
pub mod grounding;
pub mod matching;
pub mod named_entities;
pub mod promises;
pub mod redaction;
pub mod reply;
pub mod request;
pub mod writing;
