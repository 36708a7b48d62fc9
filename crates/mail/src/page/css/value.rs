//! Declarations: which properties stay, and which values of them.

use super::PictureAddresses;
use super::token::{CssToken, tokens};
use crate::limits::{STYLE_FUNCTION_DEPTH, STYLE_LENGTH_PX, STYLE_SHADOW_PX};

/// The properties that stay, in the order of the alphabet. Nothing here moves over other things
/// (`position`, `transform`), runs (`animation`, `behavior`), adds words (`content`) or lets a value
/// come from elsewhere (`--name`).
const PROPERTIES: &[&str] = &[
    "align-items",
    "align-self",
    "background",
    "background-color",
    "background-image",
    "background-position",
    "background-repeat",
    "background-size",
    "border",
    "border-bottom",
    "border-bottom-color",
    "border-bottom-left-radius",
    "border-bottom-right-radius",
    "border-bottom-style",
    "border-bottom-width",
    "border-collapse",
    "border-color",
    "border-left",
    "border-left-color",
    "border-left-style",
    "border-left-width",
    "border-radius",
    "border-right",
    "border-right-color",
    "border-right-style",
    "border-right-width",
    "border-spacing",
    "border-style",
    "border-top",
    "border-top-color",
    "border-top-left-radius",
    "border-top-right-radius",
    "border-top-style",
    "border-top-width",
    "border-width",
    "box-shadow",
    "box-sizing",
    "caption-side",
    "clear",
    "color",
    "column-gap",
    "direction",
    "display",
    "empty-cells",
    "flex",
    "flex-basis",
    "flex-direction",
    "flex-grow",
    "flex-shrink",
    "flex-wrap",
    "float",
    "font",
    "font-family",
    "font-size",
    "font-style",
    "font-variant",
    "font-weight",
    "gap",
    "height",
    "justify-content",
    "letter-spacing",
    "line-height",
    "list-style",
    "list-style-position",
    "list-style-type",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "max-height",
    "max-width",
    "min-height",
    "min-width",
    "object-fit",
    "opacity",
    "overflow",
    "overflow-wrap",
    "overflow-x",
    "overflow-y",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "row-gap",
    "table-layout",
    "text-align",
    "text-decoration",
    "text-decoration-color",
    "text-decoration-line",
    "text-decoration-style",
    "text-indent",
    "text-overflow",
    "text-transform",
    "unicode-bidi",
    "vertical-align",
    "visibility",
    "white-space",
    "width",
    "word-break",
    "word-spacing",
    "word-wrap",
];

/// Functions that compute colours, lengths and gradients from what is written in them.
const FUNCTIONS: &[&str] =
    &["calc", "hsl", "hsla", "linear-gradient", "radial-gradient", "rgb", "rgba"];

/// The declarations of a `style` attribute that stay; `None` when none does.
pub(in crate::page) fn clean_declarations(
    style: &str,
    pictures: &mut dyn PictureAddresses,
) -> Option<String> {
    declarations(&tokens(style), pictures)
}

/// The same for the tokens of a block.
pub(super) fn declarations(
    tokens: &[CssToken],
    pictures: &mut dyn PictureAddresses,
) -> Option<String> {
    let parts = split(tokens);
    let named: Vec<(String, &[CssToken])> = parts.into_iter().filter_map(split_name).collect();
    let is_bounded = named.iter().any(|(name, value)| name == "max-width" && is_length(value));
    let mut kept: Vec<String> = Vec::new();
    for (name, value) in named {
        let value = check_value(&name, value, is_bounded, pictures);
        kept.extend(value.map(|value| format!("{name}:{value}")));
    }
    (!kept.is_empty()).then(|| kept.join(";"))
}

/// Cuts a block at the semicolons that stand in no bracket. What stands in braces is dropped: rules
/// within rules hold where it cannot be seen from here.
fn split(tokens: &[CssToken]) -> Vec<&[CssToken]> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            CssToken::Function(_) | CssToken::Sign('(' | '[' | '{') => depth += 1,
            CssToken::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            CssToken::Sign(';') if depth == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}

fn split_name(declaration: &[CssToken]) -> Option<(String, &[CssToken])> {
    let declaration = trim(declaration);
    let (CssToken::Ident(name), rest) = declaration.split_first()? else { return None };
    let (CssToken::Sign(':'), value) = trim(rest).split_first()? else { return None };
    Some((name.to_ascii_lowercase(), trim(value)))
}

pub(super) fn trim(mut tokens: &[CssToken]) -> &[CssToken] {
    while let [CssToken::Space, rest @ ..] | [rest @ .., CssToken::Space] = tokens {
        tokens = rest;
    }
    tokens
}

/// A value as it stays; `None` for one that may not.
fn check_value(
    name: &str,
    value: &[CssToken],
    is_bounded: bool,
    pictures: &mut dyn PictureAddresses,
) -> Option<String> {
    PROPERTIES.binary_search(&name).ok()?;
    let (value, important) = without_important(value);
    if name == "display" && !is_display(value) {
        return None;
    }
    // Columns that stand below each other on small screens multiply what is left of their width.
    let multiplies = is_bounded && name == "width";
    let mut written = Written { property: name, multiplies, text: String::new(), pictures };
    written.tokens(value, 0)?;
    let text = written.text.trim();
    let important = if important { " !important" } else { "" };
    (!text.is_empty()).then(|| format!("{text}{important}"))
}

