//! The pages of operations and tools, made from the table.

use std::fmt::Write;

use api::fields::{InputField, InputKind};
use api::operations::{Method, OPERATIONS, Operation, ScopeRule, Tool};
use base::limits::thousands;
use serde_json::{Map, Value, json};

use super::examples::{ExampleRequest, object};
use super::preparations::PreparedExample;
use super::schema_words::{FieldWords, answer_schema, fields};

/// The path under which REST is served.
pub const PREFIX: &str = "/api/v1";

/// What examples expect in a terminal.
const TERMINAL: &str = "```text In your terminal
export MAILROOM={address}/api/v1
export MAILROOM_KEY=rk_test_…
```
";

/// The heading of the navigation that an operation stands under.
pub fn group(operation: &Operation) -> &'static str {
    match operation.path.split('/').nth(1).unwrap_or_default() {
        "conversations" => "Conversations",
        "messages" => "Messages",
        "bookings" | "booking-types" => "Bookings",
        "documents" | "answers" => "Documents and answers",
        "me" | "events" | "app-mail" | "sandbox" => "Keys, events, sandbox",
        _ => "Workspace",
    }
}

pub fn operation_page(operation: &'static Operation) -> String {
    let mut page = String::new();
    let (method, path) = (operation.method.name(), operation.path);
    let _ = write!(
        page,
        "# {}\n\n`{method} {PREFIX}{path}`\n\n{}\n\n",
        operation.title, operation.about
    );
    facts(&mut page, operation);
    inputs(&mut page, operation);
    outputs(&mut page, operation);
    errors(&mut page, operation);
    examples(&mut page, operation);
    page
}

fn facts(page: &mut String, operation: &Operation) {
    let repeating = if operation.idempotent {
        "Harmless."
    } else {
        "Makes a second one, unless it repeats its `Idempotency-Key`."
    };
    let _ = write!(
        page,
        "| About | |\n|---|---|\n| Scope | {} |\n| Repeating it | {repeating} |\n",
        scope(operation)
    );
    if let Some(tool) = &operation.tool {
        let name = tool.name;
        let _ = writeln!(page, "| MCP tool | [`{name}`](/developers/tools/{name}), same fields |");
    }
    page.push('\n');
}

fn scope(operation: &Operation) -> String {
    match operation.scope {
        ScopeRule::Always(scope) => format!("`{}`", scope.as_str()),
        ScopeRule::InSandbox(scope) => format!("`{}`, with a test key", scope.as_str()),
        ScopeRule::DraftOrSend => "`draft`, or `send` when `send` is true".into(),
    }
}

fn inputs(page: &mut String, operation: &Operation) {
    if operation.fields.is_empty() && !operation.has_id() {
        return;
    }
    page.push_str("## Fields you send\n\n| Field | Type | What it is |\n|---|---|---|\n");
    if operation.has_id() {
        let _ = writeln!(page, "| `id` | in the path, required | {} |", id_words(operation));
    }
    for field in operation.fields {
        input(page, field, "");
    }
    if operation.takes_idempotency_key() {
        page.push_str(
            "| `Idempotency-Key` | header, optional | A word of your own for this one request: the \
             same word with the same request repeats the first answer. |\n",
        );
    }
    page.push('\n');
}

fn id_words(operation: &Operation) -> String {
    let id = ExampleRequest::of(operation).id.unwrap_or_default();
    let kind = match id.split('_').next().unwrap_or_default() {
        address if address.contains('@') => return "An address of the contact.".to_owned(),
        "agt" => "agent",
        "und" => "act",
        "msg" => "message",
        "doc" => "document",
        "bkg" => "booking",
        "bkt" => "booking type",
        "whk" => "webhook",
        "lnk" => "link",
        _ => "conversation",
    };
    format!("The {kind}'s id, exactly as another answer gives it.")
}

fn input(page: &mut String, field: &InputField, before: &str) {
    let required = if field.required { ", required" } else { "" };
    let default = match field.default.map(|default| default()) {
        None => String::new(),
        Some(Value::String(word)) => format!(", default `{word}`"),
        Some(value) => format!(", default `{value}`"),
    };
    let (kind, limit) = (kind(&field.kind), limit(&field.kind));
    let _ = writeln!(
        page,
        "| `{before}{}` | {kind}{required}{default} | {}{limit} |",
        field.name,
        cell(field.about)
    );
    if let InputKind::Object(inner) | InputKind::List { of: InputKind::Object(inner), .. } =
        &field.kind
    {
        inner.iter().for_each(|one| input(page, one, &format!("{before}{}.", field.name)));
    }
}

fn kind(kind: &InputKind) -> String {
    match kind {
        InputKind::Text { .. } => "string".into(),
        InputKind::Enum(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        InputKind::Integer { .. } => "whole number".into(),
        InputKind::Boolean => "boolean".into(),
        InputKind::List { of: InputKind::Object(_), .. } => "list of objects".into(),
        InputKind::List { .. } => "list of strings".into(),
        InputKind::Object(_) => "object".into(),
        InputKind::Values { .. } => "object by key".into(),
        InputKind::Nullable(of) => format!("{} or null", self::kind(of)),
    }
}

fn limit(kind: &InputKind) -> String {
    match kind {
        InputKind::Text { min: 0 | 1, max, .. } => {
            format!(" At most {} characters.", thousands(*max))
        }
        InputKind::Text { min, max, .. } => {
            format!(" {min} to {} characters.", thousands(*max))
        }
        InputKind::Integer { min, max } => format!(" {min} to {max}."),
        InputKind::List { max, .. } | InputKind::Values { max } => format!(" At most {max}."),
        InputKind::Nullable(of) => limit(of),
        InputKind::Enum(_) | InputKind::Boolean | InputKind::Object(_) => String::new(),
    }
}

fn outputs(page: &mut String, operation: &Operation) {
    if operation.is_download() {
        page.push_str(
            "## What you get\n\nThe bytes of the file. Its name is in `Content-Disposition`.\n\n",
        );
        return;
    }
    let schema = answer_schema(operation);
    let list = if schema["type"] == "array" { " of each item" } else { "" };
    let _ =
        write!(page, "## Fields you get{list}\n\n| Field | Type | What it is |\n|---|---|---|\n");
    for FieldWords { name, kind, about } in fields(&schema) {
        let _ = writeln!(page, "| `{name}` | {} | {} |", cell(&kind), cell(&about));
    }
    if operation.fields.iter().any(|field| field.name == "cursor") {
        page.push_str(
            "\nWhen there may be more, the header `Link` with `rel=\"next\"` has the next page.\n",
        );
    }
    page.push('\n');
}

