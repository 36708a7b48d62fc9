//! Selectors: elements, classes, ids and a few states.

use super::RESERVED_PREFIX;
use super::token::CssToken;
use super::value::trim;
use crate::limits::SELECTOR_PARTS;

/// Attributes that a selector may ask for. Others, such as an address, would let a sheet tell what
/// it cannot otherwise know.
const ATTRIBUTES: &[&str] =
    &["align", "bgcolor", "class", "dir", "height", "id", "lang", "valign", "width"];

/// States and places of an element that a selector may ask for.
const PSEUDO_CLASSES: &[&str] = &[
    "active",
    "empty",
    "first-child",
    "first-of-type",
    "focus",
    "hover",
    "last-child",
    "last-of-type",
    "link",
    "only-child",
    "root",
    "visited",
];

/// Those that count.
const COUNTING: &[&str] = &["nth-child", "nth-last-child", "nth-last-of-type", "nth-of-type"];

/// The selectors of a list that stay, written anew; `None` when none does.
pub(super) fn selectors(prelude: &[CssToken]) -> Option<String> {
    let list = prelude.split(|token| *token == CssToken::Sign(','));
    let kept: Vec<String> = list.filter_map(|one| selector(trim(one))).collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

fn selector(tokens: &[CssToken]) -> Option<String> {
    let mut written = String::new();
    let mut rest = tokens;
    let mut parts = 0;
    // True where a name may follow, which an element begins with.
    let mut begins = true;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        parts += 1;
        if parts > SELECTOR_PARTS {
            return None;
        }
        let combines = matches!(token, CssToken::Space | CssToken::Sign('>' | '+' | '~'));
        match token {
            CssToken::Space => written.push(' '),
            CssToken::Sign(sign @ ('>' | '+' | '~')) if !written.trim().is_empty() => {
                written.push(*sign);
            }
            CssToken::Sign('*') if begins => written.push('*'),
            CssToken::Ident(tag) if begins && is_plain(tag) => written.push_str(tag),
            CssToken::Hash(id) => name(&mut written, '#', id)?,
            CssToken::Sign('.') => {
                let (CssToken::Ident(class), after) = rest.split_first()? else { return None };
                rest = after;
                name(&mut written, '.', class)?;
            }
            CssToken::Sign('[') => rest = attribute(&mut written, rest)?,
            CssToken::Sign(':') => rest = pseudo_class(&mut written, rest)?,
            _ => return None,
        }
        begins = combines;
    }
    (!begins && !written.is_empty()).then_some(written)
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// A class or an id, escaped as far as it needs to be.
fn name(written: &mut String, sign: char, name: &str) -> Option<()> {
    if name.to_ascii_lowercase().contains(RESERVED_PREFIX) {
        return None;
    }
    written.push(sign);
    for (at, c) in name.chars().enumerate() {
        match c {
            '-' | '_' => written.push(c),
            '0'..='9' if at > 0 => written.push(c),
            c if c.is_alphabetic() => written.push(c),
            c => written.push_str(&format!("\\{:x} ", c as u32)),
        }
    }
    Some(())
}

/// `[class~="note"]`; gives back what stands behind the bracket.
fn attribute<'t>(written: &mut String, tokens: &'t [CssToken]) -> Option<&'t [CssToken]> {
    let end = tokens.iter().position(|token| *token == CssToken::Sign(']'))?;
    let (inside, rest) = (trim(&tokens[..end]), &tokens[end + 1..]);
    let (CssToken::Ident(name), test) = inside.split_first()? else { return None };
    let name = name.to_ascii_lowercase();
    if !ATTRIBUTES.contains(&name.as_str()) {
        return None;
    }
    written.push('[');
    written.push_str(&name);
    let value = match trim(test) {
        [] => None,
        [CssToken::Sign('='), value @ ..] => {
            written.push('=');
            Some(value)
        }
        [CssToken::Sign(sign @ ('~' | '|' | '^' | '$' | '*')), CssToken::Sign('='), value @ ..] => {
            written.push(*sign);
            written.push('=');
            Some(value)
        }
        _ => return None,
    };
    if let Some(value) = value {
        let [CssToken::Ident(value) | CssToken::Text(value)] = trim(value) else { return None };
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        if !value.chars().all(plain) || value.to_ascii_lowercase().contains(RESERVED_PREFIX) {
            return None;
        }
        written.push_str(&format!("\"{value}\""));
    }
    written.push(']');
    Some(rest)
}

/// `:hover`, `:nth-child(2n+1)`; gives back what stands behind it.
fn pseudo_class<'t>(written: &mut String, tokens: &'t [CssToken]) -> Option<&'t [CssToken]> {
    match tokens.split_first()? {
        (CssToken::Ident(name), rest) => {
            let name = name.to_ascii_lowercase();
            PSEUDO_CLASSES.contains(&name.as_str()).then(|| {
                written.push(':');
                written.push_str(&name);
            })?;
            Some(rest)
        }
        (CssToken::Function(name), inside) if COUNTING.contains(&name.as_str()) => {
            let end = inside.iter().position(|token| *token == CssToken::Sign(')'))?;
            let mut count = String::new();
            for token in &inside[..end] {
                match token {
                    CssToken::Number(number, unit) if is_plain(unit) => {
                        let sign = if *number >= 0.0 && !count.is_empty() { "+" } else { "" };
                        count.push_str(&format!("{sign}{}{unit}", *number as i32));
                    }
                    CssToken::Ident(word) if is_plain(word) => count.push_str(word),
                    CssToken::Space => {}
                    CssToken::Sign('+') => {}
                    _ => return None,
                }
            }
            written.push_str(&format!(":{name}({count})"));
            Some(&inside[end + 1..])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    fn keep(selector: &str) -> Option<String> {
        selectors(trim(&tokens(selector)))
    }

    #[test]
    fn elements_classes_ids_and_states_stay() {
        for (selector, expected) in [
            ("td.note , #top > a:hover", "td.note,#top > a:hover"),
            ("*", "*"),
            (".sm\\:w-full", ".sm\\3a w-full"),
            ("table[class=wrapper] td", "table[class=\"wrapper\"] td"),
            ("*[class~='x y'].z", "*[class~=\"x y\"].z"),
            ("tr:nth-child(2n + 1)", "tr:nth-child(2n+1)"),
            ("tr:nth-child(odd)", "tr:nth-child(odd)"),
            ("a, p::before, b", "a,b"),
            ("u + .body .x", "u + .body .x"),
        ] {
            assert_eq!(keep(selector).as_deref(), Some(expected), "{selector}");
        }
    }

    #[test]
    fn what_asks_for_more_is_dropped() {
        for selector in [
            "",
            "a[href^='https://x.example/']",
            "input[value='a']",
            "p::before",
            "p:has(a)",
            ".mailroom-goes",
            "[class^='mailroom-']",
            "#Mailroom-x",
            "p:not(.x)",
            "a >",
            "> a",
            "a%b",
            "p:nth-child(1 of .mailroom-goes)",
        ] {
            assert_eq!(keep(selector), None, "{selector}");
        }
        assert_eq!(keep(&"a ".repeat(100)), None);
    }
}
