//! The TypeScript client.

use std::fmt::Write;

use api::fields::{InputField, field_schema};
use api::operations::{Method, Operation};

use super::client_type::{ClientDefinition, ClientField, ClientType, answers};

/// What every client begins with.
const BEGINNING: &str = include_str!("../../pages/client_beginning.ts");

/// The list that is also a feed.
const EVENTS: &str = "list_events";

pub fn client() -> String {
    let (answers, definitions) = answers();
    let mut out = BEGINNING.replace("{version}", env!("CARGO_PKG_VERSION"));
    for definition in &definitions {
        define(&mut out, definition);
    }
    out.push_str("\n/** Every operation as a method. What is left out is not sent. */\n");
    out.push_str("export class Mailroom extends Connection {\n");
    for (operation, answer) in &answers {
        method(&mut out, operation, answer);
    }
    out.push_str("}\n");
    out
}

/// `list_conversations` is `listConversations`.
pub fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    let mut parts = name.split('_');
    camel.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

fn define(out: &mut String, definition: &ClientDefinition) {
    out.push('\n');
    if !definition.about.is_empty() {
        let _ = writeln!(out, "/** {} */", definition.about);
    }
    let name = &definition.name;
    match &definition.kind {
        ClientType::Object(fields) => {
            let _ = writeln!(out, "export interface {name} {{");
            for field in fields {
                if !field.about.is_empty() {
                    let _ = writeln!(out, "  /** {} */", field.about);
                }
                let _ = writeln!(out, "  {};", member(field));
            }
            out.push_str("}\n");
        }
        other => {
            let _ = writeln!(out, "export type {name} = {};", type_text(other));
        }
    }
}

fn member(field: &ClientField) -> String {
    let optional = if field.required { "" } else { "?" };
    format!("{}{optional}: {}", field.name, type_text(&field.kind))
}

fn method(out: &mut String, operation: &Operation, answer: &ClientType) {
    let name = camel_case(operation.name);
    let path = operation.path.replace("{id}", "${encodeURIComponent(id)}");
    if let Some(item) = page_item(operation, answer) {
        return pages(out, operation, &name, &item);
    }
    let answer = if operation.is_download() { "Uint8Array".to_owned() } else { type_text(answer) };
    let mut arguments = Vec::new();
    if operation.has_id() {
        arguments.push("id: string".to_owned());
    }
    let has_input = !operation.fields.is_empty();
    if has_input {
        let needs_input = operation.fields.iter().any(|field| field.required);
        let default = if needs_input { "" } else { " = {}" };
        arguments.push(format!("input: {}{default}", input_type(operation.fields)));
    }
    if operation.takes_idempotency_key() {
        arguments.push("options: { idempotencyKey?: string } = {}".to_owned());
    }
    let input = if has_input { "input" } else { "{}" };
    let options = match (operation.takes_idempotency_key(), operation.is_download()) {
        (true, _) => ", { idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() }",
        (false, true) => ", { raw: true }",
        (false, false) => "",
    };
    let _ = write!(
        out,
        "  /** {} */\n  {name}({}): Promise<{answer}> {{\n    \
         return this.call(\"{}\", `{path}`, {input}{options});\n  }}\n\n",
        operation.title,
        arguments.join(", "),
        operation.method.name(),
    );
}

/// The type of the items of a list that comes in pages.
fn page_item(operation: &Operation, answer: &ClientType) -> Option<String> {
    let has_cursor = operation.fields.iter().any(|field| field.name == "cursor");
    match answer {
        ClientType::List(item) if operation.method == Method::Get && has_cursor => {
            Some(type_text(item))
        }
        _ => None,
    }
}

/// A list page by page, and from its first to its last; the events also as they happen.
fn pages(out: &mut String, operation: &Operation, name: &str, item: &str) {
    let (title, path, input) = (operation.title, operation.path, input_type(operation.fields));
    let _ = write!(
        out,
        "  /** {title} */\n  {name}(input: {input} = {{}}): Promise<Page<{item}>> {{\n    \
         return this.page(`{path}`, input);\n  }}\n\n  \
         /** The same from page to page. */\n  eachOf{}(input: {input} = {{}}): AsyncGenerator<{item}> {{\n    \
         return this.each(`{path}`, input);\n  }}\n\n",
        capital(name),
    );
    if operation.name == EVENTS {
        let _ = write!(
            out,
            "  /** Events as they happen; with the cursor of an earlier feed, from where that one stopped. */\n  \
             followEvents(options: FeedOptions = {{}}): EventFeed<{item}> {{\n    \
             return new EventFeed((input) => this.page(`{path}`, input), options);\n  }}\n\n"
        );
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn input_type(fields: &[InputField]) -> String {
    let fields = fields.iter().map(|field| ClientField {
        name: field.name.to_owned(),
        kind: ClientType::of(&field_schema(field)),
        required: field.required,
        about: String::new(),
    });
    let members: Vec<String> = fields.map(|field| member(&field)).collect();
    format!("{{ {} }}", members.join("; "))
}

fn type_text(kind: &ClientType) -> String {
    match kind {
        ClientType::Text => "string".into(),
        ClientType::Literal(values) => {
            values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
        }
        ClientType::Integer | ClientType::Number => "number".into(),
        ClientType::Boolean => "boolean".into(),
        ClientType::Null => "null".into(),
        ClientType::Any => "unknown".into(),
        ClientType::List(of) => match type_text(of) {
            item if item.contains(' ') => format!("({item})[]"),
            item => format!("{item}[]"),
        },
        ClientType::Object(fields) => {
            let members: Vec<String> = fields.iter().map(member).collect();
            format!("{{ {} }}", members.join("; "))
        }
        ClientType::Named(name) => name.clone(),
        ClientType::Either(all) => all.iter().map(type_text).collect::<Vec<_>>().join(" | "),
    }
}
