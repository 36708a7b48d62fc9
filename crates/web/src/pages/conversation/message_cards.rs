//! Invitations and vCards that came with a message, as cards.

use actions::conversations::timeline::TimelineFile;
use calendar::{
    CalendarInvitation, CalendarPerson, InvitationMethod, InvitedEvent, InvitedTime,
    ParticipationStatus,
};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use mail::ContactCard;
use translation::t;

use crate::layout::wording::{TimeFormat, date_words, short_month, short_weekday};
use crate::pages::recurrence_words::recurrence;

/// Events of one invitation that are shown.
const EVENTS: usize = 5;
/// People of one event that are named.
const PEOPLE: usize = 8;
/// Cards of one file of vCards that are shown.
const CONTACTS: usize = 5;
/// Phones, and addresses, of one card that are shown.
const CONTACT_VALUES: usize = 4;
/// Characters of a description that are shown.
const DESCRIPTION_CHARS: usize = 600;

/// What a file says that came with a message.
pub enum MessageCard {
    Invitation(Box<InvitationView>),
    Contact(ContactCard),
    /// A sentence about what is left out or cannot be read.
    Note(String),
}

/// An event of an invitation.
pub struct InvitationView {
    /// `Invitation`, `Cancelled`, `Ann accepts`.
    pub heading: String,
    /// True if it does not take place.
    pub is_off: bool,
    pub title: String,
    pub leaf: CalendarLeaf,
    /// On the reader's clock.
    pub when: String,
    /// On the invitation's clock, where that is another.
    pub local: Option<String>,
    pub repeats: Option<String>,
    pub place: Option<String>,
    pub organizer: Option<String>,
    pub people: Vec<String>,
    /// People who are not named.
    pub more_people: usize,
    pub description: Option<String>,
}

/// The sheet of a calendar beside an event.
pub struct CalendarLeaf {
    pub month: &'static str,
    pub day: i8,
    pub weekday: &'static str,
}

/// The cards of a message's files.
pub fn cards(files: &[TimelineFile], times: &TimeFormat) -> Vec<MessageCard> {
    let mut cards = Vec::new();
    for file in files {
        let Some(content) = &file.content else { continue };
        if file.filename.to_ascii_lowercase().ends_with(".vcf")
            || file.content_type.contains("card")
        {
            contacts(content, &mut cards);
        } else {
            invitation(content, times, &mut cards);
        }
    }
    cards
}

fn contacts(content: &[u8], cards: &mut Vec<MessageCard>) {
    let found = mail::contact_cards(content);
    let more = found.len().saturating_sub(CONTACTS);
    for mut contact in found.into_iter().take(CONTACTS) {
        contact.phones.truncate(CONTACT_VALUES);
        contact.emails.truncate(CONTACT_VALUES);
        cards.push(MessageCard::Contact(contact));
    }
    match more {
        0 => {}
        1 => cards.push(MessageCard::Note(t!("1 more contact is in the file.").to_owned())),
        _ => cards.push(MessageCard::Note(t!("{more} more contacts are in the file.", more))),
    }
}

fn invitation(content: &[u8], times: &TimeFormat, cards: &mut Vec<MessageCard>) {
    let Ok(read) = calendar::read_invitation(content) else {
        cards.push(MessageCard::Note(t!("The calendar file cannot be read.").to_owned()));
        return;
    };
    let shown = read.events.iter().take(EVENTS);
    let views = shown.map(|event| MessageCard::Invitation(Box::new(view(&read, event, times))));
    cards.extend(views);
    let more = read.events.len().saturating_sub(EVENTS) + read.more;
    match more {
        0 => {}
        1 => cards.push(MessageCard::Note(t!("1 more event is in the calendar file.").to_owned())),
        _ => {
            cards.push(MessageCard::Note(t!("{more} more events are in the calendar file.", more)))
        }
    }
}

fn view(read: &CalendarInvitation, event: &InvitedEvent, times: &TimeFormat) -> InvitationView {
    let start = ClockTime::of(&event.start, &times.zone);
    let people = event.attendees.iter().take(PEOPLE).map(attendee);
    InvitationView {
        heading: heading(read.method, event),
        is_off: event.is_cancelled,
        title: event.summary.clone().unwrap_or_else(|| t!("Without a title").to_owned()),
        leaf: CalendarLeaf::of(start.date()),
        when: span(&event.start, event.end.as_ref(), &times.zone),
        local: local(event, &times.zone),
        repeats: event.recurrence.as_ref().map(recurrence),
        place: event.location.clone().or_else(|| event.url.clone()),
        organizer: event.organizer.as_ref().map(name),
        people: people.collect(),
        more_people: event.attendees.len().saturating_sub(PEOPLE),
        description: event.description.as_deref().map(shorten),
    }
}

