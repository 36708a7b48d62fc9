//! Placeholders in texts of the team: `{{first_name}}`, or `{{first_name|there}}` with a default.

/// Replaces each `{{name}}` by its value; `{{name|words}}` has a default. Unknown placeholders stay
/// as they are.
pub fn fill(body: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((inside, left)) = after.split_once("}}") else {
            // Nothing that begins further on ends either.
            rest = &rest[before.len()..];
            break;
        };
        let (name, otherwise) = inside.split_once('|').unwrap_or((inside, ""));
        match value(name.trim()) {
            Some(found) if found.is_empty() => out.push_str(otherwise.trim()),
            Some(found) => out.push_str(&found),
            None => {
                out.push_str("{{");
                out.push_str(inside);
                out.push_str("}}");
            }
        }
        rest = left;
    }
    out.push_str(rest);
    out
}

/// A text with the name of the person who sends it; other placeholders stay.
pub fn signed_text(name: &str, text: &str) -> String {
    fill(text, |placeholder| match placeholder {
        "my_name" => Some(name.to_owned()),
        "my_first_name" => Some(first_word(name).to_owned()),
        _ => None,
    })
}

/// The first word of a name.
pub fn first_word(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_what_means_nothing_stays() {
        let value = |name: &str| match name {
            "first_name" => Some("Ann".to_owned()),
            "name" => Some(String::new()),
            _ => None,
        };
        for (body, filled) in [
            ("Hello {{first_name}},", "Hello Ann,"),
            ("Hello {{ first_name | there }},", "Hello Ann,"),
            ("Hello {{name|there}},", "Hello there,"),
            ("Hello {{name}},", "Hello ,"),
            ("a {{b}} {c} {{d", "a {{b}} {c} {{d"),
            ("{{first_name}}{{first_name}}", "AnnAnn"),
            ("{{", "{{"),
            ("", ""),
        ] {
            assert_eq!(fill(body, value), filled, "{body}");
        }
    }

    #[test]
    fn a_value_is_not_read_for_placeholders_again() {
        assert_eq!(fill("{{name}}", |_| Some("{{name}}".into())), "{{name}}");
    }
}
