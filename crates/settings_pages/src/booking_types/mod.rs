//! Booking types and their hosts.

pub(crate) mod booking_preview;
pub(crate) mod booking_type;
pub(crate) mod booking_why;
pub(crate) mod bookings;
pub(crate) mod type_fields;
