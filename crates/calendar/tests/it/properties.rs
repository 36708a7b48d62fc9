//! Rules that hold for any bytes, any rule and any hours.

use calendar::{
    BookingInvitation, BusyQuery, HostBooking, HostHours, HostMode, InvitationPerson,
    RoundRobinState, SlotHost, SlotQuery, SlotRules, TimeRange, WeeklyHours, busy_times,
    invitation, read_invitation, read_reply, slots, zone_named,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        read_all(&bytes)?;
    }

    #[test]
    fn anything_like_a_calendar_is_read_or_refused(text in calendarish()) {
        read_all(text.as_bytes())?;
    }

    #[test]
    fn a_short_window_has_its_part_of_a_long_one(
        text in calendarish(),
        from in 0i64..300,
        days in 1i64..30,
    ) {
        let long = days_from(0, 360);
        let short = days_from(from, from + days);
        if let (Ok(long), Ok(short_found)) = (busy(text.as_bytes(), long), busy(text.as_bytes(), short)) {
            let expected: Vec<_> = long.into_iter().filter(|range| range.overlaps(&short)).collect();
            prop_assert_eq!(short_found, expected, "{}", text);
        }
    }

    #[test]
    fn what_is_written_is_read_again(
        summary in ".{1,200}",
        description in "(?s).{0,300}",
        name in ".{0,60}",
    ) {
        let person = InvitationPerson { name: Some(&name), email: "a@x.example" };
        let start = Timestamp::from_second(1_800_000_000).unwrap();
        let text = invitation(&BookingInvitation {
            uid: "bkg_1@x.example",
            sequence: 7,
            stamp: start,
            range: TimeRange::new(start, start + SignedDuration::from_mins(30)),
            summary: &summary,
            location: None,
            description: Some(&description),
            url: None,
            organizer: person,
            attendees: &[person],
        });
        for line in text.split_terminator("\r\n") {
            prop_assert!(line.len() <= 75 && !line.contains(['\r', '\n']), "{line:?}");
        }
        let read = read_invitation(text.as_bytes()).unwrap();
        prop_assert_eq!(read.events.len(), 1);
        let event = &read.events[0];
        prop_assert_eq!(&event.uid, "bkg_1@x.example");
        prop_assert_eq!(event.attendees.len(), 1);
        let plain = |text: &str| -> String {
            text.chars().filter(|c| !c.is_control() && !c.is_whitespace() && *c != '\u{2028}' && *c != '\u{2029}').collect()
        };
        prop_assert_eq!(plain(event.summary.as_deref().unwrap_or_default()), plain(&summary));
        prop_assert_eq!(plain(event.description.as_deref().unwrap_or_default()), plain(&description));
    }

    #[test]
    fn slots_are_within_hours_free_and_in_order(
        zone in 0..ZONES.len(),
        day in 0i64..1_800,
        weekly in weekly_hours(),
        busy in ranges(),
        booked in ranges(),
        length in 5u32..120,
        step in 5u32..90,
        before in 0u32..40,
        after in 0u32..40,
    ) {
        let zone = zone_named(ZONES[zone]).unwrap();
        let hours = HostHours::new(zone.clone(), weekly);
        let window = days_from(day, day + 7);
        let moved = |range: &TimeRange| {
            let shift = SignedDuration::from_hours(24 * day);
            TimeRange::new(range.start + shift, range.end + shift)
        };
        let busy: Vec<TimeRange> = busy.iter().map(moved).collect();
        let bookings: Vec<HostBooking> = booked
            .iter()
            .map(moved)
            .map(|range| HostBooking { range, padded: range, is_same_type: true })
            .collect();
        let turns = RoundRobinState { weight: 1, given: 0, last_given: None };
        let rules = SlotRules { length, step, before, after, notice: 0, horizon_days: None, per_day: None };
        let query = SlotQuery {
            window,
            now: Timestamp::MIN,
            rules,
            mode: HostMode::Any,
            hosts: &[SlotHost { hours: &hours, busy: &busy, bookings: &bookings, turns }],
            limit: usize::MAX,
        };
        let found = slots(&query).unwrap();
        prop_assert!(found.windows(2).all(|pair| pair[0].range.start < pair[1].range.start));
        let first = zone.to_datetime(window.start).date().yesterday().unwrap();
        let last = zone.to_datetime(window.end).date().tomorrow().unwrap();
        let windows = hours.windows(first, last);
        for slot in &found {
            prop_assert!(windows.iter().any(|w| w.range.contains(&slot.range)), "{slot:?}");
            prop_assert!((window.start..window.end).contains(&slot.range.start));
            let padded = TimeRange::new(
                slot.range.start - SignedDuration::from_mins(i64::from(before)),
                slot.range.end + SignedDuration::from_mins(i64::from(after)),
            );
            prop_assert!(!busy.iter().any(|range| range.overlaps(&padded)), "{slot:?}");
            prop_assert!(!bookings.iter().any(|b| b.padded.overlaps(&padded)), "{slot:?}");
        }
    }

    #[test]
    fn weekly_hours_are_read_as_they_were_written(weekly in weekly_hours()) {
        prop_assert_eq!(weekly.to_string().parse(), Ok(weekly));
    }
}

const ZONES: &[&str] = &[
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Asia/Kathmandu",
];