fn heading(method: InvitationMethod, event: &InvitedEvent) -> String {
    match (method, event.is_cancelled) {
        (InvitationMethod::Reply, _) => match event.attendees.first() {
            Some(person) => answer(person),
            None => t!("An answer").to_owned(),
        },
        (_, true) => t!("Cancelled").to_owned(),
        (InvitationMethod::Counter, _) => t!("Another time is proposed").to_owned(),
        (InvitationMethod::Request, _) if event.sequence > 0 => t!("Updated invitation").to_owned(),
        (InvitationMethod::Request, _) => t!("Invitation").to_owned(),
        (InvitationMethod::Publish | InvitationMethod::Other | InvitationMethod::Cancel, _) => {
            t!("Event").to_owned()
        }
    }
}

fn answer(person: &CalendarPerson) -> String {
    let name = name(person);
    match person.status {
        ParticipationStatus::NeedsAction => t!("{name} has not decided", name),
        ParticipationStatus::Accepted => t!("{name} accepts", name),
        ParticipationStatus::Declined => t!("{name} declines", name),
        ParticipationStatus::Tentative => t!("{name} may come", name),
        ParticipationStatus::Delegated => t!("{name} sends somebody else", name),
    }
}

fn attendee(person: &CalendarPerson) -> String {
    let name = name(person);
    match person.status {
        ParticipationStatus::NeedsAction => name,
        ParticipationStatus::Accepted => t!("{name} (accepts)", name),
        ParticipationStatus::Declined => t!("{name} (declines)", name),
        ParticipationStatus::Tentative => t!("{name} (may come)", name),
        ParticipationStatus::Delegated => t!("{name} (sends somebody else)", name),
    }
}

fn name(person: &CalendarPerson) -> String {
    let named = person.name.clone().filter(|name| !name.trim().is_empty());
    named.unwrap_or_else(|| person.email.clone())
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A time on some clock: a whole day, or a day and a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClockTime {
    Day(Date),
    At(DateTime),
}

impl ClockTime {
    fn of(time: &InvitedTime, zone: &TimeZone) -> ClockTime {
        match time {
            InvitedTime::Day(date) => ClockTime::Day(*date),
            InvitedTime::Floating(time) => ClockTime::At(*time),
            InvitedTime::Instant { instant, .. } => ClockTime::At(zone.to_datetime(*instant)),
        }
    }

    fn date(self) -> Date {
        match self {
            ClockTime::Day(date) => date,
            ClockTime::At(time) => time.date(),
        }
    }
}

/// `Tuesday 24 November 2026, 14:00 to 14:45 (Europe/Berlin)`.
fn span(start: &InvitedTime, end: Option<&InvitedTime>, zone: &TimeZone) -> String {
    let end = end.map(|end| ClockTime::of(end, zone));
    let time = clocks(ClockTime::of(start, zone), end);
    match start {
        InvitedTime::Instant { .. } => format!("{time} ({})", zone_name(zone)),
        InvitedTime::Floating(_) => t!("{time} (wherever you are)", time),
        InvitedTime::Day(_) => time,
    }
}

fn clocks(start: ClockTime, end: Option<ClockTime>) -> String {
    let clock = |time: DateTime| format!("{:02}:{:02}", time.hour(), time.minute());
    match (start, end) {
        (ClockTime::Day(day), Some(ClockTime::Day(last))) if last != day => {
            t!("{day} to {last}", day = date_words(day), last = date_words(last))
        }
        (ClockTime::Day(day), _) => t!("{day}, all day", day = date_words(day)),
        (ClockTime::At(time), Some(ClockTime::At(end)))
            if end.date() == time.date() && end != time =>
        {
            let (start, end) = (clock(time), clock(end));
            t!("{day}, {start} to {end}", day = date_words(time.date()), start, end)
        }
        (ClockTime::At(time), Some(ClockTime::At(end))) if end != time => t!(
            "{day}, {start} to {last}, {end}",
            day = date_words(time.date()),
            start = clock(time),
            last = date_words(end.date()),
            end = clock(end)
        ),
        (ClockTime::At(time), _) => {
            t!("{day}, {start}", day = date_words(time.date()), start = clock(time))
        }
    }
}

/// The same on the invitation's own clock, where it shows another time than the reader's.
fn local(event: &InvitedEvent, zone: &TimeZone) -> Option<String> {
    let InvitedTime::Instant { instant, local, zone: named } = &event.start else { return None };
    if zone.to_datetime(*instant) == *local {
        return None;
    }
    let end = match &event.end {
        Some(InvitedTime::Instant { local, .. }) => Some(ClockTime::At(*local)),
        _ => None,
    };
    let place = named.as_deref().unwrap_or(t!("the sender's clock"));
    Some(format!("{} ({place})", clocks(ClockTime::At(*local), end)))
}

fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or(t!("your clock"))
}

