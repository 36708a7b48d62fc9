//! Which words of a page a reader sees, by the styles that the page is shown with.

use super::sheet::StyleSheet;
use super::style::StyleEffect;
use super::{declared, known_attributes};

/// Whether words are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordSight {
    Seen,
    /// Their styles hide them, and so may other rules show them.
    PerhapsHidden,
    /// Their styles show them, and so may other rules hide them.
    PerhapsSeen,
    Hidden,
}

/// Goes through the elements of a page, and knows how the words look that stand in them.
pub(crate) struct PageSight {
    sheet: StyleSheet,
    open: Vec<OpenSight>,
}

/// How all open elements together look.
#[derive(Clone, Copy, Default)]
struct OpenSight {
    concealed: bool,
    doubtful: bool,
    look: StyleEffect,
}

impl PageSight {
    /// The page whose style sheet and whose body's attributes these are.
    pub fn new(css: &str, body: &[(&'static str, String)]) -> PageSight {
        let mut sheet = StyleSheet::default();
        sheet.read(css);
        let mut sight = PageSight { sheet, open: Vec::new() };
        sight.enter("html", &[]);
        sight.enter("body", body);
        sight
    }

    pub fn enter(&mut self, tag: &str, attributes: &[(&'static str, String)]) {
        let given = attributes.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let attributes = known_attributes(given);
        let declared = declared(&self.sheet, tag, &attributes);
        let around = self.open.last().copied().unwrap_or_default();
        self.open.push(OpenSight {
            concealed: around.concealed || attributes.hidden || declared.conceals(),
            doubtful: around.doubtful || declared.doubtful,
            look: around.look.within(&declared),
        });
    }

    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// Of the words that stand here.
    pub fn words(&self) -> WordSight {
        let here = self.open.last().copied().unwrap_or_default();
        let hidden = here.concealed || here.look.hides_text();
        match (hidden, here.doubtful) {
            (false, false) => WordSight::Seen,
            (false, true) => WordSight::PerhapsSeen,
            (true, true) => WordSight::PerhapsHidden,
            (true, false) => WordSight::Hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(css: &str, tag: &str, attributes: &[(&'static str, &str)]) -> WordSight {
        let mut page = PageSight::new(css, &[]);
        let attributes: Vec<(&'static str, String)> =
            attributes.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        page.enter(tag, &attributes);
        page.words()
    }

    #[test]
    fn words_are_hidden_where_no_other_rule_may_show_them() {
        for (css, style, expected) in [
            ("", "color:red", WordSight::Seen),
            ("", "font-size:0", WordSight::Hidden),
            ("", "color:#12345600", WordSight::Hidden),
            ("", "color:hsla(0, 0%, 0%, 0)", WordSight::Hidden),
            ("", "overflow:hidden;max-width:1px", WordSight::Hidden),
            ("i{font-size:0}", "", WordSight::Hidden),
            ("*{font-size:0}", "", WordSight::Hidden),
            ("@media screen{i{display:none}}", "", WordSight::Hidden),
            ("i{font-size:9px !important}", "font-size:0", WordSight::Seen),
            ("i{font-size:9px !important}", "font-size:0 !important", WordSight::Hidden),
            (".x{font-size:9px}", "font-size:0", WordSight::Hidden),
            (".x.y{font-size:9px} .x{font-size:0}", "", WordSight::Seen),
            ("p i{font-size:9px !important}", "font-size:0", WordSight::PerhapsHidden),
            ("@media (min-width:1px){i{display:none}}", "", WordSight::PerhapsSeen),
            ("i:first-child{display:none}", "", WordSight::PerhapsSeen),
            ("p *{display:none}", "", WordSight::PerhapsSeen),
            (".x\\3a y{display:none}", "", WordSight::PerhapsSeen),
            ("ü{display:none}", "", WordSight::PerhapsSeen),
        ] {
            let attributes = [("class", "x y"), ("style", style)];
            assert_eq!(sight(css, "i", &attributes), expected, "{css} {style}");
        }
    }

    #[test]
    fn a_flood_of_rules_leaves_everything_open() {
        let css: String = (0..40).map(|n| format!(".x.c{n}{{color:red}}")).collect();
        assert_eq!(sight(&css, "p", &[("style", "font-size:0")]), WordSight::PerhapsHidden);
    }
}