fn days_from(first: i64, last: i64) -> TimeRange {
    let epoch: Timestamp = "2026-10-01T00:00:00Z".parse().unwrap();
    let day = |n| epoch + SignedDuration::from_hours(24 * n);
    TimeRange::new(day(first), day(last))
}

fn busy(feed: &[u8], window: TimeRange) -> Result<Vec<TimeRange>, calendar::FeedError> {
    let query = BusyQuery {
        window,
        host_zone: &zone_named("Europe/Berlin").unwrap(),
        host_addresses: &["a@x.example"],
        is_own_uid: &|_| false,
    };
    Ok(busy_times(feed, &query)?.intervals.into_iter().map(|interval| interval.range).collect())
}

fn read_all(bytes: &[u8]) -> Result<(), TestCaseError> {
    let window = days_from(0, 180);
    if let Ok(found) = busy(bytes, window) {
        prop_assert!(found.iter().all(|range| range.overlaps(&window)));
        prop_assert!(found.is_sorted());
    }
    if let Ok(read) = read_invitation(bytes) {
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        for event in &read.events {
            let shown = [&event.summary, &event.location, &event.description];
            prop_assert!(
                shown.iter().all(|text| text.as_ref().is_none_or(|t| !t.contains(control)))
            );
        }
    }
    let _ = read_reply(bytes);
    Ok(())
}

fn ranges() -> impl Strategy<Value = Vec<TimeRange>> {
    let one = (0i64..10_080, 0i64..300).prop_map(|(start, length)| {
        let start = days_from(0, 1).start + SignedDuration::from_mins(start);
        TimeRange::new(start, start + SignedDuration::from_mins(length))
    });
    proptest::collection::vec(one, 0..20)
}

fn weekly_hours() -> impl Strategy<Value = WeeklyHours> {
    let day = (0u32..12, 0u32..60, 1u32..600, 0usize..7).prop_map(|(hour, minute, length, day)| {
        let start = hour * 60 + minute;
        let end = (start + length).min(1_440);
        let name = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][day];
        format!("{name} {:02}:{:02}-{:02}:{:02}", start / 60, start % 60, end / 60, end % 60)
    });
    proptest::collection::vec(day, 0..5)
        .prop_filter_map("hours overlap", |days| days.join("; ").parse().ok())
}

/// Calendars from parts that are each nearly right.
fn calendarish() -> impl Strategy<Value = String> {
    let time = prop_oneof![
        "202[67](0[1-9]|1[0-2])(0[1-9]|2[0-8])T[01][0-9][0-5]000Z?",
        "202[67](0[1-9]|1[0-2])(0[1-9]|2[0-8])",
        "[0-9TZ/]{0,20}",
    ];
    let parameters = prop_oneof![
        Just(""),
        Just(";TZID=Europe/Berlin"),
        Just(";TZID=W. Europe Standard Time"),
        Just(";TZID=Own"),
        Just(";VALUE=DATE"),
        Just(";RANGE=THISANDFUTURE"),
    ];
    let name = prop_oneof![
        Just("DTSTART"),
        Just("DTSTART"),
        Just("DTEND"),
        Just("RECURRENCE-ID"),
        Just("EXDATE"),
        Just("RDATE"),
    ];
    let rule = (
        prop_oneof![
            Just("DAILY"),
            Just("WEEKLY"),
            Just("MONTHLY"),
            Just("YEARLY"),
            Just("HOURLY"),
            Just("MINUTELY"),
        ],
        prop_oneof![
            Just(""),
            Just(";BYDAY=MO,-1FR,2TU"),
            Just(";BYMONTHDAY=-1,13,31"),
            Just(";BYMONTH=2,11"),
            Just(";BYSETPOS=-1,2"),
            Just(";BYWEEKNO=1,53,-1"),
            Just(";BYYEARDAY=-1,60"),
            Just(";BYHOUR=1,2,3"),
        ],
        prop_oneof![
            Just(""),
            Just(";COUNT=7"),
            Just(";COUNT=400"),
            Just(";UNTIL=20270301T000000Z"),
            Just(";INTERVAL=3")
        ],
    )
        .prop_map(|(frequency, by, end)| format!("RRULE:FREQ={frequency}{by}{end}"));
    let line = prop_oneof![
        8 => (name, parameters, time).prop_map(|(name, parameters, time)| format!("{name}{parameters}:{time}")),
        3 => rule,
        1 => Just("DURATION:PT90M".to_owned()),
        1 => Just("DURATION:-P1D".to_owned()),
        1 => Just("STATUS:CANCELLED".to_owned()),
        2 => Just("UID:same".to_owned()),
        1 => Just("END:VEVENT\r\nBEGIN:VEVENT".to_owned()),
        1 => Just("BEGIN:VALARM".to_owned()),
        1 => "[A-Z]{1,8}[;:=\"]{0,2}.{0,30}",
    ];
    let event = proptest::collection::vec(line, 1..8)
        .prop_map(|lines| format!("BEGIN:VEVENT\r\n{}\r\nEND:VEVENT\r\n", lines.join("\r\n")));
    proptest::collection::vec(event, 0..5)
        .prop_map(|events| format!("BEGIN:VCALENDAR\r\n{}END:VCALENDAR\r\n", events.concat()))
}
