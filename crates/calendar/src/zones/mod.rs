//! Time zones: by name from the data inside the binary, and as calendars name or describe them.

mod vtimezone;
mod windows;

pub(crate) use vtimezone::{Observance, ObservedZone};

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use crate::ics::value::parse_offset;

const PLACES: &str = include_str!("places.txt");
const UTC: &str = "UTC";

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The zone of an IANA name such as `Europe/Berlin`, whatever the machine has installed.
pub fn zone_named(name: &str) -> Option<TimeZone> {
    ZONES.get(name).ok().filter(|zone| !zone.is_unknown())
}

/// The names of the zones of places, and UTC, for a list to choose from. Old names of the same places
/// are understood and not offered.
pub fn zone_names() -> Vec<String> {
    let places = PLACES.lines().filter(|line| !line.starts_with('#'));
    places.filter(|name| zone_named(name).is_some()).chain([UTC]).map(str::to_owned).collect()
}

/// A zone of a calendar.
#[derive(Clone, Debug)]
pub(crate) enum CalendarZone {
    Known(TimeZone),
    /// Nobody knows its name, so the calendar's own description of it counts.
    Observed(ObservedZone),
}

impl CalendarZone {
    /// A time that a change of the clock leaves out is later by as much as the clock was put
    /// forward; of one that comes twice the first is meant (RFC 5545 3.3.5).
    pub fn instant(&self, time: DateTime) -> Timestamp {
        match self {
            CalendarZone::Known(zone) => instant_in(zone, time),
            CalendarZone::Observed(zone) => zone.instant(time),
        }
    }

    pub fn civil(&self, instant: Timestamp) -> DateTime {
        match self {
            CalendarZone::Known(zone) => zone.to_datetime(instant),
            CalendarZone::Observed(zone) => zone.civil(instant),
        }
    }

    /// The IANA name, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            CalendarZone::Known(zone) => zone.iana_name(),
            CalendarZone::Observed(_) => None,
        }
    }
}

/// As [`CalendarZone::instant`]. At the ends of time, the nearest instant.
pub(crate) fn instant_in(zone: &TimeZone, time: DateTime) -> Timestamp {
    zone.to_ambiguous_timestamp(time).compatible().unwrap_or(match time.year() {
        ..0 => Timestamp::MIN,
        _ => Timestamp::MAX,
    })
}

/// The zone that a TZID means: an IANA name, one behind a vendor's prefix
/// (`/mozilla.org/20050126_1/Europe/Berlin`), a Windows name, or an offset (`GMT+0100`).
pub(crate) fn zone_of_tzid(tzid: &str) -> Option<TimeZone> {
    let tzid = tzid.trim().trim_matches('"');
    zone_named(tzid)
        .or_else(|| behind_prefix(tzid))
        .or_else(|| zone_named(windows::iana_name(tzid)?))
        .or_else(|| of_offset(tzid))
}

fn behind_prefix(tzid: &str) -> Option<TimeZone> {
    let parts: Vec<&str> = tzid.split('/').collect();
    // `America/Argentina/Salta` has three parts; a single one would be guesswork.
    [3, 2]
        .into_iter()
        .filter(|n| parts.len() > *n)
        .find_map(|n| zone_named(&parts[parts.len() - n..].join("/")))
}

fn of_offset(tzid: &str) -> Option<TimeZone> {
    let offset = tzid.trim_start_matches("UTC").trim_start_matches("GMT");
    let sign = offset.get(..1)?;
    let digits = offset[1..].replace(':', "");
    let digits = match digits.len() {
        1 => format!("0{digits}00"),
        2 => format!("{digits}00"),
        _ => digits,
    };
    let seconds = parse_offset(&format!("{sign}{digits}"))?;
    Some(TimeZone::fixed(Offset::from_seconds(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_by_the_names_that_calendars_use() {
        for (tzid, expected) in [
            ("Europe/Berlin", Some("Europe/Berlin")),
            ("\"Europe/Berlin\"", Some("Europe/Berlin")),
            ("/mozilla.org/20050126_1/Europe/Berlin", Some("Europe/Berlin")),
            ("/citadel.org/20210210_1/America/Argentina/Salta", Some("America/Argentina/Salta")),
            ("/freeassociation.sourceforge.net/Asia/Kolkata", Some("Asia/Kolkata")),
            ("W. Europe Standard Time", Some("Europe/Berlin")),
            ("w. europe standard time", Some("Europe/Berlin")),
            ("Customized Time Zone", None),
            ("Somewhere/Berlin", None),
            ("", None),
        ] {
            let zone = zone_of_tzid(tzid);
            assert_eq!(zone.as_ref().and_then(TimeZone::iana_name), expected, "{tzid}");
        }
    }

    #[test]
    fn an_offset_is_a_zone() {
        for (tzid, hours) in [("UTC+2", 2), ("GMT-0500", -5), ("+01:00", 1), ("GMT+10", 10)] {
            let zone = zone_of_tzid(tzid).unwrap();
            assert_eq!(zone.to_fixed_offset().unwrap().seconds(), hours * 3_600, "{tzid}");
        }
    }
}
