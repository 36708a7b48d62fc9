//! The text of a result, which models read: the answer's JSON without what says nothing. It is made
//! from the bytes of the answer, as everything around it is.

use std::ops::Range;

use api::operations::Operation;

/// Values that say nothing.
const EMPTY: [&[u8]; 4] = [b"null", b"\"\"", b"[]", b"{}"];

/// Values within values, as many as JSON that comes in may have.
const DEPTH: usize = 128;

/// The answer with its names and values, shorter. Members without a value are left out. A list becomes
/// a table: its first row has the names of the columns, every other one the values of an item. `None`
/// for what no operation writes.
pub fn short_text(operation: &Operation, body: &[u8]) -> Option<Vec<u8>> {
    let mut json = JsonReader { bytes: body, at: 0, depth: 0 };
    let mut out = Vec::with_capacity(body.len());
    let left_out = left_out(operation);
    let written = match body {
        [b'[', b'{', ..] => json.table(left_out, &mut out),
        [b'{', ..] => json.object(left_out, &mut out),
        _ => json.value(&mut out),
    };
    (written.is_ok() && json.at == body.len()).then_some(out)
}

/// What models read elsewhere or have no use for: `list_team` has the team, and no tool takes the id
/// of a tag or of a topic.
fn left_out(operation: &Operation) -> &'static [&'static str] {
    match operation.name {
        "get_conversation" => &["team"],
        "list_tags" | "list_topics" => &["id"],
        _ => &[],
    }
}

/// The bytes are not JSON without white space, which operations write.
struct NotCompactJson;

struct JsonReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values around the one that is read.
    depth: usize,
}

impl<'a> JsonReader<'a> {
    fn value(&mut self, out: &mut Vec<u8>) -> Result<(), NotCompactJson> {
        match self.peek()? {
            b'{' | b'[' if self.depth == DEPTH => Err(NotCompactJson),
            sign @ (b'{' | b'[') => {
                self.depth += 1;
                let written = match sign {
                    b'{' => self.object(&[], out),
                    _ => self.array(out),
                };
                self.depth -= 1;
                written
            }
            b'"' => {
                out.extend_from_slice(self.string()?);
                Ok(())
            }
            _ => {
                out.extend_from_slice(self.word()?);
                Ok(())
            }
        }
    }

