//! Rows and events that several actions share.

mod booking_access;
mod booking_calendars;
mod bookings;
mod events;
mod follow_ups;
mod notifications;
mod office_hours;
mod rules;
mod secure;
