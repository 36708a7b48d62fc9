//! When reports are mailed, and to whom: once a week or a month, at eight in the zone of the workspace.

use std::fmt;

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::UserId;
use base::limits::{DAY_MS, HOUR_MS};
use base::string_enum::string_enum;
use db::Tx;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::figures::report_facts::day_number;
use model::messages::mail_language;
use model::people::notices::{has_report_under_way, notify_of_report};
use model::times::calendar_words::long_date;
use model::times::workspace_zone::workspace_zone;
use translation::t;

use crate::span::date_at;

/// The hour of the day at which reports are mailed.
const MAIL_HOUR: i8 = 8;
const WEEK_DAYS: i64 = 7;

string_enum! {
    /// How often the report is mailed.
    ReportPace { Week = "week", Month = "month" }
}

db::row! {
    /// When the report of a workspace is mailed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ReportSchedule from "report_schedules" {
        pub pace: ReportPace,
        /// From 0 for Monday; a month's report comes on the first day.
        pub weekday: i64,
        pub due_at: i64,
        /// The period that was mailed last; before the first, the one that was over when this was chosen.
        pub last_period: String,
    }
}

/// The days that a mailed report is about, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportPeriod {
    pub from: Date,
    pub to: Date,
}

impl ReportPeriod {
    /// As it is written: `2026-11-09 2026-11-15`.
    pub fn parse(text: &str) -> Option<ReportPeriod> {
        let (from, to) = text.split_once(' ')?;
        Some(ReportPeriod { from: from.parse().ok()?, to: to.parse().ok()? })
    }

    /// `9 November 2026 to 15 November 2026`.
    pub(super) fn words(&self) -> String {
        t!("{from} to {to}", from = long_date(self.from), to = long_date(self.to))
    }
}

impl fmt::Display for ReportPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.from, self.to)
    }
}

impl ReportPace {
    fn before(self, date: Date) -> Date {
        match self {
            ReportPace::Week => date.saturating_sub(WEEK_DAYS.days()),
            ReportPace::Month => date.saturating_sub(1.month()),
        }
    }

    fn after(self, date: Date) -> Date {
        match self {
            ReportPace::Week => date.saturating_add(WEEK_DAYS.days()),
            ReportPace::Month => date.saturating_add(1.month()),
        }
    }

    /// The latest day on which a report was due.
    fn latest_day(self, weekday: i64, now: i64, zone: &TimeZone) -> Date {
        let today = date_at(now, zone);
        let since = i64::from(today.weekday().to_monday_zero_offset()) - weekday;
        let latest = match self {
            ReportPace::Week => today.saturating_sub(since.rem_euclid(WEEK_DAYS).days()),
            ReportPace::Month => today.first_of_month(),
        };
        if mail_time(latest, zone) <= now { latest } else { self.before(latest) }
    }

    /// The days whose report was due last.
    fn latest_period(self, weekday: i64, now: i64, zone: &TimeZone) -> ReportPeriod {
        let day = self.latest_day(weekday, now, zone);
        ReportPeriod { from: self.before(day), to: day.saturating_sub(1.day()) }
    }

    fn next_due(self, weekday: i64, now: i64, zone: &TimeZone) -> i64 {
        mail_time(self.after(self.latest_day(weekday, now, zone)), zone)
    }
}

/// When reports are mailed on a day.
fn mail_time(day: Date, zone: &TimeZone) -> i64 {
    let at = day.at(MAIL_HOUR, 0, 0, 0).to_zoned(zone.clone());
    let in_utc = day_number(day) * DAY_MS + i64::from(MAIL_HOUR) * HOUR_MS;
    at.map_or(in_utc, |at| at.timestamp().as_millisecond())
}

pub fn load_schedule(tx: &mut Tx<'_>, ws: i64) -> Result<Option<ReportSchedule>> {
    let sql = format!("SELECT {} FROM report_schedules WHERE ws = ?1", ReportSchedule::COLUMNS);
    Ok(tx.opt(&sql, &[&ws])?)
}

/// Chooses when the report is mailed; `None` for never. With the same days as before, what was planned is mailed no
/// later, whatever the zone: a period that was mailed is known by `last_period`.
pub fn choose_schedule(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    chosen: Option<(ReportPace, i64)>,
) -> Result<()> {
    let ws = cx.actor.ws;
    let Some((pace, weekday)) = chosen else {
        tx.exec("DELETE FROM report_schedules WHERE ws = ?1", &[&ws])?;
        return Ok(());
    };
    let zone = zone_of(tx, ws)?;
    let next = pace.next_due(weekday, cx.now, &zone);
    let known = load_schedule(tx, ws)?;
    let (due_at, last_period) = match known {
        Some(known) if (known.pace, known.weekday) == (pace, weekday) => {
            (known.due_at.min(next), known.last_period)
        }
        _ => (next, pace.latest_period(weekday, cx.now, &zone).to_string()),
    };
    tx.exec(
        "INSERT INTO report_schedules (ws, pace, weekday, due_at, last_period)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws) DO UPDATE SET pace = excluded.pace, weekday = excluded.weekday,
             due_at = excluded.due_at, last_period = excluded.last_period",
        &[&ws, &pace, &weekday, &due_at, &last_period],
    )?;
    tx.wake(Queue::ReportMails);
    Ok(())
}

fn zone_of(tx: &mut Tx<'_>, ws: i64) -> Result<TimeZone> {
    let name = workspace_zone(tx, ws)?;
    Ok(calendar::zone_named(&name).unwrap_or(TimeZone::UTC))
}

