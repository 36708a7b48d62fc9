//! Asking a customer for documents: a checklist, a day, and a few words above it.

use std::sync::Arc;

use axum::extract::{Path, State};
use inbox::ReplyResult;
use inbox::actions;
use inbox::api::fields::check_body;
use inbox::api::operations::{REQUEST_DOCUMENTS, RequestDocumentsInput, request_documents};
use inbox::base::limits::REQUEST_ITEMS;
use inbox::{Error, ValidationError};
use serde_json::{Map, Value, json};

use crate::web::Web;
use crate::web::form::{FormFields, Posted};
use crate::web::layout::responses::{self, PageResult, see_other};
use crate::web::pages::conversation::{self, back_to};

/// Empty lines that stand below what is filled in.
const EMPTY_LINES: usize = 3;

/// What stands in the form.
pub struct AskForm {
    pub message: String,
    pub due: String,
    pub lines: Vec<AskedLine>,
    pub problems: Vec<String>,
    pub seen: i64,
}

#[derive(Clone, Default)]
pub struct AskedLine {
    pub number: usize,
    pub label: String,
    pub description: String,
    pub optional: bool,
}

impl AskForm {
    pub fn fresh(seen: i64) -> AskForm {
        AskForm::typed(&FormFields::default(), seen, Vec::new())
    }

    fn typed(fields: &FormFields, seen: i64, problems: Vec<String>) -> AskForm {
        let mut lines = lines(fields);
        let room = REQUEST_ITEMS.saturating_sub(lines.len());
        lines.resize(lines.len() + EMPTY_LINES.min(room), AskedLine::default());
        for (place, line) in lines.iter_mut().enumerate() {
            line.number = place + 1;
        }
        AskForm { message: fields.get("message"), due: fields.get("due"), lines, problems, seen }
    }
}

/// The lines that somebody wrote something into.
fn lines(fields: &FormFields) -> Vec<AskedLine> {
    let line = |number: usize| AskedLine {
        number,
        label: fields.get(&format!("label-{number}")).trim().to_owned(),
        description: fields.get(&format!("about-{number}")).trim().to_owned(),
        optional: fields.has(&format!("nice-{number}")),
    };
    let all = (1..=REQUEST_ITEMS).map(line);
    all.filter(|line| !line.label.is_empty() || !line.description.is_empty()).collect()
}

enum Outcome {
    Asked(ReplyResult),
    Meanwhile(String),
}

pub async fn ask(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let send = !fields.has("keep");
    let input = match checked(&id, &fields, send) {
        _ if fields.has("more") => Err(Vec::new()),
        checked => checked,
    };
    let seen = fields.number("seen").unwrap_or(0);
    let problems = match input {
        Err(problems) => problems,
        Ok(input) => {
            let outcome = web
                .act(&visitor, move |tx, cx, _| {
                    if input.send
                        && let Some(newer) = actions::newer_than(tx, cx, &input.id, seen)?
                    {
                        return Ok(Outcome::Meanwhile(newer.by));
                    }
                    Ok(Outcome::Asked(request_documents(tx, cx, input.clone())?))
                })
                .await?;
            match outcome {
                Outcome::Asked(result) => {
                    let mut response = see_other(&back_to(&id, &fields));
                    match send {
                        true => web.set_undo(&mut response, result.message_id.as_str()),
                        false => web.set_flash(&mut response, crate::web::Flash::Kept),
                    }
                    return Ok(response);
                }
                Outcome::Meanwhile(by) => {
                    vec![format!("{by} wrote meanwhile. Nothing was sent; read it and send again.")]
                }
            }
        }
    };
    let list = FormFields::read(fields.get("from").as_bytes());
    let mut page = conversation::build(&web, &visitor, &id, &list, |_| None).await?;
    page.asking = Some(AskForm::typed(&fields, page.seen(), problems));
    responses::again(&page)
}

/// The request after the API's own checks; the error is what is wrong, in sentences.
fn checked(
    id: &str,
    fields: &FormFields,
    send: bool,
) -> Result<RequestDocumentsInput, Vec<String>> {
    let lines = lines(fields);
    let documents: Vec<Value> = lines
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
        return Err(vec!["Say at least one document that you need.".into()]);
    }
    let mut body = Map::new();
    body.insert("documents".into(), documents.into());
    body.insert("send".into(), send.into());
    for (name, field) in [("message", "message"), ("dueDate", "due")] {
        if let Some(value) = fields.opt(field) {
            body.insert(name.into(), value.into());
        }
    }
    let mut checked = check_body(REQUEST_DOCUMENTS.fields, &Value::Object(body))
        .map_err(|problems| problems.0.iter().map(sentence).collect::<Vec<_>>())?;
    checked.insert("id".into(), id.into());
    serde_json::from_value(Value::Object(checked))
        .map_err(|_| vec![Error::NotFound("conversation").to_string()])
}

/// `documents[2].label` is the third line's name.
fn sentence(problem: &ValidationError) -> String {
    let place = problem.field.strip_prefix("documents[").and_then(|rest| rest.split_once(']'));
    let what = match (place, problem.field.as_str()) {
        (Some((number, field)), _) => {
            let number = number.parse::<usize>().map_or(0, |number| number + 1);
            let field = if field.ends_with("label") { "the name" } else { "what it says about it" };
            format!("Line {number}, {field}")
        }
        (None, "dueDate") => "The day".to_owned(),
        (None, _) => "Your words".to_owned(),
    };
    format!("{what}: {}.", problem.sentence)
}
