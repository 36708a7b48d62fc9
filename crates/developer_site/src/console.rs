//! The console: runs an operation in the sandbox as the signed-in person's own agent, and shows the
//! request, the answer and the same with curl. No key reaches the browser.

use std::time::Instant;

use actions::integrations::console::{self, ConsoleAgent};
use api::calls::ApiCall;
use api::fields::{InputField, InputKind, check_body, one_problem};
use api::operations::{FileOutput, Method, OPERATIONS, Operation, OperationOutput, find_by_name};
use askama::Template;
use base::error::Error;
use serde_json::{Map, Value};
use web::Web;
use web::forms::form::{Asked, Form, FormFields, PostedForm};
use web::layout::filters;
use web::layout::responses::{self, PageResult};
use web::visitor::Visitor;

use super::examples::ExampleRequest;
use super::reference::PREFIX;
use super::{ArticlePage, Site, SiteFrame, html};

const PATH: &str = "/developers/console";
/// The operation that a newcomer begins with.
const FIRST: &str = "sandbox_inbound";
/// Characters of an answer that are shown.
const ANSWER_CHARS: usize = 20_000;
/// Longer texts have several lines.
const LINE_CHARS: usize = 300;

#[derive(Template)]
#[template(path = "developers_console.html", whitespace = "minimize")]
struct ConsolePage {
    frame: SiteFrame,
    operation: &'static Operation,
    choices: Vec<(&'static str, String, bool)>,
    id: Option<String>,
    fields: Vec<ConsoleField>,
    more: String,
    outcome: Option<Outcome>,
}

/// An input of the form.
struct ConsoleField {
    name: &'static str,
    about: &'static str,
    required: bool,
    value: String,
    input: ConsoleInput,
}

enum ConsoleInput {
    Line,
    Lines,
    Choice(Vec<&'static str>),
}

/// What became of a call.
struct Outcome {
    status: u16,
    ok: bool,
    seconds: String,
    rate: String,
    answer: String,
    request: String,
    curl: String,
    agent: String,
}

pub struct ConsoleForm(FormFields);

impl Form for ConsoleForm {
    fn read(fields: &FormFields) -> base::error::Result<ConsoleForm> {
        Ok(ConsoleForm(fields.clone()))
    }
}

pub async fn page(site: Site, visitor: Visitor, Asked(asked): Asked) -> PageResult {
    let found = site.pages().find(PATH).ok_or(Error::NotFound("page"))?;
    let frame = site.frame(&visitor, PATH, &found.title).await;
    if frame.person.is_none() {
        let article = found.article.clone();
        return responses::page(&ArticlePage {
            frame,
            article,
            takes_key: false,
            made: None,
            words: String::new(),
        });
    }
    let operation = operation(&asked)?;
    let agent = site.web.read(&visitor, |tx, cx, _| console::find_console_agent(tx, cx)).await?;
    let id = if operation.has_id() {
        Some(newest(&site.web, operation, agent).await.unwrap_or_default())
    } else {
        None
    };
    let example = ExampleRequest::of(operation);
    let fields = fields(operation, |name| example.input.get(name).map(text_of).unwrap_or_default());
    let page = ConsolePage {
        frame,
        operation,
        choices: choices(operation),
        id,
        fields,
        more: String::new(),
        outcome: None,
    };
    responses::page(&page)
}

pub async fn run(site: Site, posted: PostedForm<ConsoleForm>) -> PageResult {
    let PostedForm { visitor, form: ConsoleForm(form) } = posted;
    let operation = operation(&form)?;
    let agent = site.web.act_quietly(&visitor, |tx, cx, _| console::console_agent(tx, cx)).await?;
    let id = operation.has_id().then(|| form.get("id").trim().to_owned());
    let outcome = outcome(&site.web, operation, &agent, id.clone(), &form).await;
    let frame = site.frame(&visitor, PATH, "Console").await;
    let page = ConsolePage {
        frame,
        operation,
        choices: choices(operation),
        id,
        fields: fields(operation, |name| form.get(&format!("f.{name}"))),
        more: form.get("more"),
        outcome: Some(outcome),
    };
    responses::page(&page)
}

fn operation(asked: &FormFields) -> base::error::Result<&'static Operation> {
    let name = asked.opt("op").unwrap_or_else(|| FIRST.to_owned());
    find_by_name(&name).ok_or(Error::NotFound("operation"))
}

fn choices(current: &Operation) -> Vec<(&'static str, String, bool)> {
    let choice = |operation: &'static Operation| {
        let label = format!("{} {}", operation.method.name(), operation.path);
        (operation.name, label, operation.name == current.name)
    };
    OPERATIONS.iter().map(choice).collect()
}

