//! Media queries: conditions on the width and the theme of the window.

use super::token::CssToken;
use super::value::trim;

const FEATURES: &[&str] = &[
    "-webkit-min-device-pixel-ratio",
    "max-device-width",
    "max-width",
    "min-device-width",
    "min-width",
    "orientation",
    "prefers-color-scheme",
];

/// The conditions of an `@media` rule, written anew; `None` when it asks for anything else.
pub(super) fn media(prelude: &[CssToken]) -> Option<String> {
    let mut written = String::new();
    let mut rest = trim(prelude);
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match token {
            CssToken::Ident(word) => {
                let word = word.to_ascii_lowercase();
                ["all", "and", "only", "screen"]
                    .contains(&word.as_str())
                    .then(|| written.push_str(&word))?;
            }
            CssToken::Space => written.push(' '),
            CssToken::Sign(',') => written.push(','),
            CssToken::Sign('(') => {
                let end = rest.iter().position(|token| *token == CssToken::Sign(')'))?;
                written.push_str(&feature(&rest[..end])?);
                rest = &rest[end + 1..];
            }
            _ => return None,
        }
    }
    (!written.is_empty()).then_some(written)
}

fn feature(inside: &[CssToken]) -> Option<String> {
    let (CssToken::Ident(name), rest) = trim(inside).split_first()? else { return None };
    let (CssToken::Sign(':'), value) = trim(rest).split_first()? else { return None };
    let name = name.to_ascii_lowercase();
    FEATURES.contains(&name.as_str()).then_some(())?;
    let value = match trim(value) {
        [CssToken::Number(number, unit)] if matches!(unit.as_str(), "" | "px" | "em" | "rem") => {
            format!("{number}{unit}")
        }
        [CssToken::Ident(word)]
            if ["dark", "light", "portrait", "landscape"].contains(&word.as_str()) =>
        {
            word.clone()
        }
        _ => return None,
    };
    Some(format!("({name}:{value})"))
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn width_and_theme_may_be_asked_for() {
        for (query, expected) in [
            ("only screen and (max-width: 600px)", Some("only screen and (max-width:600px)")),
            ("(prefers-color-scheme:dark)", Some("(prefers-color-scheme:dark)")),
            ("screen, all", Some("screen, all")),
            ("print", None),
            ("(hover: hover)", None),
            ("(min-width: calc(1px))", None),
            ("", None),
        ] {
            assert_eq!(media(&tokens(query)).as_deref(), expected, "{query}");
        }
    }
}
