//! Bookings: the pages of customers, the app, and their settings.

mod appointments;
mod code_mails;
mod deadlines;
mod pages;
mod settings;
mod team_calendar;
