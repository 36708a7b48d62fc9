//! JSON Schemas in words: what a field is, and the fields of an answer.

use api::operations::Operation;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Objects inside objects whose fields are listed.
const DEPTH: usize = 2;
/// Words of a choice that are listed.
const WORDS: usize = 12;

/// A field: its name with those around it, its type, and what it is.
pub struct FieldWords {
    pub name: String,
    pub kind: String,
    pub about: String,
}

/// The answer of an operation as a schema without references.
pub fn answer_schema(operation: &Operation) -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    Value::from((operation.output)(&mut settings.into_generator()))
}

/// The fields of an object, or of the objects in a list.
pub fn fields(schema: &Value) -> Vec<FieldWords> {
    let mut found = Vec::new();
    collect(schema, "", DEPTH, &mut found);
    found
}

fn collect(schema: &Value, before: &str, depth: usize, found: &mut Vec<FieldWords>) {
    let schema = inside(schema);
    let none = Map::new();
    let required = schema["required"].as_array();
    for (name, field) in schema["properties"].as_object().unwrap_or(&none) {
        let required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let kind = format!("{}{}", kind(field), if required { "" } else { ", may be absent" });
        let path = format!("{before}{name}");
        let about = field["description"].as_str().unwrap_or_default().to_owned();
        found.push(FieldWords { name: path.clone(), kind, about });
        if depth > 1 {
            collect(field, &format!("{path}."), depth - 1, found);
        }
    }
}

/// The object that a list holds, or that may be null.
fn inside(schema: &Value) -> &Value {
    if schema["items"].is_object() {
        return inside(&schema["items"]);
    }
    let branches = schema["anyOf"].as_array();
    let object = branches.and_then(|all| all.iter().find(|one| one["properties"].is_object()));
    object.unwrap_or(schema)
}

/// What a value is, in a few words.
pub fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let shown: Vec<String> = words.iter().take(WORDS).map(word).collect();
        let more = if words.len() > WORDS { ", …" } else { "" };
        return format!("{}{more}", shown.join(", "));
    }
    if !schema["const"].is_null() {
        return word(&schema["const"]);
    }
    for branches in ["anyOf", "oneOf"] {
        if let Some(all) = schema[branches].as_array() {
            let mut kinds: Vec<String> = all.iter().map(kind).collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(name) => field_words(name, schema),
        Value::Array(names) => {
            let names =
                names.iter().filter_map(Value::as_str).map(|name| field_words(name, schema));
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".into(),
    }
}

fn field_words(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "integer" => "whole number".into(),
        "string" if schema["format"] == "date-time" => "time".into(),
        "string" if schema["format"] == "date" => "date".into(),
        other => other.to_owned(),
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"))
}
