//! What a mailed report says, before it is HTML or plain text.

use crate::tables::Kpi;

pub(super) struct MailParts {
    /// The code of its language.
    pub language: &'static str,
    pub title: String,
    pub about: String,
    pub figures: Vec<Kpi>,
    pub plots: Vec<MailPlot>,
    /// The words of the link to the page, and its address.
    pub link: &'static str,
    pub url: String,
    pub footer: &'static str,
}

/// Rows with a bar each.
pub(super) struct MailPlot {
    pub title: &'static str,
    /// A sentence above the rows; empty for none.
    pub about: String,
    pub rows: Vec<MailBar>,
    /// Where the target is, from 0 to 1.
    pub target: Option<f64>,
}

pub(super) struct MailBar {
    pub label: String,
    pub value: String,
    /// How long the bar is, from 0 to 1.
    pub length: f64,
}