fn fields(operation: &Operation, value: impl Fn(&str) -> String) -> Vec<ConsoleField> {
    let field = |field: &'static InputField| ConsoleField {
        name: field.name,
        about: field.about,
        required: field.required,
        value: value(field.name),
        input: match &field.kind {
            InputKind::Enum(words) => ConsoleInput::Choice(words.to_vec()),
            InputKind::Boolean => ConsoleInput::Choice(vec!["true", "false"]),
            InputKind::Text { max, .. } if *max > LINE_CHARS => ConsoleInput::Lines,
            InputKind::List { .. } | InputKind::Object(_) | InputKind::Values { .. } => {
                ConsoleInput::Lines
            }
            _ => ConsoleInput::Line,
        },
    };
    operation.fields.iter().map(field).collect()
}

async fn outcome(
    web: &Web,
    operation: &'static Operation,
    agent: &ConsoleAgent,
    id: Option<String>,
    form: &FormFields,
) -> Outcome {
    let started = Instant::now();
    let given = input(operation, form);
    let raw = Value::Object(given.clone().unwrap_or_default());
    let input = match &given {
        Ok(_) => check_body(operation.fields, &raw),
        Err(sentence) => Err(one_problem("more", sentence)),
    };
    let request = ExampleRequest { id: id.clone(), input: given.unwrap_or_default() };
    let call = ApiCall { operation, key: agent.key, id, raw, input, idempotency_key: None };
    let (result, rate) = web.document_texts.call(&web.app, call).await;
    let (status, answer) = match result {
        Ok(output) => (operation.success, response_text(output)),
        Err(error) => {
            let body = serde_json::json!({ "error": error.to_string() });
            (error.status(), serde_json::to_string_pretty(&body).unwrap_or_default())
        }
    };
    Outcome {
        status,
        ok: status < 300,
        seconds: format!("{:.2}", started.elapsed().as_secs_f64()),
        rate: format!("\"default\";r={};t={}", rate.remaining, rate.resets_in),
        answer: html::json(&answer),
        request: request_text(operation, &request),
        curl: format!(
            "export MAILROOM={}{PREFIX}\n{}",
            web.app.public_url,
            request.curl(operation)
        ),
        agent: agent.name.clone(),
    }
}

/// What the form says, or why it cannot be read.
fn input(operation: &Operation, form: &FormFields) -> Result<Map<String, Value>, &'static str> {
    let mut input = Map::new();
    for field in operation.fields {
        let text = form.get(&format!("f.{}", field.name));
        if !text.trim().is_empty() {
            input.insert(field.name.to_owned(), value(&field.kind, &text));
        }
    }
    let more = form.get("more");
    if !more.trim().is_empty() {
        match serde_json::from_str(&more) {
            Ok(Value::Object(more)) => input.extend(more),
            _ => return Err("must be a JSON object"),
        }
    }
    Ok(input)
}

/// A text of the form as the field's type; what does not fit is left for the check to refuse.
fn value(kind: &InputKind, text: &str) -> Value {
    let plain = || Value::from(text);
    match kind {
        InputKind::Text { .. } | InputKind::Enum(_) => plain(),
        InputKind::Nullable(_) if text.trim() == "null" => Value::Null,
        InputKind::Nullable(of) => value(of, text),
        _ => serde_json::from_str(text).unwrap_or_else(|_| plain()),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn response_text(output: OperationOutput) -> String {
    if let Some(FileOutput::Download(file)) = &output.file {
        return format!("{} bytes of {}", file.bytes.len(), file.filename);
    }
    let value: Value = serde_json::from_slice(&output.body).unwrap_or_default();
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    match text.char_indices().nth(ANSWER_CHARS) {
        Some((end, _)) => format!("{}\n… the rest is not shown here", &text[..end]),
        None => text,
    }
}

fn request_text(operation: &Operation, request: &ExampleRequest) -> String {
    let line = format!("{} {PREFIX}{}", operation.method.name(), request.path(operation));
    match operation.method {
        Method::Get | Method::Delete => html::escape(&line),
        Method::Post => {
            let body = Value::Object(request.input.clone());
            let body = serde_json::to_string_pretty(&body).unwrap_or_default();
            format!("{}\n\n{}", html::escape(&line), html::json(&body))
        }
    }
}

/// The newest thing of the sandbox that an operation can be tried on.
async fn newest(web: &Web, operation: &Operation, agent: Option<ConsoleAgent>) -> Option<String> {
    let list = match operation.path.split('/').nth(1)? {
        "messages" => "list_messages",
        "documents" => "search_documents",
        "booking-types" => "list_booking_types",
        "bookings" => "list_bookings",
        "webhooks" => "list_webhooks",
        _ => "list_conversations",
    };
    let operation = find_by_name(list)?;
    let mut raw = Map::new();
    raw.insert("limit".into(), 1.into());
    if list == "list_conversations" {
        raw.insert("view".into(), "all".into());
    }
    let raw = Value::Object(raw);
    let input = check_body(operation.fields, &raw);
    let call = ApiCall { operation, key: agent?.key, id: None, raw, input, idempotency_key: None };
    let output = api::calls::call(&web.app, call).await.0.ok()?;
    let items: Value = serde_json::from_slice(&output.body).ok()?;
    items[0]["id"].as_str().map(str::to_owned)
}
