//! A text whose places are filled one after the other, as templates do it.

use std::ops::{Deref, Range};
use std::{fmt, iter};

/// A text with some of its places filled. What a value itself says is never taken for a place.
#[derive(Clone, Debug, Default)]
pub struct InterpolatedText {
    text: String,
    /// Where the values stand, in order.
    values: Vec<Range<usize>>,
}

impl InterpolatedText {
    /// Fills every place of a name: `{name}`.
    pub fn with(self, name: &str, value: &dyn fmt::Display) -> InterpolatedText {
        let (place, value) = (format!("{{{name}}}"), value.to_string());
        let mut filled = InterpolatedText::default();
        let mut from = 0;
        let end = self.text.len()..self.text.len();
        for known in self.values.iter().cloned().chain(iter::once(end)) {
            let mut words = &self.text[from..known.start];
            while let Some((before, after)) = words.split_once(&place) {
                filled.text.push_str(before);
                filled.push_value(&value);
                words = after;
            }
            filled.text.push_str(words);
            filled.push_value(&self.text[known.clone()]);
            from = known.end;
        }
        filled
    }

    fn push_value(&mut self, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.values.push(start..self.text.len());
    }
}

impl From<&str> for InterpolatedText {
    fn from(text: &str) -> InterpolatedText {
        InterpolatedText { text: text.to_owned(), values: Vec::new() }
    }
}

impl Deref for InterpolatedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for InterpolatedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_taken_for_a_place() {
        let text = InterpolatedText::from("{name} wrote to {inbox}, {name}");
        let text = text.with("name", &"{inbox} {name}").with("inbox", &"Support {name}");
        assert_eq!(&*text, "{inbox} {name} wrote to Support {name}, {inbox} {name}");
        assert_eq!(&*InterpolatedText::from("{n} {m").with("n", &3).with("m", &4), "3 {m");
        assert_eq!(&*InterpolatedText::from("").with("n", &3), "");
    }
}
