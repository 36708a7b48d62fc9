//! The rules of a mail's `<style>` blocks: what those declare that hold on every screen, and for which
//! elements others declare something.

use std::cell::Cell;
use std::collections::HashMap;

use super::element::Attributes;
use super::media::{Holding, holding_of};
use super::selector::{ElementNames, ElementPath, PlacedSelector};
use super::style::CascadedStyles;

/// Bytes of all style blocks that are read.
const SHEET_BYTES: usize = 256 * 1024;
/// Rules that are kept.
const RULES: usize = 5_000;
/// Rules that are kept for one name.
const RULES_OF_NAME: usize = 16;
/// Classes of an element that are looked at.
const CLASSES_OF_ELEMENT: usize = 16;
/// Conditions within conditions.
const CONDITION_DEPTH: usize = 16;
/// Names that are compared with those of all elements of a mail together; of what comes after it is
/// not known what the rules say.
const COMPARISONS: usize = 20_000_000;

/// What style blocks declare, by the id, class or tag that a rule is for; by nothing, where it is for
/// every element.
#[derive(Default)]
pub(super) struct StyleSheet {
    by_name: HashMap<String, Vec<Rule>>,
    /// The same for rules that ask where their elements stand, which also leave something open in
    /// `by_name` for whoever does not know that.
    placed: HashMap<String, Vec<PlacedRule>>,
    count: usize,
    bytes: usize,
    /// Rules were left out, because they are too many.
    is_partial: bool,
    /// Names compared with those of elements.
    comparisons: Cell<usize>,
}

struct Rule {
    compound: Compound,
    styles: CascadedStyles,
    /// Of two rules of the same weight the later one counts.
    order: usize,
}

/// `td.note#first`: all of it must be true of an element.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Compound {
    pub tag: String,
    pub id: String,
    pub classes: Vec<String>,
}

/// A rule that asks where its element stands.
struct PlacedRule {
    selector: PlacedSelector,
    weight: (bool, usize, bool),
    styles: CascadedStyles,
    order: usize,
}

/// A block by what stands before it.
enum Block<'a> {
    /// Rules that hold under a condition.
    Condition(Holding),
    /// Declarations for what these selectors name.
    Rule(&'a str),
    Skipped,
}

impl StyleSheet {
    /// Reads a style block.
    pub fn read(&mut self, css: &str) {
        self.read_held(css, Holding::Always);
    }

    /// The same for one whose rules hold on some screens.
    pub fn read_held(&mut self, css: &str, holding: Holding) {
        let end = css.floor_char_boundary(SHEET_BYTES.saturating_sub(self.bytes));
        self.is_partial |= end < css.len();
        self.bytes += end;
        let css = without_comments(&css[..end].to_lowercase());
        self.read_rules(&css, holding);
    }

    /// Goes once through the rules. Open conditions are a list rather than calls, so that no sheet can
    /// be too deep; whatever is skipped is gone through once more at most.
    fn read_rules(&mut self, css: &str, holding: Holding) {
        let mut conditions: Vec<Holding> = Vec::new();
        let (mut prelude, mut at) = (0, 0);
        while let Some(found) = css[at..].find(['{', ';', '}']) {
            let sign = at + found;
            at = sign + 1;
            match css.as_bytes()[sign] {
                // A stray brace is part of a selector, which it makes invalid.
                b'}' if conditions.pop().is_none() => continue,
                b'{' => {
                    let around = conditions.last().copied().unwrap_or(holding);
                    match block_of(css[prelude..sign].trim_start_matches(is_blank), around) {
                        Block::Condition(holding) if conditions.len() < CONDITION_DEPTH => {
                            conditions.push(holding);
                        }
                        block => {
                            let end = at + block_end(&css[at..]);
                            match block {
                                Block::Condition(_) => self.is_partial = true,
                                Block::Skipped => {}
                                Block::Rule(selectors) => {
                                    self.add_rule(selectors, &css[at..end], around);
                                }
                            }
                            at = css.len().min(end + 1);
                        }
                    }
                }
                _ => {}
            }
            prelude = at;
        }
    }

    fn add_rule(&mut self, selectors: &str, block: &str, holding: Holding) {
        let styles = CascadedStyles::parse(block);
        selectors.split(',').for_each(|selector| self.add(selector.trim(), &styles, holding));
    }

    fn add(&mut self, selector: &str, styles: &CascadedStyles, holding: Holding) {
        if *styles == CascadedStyles::default() {
            return;
        }
        let last = selector.rsplit([' ', '>', '+', '~']).next().unwrap_or(selector);
        let alone = last.len() == selector.len() && !last.contains('[');
        let named = last.split(['[', ':']).next().unwrap_or_default();
        // Behind a backslash a space does not part two elements.
        let parsed = Compound::parse(named).filter(|_| !selector.contains('\\'));
        let Some(compound) = parsed else {
            self.is_partial = true;
            return;
        };
        self.place(selector, &compound, styles, holding);
        let is_named = compound != Compound::default();
        // A state such as `:hover` is not how a mail is first seen.
        let styles = match holding {
            Holding::Sometimes => styles.occasional(),
            Holding::Always | Holding::Usually if selector.contains(':') => styles.occasional(),
            Holding::Always if alone => *styles,
            Holding::Usually if alone => styles.doubt(),
            Holding::Always | Holding::Usually if is_named => styles.uncertain(),
            Holding::Always | Holding::Usually => styles.occasional(),
        };
        self.count += 1;
        let order = self.count;
        let rules = self.by_name.entry(compound.key()).or_default();
        if let Some(same) = rules.iter_mut().find(|rule| rule.compound == compound) {
            same.styles.overridden_by(&styles);
            same.order = order;
        } else if rules.len() < RULES_OF_NAME && self.count < RULES {
            rules.push(Rule { compound, styles, order });
        } else {
            self.is_partial = true;
        }
    }

