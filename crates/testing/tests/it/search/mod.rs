//! The full-text index and the lists.

mod model;
mod operators;
mod query;
mod quoted;
mod unreadable;
