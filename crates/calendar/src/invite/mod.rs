//! Invitations (RFC 5546): written for bookings, read from mail.

mod read;
mod write;

pub use read::{
    CalendarInvitation, CalendarReply, EventRecurrence, InvitationMethod, InvitedEvent,
    InvitedTime, read_invitation, read_reply,
};
pub use write::{
    BookingFeed, BookingFeedEntry, BookingFeedStatus, BookingInvitation, InvitationPerson,
    booking_feed, cancellation, invitation,
};
