//! The text of a list, which models read: a table of the columns that tell its rows apart.

use std::collections::HashSet;

use api::operations::Operation;
use serde_json::{Map, Value};

/// Characters of a snippet, unless the call asked for a number.
const SNIPPET_CHARS: usize = 60;
/// `2026-11-15T09:14`, before the seconds of a time.
const MINUTES_CHARS: usize = 16;
/// `2026-11-15T09:14:03.120Z`
const TIME_CHARS: usize = 24;

/// A list as text.
pub struct ListText {
    /// The names of the columns, then a row for each item. A row ends with its last value.
    pub table: String,
    /// What every item has, where there is more than one.
    pub every: Option<String>,
}

/// The list with its names and values, shorter: a column without values is left out, one with the same
/// value everywhere is told once, times end with their minutes. `None` for what is no list of objects.
pub fn list_text(operation: &Operation, arguments: &Value, body: &[u8]) -> Option<ListText> {
    let items: Vec<Map<String, Value>> = serde_json::from_slice(body).ok()?;
    if items.is_empty() {
        return None;
    }
    let snippet = arguments.get("snippet").is_none();
    let left_out = left_out(operation, arguments);
    let rows: Vec<Map<String, Value>> =
        items.into_iter().map(|item| short_row(item, &left_out, snippet)).collect();
    let mut columns = columns(&rows);
    let constant = |name: &String| {
        let first = rows[0].get(name);
        rows.len() > 1 && first.is_some() && rows.iter().all(|row| row.get(name) == first)
    };
    let every: Map<String, Value> = columns
        .iter()
        .filter(|name| constant(name))
        .map(|name| (name.clone(), rows[0][name].clone()))
        .collect();
    columns.retain(|name| !every.contains_key(name));
    let mut table: Vec<Value> =
        vec![columns.iter().map(|name| Value::from(name.as_str())).collect()];
    table.extend(rows.iter().map(|row| {
        let mut cells: Vec<Value> =
            columns.iter().map(|name| row.get(name).cloned().unwrap_or_default()).collect();
        let filled = cells.iter().rposition(|cell| !cell.is_null()).map_or(0, |last| last + 1);
        cells.truncate(filled);
        Value::Array(cells)
    }));
    let every = (!every.is_empty()).then(|| format!("in every row: {}", Value::Object(every)));
    Some(ListText { table: Value::Array(table).to_string(), every })
}

/// The names of the columns: those with most values first, so that rows can end early.
fn columns(rows: &[Map<String, Value>]) -> Vec<String> {
    let (mut columns, mut known): (Vec<(usize, String)>, HashSet<&String>) = Default::default();
    for name in rows.iter().flat_map(Map::keys) {
        if known.insert(name) {
            let filled = rows.iter().filter(|row| row.contains_key(name)).count();
            columns.push((filled, name.clone()));
        }
    }
    columns.sort_by_key(|(filled, _)| std::cmp::Reverse(*filled));
    columns.into_iter().map(|(_, name)| name).collect()
}

/// What models read elsewhere or have no use for: the conversation has the rest of it, and no tool takes
/// the id of a tag or of a topic.
fn left_out(operation: &Operation, arguments: &Value) -> Vec<&'static str> {
    match operation.name {
        "list_conversations" if arguments["sort"] == "waiting" => {
            vec!["lastDirection", "lastMessageAt"]
        }
        "list_conversations" => vec!["lastDirection", "waitingSince"],
        "list_tags" | "list_topics" => vec!["id"],
        _ => Vec::new(),
    }
}

/// The values of an item that say something.
fn short_row(
    item: Map<String, Value>,
    left_out: &[&str],
    cuts_snippet: bool,
) -> Map<String, Value> {
    let mut row = Map::new();
    for (name, value) in item {
        match (name.as_str(), value) {
            (name, _) if left_out.contains(&name) => {}
            // Who it is: the address. The name stands in the conversation.
            ("contact", Value::Object(mut contact)) => {
                put(&mut row, "contact", contact.remove("email").unwrap_or_default());
                put(&mut row, "known", contact.remove("known").unwrap_or_default());
            }
            ("assignee", Value::Object(mut assignee)) => {
                put(&mut row, "assignee", assignee.remove("name").unwrap_or_default());
            }
            ("snippet", Value::String(text)) if cuts_snippet => {
                let cut: String = text.chars().take(SNIPPET_CHARS).collect();
                put(&mut row, "snippet", cut.into());
            }
            // What is usual is not said.
            ("urgency", Value::String(urgency)) if urgency == "normal" => {}
            ("hasDraft" | "held", Value::Bool(false)) => {}
            (name, value) => put(&mut row, name, short_value(value)),
        }
    }
    row
}

fn put(row: &mut Map<String, Value>, name: &str, value: Value) {
    if !is_empty(&value) {
        row.insert(name.to_owned(), value);
    }
}

fn short_value(value: Value) -> Value {
    match value {
        Value::String(text) if is_time(&text) => format!("{}Z", &text[..MINUTES_CHARS]).into(),
        Value::Array(items) => items.into_iter().map(short_value).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, short_value(value)));
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == TIME_CHARS
        && bytes.iter().zip(b"0000-00-00T00:00:00.000Z").all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            sign => byte == sign,
        })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use api::operations::find_by_name;
    use serde_json::json;

    use super::*;

    fn text(operation: &str, arguments: Value, body: Value) -> (String, Option<String>) {
        let operation = find_by_name(operation).expect("an operation");
        let text = list_text(operation, &arguments, body.to_string().as_bytes()).expect("a list");
        (text.table, text.every)
    }

    #[test]
    fn a_list_is_a_table_of_what_tells_its_rows_apart() {
        let body = json!([
            { "id": "1", "a": null, "kind": "x", "late": "y", "n": 1 },
            { "id": "2", "a": [], "kind": "x", "n": 2 },
        ]);
        let (table, every) = text("list_messages", json!({}), body);
        assert_eq!(table, r#"[["id","n","late"],["1",1,"y"],["2",2]]"#);
        assert_eq!(every.as_deref(), Some(r#"in every row: {"kind":"x"}"#));
        let (table, every) = text("list_messages", json!({}), json!([{ "id": "1", "kind": "x" }]));
        assert_eq!((table.as_str(), every), (r#"[["id","kind"],["1","x"]]"#, None));
    }

    #[test]
    fn times_end_with_their_minutes_and_snippets_are_short() {
        let long = "é".repeat(200);
        let body =
            json!([{ "at": "2026-11-15T09:14:03.120Z", "snippet": long, "day": "2026-11-15" }]);
        let (table, _) = text("list_messages", json!({}), body.clone());
        let cut = "é".repeat(SNIPPET_CHARS);
        assert_eq!(
            table,
            format!(r#"[["at","snippet","day"],["2026-11-15T09:14Z","{cut}","2026-11-15"]]"#)
        );
        let (table, _) = text("list_messages", json!({ "snippet": 300 }), body);
        assert!(table.contains(&long));
    }

    #[test]
    fn what_is_no_list_of_objects_has_no_table() {
        let operation = find_by_name("list_tags").expect("an operation");
        for body in ["", "{", "[", "[]", "[1,2]", "[{},1]", "{}"] {
            assert!(list_text(operation, &json!({}), body.as_bytes()).is_none(), "{body}");
        }
    }
}
