//! What people and customers are told by themselves.

pub(crate) mod ask_satisfaction;
pub(crate) mod bookings;
pub(crate) mod mail_reports;
pub(crate) mod notify_people;
pub(crate) mod remind;
pub(crate) mod remind_secure;
pub(crate) mod send_notices;
pub(crate) mod send_pushes;
