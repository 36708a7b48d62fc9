//! Selectors that ask where an element stands: within which others, behind which one, as which child.

use std::cell::Cell;

use super::element::Attributes;
use super::sheet::Compound;

/// Elements of a selector that are compared.
const PARTS: usize = 6;
/// Classes and attributes that one element of a selector may ask for.
const NAMES_OF_PART: usize = 16;
/// Elements around one among which the parts of a selector are looked for.
const REACH: usize = 48;
/// Bytes of an element's id or classes that are compared.
const NAME_BYTES: usize = 512;
/// Elements of one page that selectors are compared with in all. Behind that, no more is told by its
/// place.
const COMPARISONS: usize = 400_000;

/// The names of an element, lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct ElementNames {
    pub tag: String,
    pub id: String,
    pub class: String,
}

/// The open elements of a page, each with its place among those beside it.
#[derive(Default)]
pub(super) struct ElementPath {
    levels: Vec<Level>,
    /// How many elements stand outside of all others, and the last of them.
    outermost: (usize, Option<ElementNames>),
    /// Comparisons that were made.
    compared: Cell<usize>,
}

struct Level {
    names: ElementNames,
    /// From one.
    place: usize,
    before: Option<ElementNames>,
    children: usize,
    last_child: Option<ElementNames>,
}

impl ElementPath {
    pub fn enter(&mut self, names: ElementNames) {
        let (children, last) = match self.levels.last_mut() {
            Some(parent) => (&mut parent.children, &mut parent.last_child),
            None => (&mut self.outermost.0, &mut self.outermost.1),
        };
        *children += 1;
        let (place, before) = (*children, last.replace(names.clone()));
        self.levels.push(Level { names, place, before, children: 0, last_child: None });
    }

    /// Notes a number of comparisons; false when they are too many.
    fn may_compare(&self, elements: usize) -> bool {
        let compared = self.compared.get() + elements;
        self.compared.set(compared.min(COMPARISONS));
        compared < COMPARISONS
    }

    /// Closes all but so many of the open elements.
    pub fn truncate(&mut self, open: usize) {
        self.levels.truncate(open);
    }
}

/// How an element stands to the one that its selector names before.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Combinator {
    Within,
    ChildOf,
    Behind,
}

/// `td > p:first-child`: the element itself first, and what must stand around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlacedSelector {
    parts: Vec<(Option<Combinator>, PlacedCompound)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct PlacedCompound {
    compound: Compound,
    /// `an + b`: its place among its siblings.
    place: Option<(i64, i64)>,
    attributes: Vec<AttributeTest>,
}

#[derive(Clone, Debug, PartialEq)]
struct AttributeTest {
    of_class: bool,
    sign: char,
    value: String,
}

impl PlacedSelector {
    /// Reads a selector; `None` for one that asks for something else.
    pub fn parse(selector: &str) -> Option<PlacedSelector> {
        let mut parts = Vec::new();
        let mut rest = selector.trim();
        let mut combinator = None;
        loop {
            let start = rest.rfind([' ', '>', '+', '~']).map_or(0, |at| at + 1);
            // What stands in brackets parts nothing.
            let start =
                match rest[start..].contains([')', ']']) && !rest[start..].contains(['(', '[']) {
                    true => {
                        let open = rest[..start].rfind(['(', '['])?;
                        rest[..open].rfind([' ', '>', '+', '~']).map_or(0, |at| at + 1)
                    }
                    false => start,
                };
            parts.push((combinator, PlacedCompound::parse(&rest[start..])?));
            if start == 0 {
                break;
            }
            let before = rest[..start].trim_end();
            (combinator, rest) = match before.as_bytes().last()? {
                b'>' => (Some(Combinator::ChildOf), before[..before.len() - 1].trim_end()),
                b'+' => (Some(Combinator::Behind), before[..before.len() - 1].trim_end()),
                b'~' => return None,
                _ => (Some(Combinator::Within), before),
            };
            if parts.len() == PARTS || rest.is_empty() {
                return None;
            }
        }
        Some(PlacedSelector { parts })
    }

    /// True when it asks only for the names of the element itself.
    pub fn is_plain(&self) -> bool {
        let is_plain = |part: &PlacedCompound| part.place.is_none() && part.attributes.is_empty();
        matches!(self.parts.as_slice(), [(_, part)] if is_plain(part))
    }

    /// How much comparing the element itself takes, for one with so many classes.
    pub fn comparisons(&self, classes: usize) -> usize {
        let of_part = |part: &PlacedCompound| {
            1 + (part.compound.classes.len() + part.attributes.len()) * classes.max(1)
        };
        self.parts.first().map_or(0, |(_, part)| of_part(part))
    }

