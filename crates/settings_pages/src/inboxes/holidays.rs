//! Public holidays in the settings: the places to choose from, and the holidays ahead.

use std::borrow::Cow;

use jiff::ToSpan;
use web::booking::day_of_year;

/// Holidays ahead that are named.
const SHOWN: usize = 4;

/// A place whose holidays are known.
pub struct HolidayChoice {
    pub code: &'static str,
    pub name: Cow<'static, str>,
    pub is_chosen: bool,
}

pub fn holiday_choices(chosen: &str) -> Vec<HolidayChoice> {
    let choice = |place: &calendar::HolidayPlace| HolidayChoice {
        code: place.code,
        name: translation::sentence(place.name),
        is_chosen: place.code == chosen,
    };
    let mut choices: Vec<HolidayChoice> = calendar::holiday_places().iter().map(choice).collect();
    choices.sort_by(|one, other| one.name.cmp(&other.name));
    choices
}

/// The next holidays of a place: `25 December 2026 (Erster Weihnachtstag)`.
pub fn next_holidays(place: &str, now: i64) -> String {
    let now = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    let last = today.saturating_add(1.year());
    let ahead = calendar::public_holidays(place, today, last).into_iter().take(SHOWN);
    let words = ahead.map(|one| format!("{} ({})", day_of_year(one.date), one.name));
    words.collect::<Vec<_>>().join(", ")
}
