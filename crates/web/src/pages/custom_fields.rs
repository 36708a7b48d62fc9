//! The fields of a conversation or contact on its page: a form that shows and changes them.

use actions::workspace::fields::{FieldSheet, TypedField};
use askama::Template;
use base::error::ValidationErrors;
use base::limits::FIELDS;
use model::fields::{CustomField, FieldKind};
use translation::t;

use crate::forms::form::{Form, FormFields, FormValue};
use crate::layout::filters;
use crate::pages::lists::list_query::ListQuery;

/// What leads the names of inputs, and of what stood in them.
const TYPED: &str = "f.";
const BEFORE: &str = "was.";

#[derive(Template)]
#[template(path = "fields_form.html", whitespace = "minimize")]
pub struct FieldsForm {
    csrf: String,
    from: String,
    action: String,
    rows: Vec<FieldRow>,
}

/// Where the form stands and leads: the token of the session, the list beside it, and its address.
pub struct FieldsFormPlace {
    pub csrf: String,
    pub from: String,
    pub action: String,
}

struct FieldRow {
    key: String,
    label: String,
    value: String,
    before: String,
    /// The type of the input.
    input: &'static str,
    /// What it is chosen from: values and their words; empty where it is typed.
    options: Vec<(String, String)>,
    is_link: bool,
    error: String,
}

impl FieldsForm {
    pub fn new(place: FieldsFormPlace, sheet: FieldSheet) -> FieldsForm {
        let FieldsFormPlace { csrf, from, action } = place;
        let FieldSheet { fields, values } = sheet;
        let row = |field: CustomField| {
            let stored = values.iter().find(|entry| entry.key == field.key);
            let value = stored.map(|entry| entry.value.text.clone()).unwrap_or_default();
            FieldRow::new(&field, value)
        };
        FieldsForm { csrf, from, action, rows: fields.into_iter().map(row).collect() }
    }

    /// True where the workspace has no fields.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True where something that was typed was refused.
    pub fn is_refused(&self) -> bool {
        self.rows.iter().any(|row| !row.error.is_empty())
    }

    /// The same form with what was typed, and what is wrong with it.
    pub fn refuse(&mut self, typed: &[TypedField], problems: &ValidationErrors) {
        for row in &mut self.rows {
            if let Some(one) = typed.iter().find(|one| one.key == row.key) {
                row.value.clone_from(&one.typed);
            }
            let path = format!("fields.{}", row.key);
            let of_row = problems.0.iter().filter(|problem| problem.field == path);
            row.error = of_row.map(|problem| problem.sentence.as_str()).collect();
        }
    }
}

impl FieldRow {
    fn new(field: &CustomField, value: String) -> FieldRow {
        let options = match field.kind {
            FieldKind::Choice => {
                field.choices.iter().map(|choice| (choice.clone(), choice.clone())).collect()
            }
            FieldKind::Boolean => {
                vec![("true".into(), t!("Yes").into()), ("false".into(), t!("No").into())]
            }
            _ => Vec::new(),
        };
        FieldRow {
            key: field.key.clone(),
            label: field.label(),
            before: value.clone(),
            value,
            input: match field.kind {
                FieldKind::Date => "date",
                FieldKind::Link => "url",
                _ => "text",
            },
            options,
            is_link: field.kind == FieldKind::Link,
            error: String::new(),
        }
    }
}

/// The fields of a posted form.
pub struct PostedFields {
    pub typed: Vec<TypedField>,
    /// The list that a conversation was opened from.
    pub from: ListQuery,
}

impl Form for PostedFields {
    fn read(fields: &FormFields) -> base::error::Result<PostedFields> {
        let keys = fields.pairs().iter().filter_map(|(name, _)| name.strip_prefix(TYPED));
        let typed = keys.take(FIELDS as usize).map(|key| TypedField {
            key: key.to_owned(),
            typed: fields.get(&format!("{TYPED}{key}")),
            before: fields.get(&format!("{BEFORE}{key}")),
        });
        Ok(PostedFields { typed: typed.collect(), from: FormValue::read(fields, "from")? })
    }
}
