//! What the words of a typed day or time say, one after the other.

use jiff::Span;
use jiff::civil::{Time, Weekday};

use super::TYPED_TIME_CHARS;
use super::words::{self, DateWord, TimeUnit};

/// Days, weeks, months, hours or minutes that can be counted from now.
const MOST_COUNTED: i64 = 1_000;
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2999;

/// What was said; each part at most once.
#[derive(Default)]
pub(super) struct TypedParts {
    pub year: Option<i16>,
    pub month: Option<i8>,
    pub day: Option<i8>,
    /// Counted from 1, which is Monday.
    pub weekday: Option<i8>,
    pub from_today: Option<Span>,
    pub minutes_from_now: Option<i64>,
    pub clock: Option<Time>,
    /// True behind `in`, where hours are a length of time.
    counts: bool,
}

/// The words that are still to be read.
struct TypedWords<'a> {
    language: &'a str,
    words: Vec<String>,
    at: usize,
}

impl TypedParts {
    /// `None` where a word says nothing, or something is said twice.
    pub fn read(language: &str, typed: &str) -> Option<TypedParts> {
        if typed.chars().count() > TYPED_TIME_CHARS {
            return None;
        }
        let mut words = TypedWords::of(language, typed);
        let mut parts = TypedParts::default();
        while let Some(word) = words.take() {
            parts.read_word(&word, &mut words)?;
        }
        Some(parts)
    }

    pub fn says_no_day(&self) -> bool {
        self.day.is_none()
            && self.month.is_none()
            && self.year.is_none()
            && self.weekday.is_none()
            && self.from_today.is_none()
    }

    /// True where nothing but this weekday is said of the day.
    pub fn is_weekday(&self, weekday: Weekday) -> bool {
        let is_alone = self.day.is_none() && self.month.is_none() && self.from_today.is_none();
        is_alone && self.weekday == Some(weekday.to_monday_one_offset())
    }

    fn read_word(&mut self, word: &str, rest: &mut TypedWords<'_>) -> Option<()> {
        if let Some(time) = clock(word) {
            let half = rest.take_half();
            let time = half.map_or(Some(time), |half| clock(&format!("{word}{half}")))?;
            return put(&mut self.clock, time);
        }
        if word.bytes().all(|b| b.is_ascii_digit()) {
            return self.read_number(word, rest);
        }
        if let Some(day) = ordinal(word) {
            return put(&mut self.day, day);
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.read_date_of_numbers(word, rest);
        }
        self.read_meaning(rest.meanings(word), rest)
    }

    fn read_number(&mut self, digits: &str, rest: &mut TypedWords<'_>) -> Option<()> {
        let number: i64 = digits.parse().ok()?;
        let small = i8::try_from(number).ok();
        if let Some(half) = rest.take_half() {
            return put(&mut self.clock, clock(&format!("{digits}{half}"))?);
        }
        let next = rest.next_meanings();
        let unit = next.iter().find_map(unit);
        if let Some(unit) = unit
            && (self.counts || !next.contains(&DateWord::HourMark))
        {
            rest.take();
            return self.count(number, unit);
        }
        if next.contains(&DateWord::HourMark) {
            rest.take();
            let minutes = rest.take_minutes().unwrap_or(0);
            return put(&mut self.clock, Time::new(small?, minutes, 0, 0).ok()?);
        }
        let is_before_month = next.iter().any(|word| matches!(word, DateWord::Month(_)));
        if self.day.is_none() && (is_before_month || self.month.is_some()) {
            return put(&mut self.day, small?);
        }
        if digits.len() == 4 && self.month.is_some() {
            let year = i16::try_from(number).ok().filter(|year| YEARS.contains(year))?;
            return put(&mut self.year, year);
        }
        put(&mut self.clock, Time::new(small?, 0, 0, 0).ok()?)
    }

    /// `21.11.2026`, `2026-11-21`, `21/11`. `9.10` is a time where the day was said, and before `Uhr`.
    fn read_date_of_numbers(&mut self, word: &str, rest: &mut TypedWords<'_>) -> Option<()> {
        let is_said = self.day.is_some() || self.from_today.is_some();
        let is_time = is_said || rest.next_meanings().contains(&DateWord::HourMark);
        let date = date_of_numbers(rest.language, word).filter(|_| !is_time);
        let Some((year, month, day)) = date else {
            let (hour, minute) = word.split_once('.').filter(|(_, minute)| minute.len() == 2)?;
            return put(&mut self.clock, clock(&format!("{hour}:{minute}"))?);
        };
        put(&mut self.month, month)?;
        put(&mut self.day, day)?;
        year.map_or(Some(()), |year| put(&mut self.year, year))
    }

