//! Rows and events that several actions share.

mod events;
mod secure;
