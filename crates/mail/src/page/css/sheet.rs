//! Style sheets: rules that stay, and `@media` around them.

use super::PictureAddresses;
use super::media::media;
use super::selector::selectors;
use super::token::{CssToken, tokens};
use super::value::{declarations, trim};
use crate::limits::STYLE_RULES;

/// The rules of a sheet that stay; `only` is the `media` attribute of its element. Every at-rule but
/// `@media` is dropped: they import, load fonts, animate, or decide what counts for more.
pub(in crate::page) fn clean_sheet(
    css: &str,
    only: &str,
    pictures: &mut dyn PictureAddresses,
) -> String {
    let only = match only.trim() {
        "" => None,
        only => match media(&tokens(only)) {
            Some(only) => Some(only),
            None => return String::new(),
        },
    };
    let mut sheet = Sheet { written: String::new(), rules: 0, pictures };
    sheet.rules(&tokens(css), true);
    match only {
        Some(only) if !sheet.written.is_empty() => format!("@media {only}{{{}}}", sheet.written),
        _ => sheet.written,
    }
}

struct Sheet<'a> {
    written: String,
    rules: usize,
    pictures: &'a mut dyn PictureAddresses,
}

impl Sheet<'_> {
    /// Writes the rules among these tokens. Conditions within conditions are dropped.
    fn rules(&mut self, tokens: &[CssToken], outermost: bool) {
        let mut rest = tokens;
        while !rest.is_empty() && self.rules < STYLE_RULES {
            let is_at = matches!(trim(rest).first(), Some(CssToken::AtKeyword(_)));
            let ends = |token: &CssToken| match token {
                CssToken::Sign('{') => true,
                CssToken::Sign(';') => is_at,
                CssToken::Sign('}') => outermost,
                _ => false,
            };
            let Some(end) = rest.iter().position(ends) else { return };
            let (prelude, after) = (trim(&rest[..end]), &rest[end + 1..]);
            if rest[end] != CssToken::Sign('{') {
                rest = after;
                continue;
            }
            let (block, after) = block(after);
            rest = after;
            match prelude.split_first() {
                Some((CssToken::AtKeyword(name), condition)) if name == "media" && outermost => {
                    self.conditional(condition, block);
                }
                Some((CssToken::AtKeyword(_), _)) | None => {}
                Some(_) => self.rule(prelude, block),
            }
        }
    }

    fn rule(&mut self, prelude: &[CssToken], block: &[CssToken]) {
        let Some(selectors) = selectors(prelude) else { return };
        if let Some(declarations) = declarations(block, self.pictures) {
            self.rules += 1;
            self.written.push_str(&format!("{selectors}{{{declarations}}}\n"));
        }
    }

    fn conditional(&mut self, condition: &[CssToken], block: &[CssToken]) {
        let Some(condition) = media(condition) else { return };
        let before = self.written.len();
        self.written.push_str(&format!("@media {condition}{{\n"));
        let opened = self.written.len();
        self.rules(block, false);
        match self.written.len() == opened {
            true => self.written.truncate(before),
            false => self.written.push_str("}\n"),
        }
    }
}

/// What stands up to the brace that closes, and what stands behind it.
fn block(tokens: &[CssToken]) -> (&[CssToken], &[CssToken]) {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            CssToken::Sign('{') => depth += 1,
            CssToken::Sign('}') if depth == 0 => return (&tokens[..at], &tokens[at + 1..]),
            CssToken::Sign('}') => depth -= 1,
            _ => {}
        }
    }
    (tokens, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoPictures;

    impl PictureAddresses for NoPictures {
        fn background(&mut self, _: &str) -> Option<String> {
            None
        }
    }

    fn keep(css: &str) -> String {
        clean_sheet(css, "", &mut NoPictures)
    }

    #[test]
    fn rules_and_conditions_on_the_window_stay() {
        for (css, expected) in [
            ("p { color: red }", "p{color:red}\n"),
            ("<!-- p{color:red} -->", "p{color:red}\n"),
            ("p{color:red;q{color:blue}}b{color:red}", "p{color:red}\nb{color:red}\n"),
            (
                "@media (max-width:600px){ .a{width:100%!important} } p{color:red}",
                "@media (max-width:600px){\n.a{width:100% !important}\n}\np{color:red}\n",
            ),
            ("}p{color:red}", "p{color:red}\n"),
            ("p{color:red", "p{color:red}\n"),
        ] {
            assert_eq!(keep(css), expected, "{css}");
        }
        assert_eq!(
            clean_sheet("p{color:red}", "screen", &mut NoPictures),
            "@media screen{p{color:red}\n}"
        );
        assert_eq!(clean_sheet("p{color:red}", "print", &mut NoPictures), "");
    }

    #[test]
    fn what_fetches_or_decides_is_dropped() {
        for css in [
            "@import 'https://x.example/a.css';",
            "@import url(https://x.example/a.css) screen;",
            "@font-face{font-family:a;src:url(https://x.example/a)}",
            "@layer mailroom{p{color:red}}",
            "@supports (color:red){p{color:red}}",
            "@keyframes a{from{color:red}}",
            "@media print{p{color:red}}",
            "@media screen{@media screen{p{color:red}}}",
            "@charset 'utf-8';",
            "a[href]{color:red}",
            "p{cursor:url(https://x.example)}",
            "</style><script>alert(1)</script>",
        ] {
            assert_eq!(keep(css), "", "{css}");
        }
        assert_eq!(keep("p{color:red}").repeat(2), keep(&"p{color:red}".repeat(2)));
        let many = keep(&"p{color:red}".repeat(STYLE_RULES + 5));
        assert_eq!(many.matches("color").count(), STYLE_RULES);
    }
}
