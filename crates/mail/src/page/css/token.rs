//! CSS as tokens (CSS Syntax 3, section 4), with escapes resolved.

/// A token. What is broken is `Bad`, and whatever holds it is left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CssToken {
    Ident(String),
    /// A name with an opening bracket.
    Function(String),
    AtKeyword(String),
    /// `#name`.
    Hash(String),
    Text(String),
    Url(String),
    /// A number and its unit: empty, `%` or a name in lower case.
    Number(f64, String),
    /// Any other character, brackets included.
    Sign(char),
    Space,
    Bad,
}

/// All tokens of a text, in one pass.
pub(super) fn tokens(css: &str) -> Vec<CssToken> {
    let mut lexer = Lexer { rest: css };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        let again = token == CssToken::Space && tokens.last() == Some(&CssToken::Space);
        if !again {
            tokens.push(token);
        }
    }
    tokens
}

struct Lexer<'a> {
    rest: &'a str,
}

impl Lexer<'_> {
    fn next_token(&mut self) -> Option<CssToken> {
        let first = self.rest.chars().next()?;
        if let Some(comment) = self.rest.strip_prefix("/*") {
            self.rest = comment.split_once("*/").map_or("", |(_, after)| after);
            return Some(CssToken::Space);
        }
        // Sheets hide from old browsers in the comment of HTML.
        for hiding in ["<!--", "-->"] {
            if let Some(after) = self.rest.strip_prefix(hiding) {
                self.rest = after;
                return Some(CssToken::Space);
            }
        }
        if first.is_ascii_whitespace() {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
            return Some(CssToken::Space);
        }
        if self.starts_number() {
            return Some(self.number());
        }
        if self.starts_name() {
            let name = self.name();
            return Some(self.after_name(name));
        }
        self.skip(first);
        Some(match first {
            '"' | '\'' => self.text(first),
            '#' if self.continues_name() => CssToken::Hash(self.name()),
            '@' if self.starts_name() => CssToken::AtKeyword(self.name().to_ascii_lowercase()),
            '\\' => CssToken::Bad,
            other => CssToken::Sign(other),
        })
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn starts_number(&self) -> bool {
        let unsigned = self.rest.strip_prefix(['+', '-']).unwrap_or(self.rest);
        let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
        digits.starts_with(|c: char| c.is_ascii_digit())
    }

    fn number(&mut self) -> CssToken {
        let mut point = false;
        let part = |(at, c): (usize, char)| {
            let is_point = c == '.' && !point;
            point |= is_point;
            !(c.is_ascii_digit() || is_point || (at == 0 && matches!(c, '+' | '-')))
        };
        let end = self.rest.char_indices().position(part).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        let Some(number) = number.parse::<f64>().ok().filter(|number| number.is_finite()) else {
            return CssToken::Bad;
        };
        if let Some(rest) = self.rest.strip_prefix('%') {
            self.rest = rest;
            return CssToken::Number(number, "%".to_owned());
        }
        let unit =
            if self.starts_name() { self.name().to_ascii_lowercase() } else { String::new() };
        CssToken::Number(number, unit)
    }

    fn starts_name(&self) -> bool {
        let rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
        let dashes = self.rest.starts_with("--");
        dashes || rest.starts_with(is_name_start) || is_escape(rest)
    }

    fn continues_name(&self) -> bool {
        self.rest.starts_with(is_name_char) || is_escape(self.rest)
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.rest.chars().next() {
            if is_name_char(c) {
                name.push(c);
                self.skip(c);
            } else if is_escape(self.rest) {
                self.skip(c);
                name.push(self.read_escape());
            } else {
                break;
            }
        }
        name
    }

    /// The character that is meant by what stands behind a backslash.
    fn read_escape(&mut self) -> char {
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let c = self.rest.chars().next().unwrap_or('\u{fffd}');
            self.rest = &self.rest[c.len_utf8().min(self.rest.len())..];
            return c;
        }
        let (hex, rest) = self.rest.split_at(digits);
        self.rest = rest.strip_prefix(|c: char| c.is_ascii_whitespace()).unwrap_or(rest);
        let code = u32::from_str_radix(hex, 16).ok().filter(|code| *code != 0);
        code.and_then(char::from_u32).unwrap_or('\u{fffd}')
    }

    fn after_name(&mut self, name: String) -> CssToken {
        let Some(inside) = self.rest.strip_prefix('(') else { return CssToken::Ident(name) };
        self.rest = inside;
        let name = name.to_ascii_lowercase();
        let argument = inside.trim_start_matches(|c: char| c.is_ascii_whitespace());
        match name == "url" && !argument.starts_with(['"', '\'']) {
            true => self.bare_url(),
            false => CssToken::Function(name),
        }
    }

    /// An address without quotes, up to the bracket.
    fn bare_url(&mut self) -> CssToken {
        let (address, rest) = self.rest.split_once(')').unwrap_or((self.rest, ""));
        self.rest = rest;
        let address = address.trim();
        let broken = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '\\' | '<');
        match address.contains(broken) {
            true => CssToken::Bad,
            false => CssToken::Url(address.to_owned()),
        }
    }

    fn text(&mut self, quote: char) -> CssToken {
        let mut text = String::new();
        while let Some(c) = self.rest.chars().next() {
            match c {
                // The string ends with the line, and is none.
                '\n' => return CssToken::Bad,
                '\\' if self.rest[1..].starts_with('\n') => self.rest = &self.rest[2..],
                '\\' => {
                    self.skip(c);
                    text.push(self.read_escape());
                }
                _ => {
                    self.skip(c);
                    if c == quote {
                        return CssToken::Text(text);
                    }
                    text.push(c);
                }
            }
        }
        CssToken::Text(text)
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name_char(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || c == '-'
}

fn is_escape(rest: &str) -> bool {
    rest.strip_prefix('\\').is_some_and(|after| !after.is_empty() && !after.starts_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_and_broken_text_is_bad() {
        let ident = |name: &str| vec![CssToken::Ident(name.to_owned())];
        assert_eq!(tokens("col\\6fr"), ident("color"));
        assert_eq!(tokens("sm\\:w-full"), ident("sm:w-full"));
        assert_eq!(tokens("\\75 rl(//x.example/a)"), [CssToken::Url("//x.example/a".into())]);
        assert_eq!(tokens("url(a b)"), [CssToken::Bad]);
        assert_eq!(tokens("'a\nb")[0], CssToken::Bad);
        assert_eq!(tokens("'a\\'b'"), [CssToken::Text("a'b".into())]);
    }

    #[test]
    fn numbers_have_units() {
        let number = |number: f64, unit: &str| CssToken::Number(number, unit.to_owned());
        assert_eq!(tokens("-1.5PX"), [number(-1.5, "px")]);
        assert_eq!(tokens("50%"), [number(50.0, "%")]);
        assert_eq!(tokens("+.5"), [number(0.5, "")]);
        assert_eq!(tokens("1.2.3")[..], [number(1.2, ""), number(0.3, "")]);
    }

    #[test]
    fn comments_are_space() {
        assert_eq!(tokens("/* a */ <!-- /* b"), [CssToken::Space]);
    }
}
