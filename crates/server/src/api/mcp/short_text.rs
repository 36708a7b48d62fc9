//! The text of a result that is an object, which models read: the answer's JSON without what says nothing.
//! It is made from the bytes of the answer, as everything around it is.

use api::operations::Operation;

/// Values that say nothing.
const EMPTY: [&[u8]; 4] = [b"null", b"\"\"", b"[]", b"{}"];

/// Values within values, as many as JSON that comes in may have.
const DEPTH: usize = 128;

/// The answer with its names and values, shorter: members without a value are left out. `None` for what
/// no operation writes.
pub fn short_text(operation: &Operation, body: &[u8]) -> Option<Vec<u8>> {
    let mut json = JsonReader { bytes: body, at: 0, depth: 0, left_out: left_out(operation) };
    let mut out = Vec::with_capacity(body.len());
    let written = json.value(&mut out);
    (written.is_ok() && json.at == body.len()).then_some(out)
}

/// What models read elsewhere or have no use for: `list_team` has the team, and `by` says who wrote.
fn left_out(operation: &Operation) -> &'static [&'static str] {
    match operation.name {
        "get_conversation" => &["team", "author", "actor"],
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
    /// Names of members that are left out.
    left_out: &'static [&'static str],
}

impl<'a> JsonReader<'a> {
    fn value(&mut self, out: &mut Vec<u8>) -> Result<(), NotCompactJson> {
        match self.peek()? {
            b'{' | b'[' if self.depth == DEPTH => Err(NotCompactJson),
            sign @ (b'{' | b'[') => {
                self.depth += 1;
                let written = match sign {
                    b'{' => self.object(out),
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

    fn object(&mut self, out: &mut Vec<u8>) -> Result<(), NotCompactJson> {
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
            if EMPTY.contains(&&out[value..]) || is_one_of(self.left_out, name) {
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
                r#"{"id":"1"}"#,
            ),
            ("{}", "{}"),
        ] {
            assert_eq!(short("get_conversation", body).as_deref(), Some(text), "{body}");
        }
    }

    #[test]
    fn what_is_no_answer_is_left_as_it_is() {
        for body in ["", "{", "[", "[{", r#"{"a"#, r#"{"a":"\"#, "[}", "{} ", r#"{"a":}"#] {
            assert_eq!(short("list_tags", body), None, "{body}");
        }
    }
}
