//! Which words of a page a reader sees, by the styles that the page is shown with.

use super::sheet::StyleSheet;
use super::style::StyleEffect;
use super::{declarations_for, known_attributes};

/// Whether words are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextVisibility {
    Seen,
    /// Their styles hide them, and so may other rules show them.
    PerhapsHidden,
    /// Their styles show them, and so may other rules hide them.
    PerhapsSeen,
    Hidden,
}

/// Goes through the elements of a page, and knows how the words look that stand in them.
pub(crate) struct VisibilityTracker {
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

impl VisibilityTracker {
    /// The page whose style sheet and whose body's attributes these are.
    pub fn new(css: &str, body: &[(&'static str, String)]) -> VisibilityTracker {
        let mut sheet = StyleSheet::default();
        sheet.read(css);
        let mut sight = VisibilityTracker { sheet, open: Vec::new() };
        sight.enter("html", &[]);
        sight.enter("body", body);
        sight
    }

    pub fn enter(&mut self, tag: &str, attributes: &[(&'static str, String)]) {
        let given = attributes.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let attributes = known_attributes(given);
        let declared = declarations_for(&self.sheet, tag, &attributes, None);
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
    pub fn words(&self) -> TextVisibility {
        let here = self.open.last().copied().unwrap_or_default();
        let hidden = here.concealed || here.look.hides_text();
        match (hidden, here.doubtful) {
            (false, false) => TextVisibility::Seen,
            (false, true) => TextVisibility::PerhapsSeen,
            (true, true) => TextVisibility::PerhapsHidden,
            (true, false) => TextVisibility::Hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(css: &str, tag: &str, attributes: &[(&'static str, &str)]) -> TextVisibility {
        let mut page = VisibilityTracker::new(css, &[]);
        let attributes: Vec<(&'static str, String)> =
            attributes.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        page.enter(tag, &attributes);
        page.words()
    }

    #[test]
    fn words_are_hidden_where_no_other_rule_may_show_them() {
        for (css, style, expected) in [
            ("", "color:red", TextVisibility::Seen),
            ("", "font-size:0", TextVisibility::Hidden),
            ("", "color:#12345600", TextVisibility::Hidden),
            ("", "color:hsla(0, 0%, 0%, 0)", TextVisibility::Hidden),
            ("", "overflow:hidden;max-width:1px", TextVisibility::Hidden),
            ("i{font-size:0}", "", TextVisibility::Hidden),
            ("*{font-size:0}", "", TextVisibility::Hidden),
            ("@media screen{i{display:none}}", "", TextVisibility::Hidden),
            ("i{font-size:9px !important}", "font-size:0", TextVisibility::Seen),
            ("i{font-size:9px !important}", "font-size:0 !important", TextVisibility::Hidden),
            (".x{font-size:9px}", "font-size:0", TextVisibility::Hidden),
            (".x.y{font-size:9px} .x{font-size:0}", "", TextVisibility::Seen),
            ("p i{font-size:9px !important}", "font-size:0", TextVisibility::PerhapsHidden),
            ("@media (min-width:1px){i{display:none}}", "", TextVisibility::Hidden),
            ("@media (min-width:480px){i{display:none}}", "", TextVisibility::PerhapsHidden),
            ("@media (max-width:480px){i{display:none}}", "", TextVisibility::PerhapsSeen),
            ("i:first-child{display:none}", "", TextVisibility::PerhapsSeen),
            ("p *{display:none}", "", TextVisibility::PerhapsSeen),
            (".x\\3a y{display:none}", "", TextVisibility::PerhapsSeen),
            ("ü{display:none}", "", TextVisibility::PerhapsSeen),
        ] {
            let attributes = [("class", "x y"), ("style", style)];
            assert_eq!(sight(css, "i", &attributes), expected, "{css} {style}");
        }
    }

    #[test]
    fn a_flood_of_rules_leaves_everything_open() {
        let css: String = (0..40).map(|n| format!(".x.c{n}{{color:red}}")).collect();
        assert_eq!(sight(&css, "p", &[("style", "font-size:0")]), TextVisibility::PerhapsHidden);
    }
}
