//! How the reader's language writes days and times in the fields that they are typed into.

use calendar::day_form;
use jiff::civil::{Date, DateTime};

/// A day as the reader's language writes it; what is no day as it is.
pub fn day_text(iso: &str) -> String {
    let day = iso.parse::<Date>().ok();
    day.map_or_else(|| iso.to_owned(), |day| format_moment(day.at(0, 0, 0, 0), &reader_form()))
}

/// A day and a time in the same form.
pub fn moment_text(at: DateTime) -> String {
    format_moment(at, &moment_form())
}

/// How the reader's language writes a day, as `strftime` has it.
pub fn reader_form() -> String {
    day_form(translation::current().code()).to_owned()
}

/// The same of a day and a time.
pub fn moment_form() -> String {
    format!("{} %H:%M", reader_form())
}

fn format_moment(at: DateTime, form: &str) -> String {
    at.strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use translation::{Language, Reader};

    use super::*;

    #[test]
    fn a_day_is_shown_as_its_reader_writes_it_and_what_is_none_as_it_was_typed() {
        assert_eq!(day_text("2026-11-04"), "4 Nov 2026");
        assert_eq!(day_text("soon"), "soon");
        let german = Language::parse("de").expect("German");
        Reader::new(german).run(|| {
            assert_eq!(day_text("2026-11-04"), "04.11.2026");
            let at = "2026-11-04T09:30".parse().expect("a time");
            assert_eq!(moment_text(at), "04.11.2026 09:30");
        });
    }
}
