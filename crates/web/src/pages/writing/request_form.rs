//! The form that asks a customer for documents: what it shows, and what is posted from it.

use std::borrow::Cow;

use actions::writing::seen::SeenConversation;
use base::limits::{REMINDER_DAYS, REQUEST_ITEMS};

use crate::forms::form::{FormFields, FormValue, form};
use crate::pages::lists::list_query::ListQuery;

/// Empty lines below those that are filled in.
const EMPTY_LINES: usize = 3;

form! {
    /// A request for documents.
    #[derive(Default)]
    pub struct RequestForm {
        message: String,
        due: String,
        lines: Vec<AskedLine>,
        /// Keeps it as a draft that a person approves.
        keep: bool,
        /// Shows the form again with more lines.
        more: bool,
        seen: SeenConversation,
        from: ListQuery,
    }
}

/// A document that is asked for.
#[derive(Clone, Default)]
pub struct AskedLine {
    pub number: usize,
    pub label: String,
    pub description: String,
    pub optional: bool,
}

/// The lines that are not empty.
impl FormValue for Vec<AskedLine> {
    fn read(fields: &FormFields, _: &str) -> base::error::Result<Vec<AskedLine>> {
        let line = |number: usize| AskedLine {
            number,
            label: fields.get(&format!("label-{number}")).trim().to_owned(),
            description: fields.get(&format!("about-{number}")).trim().to_owned(),
            optional: fields.has(&format!("nice-{number}")),
        };
        let lines = (1..=REQUEST_ITEMS).map(line);
        Ok(lines.filter(|line| !line.label.is_empty() || !line.description.is_empty()).collect())
    }
}

/// The form as a page shows it.
pub struct AskForm {
    pub message: String,
    pub due: String,
    pub lines: Vec<AskedLine>,
    pub problems: Vec<String>,
    pub seen: i64,
}

impl AskForm {
    pub fn fresh(seen: i64) -> AskForm {
        AskForm::from_form(RequestForm::default(), seen, Vec::new())
    }

    pub fn from_form(form: RequestForm, seen: i64, problems: Vec<String>) -> AskForm {
        let RequestForm { message, due, mut lines, .. } = form;
        let room = REQUEST_ITEMS.saturating_sub(lines.len());
        lines.resize(lines.len() + EMPTY_LINES.min(room), AskedLine::default());
        for (place, line) in lines.iter_mut().enumerate() {
            line.number = place + 1;
        }
        AskForm { message, due, lines, problems, seen }
    }

    /// The days after which the customer is reminded.
    pub fn reminder_days(&self) -> Cow<'static, str> {
        translation::sentence(REMINDER_DAYS)
    }
}
