//! The result of extraction.

use serde::{Deserialize, Serialize};

use crate::limits::{AMOUNT, FIELD_CHARS};

macro_rules! kinds {
    ($($kind:ident = $word:literal, has_fields: $has_fields:literal;)*) => {
        /// What kind of paper something is (API section 2.7).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum PaperKind {
            $(#[serde(rename = $word)] $kind),*
        }

        impl PaperKind {
            pub const ALL: &[PaperKind] = &[$(PaperKind::$kind),*];
            pub const NAMES: &[&str] = &[$($word),*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(PaperKind::$kind => $word),*
                }
            }

            /// True for papers whose vendor, dates and so on are looked for.
            pub fn has_fields(self) -> bool {
                match self {
                    $(PaperKind::$kind => $has_fields),*
                }
            }
        }
    };
}

kinds! {
    Invoice = "invoice", has_fields: true;
    Receipt = "receipt", has_fields: true;
    Statement = "statement", has_fields: true;
    Contract = "contract", has_fields: true;
    Id = "id", has_fields: false;
    Tax = "tax", has_fields: true;
    Photo = "photo", has_fields: false;
    Other = "other", has_fields: false;
}

/// The extracted fields; each may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtractedFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// An ISO 4217 code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Dates are written `2026-11-15`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractedDocument {
    pub kind: PaperKind,
    pub fields: ExtractedFields,
}

/// A text as a field may hold it: one line, not too long, none when nothing is left.
pub fn tidy(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let line: String = words.join(" ").chars().take(FIELD_CHARS).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// An amount that can be one.
pub fn sound(amount: f64) -> Option<f64> {
    (amount.abs() <= AMOUNT).then_some(amount)
}
