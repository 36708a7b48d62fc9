//! The Python client.

use std::fmt::Write;

use api::fields::{InputField, field_schema};
use api::operations::{Method, Operation};

use super::client_type::{ClientDefinition, ClientField, ClientType, answers};

/// What every client begins with.
const BEGINNING: &str = include_str!("../../pages/client_beginning.py");

/// The list that is also a feed.
const EVENTS: &str = "list_events";

/// The names that Python keeps for itself.
const KEYWORDS: [&str; 6] = ["from", "in", "is", "not", "class", "import"];

pub fn client() -> String {
    let (answers, definitions) = answers();
    let mut out = BEGINNING.replace("{version}", env!("CARGO_PKG_VERSION"));
    for definition in &definitions {
        define(&mut out, definition);
    }
    out.push_str(CLASS);
    for (operation, answer) in &answers {
        method(&mut out, operation, answer);
    }
    out
}

/// The name of an argument: `replyAll` is `reply_all`, and `from` is `from_`.
pub fn python_name(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    if KEYWORDS.contains(&snake.as_str()) {
        snake.push('_');
    }
    snake
}

const CLASS: &str = "

class Mailroom(_Connection):
    \"\"\"Every operation as a method. What is left out is not sent.\"\"\"
";

fn define(out: &mut String, definition: &ClientDefinition) {
    let name = &definition.name;
    let ClientType::Object(fields) = &definition.kind else {
        let _ = write!(out, "\n\n{name} = {}\n", type_text(&definition.kind));
        return;
    };
    let is_keyword = |field: &ClientField| KEYWORDS.contains(&field.name.as_str());
    if fields.iter().any(is_keyword) {
        let _ = write!(out, "\n\n{name} = TypedDict(\"{name}\", {{\n");
        for field in fields {
            let _ = writeln!(out, "    \"{}\": \"{}\",", field.name, field_type(field));
        }
        out.push_str("})\n");
        return;
    }
    let _ = write!(out, "\n\nclass {name}(TypedDict):\n");
    if !definition.about.is_empty() {
        let _ = writeln!(out, "    \"\"\"{}\"\"\"", definition.about.replace('\\', "\\\\"));
    }
    for field in fields {
        let _ = writeln!(out, "    {}: \"{}\"", field.name, field_type(field));
    }
    if fields.is_empty() {
        out.push_str("    pass\n");
    }
}

fn field_type(field: &ClientField) -> String {
    let kind = match &field.kind {
        ClientType::Named(name) => name.clone(),
        kind => quoted_type(kind),
    };
    if field.required { kind } else { format!("NotRequired[{kind}]") }
}

fn method(out: &mut String, operation: &Operation, answer: &ClientType) {
    let name = operation.name;
    let page_item = page_item(operation, answer);
    let answer = match &page_item {
        Some(item) => format!("Page[{item}]"),
        None if operation.is_download() => "bytes".to_owned(),
        None => type_text(answer),
    };
    let arguments = arguments(operation);
    let _ = write!(out, "\n    def {name}(\n        {arguments},\n    ) -> {answer}:\n");
    let _ = writeln!(out, "        \"\"\"{}\"\"\"", operation.title);
    if page_item.is_some() {
        let _ = writeln!(
            out,
            "        return self._page(\"{}\", {})",
            operation.path,
            sent_fields(operation)
        );
    } else {
        call(out, operation, &answer);
    }
    if let Some(item) = page_item {
        pages(out, operation, &arguments, &item);
    }
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

fn arguments(operation: &Operation) -> String {
    let mut arguments = vec!["self".to_owned()];
    if operation.has_id() {
        arguments.push("id: str".into());
    }
    if !operation.fields.is_empty() || operation.takes_idempotency_key() {
        arguments.push("*".into());
    }
    let (required, optional): (Vec<&InputField>, Vec<&InputField>) =
        operation.fields.iter().partition(|field| field.required);
    arguments.extend(
        required.iter().map(|field| format!("{}: {}", python_name(field.name), input_type(field))),
    );
    arguments.extend(optional.iter().map(|field| {
        format!("{}: {} | Unset = UNSET", python_name(field.name), input_type(field))
    }));
    if operation.takes_idempotency_key() {
        arguments.push("idempotency_key: str | None = None".into());
    }
    arguments.join(",\n        ")
}

/// The fields as they are sent.
fn sent_fields(operation: &Operation) -> String {
    let mut fields = String::from("{\n");
    for field in operation.fields {
        let _ =
            writeln!(fields, "                \"{}\": {},", field.name, python_name(field.name));
    }
    fields + "            }"
}

fn call(out: &mut String, operation: &Operation, answer: &str) {
    let path = operation.path.replace("{id}", "{_part(id)}");
    let f = if operation.has_id() { "f" } else { "" };
    let _ = writeln!(out, "        answer: {answer} = self._call(");
    let _ = writeln!(out, "            \"{}\",", operation.method.name());
    let _ = writeln!(out, "            {f}\"{path}\",");
    let _ = writeln!(out, "            {},", sent_fields(operation));
    if operation.takes_idempotency_key() {
        let _ = writeln!(out, "            idempotency_key=idempotency_key or str(uuid.uuid4()),");
    }
    if operation.is_download() {
        let _ = writeln!(out, "            raw=True,");
    }
    let _ = writeln!(out, "        )\n        return answer");
}

/// A list from its first page to its last; the events also as they happen.
fn pages(out: &mut String, operation: &Operation, arguments: &str, item: &str) {
    let name = operation.name;
    let _ = write!(
        out,
        "\n    def each_of_{name}(\n        {arguments},\n    ) -> Iterator[{item}]:\n        \
         \"\"\"The same from page to page.\"\"\"\n        \
         return self._each(\"{}\", {})\n",
        operation.path,
        sent_fields(operation)
    );
    if name == EVENTS {
        let _ = write!(
            out,
            "\n    def follow_events(\n        self,\n        *,\n        cursor: str | None = None,\n        \
             start: Literal[\"oldest\", \"now\"] = \"now\",\n        \
             wait_seconds: float = FEED_WAIT_SECONDS,\n    ) -> EventFeed[{item}]:\n        \
             \"\"\"Events as they happen; with the cursor of an earlier feed, from where that one stopped.\"\"\"\n        \
             return EventFeed(self._page, cursor, start, wait_seconds)\n"
        );
    }
}

fn input_type(field: &InputField) -> String {
    type_text(&ClientType::of(&field_schema(field)))
}

/// The same inside quotes, where a name may come before its type.
fn quoted_type(kind: &ClientType) -> String {
    type_text(kind).replace('"', "'")
}

fn type_text(kind: &ClientType) -> String {
    match kind {
        ClientType::Text => "str".into(),
        ClientType::Literal(values) => {
            let words: Vec<String> = values
                .iter()
                .map(|value| match value.as_bool() {
                    Some(true) => "True".into(),
                    Some(false) => "False".into(),
                    None if value.is_null() => "None".into(),
                    None => value.to_string(),
                })
                .collect();
            format!("Literal[{}]", words.join(", "))
        }
        ClientType::Integer => "int".into(),
        ClientType::Number => "float".into(),
        ClientType::Boolean => "bool".into(),
        ClientType::Null => "None".into(),
        ClientType::Any => "Any".into(),
        ClientType::List(of) => format!("list[{}]", type_text(of)),
        ClientType::Object(_) => "dict[str, Any]".into(),
        ClientType::Named(name) => format!("\"{name}\""),
        ClientType::Either(all) => {
            let kinds: Vec<String> = all.iter().map(type_text).collect();
            format!("Union[{}]", kinds.join(", "))
        }
    }
}
