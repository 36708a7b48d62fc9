//! The blocks of an answer: what there is, and what is refused with a sentence for the app's maker.

use base::limits::{
    PANEL_BLOCKS, PANEL_CELL_CHARS, PANEL_COLUMNS, PANEL_DEPTH, PANEL_ID_CHARS, PANEL_LABEL_CHARS,
    PANEL_ROWS, PANEL_TEXT_CHARS, PANEL_URL_CHARS,
};
use base::string_enum::string_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

string_enum! {
    /// How a badge is shown.
    BadgeTone { Neutral = "neutral", Ok = "ok", Warn = "warn", Danger = "danger" }
}

/// A part of what an app answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PanelBlock {
    Text {
        text: String,
    },
    KeyValue {
        key: String,
        value: String,
    },
    Table {
        /// Empty where the table has no head.
        columns: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    Badge {
        text: String,
        tone: BadgeTone,
    },
    /// An `http://` or `https://` address.
    Link {
        text: String,
        url: String,
    },
    /// A person may press it; Mailroom then calls the app with its id.
    Button {
        id: String,
        text: String,
    },
}

impl PanelBlock {
    /// Lines that it takes.
    pub fn lines(&self) -> usize {
        match self {
            PanelBlock::Table { rows, .. } => rows.len(),
            PanelBlock::Text { .. }
            | PanelBlock::KeyValue { .. }
            | PanelBlock::Badge { .. }
            | PanelBlock::Link { .. }
            | PanelBlock::Button { .. } => 1,
        }
    }
}

/// The blocks of an answer `{"blocks": […]}`. A block of a type that this version does not know is left out.
pub fn read_blocks(body: &[u8]) -> Result<Vec<PanelBlock>, String> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return Err("The answer is not JSON.".into());
    };
    if depth(&body) > PANEL_DEPTH {
        return Err(format!("The answer is nested deeper than {PANEL_DEPTH} levels."));
    }
    let Some(blocks) = body.get("blocks").and_then(Value::as_array) else {
        return Err("The answer has no list “blocks”.".into());
    };
    if blocks.len() > PANEL_BLOCKS {
        return Err(format!("The answer has more than {PANEL_BLOCKS} blocks."));
    }
    let mut read = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let number = place + 1;
        let Some(block) = block.as_object() else {
            return Err(format!("Block {number} is not an object."));
        };
        match read_block(block) {
            Ok(block) => read.extend(block),
            Err(problem) => return Err(format!("Block {number}: {problem}.")),
        }
    }
    Ok(read)
}

fn read_block(block: &Map<String, Value>) -> Result<Option<PanelBlock>, String> {
    let label = |name: &str| words(block.get(name), name, PANEL_LABEL_CHARS);
    let kind = block.get("type").and_then(Value::as_str).ok_or("it has no type")?;
    Ok(Some(match kind {
        "text" => PanelBlock::Text { text: words(block.get("text"), "text", PANEL_TEXT_CHARS)? },
        "keyValue" => PanelBlock::KeyValue {
            key: label("key")?,
            value: words(block.get("value"), "value", PANEL_TEXT_CHARS)?,
        },
        "table" => read_table(block)?,
        "badge" => {
            let tone = match block.get("tone") {
                None => BadgeTone::Neutral,
                Some(tone) => tone.as_str().and_then(BadgeTone::parse).ok_or_else(|| {
                    format!("tone must be one of {}", BadgeTone::NAMES.join(", "))
                })?,
            };
            PanelBlock::Badge { text: label("text")?, tone }
        }
        "link" => PanelBlock::Link { text: label("text")?, url: address(block.get("url"))? },
        "button" => PanelBlock::Button { id: button_id(block.get("id"))?, text: label("text")? },
        _ => return Ok(None),
    }))
}

fn read_table(block: &Map<String, Value>) -> Result<PanelBlock, String> {
    let list = |value: &Value, name: &str| -> Result<Vec<Value>, String> {
        value.as_array().cloned().ok_or_else(|| format!("{name} must be a list"))
    };
    let cell = |value: &Value, name: &str| match value {
        Value::String(text) if text.trim().is_empty() => Ok(String::new()),
        value => words(Some(value), name, PANEL_CELL_CHARS),
    };
    let mut columns = Vec::new();
    for column in
        block.get("columns").map(|it| list(it, "columns")).transpose()?.unwrap_or_default()
    {
        columns.push(cell(&column, "a column")?);
    }
    let rows = list(block.get("rows").unwrap_or(&Value::Null), "rows")?;
    if rows.len() > PANEL_ROWS {
        return Err(format!("a table has at most {PANEL_ROWS} rows"));
    }
    let mut read = Vec::new();
    for row in rows {
        let mut cells = Vec::new();
        for value in list(&row, "a row")? {
            cells.push(cell(&value, "a cell")?);
        }
        read.push(cells);
    }
    let wide = read.iter().map(Vec::len).chain([columns.len()]).max().unwrap_or(0);
    if wide > PANEL_COLUMNS {
        return Err(format!("a table has at most {PANEL_COLUMNS} columns"));
    }
    Ok(PanelBlock::Table { columns, rows: read })
}

