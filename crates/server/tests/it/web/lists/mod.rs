//! Lists: conversations, search, documents.

mod inbox;
mod library;
mod palette;
mod search;
mod tags;
mod triage;
