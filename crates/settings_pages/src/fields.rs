//! The fields of contacts and conversations: which there are, adding and removing them.

use std::sync::Arc;

use actions::workspace::fields::{add_field, remove_field};
use api::operations::list_fields;
use api::wire::FieldJson;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::limits::{FIELD_CHOICE_CHARS, FIELD_CHOICES, FIELD_KEY_CHARS, FIELDS};
use db::Json;
use model::fields::{CustomField, FieldKind, FieldOwner, label};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

const PLACE: &str = "/settings/fields";
/// Characters of all choices as they are typed, one a line.
const CHOICES_CHARS: usize = FIELD_CHOICES * (FIELD_CHOICE_CHARS + 1);

#[derive(Template)]
#[template(path = "settings_fields.html", whitespace = "minimize")]
struct FieldsPage {
    frame: PageLayout,
    fields: Vec<FieldView>,
    /// Each word that is stored, and the word that people read.
    owners: Vec<(&'static str, &'static str)>,
    kinds: Vec<(&'static str, &'static str)>,
    typed: NewField,
    key_error: String,
    choices_error: String,
}

struct FieldView {
    key: String,
    label: String,
    owner: &'static str,
    kind: &'static str,
    choices: String,
}

impl FieldsPage {
    fn has_room(&self) -> bool {
        (self.fields.len() as i64) < FIELDS
    }
}

fn owner_word(owner: FieldOwner) -> &'static str {
    match owner {
        FieldOwner::Contact => t!("Contact"),
        FieldOwner::Conversation => t!("Conversation"),
        FieldOwner::Company => t!("Company"),
    }
}

fn kind_word(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text => t!("Text"),
        FieldKind::Number => t!("Number"),
        FieldKind::Money => t!("Amount"),
        FieldKind::Date => t!("Date"),
        FieldKind::Choice => t!("One of several"),
        FieldKind::Link => t!("Link"),
        FieldKind::Boolean => t!("Yes or no"),
        FieldKind::Reference => t!("Reference"),
    }
}

fn view(field: FieldJson) -> FieldView {
    FieldView {
        label: label(&field.key),
        key: field.key,
        owner: owner_word(field.on),
        kind: kind_word(field.kind),
        choices: field.choices.join(", "),
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<FieldsPage, PageError> {
    let (frame, fields) = web
        .page(visitor, location(SettingsPage::Fields), |tx, cx, _| {
            cx.actor.must_administer()?;
            list_fields(tx, cx)
        })
        .await?;
    let owner = |owner: &FieldOwner| (owner.as_str(), owner_word(*owner));
    let kind = |kind: &FieldKind| (kind.as_str(), kind_word(*kind));
    Ok(FieldsPage {
        fields: fields.into_iter().map(view).collect(),
        owners: FieldOwner::ALL.iter().map(owner).collect(),
        kinds: FieldKind::ALL.iter().map(kind).collect(),
        typed: NewField::default(),
        key_error: String::new(),
        choices_error: String::new(),
        frame,
    })
}

form! {
    #[derive(Clone, Default)]
    pub struct NewField {
        key: String,
        owner: String = "on",
        kind: String = "type",
        choices: String,
    }
}

impl NewField {
    fn definition(&self) -> base::error::Result<CustomField> {
        let owner = FieldOwner::parse(&self.owner);
        let kind = FieldKind::parse(&self.kind);
        Ok(CustomField {
            key: self.key.clone(),
            owner: owner.ok_or_else(|| Error::invalid("on", "Choose what it belongs to."))?,
            kind: kind.ok_or_else(|| Error::invalid("type", "Choose what its values are."))?,
            choices: Json(self.choices.lines().map(str::to_owned).collect()),
        })
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<NewField>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let field = form.definition()?;
    let added = web.act(&visitor, move |tx, cx, _| add_field(tx, cx, &field).map(|_| ())).await;
    match added.or_problems()? {
        Ok(()) => web.redirect(PLACE, Flash::FieldAdded),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            page.typed = form;
            for problem in &problems.0 {
                let error = match problem.field.as_str() {
                    "choices" => &mut page.choices_error,
                    _ => &mut page.key_error,
                };
                error.push_str(&sentence(&problem.sentence));
            }
            responses::again(&page)
        }
    }
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(key): Path<String>,
    posted: PostedForm,
) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, _| remove_field(tx, cx, &key)).await?;
    web.redirect(PLACE, Flash::FieldRemoved)
}
