//! The fields of a form: what is typed into each, when it is asked for, and what its answer becomes.

use base::limits::FORM_KEY_CHARS;
use base::string_enum::string_enum;
use serde::{Deserialize, Serialize};

/// What a ticked box sends.
pub const TICKED: &str = "yes";

string_enum! {
    /// What is typed into a field of a form.
    FormFieldKind {
        Text = "text",
        LongText = "long-text",
        Choice = "choice",
        Reference = "reference",
        Date = "date",
        Files = "files",
        Consent = "consent",
    }
}

/// What a form asks for beside name, address and message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    pub key: String,
    pub label: String,
    #[serde(rename = "type")]
    pub kind: FormFieldKind,
    pub required: bool,
    /// What can be chosen; empty for a field of another kind.
    #[serde(default)]
    pub choices: Vec<String>,
    /// What the answer becomes beside a line below the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<FormAnswerUse>,
    /// The answer that it is asked for after; without one it always is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<FormCondition>,
}

/// An answer to a field before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormCondition {
    /// The key of a choice or of a box to tick.
    pub field: String,
    /// The choice, or [`TICKED`].
    pub is: String,
}

/// What an answer becomes. A reference becomes the conversation's without being told so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FormAnswerUse {
    /// The topic of the name that was chosen.
    Topic,
    /// A tag with the name that was chosen.
    Tag,
    /// The value of a field of the workspace, by its key.
    Field(String),
}

impl FormAnswerUse {
    /// `topic`, `tag` or `field.KEY`.
    pub fn parse(text: &str) -> Option<FormAnswerUse> {
        match text {
            "topic" => Some(FormAnswerUse::Topic),
            "tag" => Some(FormAnswerUse::Tag),
            text => {
                let key = text.strip_prefix("field.").filter(|key| !key.is_empty())?;
                Some(FormAnswerUse::Field(key.to_owned()))
            }
        }
    }
}

impl From<FormAnswerUse> for String {
    fn from(becomes: FormAnswerUse) -> String {
        match becomes {
            FormAnswerUse::Topic => "topic".into(),
            FormAnswerUse::Tag => "tag".into(),
            FormAnswerUse::Field(key) => format!("field.{key}"),
        }
    }
}

impl TryFrom<String> for FormAnswerUse {
    type Error = String;

    fn try_from(text: String) -> Result<FormAnswerUse, String> {
        FormAnswerUse::parse(&text).ok_or_else(|| format!("{text} is not what an answer becomes"))
    }
}

impl FormCondition {
    /// `FIELD=CHOICE`, as it is written in one line.
    pub fn parse(text: &str) -> Option<FormCondition> {
        let (field, is) = text.split_once('=')?;
        let (field, is) = (field.trim().to_owned(), one_line(is));
        (!field.is_empty() && !is.is_empty()).then_some(FormCondition { field, is })
    }

    pub fn line(&self) -> String {
        format!("{}={}", self.field, self.is)
    }
}

/// Which fields are asked for after these answers, one for each field.
pub fn are_asked(fields: &[FormField], answers: &[String]) -> Vec<bool> {
    let mut asked: Vec<bool> = Vec::with_capacity(fields.len());
    for field in fields {
        let is_asked = field.when.as_ref().is_none_or(|when| {
            let before = fields[..asked.len()].iter().position(|one| one.key == when.field);
            before.is_some_and(|place| {
                asked[place] && answers.get(place).is_some_and(|answer| *answer == when.is)
            })
        });
        asked.push(is_asked);
    }
    asked
}

/// A field as it is kept.
pub(crate) fn tidy_field(field: &FormField) -> FormField {
    let label = one_line(&field.label);
    let key = match field.key.trim() {
        "" => key_of_label(&label),
        key => key.to_owned(),
    };
    let choices = match field.kind {
        FormFieldKind::Choice => {
            let choices = field.choices.iter().map(|choice| one_line(choice));
            choices.filter(|choice| !choice.is_empty()).collect()
        }
        _ => Vec::new(),
    };
    FormField { key, label, choices, ..field.clone() }
}

/// One line without letters that nobody sees.
pub fn one_line(text: &str) -> String {
    mail::clean_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `Order number` becomes `order_number`.
fn key_of_label(label: &str) -> String {
    let words = label.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let key = words.collect::<Vec<_>>().join("_").to_ascii_lowercase();
    let key =
        if key.starts_with(|c: char| c.is_ascii_lowercase()) { key } else { format!("f_{key}") };
    key.chars().take(FORM_KEY_CHARS).collect()
}

pub(crate) fn is_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    (1..=FORM_KEY_CHARS).contains(&key.len())
        && key.bytes().all(plain)
        && key.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(key: &str, label: &str, kind: FormFieldKind) -> FormField {
        FormField {
            key: key.into(),
            label: label.into(),
            kind,
            required: false,
            choices: vec!["Red".into(), "Blue".into()],
            becomes: None,
            when: None,
        }
    }

    #[test]
    fn a_field_without_a_key_gets_one_of_its_label() {
        for (label, key) in [
            ("Order number", "order_number"),
            ("  Größe (cm)?", "gr_e_cm"),
            ("2nd address", "f_2nd_address"),
            ("注文番号", "f_"),
        ] {
            let tidied = tidy_field(&field("", label, FormFieldKind::Text));
            assert_eq!(tidied.key, key, "{label}");
            assert!(is_key(&tidied.key) && tidied.choices.is_empty(), "{label}");
        }
    }

    #[test]
    fn a_field_is_asked_for_after_the_answer_that_it_waits_for() {
        let when = |field: &str, is: &str| FormCondition::parse(&format!("{field}={is}"));
        let mut fields = vec![
            field("about", "About", FormFieldKind::Choice),
            field("order", "Order", FormFieldKind::Reference),
            field("broken", "Broken", FormFieldKind::Consent),
            field("photo", "Photo", FormFieldKind::Files),
        ];
        (fields[1].when, fields[2].when) = (when("about", "Red"), when("about", "Red"));
        fields[3].when = when("broken", TICKED);
        let asked = |answers: [&str; 4]| are_asked(&fields, &answers.map(str::to_owned));
        assert_eq!(asked(["", "", "", ""]), [true, false, false, false]);
        assert_eq!(asked(["Red", "", "", ""]), [true, true, true, false]);
        assert_eq!(asked(["Red", "", TICKED, ""]), [true, true, true, true]);
        // What a field says that is not asked for counts for nothing.
        assert_eq!(asked(["Blue", "", TICKED, ""]), [true, false, false, false]);
    }

    #[test]
    fn what_an_answer_becomes_is_one_word() {
        for word in ["topic", "tag", "field.order"] {
            let becomes = FormAnswerUse::parse(word).expect("a use");
            assert_eq!(String::from(becomes), word);
        }
        for wrong in ["", "field.", "contact"] {
            assert_eq!(FormAnswerUse::parse(wrong), None, "{wrong}");
        }
    }
}
