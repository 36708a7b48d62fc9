//! The filters of templates.

use std::borrow::Cow;
use std::fmt;

use askama::filters::{Escaper, Html, Safe};
use askama::{Result, Values};
use calendar::TYPED_TIME_CHARS;
use mail::TextSegment;
use translation::InterpolatedText;

use crate::layout::asset_files::VERSION;
use crate::layout::day_forms;

/// The day of examples: no month has its number.
const EXAMPLE_DAY: &str = "2027-11-21";

/// An icon of the sprite by name.
#[askama::filter_fn]
pub fn icon<'a>(name: &'a str, _: &dyn Values) -> Result<Safe<Icon<'a>>> {
    Ok(Safe(Icon { name, class: "i" }))
}

/// The same, beside small text.
#[askama::filter_fn]
pub fn icon_s<'a>(name: &'a str, _: &dyn Values) -> Result<Safe<Icon<'a>>> {
    Ok(Safe(Icon { name, class: "i s" }))
}

/// The code of the reader's language.
pub fn language() -> &'static str {
    translation::current().code()
}

/// Which way the reader's language is written.
pub fn direction() -> &'static str {
    translation::direction(language())
}

/// A text of the app in the reader's language.
#[askama::filter_fn]
pub fn t<'a>(english: &'a str, _: &dyn Values) -> Result<&'a str> {
    Ok(translation::text(english))
}

/// A word with several meanings in English, in the reader's language.
#[askama::filter_fn]
pub fn tc<'a>(english: &'a str, _: &dyn Values, context: &str) -> Result<&'a str> {
    Ok(translation::text_in_context(context, english))
}

/// The text with a value in the place that bears its name.
#[askama::filter_fn]
pub fn fill<T: Into<InterpolatedText>, V: fmt::Display>(
    text: T,
    _: &dyn Values,
    name: &str,
    value: V,
) -> Result<InterpolatedText> {
    Ok(text.into().with(name, &value))
}

/// The attributes of a field for a day that is kept as `2026-11-21`: the day in the reader's form, that form for the
/// script, and the length.
#[askama::filter_fn]
pub fn day_value(iso: &str, _: &dyn Values) -> Result<Safe<String>> {
    typed_value(&day_forms::day_text(iso), &day_forms::reader_form())
}

/// The same of a day and a time as they were typed.
#[askama::filter_fn]
pub fn moment_value(typed: &str, _: &dyn Values) -> Result<Safe<String>> {
    typed_value(typed, &day_forms::moment_form())
}

fn typed_value(text: &str, form: &str) -> Result<Safe<String>> {
    let mut html = String::from("value=\"");
    escape(text, &mut html)?;
    html.push_str("\" data-date=\"");
    escape(form, &mut html)?;
    html.push_str(&format!("\" maxlength=\"{TYPED_TIME_CHARS}\" autocomplete=\"off\""));
    Ok(Safe(html))
}

/// A day, or a day in each line, in the reader's form.
#[askama::filter_fn]
pub fn day_text(iso: &str, _: &dyn Values) -> Result<String> {
    Ok(iso.lines().map(day_forms::day_text).collect::<Vec<_>>().join("\n"))
}

/// A day as the reader would type it.
pub fn day_example() -> String {
    day_forms::day_text(EXAMPLE_DAY)
}

/// A finished English sentence of the domain in the reader's language.
#[askama::filter_fn]
pub fn sentence<'a>(english: &'a str, _: &dyn Values) -> Result<Cow<'a, str>> {
    Ok(translation::sentence(english))
}

/// The texts of the scripts in the reader's language, for `language.js`; nothing in English.
pub fn script_texts() -> &'static str {
    crate::layout::script_texts::json(translation::current())
}

/// A text whose addresses can be followed, in a new tab that learns nothing of this page.
#[askama::filter_fn]
pub fn link_addresses(text: &str, _: &dyn Values) -> Result<Safe<String>> {
    let mut html = String::with_capacity(text.len() + 64);
    for segment in mail::text_blocks(text).into_iter().flat_map(|block| block.segments) {
        match segment {
            TextSegment::Words(words) => escape(words, &mut html)?,
            TextSegment::Link { text, href } => {
                html.push_str("<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"");
                escape(&href, &mut html)?;
                html.push_str("\">");
                escape(text, &mut html)?;
                html.push_str("</a>");
            }
        }
    }
    Ok(Safe(html))
}

fn escape(text: &str, into: &mut String) -> Result<()> {
    Ok(Html.write_escaped_str(into, text)?)
}

/// The address of one of our files.
#[askama::filter_fn]
pub fn asset(name: &str, _: &dyn Values) -> Result<Safe<String>> {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    Ok(Safe(format!("/assets/{stem}.{}.{ending}", *VERSION)))
}

/// A page has a hundred of these, so each is written without an allocation, and without the view box
/// that its symbol has.
pub struct Icon<'a> {
    name: &'a str,
    class: &'static str,
}

impl fmt::Display for Icon<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_assert!(self.name.bytes().all(|b| b.is_ascii_lowercase()), "{}", self.name);
        for part in [
            "<svg class=\"",
            self.class,
            "\" aria-hidden=\"true\"><use href=\"/assets/icons.",
            VERSION.as_str(),
            ".svg#i-",
            self.name,
            "\"/></svg>",
        ] {
            f.write_str(part)?;
        }
        Ok(())
    }
}
