//! What an operation takes in, as data: the source of the checks, of `openapi.json` and of the
//! tool schemas alike.

use base::error::{ValidationError, ValidationErrors};
use base::limits::{ADDRESS_CHARS, LIST_ITEMS, thousands};
use serde_json::{Map, Value, json};

use crate::string_format::{DATE_CHARS, StringFormat};

/// One named input.
pub struct InputField {
    pub name: &'static str,
    pub kind: InputKind,
    pub required: bool,
    /// What is assumed when it is missing, where there is something to say.
    pub default: Option<fn() -> Value>,
    pub about: &'static str,
}

pub enum InputKind {
    /// Lengths are in Unicode scalar values.
    Text {
        min: usize,
        max: usize,
        format: StringFormat,
    },
    Enum(&'static [&'static str]),
    Integer {
        min: i64,
        max: i64,
    },
    Boolean,
    List {
        min: usize,
        max: usize,
        of: &'static InputKind,
    },
    Object(&'static [InputField]),
    /// An object of any names, so many at the most.
    Values {
        max: usize,
    },
    /// The same, or null.
    Nullable(&'static InputKind),
}

impl InputField {
    pub const fn required(name: &'static str, kind: InputKind, about: &'static str) -> InputField {
        InputField { name, kind, required: true, default: None, about }
    }

    pub const fn optional(name: &'static str, kind: InputKind, about: &'static str) -> InputField {
        InputField { name, kind, required: false, default: None, about }
    }

    /// A field of several inputs, which give it its name.
    pub const fn shared(kind: InputKind, about: &'static str) -> InputField {
        InputField::optional("", kind, about)
    }

    pub const fn with_name(mut self, name: &'static str) -> InputField {
        self.name = name;
        self
    }

    pub const fn or(mut self, default: fn() -> Value) -> InputField {
        self.default = Some(default);
        self
    }
}

/// Validates a JSON body; returns the known fields, or all errors at once.
pub fn check_body(
    fields: &[InputField],
    body: &Value,
) -> Result<Map<String, Value>, ValidationErrors> {
    let Value::Object(body) = body else {
        return Err(one_problem("body", "must be a JSON object"));
    };
    check(fields, |name| {
        let value = body.get(name)?;
        let field = fields.iter().find(|field| field.name == name)?;
        Some(Ok(match field.kind {
            InputKind::Integer { .. } => whole(value),
            _ => value.clone(),
        }))
    })
}

/// JSON has one kind of number: `5.0` is a whole one.
fn whole(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < MOST_WHOLE => {
            json!(number as i64)
        }
        _ => value.clone(),
    }
}

/// Below this every whole number is exact.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Checks query parameters, whose values arrive as text.
pub fn check_query(
    fields: &[InputField],
    pairs: &[(String, String)],
) -> Result<Map<String, Value>, ValidationErrors> {
    check(fields, |name| {
        let mut values = pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
        let value = values.next()?;
        if values.next().is_some() {
            return Some(Err("must be given only once"));
        }
        let field = fields.iter().find(|field| field.name == name)?;
        Some(Ok(match field.kind {
            InputKind::Integer { .. } => {
                canonical_whole(value).map_or_else(|| json!(value), Value::from)
            }
            InputKind::Boolean => value.parse::<bool>().map_or_else(|_| json!(value), Value::from),
            _ => json!(value),
        }))
    })
}

/// `5` is a number; `+5`, `05` and ` 5` are not.
fn canonical_whole(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}

pub fn one_problem(field: &str, sentence: &str) -> ValidationErrors {
    ValidationErrors(vec![ValidationError { field: field.into(), sentence: sentence.into() }])
}

fn check(
    fields: &[InputField],
    given: impl Fn(&str) -> Option<Result<Value, &'static str>>,
) -> Result<Map<String, Value>, ValidationErrors> {
    let mut found = Map::new();
    let mut problems = ValidationErrors::default();
    for field in fields {
        match given(field.name) {
            Some(Ok(value)) => {
                check_value(&field.kind, field.name, &value, &mut problems);
                found.insert(field.name.into(), keep_known(&field.kind, value));
            }
            Some(Err(sentence)) => problems.add(field.name, sentence),
            None if field.required => problems.add(field.name, "is required"),
            None => {}
        }
    }
    if problems.0.is_empty() { Ok(found) } else { Err(problems) }
}