/// Words of one line: a number is written as JSON has it.
fn words(value: Option<&Value>, name: &str, most: usize) -> Result<String, String> {
    let text = match value {
        Some(Value::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let count = text.chars().count();
    let fits = (1..=most).contains(&count);
    if fits { Ok(text) } else { Err(format!("{name} must be 1 to {most} characters")) }
}

fn address(value: Option<&Value>) -> Result<String, String> {
    let refusal =
        || format!("url must be an http or https address of at most {PANEL_URL_CHARS} characters");
    let typed = value.and_then(Value::as_str).ok_or_else(refusal)?;
    let url = Url::parse(typed.trim()).map_err(|_| refusal())?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    let has_sign_in = !url.username().is_empty() || url.password().is_some();
    let fits = is_web && !has_sign_in && url.as_str().len() <= PANEL_URL_CHARS;
    if fits { Ok(url.into()) } else { Err(refusal()) }
}

fn button_id(value: Option<&Value>) -> Result<String, String> {
    let id = value.and_then(Value::as_str).unwrap_or_default();
    let is_plain = id.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c));
    if (1..=PANEL_ID_CHARS).contains(&id.len()) && is_plain {
        return Ok(id.to_owned());
    }
    Err(format!("id must be 1 to {PANEL_ID_CHARS} letters, digits, or _ . : -"))
}

fn depth(value: &Value) -> usize {
    let inside: Box<dyn Iterator<Item = &Value> + '_> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return 0,
    };
    1 + inside.map(depth).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(blocks: Value) -> Result<Vec<PanelBlock>, String> {
        read_blocks(json!({ "blocks": blocks }).to_string().as_bytes())
    }

    #[test]
    fn every_type_is_read_and_an_unknown_one_left_out() {
        let blocks = read(json!([
            { "type": "text", "text": "  Pays\n late " },
            { "type": "keyValue", "key": "Orders", "value": 3 },
            { "type": "table", "columns": ["No.", ""], "rows": [["20402", "Bo"], ["19911", ""]] },
            { "type": "badge", "text": "Gold", "tone": "ok" },
            { "type": "badge", "text": "New" },
            { "type": "link", "text": "Shop", "url": "https://shop.example/c/1" },
            { "type": "button", "id": "refund:20402", "text": "Refund" },
            { "type": "video", "url": 5 },
        ]));
        let blocks = blocks.unwrap();
        assert_eq!(blocks.len(), 7);
        assert_eq!(blocks[0], PanelBlock::Text { text: "Pays late".into() });
        assert_eq!(blocks[1], PanelBlock::KeyValue { key: "Orders".into(), value: "3".into() });
        assert_eq!(blocks[4], PanelBlock::Badge { text: "New".into(), tone: BadgeTone::Neutral });
        assert_eq!(blocks.iter().map(PanelBlock::lines).sum::<usize>(), 8);
        assert_eq!(read(json!([])), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_number_of_the_block() {
        for (blocks, sentence) in [
            (json!([{ "type": "text" }]), "Block 1: text must be 1 to 500 characters."),
            (json!([{ "text": "x" }]), "Block 1: it has no type."),
            (json!(["x"]), "Block 1 is not an object."),
            (json!([{ "type": "badge", "text": "x", "tone": "pink" }]), "Block 1: tone must be"),
            (json!([{ "type": "button", "id": "a b", "text": "x" }]), "Block 1: id must be"),
            (json!([{ "type": "table", "rows": [[1, 2, 3, 4, 5]] }]), "Block 1: a table has"),
            (json!([{ "type": "table" }]), "Block 1: rows must be a list."),
            (json!([[[[[[["deep"]]]]]]]), "The answer is nested deeper"),
            (json!({ "type": "text" }), "The answer has no list “blocks”."),
            (json!(vec![json!({ "type": "text", "text": "x" }); 31]), "The answer has more than"),
        ] {
            let refused = read(blocks.clone()).unwrap_err();
            assert!(refused.starts_with(sentence), "{blocks}: {refused}");
        }
        for body in ["", "<html>", "{\"blocks\": 5}", &"[".repeat(500)] {
            assert!(read_blocks(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn a_link_leads_to_a_site_and_nowhere_else() {
        for url in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//shop.example",
            "/settings",
            "ftp://shop.example",
            "https://user:pw@shop.example/",
            "https://",
            &format!("https://shop.example/{}", "a".repeat(2_000)),
        ] {
            assert!(read(json!([{ "type": "link", "text": "x", "url": url }])).is_err(), "{url}");
        }
    }
}