    fn read_meaning(&mut self, meanings: Vec<DateWord>, rest: &mut TypedWords<'_>) -> Option<()> {
        let month = meanings.iter().find(|word| matches!(word, DateWord::Month(_)));
        let month = month.filter(|_| self.day.is_some() && self.month.is_none());
        match *month.or(meanings.first())? {
            DateWord::One => self.count(1, rest.take_unit()?),
            DateWord::Skip if meanings.contains(&DateWord::One) => {
                // The French `a` and the English one.
                rest.take_unit().map_or(Some(()), |unit| self.count(1, unit))
            }
            DateWord::In => {
                self.counts = true;
                let is_followed = rest.at < rest.words.len();
                is_followed.then_some(())
            }
            DateWord::Unit(unit) if self.counts => self.count(1, unit),
            DateWord::Skip => Some(()),
            DateWord::HourMark if self.clock.is_some() => Some(()),
            // In Italian it stands before the hour.
            DateWord::HourMark => rest.next_is_number().then_some(()),
            DateWord::DaysFromToday(days) => {
                put(&mut self.from_today, Span::new().try_days(days).ok()?)
            }
            DateWord::Noon => put(&mut self.clock, Time::new(12, 0, 0, 0).ok()?),
            DateWord::Weekday(weekday) => put(&mut self.weekday, weekday),
            DateWord::Month(month) => put(&mut self.month, month),
            DateWord::Unit(_) => None,
        }
    }

    /// So many days, weeks or months from today, or hours or minutes from now.
    fn count(&mut self, number: i64, unit: TimeUnit) -> Option<()> {
        let number = Some(number).filter(|number| (0..=MOST_COUNTED).contains(number))?;
        let span = match unit {
            TimeUnit::Days => Span::new().try_days(number),
            TimeUnit::Weeks => Span::new().try_weeks(number),
            TimeUnit::Months => Span::new().try_months(number),
            TimeUnit::Hours => return put(&mut self.minutes_from_now, 60 * number),
            TimeUnit::Minutes => return put(&mut self.minutes_from_now, number),
        };
        put(&mut self.from_today, span.ok()?)
    }
}

/// Commas and spaces, also those of Arabic, and the marks of what runs from left to right within it.
const BETWEEN_WORDS: [char; 9] =
    [',', ';', '،', '\u{a0}', '\u{202f}', '\u{200e}', '\u{200f}', '\u{2066}', '\u{2069}'];

