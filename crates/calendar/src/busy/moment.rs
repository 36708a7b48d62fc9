//! Written times on the clock of a zone, and how long an event lasts on it.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::civil::{CivilSeconds, DAY_SECONDS, civil_seconds, date_time_of};
use crate::ics::value::{NominalDuration, WrittenTime};
use crate::ics::{CalendarEvent, EventTime, ParsedCalendar, PeriodEnd};
use crate::range::TimeRange;
use crate::zones::CalendarZone;

/// The clocks that times of a calendar are on.
pub(crate) struct Clocks<'a> {
    zones: &'a [Option<CalendarZone>],
    /// Of times without a zone, or with one that nobody knows.
    floating: CalendarZone,
    /// Of days.
    host: CalendarZone,
    utc: CalendarZone,
}

/// A time on a clock.
#[derive(Clone, Copy)]
pub(crate) struct EventMoment<'a> {
    pub civil: CivilSeconds,
    pub clock: &'a CalendarZone,
    pub is_day: bool,
}

/// How long an event lasts. Days and hours of the clock are put on the start's clock, so that a
/// night shift ends at six whatever the clock did; elapsed time is added to the instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventLength {
    on_clock: CivilSeconds,
    elapsed: CivilSeconds,
}

impl<'a> Clocks<'a> {
    pub fn new(calendar: &'a ParsedCalendar, host_zone: &TimeZone) -> Clocks<'a> {
        let floating = calendar.floating_zone.as_ref().unwrap_or(host_zone);
        Clocks {
            zones: &calendar.zones,
            floating: CalendarZone::Known(floating.clone()),
            host: CalendarZone::Known(host_zone.clone()),
            utc: CalendarZone::Known(TimeZone::UTC),
        }
    }

    pub fn moment(&self, time: EventTime) -> EventMoment<'_> {
        let clock = match (time.time, time.zone) {
            (WrittenTime::Date(_), _) => &self.host,
            (WrittenTime::Utc(_), _) => &self.utc,
            (WrittenTime::Local(_), zone) => {
                zone.and_then(|at| self.zones.get(at)?.as_ref()).unwrap_or(&self.floating)
            }
        };
        let (civil, is_day) = match time.time {
            WrittenTime::Date(date) => (date.at(0, 0, 0, 0), true),
            WrittenTime::Local(time) | WrittenTime::Utc(time) => (time, false),
        };
        EventMoment { civil: civil_seconds(civil), clock, is_day }
    }

    /// The length of an event, or of a period that begins at `start`.
    pub fn length(&self, start: EventMoment<'_>, end: Option<PeriodEnd>) -> EventLength {
        let length = match end {
            Some(PeriodEnd::At(end)) => {
                EventLength { on_clock: self.civil_on(start, end) - start.civil, elapsed: 0 }
            }
            Some(PeriodEnd::After(NominalDuration { days, seconds })) => {
                EventLength { on_clock: days * DAY_SECONDS, elapsed: seconds }
            }
            None => EventLength::default(),
        };
        // A day lasts a day, also where its end is missing or, as some write it, the same day.
        match start.is_day && length.on_clock + length.elapsed == 0 {
            true => EventLength { on_clock: DAY_SECONDS, elapsed: 0 },
            false => length,
        }
    }

    pub fn length_of(&self, event: &CalendarEvent) -> EventLength {
        self.length(self.moment(event.start), event.end)
    }

    /// A time on the clock of another moment.
    pub fn civil_on(&self, other: EventMoment<'_>, time: EventTime) -> CivilSeconds {
        let moment = self.moment(time);
        if moment.is_day || other.is_day || std::ptr::eq(moment.clock, other.clock) {
            return moment.civil;
        }
        civil_seconds(other.clock.civil(moment.instant()))
    }
}

impl EventMoment<'_> {
    pub fn instant(&self) -> Timestamp {
        self.clock.instant(self.date_time())
    }

    pub fn date_time(&self) -> DateTime {
        date_time_of(self.civil)
    }

    pub fn at(&self, civil: CivilSeconds) -> Self {
        EventMoment { civil, ..*self }
    }

    /// What an event of this length takes from here on.
    pub fn range(&self, length: EventLength) -> TimeRange {
        let start = self.instant();
        let end = self.at(self.civil + length.on_clock).instant();
        let end = later(end, length.elapsed);
        match length.seconds() {
            0 => TimeRange::new(start, start),
            // Start and end were swapped by whoever wrote it.
            ..0 => TimeRange::new(end, start),
            // A change of the clock would swallow it.
            seconds if end <= start => TimeRange::new(start, later(start, seconds)),
            _ => TimeRange::new(start, end),
        }
    }
}

fn later(instant: Timestamp, seconds: i64) -> Timestamp {
    instant.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(instant)
}

impl EventLength {
    /// Roughly, for how far before a window an event may begin that reaches into it.
    pub fn seconds(&self) -> CivilSeconds {
        self.on_clock + self.elapsed
    }
}
