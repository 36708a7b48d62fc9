//! When scheduled backups are written.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The longest time between two, in hours.
const MOST_HOURS: i64 = 7 * 24;
const HOUR_MS: i64 = 60 * 60 * 1_000;

/// When scheduled backups are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupTiming {
    /// Every day at this time, UTC.
    Daily(Time),
    /// So many hours after the one before.
    Hours(i64),
}

impl FromStr for BackupTiming {
    type Err = String;

    fn from_str(text: &str) -> Result<BackupTiming, String> {
        let wanted = || "must be a time in UTC such as 03:00, or hours such as 6h".to_owned();
        if let Some(hours) = text.trim().strip_suffix('h') {
            let hours: i64 = hours.trim().parse().map_err(|_| wanted())?;
            let is_right = (1..=MOST_HOURS).contains(&hours);
            return if is_right { Ok(BackupTiming::Hours(hours)) } else { Err(wanted()) };
        }
        let time = Time::strptime("%H:%M", text.trim()).map_err(|_| wanted())?;
        Ok(BackupTiming::Daily(time))
    }
}

impl fmt::Display for BackupTiming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackupTiming::Daily(time) => {
                write!(f, "every day at {:02}:{:02} UTC", time.hour(), time.minute())
            }
            BackupTiming::Hours(1) => f.write_str("every hour"),
            BackupTiming::Hours(hours) => write!(f, "every {hours} hours"),
        }
    }
}

impl BackupTiming {
    /// The first moment after this one, in milliseconds.
    pub fn after(&self, now: i64) -> i64 {
        match *self {
            BackupTiming::Hours(hours) => now + hours * HOUR_MS,
            BackupTiming::Daily(time) => {
                let moment = Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
                let today = moment.to_zoned(TimeZone::UTC).date().to_datetime(time);
                let today = today.to_zoned(TimeZone::UTC).map(|today| today.timestamp());
                let today = today.unwrap_or(moment);
                let day = SignedDuration::from_hours(24);
                let next = if today > moment { today } else { today + day };
                next.as_millisecond()
            }
        }
    }

    /// When the first is due after a server was started with this timing.
    pub fn first(&self, now: i64) -> i64 {
        match self {
            BackupTiming::Hours(_) => now,
            BackupTiming::Daily(_) => self.after(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn a_timing_is_a_time_or_hours() {
        let daily: BackupTiming = "03:30".parse().unwrap();
        assert_eq!(daily.to_string(), "every day at 03:30 UTC");
        assert_eq!(daily.after(at("2026-11-16T03:29:59Z")), at("2026-11-16T03:30:00Z"));
        assert_eq!(daily.after(at("2026-11-16T03:30:00Z")), at("2026-11-17T03:30:00Z"));
        assert_eq!(daily.first(at("2026-11-16T12:00:00Z")), at("2026-11-17T03:30:00Z"));
        let hours: BackupTiming = "6h".parse().unwrap();
        assert_eq!(hours.after(0), 6 * HOUR_MS);
        assert_eq!(hours.first(7), 7, "the first is written at once");
        for bad in ["", "3", "24:00", "0h", "169h", "h", "noon"] {
            assert!(bad.parse::<BackupTiming>().is_err(), "{bad}");
        }
    }
}
