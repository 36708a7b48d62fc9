//! What a tool gives, for programs that hold results against it: the schema of the REST body, as the object in which
//! structured content has it.

use api::operations::{Operation, Tool};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schema of a tool's structured content where it is the whole body. What stands beside the body, such as a
/// warning, is not required, and new fields may appear at any time.
pub fn output_schema(operation: &Operation, tool: &Tool) -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.meta_schema = None;
    let mut schemas = settings.into_generator();
    let body = json!((operation.output)(&mut schemas));
    let mut schema = json!({
        "type": "object",
        "properties": { "warning": { "type": "string" }, "ignored": { "type": "string" } },
    });
    match tool.list {
        None => schema["allOf"] = json!([body]),
        Some(list) => {
            schema["properties"][list] = body;
            schema["properties"]["nextCursor"] = json!({ "type": "string" });
            for count in ["count", "countAtLeast"] {
                schema["properties"][count] = json!({ "type": "integer" });
            }
            schema["required"] = json!([list]);
        }
    }
    let definitions = schemas.take_definitions(true);
    if !definitions.is_empty() {
        schema["$defs"] = json!(definitions);
    }
    schema
}
