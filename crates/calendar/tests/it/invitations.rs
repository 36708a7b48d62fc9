//! Invitations as they are written for bookings, and as they come in mail.

use calendar::{
    BookingFeed, BookingFeedEntry, BookingFeedStatus, BookingInvitation, CalendarPerson, FeedError,
    Frequency, InvitationMethod, InvitationPerson, InvitedTime, ParticipationStatus, RuleWeekday,
    TimeRange, booking_feed, cancellation, invitation, read_invitation, read_reply,
};
use jiff::civil::{date, datetime};

const GUEST: &[InvitationPerson<'static>] =
    &[InvitationPerson { name: Some("Jonas Adeyemi"), email: "jonas@adeyemi-frames.example" }];

fn booking() -> BookingInvitation<'static> {
    BookingInvitation {
        uid: "bkg_4d81k2@hallgren-moss.example",
        sequence: 0,
        stamp: "2026-11-12T08:19:05Z".parse().unwrap(),
        range: TimeRange::new(
            "2026-11-16T10:00:00Z".parse().unwrap(),
            "2026-11-16T10:30:00Z".parse().unwrap(),
        ),
        summary: "A first talk about your books",
        location: Some("By phone. Marit calls you."),
        description: Some(
            "Move or cancel: https://mail.hallgren-moss.example/b/m/EXAMPLE0not0real0link0EXAMPLE0",
        ),
        url: None,
        organizer: InvitationPerson {
            name: Some("Hallgren & Moss"),
            email: "clients@hallgren-moss.example",
        },
        attendees: GUEST,
    }
}

#[test]
fn an_invitation_is_what_mail_programs_expect() {
    let expected = "BEGIN:VCALENDAR\r\n\
        VERSION:2.0\r\n\
        PRODID:-//Mailroom//Bookings//EN\r\n\
        METHOD:REQUEST\r\n\
        BEGIN:VEVENT\r\n\
        UID:bkg_4d81k2@hallgren-moss.example\r\n\
        DTSTAMP:20261112T081905Z\r\n\
        DTSTART:20261116T100000Z\r\n\
        DTEND:20261116T103000Z\r\n\
        SEQUENCE:0\r\n\
        STATUS:CONFIRMED\r\n\
        SUMMARY:A first talk about your books\r\n\
        LOCATION:By phone. Marit calls you.\r\n\
        DESCRIPTION:Move or cancel: https://mail.hallgren-moss.example/b/m/EXAMPLE0\r\n \
        not0real0link0EXAMPLE0\r\n\
        ORGANIZER;CN=Hallgren & Moss:mailto:clients@hallgren-moss.example\r\n\
        ATTENDEE;CN=Jonas Adeyemi;PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:jonas@adeyemi\r\n \
        -frames.example\r\n\
        END:VEVENT\r\n\
        END:VCALENDAR\r\n";
    assert_eq!(invitation(&booking()), expected);
}

#[test]
fn a_change_and_a_cancellation_are_about_the_same_entry() {
    let moved = BookingInvitation { sequence: 1, ..booking() };
    let change = read_invitation(invitation(&moved).as_bytes()).unwrap();
    let cancelled = BookingInvitation { sequence: 2, ..booking() };
    let end = read_invitation(cancellation(&cancelled).as_bytes()).unwrap();
    assert_eq!((change.method, end.method), (InvitationMethod::Request, InvitationMethod::Cancel));
    assert_eq!(change.events[0].uid, end.events[0].uid);
    assert_eq!((change.events[0].sequence, end.events[0].sequence), (1, 2));
    assert!(!change.events[0].is_cancelled && end.events[0].is_cancelled);
}

#[test]
fn words_of_strangers_begin_no_line_and_no_parameter() {
    let hostile = "x\r\nATTENDEE:mailto:eve@x.example\nEND:VEVENT\u{2028}BEGIN:VEVENT";
    let guest = InvitationPerson {
        name: Some("Eve\";RSVP=TRUE:mailto:a@b,\r\nX:1"),
        email: "eve@x.example\r\nORGANIZER:mailto:eve@x.example",
    };
    let written = invitation(&BookingInvitation {
        uid: hostile,
        summary: hostile,
        location: Some(hostile),
        description: Some(hostile),
        url: Some(hostile),
        organizer: guest,
        attendees: &[guest],
        ..booking()
    });
    for name in ["ATTENDEE", "ORGANIZER", "BEGIN:VEVENT", "END:VEVENT"] {
        let lines = written.lines().filter(|line| line.starts_with(name)).count();
        assert_eq!(lines, 1, "{name} in {written}");
    }
    let read = read_invitation(written.as_bytes()).unwrap();
    let [event] = read.events.as_slice() else { panic!("{read:?}") };
    assert_eq!(event.attendees.len(), 1);
    assert_eq!(event.attendees[0].name.as_deref(), Some("Eve';RSVP=TRUE:mailto:a@b,  X:1"));
    assert_eq!(
        event.summary.as_deref(),
        Some(hostile.replace("\r\n", "\n").replace('\u{2028}', "\n").as_str())
    );
}

