//! Values of properties (RFC 5545 3.3): dates, times, durations, periods, text.

use jiff::civil::{Date, DateTime, Time};

use crate::civil::{CivilSeconds, DAY_SECONDS};

/// A date or time as it is written, before its zone is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenTime {
    Date(Date),
    /// Without a zone: wherever the reader is, or in the zone that a parameter names.
    Local(DateTime),
    Utc(DateTime),
}

impl Default for WrittenTime {
    fn default() -> WrittenTime {
        WrittenTime::Date(Date::default())
    }
}

/// RFC 5545 3.3.6: days are days of the calendar, hours are elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NominalDuration {
    pub days: i64,
    pub seconds: CivilSeconds,
}

/// `20270329T090000Z`, `20270329T0900`, `20270329`; also with the dashes and colons of ISO 8601.
pub(crate) fn parse_time(text: &str) -> Option<WrittenTime> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let date = parse_date(date)?;
    let Some(time) = time else { return Some(WrittenTime::Date(date)) };
    let (time, is_utc) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, true),
        None => (time, false),
    };
    let time = date.to_datetime(parse_clock(time)?);
    Some(if is_utc { WrittenTime::Utc(time) } else { WrittenTime::Local(time) })
}

fn parse_date(text: &str) -> Option<Date> {
    let text = text.replace('-', "");
    let digits = digits(&text, 8)?;
    Date::new(digits[..4].parse().ok()?, digits[4..6].parse().ok()?, digits[6..].parse().ok()?).ok()
}

fn parse_clock(text: &str) -> Option<Time> {
    let text = text.replace(':', "");
    // Some exporters leave the seconds out.
    let text = if text.len() == 4 { text + "00" } else { text };
    let digits = digits(&text, 6)?;
    // A leap second (RFC 5545 3.3.12) is the second before it.
    let second: i8 = digits[4..].parse().ok()?;
    Time::new(digits[..2].parse().ok()?, digits[2..4].parse().ok()?, second.min(59), 0).ok()
}

fn digits(text: &str, length: usize) -> Option<&str> {
    (text.len() == length && text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// `P1DT2H30M`, `-PT15M`, `P2W`.
pub(crate) fn parse_duration(text: &str) -> Option<NominalDuration> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut duration = NominalDuration::default();
    let mut number = String::new();
    for character in text.strip_prefix(['P', 'p'])?.chars() {
        if character.is_ascii_digit() {
            number.push(character);
            continue;
        }
        if matches!(character, 'T' | 't') && number.is_empty() {
            continue;
        }
        // Longer than any series, short enough for arithmetic.
        let amount = sign * std::mem::take(&mut number).parse::<i64>().ok()?.min(1_000_000_000);
        match character.to_ascii_uppercase() {
            'W' => duration.days += 7 * amount,
            'D' => duration.days += amount,
            'H' => duration.seconds += 3_600 * amount,
            'M' => duration.seconds += 60 * amount,
            'S' => duration.seconds += amount,
            _ => return None,
        }
    }
    (number.is_empty() && duration.days.abs() < 4_000_000).then_some(duration)
}

/// `+0530`, `-080000`: seconds east of Greenwich.
pub(crate) fn parse_offset(text: &str) -> Option<i32> {
    let text = text.trim();
    let sign = match text.as_bytes().first()? {
        b'-' => -1,
        b'+' => 1,
        _ => return None,
    };
    let text = text[1..].replace(':', "");
    let text = if text.len() == 4 { text + "00" } else { text };
    let digits = digits(&text, 6)?;
    let part = |at: usize| digits[at..at + 2].parse::<i32>().ok();
    let offset = part(0)? * 3_600 + part(2)? * 60 + part(4)?;
    (i64::from(offset) < DAY_SECONDS).then_some(sign * offset)
}

/// Undoes the escapes of TEXT (RFC 5545 3.3.11) and leaves out control characters.
pub(crate) fn plain_text(value: &str, limit: usize) -> String {
    let mut plain = String::with_capacity(value.len().min(4 * limit));
    let mut characters = value.chars();
    let mut left = limit;
    while let Some(character) = characters.next() {
        let character = match character {
            '\\' => match characters.next() {
                Some('n' | 'N') => '\n',
                Some(escaped) => escaped,
                None => break,
            },
            other => other,
        };
        if left == 0 {
            break;
        }
        if character == '\n' || character == '\t' || !character.is_control() {
            plain.push(character);
            left -= 1;
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, datetime};

    #[test]
    fn times_are_read_in_every_form_that_is_in_use() {
        let nine = datetime(2027, 3, 29, 9, 0, 0, 0);
        for (text, expected) in [
            ("20270329T090000Z", Some(WrittenTime::Utc(nine))),
            ("20270329T090000", Some(WrittenTime::Local(nine))),
            (" 20270329T0900 ", Some(WrittenTime::Local(nine))),
            ("2027-03-29T09:00:00Z", Some(WrittenTime::Utc(nine))),
            ("20270329", Some(WrittenTime::Date(date(2027, 3, 29)))),
            ("20270229", None),
            ("20270329T250000", None),
            ("", None),
            ("2027032\u{e9}", None),
            ("T", None),
        ] {
            assert_eq!(parse_time(text), expected, "{text}");
        }
    }

    #[test]
    fn durations_keep_days_and_hours_apart() {
        for (text, expected) in [
            ("P1DT2H30M", Some((1, 9_000))),
            ("-PT15M", Some((0, -900))),
            ("P2W", Some((14, 0))),
            ("PT0S", Some((0, 0))),
            ("P1D", Some((1, 0))),
            ("P1", None),
            ("1D", None),
            ("P99999999999999999999D", None),
        ] {
            let expected = expected.map(|(days, seconds)| NominalDuration { days, seconds });
            assert_eq!(parse_duration(text), expected, "{text}");
        }
    }

    #[test]
    fn offsets_need_their_sign() {
        assert_eq!(parse_offset("+0530"), Some(19_800));
        assert_eq!(parse_offset("-00:44:30"), Some(-2_670));
        assert_eq!(parse_offset("0530"), None);
        assert_eq!(parse_offset("+99999"), None);
    }

    #[test]
    fn text_is_plain_and_cut() {
        assert_eq!(plain_text("a\\, b\\;\\nc\\\\d\u{7}", 100), "a, b;\nc\\d");
        assert_eq!(plain_text("äöü", 2), "äö");
    }
}
