//! Rows and events that several actions share.

mod bookings;
mod events;
mod secure;
