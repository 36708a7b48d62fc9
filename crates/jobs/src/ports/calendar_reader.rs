//! The port through which hosts' calendars are read.

use base::concurrency::future::BoxFuture;
use bookings::calendars::{CalendarAnswer, CalendarSource};

/// Reads a calendar where it is kept.
pub trait CalendarReader: Send + Sync {
    fn read<'a>(&'a self, source: &'a CalendarSource) -> BoxFuture<'a, CalendarAnswer>;
}
