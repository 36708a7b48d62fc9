//! API section 6.1: events on their way to webhooks.

mod chats;
mod delivery;
mod fairness;
mod log;
mod pausing;
mod processes;
mod retries;
mod scoping;
mod secrets;
mod upkeep;