impl<'a> TypedWords<'a> {
    fn of(language: &'a str, typed: &str) -> TypedWords<'a> {
        let text = typed.to_lowercase().replace(BETWEEN_WORDS, " ");
        let text = words::join_phrases(language, &text);
        let mut all = TypedWords { language, words: Vec::new(), at: 0 };
        for word in text.split_whitespace() {
            // `21.` is a number, `nov.` a word; `2026-11-21t14:30` a day and a time.
            let word = word.strip_suffix('.').unwrap_or(word);
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            let (number, letters) = word.split_at(digits);
            let is_iso =
                word.as_bytes().get(10) == Some(&b't') && word.as_bytes().get(4) == Some(&b'-');
            if let Some((day, time)) = word.split_once('t').filter(|_| is_iso) {
                all.words.extend([day.to_owned(), time.to_owned()]);
            } else if digits > 0 && !all.meanings(letters).is_empty() {
                all.words.extend([number.to_owned(), letters.to_owned()]);
            } else {
                all.words.push(word.to_owned());
            }
        }
        all
    }

    fn meanings(&self, word: &str) -> Vec<DateWord> {
        words::meanings(self.language, word)
    }

    fn take(&mut self) -> Option<String> {
        let word = self.words.get(self.at)?.clone();
        self.at += 1;
        Some(word)
    }

    /// The half of the day that an hour is in, where the words have no other meaning: `pm`, `p.m.`
    fn take_half(&mut self) -> Option<String> {
        let half = self.words.get(self.at)?.replace('.', "");
        let is_half = half == "pm" || (half == "am" && self.meanings(&half).is_empty());
        is_half.then(|| {
            self.at += 1;
            half
        })
    }

    fn next_is_number(&self) -> bool {
        let next = self.words.get(self.at);
        next.is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// What the next word means that says something: in `21 de noviembre` the month.
    fn next_meanings(&self) -> Vec<DateWord> {
        let meanings = |at: usize| self.words.get(at).map(|next| self.meanings(next));
        let next = meanings(self.at).unwrap_or_default();
        if next.contains(&DateWord::Skip) {
            let behind = meanings(self.at + 1).unwrap_or_default();
            return behind.into_iter().filter(|word| matches!(word, DateWord::Month(_))).collect();
        }
        next
    }

    fn take_unit(&mut self) -> Option<TimeUnit> {
        let unit = self.next_meanings().iter().find_map(unit)?;
        self.at += 1;
        Some(unit)
    }

    /// The minutes behind `9 Uhr`.
    fn take_minutes(&mut self) -> Option<i8> {
        let next = self.words.get(self.at)?;
        let minutes = next.parse().ok().filter(|minutes| (0..60).contains(minutes))?;
        // Behind it a month would make it a day.
        let behind =
            self.words.get(self.at + 1).map(|word| self.meanings(word)).unwrap_or_default();
        if behind.iter().any(|word| matches!(word, DateWord::Month(_))) {
            return None;
        }
        self.at += 1;
        Some(minutes)
    }
}

fn unit(word: &DateWord) -> Option<TimeUnit> {
    match word {
        DateWord::Unit(unit) => Some(*unit),
        _ => None,
    }
}

/// Says a part; `None` where it was said before.
fn put<T>(part: &mut Option<T>, value: T) -> Option<()> {
    part.is_none().then(|| *part = Some(value))
}

/// `14:30`, `14:30:00`, `9h30`, `2pm`, `2:30pm`; a number alone is none.
fn clock(word: &str) -> Option<Time> {
    let plain = word.replace('.', "");
    let (digits, half) = match (plain.strip_suffix("am"), plain.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        _ => (word, None),
    };
    let (hour, minute) = match digits.split_once([':', 'h']) {
        Some((hour, minute)) => (hour, minute.strip_suffix(":00").unwrap_or(minute)),
        None if half.is_some() => (digits, "00"),
        None => return None,
    };
    let is_number = |text: &str| text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
    let minute = if minute.is_empty() && digits.ends_with('h') { "00" } else { minute };
    if !is_number(hour) || !is_number(minute) || minute.len() != 2 {
        return None;
    }
    let hour: i8 = hour.parse().ok()?;
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(half) => hour % 12 + half,
        None => hour,
    };
    Time::new(hour, minute.parse().ok()?, 0, 0).ok()
}

/// `21st`, `1er`.
fn ordinal(word: &str) -> Option<i8> {
    let endings = ["st", "nd", "rd", "th", "er", "º", "°"];
    let number = endings.iter().find_map(|ending| word.strip_suffix(ending))?;
    number.parse().ok().filter(|day| (1..=31).contains(day))
}

/// Year, month and day.
fn date_of_numbers(language: &str, word: &str) -> Option<(Option<i16>, i8, i8)> {
    let separator = word.chars().find(|c| "./-".contains(*c))?;
    let numbers: Vec<&str> = word.split(separator).collect();
    let is_number =
        |text: &&str| (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !numbers.iter().all(is_number) {
        return None;
    }
    let small = |text: &str| text.parse::<i8>().ok();
    let (year, first, second) = match *numbers.as_slice() {
        [year, month, day] if year.len() == 4 => {
            return Some((Some(year.parse().ok()?), small(month)?, small(day)?));
        }
        [first, second, year] if year.len() == 4 => (year.parse().ok(), first, second),
        [first, second, year] if year.len() == 2 => {
            (year.parse().ok().map(|year: i16| 2000 + year), first, second)
        }
        [first, second] => (None, first, second),
        _ => return None,
    };
    let (first, second) = (small(first)?, small(second)?);
    // In the United States the month comes first; where both readings are dates, neither is guessed.
    let may_be_american = language == "en" && separator != '.';
    let (day, month) = match (first > 12, second > 12) {
        (false, true) if may_be_american => (second, first),
        (false, false) if may_be_american && first != second => return None,
        _ => (first, second),
    };
    let is_date = (1..=31).contains(&day) && (1..=12).contains(&month);
    is_date.then_some((year, month, day))
}
