//! How times, names, sizes and states are shown.

use inbox::actions::COUNTED;
use inbox::actions::{ActKind, UndoOffer};
use inbox::base::ids::MemberId;
use inbox::base::limits::{TRASH_DAYS, UNDO_LIVE_MS};
use inbox::base::states::Status;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// The shape that shows what somebody is (customer, person or agent), with their initials.
#[derive(Clone, Debug)]
pub struct Avatar {
    pub class: &'static str,
    pub initials: String,
}

impl Avatar {
    pub fn customer(name: &str) -> Avatar {
        Avatar { class: "customer", initials: initials(name) }
    }

    pub fn person(name: &str) -> Avatar {
        Avatar { class: "person", initials: initials(name) }
    }

    pub fn agent(name: &str) -> Avatar {
        Avatar { class: "agent", initials: name.chars().take(2).collect() }
    }

    /// The drafting helper.
    pub fn helper() -> Avatar {
        Avatar::agent("Hp")
    }

    pub fn mailroom() -> Avatar {
        Avatar { class: "auto", initials: String::new() }
    }

    /// Of somebody on the team, by id.
    pub fn of(id: Option<&str>, name: &str) -> Avatar {
        match id.and_then(MemberId::parse) {
            Some(MemberId::Agent(_)) => Avatar::agent(name),
            Some(MemberId::User(_)) => Avatar::person(name),
            None => Avatar::mailroom(),
        }
    }

    pub fn is_agent(&self) -> bool {
        self.class == "agent"
    }
}

/// The first letters of the first and the last word.
pub fn initials(name: &str) -> String {
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().and_then(|word| word.chars().next());
    let last = words.next_back().and_then(|word| word.chars().next());
    first.into_iter().chain(last).flat_map(char::to_uppercase).take(2).collect()
}

/// A count as the navigation shows it: nothing for none, and an end.
pub fn count(n: i64) -> String {
    match n {
        0 => String::new(),
        n if n >= COUNTED => format!("{}+", COUNTED - 1),
        n => n.to_string(),
    }
}

/// A moment, ready for a `<time>` element.
#[derive(Clone, Debug)]
pub struct DisplayTime {
    /// What is shown.
    pub text: String,
    /// For machines.
    pub iso: String,
    /// Shown on hover.
    pub exact: String,
}

/// Writes times for one reader.
#[derive(Clone)]
pub struct TimeFormat {
    pub now: i64,
    pub zone: TimeZone,
    today: Date,
}