fn without_important(value: &[CssToken]) -> (&[CssToken], bool) {
    match trim(value) {
        [rest @ .., CssToken::Sign('!'), CssToken::Ident(word)]
        | [rest @ .., CssToken::Sign('!'), CssToken::Space, CssToken::Ident(word)]
            if word.eq_ignore_ascii_case("important") =>
        {
            (trim(rest), true)
        }
        rest => (rest, false),
    }
}

/// A single length, and no keyword such as `none`.
fn is_length(value: &[CssToken]) -> bool {
    matches!(without_important(value).0, [CssToken::Number(..)])
}

fn is_display(value: &[CssToken]) -> bool {
    const SHOWN: [&str; 5] = ["none", "block", "flex", "list-item", "flow-root"];
    let [CssToken::Ident(word)] = value else { return false };
    let word = word.to_ascii_lowercase();
    SHOWN.contains(&word.as_str()) || word.starts_with("inline") || word.starts_with("table")
}

struct Written<'a> {
    property: &'a str,
    /// `calc` may multiply, because another declaration bounds what comes of it.
    multiplies: bool,
    text: String,
    pictures: &'a mut dyn PictureAddresses,
}

impl Written<'_> {
    /// Writes tokens up to the end or to a closing bracket, and says how many they were.
    fn tokens(&mut self, tokens: &[CssToken], depth: usize) -> Option<usize> {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                CssToken::Sign(')') if depth > 0 => return Some(at),
                CssToken::Function(name) if name == "url" => {
                    let end =
                        tokens[at..].iter().position(|token| *token == CssToken::Sign(')'))?;
                    let [CssToken::Text(address)] = trim(&tokens[at..at + end]) else {
                        return None;
                    };
                    self.picture(address)?;
                    at += end + 1;
                }
                CssToken::Function(name) => {
                    let known = FUNCTIONS.contains(&name.as_str());
                    if !known || depth == STYLE_FUNCTION_DEPTH {
                        return None;
                    }
                    self.text.push_str(name);
                    self.text.push('(');
                    at += self.tokens(&tokens[at..], depth + 1)?;
                    self.text.push(')');
                }
                CssToken::Sign('(') if depth > 0 && depth < STYLE_FUNCTION_DEPTH => {
                    self.text.push('(');
                    at += self.tokens(&tokens[at..], depth + 1)?;
                    self.text.push(')');
                }
                CssToken::Sign(sign) => self.sign(*sign, &tokens[at..], depth)?,
                token => self.one(token)?,
            }
        }
        // A bracket that is never closed is closed by the end.
        Some(at)
    }

    fn one(&mut self, token: &CssToken) -> Option<()> {
        match token {
            CssToken::Ident(word) => {
                let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
                word.chars().all(plain).then(|| self.text.push_str(word))
            }
            CssToken::Hash(digits) => {
                let hex = digits.len() <= 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                hex.then(|| {
                    self.text.push('#');
                    self.text.push_str(digits);
                })
            }
            CssToken::Text(text) => {
                let unsafe_char = |c: char| c.is_control() || matches!(c, '\'' | '\\' | '<' | '>');
                (!text.contains(unsafe_char)).then(|| {
                    self.text.push('\'');
                    self.text.push_str(text);
                    self.text.push('\'');
                })
            }
            CssToken::Url(address) => self.picture(address),
            CssToken::Number(number, unit) => self.number(*number, unit),
            CssToken::Space => {
                self.text.push(' ');
                Some(())
            }
            _ => None,
        }
    }

    /// Signs between values; those of arithmetic only within `calc`.
    fn sign(&mut self, sign: char, after: &[CssToken], depth: usize) -> Option<()> {
        let fits = match sign {
            ',' => true,
            // A length must not become huge by a tiny divisor.
            '/' if depth > 0 => {
                let next = trim(after).first();
                matches!(next, Some(CssToken::Number(by, _)) if by.abs() >= 1.0)
            }
            '/' => true,
            '+' | '-' => depth > 0,
            '*' => depth > 0 && self.multiplies,
            _ => false,
        };
        fits.then(|| self.text.push(sign))?;
        Some(())
    }

    fn number(&mut self, number: f64, unit: &str) -> Option<()> {
        if number < 0.0 && self.property.starts_with("margin") {
            return None;
        }
        let most = match self.property {
            "box-shadow" => STYLE_SHADOW_PX,
            _ => STYLE_LENGTH_PX,
        };
        let px = number.abs() * px_of_unit(unit, self.property)?;
        (px <= most).then(|| self.text.push_str(&format!("{number}{unit}")))
    }

    /// A picture behind an element, where there may be one; its place is kept where it may not be
    /// fetched.
    fn picture(&mut self, address: &str) -> Option<()> {
        if !matches!(self.property, "background" | "background-image") {
            return None;
        }
        match self.pictures.background(address) {
            Some(address) => self.text.push_str(&format!("url('{address}')")),
            None => self.text.push_str("none"),
        }
        Some(())
    }
}

