//! Days and times that people type, read in their language and on their clock.

use base::error::Error;
use calendar::{TypedTimeReader, typed_clock};
use jiff::Timestamp;
use jiff::civil::Date;

use crate::visitor::Visitor;

impl Visitor {
    /// Reads what this visitor types.
    pub fn typed_times(&self) -> TypedTimeReader {
        let now = Timestamp::from_millisecond(self.now).unwrap_or(Timestamp::UNIX_EPOCH);
        TypedTimeReader::new(translation::current().code(), now.to_zoned(self.zone.clone()))
    }

    /// A typed day as the domain takes it, `2026-11-21`. What is no day stays as it was typed, so that it is refused
    /// and shown again as it is.
    pub fn iso_day(&self, typed: &str) -> String {
        iso_or_typed(self.typed_times().day(typed), typed)
    }

    /// The same of a day that has been, where its year is left out.
    pub fn iso_past_day(&self, typed: &str) -> String {
        iso_or_typed(self.typed_times().past_day(typed), typed)
    }

    /// The same of a day in each line.
    pub fn iso_days(&self, lines: &str) -> String {
        lines.lines().map(|line| self.iso_day(line)).collect::<Vec<_>>().join("\n")
    }

    /// A typed time of the day as `08:30`; what is none stays as it was typed.
    pub fn iso_clock(&self, typed: &str) -> String {
        let clock = typed_clock(translation::current().code(), typed);
        clock.map_or_else(|| typed.to_owned(), |clock| clock.strftime("%H:%M").to_string())
    }

    /// A typed day and time in milliseconds. A day alone means this hour of it.
    pub fn day_and_time(&self, typed: &str, hour: i8) -> base::error::Result<i64> {
        let at = self.typed_times().moment(typed, hour);
        let wrong = "Say a day and a time to come. Write it like tomorrow 9:00.";
        Ok(at.ok_or_else(|| Error::invalid("at", wrong))?.timestamp().as_millisecond())
    }
}

fn iso_or_typed(day: Option<Date>, typed: &str) -> String {
    day.map_or_else(|| typed.to_owned(), |day| day.to_string())
}
