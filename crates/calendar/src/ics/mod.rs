//! Reads iCalendar (RFC 5545) as the world writes it: what is odd is passed over, what is hostile
//! is refused.

mod component;
mod event;
mod line;
mod reader;
pub(crate) mod value;

pub(crate) use event::{CalendarEvent, EventStatus, EventTime, PeriodEnd};
pub(crate) use reader::{EventDetail, ParsedCalendar, read};

pub use event::{CalendarPerson, ParticipationStatus};

/// Why a calendar is not read. The sentence is for people and holds nothing of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedError {
    NotCalendar,
    Truncated,
    TooLarge,
    TooManyEvents,
    TooDeep,
    TooMuchWork,
    WindowTooLong,
}

impl FeedError {
    pub fn sentence(self) -> &'static str {
        match self {
            FeedError::NotCalendar => "There is no calendar at this address.",
            FeedError::Truncated => "The calendar ends in the middle.",
            FeedError::TooLarge => "The calendar is too large.",
            FeedError::TooManyEvents => "The calendar has too many events.",
            FeedError::TooDeep => "The calendar is damaged.",
            FeedError::TooMuchWork => "The calendar has events that repeat too often.",
            FeedError::WindowTooLong => "Busy times were asked for too many days.",
        }
    }
}

impl std::fmt::Display for FeedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for FeedError {}
