//! When a mail says it was sent (RFC 5322, section 3.3, and what programs write instead).

/// The first year that a mail can have been sent in: the one of RFC 822. An earlier date is a clock
/// that was never set.
const FIRST_YEAR: i64 = 1982;
/// The last year that is written with four digits.
const LAST_YEAR: i64 = 9999;
/// Bytes of a `Date` field that are read.
const FIELD_BYTES: usize = 200;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Milliseconds since 1970; `None` for what is no date, or none on which a mail was sent.
pub fn sent_at(field: &str) -> Option<i64> {
    let field = &field[..field.floor_char_boundary(FIELD_BYTES)];
    let plain = without_comments(field).to_ascii_lowercase();
    let mut read = Moment::default();
    for word in plain.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()) {
        read.word(word);
    }
    read.milliseconds()
}

#[derive(Debug, Default)]
struct Moment {
    day: Option<i64>,
    month: Option<i64>,
    year: Option<i64>,
    /// Seconds since midnight.
    time: Option<i64>,
    /// Seconds east of Greenwich.
    zone: Option<i64>,
}

impl Moment {
    fn word(&mut self, word: &str) {
        if let Some((date, time)) = word.split_once('t').filter(|_| is_iso(word)) {
            self.iso(date, time);
        } else if let Some(offset) = offset(word).filter(|_| self.time.is_some()) {
            self.zone = self.zone.or(Some(offset));
        } else if word.contains(':') {
            self.time = self.time.or_else(|| time(word));
        } else if word.contains(['-', '/']) {
            self.read_joined(word);
        } else if let Some(month) = month(word) {
            self.month = self.month.or(Some(month));
        } else if let Ok(number) = word.parse::<i64>() {
            self.number(number, word.len());
        } else if word == "am" || word == "pm" {
            self.half(word == "pm");
        } else if self.time.is_some() {
            self.zone = self.zone.or_else(|| zone(word));
        }
    }

    fn number(&mut self, number: i64, digits: usize) {
        if digits <= 2 && self.day.is_none() {
            self.day = Some(number);
        } else if self.year.is_none() {
            // Two and three digits are years of the last century and the beginning of this one
            // (RFC 5322, section 4.3).
            self.year = Some(match digits {
                0..=2 if number < 50 => number + 2000,
                // So do four digits that count from 1900.
                _ if number < 1_000 => number + 1900,
                _ => number,
            });
        }
    }

    /// `06-May-2024` and `2024-05-06`.
    fn read_joined(&mut self, word: &str) {
        let parts: Vec<&str> = word.split(['-', '/']).collect();
        let [first, second, third] = parts[..] else { return };
        let Some(month) = month(second).or_else(|| second.parse().ok()) else { return };
        let (Ok(one), Ok(other)) = (first.parse::<i64>(), third.parse::<i64>()) else { return };
        self.month = Some(month);
        if first.len() == 4 {
            (self.year, self.day) = (Some(one), Some(other));
        } else {
            self.day = Some(one);
            self.number(other, third.len());
        }
    }

    /// RFC 3339.
    fn iso(&mut self, date: &str, rest: &str) {
        self.read_joined(date);
        let end = rest.find(['z', '+', '-']).unwrap_or(rest.len());
        self.time = time(&rest[..end]);
        self.zone = offset(&rest[end..]).or(Some(0));
    }

    fn half(&mut self, afternoon: bool) {
        const NOON: i64 = 12 * 3_600;
        self.time = self.time.map(|time| match (time >= NOON, afternoon) {
            (true, false) if time < NOON + 3_600 => time - NOON,
            (false, true) => time + NOON,
            _ => time,
        });
    }

    fn milliseconds(&self) -> Option<i64> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        let valid = (FIRST_YEAR..=LAST_YEAR).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day);
        let seconds =
            days_since_1970(year, month, day) * 86_400 + self.time? - self.zone.unwrap_or_default();
        valid.then_some(seconds * 1_000)
    }
}

fn is_iso(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() > 11 && bytes[4] == b'-' && bytes[10] == b't' && bytes[0].is_ascii_digit()
}

fn month(word: &str) -> Option<i64> {
    let start = word.get(..3)?;
    let index = MONTHS.iter().position(|month| *month == start)?;
    i64::try_from(index + 1).ok()
}

