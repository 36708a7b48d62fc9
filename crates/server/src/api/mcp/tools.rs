//! The operation table as MCP tools. Everything but the choice by scope is the same for every
//! key, so it is made once, when the door opens.

use api::fields::object_schema;
use api::operations::{OPERATIONS, Operation, Tool};
use base::security::scopes::Scopes;
use serde_json::{Map, Value, json};

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

    /// The tools that a key of these scopes can use, as a JSON array.
    pub fn open_to(&self, scopes: &Scopes) -> String {
        let open = self.0.iter().filter(|(operation, _)| operation.scope.is_met_at_all(scopes));
        let tools: Vec<&str> = open.map(|(_, tool)| tool.as_str()).collect();
        format!("[{}]", tools.join(","))
    }
}

/// A tool has no output schema: no model is shown it, and it would be the larger half of the list. The
/// developer site and the OpenAPI document explain every field.
fn describe(operation: &Operation, tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "title": operation.title,
        "description": format!("{}\n\nExample: {}", tool.about, example(tool)),
        "inputSchema": input_schema(operation, tool),
        "annotations": {
            "readOnlyHint": operation.only_reads(),
            "destructiveHint": tool.destructive,
            "idempotentHint": operation.idempotent,
            "openWorldHint": operation.reaches_customers(),
        },
    })
}

/// The example on one line. One that is not JSON fails the tests, not the caller.
fn example(tool: &Tool) -> Value {
    serde_json::from_str(tool.example).unwrap_or_default()
}

/// The REST body or query, and what REST has in the path and in a header.
fn input_schema(operation: &Operation, tool: &Tool) -> Value {
    let mut schema = object_schema(operation.fields);
    for field in schema["properties"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        shorten(field);
    }
    if operation.has_id() {
        put_first(&mut schema["properties"], ID, id_schema(tool));
        let mut required = vec![json!(ID)];
        required.extend(schema["required"].as_array().into_iter().flatten().cloned());
        schema["required"] = json!(required);
    }
    if operation.takes_idempotency_key() {
        schema["properties"][IDEMPOTENCY_KEY] =
            json!({ "type": "string", "description": "A word of your own; makes a repeat safe." });
    }
    schema
}

/// Characters: a shorter limit is told by a refusal, which names the field.
const TOLD_FROM_CHARS: u64 = 1_000;

/// A model goes by the description, and the server checks the rest: what a pattern or a limit of a name
/// says costs more to read, with every conversation, than a refusal. What happens without a flag or a
/// list need not be said.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for word in ["pattern", "format", "minLength", "minItems"] {
                if !object.get(word).is_some_and(Value::is_object) {
                    object.remove(word);
                }
            }
            if object
                .get("maxLength")
                .and_then(Value::as_u64)
                .is_some_and(|most| most < TOLD_FROM_CHARS)
            {
                object.remove("maxLength");
            }
            if object
                .get("default")
                .is_some_and(|value| *value == json!(false) || *value == json!([]))
            {
                object.remove("default");
            }
            object.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// The kind of id shows in the tool's example.
fn id_schema(tool: &Tool) -> Value {
    let example = example(tool);
    match example[ID].as_str().and_then(|id| id.split_once('_')) {
        Some((prefix, _)) => {
            json!({ "type": "string", "pattern": format!("^{prefix}_[0-9a-z]+$") })
        }
        None => json!({ "type": "string" }),
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
            let example = example(tool);
            let checked = api::fields::check_body(operation.fields, &example);
            assert!(checked.is_ok(), "{}: {checked:?}", tool.name);
            assert_eq!(example.get(ID).is_some(), operation.has_id(), "{}", tool.name);
        }
    }
}