    /// True for an element that stands where the path ends. The nearest element that fits is taken for
    /// each part, so that the time is bounded.
    pub fn fits(&self, path: &ElementPath, names: &ElementNames) -> bool {
        let (place, before) = match path.levels.last() {
            Some(parent) => (parent.children + 1, parent.last_child.as_ref()),
            None => (path.outermost.0 + 1, path.outermost.1.as_ref()),
        };
        let mut parts = self.parts.iter();
        if !parts.next().is_some_and(|(_, part)| part.fits(names, place)) {
            return false;
        }
        let reach = path.levels.len().min(REACH);
        if self.parts.len() > 1 && !path.may_compare((self.parts.len() - 1) * (reach + 1)) {
            return false;
        }
        let mut around = path.levels.as_slice();
        let mut beside = before;
        for (combinator, part) in parts {
            match combinator {
                Some(Combinator::Behind) => {
                    // Of an element that is over, only its names are known.
                    let fits = |before: &ElementNames| part.place.is_none() && part.fits(before, 0);
                    if !beside.is_some_and(fits) {
                        return false;
                    }
                    beside = None;
                }
                Some(Combinator::ChildOf) => {
                    let Some((parent, further)) = around.split_last() else { return false };
                    if !part.fits(&parent.names, parent.place) {
                        return false;
                    }
                    (around, beside) = (further, parent.before.as_ref());
                }
                Some(Combinator::Within) | None => {
                    let fits = |level: &Level| part.fits(&level.names, level.place);
                    let near = around.iter().rev().take(REACH).position(fits);
                    let Some(above) = near else {
                        // Every page has these, whether or not it says so.
                        let whole = matches!(part.compound.tag.as_str(), "body" | "html");
                        return whole
                            && part.compound.id.is_empty()
                            && part.compound.classes.is_empty();
                    };
                    let at = around.len() - above - 1;
                    (beside, around) = (around[at].before.as_ref(), &around[..at]);
                }
            }
        }
        true
    }
}

impl PlacedCompound {
    fn parse(text: &str) -> Option<PlacedCompound> {
        let end = text.find(['[', ':']).unwrap_or(text.len());
        let mut part = PlacedCompound {
            compound: Compound::parse(&text[..end])?,
            ..PlacedCompound::default()
        };
        let mut rest = &text[end..];
        while !rest.is_empty() {
            if let Some(test) = rest.strip_prefix('[') {
                let (inside, after) = test.split_once(']')?;
                part.attributes.push(AttributeTest::parse(inside)?);
                rest = after;
                continue;
            }
            let state = rest.strip_prefix(':')?;
            let end = state.find([':', '[']).unwrap_or(state.len());
            match &state[..end] {
                "first-child" => part.place = Some((0, 1)),
                "link" if part.compound.tag == "a" => {}
                counted => {
                    let inside = counted.strip_prefix("nth-child(")?.strip_suffix(')')?;
                    part.place = Some(places(inside)?);
                }
            }
            rest = &state[end..];
        }
        let names = part.compound.classes.len() + part.attributes.len();
        (names <= NAMES_OF_PART).then_some(part)
    }

    fn fits(&self, names: &ElementNames, place: usize) -> bool {
        let counted = |(every, first): (i64, i64)| {
            let from_first = place as i64 - first;
            match every {
                0 => from_first == 0,
                every => from_first % every == 0 && from_first / every >= 0,
            }
        };
        has_names(&self.compound, names)
            && self.place.is_none_or(counted)
            && self.attributes.iter().all(|test| test.fits(names))
    }
}

/// True for an element of these names.
fn has_names(compound: &Compound, names: &ElementNames) -> bool {
    let has = |class: &String| names.class.split_ascii_whitespace().any(|own| own == class);
    (compound.tag.is_empty() || compound.tag == names.tag)
        && (compound.id.is_empty() || compound.id == names.id)
        && compound.classes.iter().all(has)
}

/// `odd`, `2n+1`, `3`.
fn places(text: &str) -> Option<(i64, i64)> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let number = |text: &str, empty: i64| match text {
        "" | "+" => Some(empty),
        "-" => Some(-empty),
        text => text.parse::<i64>().ok().filter(|number| (-10_000..=10_000).contains(number)),
    };
    match text.as_str() {
        "odd" => Some((2, 1)),
        "even" => Some((2, 0)),
        text => match text.split_once('n') {
            Some((every, first)) => Some((number(every, 1)?, number(first, 0)?)),
            None => Some((0, number(text, 0)?)),
        },
    }
}

