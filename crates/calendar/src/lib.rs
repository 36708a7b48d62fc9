//! Pure functions over calendars: feeds, hours and bookings in; busy times, slots and invitations
//! out.
//!
//! - [`busy_times`] reads an ICS feed and expands its series within a window.
//! - [`HostHours`] turns civil hours into windows of time, across changes of the clock.
//! - [`public_holidays`] are those of a country or a part of one.
//! - [`slots()`] finds the times that can be booked, [`slot_report`] and [`day_parts`] say why others cannot.
//! - [`invitation`], [`cancellation`] and [`booking_feed`] write iCalendar.
//! - [`TypedTimeReader`] reads days and times as people type them.
//! - [`read_invitation`] and [`read_reply`] read the calendar part of a mail.
//!
//! Deliberately absent: sockets, the clock, files, the machine's time zone data. A feed is hostile
//! until it has been read, and every loop over one has a limit in [`limits`].

mod busy;
mod civil;
mod holidays;
mod hours;
mod ics;
mod invite;
pub mod limits;
mod range;
mod rule;
mod slots;
mod typed_times;
mod zones;

pub use busy::{BusyInterval, BusyQuery, BusyTimes, busy_times};
pub use holidays::{HolidayPlace, PublicHoliday, holiday_place, holiday_places, public_holidays};
pub use hours::{
    ClockRange, HostHours, HoursError, HoursWindow, TravelStay, WeeklyHours, clock_ranges,
};
pub use ics::{CalendarPerson, FeedError, ParticipationStatus};
pub use invite::{
    BookingFeed, BookingFeedEntry, BookingFeedStatus, BookingInvitation, CalendarInvitation,
    CalendarReply, EventRecurrence, InvitationMethod, InvitationPerson, InvitedEvent, InvitedTime,
    booking_feed, cancellation, invitation, read_invitation, read_reply,
};
pub use range::TimeRange;
pub use rule::{Frequency, RecurrencePattern, RuleWeekday};
pub use slots::{
    DayPart, DayPartKind, HostBooking, HostDayReport, HostMode, RoundRobinState, SlotError,
    SlotHost, SlotObstacle, SlotQuery, SlotRules, TimeSlot, day_parts, order_of_turns, slot_at,
    slot_report, slots, turns_of_new_host,
};
pub use typed_times::{TYPED_TIME_CHARS, TypedTimeReader, day_form, typed_clock};
pub use zones::{zone_named, zone_names};
