//! How browsers lay out a page, by the type of document that a mail names.

use html5gum::Doctype;

/// Public names, in lower case, of documents that browsers lay out as those of the last century.
const OLD: &[&str] = &[
    "-//ietf//",
    "-//softquad",
    "-//w3c//dtd html 3",
    "-//w3c//dtd html 4.0 frameset//",
    "-//w3c//dtd html 4.0 transitional//",
    "-//w3c//dtd html experimental",
    "-//w3c//dtd w3 html",
    "-//w3o//",
    "-/w3c/dtd html 4.0 transitional/en",
    "html",
];
/// Those that are so only without an address behind them, and else almost today's.
const HALF_OLD: &[&str] =
    &["-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//"];
/// Those that are almost today's.
const ALMOST: &[&str] =
    &["-//w3c//dtd xhtml 1.0 frameset//", "-//w3c//dtd xhtml 1.0 transitional//"];

/// How a mail expects to be laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LayoutMode {
    Standard,
    /// Images in cells stand without a gap.
    AlmostStandard,
    /// As that, and tables do not take over the letters of what is around them.
    #[default]
    Quirks,
}

impl LayoutMode {
    pub fn of(doctype: &Doctype<()>) -> LayoutMode {
        let public = doctype.public_identifier.as_deref().map(|name| name.to_ascii_lowercase());
        let public = public.unwrap_or_default();
        let is_of = |names: &[&str]| names.iter().any(|name| public.starts_with(name.as_bytes()));
        if doctype.force_quirks || !doctype.name.eq_ignore_ascii_case(b"html") || is_of(OLD) {
            return LayoutMode::Quirks;
        }
        match (is_of(HALF_OLD), doctype.system_identifier.is_some()) {
            (true, false) => LayoutMode::Quirks,
            (true, true) => LayoutMode::AlmostStandard,
            (false, _) if is_of(ALMOST) => LayoutMode::AlmostStandard,
            (false, _) => LayoutMode::Standard,
        }
    }

    /// The type of document that a page of ours names. Nothing is fetched for it. That of the last
    /// century would change how the page is measured, so [`LayoutMode::rules`] take its place.
    pub fn doctype(self) -> &'static str {
        match self {
            LayoutMode::Standard => "<!DOCTYPE html>",
            LayoutMode::AlmostStandard | LayoutMode::Quirks => {
                "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \
                 \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">"
            }
        }
    }

    /// What browsers add for it. Every rule of a mail counts for more.
    pub fn rules(self) -> &'static str {
        match self {
            LayoutMode::Standard | LayoutMode::AlmostStandard => "",
            LayoutMode::Quirks => {
                ":where(table){font-size:medium;font-weight:400;font-style:normal;\
                 font-variant:normal;line-height:normal;white-space:normal;text-align:start}"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use html5gum::{DefaultEmitter, Token, Tokenizer};

    use super::*;

    #[test]
    fn a_type_of_document_tells_how_it_is_laid_out() {
        let mode = |html: &str| {
            let mut tokens = Tokenizer::new_with_emitter(html, DefaultEmitter::<()>::default());
            let found = tokens.find_map(|Ok(token)| match token {
                Token::Doctype(doctype) => Some(LayoutMode::of(&doctype)),
                _ => None,
            });
            found.expect("a type of document")
        };
        for (html, expected) in [
            ("<!DOCTYPE html>", LayoutMode::Standard),
            ("<!doctype HTML SYSTEM \"about:legacy-compat\">", LayoutMode::Standard),
            ("<!DOCTYPE>", LayoutMode::Quirks),
            (
                "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.0 Transitional//EN\">",
                LayoutMode::Quirks,
            ),
            ("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2//EN\">", LayoutMode::Quirks),
            (
                "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">",
                LayoutMode::Quirks,
            ),
            (
                "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"http://x\">",
                LayoutMode::AlmostStandard,
            ),
            (
                "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"http://x\">",
                LayoutMode::AlmostStandard,
            ),
            (
                "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://x\">",
                LayoutMode::Standard,
            ),
        ] {
            assert_eq!(mode(html), expected, "{html}");
        }
    }
}