fn check_value(kind: &InputKind, path: &str, value: &Value, problems: &mut ValidationErrors) {
    match (kind, value) {
        (InputKind::Text { min, max, format }, Value::String(text)) => {
            let chars = text.chars().count();
            if chars < *min || chars > *max {
                problems.add(path, length_sentence(*min, *max));
            } else if let Some(sentence) = format.objection(text) {
                problems.add(path, sentence);
            }
        }
        (InputKind::Text { .. }, _) => problems.add(path, "must be a string"),
        (InputKind::Enum(words), value) => {
            if !value.as_str().is_some_and(|text| words.contains(&text)) {
                problems.add(path, format!("must be one of {}", words.join(", ")));
            }
        }
        (InputKind::Integer { min, max }, value) => {
            if !value.as_i64().is_some_and(|number| (*min..=*max).contains(&number)) {
                problems.add(path, format!("must be a whole number from {min} to {max}"));
            }
        }
        (InputKind::Boolean, Value::Bool(_)) => {}
        (InputKind::Boolean, _) => problems.add(path, "must be true or false"),
        (InputKind::List { min, max, of }, Value::Array(items)) => {
            if items.len() < *min || items.len() > *max {
                problems.add(path, items_sentence(*min, *max));
            }
            for (index, item) in items.iter().enumerate().take(*max) {
                check_value(of, &format!("{path}[{index}]"), item, problems);
            }
        }
        (InputKind::List { .. }, _) => problems.add(path, "must be a list"),
        (InputKind::Object(fields), Value::Object(object)) => {
            for field in *fields {
                let path = format!("{path}.{}", field.name);
                match object.get(field.name) {
                    Some(value) => check_value(&field.kind, &path, value, problems),
                    None if field.required => problems.add(&path, "is required"),
                    None => {}
                }
            }
        }
        (InputKind::Values { max }, Value::Object(object)) => {
            if object.is_empty() || object.len() > *max {
                problems.add(path, format!("must have 1 to {max} values"));
            }
        }
        (InputKind::Object(_) | InputKind::Values { .. }, _) => {
            problems.add(path, "must be an object");
        }
        (InputKind::Nullable(_), Value::Null) => {}
        (InputKind::Nullable(of), value) => check_value(of, path, value, problems),
    }
}

/// A value without unknown fields, the others in the table's order.
fn keep_known(kind: &InputKind, value: Value) -> Value {
    match (kind, value) {
        (InputKind::List { of, .. }, Value::Array(items)) => {
            items.into_iter().map(|item| keep_known(of, item)).collect()
        }
        (InputKind::Object(fields), Value::Object(mut object)) => {
            let kept = fields.iter().filter_map(|field| {
                let value = object.remove(field.name)?;
                Some((field.name.to_owned(), keep_known(&field.kind, value)))
            });
            Value::Object(kept.collect())
        }
        (InputKind::Nullable(_), Value::Null) => Value::Null,
        (InputKind::Nullable(of), value) => keep_known(of, value),
        (_, value) => value,
    }
}

fn length_sentence(min: usize, max: usize) -> String {
    match min {
        0 => format!("must be at most {} characters", thousands(max)),
        min => format!("must be {min} to {} characters", thousands(max)),
    }
}

fn items_sentence(min: usize, max: usize) -> String {
    match min {
        0 => format!("must be at most {max} items"),
        min => format!("must be {min} to {max} items"),
    }
}

/// The fields as the JSON Schema of an object.
pub fn object_schema(fields: &[InputField]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), field_schema(field))).collect();
    let required: Vec<&str> = fields.iter().filter(|f| f.required).map(|f| f.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

pub fn field_schema(field: &InputField) -> Value {
    let mut schema = kind_schema(&field.kind);
    schema["description"] = json!(field.about);
    if let Some(default) = field.default {
        schema["default"] = default();
    }
    schema
}

fn kind_schema(kind: &InputKind) -> Value {
    match kind {
        InputKind::Text { min, max, format } => {
            let mut schema = json!({ "type": "string", "maxLength": max });
            if *min > 0 {
                schema["minLength"] = json!(min);
            }
            if let Some(pattern) = format.pattern() {
                schema["pattern"] = json!(pattern);
            }
            if *format == StringFormat::Date {
                schema["format"] = json!("date");
            }
            schema
        }
        InputKind::Enum(words) => json!({ "type": "string", "enum": words }),
        InputKind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        InputKind::Boolean => json!({ "type": "boolean" }),
        InputKind::List { min, max, of } => {
            let mut schema = json!({ "type": "array", "items": kind_schema(of), "maxItems": max });
            if *min > 0 {
                schema["minItems"] = json!(min);
            }
            schema
        }
        InputKind::Object(fields) => object_schema(fields),
        InputKind::Values { .. } => json!({ "type": "object", "additionalProperties": true }),
        InputKind::Nullable(of) => {
            // Not every client understands a list of types.
            json!({ "anyOf": [kind_schema(of), { "type": "null" }] })
        }
    }
}

/// Characters of a cursor at the most.
const CURSOR_CHARS: usize = 80;

/// Characters of a time with all its digits.
const TIME_CHARS: usize = 40;

/// Text of any content up to a length.
pub const fn text(max: usize) -> InputKind {
    InputKind::Text { min: 0, max, format: StringFormat::Plain }
}

/// Text that says something.
pub const fn filled_text(max: usize) -> InputKind {
    InputKind::Text { min: 1, max, format: StringFormat::Filled }
}

/// Text in a format that also bounds what it holds.
pub const fn text_in_format(min: usize, max: usize, format: StringFormat) -> InputKind {
    InputKind::Text { min, max, format }
}

pub const fn one_of(words: &'static [&'static str]) -> InputKind {
    InputKind::Enum(words)
}