/// What a unit comes to in pixels, roughly; `None` for units that may not be used. Those of the
/// window's height would make a frame that grows to its content grow for ever.
fn px_of_unit(unit: &str, property: &str) -> Option<f64> {
    Some(match unit {
        // A line height is a multiple of the letters' size.
        "" if property == "line-height" => 16.0,
        "" | "px" | "deg" | "fr" => 1.0,
        "pt" => 4.0 / 3.0,
        "em" | "rem" | "pc" => 16.0,
        "ex" | "ch" => 8.0,
        "%" | "vw" => 10.0,
        "in" => 96.0,
        "cm" => 38.0,
        "mm" | "q" => 4.0,
        _ => return None,
    })
}

/// The size of a picture, as far as its own style names it in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::page) struct DeclaredSize {
    pub width: Option<f64>,
    pub height: Option<f64>,
}

pub(in crate::page) fn declared_size(style: &str) -> DeclaredSize {
    let mut size = DeclaredSize::default();
    let tokens = tokens(style);
    for (name, value) in split(&tokens).into_iter().filter_map(split_name) {
        let px = match without_important(value).0 {
            [CssToken::Number(number, unit)] if unit != "%" => {
                px_of_unit(unit, &name).map(|px| number * px)
            }
            _ => None,
        };
        match name.as_str() {
            "width" | "max-width" => size.width = px.or(size.width),
            "height" | "max-height" => size.height = px.or(size.height),
            _ => {}
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbered;

    impl PictureAddresses for Numbered {
        fn background(&mut self, address: &str) -> Option<String> {
            address.starts_with("https://").then(|| "/p/1".to_owned())
        }
    }

    fn keep(style: &str) -> Option<String> {
        clean_declarations(style, &mut Numbered)
    }

    #[test]
    fn properties_stand_in_their_order() {
        assert!(PROPERTIES.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn what_lays_out_and_colours_stays() {
        for (style, expected) in [
            ("color: red; FONT-SIZE: 12px", "color:red;font-size:12px"),
            ("color: rgb(1, 2, 3)", "color:rgb(1, 2, 3)"),
            ("font-family: 'Open Sans', Arial", "font-family:'Open Sans', Arial"),
            ("font: bold 12px/1.5 \"A B\", serif", "font:bold 12px/1.5 'A B', serif"),
            ("width: calc(100% - 20px)", "width:calc(100% - 20px)"),
            (
                "min-width:50%;max-width:100%;width:calc((480px - 100%) * 480)",
                "min-width:50%;max-width:100%;width:calc((480px - 100%) * 480)",
            ),
            ("max-width:none;width:calc(2px * 2)", "max-width:none"),
            ("margin: 0 auto !important", "margin:0 auto !important"),
            ("display:none;mso-hide:all", "display:none"),
            (
                "background: #fff url('https://x.example/a') no-repeat",
                "background:#fff url('/p/1') no-repeat",
            ),
            ("background-image: url(http://x.example/a)", "background-image:none"),
            (
                "background:linear-gradient(90deg, #fff 0%, #000 100%)",
                "background:linear-gradient(90deg, #fff 0%, #000 100%)",
            ),
            ("col\\6fr: red", "color:red"),
        ] {
            assert_eq!(keep(style).as_deref(), Some(expected), "{style}");
        }
    }

    #[test]
    fn what_covers_runs_names_or_fetches_is_dropped() {
        for style in [
            "",
            "position: fixed; top: 0; z-index: 9",
            "margin-top: -10px",
            "margin: 0 0 0 -1px",
            "transform: translate(-100px)",
            "color: expression(alert(1))",
            "color: var(--x)",
            "--x: red",
            "content: url(https://x.example)",
            "list-style: url(https://x.example)",
            "color: \\65xpression(1)",
            "behavior: url(#x)",
            "-moz-binding: url(x)",
            "background: image-set('https://x.example' 1x)",
            "background: url(javascript:alert(1) )x(",
            "font-family: '</style><script>'",
            "font-family: 'a\\27 b'",
            "height: 100vh",
            "height: 1e9px",
            "width: 99999999px",
            "line-height: 9999",
            "width: calc(9999px * 9999)",
            "width: calc(9999px / 0.001)",
            "box-shadow: 0 0 0 9999px #fff",
            "display: grid-lanes(x)",
            "color: red}body{display:none",
        ] {
            assert_eq!(keep(style), None, "{style}");
        }
    }

    #[test]
    fn the_size_of_a_picture_is_read_from_its_style() {
        let size = declared_size("width:1px!important; height: 0.75pt");
        assert_eq!((size.width, size.height), (Some(1.0), Some(1.0)));
        assert_eq!(declared_size("width:100%"), DeclaredSize::default());
    }
}
