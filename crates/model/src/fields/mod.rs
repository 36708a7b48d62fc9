//! The fields that a workspace adds to its contacts, their companies and its conversations: which there are.
//!
//! Private inboxes and the sandbox have the same fields; values belong to those who see the mail.

pub mod company_values;
mod field_entry;
pub mod field_search;
pub mod stored_values;
pub mod typed_value;

use base::app::Cx;
use base::error::{Error, Result, ValidationErrors};
use base::limits::{FIELD_CHOICE_CHARS, FIELD_CHOICES, FIELD_KEY_CHARS, FIELDS};
use base::string_enum::string_enum;
use db::{Json, Tx};
use search::fold_name;

string_enum! {
    /// What a field belongs to.
    FieldOwner { Contact = "contact", Conversation = "conversation", Company = "company" }
}

string_enum! {
    /// What a field can be.
    FieldKind {
        Text = "text",
        Number = "number",
        Money = "money",
        Date = "date",
        Choice = "choice",
        Link = "link",
        Boolean = "boolean",
        Reference = "reference",
    }
}

db::row! {
    /// A field.
    #[derive(Clone, Debug)]
    pub struct CustomField from "fields" {
        pub key: String = "fields.name",
        pub owner: FieldOwner,
        pub kind: FieldKind,
        /// What a choice can be.
        pub choices: Json<Vec<String>>,
    }
}

impl CustomField {
    /// True where values are read and set with those of an owner: a company's with its people's.
    pub fn is_read_with(&self, owner: FieldOwner) -> bool {
        let read_with = match self.owner {
            FieldOwner::Conversation => FieldOwner::Conversation,
            FieldOwner::Contact | FieldOwner::Company => FieldOwner::Contact,
        };
        read_with == owner
    }

    /// The key as people read it: `order_number` as "Order number".
    pub fn label(&self) -> String {
        label(&self.key)
    }
}

/// A key as people read it.
pub fn label(key: &str) -> String {
    let words = key.replace(['_', '-'], " ");
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// The fields of a workspace by key.
pub fn all(tx: &mut Tx<'_>, ws: i64) -> Result<Vec<CustomField>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM fields WHERE ws = ?1 ORDER BY name LIMIT ?2",
            CustomField::COLUMNS
        ),
        &[&ws, &FIELDS],
    )?)
}

/// The fields of conversations, or those of contacts with those of their companies.
pub fn of_owner(tx: &mut Tx<'_>, ws: i64, owner: FieldOwner) -> Result<Vec<CustomField>> {
    let mut fields = all(tx, ws)?;
    fields.retain(|field| field.is_read_with(owner));
    Ok(fields)
}

pub fn find(tx: &mut Tx<'_>, ws: i64, key: &str) -> Result<Option<CustomField>> {
    Ok(tx.opt(
        &format!("SELECT {} FROM fields WHERE ws = ?1 AND name = ?2", CustomField::COLUMNS),
        &[&ws, &key],
    )?)
}

/// Adds a field of a new key.
pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, field: &CustomField) -> Result<CustomField> {
    let ws = cx.actor.ws;
    let field = CustomField {
        key: field.key.trim().to_owned(),
        choices: Json(trim_choices(&field.choices)),
        ..field.clone()
    };
    let problems = problems_of(tx, ws, &field)?;
    if !problems.0.is_empty() {
        return Err(Error::Invalid(problems));
    }
    tx.exec_soon(
        "INSERT INTO fields (ws, name, owner, kind, choices, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&ws, &field.key, &field.owner, &field.kind, &field.choices, &cx.now],
    )?;
    Ok(field)
}

/// Removes a field with all its values.
pub fn remove(tx: &mut Tx<'_>, cx: &Cx<'_>, key: &str) -> Result<CustomField> {
    let ws = cx.actor.ws;
    let field = find(tx, ws, key)?.ok_or(Error::NotFound("field"))?;
    for table in ["conversation_fields", "contact_fields", "company_fields"] {
        let sql = format!("DELETE FROM {table} WHERE ws = ?1 AND field = ?2");
        tx.exec_soon(&sql, &[&ws, &field.key])?;
    }
    tx.exec_soon("DELETE FROM fields WHERE ws = ?1 AND name = ?2", &[&ws, &field.key])?;
    Ok(field)
}

fn problems_of(tx: &mut Tx<'_>, ws: i64, field: &CustomField) -> Result<ValidationErrors> {
    let mut problems = ValidationErrors::default();
    if !is_key(&field.key) {
        problems.add(
            "key",
            format!(
                "A key has 1 to {FIELD_KEY_CHARS} small letters from a to z, digits, _ and -, and \
                 begins with a letter."
            ),
        );
    } else if find(tx, ws, &field.key)?.is_some() {
        problems.add("key", format!("There is a field “{}” already.", field.key));
    } else if all(tx, ws)?.len() as i64 >= FIELDS {
        let sentence = format!("A workspace has at most {FIELDS} fields. Remove one first.");
        problems.add("key", sentence);
    }
    if let Some(sentence) = objection_to_choices(field) {
        problems.add("choices", sentence);
    }
    Ok(problems)
}

fn is_key(key: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    key.len() <= FIELD_KEY_CHARS
        && key.starts_with(|first: char| first.is_ascii_lowercase())
        && key.chars().all(fits)
}

fn trim_choices(choices: &[String]) -> Vec<String> {
    let tidy = |choice: &String| choice.split_whitespace().collect::<Vec<_>>().join(" ");
    choices.iter().map(tidy).filter(|choice| !choice.is_empty()).collect()
}

fn objection_to_choices(field: &CustomField) -> Option<String> {
    let choices: &[String] = &field.choices;
    if field.kind != FieldKind::Choice {
        let has_choices = !choices.is_empty();
        return has_choices.then(|| "Only a field of the type choice has choices.".to_owned());
    }
    if choices.is_empty() || choices.len() > FIELD_CHOICES {
        return Some(format!("Name 1 to {FIELD_CHOICES} choices."));
    }
    if choices.iter().any(|choice| choice.chars().count() > FIELD_CHOICE_CHARS) {
        return Some(format!("A choice has at most {FIELD_CHOICE_CHARS} characters."));
    }
    let is_twin = |(place, choice): (usize, &String)| {
        choices[..place].iter().any(|before| fold_name(before) == fold_name(choice))
    };
    let has_twins = choices.iter().enumerate().any(is_twin);
    has_twins.then(|| "Each choice is named once.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_small_and_plain() {
        for good in ["order", "order_number", "tier-2", "a"] {
            assert!(is_key(good), "{good}");
        }
        for bad in ["", "Order", "1st", "_x", "order number", "größe", &"x".repeat(41)] {
            assert!(!is_key(bad), "{bad}");
        }
        assert_eq!(label("order_number"), "Order number");
    }

    #[test]
    fn only_a_choice_has_choices_each_once() {
        let field = |kind, choices: &[&str]| CustomField {
            key: "plan".into(),
            owner: FieldOwner::Contact,
            kind,
            choices: Json(choices.iter().map(|choice| (*choice).to_owned()).collect()),
        };
        assert_eq!(objection_to_choices(&field(FieldKind::Choice, &["Free", "Pro"])), None);
        assert_eq!(objection_to_choices(&field(FieldKind::Text, &[])), None);
        for (kind, choices) in [
            (FieldKind::Text, vec!["Free"]),
            (FieldKind::Choice, vec![]),
            (FieldKind::Choice, vec!["Pro", "pro"]),
        ] {
            assert!(objection_to_choices(&field(kind, &choices)).is_some(), "{choices:?}");
        }
    }
}
