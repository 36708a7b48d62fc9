//! Time is milliseconds since 1970 inside, ISO 8601 in UTC outside, and an argument everywhere.

use db::{Column, FromColumn};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
}
