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
use crate::visitor::Visitor;

/// What leads the names of inputs, of those for days, and of what stood in them.
const TYPED: &str = "f.";
const TYPED_DAY: &str = "day.";
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
    is_day: bool,
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
            input: if field.kind == FieldKind::Link { "url" } else { "text" },
            is_day: field.kind == FieldKind::Date,
            options,
            is_link: field.kind == FieldKind::Link,
            error: String::new(),
        }
    }
}

/// The fields of a posted form.
pub struct PostedFields {
    pub typed: Vec<TypedField>,
    /// The keys of those that are days.
    days: Vec<String>,
    /// The list that a conversation was opened from.
    pub from: ListQuery,
}

impl Form for PostedFields {
    fn read(fields: &FormFields) -> base::error::Result<PostedFields> {
        let typed = fields.pairs().iter().filter_map(|(name, _)| {
            let key = name.strip_prefix(TYPED).or_else(|| name.strip_prefix(TYPED_DAY))?;
            let before = fields.get(&format!("{BEFORE}{key}"));
            Some(TypedField { key: key.to_owned(), typed: fields.get(name), before })
        });
        let days = fields.pairs().iter().filter_map(|(name, _)| name.strip_prefix(TYPED_DAY));
        Ok(PostedFields {
            typed: typed.take(FIELDS as usize).collect(),
            days: days.map(str::to_owned).collect(),
            from: FormValue::read(fields, "from")?,
        })
    }
}

impl PostedFields {
    /// Reads the days as this visitor types them.
    pub fn read_days(&mut self, visitor: &Visitor) {
        for field in self.typed.iter_mut().filter(|field| self.days.contains(&field.key)) {
            field.typed = visitor.iso_day(&field.typed);
        }
    }
}