/// `10:05`, `10:05:06` and `10:05:06.789`; a leap second is the one before it.
fn time(word: &str) -> Option<i64> {
    let afternoon = word.strip_suffix("pm");
    let morning = word.strip_suffix("am");
    let mut parts = afternoon.or(morning).unwrap_or(word).split(':');
    let mut part = |most: i64| {
        let text = parts.next()?;
        let text = text.split('.').next().unwrap_or(text);
        text.parse::<i64>().ok().filter(|number| (0..=most).contains(number))
    };
    let (hour, minute) = (part(23)?, part(59)?);
    let second = part(60).unwrap_or(0).min(59);
    let hour = match (afternoon, morning) {
        (Some(_), _) if hour < 12 => hour + 12,
        (_, Some(_)) if hour == 12 => 0,
        _ => hour,
    };
    Some(hour * 3_600 + minute * 60 + second)
}

/// `+0200` and `-05:30`.
fn offset(word: &str) -> Option<i64> {
    let (sign, digits) = match word.as_bytes().first()? {
        b'+' => (1, &word[1..]),
        b'-' => (-1, &word[1..]),
        _ => return None,
    };
    let digits: String = digits.chars().filter(|c| *c != ':').collect();
    let number: i64 = digits.parse().ok().filter(|_| (1..=4).contains(&digits.len()))?;
    let (hours, minutes) =
        if digits.len() <= 2 { (number, 0) } else { (number / 100, number % 100) };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Names of zones (RFC 5322, section 4.3). A letter of the military says nothing certain.
fn zone(word: &str) -> Option<i64> {
    let hours = match word {
        "edt" => -4,
        "est" | "cdt" => -5,
        "cst" | "mdt" => -6,
        "mst" | "pdt" => -7,
        "pst" => -8,
        "ut" | "utc" | "gmt" | "z" | "wet" => 0,
        "bst" | "cet" | "met" | "west" => 1,
        "cest" | "mest" | "eet" => 2,
        "eest" | "msk" => 3,
        "jst" => 9,
        _ => return word.strip_prefix("gmt").or(word.strip_prefix("utc")).and_then(offset),
    };
    Some(hours * 3_600)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days of the Gregorian calendar, in years that begin with March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// Comments stand in brackets, and may stand in one another.
fn without_comments(text: &str) -> String {
    let mut depth = 0usize;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::sent_at;

    /// 6 May 2024, 10:05:06 in Greenwich.
    const MAY: i64 = 1_714_989_906_000;

    #[test]
    fn dates_are_read_however_they_are_written() {
        for date in [
            "Mon, 6 May 2024 10:05:06 +0000",
            "Mon, 06 May 2024 12:05:06 +0200",
            "6 May 2024 10:05:06 GMT",
            "6 May 2024 10:05:06 UT",
            "6 May 2024 10:05:06 Z",
            "6 May 2024 10:05:06",
            "6 May 24 10:05:06 +00:00",
            "Mon, 6 May 2024 06:05:06 EDT",
            "Mon, 6 May 2024 06:05:06 -0400 (EDT (summer))",
            "Mon May  6 10:05:06 2024",
            "Mon May 6 10:05:06 UTC 2024",
            "06-May-2024 10:05:06 +0000",
            "2024-05-06T10:05:06Z",
            "2024-05-06T12:05:06.123+02:00",
            "2024-05-06 10:05:06",
            "6 May 2024 10:05:06 AM",
            "6 May 0124 10:05:06 +0000",
            "6 May 2024 10:05:06 GMT+0000",
            "Mon,\t6\tMay\t2024 10:05:06 +0000 (UTC",
        ] {
            assert_eq!(sent_at(date), Some(MAY), "{date}");
        }
        assert_eq!(sent_at("6 May 2024 10:05:06 PM"), Some(MAY + 12 * 3_600_000));
        assert_eq!(sent_at("29 Feb 2024 00:00 +0000"), Some(1_709_164_800_000));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for date in [
            "",
            "yesterday",
            "31 Feb 2024 10:00 +0000",
            "Thu, 1 Jan 1970 00:00:00 +0000",
            "6 May 2024",
            "6 May 2024 25:00:00",
            "99 Foo 2024 10:00:00",
            "((((",
        ] {
            assert_eq!(sent_at(date), None, "{date}");
        }
    }
}
