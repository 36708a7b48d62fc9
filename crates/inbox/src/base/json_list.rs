//! Lists of words in one column.

/// A JSON list of words as kept in a column.
pub fn names(json: &str) -> Vec<String> {
    if json == "[]" { Vec::new() } else { serde_json::from_str(json).unwrap_or_default() }
}