pub const fn integer(min: i64, max: i64) -> InputKind {
    InputKind::Integer { min, max }
}

pub const fn list(min: usize, max: usize, of: &'static InputKind) -> InputKind {
    InputKind::List { min, max, of }
}

pub const BOOLEAN: InputKind = InputKind::Boolean;

/// Where an earlier answer ended.
pub const CURSOR: InputKind = text_in_format(1, CURSOR_CHARS, StringFormat::Cursor);

/// How many items a list gives.
pub const LIST_LIMIT: InputField =
    InputField::shared(integer(1, LIST_ITEMS), "How many at the most.");

/// A day, or a moment with its offset.
pub const TIME: InputKind = text_in_format(DATE_CHARS, TIME_CHARS, StringFormat::Time);

/// A moment with its offset.
pub const MOMENT: InputKind = text_in_format(17, TIME_CHARS, StringFormat::Moment);

/// A day.
pub const DATE: InputKind = text_in_format(DATE_CHARS, DATE_CHARS, StringFormat::Date);

pub const EMAIL: InputKind = text_in_format(3, ADDRESS_CHARS, StringFormat::Email);

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[InputField] = &[
        InputField::required("body", filled_text(5), "b"),
        InputField::optional("limit", integer(1, 100), "l"),
        InputField::optional("send", BOOLEAN, "s"),
        InputField::optional("to", list(1, 2, &EMAIL), "t"),
        InputField::optional("topic", InputKind::Nullable(&filled_text(5)), "n"),
    ];

    #[test]
    fn null_is_a_value_where_the_table_says_so() {
        let found = check_body(FIELDS, &json!({ "body": "x", "topic": null })).expect("fine");
        assert_eq!(Value::Object(found), json!({ "body": "x", "topic": null }));
        assert!(check_body(FIELDS, &json!({ "body": "x", "topic": "much too long" })).is_err());
        assert!(check_body(FIELDS, &json!({ "body": null })).is_err());
        assert_eq!(kind_schema(&FIELDS[4].kind)["anyOf"][1], json!({ "type": "null" }));
    }

    #[test]
    fn every_problem_is_named_at_once_by_its_path() {
        let body = json!({ "body": "  ", "limit": 0, "send": "yes", "to": ["a@b", 3, "c@d"] });
        let problems = check_body(FIELDS, &body).expect_err("four problems").to_string();
        assert_eq!(
            problems,
            "body: must not be blank or contain a NUL character; \
             limit: must be a whole number from 1 to 100; send: must be true or false; \
             to: must be 1 to 2 items; to[1]: must be a string"
        );
    }

    #[test]
    fn values_have_any_name_and_are_bounded() {
        let fields = [InputField::required("fields", InputKind::Values { max: 2 }, "f")];
        let body = json!({ "fields": { "order": "A-17", "paid": null } });
        assert_eq!(check_body(&fields, &body).map(Value::Object), Ok(body));
        for wrong in [json!({}), json!({ "a": 1, "b": 2, "c": 3 }), json!([]), json!("order")] {
            assert!(check_body(&fields, &json!({ "fields": wrong })).is_err(), "{wrong}");
        }
        assert_eq!(kind_schema(&fields[0].kind)["additionalProperties"], true);
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_named() {
        let found = check_body(FIELDS, &json!({ "body": "x", "else": 1 })).expect("fine");
        assert_eq!(Value::Object(found), json!({ "body": "x" }));
        let problems = check_body(FIELDS, &json!({})).expect_err("a problem").to_string();
        assert_eq!(problems, "body: is required");
        assert!(check_body(FIELDS, &json!([])).is_err());
    }

    #[test]
    fn lengths_count_unicode_scalar_values() {
        assert!(check_body(FIELDS, &json!({ "body": "äöü漢😀" })).is_ok());
        assert!(check_body(FIELDS, &json!({ "body": "äöü漢😀x" })).is_err());
    }

    #[test]
    fn numbers_in_a_query_are_plain_and_given_once() {
        let query = |text: &str| {
            let pairs: Vec<_> = text
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect();
            check_query(&FIELDS[1..2], &pairs)
        };
        assert_eq!(query("limit=7").map(|m| m["limit"].clone()), Ok(json!(7)));
        for bad in ["limit=", "limit=07", "limit=+7", "limit=7.0", "limit=101", "limit=1&limit=1"] {
            assert!(query(bad).is_err(), "{bad}");
        }
    }
}
