//! How times, names, sizes and states are shown.

use actions::conversations::sidebar::COUNTED;
use actions::conversations::triage::ActKind;
use actions::conversations::undo_triage::UndoOffer;
use base::ids::MemberId;
use base::limits::{self, TRASH_DAYS, UNDO_LIVE_MS};
use base::states::Status;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use translation::t;

pub use model::times::calendar_words::{
    date_words, month_name, short_month, short_weekday, weekday,
};

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

/// Customers read it.
impl TimeFormat {
    pub fn new(now: i64, zone: TimeZone) -> TimeFormat {
        let then = Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let today = zone.to_datetime(then).date();
        TimeFormat { now, zone, today }
    }

    /// The name of the zone, which is said beside times that are typed.
    pub fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
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
        if at <= self.now + UNDO_LIVE_MS || self.in_zone(at).date() == self.today {
            t!("at {time}", time = self.clock(at))
        } else {
            t!("on {time}", time = self.long(at).text)
        }
    }

    /// The same with seconds, for what leaves soon: `at 09:25:10`.
    pub fn leaving_to_the_second(&self, at: i64) -> String {
        t!("at {time}", time = self.when(at, |_, _| TimeStyle::Seconds).text)
    }

    /// The month: `November`, or `March 2024` of another year.
    pub fn month(&self, at: i64) -> String {
        let date = self.in_zone(at).date();
        let month = month_name(date.month());
        if date.year() == self.today.year() {
            month.to_owned()
        } else {
            t!("{month} {year}", month, year = date.year())
        }
    }

    /// A day that no zone moves, by its first millisecond: `3 March 2024`.
    pub fn day(&self, begins: i64) -> String {
        let day = Timestamp::from_millisecond(begins).unwrap_or(Timestamp::UNIX_EPOCH);
        date_words(TimeZone::UTC.to_datetime(day).date())
    }

    /// How long ago, in the largest fitting unit.
    pub fn ago(&self, at: i64) -> String {
        let minutes = (self.now - at).max(0) / 60_000;
        match minutes {
            0 => t!("just now").into(),
            1..60 => t!("{n} min", n = minutes),
            60..1_440 => t!("{n} h", n = minutes / 60),
            1_440..2_880 => t!("1 day").into(),
            _ => t!("{n} days", n = minutes / 1_440),
        }
    }

    /// A page has a hundred of these, so the time zone is looked up once and no pattern is parsed.
    fn when(&self, at: i64, style: impl FnOnce(Date, Date) -> TimeStyle) -> DisplayTime {
        let moment = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        let offset = self.zone.to_offset_info(moment);
        let then = offset.offset().to_datetime(moment);
        let (date, day, year) = (then.date(), then.day(), then.year());
        let clock = format!("{:02}:{:02}", then.hour(), then.minute());
        let seconds = format!("{clock}:{:02}", then.second());
        let month = short_month(then.month());
        let text = match style(date, self.today) {
            TimeStyle::Clock => clock,
            TimeStyle::Seconds => seconds.clone(),
            TimeStyle::Weekday => short_weekday(then.weekday()).to_owned(),
            TimeStyle::Day => t!("{day} {month}", day, month),
            TimeStyle::DayOfYear => t!("{day} {month} {year}", day, month, year),
            TimeStyle::DayAndClock => {
                let weekday = short_weekday(then.weekday());
                t!("{weekday} {day} {month}, {clock}", weekday, day, month, clock)
            }
            TimeStyle::DayOfYearAndClock => {
                t!("{day} {month} {year}, {clock}", day, month, year, clock)
            }
            TimeStyle::DayAndSeconds => t!("{day} {month}, {clock}", day, month, clock = seconds),
        };
        let exact = t!(
            "{date}, {clock} {zone}",
            date = date_words(date),
            clock = seconds,
            zone = offset.abbreviation(),
        );
        DisplayTime { text, iso: base::time::Moment(at).iso(), exact }
    }

    pub fn in_zone(&self, at: i64) -> jiff::Zoned {
        Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(self.zone.clone())
    }
}

/// A number as sentences write it: `50,000`.
/// Customers read it.
pub fn thousands(n: usize) -> String {
    let separator = translation::text_in_context("thousands separator", ",");
    limits::thousands(n).replace(',', separator)
}

/// A number with so many decimals.
/// Customers read it.
pub fn number(n: f64, decimals: usize) -> String {
    let number = format!("{n:.decimals$}");
    match translation::text_in_context("decimal separator", ".") {
        "." => number,
        separator => number.replace('.', separator),
    }
}

const DAY_MS: i64 = base::limits::DAY_MS;

/// Customers read it.
pub fn size(bytes: i64) -> String {
    match bytes {
        1 => t!("1 byte").to_owned(),
        0..1_024 => t!("{n} bytes", n = bytes),
        1_024..1_048_576 => t!("{n} KB", n = bytes / 1_024),
        _ => t!("{n} MB", n = number(bytes as f64 / 1_048_576.0, 1)),
    }
}

