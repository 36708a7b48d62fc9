//! A time zone by a calendar's own description of it (VTIMEZONE, RFC 5545 3.6.5).

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};

use crate::civil::{CivilSeconds, DAY_SECONDS, civil_seconds, date_time_of, days_before};
use crate::ics::value::WrittenTime;
use crate::limits::ZONE_OBSERVANCES;
use crate::rule::{ExpansionBudget, RecurrenceRule, occurrences};

/// Changes of offset are worked out for these years. Before them the first offset holds, after
/// them the last.
const FIRST_YEAR: i64 = 1970;
const LAST_YEAR: i64 = 2100;

/// A STANDARD or DAYLIGHT part: an offset and when it begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observance {
    pub start: Option<DateTime>,
    pub offset_before: Option<i32>,
    pub offset: Option<i32>,
    pub rules: Vec<RecurrenceRule>,
    pub dates: Vec<DateTime>,
}

/// Offsets in seconds east of Greenwich, and the changes between them in order.
#[derive(Clone, Debug)]
pub(crate) struct ObservedZone {
    first_offset: i64,
    changes: Vec<OffsetChange>,
}

#[derive(Clone, Copy, Debug)]
struct OffsetChange {
    /// Seconds since 1970 in UTC.
    at: i64,
    before: i64,
    after: i64,
}

impl ObservedZone {
    /// `None` if nothing in it says an offset, or if it asks for too much work.
    pub fn new(observances: &[Observance], work: &mut ExpansionBudget) -> Option<ObservedZone> {
        let mut onsets = Vec::new();
        for observance in observances.iter().take(ZONE_OBSERVANCES) {
            onsets.extend(onsets_of(observance, work)?);
        }
        onsets.sort_unstable_by_key(|change: &OffsetChange| change.at);
        onsets.dedup_by_key(|change| change.at);
        let first_offset = onsets.first()?.before;
        let mut offset = first_offset;
        for change in &mut onsets {
            // What was in force before is what the description says was in force, whatever the
            // onset itself claims.
            change.before = offset;
            offset = change.after;
        }
        Some(ObservedZone { first_offset, changes: onsets })
    }

    pub fn instant(&self, time: DateTime) -> Timestamp {
        let local = civil_seconds(time);
        // From the later of the two local times at a change on, the new offset holds: before it a
        // time was left out (the old offset puts it later) or comes for the first time.
        let past = self
            .changes
            .partition_point(|change| change.at + change.before.max(change.after) <= local);
        timestamp(local - self.offset_after(past))
    }

    pub fn civil(&self, instant: Timestamp) -> DateTime {
        let at = instant.as_second();
        let past = self.changes.partition_point(|change| change.at <= at);
        date_time_of(at + self.offset_after(past))
    }

    fn offset_after(&self, changes: usize) -> i64 {
        match changes.checked_sub(1) {
            Some(last) => self.changes[last].after,
            None => self.first_offset,
        }
    }
}

fn timestamp(seconds: i64) -> Timestamp {
    let limit = Timestamp::MAX.as_second();
    Timestamp::UNIX_EPOCH
        .saturating_add(SignedDuration::from_secs(seconds.clamp(-limit, limit)))
        .unwrap_or(Timestamp::MAX)
}

/// Onsets are local times by the offset before them. A part without an offset says nothing.
fn onsets_of(observance: &Observance, work: &mut ExpansionBudget) -> Option<Vec<OffsetChange>> {
    let (Some(start), Some(after)) = (observance.start, observance.offset) else {
        return Some(Vec::new());
    };
    let before = observance.offset_before.unwrap_or(after);
    let start = civil_seconds(start);
    let mut onsets: Vec<CivilSeconds> = vec![start];
    onsets.extend(observance.dates.iter().copied().map(civil_seconds));
    let first = days_before(FIRST_YEAR, 1) * DAY_SECONDS;
    let last = days_before(LAST_YEAR, 1) * DAY_SECONDS;
    for rule in &observance.rules {
        let end = until(rule, i64::from(before)).map_or(last, |until| last.min(until + 1));
        onsets.extend(occurrences(rule, start, first, end, work).ok()?);
    }
    let change = |onset: CivilSeconds| OffsetChange {
        at: onset - i64::from(before),
        before: i64::from(before),
        after: i64::from(after),
    };
    Some(onsets.into_iter().map(change).collect())
}

fn until(rule: &RecurrenceRule, offset: i64) -> Option<CivilSeconds> {
    Some(match rule.until? {
        WrittenTime::Utc(time) => civil_seconds(time) + offset,
        WrittenTime::Local(time) => civil_seconds(time),
        WrittenTime::Date(date) => civil_seconds(date.at(23, 59, 59, 0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zones::{instant_in, zone_named};
    use jiff::civil::datetime;

    fn observance(start: DateTime, from: i32, to: i32, rule: &str) -> Observance {
        Observance {
            start: Some(start),
            offset_before: Some(from),
            offset: Some(to),
            rules: vec![RecurrenceRule::parse(rule).unwrap()],
            dates: Vec::new(),
        }
    }

    /// As Outlook describes Berlin, from the year 1601 on.
    fn berlin() -> ObservedZone {
        let standard = observance(
            datetime(1601, 10, 28, 3, 0, 0, 0),
            7_200,
            3_600,
            "FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10",
        );
        let daylight = observance(
            datetime(1601, 3, 25, 2, 0, 0, 0),
            3_600,
            7_200,
            "FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3",
        );
        ObservedZone::new(&[standard, daylight], &mut ExpansionBudget::new()).unwrap()
    }

    #[test]
    fn a_described_zone_agrees_with_the_known_one_gaps_and_folds_included() {
        let (described, known) = (berlin(), zone_named("Europe/Berlin").unwrap());
        let mut time = datetime(2026, 1, 1, 0, 15, 0, 0);
        while time.year() < 2028 {
            let instant = instant_in(&known, time);
            assert_eq!(described.instant(time), instant, "{time}");
            assert_eq!(described.civil(instant), known.to_datetime(instant), "{time}");
            time += SignedDuration::from_mins(45);
        }
    }

    #[test]
    fn a_description_without_offsets_is_no_zone() {
        assert!(ObservedZone::new(&[Observance::default()], &mut ExpansionBudget::new()).is_none());
        assert!(ObservedZone::new(&[], &mut ExpansionBudget::new()).is_none());
    }
}
