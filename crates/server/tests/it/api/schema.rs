//! As much of JSON Schema as `openapi.json` uses, so that answers can be held against it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What is wrong with a value, by its path; nothing when it is as described.
pub fn problems(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let checker = Checker { document };
    let mut found = Vec::new();
    checker.check(schema, value, "", &mut found);
    checker.undocumented(&[schema], value, "", &mut found);
    found
}

/// The words of JSON Schema that are understood here.
const KNOWN: [&str; 22] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "description",
    "discriminator",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "type",
];

struct Checker<'a> {
    document: &'a Value,
}

impl<'a> Checker<'a> {
    fn check(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let Some(schema) = schema.as_object() else { return };
        for (word, rule) in schema {
            assert!(KNOWN.contains(&word.as_str()), "{word} is not understood at {path}");
            if let Some(problem) = self.objection(word, rule, value, path, found) {
                found.push(format!("{path}: {problem}"));
            }
        }
    }

    fn objection(
        &self,
        word: &str,
        rule: &Value,
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) -> Option<String> {
        let fits = match word {
            "type" => match rule {
                Value::Array(types) => types.iter().any(|rule| is_type(rule, value)),
                rule => is_type(rule, value),
            },
            "enum" => rule.as_array().is_some_and(|values| values.contains(value)),
            "const" => rule == value,
            "$ref" => {
                self.check(self.target(rule), value, path, found);
                true
            }
            "allOf" => {
                each(rule).for_each(|schema| self.check(schema, value, path, found));
                true
            }
            "anyOf" => each(rule).any(|schema| self.fits(schema, value)),
            "oneOf" => each(rule).filter(|schema| self.fits(schema, value)).count() == 1,
            "required" => {
                return each(rule)
                    .filter_map(Value::as_str)
                    .find(|name| value.is_object() && value.get(name).is_none())
                    .map(|name| format!("lacks {name}"));
            }
            "properties" => {
                for (name, schema) in rule.as_object()? {
                    if let Some(value) = value.get(name) {
                        self.check(schema, value, &format!("{path}/{name}"), found);
                    }
                }
                true
            }
            "items" => {
                for (index, value) in each(value).enumerate() {
                    self.check(rule, value, &format!("{path}/{index}"), found);
                }
                true
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as i64 >= number(rule)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as i64 <= number(rule)),
            "minimum" => value.as_i64().is_none_or(|value| value >= number(rule)),
            "maximum" => value.as_i64().is_none_or(|value| value <= number(rule)),
            "format" if rule == "date-time" => value.as_str().is_none_or(is_moment),
            "pattern" => value.as_str().is_none_or(|text| begins_as(rule, text)),
            _ => true,
        };
        (!fits).then(|| format!("{value} does not fit {word} {rule}"))
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.check(schema, value, "", &mut found);
        found.is_empty()
    }

    /// Fields that no schema tells of.
    fn undocumented(&self, schemas: &[&Value], value: &Value, path: &str, found: &mut Vec<String>) {
        let all = self.spread(schemas, value);
        if let Value::Array(items) = value {
            let of: Vec<&Value> = all.iter().filter_map(|schema| schema.get("items")).collect();
            for (index, item) in items.iter().enumerate() {
                self.undocumented(&of, item, &format!("{path}/{index}"), found);
            }
        }
        let Value::Object(object) = value else { return };
        let is_open = |schema: &Map<String, Value>| schema.get("additionalProperties").is_some();
        if all.iter().any(|schema| is_open(schema)) {
            return;
        }
        for (name, value) in object {
            let told = all.iter().filter_map(|schema| schema.get("properties")?.get(name));
            let told: Vec<&Value> = told.collect();
            let path = format!("{path}/{name}");
            if told.is_empty() {
                found.push(format!("{path} is not described"));
            } else {
                self.undocumented(&told, value, &path, found);
            }
        }
    }

    /// The schemas that apply to a value, with what they refer to and the alternatives it fits.
    fn spread<'b>(&'b self, schemas: &[&'b Value], value: &Value) -> Vec<&'b Map<String, Value>> {
        let mut all = Vec::new();
        for schema in schemas {
            let Some(schema) = schema.as_object() else { continue };
            all.push(schema);
            let mut further: Vec<&Value> = Vec::new();
            further.extend(schema.get("$ref").map(|reference| self.target(reference)));
            further.extend(schema.get("allOf").into_iter().flat_map(each));
            for word in ["anyOf", "oneOf"] {
                let options = schema.get(word).into_iter().flat_map(each);
                further.extend(options.filter(|option| self.fits(option, value)));
            }
            all.extend(self.spread(&further, value));
        }
        all
    }

    fn target(&self, reference: &Value) -> &'a Value {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).unwrap();
        self.document.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"))
    }
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn number(rule: &Value) -> i64 {
    rule.as_i64().expect("a whole number")
}

fn is_type(rule: &Value, value: &Value) -> bool {
    match rule.as_str().expect("a type's name") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    }
}

/// `2026-11-15T09:00:00.000Z`
fn is_moment(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}

/// The patterns of ids: `^cnv_[0-9a-z]+$`, perhaps with alternatives in round brackets. Others
/// are not looked at.
fn begins_as(pattern: &Value, text: &str) -> bool {
    let pattern = pattern.as_str().expect("a pattern");
    let Some(prefix) = pattern.strip_prefix('^').and_then(|p| p.strip_suffix("[0-9a-z]+$")) else {
        return true;
    };
    let (choices, after) = match prefix.strip_prefix('(').and_then(|p| p.split_once(')')) {
        Some((choices, after)) => (choices.split('|').collect::<BTreeSet<_>>(), after),
        None => (BTreeSet::from([prefix]), ""),
    };
    choices.into_iter().any(|choice| {
        text.strip_prefix(choice).and_then(|rest| rest.strip_prefix(after)).is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::problems;

    #[test]
    fn a_value_is_held_against_its_schema() {
        let document =
            json!({ "s": { "Id": { "type": "string", "pattern": "^(a|b)_[0-9a-z]+$" } } });
        let schema = json!({
            "type": "object",
            "properties": { "id": { "$ref": "#/s/Id" }, "n": { "type": ["integer", "null"] } },
            "required": ["id"],
        });
        let count = |value| problems(&document, &schema, &value).len();
        for right in [json!({ "id": "a_0" }), json!({ "id": "b_z", "n": null })] {
            assert_eq!(count(right.clone()), 0, "{right}");
        }
        for wrong in [
            json!({}),
            json!([]),
            json!({ "id": "c_0" }),
            json!({ "id": "a_" }),
            json!({ "id": "a_0", "n": "1" }),
            json!({ "id": "a_0", "other": 1 }),
        ] {
            assert_eq!(count(wrong.clone()), 1, "{wrong}");
        }
    }
}