#[test]
fn a_feed_has_every_booking_and_says_how_often_to_come_back() {
    let booking = booking();
    let entry = |uid, status| BookingFeedEntry {
        uid,
        sequence: 4,
        stamp: booking.stamp,
        range: booking.range,
        status,
        summary: "Booked",
        location: None,
        description: None,
        url: Some("https://mail.example/b/1"),
    };
    let entries = [
        entry("a", BookingFeedStatus::Held),
        entry("b", BookingFeedStatus::Booked),
        entry("c", BookingFeedStatus::Cancelled),
    ];
    let feed = BookingFeed { name: "Marit, bookings", refresh_minutes: 15, entries: &entries };
    let text = booking_feed(&feed);
    assert!(text.contains("REFRESH-INTERVAL;VALUE=DURATION:PT15M\r\n"), "{text}");
    assert!(text.contains("X-WR-CALNAME:Marit\\, bookings\r\n"), "{text}");
    let read = read_invitation(text.as_bytes()).unwrap();
    assert_eq!(read.method, InvitationMethod::Publish);
    let states: Vec<_> = read.events.iter().map(|e| (e.is_tentative, e.is_cancelled)).collect();
    assert_eq!(states, [(true, false), (false, false), (false, true)]);
}

/// As Outlook writes it.
const SERIES: &str = "BEGIN:VCALENDAR\r\n\
    METHOD:REQUEST\r\n\
    PRODID:Microsoft Exchange Server 2010\r\n\
    VERSION:2.0\r\n\
    BEGIN:VTIMEZONE\r\n\
    TZID:W. Europe Standard Time\r\n\
    BEGIN:STANDARD\r\n\
    DTSTART:16010101T030000\r\n\
    TZOFFSETFROM:+0200\r\n\
    TZOFFSETTO:+0100\r\n\
    RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10\r\n\
    END:STANDARD\r\n\
    END:VTIMEZONE\r\n\
    BEGIN:VEVENT\r\n\
    ORGANIZER;CN=\"Aalto, Marit\":mailto:marit@firm.example\r\n\
    ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN=Support:mailto:support@us.example\r\n\
    ATTENDEE;ROLE=OPT-PARTICIPANT;PARTSTAT=TENTATIVE;CN=Jo:MAILTO:jo@us.example\r\n\
    DESCRIPTION;LANGUAGE=de-DE:Zeile eins\\n\\nZeile zwei\\, lang\\n\r\n\
    RRULE:FREQ=WEEKLY;UNTIL=20270303T090000Z;INTERVAL=2;BYDAY=TU;WKST=MO\r\n\
    EXDATE;TZID=W. Europe Standard Time:20261208T100000\r\n\
    UID:040000008200E000\r\n\
    SUMMARY;LANGUAGE=de-DE:Jour fixe\r\n\
    DTSTART;TZID=W. Europe Standard Time:20261124T100000\r\n\
    DTEND;TZID=W. Europe Standard Time:20261124T110000\r\n\
    SEQUENCE:3\r\n\
    LOCATION;LANGUAGE=de-DE:Microsoft Teams-Besprechung\r\n\
    STATUS:CONFIRMED\r\n\
    BEGIN:VALARM\r\n\
    DESCRIPTION:REMINDER\r\n\
    TRIGGER;RELATED=START:-PT15M\r\n\
    END:VALARM\r\n\
    END:VEVENT\r\n\
    END:VCALENDAR\r\n";

#[test]
fn an_invitation_to_a_series_is_shown_with_everything_people_ask() {
    let read = read_invitation(SERIES.as_bytes()).unwrap();
    assert_eq!((read.method, read.events.len(), read.more), (InvitationMethod::Request, 1, 0));
    let event = &read.events[0];
    assert_eq!(event.summary.as_deref(), Some("Jour fixe"));
    assert_eq!(event.description.as_deref(), Some("Zeile eins\n\nZeile zwei, lang"));
    assert_eq!(event.location.as_deref(), Some("Microsoft Teams-Besprechung"));
    let time = |instant: &str, hour| InvitedTime::Instant {
        instant: instant.parse().unwrap(),
        local: datetime(2026, 11, 24, hour, 0, 0, 0),
        zone: Some("Europe/Berlin".to_owned()),
    };
    assert_eq!(event.start, time("2026-11-24T09:00:00Z", 10));
    assert_eq!(event.end, Some(time("2026-11-24T10:00:00Z", 11)));
    let recurrence = event.recurrence.as_ref().unwrap();
    assert_eq!((recurrence.more_dates, recurrence.excluded_dates), (0, 1));
    let [pattern] = recurrence.patterns.as_slice() else { panic!("{recurrence:?}") };
    assert_eq!((pattern.frequency, pattern.interval), (Frequency::Weekly, 2));
    assert_eq!(pattern.weekdays, [RuleWeekday { nth: None, weekday: 1 }]);
    assert_eq!((pattern.start, pattern.until), (date(2026, 11, 24), Some(date(2027, 3, 3))));
    let organizer = event.organizer.as_ref().unwrap();
    assert_eq!(
        (organizer.name.as_deref(), organizer.email.as_str()),
        (Some("Aalto, Marit"), "marit@firm.example")
    );
    let status: Vec<_> = event.attendees.iter().map(|a| (a.email.as_str(), a.status)).collect();
    assert_eq!(
        status,
        [
            ("support@us.example", ParticipationStatus::NeedsAction),
            ("jo@us.example", ParticipationStatus::Tentative),
        ]
    );
}

