//! Rows and events that several actions share.

mod acme;
mod agent_judgement;
mod booking_access;
mod booking_answers;
mod booking_calendars;
mod booking_deadlines;
mod booking_invitations;
mod bookings;
mod events;
mod follow_ups;
mod halted_agents;
mod hijack_table;
mod hijacked_agents;
mod mail_languages;
mod notifications;
mod office_hours;
mod rule_sight;
mod rules;
mod satisfaction;
mod secure;
mod undone_bookings;
