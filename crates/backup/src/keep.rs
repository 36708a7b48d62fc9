//! Which backups stay when older ones are removed.

use std::collections::BTreeSet;
use std::str::FromStr;

use jiff::civil::Date;

/// The most backups of each kind that may be asked for.
const MOST: usize = 10_000;

/// A rule for older backups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepRule {
    /// The newest so many.
    Newest(usize),
    /// The newest of each of so many days, weeks and months that have one.
    Calendar { daily: usize, weekly: usize, monthly: usize },
}

impl FromStr for KeepRule {
    type Err = String;

    fn from_str(text: &str) -> Result<KeepRule, String> {
        let numbers: Result<Vec<usize>, _> =
            text.split('/').map(|part| part.trim().parse()).collect();
        let numbers = numbers.unwrap_or_default();
        match numbers[..] {
            [newest] if (1..=MOST).contains(&newest) => Ok(KeepRule::Newest(newest)),
            [daily, weekly, monthly]
                if numbers.iter().all(|n| *n <= MOST) && numbers.iter().any(|n| *n > 0) =>
            {
                Ok(KeepRule::Calendar { daily, weekly, monthly })
            }
            _ => {
                Err("must be a number of backups, or those of days, weeks and months as 7/4/12"
                    .into())
            }
        }
    }
}

impl std::fmt::Display for KeepRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeepRule::Newest(newest) => write!(f, "the newest {newest}"),
            KeepRule::Calendar { daily, weekly, monthly } => {
                write!(f, "{daily} of days, {weekly} of weeks and {monthly} of months")
            }
        }
    }
}

impl KeepRule {
    /// Those of the names that stay. Names are moments in UTC; the newest always stays.
    pub(super) fn select<'a>(&self, names: &[&'a str]) -> BTreeSet<&'a str> {
        // What is no moment was not written by us, and stays.
        let (mut newest_first, strangers): (Vec<&str>, Vec<&str>) =
            names.iter().partition(|name| day(name).is_some());
        newest_first.sort_unstable();
        newest_first.reverse();
        let mut kept: BTreeSet<&str> = newest_first.first().copied().into_iter().collect();
        match *self {
            KeepRule::Newest(newest) => kept.extend(newest_first.iter().take(newest)),
            KeepRule::Calendar { daily, weekly, monthly } => {
                kept.extend(of_periods(&newest_first, daily, |day| day.to_string()));
                kept.extend(of_periods(&newest_first, weekly, |day| {
                    let week = day.iso_week_date();
                    format!("{}-{}", week.year(), week.week())
                }));
                let month = |day: Date| format!("{}-{}", day.year(), day.month());
                kept.extend(of_periods(&newest_first, monthly, month));
            }
        }
        kept.extend(strangers);
        kept
    }
}

/// The newest of each of the latest so many periods.
fn of_periods<'a>(
    newest_first: &[&'a str],
    count: usize,
    period: impl Fn(Date) -> String,
) -> Vec<&'a str> {
    let (mut seen, mut kept) = (BTreeSet::new(), Vec::new());
    for name in newest_first {
        let Some(day) = day(name) else { continue };
        if seen.len() < count && seen.insert(period(day)) {
            kept.push(*name);
        }
    }
    kept
}

fn day(name: &str) -> Option<Date> {
    name.get(..10)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_number_or_three() {
        assert_eq!("7".parse(), Ok(KeepRule::Newest(7)));
        let calendar = KeepRule::Calendar { daily: 7, weekly: 4, monthly: 12 };
        assert_eq!("7/4/12".parse(), Ok(calendar));
        for bad in ["", "0", "0/0/0", "7/4", "a", "-1", "7/4/12/1", "99999"] {
            assert!(bad.parse::<KeepRule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_newest_of_each_day_week_and_month_stays() {
        let names = [
            "2026-11-16T15-00-00-000Z",
            "2026-11-16T03-00-00-000Z",
            "2026-11-15T03-00-00-000Z",
            "2026-11-14T03-00-00-000Z",
            "2026-11-08T03-00-00-000Z",
            "2026-10-31T03-00-00-000Z",
            "2026-10-30T03-00-00-000Z",
            "2026-09-30T03-00-00-000Z",
        ];
        let kept = |rule: &str| {
            let rule: KeepRule = rule.parse().unwrap();
            let kept = rule.select(&names);
            names
                .iter()
                .enumerate()
                .filter(|(_, n)| kept.contains(*n))
                .map(|(at, _)| at)
                .collect::<Vec<usize>>()
        };
        assert_eq!(kept("2/0/0"), [0, 2]);
        assert_eq!(kept("0/3/0"), [0, 2, 4], "weeks begin on Mondays");
        assert_eq!(kept("1/0/3"), [0, 5, 7]);
        assert_eq!(kept("3"), [0, 1, 2]);
        assert_eq!(
            KeepRule::Newest(1).select(&["a", names[0]]).len(),
            2,
            "a stranger's file stays"
        );
    }
}
