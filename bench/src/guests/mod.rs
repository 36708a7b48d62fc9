//! What customers reach by a link: uploads, protected messages, bookings.

pub mod bookings;
pub mod protected;
pub mod uploads;
