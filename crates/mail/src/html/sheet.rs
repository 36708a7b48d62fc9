//! The rules of a mail's `<style>` blocks that hold on every screen.

use std::collections::HashMap;

use super::element::Attributes;
use super::style::StyleDeclarations;

/// Bytes of all style blocks that are read.
const SHEET_BYTES: usize = 256 * 1024;
/// Rules that are kept.
const RULES: usize = 5_000;
/// Rules that are kept for one name, and names of an element that are looked up.
const RULES_OF_NAME: usize = 16;

/// What style blocks declare, by the id, class or tag that a rule is for.
#[derive(Default)]
pub(super) struct StyleSheet {
    by_name: HashMap<String, Vec<Rule>>,
    count: usize,
    bytes: usize,
}

struct Rule {
    compound: Compound,
    declared: StyleDeclarations,
}

/// `td.note#first`: all of it must be true of an element.
#[derive(Default, PartialEq)]
struct Compound {
    tag: String,
    id: String,
    classes: Vec<String>,
}

impl StyleSheet {
    /// Reads a style block. What stands in `@media` and its likes holds on some screens only, and is
    /// left out.
    pub fn read(&mut self, css: &str) {
        let css = &css[..css.floor_char_boundary(SHEET_BYTES.saturating_sub(self.bytes))];
        self.bytes += css.len();
        let css = without_comments(&css.to_lowercase());
        let mut rest = css.as_str();
        while let Some(start) = rest.find(['{', ';']) {
            let prelude = rest[..start].trim_start_matches(|c: char| c.is_whitespace() || c == '}');
            let after = &rest[start + 1..];
            if rest[start..].starts_with(';') {
                rest = after;
                continue;
            }
            let end = block_end(after);
            if !prelude.starts_with('@') {
                let declared = StyleDeclarations::parse(&after[..end]);
                prelude.split(',').for_each(|selector| self.add(selector.trim(), &declared));
            }
            rest = after.get(end + 1..).unwrap_or_default();
        }
    }

    fn add(&mut self, selector: &str, declared: &StyleDeclarations) {
        // A state such as `:hover` is not how a mail is first seen.
        if self.count >= RULES
            || *declared == StyleDeclarations::default()
            || selector.contains(':')
        {
            return;
        }
        let last = selector.rsplit([' ', '>', '+', '~']).next().unwrap_or(selector);
        let certain = last.len() == selector.len() && !last.contains('[');
        let last = last.split('[').next().unwrap_or_default();
        let Some(compound) = Compound::parse(last) else { return };
        let declared = if certain { *declared } else { declared.uncertain() };
        let rules = self.by_name.entry(compound.key()).or_default();
        if let Some(same) = rules.iter_mut().find(|rule| rule.compound == compound) {
            same.declared.overridden_by(&declared);
        } else if rules.len() < RULES_OF_NAME {
            rules.push(Rule { compound, declared });
            self.count += 1;
        }
    }

    /// What the rules declare for an element: those for its tag, its classes, then its id.
    pub fn declared(&self, tag: &str, attributes: &Attributes) -> StyleDeclarations {
        let mut declared = StyleDeclarations::default();
        if self.by_name.is_empty() {
            return declared;
        }
        let classes = attributes.class.split_ascii_whitespace().take(RULES_OF_NAME);
        let classes = classes.map(|class| format!(".{class}"));
        let names = std::iter::once(tag.to_owned()).chain(classes);
        for name in names.chain([format!("#{}", attributes.id)]) {
            let rules = self.by_name.get(&name).map(Vec::as_slice).unwrap_or_default();
            for rule in rules.iter().filter(|rule| rule.compound.fits(tag, attributes)) {
                declared.overridden_by(&rule.declared);
            }
        }
        declared
    }
}

impl Compound {
    fn parse(text: &str) -> Option<Compound> {
        let mut compound = Compound::default();
        let plain = |name: &str| {
            let fit = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
            !name.is_empty() && name.bytes().all(fit)
        };
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest[1..].find(['.', '#']).map_or(rest.len(), |end| end + 1);
            let (part, after) = rest.split_at_checked(end)?;
            match part.as_bytes()[0] {
                b'.' if plain(&part[1..]) => compound.classes.push(part[1..].to_owned()),
                b'#' if plain(&part[1..]) => compound.id = part[1..].to_owned(),
                _ if plain(part) => compound.tag = part.to_owned(),
                _ => return None,
            }
            rest = after;
        }
        (!text.is_empty()).then_some(compound)
    }

    fn key(&self) -> String {
        match (self.id.as_str(), self.classes.first()) {
            ("", Some(class)) => format!(".{class}"),
            ("", None) => self.tag.clone(),
            (id, _) => format!("#{id}"),
        }
    }

    fn fits(&self, tag: &str, attributes: &Attributes) -> bool {
        let has = |class: &String| attributes.class.split_ascii_whitespace().any(|c| c == class);
        (self.tag.is_empty() || self.tag == tag)
            && (self.id.is_empty() || self.id == attributes.id)
            && self.classes.iter().take(RULES_OF_NAME).all(has)
    }
}

/// Where a block ends that has been opened: before its closing brace.
fn block_end(css: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in css.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    css.len()
}

fn without_comments(css: &str) -> String {
    let mut plain = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain.replace("<!--", " ").replace("-->", " ")
}
