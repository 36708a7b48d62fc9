//! Reading JSON in a test.

use serde_json::Value;

use crate::Answer;

pub fn query(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

pub(crate) fn items(answer: &Answer) -> Vec<Value> {
    answer.json().as_array().expect("a list").clone()
}

/// One text field of each.
pub fn texts(values: &[Value], field: &str) -> Vec<String> {
    values.iter().map(|value| text_of(value, field)).collect()
}

pub fn text_of(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no text {field} in {value}")).to_owned()
}

/// The names of an object's fields, in order.
pub fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(|k| &**k).collect();
    names.sort_unstable();
    names
}
