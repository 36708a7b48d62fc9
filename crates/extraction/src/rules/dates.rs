//! Days in a text, as people of several languages write them.

use jiff::civil::Date;

use super::tokens::{WordToken, tokens};

/// Years that a paper may be of.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=2099;
/// The tokens that are looked at for one day: "2 de julio de 2015" has five.
const WINDOW: usize = 5;

/// Which of two small numbers is the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    DayFirst,
    MonthFirst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    pub date: Date,
    pub start: usize,
    pub end: usize,
}

/// The days that a text names.
pub fn days(text: &str, order: Order) -> Vec<Day> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match day_at(text, &tokens[at..], order) {
            Some((date, length)) => {
                found.push(Day { date, start: tokens[at].start, end: tokens[at + length - 1].end });
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// What the days of a document say about their order, if one of them can only be read one way.
pub fn order_of(texts: impl Iterator<Item = String>) -> Option<Order> {
    let (mut day_first, mut month_first) = (0, 0);
    for text in texts {
        let all = tokens(&text);
        for window in all.windows(3) {
            let Some([first, second, _]) = numeric(&text, window) else { continue };
            match (first, second) {
                (13..=31, 1..=12) => day_first += 1,
                (1..=12, 13..=31) => month_first += 1,
                _ => {}
            }
        }
    }
    match (day_first, month_first) {
        (0, 0) => None,
        (day, month) if day >= month => Some(Order::DayFirst),
        _ => Some(Order::MonthFirst),
    }
}

fn day_at(text: &str, rest: &[WordToken], order: Order) -> Option<(Date, usize)> {
    let window = &rest[..rest.len().min(WINDOW)];
    numbers_only(text, window, order).or_else(|| with_month(text, window))
}

/// 2026-11-15, 15.11.2026, 15/11/26, 11/15/2026.
fn numbers_only(text: &str, window: &[WordToken], order: Order) -> Option<(Date, usize)> {
    let three = window.get(..3)?;
    let [first, second, third] = numeric(text, three)?;
    let years_first = three[0].word.len() == 4;
    let date = match (years_first, order) {
        (true, _) => date(first, second, third),
        (false, Order::DayFirst) => {
            date(third, second, first).or_else(|| date(third, first, second))
        }
        (false, Order::MonthFirst) => {
            date(third, first, second).or_else(|| date(third, second, first))
        }
    };
    date.map(|date| (date, 3))
}

/// Three numbers with the same mark between them, the year made whole.
fn numeric(text: &str, three: &[WordToken]) -> Option<[i16; 3]> {
    let [first, second, third] = three else { return None };
    let between = |a: &WordToken, b: &WordToken| text[a.end..b.start].trim().to_owned();
    let mark = between(first, second);
    if !matches!(mark.as_str(), "." | "/" | "-" | "–") || mark != between(second, third) {
        return None;
    }
    // A further number makes it an address or a version.
    let glued = |c: char| c.is_ascii_digit() || mark.contains(c);
    let after = text[third.end..].chars().next().filter(|c| mark.contains(*c));
    let again = after.is_some() && text[third.end + 1..].starts_with(|c: char| c.is_ascii_digit());
    if again || text[..first.start].ends_with(glued) {
        return None;
    }
    let value = |token: &WordToken, lengths: &[usize]| {
        let fits = lengths.contains(&token.word.len());
        token.word.parse::<i16>().ok().filter(|_| fits && token.word.is_ascii())
    };
    if first.word.len() == 4 {
        return Some([value(first, &[4])?, value(second, &[1, 2])?, value(third, &[1, 2])?]);
    }
    let year = value(third, &[2, 4])?;
    let year = if third.word.len() == 2 { 2000 + year } else { year };
    Some([value(first, &[1, 2])?, value(second, &[1, 2])?, year])
}

/// 7. Mai 2014, 2 de julio de 2015, 20-Oct-15, October 20, 2015, 1er juillet 2015.
fn with_month(text: &str, window: &[WordToken]) -> Option<(Date, usize)> {
    // "20Oct2015" is one token; nobody writes the parts of a day further apart than this.
    let close = |a: &WordToken, b: &WordToken| text[a.end..b.start].chars().count() <= 3;
    let mut parts: Vec<(usize, &str)> = Vec::new();
    for (place, token) in window.iter().enumerate() {
        if place > 0 && !close(&window[place - 1], token) {
            break;
        }
        if !matches!(token.word.as_str(), "de" | "del" | "of" | "den") {
            parts.push((place, token.word.as_str()));
        } else if place == 0 {
            return None;
        }
    }
    let [(_, first), (_, second), (last, third), ..] = parts.as_slice() else { return None };
    let year = whole_year(third)?;
    let date = match (day_number(first), month(second), month(first), day_number(second)) {
        (Some(day), Some(month), _, _) => date(year, month, day),
        (_, _, Some(month), Some(day)) => date(year, month, day),
        _ => None,
    };
    date.map(|date| (date, last + 1))
}

fn day_number(word: &str) -> Option<i16> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    let fits = matches!(ending, "" | "st" | "nd" | "rd" | "th" | "er" | "o" | "e");
    digits.parse().ok().filter(|_| fits && digits.len() <= 2)
}

fn whole_year(word: &str) -> Option<i16> {
    match (word.len(), word.parse::<i16>().ok()?) {
        (4, year) => Some(year),
        (2, year) => Some(2000 + year),
        _ => None,
    }
}

fn date(year: i16, month: i16, day: i16) -> Option<Date> {
    if !YEARS.contains(&year) {
        return None;
    }
    Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()
}

fn month(word: &str) -> Option<i16> {
    let at = MONTHS.iter().position(|names| names.split(' ').any(|name| name == word))?;
    i16::try_from(at + 1).ok()
}

/// The names of the months, folded: English, German, French, Spanish, Italian, Dutch, Portuguese,
/// Polish, and how they are cut short.
const MONTHS: [&str; 12] = [
    "january januar janner janvier enero gennaio januari janeiro stycznia jan janv ene gen",
    "february februar fevrier febrero febbraio februari fevereiro lutego feb fev fevr febr",
    "march marz maerz mars marzo maart marco marca mar mrz mrt",
    "april avril abril aprile kwietnia apr avr abr",
    "may mai mayo maggio mei maio maja mag",
    "june juni juin junio giugno junho czerwca jun giu",
    "july juli juillet julio luglio julho lipca jul juil lug",
    "august aout agosto augustus sierpnia aug ago",
    "september septembre septiembre settembre setembro wrzesnia sep sept set",
    "october oktober octobre octubre ottobre outubro pazdziernika oct okt ott out",
    "november novembre noviembre novembro listopada nov",
    "december dezember decembre diciembre dicembre dezembro grudnia dec dez dic",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_in_every_language() {
        for (text, expected) in [
            ("on 2026-11-15.", "2026-11-15"),
            ("2026/1/5", "2026-01-05"),
            ("am 05.03.2013", "2013-03-05"),
            ("5.3.13", "2013-03-05"),
            ("15/11/2026", "2026-11-15"),
            ("7. Mai 2014", "2014-05-07"),
            ("18 april 2014", "2014-04-18"),
            ("1er juillet 2015", "2015-07-01"),
            ("2 de julio de 2015", "2015-07-02"),
            ("3 dicembre 2020", "2020-12-03"),
            ("20-Oct-2015", "2015-10-20"),
            ("Oct 20th, 2015", "2015-10-20"),
            ("3. März 2020", "2020-03-03"),
            ("11/17/2017", "2017-11-17"),
        ] {
            let found = days(text, Order::DayFirst);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].date.to_string(), expected, "{text}");
        }
        assert_eq!(days("4/5/2020", Order::MonthFirst)[0].date.to_string(), "2020-04-05");
        for text in ["192.168.1.10", "1.2.3.4", "31.02.2020", "12-34", "5 apples 2020", "01/2020"] {
            assert_eq!(days(text, Order::DayFirst), [], "{text}");
        }
    }

    #[test]
    fn one_clear_day_settles_the_order_of_the_others() {
        let of = |texts: &[&str]| order_of(texts.iter().map(|text| text.to_string()));
        assert_eq!(of(&["4/5/2020", "due 4/25/2020"]), Some(Order::MonthFirst));
        assert_eq!(of(&["25/4/2020"]), Some(Order::DayFirst));
        assert_eq!(of(&["4/5/2020"]), None);
    }
}