    /// Keeps a rule that asks where its element stands.
    fn place(
        &mut self,
        selector: &str,
        compound: &Compound,
        styles: &CascadedStyles,
        holding: Holding,
    ) {
        let parsed = PlacedSelector::parse(selector).filter(|found| !found.is_plain());
        let (Some(selector), false) = (parsed, holding == Holding::Sometimes) else { return };
        let rules = self.placed.entry(compound.key()).or_default();
        if rules.len() < RULES_OF_NAME && self.count < RULES {
            let (weight, styles) = (compound.weight(), styles.doubt());
            rules.push(PlacedRule { selector, weight, styles, order: self.count + 1 });
        }
    }

    /// What the rules declare for an element. A later rule counts for more than one before it, one for
    /// a class for more than one for a tag, and one for an id for more than both.
    pub fn cascade(
        &self,
        tag: &str,
        attributes: &Attributes,
        path: Option<&ElementPath>,
    ) -> CascadedStyles {
        let mut styles = CascadedStyles::default();
        styles.normal.doubtful = self.is_partial;
        if self.by_name.is_empty() {
            return styles;
        }
        let mut given = attributes.class.split_ascii_whitespace();
        let classes: Vec<&str> = given.by_ref().take(CLASSES_OF_ELEMENT).collect();
        styles.normal.doubtful |= given.next().is_some();
        let mut names = vec![String::new(), tag.to_owned(), format!("#{}", attributes.id)];
        names.extend(classes.iter().map(|class| format!(".{class}")));
        let mut found: Vec<&Rule> = Vec::new();
        for rule in names.iter().filter_map(|name| self.by_name.get(name)).flatten() {
            if self.comparisons.get() > COMPARISONS {
                styles.normal.doubtful = true;
                break;
            }
            let compared = 1 + rule.compound.classes.len().min(RULES_OF_NAME) * classes.len();
            self.comparisons.set(self.comparisons.get() + compared);
            if rule.compound.fits(tag, &attributes.id, &classes) {
                found.push(rule);
            }
        }
        let mut found: Vec<(_, &CascadedStyles)> = found
            .into_iter()
            .map(|rule| ((rule.compound.weight(), rule.order), &rule.styles))
            .collect();
        if let Some(path) = path.filter(|_| !self.placed.is_empty()) {
            let own = ElementNames::of(tag, attributes);
            let count = own.class.split_ascii_whitespace().count();
            for rule in names.iter().filter_map(|name| self.placed.get(name)).flatten() {
                if self.comparisons.get() > COMPARISONS {
                    styles.normal.doubtful = true;
                    break;
                }
                let compared = self.comparisons.get() + rule.selector.comparisons(count);
                self.comparisons.set(compared);
                if rule.selector.fits(path, &own) {
                    found.push(((rule.weight, rule.order), &rule.styles));
                }
            }
        }
        found.sort_by_key(|(weight, _)| *weight);
        found.iter().for_each(|(_, rule)| styles.overridden_by(rule));
        styles
    }
}

fn block_of(prelude: &str, around: Holding) -> Block<'_> {
    match prelude.strip_prefix("@media") {
        // Conditions within conditions hold even less often.
        Some(condition) if around != Holding::Sometimes => {
            Block::Condition(around.max(holding_of(condition)))
        }
        Some(_) => Block::Skipped,
        None if prelude.starts_with('@') => Block::Skipped,
        None => Block::Rule(prelude),
    }
}

impl Compound {
    pub fn parse(text: &str) -> Option<Compound> {
        let mut compound = Compound::default();
        let plain = |name: &str| {
            let fit = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
            !name.is_empty() && name.bytes().all(fit)
        };
        let mut rest = text;
        while !rest.is_empty() {
            let next = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '#'));
            let (part, after) = rest.split_at(next.map_or(rest.len(), |(at, _)| at));
            match part.as_bytes()[0] {
                b'.' if plain(&part[1..]) => compound.classes.push(part[1..].to_owned()),
                b'#' if plain(&part[1..]) => compound.id = part[1..].to_owned(),
                b'*' if part.len() == 1 => {}
                _ if plain(part) => compound.tag = part.to_owned(),
                _ => return None,
            }
            rest = after;
        }
        Some(compound)
    }

    /// What it counts for: ids, then classes, then the tag.
    fn weight(&self) -> (bool, usize, bool) {
        (!self.id.is_empty(), self.classes.len(), !self.tag.is_empty())
    }

    fn key(&self) -> String {
        match (self.id.as_str(), self.classes.first()) {
            ("", Some(class)) => format!(".{class}"),
            ("", None) => self.tag.clone(),
            (id, _) => format!("#{id}"),
        }
    }

    fn fits(&self, tag: &str, id: &str, classes: &[&str]) -> bool {
        (self.tag.is_empty() || self.tag == tag)
            && (self.id.is_empty() || self.id == id)
            && self
                .classes
                .iter()
                .take(RULES_OF_NAME)
                .all(|class| classes.contains(&class.as_str()))
    }
}

/// What may stand before a selector.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '}'
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
