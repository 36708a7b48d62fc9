//! Text as whoever sees it reads it: without characters that take no place, letters and digits in their
//! plain forms. Everything that looks for something in outgoing words looks there.

use unicode_normalization::UnicodeNormalization;

use crate::text::invisible::takes_no_place;

/// The zeros of scripts with digits of their own; the other nine follow each.
const ZEROS: &[char] = &[
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}',
    '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}',
    '\u{1040}', '\u{1090}', '\u{17e0}', '\u{1810}', '\u{1946}', '\u{19d0}', '\u{1a80}', '\u{1a90}',
    '\u{1b50}', '\u{1bb0}', '\u{1c40}', '\u{1c50}', '\u{a620}', '\u{a8d0}', '\u{a900}', '\u{a9d0}',
    '\u{a9f0}', '\u{aa50}', '\u{abf0}',
];

/// A text without what nobody sees, in plain forms of its letters (NFKC).
pub(super) fn unmask(text: &str) -> String {
    text.chars().filter(|c| !is_unseen(*c)).nfkc().collect()
}

/// The same with a space for each character that nobody sees: programs that look for links may take it
/// for the end of a word.
pub(super) fn unmask_with_gaps(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).nfkc().collect()
}

/// The same as [`unmask`], with digits of every script as `0` to `9`.
pub(super) fn unmask_numbers(text: &str) -> String {
    unmask(text).chars().map(plain_digit).collect()
}

fn is_unseen(c: char) -> bool {
    takes_no_place(c) || (c.is_control() && !c.is_whitespace())
}

fn plain_digit(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        // How numbers are parted in Arabic.
        '\u{66b}' => '.',
        '\u{66c}' => '\'',
        c => {
            let values = ZEROS.iter().map(|zero| (c as u32).wrapping_sub(*zero as u32));
            let digit =
                values.filter(|value| *value < 10).find_map(|value| char::from_digit(value, 10));
            digit.unwrap_or(c)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_taken_out_and_forms_become_plain() {
        for masked in [
            "e\u{200b}v\u{ad}i\u{2060}l.c\u{202e}om",
            "evil\u{feff}\u{fe0f}.com\u{e0041}\u{e0100}",
            "\u{ff45}\u{ff56}\u{ff49}\u{ff4c}\u{ff0e}\u{ff43}\u{ff4f}\u{ff4d}",
            "evil\u{2024}com\u{1}",
        ] {
            assert_eq!(unmask(masked), "evil.com", "{masked:?}");
        }
        assert_eq!(unmask_with_gaps("evil.com\u{200b}x"), "evil.com x");
        assert_eq!(unmask("Ann,\n\tsee \u{e4}\u{a0}b"), "Ann,\n\tsee \u{e4} b");
    }

    #[test]
    fn digits_of_every_script_are_plain() {
        assert_eq!(unmask_numbers("\u{665}\u{660}\u{66c}\u{660}\u{66b}\u{661}"), "50'0.1");
        assert_eq!(unmask_numbers("\u{ff15}\u{1d7d8}\u{966}"), "500");
    }
}
