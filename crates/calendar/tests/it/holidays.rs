//! Public holidays of countries and their parts.

use calendar::{holiday_place, holiday_places, public_holidays};
use jiff::civil::{Date, date};

fn dates(code: &str, year: i16) -> Vec<Date> {
    let found = public_holidays(code, date(year, 1, 1), date(year, 12, 31));
    found.into_iter().map(|holiday| holiday.date).collect()
}

#[test]
fn easter_and_what_follows_it_are_where_they_were() {
    for (year, easter_monday) in [
        (2008, date(2008, 3, 24)),
        (2019, date(2019, 4, 22)),
        (2024, date(2024, 4, 1)),
        (2025, date(2025, 4, 21)),
        (2026, date(2026, 4, 6)),
        (2027, date(2027, 3, 29)),
        (2038, date(2038, 4, 26)),
    ] {
        assert!(dates("AT", year).contains(&easter_monday), "{year}");
    }
    let whit_monday = date(2026, 5, 25);
    assert!(dates("DE", 2026).contains(&whit_monday));
    assert!(dates("NL", 2026).contains(&whit_monday));
}

#[test]
fn a_part_of_a_country_has_its_own_days_too() {
    let all_saints = date(2026, 11, 1);
    assert!(dates("DE-BY", 2026).contains(&all_saints));
    assert!(!dates("DE-BE", 2026).contains(&all_saints));
    assert!(dates("DE-BE", 2026).contains(&date(2026, 3, 8)));
    assert!(!dates("DE-BE", 2018).contains(&date(2018, 3, 8)), "before it was one");
    assert!(dates("DE-SN", 2026).contains(&date(2026, 11, 18)));
    assert_eq!(dates("DE", 2026).len(), 9);
    assert!(dates("CH-GE", 2026).contains(&date(2026, 9, 10)));
    assert!(dates("CH-VD", 2026).contains(&date(2026, 9, 21)));
}

#[test]
fn a_holiday_on_a_weekend_is_made_up_for_where_the_country_does_so() {
    let london = dates("GB-EAW", 2027);
    for day in [date(2027, 12, 27), date(2027, 12, 28)] {
        assert!(london.contains(&day), "Christmas Day and Boxing Day, {day}");
    }
    assert!(dates("GB-EAW", 2022).contains(&date(2022, 12, 27)), "the 26th was a holiday already");
    assert!(dates("GB-SCT", 2022).contains(&date(2022, 1, 4)));
    assert!(dates("US", 2026).contains(&date(2026, 7, 3)));
    assert!(dates("US", 2021).contains(&date(2021, 12, 31)), "New Year's Day of 2022");
    assert!(dates("NL", 2025).contains(&date(2025, 4, 26)), "the 27th was a Sunday");
    assert!(!dates("NL", 2025).contains(&date(2025, 4, 27)));
}

#[test]
fn a_place_is_known_by_its_code() {
    assert_eq!(holiday_place("DE-BY").map(|place| place.name), Some("Germany, Bavaria"));
    assert_eq!(holiday_place("XX"), None);
    assert!(public_holidays("XX", date(2026, 1, 1), date(2026, 12, 31)).is_empty());
    let countries: std::collections::BTreeSet<&str> =
        holiday_places().iter().map(|place| &place.code[..2]).collect();
    assert_eq!(countries.len(), 11);
}
