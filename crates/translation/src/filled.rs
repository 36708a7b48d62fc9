//! A text whose places are filled one after the other, as templates do it.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::{fmt, iter};

use crate::current;
use crate::plurals::{form_for, split_place};

/// Around a value in a line that runs from right to left: its own direction is that of its first letter, and it
/// does not reorder what stands beside it (UAX 9, FSI and PDI).
const ISOLATE: &str = "\u{2068}";
const END_OF_ISOLATE: &str = "\u{2069}";

/// A text with some of its places filled. What a value itself says is never taken for a place.
#[derive(Clone, Debug, Default)]
pub struct InterpolatedText {
    text: String,
    /// Where the values stand, in order.
    values: Vec<Range<usize>>,
}

impl InterpolatedText {
    /// Fills every place of a name: `{name}`, and `{name|form|forms}` with the form that fits the value. Where the
    /// reader's language is written from right to left, a value is isolated from the words around it.
    pub fn with(self, name: &str, value: &dyn fmt::Display) -> InterpolatedText {
        let value = value.to_string();
        let shown = match current().is_right_to_left() {
            true => Cow::Owned(format!("{ISOLATE}{value}{END_OF_ISOLATE}")),
            false => Cow::Borrowed(value.as_str()),
        };
        let mut filled = InterpolatedText::default();
        let mut from = 0;
        let end = self.text.len()..self.text.len();
        for known in self.values.iter().cloned().chain(iter::once(end)) {
            let mut words = &self.text[from..known.start];
            while let Some((before, forms, after)) = next_place(words, name) {
                filled.text.push_str(before);
                match forms {
                    Some(forms) => filled.push_value(&form_for(&value, forms)),
                    None => filled.push_value(&shown),
                }
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

/// What stands before the next place of a name, the forms in it, and what stands after it.
fn next_place<'a>(words: &'a str, name: &str) -> Option<(&'a str, Option<&'a str>, &'a str)> {
    words.match_indices('{').find_map(|(at, _)| {
        let (place, after) = words[at + 1..].split_once('}')?;
        let (known, forms) = split_place(place);
        (known == name).then_some((&words[..at], forms, after))
    })
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
    use crate::{Language, Reader};

    #[test]
    fn a_value_is_never_taken_for_a_place() {
        let text = InterpolatedText::from("{name} wrote to {inbox}, {name}");
        let text = text.with("name", &"{inbox} {name}").with("inbox", &"Support {name}");
        assert_eq!(&*text, "{inbox} {name} wrote to Support {name}, {inbox} {name}");
        assert_eq!(&*InterpolatedText::from("{n} {m").with("n", &3).with("m", &4), "3 {m");
        assert_eq!(&*InterpolatedText::from("").with("n", &3), "");
        let counted = InterpolatedText::from("{n} {n|plik|pliki|plików}, {n|x|y}");
        assert_eq!(&*counted.with("n", &2), "2 pliki, y");
    }

    #[test]
    fn a_value_between_words_from_right_to_left_is_isolated() {
        let arabic = Language::parse("ar").unwrap();
        Reader::new(arabic).run(|| {
            let text = InterpolatedText::from("من {name}: {n|واحد|اثنان|# أيام|# يومًا|# يوم}");
            let text = text.with("name", &"Ann (2)").with("n", &3);
            assert_eq!(&*text, "من \u{2068}Ann (2)\u{2069}: 3 أيام");
        });
        let text = InterpolatedText::from("From {name}").with("name", &"Ann");
        assert_eq!(&*text, "From Ann");
    }
}