impl CalendarLeaf {
    pub fn of(date: Date) -> CalendarLeaf {
        CalendarLeaf {
            month: short_month(date.month()),
            day: date.day(),
            weekday: short_weekday(date.weekday()),
        }
    }
}

#[cfg(test)]
mod tests {
    use actions::conversations::timeline::FileLocation;
    use base::ids::DocumentId;

    use super::*;

    fn file(filename: &str, content: &str) -> TimelineFile {
        TimelineFile {
            place: FileLocation::Document(DocumentId::parse("doc_0").unwrap()),
            filename: filename.into(),
            content_type: "application/octet-stream".into(),
            size: content.len() as i64,
            content: Some(content.as_bytes().to_vec()),
        }
    }

    fn events(calendar: &str, zone: &str) -> Vec<InvitationView> {
        let times = TimeFormat::new(0, TimeZone::get(zone).unwrap());
        let cards = cards(&[file("invite.ics", calendar)], &times);
        let event = |card| match card {
            MessageCard::Invitation(event) => Some(*event),
            MessageCard::Contact(_) | MessageCard::Note(_) => None,
        };
        cards.into_iter().filter_map(event).collect()
    }

    const TALK: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\n\
        DTSTART;TZID=America/New_York:20261124T090000\r\nDTEND;TZID=America/New_York:20261124T094500\r\n\
        SUMMARY:Year-end talk\r\nLOCATION:Room 7\r\nORGANIZER;CN=Ann:mailto:ann@x.example\r\n\
        ATTENDEE;CN=Bo;PARTSTAT=ACCEPTED:mailto:bo@x.example\r\nATTENDEE:mailto:cy@x.example\r\n\
        END:VEVENT\r\nEND:VCALENDAR\r\n";

    #[test]
    fn an_invitation_says_when_on_both_clocks() {
        let event = &events(TALK, "Europe/Berlin")[0];
        assert_eq!(event.heading, "Invitation");
        assert_eq!(event.when, "Tuesday 24 November 2026, 15:00 to 15:45 (Europe/Berlin)");
        let there = "Tuesday 24 November 2026, 09:00 to 09:45 (America/New_York)";
        assert_eq!(event.local.as_deref(), Some(there));
        assert_eq!((event.leaf.month, event.leaf.day, event.leaf.weekday), ("Nov", 24, "Tue"));
        assert_eq!(event.people, ["Bo (accepts)", "cy@x.example"]);
        assert_eq!(event.organizer.as_deref(), Some("Ann"));
        assert_eq!(events(TALK, "America/New_York")[0].local, None);
    }

    #[test]
    fn cancellations_updates_and_answers_are_told() {
        let cancelled = &events(&TALK.replace("REQUEST", "CANCEL"), "UTC")[0];
        assert!(cancelled.is_off && cancelled.heading == "Cancelled");
        let updated = &events(&TALK.replace("UID:1", "UID:1\r\nSEQUENCE:2"), "UTC")[0];
        assert_eq!(updated.heading, "Updated invitation");
        let answer = &events(&TALK.replace("REQUEST", "REPLY"), "UTC")[0];
        assert_eq!(answer.heading, "Bo accepts");
        let day = TALK.replace("DTSTART;TZID=America/New_York:20261124T090000", "DTSTART:20261224");
        let day = day.replace("DTEND;TZID=America/New_York:20261124T094500", "DTEND:20261227");
        let when = &events(&day, "UTC")[0].when;
        assert_eq!(when, "Thursday 24 December 2026 to Saturday 26 December 2026");
    }

    #[test]
    fn what_is_hostile_is_bounded_and_what_is_broken_is_said() {
        let event = "BEGIN:VEVENT\r\nUID:x\r\nDTSTART:20261124T090000Z\r\nEND:VEVENT\r\n";
        let many = format!("BEGIN:VCALENDAR\r\n{}END:VCALENDAR\r\n", event.repeat(200));
        let times = TimeFormat::new(0, TimeZone::UTC);
        let found = cards(&[file("a.ics", &many)], &times);
        assert_eq!(found.len(), EVENTS + 1);
        let broken = cards(&[file("a.ics", "hello")], &times);
        assert!(matches!(&broken[0], MessageCard::Note(note) if note.contains("cannot be read")));
        let card = "BEGIN:VCARD\r\nFN:Ann\r\nTEL:+1\r\nEND:VCARD\r\n".repeat(50);
        assert_eq!(cards(&[file("a.vcf", &card)], &times).len(), CONTACTS + 1);
    }
}
