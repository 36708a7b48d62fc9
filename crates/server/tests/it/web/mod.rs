//! The web app, page by page: what is shown, what forms do, and to whom.

mod approvals;
mod asking;
mod browser;
mod conversation;
mod headers;
mod inbox;
mod library;
mod live;
mod original;
mod settings;
mod sign_in;
mod visibility;
mod webhooks;
