//! The full-text index and the lists.

mod grown;
mod model;
mod operators;
mod query;
mod quoted;
mod unreadable;
