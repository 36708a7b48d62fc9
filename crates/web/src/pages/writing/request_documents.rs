//! Asking a customer for documents: a checklist, a day, and a few words above it.

use std::sync::Arc;

use actions::documents::document_requests::request_documents;
use actions::writing::seen::DecisionOutcome;
use api::fields::check_body;
use api::operations::{REQUEST_DOCUMENTS, RequestDocumentsInput};
use axum::extract::{Path, State};
use base::error::{Error, ValidationError};
use serde_json::{Map, Value, json};
use translation::t;

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::flash::Flash;
use crate::layout::responses::{self, FormOutcome, PageResult, see_other};
use crate::pages::conversation;
use crate::pages::writing::request_form::{AskForm, RequestForm};

pub async fn ask(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<RequestForm>,
) -> PageResult {
    let PostedForm { visitor, mut form } = posted;
    form.due = visitor.iso_day(&form.due);
    let seen = form.seen;
    let input = if form.more { Err(Vec::new()) } else { read_request(&id, &form) };
    let problems = match input {
        Err(problems) => problems,
        Ok(input) => {
            let (wanted, request) = (id.clone(), input.into_request());
            let outcome = web
                .act(&visitor, move |tx, cx, _| request_documents(tx, cx, &wanted, &request, seen))
                .await;
            match outcome.or_problems()? {
                Err(problems) => {
                    problems.0.into_iter().map(|problem| alone(problem.sentence)).collect()
                }
                Ok(DecisionOutcome::Done(_)) if form.keep => {
                    return web.redirect(&form.from.conversation(&id), Flash::Kept);
                }
                Ok(DecisionOutcome::Done(result)) => {
                    let mut response = see_other(&form.from.conversation(&id));
                    web.set_undo(&mut response, &visitor, &result.message_id);
                    return Ok(response);
                }
                Ok(DecisionOutcome::Meanwhile(newer)) => {
                    let by = newer.by;
                    let told =
                        t!("{by} wrote meanwhile. Nothing was sent; read it and send again.", by);
                    vec![alone(told)]
                }
            }
        }
    };
    let mut page =
        conversation::build(&web, &visitor, &id, &form.from.fields(), |_, _| None).await?;
    let problems = problems.iter().map(sentence).collect();
    page.asking = Some(AskForm::from_form(form, page.next_number(), problems));
    responses::again(&page)
}

/// The request after the API's own checks; the error is what is wrong.
fn read_request(
    id: &str,
    form: &RequestForm,
) -> Result<RequestDocumentsInput, Vec<ValidationError>> {
    let documents: Vec<Value> = form
        .lines
        .iter()
        .map(|line| {
            let mut item = json!({ "label": line.label, "required": !line.optional });
            if !line.description.is_empty() {
                item["description"] = json!(line.description);
            }
            item
        })
        .collect();
    if documents.is_empty() {
        return Err(vec![alone("Say at least one document that you need.")]);
    }
    let mut body = Map::new();
    body.insert("documents".into(), documents.into());
    body.insert("send".into(), (!form.keep).into());
    for (name, value) in [("message", &form.message), ("dueDate", &form.due)] {
        if !value.is_empty() {
            body.insert(name.into(), value.as_str().into());
        }
    }
    let mut checked = check_body(REQUEST_DOCUMENTS.fields, &Value::Object(body))
        .map_err(|problems| problems.0)?;
    checked.insert("id".into(), id.into());
    serde_json::from_value(Value::Object(checked))
        .map_err(|_| vec![alone(Error::NotFound("conversation").to_string())])
}

/// A problem that is of no field.
fn alone(sentence: impl Into<String>) -> ValidationError {
    ValidationError { field: String::new(), sentence: sentence.into() }
}

/// `documents[2].label` is the third line's name.
fn sentence(wrong: &ValidationError) -> String {
    let place = wrong.field.strip_prefix("documents[").and_then(|rest| rest.split_once(']'));
    let problem = translation::sentence(&wrong.sentence);
    match (place, wrong.field.as_str()) {
        (Some((number, field)), _) => {
            let number = number.parse::<usize>().map_or(0, |number| number + 1);
            if field.ends_with("label") {
                t!("Line {number}, the name: {problem}.", number, problem)
            } else {
                t!("Line {number}, what it says about it: {problem}.", number, problem)
            }
        }
        (None, "") => problem.into_owned(),
        (None, "dueDate") => t!("The day: {problem}.", problem),
        (None, _) => t!("Your words: {problem}.", problem),
    }
}
