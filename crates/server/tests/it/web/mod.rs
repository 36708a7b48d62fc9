//! The web app, page by page: what is shown, what forms do, and to whom.

mod approvals;
mod asking;
pub mod browser;
mod compose;
mod connect;
mod conversation;
mod headers;
mod inbox;
mod inbox_settings;
mod library;
mod live;
mod mentions;
mod original;
mod outgoing;
mod own_sign_in;
mod reading;
mod services;
mod settings;
mod sign_in;
mod tags;
mod team;
mod templates;
mod upload;
mod visibility;
mod webhooks;
mod welcome;
mod writing;