    fn object(&mut self, left_out: &[&str], out: &mut Vec<u8>) -> Result<(), NotCompactJson> {
        self.take(b'{')?;
        out.push(b'{');
        let begins = out.len();
        while let Some(name) = self.member()? {
            let member = out.len();
            if member > begins {
                out.push(b',');
            }
            out.extend_from_slice(name);
            out.push(b':');
            let value = out.len();
            self.value(out)?;
            if EMPTY.contains(&&out[value..]) || is_one_of(left_out, name) {
                out.truncate(member);
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn array(&mut self, out: &mut Vec<u8>) -> Result<(), NotCompactJson> {
        self.take(b'[')?;
        out.push(b'[');
        loop {
            match self.peek()? {
                end @ b']' => {
                    self.at += 1;
                    out.push(end);
                    return Ok(());
                }
                comma @ b',' => {
                    self.at += 1;
                    out.push(comma);
                }
                _ => self.value(out)?,
            }
        }
    }

    fn table(&mut self, left_out: &[&str], out: &mut Vec<u8>) -> Result<(), NotCompactJson> {
        self.take(b'[')?;
        let mut table = Table::default();
        loop {
            match self.peek()? {
                b']' => {
                    self.at += 1;
                    table.write(out);
                    return Ok(());
                }
                b',' => self.at += 1,
                _ => self.row(left_out, &mut table)?,
            }
        }
    }

    fn row(&mut self, left_out: &[&str], table: &mut Table<'a>) -> Result<(), NotCompactJson> {
        self.take(b'{')?;
        let mut row = Vec::with_capacity(table.columns.len());
        while let Some(name) = self.member()? {
            let begins = table.values.len();
            self.value(&mut table.values)?;
            if !is_one_of(left_out, name) {
                table.put(&mut row, name, begins..table.values.len());
            }
        }
        table.rows.push(row);
        Ok(())
    }

    /// The name of the next member, with its quotes; `None` at the end of an object.
    fn member(&mut self) -> Result<Option<&'a [u8]>, NotCompactJson> {
        match self.peek()? {
            b'}' => {
                self.at += 1;
                return Ok(None);
            }
            b',' => self.at += 1,
            _ => {}
        }
        let name = self.string()?;
        self.take(b':')?;
        Ok(Some(name))
    }

    /// A string with its quotes.
    fn string(&mut self) -> Result<&'a [u8], NotCompactJson> {
        let begins = self.at;
        self.take(b'"')?;
        loop {
            let rest = self.bytes.get(self.at..).ok_or(NotCompactJson)?;
            let next = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let next = next.ok_or(NotCompactJson)?;
            let is_end = rest[next] == b'"';
            // What follows a backslash is not the end.
            self.at += next + if is_end { 1 } else { 2 };
            if is_end {
                return Ok(&self.bytes[begins..self.at]);
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<&'a [u8], NotCompactJson> {
        let rest = &self.bytes[self.at..];
        let ends = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}'));
        let word = &rest[..ends.unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(NotCompactJson);
        }
        self.at += word.len();
        Ok(word)
    }

    fn take(&mut self, wanted: u8) -> Result<(), NotCompactJson> {
        if self.peek()? != wanted {
            return Err(NotCompactJson);
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Result<u8, NotCompactJson> {
        self.bytes.get(self.at).copied().ok_or(NotCompactJson)
    }
}

fn is_one_of(names: &[&str], quoted: &[u8]) -> bool {
    names.iter().any(|name| {
        quoted.len() == name.len() + 2 && quoted[1..quoted.len() - 1] == *name.as_bytes()
    })
}

#[derive(Default)]
struct Table<'a> {
    columns: Vec<Column<'a>>,
    /// Where the values of each row are, in the order of the columns; nowhere for what it lacks.
    rows: Vec<Vec<Range<usize>>>,
    values: Vec<u8>,
}

struct Column<'a> {
    name: &'a [u8],
    /// True when some row has a value here.
    is_filled: bool,
}

impl<'a> Table<'a> {
    fn put(&mut self, row: &mut Vec<Range<usize>>, name: &'a [u8], value: Range<usize>) {
        // Nearly all rows have the same members in the same order.
        let next = row.len();
        let place = match self.columns.get(next) {
            Some(column) if column.name == name => next,
            _ => self.place(name),
        };
        if row.len() <= place {
            row.resize(place + 1, 0..0);
        }
        self.columns[place].is_filled |= !EMPTY.contains(&&self.values[value.clone()]);
        row[place] = value;
    }

    fn place(&mut self, name: &'a [u8]) -> usize {
        let known = self.columns.iter().position(|column| column.name == name);
        known.unwrap_or_else(|| {
            self.columns.push(Column { name, is_filled: false });
            self.columns.len() - 1
        })
    }

    /// Writes the columns that have values.
    fn write(&self, out: &mut Vec<u8>) {
        let filled = || self.columns.iter().enumerate().filter(|(_, column)| column.is_filled);
        out.extend_from_slice(b"[[");
        for (nth, (_, column)) in filled().enumerate() {
            separate(nth, out);
            out.extend_from_slice(column.name);
        }
        for row in &self.rows {
            out.extend_from_slice(b"],[");
            for (nth, (place, _)) in filled().enumerate() {
                separate(nth, out);
                let value = row.get(place).map(|value| &self.values[value.clone()]);
                let value = value.filter(|value| !value.is_empty());
                out.extend_from_slice(value.unwrap_or(b"null"));
            }
        }
        out.extend_from_slice(b"]]");
    }
}

fn separate(nth: usize, out: &mut Vec<u8>) {
    if nth > 0 {
        out.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use api::operations::find_by_name;

    use super::*;

    fn short(operation: &str, body: &str) -> Option<String> {
        let text = short_text(find_by_name(operation).expect("an operation"), body.as_bytes())?;
        Some(String::from_utf8(text).expect("text"))
    }

    #[test]
    fn an_object_loses_what_has_no_value() {
        for (body, text) in [
            (r#"{"a":null,"b":1,"c":[],"d":{},"e":"","f":false}"#, r#"{"b":1,"f":false}"#),
            (r#"{"a":{"b":null,"c":[]},"d":[{"e":null},null,[]]}"#, r#"{"d":[{},null,[]]}"#),
            (
                r#"{"a":"\"null\",","b":"\\","c":"\\\"","d":0}"#,
                r#"{"a":"\"null\",","b":"\\","c":"\\\"","d":0}"#,
            ),
            (
                r#"{"id":"1","team":{"people":[{"id":"2","team":"3"}]},"x":{"team":1}}"#,
                r#"{"id":"1","x":{"team":1}}"#,
            ),
            ("{}", "{}"),
        ] {
            assert_eq!(short("get_conversation", body).as_deref(), Some(text), "{body}");
        }
    }

    #[test]
    fn a_list_becomes_a_table_of_the_columns_with_values() {
        for (body, text) in [
            ("[]", "[]"),
            ("[1,2]", "[1,2]"),
            (r#"[{"id":"1","name":"a"},{"id":"2","name":"b"}]"#, r#"[["name"],["a"],["b"]]"#),
            (
                r#"[{"a":1,"b":null,"c":{"d":null,"e":2}},{"a":"x,]}","b":"","c":[],"f":true}]"#,
                r#"[["a","c","f"],[1,{"e":2},null],["x,]}",[],true]]"#,
            ),
            (r#"[{"a":1,"b":2},{"b":3},{"b":4,"a":5}]"#, r#"[["a","b"],[1,2],[null,3],[5,4]]"#),
        ] {
            assert_eq!(short("list_tags", body).as_deref(), Some(text), "{body}");
        }
    }

    #[test]
    fn what_is_no_answer_is_left_as_it_is() {
        for body in ["", "{", "[", "[{", r#"{"a"#, r#"{"a":"\"#, "[}", "[{},1]", "{} ", r#"{"a":}"#]
        {
            assert_eq!(short("list_tags", body), None, "{body}");
        }
    }
}
