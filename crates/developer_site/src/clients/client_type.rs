//! The types of inputs and answers, as a client in any language has them.

use api::operations::{OPERATIONS, Operation};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// A type, made from its JSON Schema.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientType {
    Text,
    /// One of a few values.
    Literal(Vec<Value>),
    Integer,
    Number,
    Boolean,
    Null,
    Any,
    List(Box<ClientType>),
    Object(Vec<ClientField>),
    Named(String),
    Either(Vec<ClientType>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClientField {
    pub name: String,
    pub kind: ClientType,
    pub required: bool,
    pub about: String,
}

/// A type with a name of its own.
pub struct ClientDefinition {
    pub name: String,
    pub about: String,
    pub kind: ClientType,
}

/// The answer of each operation, in the order of the table, and the types that they name.
pub fn answers() -> (Vec<(&'static Operation, ClientType)>, Vec<ClientDefinition>) {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.meta_schema = None;
    let mut schemas = settings.into_generator();
    let answers = OPERATIONS.iter().map(|operation| {
        let schema = Value::from((operation.output)(&mut schemas));
        (operation, ClientType::of(&schema))
    });
    let answers = answers.collect();
    let definitions = schemas.take_definitions(true).into_iter();
    let define = |(name, schema): (String, Value)| ClientDefinition {
        about: about(&schema),
        kind: ClientType::of(&schema),
        name,
    };
    (answers, definitions.map(define).collect())
}

impl ClientType {
    pub fn of(schema: &Value) -> ClientType {
        if let Some(name) = schema["$ref"].as_str() {
            return ClientType::Named(name.rsplit('/').next().unwrap_or_default().to_owned());
        }
        if let Some(values) = schema["enum"].as_array() {
            return ClientType::Literal(values.clone());
        }
        if !schema["const"].is_null() {
            return ClientType::Literal(vec![schema["const"].clone()]);
        }
        for branches in ["anyOf", "oneOf"] {
            if let Some(all) = schema[branches].as_array() {
                return ClientType::Either(all.iter().map(ClientType::of).collect());
            }
        }
        match &schema["type"] {
            Value::String(name) => ClientType::of_name(name, schema),
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str);
                ClientType::Either(names.map(|name| ClientType::of_name(name, schema)).collect())
            }
            _ => ClientType::Any,
        }
    }

    fn of_name(name: &str, schema: &Value) -> ClientType {
        match name {
            "string" => ClientType::Text,
            "integer" => ClientType::Integer,
            "number" => ClientType::Number,
            "boolean" => ClientType::Boolean,
            "null" => ClientType::Null,
            "array" => ClientType::List(Box::new(ClientType::of(&schema["items"]))),
            "object" => match schema["properties"].as_object() {
                Some(properties) => ClientType::Object(fields(properties, schema)),
                None => ClientType::Any,
            },
            _ => ClientType::Any,
        }
    }
}

fn fields(properties: &Map<String, Value>, schema: &Value) -> Vec<ClientField> {
    let required = schema["required"].as_array();
    let field = |(name, schema): (&String, &Value)| ClientField {
        name: name.clone(),
        kind: ClientType::of(schema),
        required: required.is_some_and(|names| names.iter().any(|one| one == name)),
        about: about(schema),
    };
    properties.iter().map(field).collect()
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}
