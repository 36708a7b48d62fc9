//! The header fields of a mail, unfolded and decoded.

use mail_parser::Message;

use crate::text::clean::clean_line;

/// The fields of a header, unfolded and clean, by lower-cased name.
#[derive(Clone, Debug, Default)]
pub struct Header {
    fields: Vec<(String, String)>,
}

impl Header {
    pub fn of(message: &Message<'_>) -> Header {
        let fields = message
            .headers_raw()
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), clean_line(value)))
            .collect();
        Header { fields }
    }

    /// The fields of a text that reads like a header: a part of a report, a copy in a body.
    pub fn parse(text: &str) -> Header {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(&clean_line(line));
                }
                continue;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            let name = name.trim();
            if !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic()) {
                fields.push((name.to_ascii_lowercase(), clean_line(value)));
            }
        }
        Header { fields }
    }

    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// A field's first value in lower case; empty when it is absent.
    pub fn lower(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn a_text_of_fields_is_read_unfolded() {
        let header = Header::parse("Action: failed\nStatus: 5.1.1\n (user unknown)\nnot a field\n");
        assert_eq!(header.get("status"), Some("5.1.1 (user unknown)"));
        assert_eq!(header.names().count(), 2);
        assert!(!header.has("not a field"));
    }
}
