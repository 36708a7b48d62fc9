//! Expands a rule into the occurrences of a window, in civil time. Without a count the work is
//! proportional to the window; with one, simple rules are counted by arithmetic and the others from
//! their start, within [`ExpansionBudget`].

use super::RecurrenceRule;
use super::budget::{ExpansionBudget, TooMuchWork};
use super::pattern::Pattern;
use crate::civil::CivilSeconds;
use crate::limits::BUSY_INTERVALS;

/// The occurrences at or after `from` and before `to`, in order. The start is one of them only if
/// the rule says so.
pub(crate) fn occurrences(
    rule: &RecurrenceRule,
    start: CivilSeconds,
    from: CivilSeconds,
    to: CivilSeconds,
    work: &mut ExpansionBudget,
) -> Result<Vec<CivilSeconds>, TooMuchWork> {
    let pattern = Pattern::new(rule, start, work)?;
    let mut found = Vec::new();
    let mut set = Vec::new();
    let (mut period, mut counted) = pattern.first_period(from, work)?;
    while pattern.period_start(period) < to {
        set.clear();
        pattern.fill(period, &mut set, work)?;
        for &time in set.iter().filter(|time| **time >= start) {
            if rule.count.is_some_and(|count| counted >= count) || time >= to {
                return Ok(found);
            }
            counted += 1;
            if time >= from {
                found.push(time);
            }
        }
        if found.len() > BUSY_INTERVALS {
            return Err(TooMuchWork);
        }
        period = pattern.next_period(period);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::civil::{civil_seconds, date_time_of};
    use jiff::civil::DateTime;

    fn expand(rule: &str, start: &str, from: &str, to: &str) -> Vec<String> {
        let at = |text: &str| civil_seconds(text.parse::<DateTime>().unwrap());
        let rule = RecurrenceRule::parse(rule).unwrap();
        occurrences(&rule, at(start), at(from), at(to), &mut ExpansionBudget::new())
            .unwrap()
            .into_iter()
            .map(|time| date_time_of(time).strftime("%Y-%m-%d %H:%M").to_string())
            .collect()
    }

    #[test]
    fn a_count_is_the_same_by_arithmetic_and_by_walking() {
        for rule in [
            "FREQ=DAILY;INTERVAL=3",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,SU;WKST=SU",
            "FREQ=MONTHLY;BYMONTHDAY=3,28",
            "FREQ=YEARLY;BYMONTH=2,7",
            "FREQ=HOURLY;INTERVAL=7",
            "FREQ=DAILY;BYHOUR=9,17",
        ] {
            for count in [1, 7, 500, 1_000] {
                let rule = format!("{rule};COUNT={count}");
                let start = "2026-01-07T12:00:00";
                let whole = expand(&rule, start, start, "2040-01-01T00:00:00");
                assert!(whole.len() <= count, "{rule}");
                let part = expand(&rule, start, "2026-08-01T00:00:00", "2040-01-01T00:00:00");
                let tail: Vec<String> =
                    whole.into_iter().filter(|time| time.as_str() >= "2026-08-01").collect();
                assert_eq!(part, tail, "{rule}");
            }
        }
    }

    #[test]
    fn a_day_that_a_month_does_not_have_is_left_out() {
        let days = expand(
            "FREQ=MONTHLY",
            "2027-01-31T09:00:00",
            "2027-01-01T00:00:00",
            "2027-06-01T00:00:00",
        );
        assert_eq!(days, ["2027-01-31 09:00", "2027-03-31 09:00", "2027-05-31 09:00"]);
    }

    #[test]
    fn a_rule_that_never_comes_true_ends() {
        let start = "2005-01-01T09:00:00";
        for rule in [
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;COUNT=5",
            "FREQ=DAILY;BYMONTHDAY=31;BYMONTH=6;COUNT=5",
        ] {
            assert_eq!(expand(rule, start, start, "2027-01-01T00:00:00"), [""; 0], "{rule}");
        }
    }

    #[test]
    fn every_second_for_years_is_too_much_work() {
        let rule = RecurrenceRule::parse("FREQ=SECONDLY").unwrap();
        let work = &mut ExpansionBudget::new();
        assert_eq!(occurrences(&rule, 0, 1_700_000_000, 1_800_000_000, work), Err(TooMuchWork));
    }
}
