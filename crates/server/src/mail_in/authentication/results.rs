//! `Authentication-Results` (RFC 8601), as far as it is believed: what another server found.

/// One `Authentication-Results` field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AuthenticationResults {
    /// The authserv-id, lower case.
    pub server: String,
    methods: Vec<Method>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Method {
    name: String,
    outcome: String,
    /// `smtp.mailfrom` and its likes, lower case.
    properties: Vec<(String, String)>,
}

/// Methods of one field that are read.
const METHODS: usize = 50;

impl AuthenticationResults {
    pub fn parse(field: &[u8]) -> Option<AuthenticationResults> {
        let text = without_comments(&String::from_utf8_lossy(field)).to_lowercase();
        let mut pieces = text.split(';').map(str::trim);
        let server = pieces.next()?.split_whitespace().next()?.to_owned();
        Some(AuthenticationResults {
            server,
            methods: pieces.filter_map(method).take(METHODS).collect(),
        })
    }

    /// The result of a method, and the value of a property where there is one.
    pub fn of(&self, name: &str, property: &str) -> Option<(&str, Option<&str>)> {
        let method = self.methods.iter().find(|method| method.name == name)?;
        let value = method.properties.iter().find(|(name, _)| name == property);
        Some((&method.outcome, value.map(|(_, value)| value.as_str())))
    }
}

fn method(piece: &str) -> Option<Method> {
    let mut words = piece.split_whitespace();
    let (name, outcome) = words.next()?.split_once('=')?;
    let properties = words.filter_map(|word| word.split_once('='));
    let properties = properties.map(|(name, value)| (name.into(), value.trim_matches('"').into()));
    Some(Method {
        name: name.split('/').next().unwrap_or(name).into(),
        outcome: outcome.into(),
        properties: properties.collect(),
    })
}

/// Comments are in parentheses and may be nested.
fn without_comments(text: &str) -> String {
    let mut depth = 0u32;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => {
                depth -= 1;
                plain.push(' ');
            }
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_found_is_read_without_its_comments() {
        let field =
            b" MX.acme.example 1;\r\n dkim=pass (2048-bit (rsa) key) header.d=x.example;\r\n\
            \tspf=Pass smtp.mailfrom=Bounce@x.example; dmarc=fail (p=none) header.from=x.example";
        let results = AuthenticationResults::parse(field).expect("results");
        assert_eq!(results.server, "mx.acme.example");
        assert_eq!(results.of("spf", "smtp.mailfrom"), Some(("pass", Some("bounce@x.example"))));
        assert_eq!(results.of("dmarc", "header.from"), Some(("fail", Some("x.example"))));
        assert_eq!(results.of("dkim", "header.i"), Some(("pass", None)));
        assert_eq!(results.of("arc", "x"), None);
    }

    #[test]
    fn a_field_that_says_nothing_is_no_result() {
        assert_eq!(AuthenticationResults::parse(b""), None);
        assert_eq!(AuthenticationResults::parse(b" (only a comment)"), None);
        let none = AuthenticationResults::parse(b"mx.acme.example; none").expect("results");
        assert_eq!(none.of("spf", "smtp.mailfrom"), None);
    }
}
