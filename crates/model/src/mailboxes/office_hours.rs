//! When an inbox is staffed, and time counted in those hours. An inbox without office hours is staffed
//! around the clock.

use base::error::Result;
use base::ids::MailboxId;
use base::limits::DAY_MS;
use calendar::{HolidayPlace, HostHours, WeeklyHours, holiday_place, public_holidays, zone_named};
use db::{Json, Tx};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};

/// Days that are looked through at once, and at most: a year in which nobody works ends the search.
const STRIDE_DAYS: i64 = 14;
const MOST_DAYS: i64 = 400;

db::row! {
    /// The hours, automatic reply and targets of an inbox.
    #[derive(Clone, Debug)]
    pub struct OfficeHours from "office_hours" {
        pub mailbox: MailboxId,
        pub zone: String,
        /// As `calendar::WeeklyHours` is written; empty is around the clock.
        pub weekly: String,
        /// Closed days: dates such as `2026-12-24`, and places such as `DE-BY` whose public holidays are.
        pub holidays: Json<Vec<String>>,
        /// Sent outside office hours; empty for none.
        pub away_reply: String,
        /// Targets in minutes of office hours, and those of urgent conversations.
        pub answer_minutes: Option<i64>,
        pub answer_urgent: Option<i64>,
        pub resolve_minutes: Option<i64>,
        pub resolve_urgent: Option<i64>,
    }
}