/// How much of a moment is shown.
#[derive(Clone, Copy)]
enum TimeStyle {
    Clock,
    Seconds,
    Weekday,
    Day,
    DayOfYear,
    DayAndClock,
    DayOfYearAndClock,
    DayAndSeconds,
}

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl TimeFormat {
    pub fn new(now: i64, zone: TimeZone) -> TimeFormat {
        let then = Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let today = zone.to_datetime(then).date();
        TimeFormat { now, zone, today }
    }

    /// The midnight at which the reader's day ends.
    pub fn end_of_today(&self) -> i64 {
        let tomorrow = self.today.tomorrow().unwrap_or(self.today);
        let midnight = tomorrow.to_zoned(self.zone.clone());
        midnight.map_or(self.now + DAY_MS, |at| at.timestamp().as_millisecond())
    }

    /// In a list: the time today, the day this week, else the date.
    pub fn short(&self, at: i64) -> DisplayTime {
        let days = (self.now - at).div_euclid(DAY_MS);
        self.when(at, |date, today| {
            if date == today {
                TimeStyle::Clock
            } else if (0..6).contains(&days) {
                TimeStyle::Weekday
            } else if date.year() == today.year() {
                TimeStyle::Day
            } else {
                TimeStyle::DayOfYear
            }
        })
    }

    /// In a timeline: day and time.
    pub fn long(&self, at: i64) -> DisplayTime {
        self.when(at, |date, today| {
            if date == today {
                TimeStyle::Clock
            } else if date.year() == today.year() {
                TimeStyle::DayAndClock
            } else {
                TimeStyle::DayOfYearAndClock
            }
        })
    }

    /// In a log: day and time to the second.
    pub fn stamp(&self, at: i64) -> DisplayTime {
        self.when(
            at,
            |date, today| if date == today { TimeStyle::Seconds } else { TimeStyle::DayAndSeconds },
        )
    }

    /// The clock time, as in "leaves at 09:24".
    pub fn clock(&self, at: i64) -> String {
        self.when(at, |_, _| TimeStyle::Clock).text
    }

    /// When a message leaves, after "leaves": `at 09:24`, or the day too where it is not soon.
    pub fn leaving(&self, at: i64) -> String {
        if at <= self.now + UNDO_LIVE_MS || self.zoned(at).date() == self.today {
            format!("at {}", self.clock(at))
        } else {
            format!("on {}", self.long(at).text)
        }
    }

    /// The month: `November`, or `March 2024` of another year.
    pub fn month(&self, at: i64) -> String {
        let date = self.zoned(at).date();
        let month = MONTHS[date.month() as usize - 1];
        if date.year() == self.today.year() {
            month.to_owned()
        } else {
            format!("{month} {}", date.year())
        }
    }

    /// How long ago, in the largest fitting unit.
    pub fn ago(&self, at: i64) -> String {
        let minutes = (self.now - at).max(0) / 60_000;
        match minutes {
            0 => "just now".into(),
            1..60 => format!("{minutes} min"),
            60..1_440 => format!("{} h", minutes / 60),
            1_440..2_880 => "1 day".into(),
            _ => format!("{} days", minutes / 1_440),
        }
    }

    /// A page has a hundred of these, so the time zone is looked up once and no pattern is parsed.
    fn when(&self, at: i64, style: impl FnOnce(Date, Date) -> TimeStyle) -> DisplayTime {
        let moment = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        let offset = self.zone.to_offset_info(moment);
        let then = offset.offset().to_datetime(moment);
        let (date, hour, minute, second) = (then.date(), then.hour(), then.minute(), then.second());
        let weekday = DAYS[then.weekday().to_monday_zero_offset() as usize];
        let month = MONTHS[then.month() as usize - 1];
        let (day, year, zone) = (then.day(), then.year(), offset.abbreviation());
        let (short_day, short_month) = (&weekday[..3], &month[..3]);
        let text = match style(date, self.today) {
            TimeStyle::Clock => format!("{hour:02}:{minute:02}"),
            TimeStyle::Seconds => format!("{hour:02}:{minute:02}:{second:02}"),
            TimeStyle::Weekday => short_day.to_owned(),
            TimeStyle::Day => format!("{day} {short_month}"),
            TimeStyle::DayOfYear => format!("{day} {short_month} {year}"),
            TimeStyle::DayAndClock => {
                format!("{short_day} {day} {short_month}, {hour:02}:{minute:02}")
            }
            TimeStyle::DayOfYearAndClock => {
                format!("{day} {short_month} {year}, {hour:02}:{minute:02}")
            }
            TimeStyle::DayAndSeconds => {
                format!("{day} {short_month}, {hour:02}:{minute:02}:{second:02}")
            }
        };
        DisplayTime {
            text,
            iso: inbox::base::time::Moment(at).iso(),
            exact: format!(
                "{weekday} {day} {month} {year}, {hour:02}:{minute:02}:{second:02} {zone}"
            ),
        }
    }

    pub fn zoned(&self, at: i64) -> jiff::Zoned {
        Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(self.zone.clone())
    }
}

/// `Tuesday 24 November 2026`.
pub fn date_words(date: Date) -> String {
    let weekday = DAYS[date.weekday().to_monday_zero_offset() as usize];
    let month = MONTHS[date.month() as usize - 1];
    format!("{weekday} {} {month} {}", date.day(), date.year())
}

const DAY_MS: i64 = inbox::base::limits::DAY_MS;

pub fn size(bytes: i64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KB", bytes / 1_024),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

/// A status as a sentence, its icon and its colour.
pub struct StatusLabel {
    pub text: &'static str,
    pub icon: &'static str,
    pub class: &'static str,
}

pub fn status_label(status: Status, snoozed: bool) -> StatusLabel {
    let (text, icon, class) = match (status, snoozed) {
        (_, true) => ("Snoozed", "snooze", ""),
        (Status::Open, _) => ("Open, our turn", "open", "act"),
        (Status::Waiting, _) => ("Waiting on customer", "wait", ""),
        (Status::Closed, _) => ("Closed", "closed", ""),
    };
    StatusLabel { text, icon, class }
}

/// A text as paragraphs of lines.
pub fn paragraphs(text: &str) -> Vec<Vec<String>> {
    let mut paragraphs = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            if !lines.is_empty() {
                paragraphs.push(std::mem::take(&mut lines));
            }
        } else {
            lines.push(line.trim_end().to_owned());
        }
    }
    if !lines.is_empty() {
        paragraphs.push(lines);
    }
    paragraphs
}