fn errors(page: &mut String, operation: &Operation) {
    let has_field = |name: &str| operation.fields.iter().any(|field| field.name == name);
    let is_post = operation.method == Method::Post;
    let rows = [
        (
            !operation.fields.is_empty() || is_post,
            "400",
            "A field is missing or not allowed. All problems at once, each beginning with its field.",
        ),
        (true, "401", "No key, or it is wrong or revoked."),
        (true, "403", "The key lacks the scope, which the sentence names, or the plan has no API."),
        (
            operation.has_id() || has_field("conversationId"),
            "404",
            "There is none, or it is not yours to see. Both answer the same.",
        ),
        (
            has_field("onlyIfNoDraft") || operation.name == "update_draft",
            "409",
            "A draft that is there stands in the way; the sentence says which.",
        ),
        (
            operation.takes_idempotency_key(),
            "422",
            "The `Idempotency-Key` came before with another request.",
        ),
        (true, "429", "Too many requests. `Retry-After` says how many seconds to wait."),
        (
            true,
            "500",
            "Our fault. Wait a little; before you repeat what creates something, look whether it is there.",
        ),
    ];
    page.push_str("## Errors\n\nEvery error is `{\"error\": \"a sentence\"}`. Decide by the number, show the \
                   sentence. [All sentences](/developers/errors)\n\n| Status | What it means |\n|---|---|\n");
    for (_, status, about) in rows.iter().filter(|(applies, _, _)| *applies) {
        let _ = writeln!(page, "| {status} | {about} |");
    }
    page.push('\n');
}

