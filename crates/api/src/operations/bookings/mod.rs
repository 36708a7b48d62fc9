//! Operations on bookings.

pub(crate) mod cancel_booking;
pub(crate) mod create_booking;
pub(crate) mod find_slots;
pub(crate) mod list_booking_types;
pub(crate) mod list_bookings;
pub(crate) mod move_booking;