/// For how long a message can be stopped, in words.
pub fn undo_words(seconds: i64) -> String {
    match seconds {
        ..60 => t!("{seconds} seconds", seconds),
        60 => t!("1 minute").into(),
        _ => t!("{minutes} minutes", minutes = seconds / 60),
    }
}

/// The same for what software wrote, whoever approves it.
pub fn undo_words_of_software() -> String {
    undo_words(UNDO_LIVE_MS / 1_000)
}

/// A status as a sentence, its icon and its colour.
pub struct StatusLabel {
    pub text: &'static str,
    pub icon: &'static str,
    pub class: &'static str,
}

/// The label of a conversation whose answer is on its way.
pub fn leaving_label() -> StatusLabel {
    StatusLabel { text: t!("Leaving soon"), icon: "leaving", class: "act" }
}

pub fn status_label(status: Status, snoozed: bool) -> StatusLabel {
    let (text, icon, class) = match (status, snoozed) {
        (_, true) => (t!("Snoozed"), "snooze", ""),
        (Status::Open, _) => (t!("Open, our turn"), "open", "act"),
        (Status::Waiting, _) => (t!("Waiting on customer"), "wait", ""),
        (Status::Closed, _) => (t!("Closed"), "closed", ""),
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

/// The name of a language that mail is recognised in.
pub fn language_name(code: String) -> String {
    let name = match code.as_str() {
        "en" => t!("English"),
        "de" => t!("German"),
        "fr" => t!("French"),
        "es" => t!("Spanish"),
        "it" => t!("Italian"),
        "nl" => t!("Dutch"),
        "pl" => t!("Polish"),
        "pt" => t!("Portuguese"),
        _ => return code,
    };
    name.to_owned()
}

pub fn first_name(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or(name)
}

/// What an act did, in words.
pub fn act_words(offer: &UndoOffer) -> String {
    let n = offer.changed;
    if n == 1 {
        return match offer.kind {
            ActKind::Assigned => t!("Assigned.").into(),
            ActKind::Tagged => t!("Tagged.").into(),
            ActKind::Closed => t!("Closed. New mail opens it again.").into(),
            ActKind::Reopened => t!("Opened again.").into(),
            ActKind::Snoozed => t!("Snoozed. It comes back by itself.").into(),
            ActKind::MarkedUnread => t!("Marked as unread.").into(),
            ActKind::Spam => t!("Moved to the spam.").into(),
            ActKind::Blocked => t!("Moved to the spam. The sender is blocked.").into(),
            ActKind::Deleted => {
                t!("Deleted. The trash keeps it for {days} days.", days = TRASH_DAYS)
            }
            ActKind::Restored => t!("Restored.").into(),
            ActKind::Merged => t!("Merged. The old link leads here.").into(),
            ActKind::MergedTogether => t!("Merged 2 conversations into the older one.").into(),
            ActKind::Split => t!("Split off into a conversation of its own.").into(),
            ActKind::Pinned => t!("Pinned. It stays on top of your lists.").into(),
            ActKind::Unpinned => t!("Unpinned.").into(),
            ActKind::Followed => {
                t!("You follow it. You get a mail when the customer answers.").into()
            }
            ActKind::Unfollowed => t!("You follow it no longer.").into(),
        };
    }
    match offer.kind {
        ActKind::Assigned => t!("Assigned {n} conversations.", n),
        ActKind::Tagged => t!("Tagged {n} conversations.", n),
        ActKind::Closed => t!("Closed {n} conversations. New mail opens them again.", n),
        ActKind::Reopened => t!("Opened {n} conversations again.", n),
        ActKind::Snoozed => t!("Snoozed {n} conversations. They come back by themselves.", n),
        ActKind::MarkedUnread => t!("Marked {n} conversations as unread.", n),
        ActKind::Spam => t!("Moved {n} conversations to the spam.", n),
        ActKind::Blocked => {
            t!("Moved {n} conversations to the spam. Their senders are blocked.", n)
        }
        ActKind::Deleted => {
            t!(
                "Deleted {n} conversations. The trash keeps them for {days} days.",
                n,
                days = TRASH_DAYS
            )
        }
        ActKind::Restored => t!("Restored {n} conversations.", n),
        ActKind::Merged => t!("Merged {n} conversations into another.", n),
        ActKind::MergedTogether => {
            t!("Merged {n} conversations into the oldest of them.", n = n + 1)
        }
        ActKind::Split => t!("Split {n} messages off.", n),
        ActKind::Pinned => t!("Pinned {n} conversations. They stay on top of your lists.", n),
        ActKind::Unpinned => t!("Unpinned {n} conversations.", n),
        ActKind::Followed => t!("You follow {n} conversations.", n),
        ActKind::Unfollowed => t!("You follow {n} conversations no longer.", n),
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
