//! One line of text with what its shape says.

/// Bytes of a line that are looked at; a longer line is text in any case.
const LINE_BYTES: usize = 4_000;

/// What HTML told about a line, as a sign before it. The signs are code points that no clean text
/// has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineMark {
    /// It announces an earlier mail, whatever its words.
    Announcement,
    /// Everything from it on is history.
    Boundary,
}

impl LineMark {
    pub fn sign(self) -> char {
        match self {
            LineMark::Announcement => '\u{fdd0}',
            LineMark::Boundary => '\u{fdd1}',
        }
    }

    pub fn is_sign(c: char) -> bool {
        LineMark::of(c).is_some()
    }

    fn of(c: char) -> Option<LineMark> {
        [LineMark::Announcement, LineMark::Boundary].into_iter().find(|mark| mark.sign() == c)
    }
}

/// A line and the form in which it is compared.
pub(super) struct TrimLine<'a> {
    /// As it stands, without the line end.
    pub text: &'a str,
    /// Levels of `>` before it.
    pub depth: usize,
    /// Lower case, quote signs off, white space of every kind single and plain.
    pub folded: String,
    pub mark: Option<LineMark>,
}

impl TrimLine<'_> {
    /// A line drawn across the mail.
    pub fn is_rule(&self) -> bool {
        let mut signs = self.folded.chars();
        signs.next().is_some_and(is_rule_char)
            && signs.next().is_some_and(is_rule_char)
            && signs.all(is_rule_char)
    }

    /// A mark by which a help desk finds its ticket again: `{#HS:1234-56#}`, `ref:_00D1:ref`.
    pub fn is_tracking_mark(&self) -> bool {
        let mark = self.folded.trim_matches(['[', ']', '(', ')', '*', ' ']);
        let framed = |begin: &str, end: &str| {
            mark.len() > begin.len() + end.len() && mark.starts_with(begin) && mark.ends_with(end)
        };
        !mark.contains(' ')
            && (framed("{#", "#}") || framed("ref:", ":ref") || framed("##-", "-##"))
            && mark.contains(|c: char| c.is_ascii_digit())
    }

    /// The line without its first sign of a quote.
    pub fn one_level_less(&self) -> String {
        match self.text.split_once('>') {
            Some((_, rest)) if self.depth > 0 => rest.strip_prefix(' ').unwrap_or(rest).to_owned(),
            _ => self.text.to_owned(),
        }
    }

    pub fn is_blank(&self) -> bool {
        self.depth == 0 && self.folded.is_empty() && self.mark.is_none()
    }
}

pub(super) fn lines(text: &str) -> Vec<TrimLine<'_>> {
    text.split('\n').map(line).collect()
}

fn line(text: &str) -> TrimLine<'_> {
    let text = text.strip_suffix('\r').unwrap_or(text);
    let mark = text.chars().next().and_then(LineMark::of);
    let text = if mark.is_some() { &text[text.ceil_char_boundary(1)..] } else { text };
    let (depth, rest) = without_quote_signs(text);
    TrimLine { text, depth, folded: fold(rest), mark }
}

fn without_quote_signs(text: &str) -> (usize, &str) {
    let mut depth = 0;
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c));
        match trimmed.strip_prefix('>') {
            Some(next) => {
                depth += 1;
                rest = next;
            }
            None => return (depth, if depth > 0 { trimmed } else { rest }),
        }
    }
}

fn fold(text: &str) -> String {
    let end = text.floor_char_boundary(LINE_BYTES);
    let mut folded = String::with_capacity(end);
    let mut space = false;
    for c in text[..end].chars().filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() {
            space = !folded.is_empty();
            continue;
        }
        if space {
            folded.push(' ');
            space = false;
        }
        folded.extend(c.to_lowercase());
    }
    folded
}

/// Zero-width and direction marks, which mail programs strew into the lines they generate.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Characters that lines drawn across a mail are made of.
pub(super) fn is_rule_char(c: char) -> bool {
    matches!(c, '-' | '_' | '=' | '~' | '—' | '–' | '―' | '─' | '━' | '﹘' | '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quote_signs_are_counted_and_white_space_is_folded() {
        let found = lines("> >  Hello\u{a0}\u{200b} World \r\n\tplain\n>");
        assert_eq!((found[0].depth, found[0].folded.as_str()), (2, "hello world"));
        assert_eq!((found[1].depth, found[1].folded.as_str()), (0, "plain"));
        assert!(found[2].depth == 1 && !found[2].is_blank());
    }
}