impl AttributeTest {
    fn parse(text: &str) -> Option<AttributeTest> {
        let (name, value) = text.split_once('=')?;
        let sign = name.chars().next_back().filter(|c| "~|^$*".contains(*c)).unwrap_or('=');
        let of_class = match name.trim_end_matches(['~', '|', '^', '$', '*']).trim() {
            "class" => true,
            "id" => false,
            _ => return None,
        };
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        (!value.is_empty()).then_some(AttributeTest { of_class, sign, value })
    }

    fn fits(&self, names: &ElementNames) -> bool {
        let (given, value) = (if self.of_class { &names.class } else { &names.id }, &self.value);
        match self.sign {
            '~' => given.split_ascii_whitespace().any(|word| word == value),
            '^' => given.starts_with(value),
            '$' => given.ends_with(value),
            '*' => given.contains(value),
            '|' => {
                given == value || given.strip_prefix(value).is_some_and(|end| end.starts_with('-'))
            }
            _ => given == value,
        }
    }
}

impl ElementNames {
    pub fn of(tag: &str, attributes: &Attributes) -> ElementNames {
        let bounded = |text: &str| text[..text.floor_char_boundary(NAME_BYTES)].to_owned();
        let (id, class) = (bounded(&attributes.id), bounded(&attributes.class));
        ElementNames { tag: tag.to_owned(), id, class }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> ElementNames {
        let (tag, class) = text.split_once('.').unwrap_or((text, ""));
        ElementNames { tag: tag.into(), id: String::new(), class: class.into() }
    }

    /// Whether a selector is for the last element of a page that is written so: `div p.x` stands one in
    /// another, `u, p` one behind the other.
    fn fits(selector: &str, page: &str) -> bool {
        let mut path = ElementPath::default();
        let mut elements = page.split(' ').peekable();
        while let Some(element) = elements.next() {
            let open = path.levels.len();
            let own = names(element.trim_end_matches(','));
            if elements.peek().is_none() {
                return PlacedSelector::parse(selector)
                    .is_some_and(|found| found.fits(&path, &own));
            }
            path.enter(own);
            if element.ends_with(',') {
                path.truncate(open);
            }
        }
        false
    }

    #[test]
    fn elements_are_told_by_where_they_stand() {
        for (selector, page, expected) in [
            ("td > p", "table td p", true),
            ("td>p", "table td p", true),
            ("td > p", "table td div p", false),
            ("table p", "table td div p", true),
            (".a .b > i", "p.a div.b i", true),
            ("body p", "p", true),
            ("div.body p", "p", false),
            ("u + p", "u, p", true),
            ("u + p", "b, p", false),
            ("u + .body .x", "u, div.body p.x", true),
            ("p:first-child", "div p", true),
            ("p:first-child", "div b, p", false),
            ("p:nth-child(2n+1)", "b, b, p", true),
            ("p:nth-child(even)", "b, b, p", false),
            ("[class=x]", "p.x", true),
            ("p[class^='x']", "p.xy", true),
            ("p[class~=x]", "p.xy", false),
            ("td > p[class*='x'] > b", "td p.axb b", true),
            ("p[align=left]", "p", false),
            ("p ~ b", "p, b", false),
            ("p:hover", "p", false),
        ] {
            assert_eq!(fits(selector, page), expected, "{selector} {page}");
        }
    }

    #[test]
    fn a_page_cannot_ask_for_more_comparisons_than_are_made() {
        let mut path = ElementPath::default();
        (0..2_000).for_each(|_| path.enter(names("div.a")));
        let selector = PlacedSelector::parse("div.a div.a div.a div.a p").unwrap();
        let fitting = (0..100_000).filter(|_| selector.fits(&path, &names("p"))).count();
        assert!((1..100_000).contains(&fitting), "{fitting}");
        assert!(!selector.fits(&path, &names("p")));
    }

    #[test]
    fn whatever_is_written_is_read_or_refused() {
        for selector in [
            "",
            ">",
            "a >",
            "+ a",
            "((",
            "a[",
            ":nth-child(",
            "p:nth-child(n n)",
            "]a b[",
            "é(a b:x)",
            "p:nth-child(-9223372036854775808)",
        ] {
            let _ = PlacedSelector::parse(selector).map(|found| found.is_plain());
        }
        assert_eq!(PlacedSelector::parse(&"a ".repeat(50)), None);
        assert_eq!(PlacedSelector::parse(&format!("td > p{}", ".x".repeat(100))), None);
    }
}
