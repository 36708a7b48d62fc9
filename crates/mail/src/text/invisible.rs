//! Characters that take no place: which of them a text needs, and which only hide words from people
//! that programs read.
//!
//! One joiner or mark between letters is how some languages, emoji and flags are written. Runs of them,
//! letters of the tag block and marks of writing direction carry whole sentences that nobody sees.

/// The black flag, which tags turn into that of a country within another.
const FLAG: char = '\u{1f3f4}';
/// The tags behind it that any font draws as a flag: England, Scotland and Wales.
const FLAG_TAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
/// What ends the tags of a flag.
const FLAG_END: char = '\u{e007f}';

/// True for a character that stays in a text: every one that is seen, and of those that are not only
/// what belongs to the character before it. `before` is what stays in front of it, `after` what follows.
pub(crate) fn is_kept(c: char, before: &str, after: &str) -> bool {
    match c {
        // Most text has none of these.
        c if (c as u32) < 0xad => true,
        '\u{e0001}'..='\u{e007f}' => is_flag_tag(c, before, after),
        c if is_hiding(c) => false,
        '\u{e0100}'..='\u{e01ef}' => before.chars().next_back().is_some_and(is_ideograph),
        '\u{115f}' | '\u{1160}' => {
            let is_jamo = |c: char| matches!(c, '\u{1100}'..='\u{11ff}');
            before.ends_with(is_jamo) || after.starts_with(is_jamo)
        }
        c if is_joining(c) => joins(c, before, after),
        _ => true,
    }
}

/// Marks that make a reader see text in another order than it is written.
pub fn is_direction_override(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that are never seen and that no language needs: marks that turn the direction of
/// writing, blank letters, and what is set aside for programs.
pub(crate) fn is_hiding(c: char) -> bool {
    is_direction_override(c)
        || matches!(c, '\u{2061}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Characters of which one may stand between others: joiners, hyphens that show only at the end of a
/// line, and what chooses between two forms of a character.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Every character that takes no place, also where a language or an emoji needs it.
pub(crate) fn takes_no_place(c: char) -> bool {
    is_hiding(c)
        || is_joining(c)
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{e0100}'..='\u{e01ef}')
}

/// True for one that stands behind something seen. A joiner may follow the choice of a form, as in
/// emoji of several people.
fn joins(c: char, before: &str, after: &str) -> bool {
    let Some(last) = before.chars().next_back() else { return false };
    let joins_emoji = c == '\u{200d}'
        && matches!(last, '\u{fe0e}' | '\u{fe0f}')
        && !after.starts_with(is_joining);
    joins_emoji
        || !(last.is_whitespace() || is_joining(last) || matches!(last, '\u{e0100}'..='\u{e01ef}'))
}

/// Ideographs, of which a font may have several forms.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// True for a tag of one of the known flags, with the whole flag around it.
fn is_flag_tag(c: char, before: &str, after: &str) -> bool {
    let is_tag = |c: &char| matches!(c, '\u{e0020}'..='\u{e007f}');
    let mut behind: Vec<char> = before.chars().rev().take_while(is_tag).take(6).collect();
    behind.reverse();
    let start = before.len() - behind.iter().map(|c| c.len_utf8()).sum::<usize>();
    if !before[..start].ends_with(FLAG) {
        return false;
    }
    let tags: Vec<char> =
        behind.into_iter().chain([c]).chain(after.chars().take_while(is_tag).take(6)).collect();
    let letter = |c: &char| char::from_u32(*c as u32 - 0xe0000).unwrap_or_default();
    FLAG_TAGS.iter().any(|known| {
        tags.len() == known.len() + 1
            && tags.last() == Some(&FLAG_END)
            && tags.iter().zip(known.chars()).all(|(tag, known)| letter(tag) == known)
    })
}

/// How many characters of a text are hidden in it that only programs read: tags that are no flag, and
/// choices of a form that there is nothing to choose for. Marks of direction are honest in many mails.
pub(crate) fn count_hidden(text: &str) -> usize {
    let suspects =
        |c: char| matches!(c, '\u{e0000}'..='\u{e0fff}') || matches!(c, '\u{fe00}'..='\u{fe0f}');
    let mut hidden = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| suspects(*c)) {
        let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
        hidden += usize::from(!is_kept(c, before, after));
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> String {
        text.chars().filter_map(|c| char::from_u32(c as u32 + 0xe0000)).collect()
    }

    #[test]
    fn hidden_letters_are_counted_and_honest_ones_are_not() {
        assert_eq!(count_hidden(&tags("hello")), 5);
        assert_eq!(
            count_hidden(
                "\u{1f600}\u{fe0f} \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"
            ),
            0
        );
        assert_eq!(count_hidden("x\u{e0100}\u{e0101}"), 2);
    }

    #[test]
    fn a_long_run_of_them_is_counted_in_time() {
        assert_eq!(count_hidden(&"\u{e0041}".repeat(200_000)), 200_000);
    }
}
