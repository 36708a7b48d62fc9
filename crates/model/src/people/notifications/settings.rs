//! How a person is told: what a notice says, when digests come, and quiet hours.

use base::error::Result;
use base::ids::UserId;
use base::limits::HOUR_MS;
use base::string_enum::string_enum;
use calendar::zone_named;
use db::Tx;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The digest comes at eight in the morning unless somebody chose another time.
const MORNING: i64 = 8 * 60;
const DAY_MINUTES: i64 = 24 * 60;
/// Quiet hours that meet each other are followed for so many days.
const QUIET_DAYS_FOLLOWED: usize = 8;
/// Days of the week, Monday first.
pub const WEEK: usize = 7;

string_enum! {
    /// How often a digest comes.
    DigestPace { Hourly = "hourly", Daily = "daily" }
}

db::row! {
    /// How a person is told.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NoticeSettings from "notice_settings" {
        pub zone: String,
        /// False for notices without names and subjects.
        pub shows_names: bool,
        pub digest: DigestPace,
        /// When the daily digest comes, in minutes after midnight.
        pub digest_minute: i64,
        /// Quiet hours in minutes after midnight; over midnight where they end before they begin.
        pub quiet_from: Option<i64>,
        pub quiet_to: Option<i64>,
        /// The days on which quiet hours begin, Monday first, as `1111100`.
        pub quiet_days: String,
        /// Mails about drafts have their words, and a link to approve.
        pub approves_by_mail: bool,
    }
}

impl Default for NoticeSettings {
    fn default() -> NoticeSettings {
        NoticeSettings {
            zone: "UTC".into(),
            shows_names: true,
            digest: DigestPace::Daily,
            digest_minute: MORNING,
            quiet_from: None,
            quiet_to: None,
            quiet_days: "1111111".into(),
            approves_by_mail: false,
        }
    }
}

