//! The operation table as MCP tools. Everything but the choice by scope is the same for every
//! key, so it is made once, when the door opens.

use std::borrow::Cow;

use api::fields::object_schema;
use api::operations::{OPERATIONS, Operation, Tool};
use base::security::scopes::Scopes;
use serde_json::{Value, json};

use super::draft_app;

/// The argument for what stands in the path of a REST request.
pub const ID: &str = "id";
/// The argument for what stands in the header of a REST request.
pub const IDEMPOTENCY_KEY: &str = "idempotencyKey";

/// Every tool as JSON, in the order of the table.
pub(crate) struct ToolSet(Vec<(&'static Operation, String)>);

impl ToolSet {
    pub fn new() -> ToolSet {
        let described = |operation: &'static Operation| {
            let tool = operation.tool.as_ref()?;
            Some((operation, describe(operation, tool).to_string()))
        };
        ToolSet(OPERATIONS.iter().filter_map(described).collect())
    }

    /// The tools that a key of these scopes can use, as a JSON array; with their pages for a client that shows
    /// such.
    pub fn open_to(&self, scopes: &Scopes, with_pages: bool) -> String {
        let open = self.0.iter().filter(|(operation, _)| operation.scope.is_met_at_all(scopes));
        let meta = draft_app::tool_meta();
        let tools: Vec<Cow<'_, str>> = open
            .map(|(operation, tool)| {
                let name = operation.tool.as_ref().map_or("", |tool| tool.name);
                match (with_pages && draft_app::TOOLS.contains(&name), tool.strip_suffix('}')) {
                    (true, Some(members)) => Cow::Owned(format!("{members},\"_meta\":{meta}}}")),
                    _ => Cow::Borrowed(tool.as_str()),
                }
            })
            .collect();
        format!("[{}]", tools.join(","))
    }
}

/// A model reads this with every conversation, so it is as short as it can be: the tool `help` has the
/// rest. It has no output schema, which no model is shown, and no title, which the name says.
fn describe(operation: &Operation, tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.about,
        "inputSchema": input_schema(operation, tool),
        "annotations": annotations(operation, tool),
    })
}

/// Only what is not what clients assume: that a tool writes, may destroy and reaches an open world, and
/// that repeating it does more.
fn annotations(operation: &Operation, tool: &Tool) -> Value {
    if operation.only_reads() {
        return json!({ "readOnlyHint": true });
    }
    let mut hints = json!({ "destructiveHint": tool.destructive });
    if operation.idempotent {
        hints["idempotentHint"] = json!(true);
    }
    if !operation.reaches_customers() {
        hints["openWorldHint"] = json!(false);
    }
    hints
}

/// The REST body or query, and what REST has in the path and in a header: names and types. What is meant by
/// a name that does not say it is a hint of the tool.
fn input_schema(operation: &Operation, tool: &Tool) -> Value {
    let mut schema = object_schema(operation.fields);
    shorten(&mut schema);
    for (name, hint) in tool.hints {
        schema["properties"][*name]["description"] = json!(hint);
    }
    if operation.has_id() {
        put_first(&mut schema["properties"], ID, json!({ "type": "string" }));
        let mut required = vec![json!(ID)];
        required.extend(schema["required"].as_array().into_iter().flatten().cloned());
        schema["required"] = json!(required);
    }
    if operation.takes_idempotency_key() {
        schema["properties"][IDEMPOTENCY_KEY] = json!({ "type": "string" });
    }
    schema
}

/// Words of a schema that a refusal says as well, when it matters.
const LEFT_TO_REFUSALS: [&str; 10] = [
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "default",
    "description",
];

fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for word in LEFT_TO_REFUSALS {
                // A property may have such a name.
                if !object.get(word).is_some_and(Value::is_object) {
                    object.remove(word);
                }
            }
            object.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn put_first(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(object) = object {
        object.shift_insert(0, name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_fits_its_tool() {
        for operation in OPERATIONS {
            let Some(tool) = &operation.tool else { continue };
            let example: Value = serde_json::from_str(tool.example).expect("JSON");
            let checked = api::fields::check_body(operation.fields, &example);
            assert!(checked.is_ok(), "{}: {checked:?}", tool.name);
            assert_eq!(example.get(ID).is_some(), operation.has_id(), "{}", tool.name);
        }
    }

    #[test]
    fn every_hint_is_about_an_argument() {
        for operation in OPERATIONS {
            for (name, _) in operation.tool.iter().flat_map(|tool| tool.hints) {
                let is_field = operation.fields.iter().any(|field| field.name == *name);
                assert!(is_field, "{} {name}", operation.name);
            }
        }
    }
}