fn examples(page: &mut String, operation: &'static Operation) {
    let example = PreparedExample::of(operation);
    let _ = write!(
        page,
        "## Examples\n\n{TERMINAL}\nIt works as it stands with a test key: what it needs is made first.\n\n\
         ```sh curl\n{}\n```\n```ts TypeScript\n{}\n```\n```python Python\n{}\n```\n",
        example.curl(),
        example.typescript(),
        example.python()
    );
    if !operation.is_download() {
        let answer: Value = serde_json::from_str(operation.example_output).unwrap_or_default();
        let answer = serde_json::to_string_pretty(&answer).unwrap_or_default();
        let _ = write!(page, "```json Answer, {}\n{answer}\n```\n", operation.success);
    }
    if let Some(tool) = &operation.tool {
        let _ = write!(page, "```json As the MCP tool {}\n{}\n```\n", tool.name, tool_call(tool));
    }
    let _ = write!(page, "\n[Run it in the sandbox](/developers/console?op={})\n", operation.name);
}

fn tool_call(tool: &Tool) -> String {
    let call = json!({ "name": tool.name, "arguments": object(tool.example) });
    serde_json::to_string_pretty(&call).unwrap_or_default()
}

/// The page of a tool: what a model is told, and the operation behind it.
pub fn tool_page(operation: &Operation, tool: &Tool) -> String {
    let mut page = format!("# {}\n\n{}\n\n", tool.name, tool.help);
    let _ = write!(
        page,
        "| About | |\n|---|---|\n| Scope | {} |\n| Operation | [`{} {}`](/developers/reference/{}) |\n\
         | Reads only | {} |\n| Reaches customers | {} |\n\n",
        scope(operation),
        operation.method.name(),
        operation.path,
        operation.name,
        yes(operation.only_reads()),
        yes(operation.reaches_customers()),
    );
    if operation.has_id() || !operation.fields.is_empty() {
        page.push_str("## Arguments\n\n| Argument | Type | What it is |\n|---|---|---|\n");
        if operation.has_id() {
            let _ = writeln!(page, "| `id` | string, required | {} |", id_words(operation));
        }
        operation.fields.iter().for_each(|field| input(&mut page, field, ""));
        page.push('\n');
    }
    page.push_str("## Results\n\n");
    match tool.list {
        Some(list) => {
            let _ = write!(
                page,
                "The first text is the list as REST answers it; the structured result has it as `{list}`.\n\n"
            );
        }
        None => page.push_str(
            "The first text is what REST answers; the structured result is the same object.\n\n",
        ),
    }
    let answer = object(operation.example_output);
    let answer = if answer.is_empty() {
        let list: Value = serde_json::from_str(operation.example_output).unwrap_or_default();
        Map::from_iter([(tool.list.unwrap_or("result").to_owned(), list)])
    } else {
        answer
    };
    let answer = serde_json::to_string_pretty(&Value::Object(answer)).unwrap_or_default();
    let _ = write!(
        page,
        "## Examples\n\n```json Call\n{}\n```\n```json Structured result\n{answer}\n```\n",
        tool_call(tool)
    );
    page
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "Yes" } else { "No" }
}

/// All tools, with what each does in its first sentence.
pub fn tools_page() -> String {
    let mut page = String::from(
        "# All tools\n\nEach tool is an operation of the API with the same fields, limits and errors. A client \
         sees the tools that its scopes allow.\n\n## By scope\n\n| Tool | Scope | What it does |\n|---|---|---|\n",
    );
    for operation in OPERATIONS {
        let Some(tool) = &operation.tool else { continue };
        let first = tool.about.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let _ = writeln!(
            page,
            "| [`{0}`](/developers/tools/{0}) | {1} | {2}. |",
            tool.name,
            scope(operation),
            cell(first)
        );
    }
    page.push_str("\n[Connect a client](/developers/mcp)\n");
    page
}

/// Text that can stand in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
