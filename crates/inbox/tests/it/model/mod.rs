//! Rows and events that several actions share.

mod events;
mod office_hours;
mod rules;
mod secure;