impl NoticeSettings {
    /// A person's settings, or the usual ones.
    pub fn of(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<NoticeSettings> {
        Ok(NoticeSettings::load_own(tx, ws, person)?.unwrap_or_default())
    }

    /// A person's settings, where they chose some.
    pub fn load_own(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Option<NoticeSettings>> {
        Ok(tx.opt(
            &format!(
                "SELECT {} FROM notice_settings WHERE ws = ?1 AND person = ?2",
                NoticeSettings::COLUMNS
            ),
            &[&ws, person],
        )?)
    }

    pub fn keep(&self, tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<()> {
        tx.exec(
            "INSERT INTO notice_settings (
                ws, person, zone, shows_names, digest, digest_minute, quiet_from, quiet_to, quiet_days,
                approves_by_mail
             ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (ws, person) DO UPDATE
             SET zone = excluded.zone, shows_names = excluded.shows_names, digest = excluded.digest,
                 digest_minute = excluded.digest_minute, quiet_from = excluded.quiet_from,
                 quiet_to = excluded.quiet_to, quiet_days = excluded.quiet_days,
                 approves_by_mail = excluded.approves_by_mail",
            &[
                &ws,
                person,
                &self.zone,
                &self.shows_names,
                &self.digest,
                &self.digest_minute,
                &self.quiet_from,
                &self.quiet_to,
                &self.quiet_days,
                &self.approves_by_mail,
            ],
        )?;
        Ok(())
    }

    /// When the next digest comes.
    pub fn next_digest(&self, now: i64) -> i64 {
        match self.digest {
            DigestPace::Hourly => (now.div_euclid(HOUR_MS) + 1) * HOUR_MS,
            DigestPace::Daily => {
                let zone = self.time_zone();
                let today = day_of(now, &zone);
                let days = [0, 1, 2].map(|days| today.saturating_add(days.days()));
                let times = days.map(|day| moment(day, self.digest_minute, &zone));
                times.into_iter().find(|at| *at > now).unwrap_or(now + HOUR_MS)
            }
        }
    }

    /// When the quiet hours end that this moment is in.
    pub fn quiet_until(&self, now: i64) -> Option<i64> {
        let mut until = self.quiet_window_end(now)?;
        for _ in 0..QUIET_DAYS_FOLLOWED {
            match self.quiet_window_end(until) {
                Some(later) => until = later,
                None => break,
            }
        }
        Some(until)
    }

    fn quiet_window_end(&self, at: i64) -> Option<i64> {
        let (from, to) = self.quiet_from.zip(self.quiet_to)?;
        let zone = self.time_zone();
        let today = day_of(at, &zone);
        let begins = [today.saturating_sub(1.days()), today];
        begins.into_iter().filter(|day| self.is_quiet_day(*day)).find_map(|day| {
            let last = if to <= from { day.saturating_add(1.days()) } else { day };
            let (start, end) = (moment(day, from, &zone), moment(last, to, &zone));
            (start..end).contains(&at).then_some(end)
        })
    }

    fn is_quiet_day(&self, day: Date) -> bool {
        let place = day.weekday().to_monday_zero_offset() as usize;
        self.quiet_days.as_bytes().get(place) == Some(&b'1')
    }

    fn time_zone(&self) -> TimeZone {
        zone_named(&self.zone).unwrap_or(TimeZone::UTC)
    }
}

fn day_of(at: i64, zone: &TimeZone) -> Date {
    let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone.clone()).date()
}

/// A time of a day; one that the clocks skip comes later.
fn moment(day: Date, minute: i64, zone: &TimeZone) -> i64 {
    let minute = minute.clamp(0, DAY_MINUTES - 1);
    let time = day.at((minute / 60) as i8, (minute % 60) as i8, 0, 0);
    zone.to_ambiguous_timestamp(time).compatible().map_or(0, Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn berlin() -> NoticeSettings {
        NoticeSettings { zone: "Europe/Berlin".into(), ..NoticeSettings::default() }
    }

    #[test]
    fn quiet_hours_run_over_midnight_and_end_on_the_clock_of_their_zone() {
        let quiet = NoticeSettings {
            quiet_from: Some(20 * 60),
            quiet_to: Some(7 * 60),
            quiet_days: "1111100".into(),
            ..berlin()
        };
        // Monday evening until Tuesday morning.
        let morning = Some(at("2026-11-17T06:00:00Z"));
        assert_eq!(quiet.quiet_until(at("2026-11-16T19:00:00Z")), morning);
        assert_eq!(quiet.quiet_until(at("2026-11-17T05:59:59Z")), morning);
        assert_eq!(quiet.quiet_until(at("2026-11-17T06:00:00Z")), None);
        assert_eq!(quiet.quiet_until(at("2026-11-16T18:59:59Z")), None);
        // Friday's run into Saturday; Saturday has none of its own.
        assert!(quiet.quiet_until(at("2026-11-21T05:00:00Z")).is_some());
        assert_eq!(quiet.quiet_until(at("2026-11-21T20:00:00Z")), None);
        // The night in which the clocks go back is an hour longer.
        let autumn = NoticeSettings { quiet_days: "1111111".into(), ..quiet };
        let (evening, morning) = (at("2026-10-24T18:00:00Z"), at("2026-10-25T06:00:00Z"));
        assert_eq!(autumn.quiet_until(evening), Some(morning));
    }

    #[test]
    fn quiet_hours_that_meet_are_one_and_without_days_there_are_none() {
        let whole = NoticeSettings {
            quiet_from: Some(0),
            quiet_to: Some(0),
            quiet_days: "0000011".into(),
            ..berlin()
        };
        let monday = at("2026-11-22T23:00:00Z");
        assert_eq!(whole.quiet_until(at("2026-11-21T10:00:00Z")), Some(monday));
        let never = NoticeSettings { quiet_days: "0000000".into(), ..whole };
        assert_eq!(never.quiet_until(at("2026-11-21T10:00:00Z")), None);
        assert_eq!(berlin().quiet_until(monday), None);
    }

    #[test]
    fn a_digest_comes_at_the_next_hour_or_the_next_morning() {
        let hourly = NoticeSettings { digest: DigestPace::Hourly, ..berlin() };
        assert_eq!(hourly.next_digest(at("2026-11-16T08:00:00Z")), at("2026-11-16T09:00:00Z"));
        let daily = berlin();
        assert_eq!(daily.next_digest(at("2026-11-16T06:59:59Z")), at("2026-11-16T07:00:00Z"));
        assert_eq!(daily.next_digest(at("2026-11-16T07:00:00Z")), at("2026-11-17T07:00:00Z"));
        // A time that the clocks skip comes an hour later.
        let skipped = NoticeSettings { digest_minute: 150, ..berlin() };
        assert_eq!(skipped.next_digest(at("2026-03-28T20:00:00Z")), at("2026-03-29T01:30:00Z"));
    }
}