fn event(lines: &str) -> calendar::InvitedEvent {
    let text = format!(
        "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:a\r\n{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    read_invitation(text.as_bytes()).unwrap().events.remove(0)
}

#[test]
fn days_end_on_their_last_day() {
    let one = event("DTSTART;VALUE=DATE:20261124");
    assert_eq!(one.start, InvitedTime::Day(date(2026, 11, 24)));
    assert_eq!(one.end, Some(InvitedTime::Day(date(2026, 11, 24))));
    let three = event("DTSTART;VALUE=DATE:20261124\r\nDTEND;VALUE=DATE:20261127");
    assert_eq!(three.end, Some(InvitedTime::Day(date(2026, 11, 26))));
}

#[test]
fn a_time_without_a_zone_stays_without_one() {
    let floating = event("DTSTART:20261124T100000\r\nDURATION:PT1H");
    assert_eq!(floating.start, InvitedTime::Floating(datetime(2026, 11, 24, 10, 0, 0, 0)));
    assert_eq!(floating.end, Some(InvitedTime::Floating(datetime(2026, 11, 24, 11, 0, 0, 0))));
}

#[test]
fn one_occurrence_of_a_series_says_which() {
    let moved = event("RECURRENCE-ID:20261124T100000Z\r\nDTSTART:20261125T100000Z");
    let instant = "2026-11-24T10:00:00Z".parse().unwrap();
    let local = datetime(2026, 11, 24, 10, 0, 0, 0);
    let expected = InvitedTime::Instant { instant, local, zone: Some("UTC".to_owned()) };
    assert_eq!(moved.occurrence, Some(expected));
    assert_eq!((moved.recurrence, moved.end), (None, None));
}

#[test]
fn a_reply_says_who_answered_what() {
    let text = "BEGIN:VCALENDAR\r\nPRODID:-//Google Inc//Google Calendar 70.9054//EN\r\nVERSION:2.0\r\n\
        CALSCALE:GREGORIAN\r\nMETHOD:REPLY\r\nBEGIN:VEVENT\r\nDTSTART:20261116T100000Z\r\n\
        DTEND:20261116T103000Z\r\nORGANIZER;CN=Hallgren:mailto:clients@hallgren-moss.example\r\n\
        UID:bkg_4d81k2@hallgren-moss.example\r\n\
        ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=DECLINED;CN=Jonas;X-NUM-GUESTS=0;\r\n \
        X-RESPONSE-COMMENT=\"Sorry\":mailto:jonas@adeyemi-frames.example\r\n\
        SEQUENCE:0\r\nCOMMENT:Sorry\\, ill\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let replies = read_reply(text.as_bytes()).unwrap();
    let [reply] = replies.as_slice() else { panic!("{replies:?}") };
    assert_eq!(reply.uid, "bkg_4d81k2@hallgren-moss.example");
    assert_eq!(reply.comment.as_deref(), Some("Sorry, ill"));
    let jonas = CalendarPerson {
        name: Some("Jonas".to_owned()),
        email: "jonas@adeyemi-frames.example".to_owned(),
        status: ParticipationStatus::Declined,
    };
    assert_eq!(reply.attendees, [jonas]);
}

#[test]
fn an_invitation_is_no_reply_and_a_page_is_no_invitation() {
    assert_eq!(read_reply(SERIES.as_bytes()), Ok(Vec::new()));
    assert_eq!(read_invitation(b"<html></html>"), Err(FeedError::NotCalendar));
}

#[test]
fn an_invitation_that_was_cut_is_shown_as_far_as_it_goes() {
    let cut = &SERIES[..SERIES.find("BEGIN:VALARM").unwrap()];
    let whole = format!("{cut}END:VEVENT\r\n");
    assert_eq!(read_invitation(whole.as_bytes()).unwrap().events.len(), 1);
}
