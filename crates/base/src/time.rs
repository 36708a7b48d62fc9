//! Time is milliseconds since 1970 inside, ISO 8601 in UTC outside, and an argument everywhere.

use db::{Column, FromColumn};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::DAY_MS;

/// The clock: the system's, or a test's.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now(&self) -> i64;
}

pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        Timestamp::now().as_millisecond()
    }
}

/// A timestamp as API responses carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub i64);

impl Moment {
    /// `2026-11-15T10:42:00.000Z`
    pub fn iso(self) -> String {
        format!("{:.3}", timestamp(self.0))
    }

    /// `12 December 2026`, in UTC.
    pub fn day(self) -> String {
        timestamp(self.0).strftime("%-d %B %Y").to_string()
    }

    /// `10:42`, in UTC.
    pub fn clock_time(self) -> String {
        timestamp(self.0).strftime("%H:%M").to_string()
    }
}

impl FromColumn for Moment {
    const WANTED: &'static str = i64::WANTED;
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Moment)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.iso())
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Moment, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time: Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Moment(time.as_millisecond()))
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// True for a day of the calendar written as `2026-11-15`.
pub fn is_date(text: &str) -> bool {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(place, b)| match place {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        });
    shaped && text.parse::<jiff::civil::Date>().is_ok()
}

/// A day, or a moment of one, that a caller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedTime {
    /// The first millisecond that is meant.
    pub begins: i64,
    /// The last one: the same, or the end of the day in UTC.
    pub ends: i64,
}

impl NamedTime {
    /// `2026-11-15`, `2026-11-15T09:14:03Z` or with another offset.
    pub fn parse(text: &str) -> Option<NamedTime> {
        if is_date(text) {
            let date: jiff::civil::Date = text.parse().ok()?;
            let begins = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
            let begins = begins.as_millisecond();
            return Some(NamedTime { begins, ends: begins + DAY_MS - 1 });
        }
        let is_shaped = text.len() >= 17 && text.as_bytes()[10] == b'T' && is_date(&text[..10]);
        let at = text.parse::<Timestamp>().ok().filter(|_| is_shaped)?.as_millisecond();
        Some(NamedTime { begins: at, ends: at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc_with_milliseconds() {
        assert_eq!(Moment(0).iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Moment(1_763_203_320_007).iso(), "2025-11-15T10:42:00.007Z");
        assert_eq!(Moment(1_763_203_320_007).clock_time(), "10:42");
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        for good in ["2026-02-28", "2028-02-29", "0001-01-01", "9999-12-31"] {
            assert!(is_date(good), "{good}");
        }
        for bad in
            ["2026-02-30", "2026-2-3", "20260228", "2026-13-01", "2026-02-28T00", "２026-02-28"]
        {
            assert!(!is_date(bad), "{bad}");
        }
    }

    #[test]
    fn a_named_day_is_all_of_it_and_a_moment_is_itself() {
        let day = NamedTime::parse("1970-01-02").expect("a day");
        assert_eq!((day.begins, day.ends), (86_400_000, 172_799_999));
        let moment = NamedTime::parse("1970-01-01T01:00:00.5+01:00").expect("a moment");
        assert_eq!((moment.begins, moment.ends), (500, 500));
        for bad in ["", "1970", "1970-13-01", "1970-01-01T00:00:00", "1970-01-01 00:00Z", "é"] {
            assert_eq!(NamedTime::parse(bad), None, "{bad}");
        }
    }
}