/// The people of the team who get it.
pub fn recipients(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<UserId>> {
    let people: Vec<(UserId,)> = tx.all(
        "SELECT r.person FROM report_recipients r
         JOIN users u ON u.ws = r.ws AND u.id = r.person
         WHERE r.ws = ?1 ORDER BY r.person",
        &[&ws],
    )?;
    Ok(people.into_iter().map(|(person,)| person).collect())
}

pub fn set_recipients(tx: &mut Tx<'_>, ws: i64, people: &[UserId]) -> Result<()> {
    tx.exec("DELETE FROM report_recipients WHERE ws = ?1", &[&ws])?;
    for person in people {
        tx.exec(
            "INSERT INTO report_recipients (ws, person)
             SELECT ws, id FROM users WHERE ws = ?1 AND id = ?2
             ON CONFLICT (ws, person) DO NOTHING",
            &[&ws, person],
        )?;
    }
    Ok(())
}

/// Queues the report that is due, if one is. The schedule moves on in the same transaction, so that each period is
/// mailed once, however many processes work; of several that were missed, the latest is mailed.
pub fn mail_due(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let Some(due) = advance_schedule(tx, cx)? else { return Ok(false) };
    if !due.was_mailed {
        for person in recipients(tx, cx.actor.ws)? {
            queue(tx, cx, &person, due.period)?;
        }
    }
    Ok(true)
}

/// The same without mail: the period that is due counts as mailed.
pub fn skip_due(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    advance_schedule(tx, cx)?;
    Ok(())
}

/// A period whose report is due.
struct DuePeriod {
    period: ReportPeriod,
    was_mailed: bool,
}

/// Moves the schedule on from the period that is due; `None` where none is, or another process was faster.
fn advance_schedule(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<DuePeriod>> {
    let ws = cx.actor.ws;
    let Some(schedule) = load_schedule(tx, ws)? else { return Ok(None) };
    if schedule.due_at > cx.now {
        return Ok(None);
    }
    let ReportSchedule { pace, weekday, due_at, last_period } = schedule;
    let zone = zone_of(tx, ws)?;
    let period = pace.latest_period(weekday, cx.now, &zone);
    let moved = tx.exec(
        "UPDATE report_schedules SET due_at = ?3, last_period = ?4 WHERE ws = ?1 AND due_at = ?2",
        &[&ws, &due_at, &pace.next_due(weekday, cx.now, &zone), &period.to_string()],
    )?;
    let was_mailed = period.to_string() == last_period;
    Ok((moved > 0).then_some(DuePeriod { period, was_mailed }))
}

/// What came of asking for a report at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportNowOutcome {
    Queued,
    /// One is on its way to the person.
    UnderWay,
    /// The person's address is an inbox here or receives no mail.
    Unread,
}

/// Queues the latest report to one person.
pub fn mail_now(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<ReportNowOutcome> {
    let ws = cx.actor.ws;
    if has_report_under_way(tx, ws, person)? {
        return Ok(ReportNowOutcome::UnderWay);
    }
    let schedule = load_schedule(tx, ws)?;
    let (pace, weekday) =
        schedule.map_or((ReportPace::Week, 0), |known| (known.pace, known.weekday));
    let zone = zone_of(tx, ws)?;
    let is_queued = queue(tx, cx, person, pace.latest_period(weekday, cx.now, &zone))?;
    Ok(if is_queued { ReportNowOutcome::Queued } else { ReportNowOutcome::Unread })
}

/// False where nobody reads the person's address.
fn queue(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, period: ReportPeriod) -> Result<bool> {
    let ws = cx.actor.ws;
    let (name,): (String,) = tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&ws])?;
    let reader = mail_language::of_person(tx, ws, person)?;
    let subject =
        reader.run(|| t!("Report of {name}: {period}", name = name, period = period.words()));
    notify_of_report(tx, cx, person, &subject, &period.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<jiff::Timestamp>().unwrap().as_millisecond()
    }

    fn berlin() -> TimeZone {
        calendar::zone_named("Europe/Berlin").unwrap()
    }

    #[test]
    fn a_week_is_due_at_eight_on_its_weekday_in_the_zone() {
        let zone = berlin();
        // Monday 16 November 2026, 7:59 and 8:00 in Berlin.
        let (before, then) = (at("2026-11-16T06:59:00Z"), at("2026-11-16T07:00:00Z"));
        assert_eq!(ReportPace::Week.next_due(0, before, &zone), then);
        assert_eq!(ReportPace::Week.next_due(0, then, &zone), at("2026-11-23T07:00:00Z"));
        let period = |now| ReportPace::Week.latest_period(0, now, &zone).to_string();
        assert_eq!(period(before), "2026-11-02 2026-11-08");
        assert_eq!(period(then), "2026-11-09 2026-11-15");
        assert_eq!(ReportPace::Week.next_due(6, then, &zone), at("2026-11-22T07:00:00Z"));
    }

    #[test]
    fn a_month_is_due_on_its_first_day_whatever_the_clock_did() {
        let zone = berlin();
        let now = at("2026-11-01T07:00:00Z");
        let period = ReportPace::Month.latest_period(0, now, &zone);
        assert_eq!(period.to_string(), "2026-10-01 2026-10-31");
        assert_eq!(ReportPace::Month.next_due(0, now, &zone), at("2026-12-01T07:00:00Z"));
        let summer = at("2026-06-20T00:00:00Z");
        assert_eq!(ReportPace::Month.next_due(0, summer, &zone), at("2026-07-01T06:00:00Z"));
        assert_eq!(ReportPeriod::parse(&period.to_string()), Some(period));
        assert_eq!(ReportPeriod::parse("soon"), None);
    }
}
