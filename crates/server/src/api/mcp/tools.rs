//! The operation table as MCP tools. Everything but the choice by scope is the same for every
//! key, so it is made once, when the door opens.

use api::fields::object_schema;
use api::operations::{OPERATIONS, Operation, Tool};
use base::security::scopes::Scopes;
use serde_json::{Value, json};

use super::draft_app;
use super::output_schema::output_schema;

/// The argument for what stands in the path of a REST request.
pub const ID: &str = "id";
/// The argument for what stands in the header of a REST request.
pub const IDEMPOTENCY_KEY: &str = "idempotencyKey";

/// Every tool, in the order of the table.
pub(crate) struct ToolSet(Vec<ListedTool>);

struct ListedTool {
    operation: &'static Operation,
    name: &'static str,
    /// As a client reads it that asks for nothing more.
    json: String,
    output_schema: String,
}

/// What a client is told of a tool beside what every client is.
#[derive(Clone, Copy)]
pub(crate) struct ToolExtras {
    /// The page that shows what a tool made, for clients that show such.
    pub pages: bool,
    /// What a tool gives, for programs that read structured content as a whole.
    pub output_schemas: bool,
}

impl ToolSet {
    pub fn new() -> ToolSet {
        let listed = |operation: &'static Operation| {
            let tool = operation.tool.as_ref()?;
            Some(ListedTool {
                operation,
                name: tool.name,
                json: describe(operation, tool).to_string(),
                output_schema: output_schema(operation, tool).to_string(),
            })
        };
        ToolSet(OPERATIONS.iter().filter_map(listed).collect())
    }

    /// The tools that a key of these scopes can use, as a JSON array.
    pub fn open_to(&self, scopes: &Scopes, extras: ToolExtras) -> String {
        let open = self.0.iter().filter(|tool| tool.operation.scope.is_met_at_all(scopes));
        let tools: Vec<String> = open.map(|tool| tool.with(extras)).collect();
        format!("[{}]", tools.join(","))
    }
}

impl ListedTool {
    fn with(&self, extras: ToolExtras) -> String {
        let mut json = self.json.clone();
        let mut add = |member: &str, value: &str| {
            json.truncate(json.len() - "}".len());
            json.push_str(&format!(",\"{member}\":{value}}}"));
        };
        if extras.output_schemas {
            add("outputSchema", &self.output_schema);
        }
        if extras.pages && draft_app::TOOLS.contains(&self.name) {
            add("_meta", &draft_app::tool_meta().to_string());
        }
        json
    }
}

/// A model reads this with every conversation, so it is as short as it can be: the tool `help` has the
/// rest. It has no title, which the name says, and no output schema, which no model is shown: programs ask for that.
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
