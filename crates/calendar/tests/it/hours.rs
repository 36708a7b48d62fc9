//! Civil hours and the windows of time that follow from them.

use calendar::{HostHours, HoursError, TravelStay, WeeklyHours, clock_ranges, zone_named};
use jiff::civil::{Date, date};

fn hours(zone: &str, weekly: &str) -> HostHours {
    HostHours::new(zone_named(zone).unwrap(), weekly.parse().unwrap())
}

fn windows(hours: &HostHours, date: Date) -> Vec<String> {
    let windows = hours.windows(date, date);
    windows.iter().map(|w| format!("{} {}", w.range.start, w.range.end)).collect()
}

#[test]
fn weekly_hours_are_read_in_every_form_and_written_in_one() {
    for (text, expected) in [
        ("mon-fri 09:00-12:00,13:00-17:00", "mon-fri 09:00-12:00,13:00-17:00"),
        ("Mon,Wed 9-17; sat 10:30-12", "mon,wed 09:00-17:00; sat 10:30-12:00"),
        ("sat-mon 22:00-02:00", "mon,sat,sun 22:00-02:00"),
        ("monday 00:00-24:00", "mon 00:00-24:00"),
        ("sun 18:00-00:00\nsun 09:00-10:00", "sun 09:00-10:00,18:00-24:00"),
        ("", ""),
    ] {
        let weekly: WeeklyHours = text.parse().unwrap();
        assert_eq!(weekly.to_string(), expected, "{text}");
        assert_eq!(expected.parse(), Ok(weekly), "{text}");
    }
}

#[test]
fn days_can_have_names_of_another_language() {
    let names = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"];
    let place = |name: &str| names.iter().position(|known| *known == name);
    let weekly = WeeklyHours::read("Mo-Fr 9-17; Sa,So 10-12", place).unwrap();
    assert_eq!(weekly.to_string(), "mon-fri 09:00-17:00; sat,sun 10:00-12:00");
    assert_eq!(weekly.words(&names), "Mo-Fr 09:00-17:00; Sa,So 10:00-12:00");
    assert_eq!(WeeklyHours::read(&weekly.words(&names), place), Ok(weekly.clone()));
    assert_eq!(weekly.of_day(5), clock_ranges("10:00-12:00").unwrap());
    assert!(weekly.of_day(7).is_empty());
    assert_eq!(WeeklyHours::read("mon 9-17", place), Err(HoursError::Day));
    assert_eq!(WeeklyHours::read("Mo 9-17", |_| Some(7)), Err(HoursError::Day));
}

#[test]
fn hours_that_cannot_be_meant_are_refused_with_a_reason() {
    for (text, expected) in [
        ("mon", HoursError::Time),
        ("moo 09:00-10:00", HoursError::Day),
        ("m 09:00-10:00", HoursError::Day),
        ("mon 09:00", HoursError::Time),
        ("mon 25:00-26:00", HoursError::Time),
        ("mon 09:60-10:00", HoursError::Time),
        ("mon 24:30-25:00", HoursError::Time),
        ("mon 09:00-09:00", HoursError::Empty),
        ("mon 09:00-12:00,11:00-13:00", HoursError::Overlap),
        ("mon 09:00-12:00; mon-wed 11:00-13:00", HoursError::Overlap),
    ] {
        assert_eq!(text.parse::<WeeklyHours>(), Err(expected), "{text}");
    }
}

#[test]
fn nine_is_nine_before_and_after_the_clock_changes() {
    let hours = hours("Europe/Berlin", "mon-sun 09:00-10:00");
    for (day, expected) in [
        (date(2027, 3, 27), "2027-03-27T08:00:00Z 2027-03-27T09:00:00Z"),
        (date(2027, 3, 28), "2027-03-28T07:00:00Z 2027-03-28T08:00:00Z"),
        (date(2026, 10, 24), "2026-10-24T07:00:00Z 2026-10-24T08:00:00Z"),
        (date(2026, 10, 25), "2026-10-25T08:00:00Z 2026-10-25T09:00:00Z"),
    ] {
        assert_eq!(windows(&hours, day), [expected]);
    }
}

#[test]
fn hours_in_a_gap_are_later_and_in_a_fold_the_first() {
    let hours = hours("Europe/Berlin", "mon-sun 02:30-04:00");
    let gap = windows(&hours, date(2027, 3, 28));
    assert_eq!(gap, ["2027-03-28T01:30:00Z 2027-03-28T02:00:00Z"]);
    let fold = windows(&hours, date(2026, 10, 25));
    assert_eq!(fold, ["2026-10-25T00:30:00Z 2026-10-25T03:00:00Z"]);
}

#[test]
fn hours_that_a_change_of_the_clock_swallows_are_no_hours() {
    let hours = hours("Europe/Berlin", "sun 02:00-03:00");
    assert_eq!(windows(&hours, date(2027, 3, 28)), [""; 0]);
}

#[test]
fn midnight_that_does_not_exist_is_an_hour_later() {
    let hours = hours("America/Sao_Paulo", "sun 00:00-03:00");
    let day = windows(&hours, date(2018, 11, 4));
    assert_eq!(day, ["2018-11-04T03:00:00Z 2018-11-04T05:00:00Z"]);
}

#[test]
fn hours_over_midnight_end_on_the_next_day() {
    let hours = hours("Europe/Berlin", "fri 22:00-02:00");
    let night = windows(&hours, date(2026, 11, 20));
    assert_eq!(night, ["2026-11-20T21:00:00Z 2026-11-21T01:00:00Z"]);
}

#[test]
fn a_date_with_its_own_hours_counts_more_than_a_holiday_and_both_more_than_the_week() {
    let mut hours = hours("Europe/Berlin", "mon-sun 09:00-10:00");
    let (holiday, own, off) = (date(2026, 12, 25), date(2026, 12, 26), date(2026, 12, 27));
    hours.holidays.extend([holiday, own]);
    hours.dates.insert(own, clock_ranges("11:00-12:00").unwrap());
    hours.dates.insert(off, clock_ranges("").unwrap());
    assert_eq!(windows(&hours, holiday), [""; 0]);
    assert_eq!(windows(&hours, own), ["2026-12-26T10:00:00Z 2026-12-26T11:00:00Z"]);
    assert_eq!(windows(&hours, off), [""; 0]);
    assert_eq!(windows(&hours, date(2026, 12, 28)).len(), 1);
}

#[test]
fn a_stay_in_another_zone_moves_the_hours_of_its_days() {
    let mut hours = hours("Europe/Berlin", "mon-sun 09:00-10:00");
    hours.stays.push(TravelStay {
        first: date(2026, 11, 20),
        last: date(2026, 11, 21),
        zone: zone_named("America/New_York").unwrap(),
    });
    assert_eq!(windows(&hours, date(2026, 11, 19)), ["2026-11-19T08:00:00Z 2026-11-19T09:00:00Z"]);
    assert_eq!(windows(&hours, date(2026, 11, 21)), ["2026-11-21T14:00:00Z 2026-11-21T15:00:00Z"]);
    assert_eq!(windows(&hours, date(2026, 11, 22)), ["2026-11-22T08:00:00Z 2026-11-22T09:00:00Z"]);
}
