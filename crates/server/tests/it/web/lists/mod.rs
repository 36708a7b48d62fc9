//! Lists: conversations, search, documents.

mod inbox;
mod library;
mod search;
mod tags;
mod triage;
