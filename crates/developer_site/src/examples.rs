//! The examples of an operation: the same request with curl and with the typed clients. The tests
//! run them all.

use api::operations::{Method, Operation};
use serde_json::{Map, Value};

use super::clients::{camel_case, python_name};

/// A request for an operation.
pub struct ExampleRequest {
    /// The id in the path, if there is one.
    pub id: Option<String>,
    /// The query of a GET, the body of a POST.
    pub input: Map<String, Value>,
}

impl ExampleRequest {
    pub fn of(operation: &Operation) -> ExampleRequest {
        let tool = operation.tool.as_ref().map_or("{}", |tool| tool.example);
        let mut tool = object(tool);
        let id = operation.has_id().then(|| match tool.remove("id") {
            Some(Value::String(id)) => id,
            _ if operation.path.starts_with("/webhooks") => {
                "whk_01kag15c7e9g1j3m5n7q9s1v3w".to_owned()
            }
            _ if operation.path.starts_with("/contacts") => "bruno@keller.example".to_owned(),
            _ if operation.path.starts_with("/agents") => {
                "agt_01kag0y5c0e2r8t4vq3w6n9m1z".to_owned()
            }
            _ if operation.path.starts_with("/links") => {
                "lnk_01kag10a1b2c3d4e5f6g7h8j9k".to_owned()
            }
            _ => "doc_01kag13z9x8c7v6b5n4m3k2j1h".to_owned(),
        });
        let input = match operation.method {
            Method::Get => tool,
            Method::Delete => Map::new(),
            Method::Post => object(operation.example_input),
        };
        ExampleRequest { id, input }
    }

    /// The path with its id and query.
    pub fn path(&self, operation: &Operation) -> String {
        let path = operation.path.replace("{id}", self.id.as_deref().unwrap_or_default());
        if operation.method != Method::Get || self.input.is_empty() {
            return path;
        }
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.input {
            query.append_pair(
                name,
                &value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            );
        }
        format!("{path}?{}", query.finish())
    }

    pub fn curl(&self, operation: &Operation) -> String {
        let path = self.path(operation);
        let method = if operation.method == Method::Delete { "-X DELETE " } else { "" };
        let mut lines = vec![
            format!("curl {method}\"$MAILROOM{path}\""),
            "  -H \"Authorization: Bearer $MAILROOM_KEY\"".to_owned(),
        ];
        if operation.method == Method::Post {
            lines.push("  -H \"Content-Type: application/json\"".to_owned());
            lines.push(format!("  -d '{}'", shell_json(&self.input)));
        }
        if operation.is_download() {
            lines.push("  -o document".to_owned());
        }
        lines.join(" \\\n")
    }

    pub fn python_call(&self, operation: &Operation) -> String {
        let id = self.id.iter().map(|id| format!("\"{id}\""));
        let fields = self
            .input
            .iter()
            .map(|(name, value)| format!("{}={}", python_name(name), python_value(value)));
        let arguments: Vec<String> = id.chain(fields).collect();
        call(&format!("mailroom.{}", operation.name), &arguments)
    }

    pub fn typescript_call(&self, operation: &Operation) -> String {
        let id = self.id.iter().map(|id| format!("\"{id}\""));
        let fields = (!self.input.is_empty()).then(|| {
            serde_json::to_string_pretty(&Value::Object(self.input.clone())).unwrap_or_default()
        });
        let arguments: Vec<String> = id.chain(fields).collect();
        format!("await mailroom.{}({})", camel_case(operation.name), arguments.join(", "))
    }
}

/// An example of the table, which is JSON.
pub fn object(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// JSON between single quotes of a shell.
pub fn shell_json(input: &Map<String, Value>) -> String {
    let text = serde_json::to_string_pretty(&Value::Object(input.clone())).unwrap_or_default();
    text.replace('\'', "\\u0027").replace('\n', "\n  ")
}

/// A call whose arguments stand on lines of their own if they are many.
fn call(name: &str, arguments: &[String]) -> String {
    let short = format!("{name}({})", arguments.join(", "));
    if short.chars().count() <= 76 && !short.contains('\n') {
        short
    } else {
        format!("{name}(\n    {},\n)", arguments.join(",\n    "))
    }
}

fn python_value(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(python_value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) => {
            let pairs = object.iter().map(|(name, value)| {
                format!("{}: {}", Value::from(name.as_str()), python_value(value))
            });
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