pub fn first_name(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or(name)
}

/// What an act did, in words.
pub fn act_words(offer: &UndoOffer) -> String {
    let n = offer.changed;
    if n == 1 {
        return match offer.kind {
            ActKind::Assigned => "Assigned.".into(),
            ActKind::Tagged => "Tagged.".into(),
            ActKind::Closed => "Closed. New mail opens it again.".into(),
            ActKind::Reopened => "Opened again.".into(),
            ActKind::Snoozed => "Snoozed. It comes back by itself.".into(),
            ActKind::MarkedUnread => "Marked as unread.".into(),
            ActKind::Spam => "Moved to the spam.".into(),
            ActKind::Blocked => "Moved to the spam. The sender is blocked.".into(),
            ActKind::Deleted => format!("Deleted. The trash keeps it for {TRASH_DAYS} days."),
            ActKind::Restored => "Restored.".into(),
            ActKind::Merged => "Merged. The old link leads here.".into(),
            ActKind::Split => "Split off into a conversation of its own.".into(),
            ActKind::Pinned => "Pinned. It stays on top of your lists.".into(),
            ActKind::Unpinned => "Unpinned.".into(),
            ActKind::Followed => "You follow it. You get a mail when the customer answers.".into(),
            ActKind::Unfollowed => "You follow it no longer.".into(),
        };
    }
    match offer.kind {
        ActKind::Assigned => format!("Assigned {n} conversations."),
        ActKind::Tagged => format!("Tagged {n} conversations."),
        ActKind::Closed => format!("Closed {n} conversations. New mail opens them again."),
        ActKind::Reopened => format!("Opened {n} conversations again."),
        ActKind::Snoozed => format!("Snoozed {n} conversations. They come back by themselves."),
        ActKind::MarkedUnread => format!("Marked {n} conversations as unread."),
        ActKind::Spam => format!("Moved {n} conversations to the spam."),
        ActKind::Blocked => {
            format!("Moved {n} conversations to the spam. Their senders are blocked.")
        }
        ActKind::Deleted => {
            format!("Deleted {n} conversations. The trash keeps them for {TRASH_DAYS} days.")
        }
        ActKind::Restored => format!("Restored {n} conversations."),
        ActKind::Merged => format!("Merged {n} conversations into another."),
        ActKind::Split => format!("Split {n} messages off."),
        ActKind::Pinned => format!("Pinned {n} conversations. They stay on top of your lists."),
        ActKind::Unpinned => format!("Unpinned {n} conversations."),
        ActKind::Followed => format!("You follow {n} conversations."),
        ActKind::Unfollowed => format!("You follow {n} conversations no longer."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_of_the_first_and_last_word() {
        for (name, expected) in [
            ("Helena Osei", "HO"),
            ("Café Norrsken", "CN"),
            ("bruno@keller.example", "BE"),
            ("Ines", "I"),
            ("", ""),
            ("ß x", "SS"),
        ] {
            assert_eq!(initials(name), expected, "{name}");
        }
    }

    #[test]
    fn counts_end_at_99() {
        assert_eq!([count(0), count(1), count(99), count(100)], ["", "1", "99", "99+"]);
    }

    #[test]
    fn times_grow_less_exact_with_age() {
        let now = 1_794_733_200_000;
        let time = TimeFormat::new(now, TimeZone::UTC);
        assert_eq!(time.short(now - 60_000).text, "08:59");
        assert_eq!(time.short(now - 2 * DAY_MS).text, "Fri");
        assert_eq!(time.short(now - 20 * DAY_MS).text, "26 Oct");
        assert_eq!(time.short(now - 400 * DAY_MS).text, "11 Oct 2025");
        assert_eq!(time.long(now - 2 * DAY_MS).text, "Fri 13 Nov, 09:00");
        assert_eq!(time.short(now).exact, "Sunday 15 November 2026, 09:00:00 UTC");
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let time = TimeFormat::new(now, zone);
        assert_eq!(time.clock(now), "10:00");
        assert_eq!(time.short(now).exact, "Sunday 15 November 2026, 10:00:00 CET");
        assert_eq!(time.stamp(now - DAY_MS).text, "14 Nov, 10:00:00");
    }

    #[test]
    fn a_text_is_paragraphs_of_lines() {
        assert_eq!(paragraphs("a\nb  \n\n \nc\n"), [vec!["a", "b"], vec!["c"]]);
        assert!(paragraphs(" \n").is_empty());
    }
}
