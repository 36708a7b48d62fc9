//! `GET /booking-types/{id}/slots`: the times that are free.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{SLOT_DAYS, SLOT_DAYS_DEFAULT, SLOTS_GIVEN};
use base::security::scopes::Scope;
use base::string_enum::string_enum;
use base::time::Moment;
use bookings::{availability, local_time, types};
use db::Tx;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::booking_json::SlotJson;
use crate::fields::{DATE, filled_text, integer, one_of};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};

/// Characters of a zone's name; the longest has 30.
const ZONE_CHARS: usize = 60;

/// Free times among which those of one part of the day are looked for: more than 31 days can have.
const SLOTS_READ: usize = 31 * 24 * 12;
/// The hours at which the afternoon and the evening begin.
const AFTERNOON: i8 = 12;
const EVENING: i8 = 17;

string_enum! {
    /// A part of the day.
    DayPart { Morning = "morning", Afternoon = "afternoon", Evening = "evening" }
}

impl DayPart {
    /// True for a moment in this part of its day.
    fn has(self, at: i64, zone: &TimeZone) -> bool {
        let at = jiff::Timestamp::from_millisecond(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let hour = zone.to_datetime(at).hour();
        let part = match hour {
            ..AFTERNOON => DayPart::Morning,
            AFTERNOON..EVENING => DayPart::Afternoon,
            EVENING.. => DayPart::Evening,
        };
        self == part
    }
}

/// A day and the day after it, in milliseconds since 1970.
type Window = (i64, i64);

pub const OPERATION: Operation = Operation {
    name: "find_slots",
    method: Method::Get,
    path: "/booking-types/{id}/slots",
    tool: Some(Tool {
        name: "find_slots",
        about: "Free times of a booking type. Quote local with zone; pass on startsAt.",
        help: "Finds the free times of a booking type between two dates, soonest first. Use it to \
                offer times in a reply (its booking field) or before create_booking. Say zone when \
                you know where the customer is, and quote local to them; startsAt is what the other \
                tools take. A free time can be taken by somebody else at any moment. The customer \
                notices nothing.",
        hints: &[("from", "a day"), ("zone", "such as Europe/Berlin")],
        example: r#"{
            "id": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
            "zone": "Europe/Lisbon",
            "limit": 5
        }"#,
        list: Some("slots"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "Find free times",
    about: "The free times of a booking type, soonest first: within its hosts' hours, outside of \
            their bookings and busy calendars, and within what the type allows.",
    fields: FindSlotsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<SlotJson>>(),
    example_input: "",
    example_output: r#"[{
        "startsAt": "2026-11-24T09:00:00.000Z",
        "endsAt": "2026-11-24T09:30:00.000Z",
        "local": "Tuesday 24 November 2026, 10:00"
    }]"#,
    run: |tx, cx, input| answer(&find_slots(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct FindSlotsInput {
        /// The first day; today without it.
        #[optional(DATE)]
        pub from: Option<String>,
        /// The last day, at most 31 days in all; two weeks in all without it.
        #[optional(DATE)]
        pub to: Option<String>,
        /// The time zone of the days and of local, such as Europe/Berlin; the first host's without
        /// it.
        #[optional(filled_text(ZONE_CHARS))]
        pub zone: Option<String>,
        /// Only times of this part of the day in the zone: before 12:00, from 12:00 to 17:00, or later.
        #[optional(one_of(DayPart::NAMES))]
        pub part: Option<DayPart>,
        /// How many at the most.
        #[optional(integer(1, SLOTS_GIVEN))]
        pub limit: Option<i64> = 500,
    } beside {
        pub id: String,
    }
}

pub fn find_slots(tx: &mut Tx<'_>, cx: &Cx<'_>, input: FindSlotsInput) -> Result<Vec<SlotJson>> {
    let kind = types::load_active(tx, cx.actor, &input.id)?;
    let zone = match &input.zone {
        Some(name) => calendar::zone_named(name)
            .ok_or_else(|| Error::invalid("zone", "must be a time zone such as Europe/Berlin"))?,
        None => {
            let hosts = types::hosts(tx, cx.actor.ws, &kind.id)?;
            let name = hosts.first().and_then(|host| host.zone.as_deref());
            name.and_then(calendar::zone_named).unwrap_or(TimeZone::UTC)
        }
    };
    let window = window(&input, &zone, cx.now)?;
    let loaded = availability::load(tx, cx, &kind, window, None)?;
    let limit = input.limit.unwrap_or(SLOTS_GIVEN);
    let limit = usize::try_from(limit).unwrap_or(1);
    // Those of one part of the day are looked for among all.
    let read = if input.part.is_some() { SLOTS_READ } else { limit };
    let free = loaded.free(window, read)?;
    let is_wanted = |at: i64| input.part.is_none_or(|part| part.has(at, &zone));
    Ok(free
        .into_iter()
        .filter(|free| is_wanted(free.starts_at))
        .take(limit)
        .map(|free| SlotJson {
            starts_at: Moment(free.starts_at),
            ends_at: Moment(free.ends_at),
            local: local_time(free.starts_at, &zone),
        })
        .collect())
}

/// From the beginning of the first day to the end of the last one.
fn window(input: &FindSlotsInput, zone: &TimeZone, now: i64) -> Result<Window> {
    let now = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let date = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Date>().ok());
    let from = date(&input.from).unwrap_or_else(|| zone.to_datetime(now).date());
    let to = date(&input.to);
    let to = to.unwrap_or_else(|| from.saturating_add((SLOT_DAYS_DEFAULT - 1).days()));
    let days = from.until(to).map_or(0, |span| i64::from(span.get_days()));
    if to < from || days >= SLOT_DAYS {
        let sentence = format!("must be from's day or at most {} days later", SLOT_DAYS - 1);
        return Err(Error::invalid("to", sentence));
    }
    let midnight = |date: Date| {
        let at = date.to_zoned(zone.clone()).map(|at| at.timestamp().as_millisecond());
        at.map_err(|_| Error::invalid("from", "is too far away"))
    };
    Ok((midnight(from)?, midnight(to.saturating_add(1.day()))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_day_is_that_of_the_zone() {
        let zone = calendar::zone_named("Europe/Berlin").expect("a zone");
        let part = |text: &str| {
            let at = text.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
            DayPart::ALL.iter().copied().find(|part| part.has(at, &zone)).expect("a part")
        };
        assert_eq!(part("2026-11-24T10:59:00Z"), DayPart::Morning);
        assert_eq!(part("2026-11-24T11:00:00Z"), DayPart::Afternoon);
        assert_eq!(part("2026-11-24T15:59:00Z"), DayPart::Afternoon);
        assert_eq!(part("2026-11-24T16:00:00Z"), DayPart::Evening);
        assert_eq!(part("2026-11-23T23:00:00Z"), DayPart::Morning);
    }

    #[test]
    fn a_window_is_whole_days_of_the_zone_and_at_most_31() {
        let zone = calendar::zone_named("Europe/Berlin").expect("a zone");
        let input = |from: &str, to: &str| FindSlotsInput {
            from: Some(from.into()),
            to: Some(to.into()),
            ..FindSlotsInput::default()
        };
        let hours = |from, to| window(&input(from, to), &zone, 0).map(|(a, b)| (b - a) / 3_600_000);
        assert_eq!(hours("2027-03-28", "2027-03-28").expect("a day"), 23);
        assert_eq!(hours("2027-01-01", "2027-01-31").expect("a month"), 31 * 24);
        assert!(hours("2027-01-01", "2027-02-01").is_err());
        assert!(hours("2027-01-02", "2027-01-01").is_err());
    }
}