/// The office hours of an inbox, where it has some.
pub fn of(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<Option<OfficeHours>> {
    let sql =
        format!("SELECT {} FROM office_hours WHERE ws = ?1 AND mailbox = ?2", OfficeHours::COLUMNS);
    Ok(tx.read_once("office_hours", &sql, &[&ws, mailbox])?.pop())
}

/// The zone of an inbox: that of its office hours; without any, the one that the other inboxes of the team
/// name, if they agree.
pub fn zone_of(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId) -> Result<Option<String>> {
    if let Some(hours) = of(tx, ws, mailbox)? {
        return Ok(Some(hours.zone));
    }
    zone_of_team(tx, ws)
}

/// The zone that the office hours of the team's inboxes name, if they agree.
pub fn zone_of_team(tx: &mut Tx<'_>, ws: i64) -> Result<Option<String>> {
    let (first, last): (Option<String>, Option<String>) = tx.one(
        "SELECT min(h.zone), max(h.zone)
         FROM office_hours h JOIN mailboxes m ON m.ws = h.ws AND m.id = h.mailbox
         WHERE h.ws = ?1 AND m.circle = 'team'",
        &[&ws],
    )?;
    Ok(first.filter(|zone| last.as_ref() == Some(zone)))
}

/// True where an inbox has office hours and is closed at a time.
pub fn is_closed(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId, at: i64) -> Result<bool> {
    let hours = of(tx, ws, mailbox)?;
    Ok(hours.is_some_and(|hours| hours.is_closed(at)))
}

/// The office time of an inbox between two moments, in milliseconds.
pub fn between(tx: &mut Tx<'_>, ws: i64, mailbox: &MailboxId, from: i64, to: i64) -> Result<i64> {
    let hours = of(tx, ws, mailbox)?;
    Ok(hours.map_or((to - from).max(0), |hours| hours.between(from, to)))
}

impl OfficeHours {
    pub fn has_targets(&self) -> bool {
        let all =
            [self.answer_minutes, self.answer_urgent, self.resolve_minutes, self.resolve_urgent];
        all.iter().any(Option::is_some)
    }

    /// Where the inbox is; UTC where that cannot be read.
    pub fn time_zone(&self) -> jiff::tz::TimeZone {
        zone_named(&self.zone).unwrap_or(jiff::tz::TimeZone::UTC)
    }

    /// The dates on which it is closed, as they were written.
    pub fn closed_dates(&self) -> impl Iterator<Item = &str> {
        let is_date = |day: &&str| holiday_place(day).is_none();
        self.holidays.iter().map(String::as_str).filter(is_date)
    }

    /// The place on whose public holidays it is closed.
    pub fn holiday_place(&self) -> Option<HolidayPlace> {
        self.holidays.iter().find_map(|code| holiday_place(code))
    }

    fn hours(&self) -> Option<HostHours> {
        let weekly: WeeklyHours = self.weekly.parse().ok()?;
        if self.weekly.trim().is_empty() {
            return None;
        }
        let mut hours = HostHours::new(self.time_zone(), weekly);
        hours.holidays = self.closed_dates().filter_map(|day| day.parse().ok()).collect();
        Some(hours)
    }

    pub fn is_closed(&self, at: i64) -> bool {
        let Some(mut hours) = self.hours() else { return false };
        let open = self.windows(&mut hours, at - DAY_MS, 3);
        !open.iter().any(|(from, to)| (*from..*to).contains(&at))
    }

    /// The office time between two moments, in milliseconds.
    pub fn between(&self, from: i64, to: i64) -> i64 {
        let Some(mut hours) = self.hours() else { return (to - from).max(0) };
        let days = ((to - from) / DAY_MS + 3).clamp(1, MOST_DAYS);
        let open = self.windows(&mut hours, from - DAY_MS, days);
        open.iter().map(|(start, end)| (to.min(*end) - from.max(*start)).max(0)).sum()
    }

    /// When so much office time has passed; `None` where nobody works for a year.
    pub fn after(&self, from: i64, ms: i64) -> Option<i64> {
        let Some(mut hours) = self.hours() else { return Some(from + ms) };
        let (mut left, mut start) = (ms, from - DAY_MS);
        let mut last_end = from;
        for _ in 0..MOST_DAYS / STRIDE_DAYS {
            for (open, close) in self.windows(&mut hours, start, STRIDE_DAYS) {
                let open = open.max(last_end);
                if close <= open {
                    continue;
                }
                if open + left <= close {
                    return Some(open + left);
                }
                left -= close - open;
                last_end = close;
            }
            start += STRIDE_DAYS * DAY_MS;
        }
        None
    }

    /// The windows of some days, from that of a moment on, in order and in milliseconds. The public
    /// holidays of these days are added to the hours.
    fn windows(&self, hours: &mut HostHours, from: i64, days: i64) -> Vec<(i64, i64)> {
        let from = Timestamp::from_millisecond(from).unwrap_or(Timestamp::UNIX_EPOCH);
        let first: Date = from.to_zoned(hours.zone.clone()).date();
        let last = first.saturating_add((days - 1).days());
        if let Some(place) = self.holiday_place() {
            let holidays = public_holidays(place.code, first, last);
            hours.holidays.extend(holidays.into_iter().map(|holiday| holiday.date));
        }
        let millis = |window: calendar::HoursWindow| {
            (window.range.start.as_millisecond(), window.range.end.as_millisecond())
        };
        let mut all: Vec<(i64, i64)> = hours.windows(first, last).into_iter().map(millis).collect();
        all.sort_unstable();
        // Hours that run past midnight may meet those of the next day.
        let mut apart: Vec<(i64, i64)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match apart.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => apart.push((from, to)),
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(weekly: &str) -> OfficeHours {
        OfficeHours {
            mailbox: MailboxId::parse("mbx_1").unwrap(),
            zone: "Europe/Berlin".into(),
            weekly: weekly.into(),
            holidays: Json(vec!["2026-12-25".into()]),
            away_reply: String::new(),
            answer_minutes: None,
            answer_urgent: None,
            resolve_minutes: None,
            resolve_urgent: None,
        }
    }

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn time_counts_in_office_hours_alone() {
        let office = hours("mon-fri 09:00-17:00");
        // Thursday 16:00 to Monday 10:00 over a holiday and a weekend: two hours.
        let (from, to) = (at("2026-12-24T15:00:00Z"), at("2026-12-28T09:00:00Z"));
        assert_eq!(office.between(from, to), 2 * 3_600_000);
        assert_eq!(office.after(from, 2 * 3_600_000), Some(to));
        assert!(office.is_closed(at("2026-12-25T10:00:00Z")));
        assert!(!office.is_closed(at("2026-12-24T15:00:00Z")));
        assert!(office.is_closed(at("2026-12-24T16:00:00Z")));
        let month = 21 * 8 * 3_600_000;
        let due = office.after(from, month).unwrap();
        assert_eq!(office.between(from, due), month);
    }

    #[test]
    fn the_public_holidays_of_a_place_are_closed() {
        let mut office = hours("mon-fri 09:00-17:00");
        // Good Friday and Easter Monday, which no list of dates names.
        let (friday, monday) = (at("2027-03-26T10:00:00Z"), at("2027-03-29T10:00:00Z"));
        assert!(!office.is_closed(friday) && !office.is_closed(monday));
        office.holidays = Json(vec!["DE-BY".into(), "2027-03-25".into()]);
        assert!(office.is_closed(friday) && office.is_closed(monday));
        assert!(office.is_closed(at("2027-03-25T10:00:00Z")));
        assert_eq!(office.closed_dates().collect::<Vec<_>>(), ["2027-03-25"]);
        // Wednesday 16:00 to Tuesday 10:00.
        let (from, to) = (at("2027-03-24T15:00:00Z"), at("2027-03-30T08:00:00Z"));
        assert_eq!(office.between(from, to), 2 * 3_600_000);
        assert_eq!(office.after(from, 2 * 3_600_000), Some(to));
    }

    #[test]
    fn hours_past_midnight_that_meet_those_of_the_next_day_count_once() {
        let office = hours("fri 20:00-02:00; sat 00:00-04:00");
        assert!(office.is_closed(at("2026-12-04T18:00:00Z")));
        // Friday 20:00 to Saturday 04:00 in Berlin.
        let (from, to) = (at("2026-12-04T19:00:00Z"), at("2026-12-05T03:00:00Z"));
        assert_eq!(office.between(from, to), 8 * 3_600_000);
        assert_eq!(office.after(from, 8 * 3_600_000), Some(to));
    }

    #[test]
    fn without_hours_every_hour_counts_and_without_an_open_day_none_comes() {
        let always = hours("");
        assert!(!always.is_closed(0));
        assert_eq!((always.between(5, 10), always.after(5, 10)), (5, Some(15)));
        let mut never = hours("mon 09:00-10:00");
        let day = |week: i64| Date::constant(2026, 1, 5).saturating_add((week * 7).days());
        never.holidays = Json((0..80).map(|week| day(week).to_string()).collect());
        assert_eq!(never.after(at("2026-01-05T00:00:00Z"), 1), None);
    }
}
