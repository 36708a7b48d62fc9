//! Weekly hours as people write and read them: days have their names in any language of the app.

use calendar::{HoursError, WeeklyHours};
use translation::Language;

use crate::times::calendar_words::{SHORT_WEEKDAYS, WEEKDAYS};

/// Reads `mon-fri 09:00-17:00` as well as `Mo-Fr 09:00-17:00`, whoever writes it. A name of the reader's own
/// language counts first.
pub fn read(text: &str) -> Result<WeeklyHours, HoursError> {
    let day = |name: &str| {
        let mut languages = std::iter::once(translation::current()).chain(Language::all());
        languages.find_map(|language| day_in(language, name))
    };
    WeeklyHours::read(text, day)
}

/// Hours as they are stored, in the reader's language. What cannot be read stays as it is.
pub fn words(weekly: &str) -> String {
    let language = translation::current();
    match weekly.parse::<WeeklyHours>() {
        Ok(hours) if language != Language::ENGLISH => {
            hours.words(&SHORT_WEEKDAYS.map(|day| language.text(day)))
        }
        _ => weekly.to_owned(),
    }
}

/// The day with this name, whole or shortened: `Mo`, `Mo.`, `Mont`, `Montag`.
fn day_in(language: Language, name: &str) -> Option<usize> {
    let name = name.trim_end_matches('.').to_lowercase();
    (0..WEEKDAYS.len()).find(|day| {
        let long = language.text(WEEKDAYS[*day]).to_lowercase();
        let short = language.text(SHORT_WEEKDAYS[*day]).trim_end_matches('.').to_lowercase();
        let is_begun = long.starts_with(&name) && name.chars().count() >= short.chars().count();
        name == short || is_begun
    })
}

#[cfg(test)]
mod tests {
    use translation::Reader;

    use super::*;

    #[test]
    fn days_are_read_in_every_language_and_shown_in_the_readers() {
        let german = Language::parse("de").expect("there is a German catalogue");
        let stored = "mon-fri 09:00-12:00; sat,sun 10:00-12:00";
        let typed = [
            stored,
            "Mo-Fr 9-12; Sa,So 10-12",
            "Montag-Freitag 09:00-12:00; samstag 10-12; Sonntag 10-12",
            "mo.–fr. 9-12; sat 10-12; So 10-12",
        ];
        for language in [Language::ENGLISH, german] {
            Reader::new(language).run(|| {
                for text in typed {
                    let read = read(text).map(|hours| hours.to_string());
                    assert_eq!(read.as_deref(), Ok(stored), "{text}");
                }
                for text in ["M 9-12", "xy 9-12", "Mot 9-12", ". 9-12"] {
                    assert_eq!(read(text), Err(HoursError::Day), "{text}");
                }
            });
        }
        assert_eq!(words(stored), stored);
        Reader::new(german).run(|| {
            assert_eq!(words(stored), "Mo-Fr 09:00-12:00; Sa,So 10:00-12:00");
            assert_eq!(words(""), "");
            assert_eq!(words("no hours"), "no hours");
        });
    }
}
