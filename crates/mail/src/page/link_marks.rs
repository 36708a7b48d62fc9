//! A mark behind every link whose words show another domain than it leads to.
//!
//! What a reader sees counts. Where the styles leave open which words are seen, every way to read them
//! does, so that no hidden word takes a mark away.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::css::RESERVED_PREFIX;
use super::node::{PageAttributes, PageElement, PageNode};
use crate::html::{TextVisibility, VisibilityTracker, is_block};
use crate::limits::LINK_WORDS;
use crate::scam::{disguised_link, disguised_mailbox, link_goal, link_target, shown_host};

/// Endings that are read as such in any letters. Others that begin with a capital one begin a sentence.
const USUAL_ENDINGS: [&str; 3] = ["com", "net", "org"];

/// Pieces of a link with which the next one is read together.
const JOINED_PIECES: usize = 64;
/// The bytes of their words. Many links after one of many words would be read for long.
const JOINED_BYTES: usize = 4_096;

/// Puts the marks into a page that is shown with this sheet, and says how many they are.
pub(super) fn mark_links(
    nodes: Vec<PageNode>,
    sheet: &str,
    body: &PageAttributes,
) -> (Vec<PageNode>, usize) {
    let mut marker = LinkMarker {
        sight: VisibilityTracker::new(sheet, body),
        written: Vec::with_capacity(nodes.len()),
        starts: Vec::new(),
        links: Vec::new(),
        before: Vec::new(),
        shows_inline: shows_inline(sheet),
        reverses: sheet.contains("-override") || nodes.iter().any(reverses),
        words_left: LINK_WORDS,
        count: 0,
    };
    nodes.into_iter().for_each(|node| marker.take(node));
    (marker.written, marker.count)
}

/// True for a sheet that may put blocks into one line.
fn shows_inline(sheet: &str) -> bool {
    sheet.split("display:inline").skip(1).any(|after| !after.starts_with('-'))
}

/// True for what may show letters from right to left that are written from left to right.
fn reverses(node: &PageNode) -> bool {
    match node {
        PageNode::Start(element) => {
            let style = element.attribute("style");
            element.tag == "bdo" || style.is_some_and(|style| style.contains("-override"))
        }
        PageNode::Text(text) => text.contains('\u{202e}'),
        PageNode::End(_) | PageNode::Void(_) => false,
    }
}

struct LinkMarker {
    sight: VisibilityTracker,
    written: Vec<PageNode>,
    /// The places of the open elements in what is written.
    starts: Vec<usize>,
    links: Vec<OpenLink>,
    /// The pieces of a link that has ended right here: one that follows is read together with it.
    before: Vec<LinkPiece>,
    shows_inline: bool,
    reverses: bool,
    /// Words that may still be compared with the targets of their links.
    words_left: usize,
    count: usize,
}

impl LinkMarker {
    fn take(&mut self, node: PageNode) {
        let mut mark = None;
        match &node {
            PageNode::Start(element) => self.start(element),
            PageNode::Void(element) => self.void(element),
            PageNode::Text(text) => {
                let sight = self.sight.words();
                match self.links.last_mut() {
                    Some(link) => link.words(text, sight),
                    None if sight == TextVisibility::Hidden => {}
                    None => self.before.clear(),
                }
            }
            PageNode::End(tag) => {
                self.sight.leave();
                self.starts.pop();
                match *tag {
                    "a" => {
                        if let Some(link) = self.links.pop() {
                            mark = self.leads(&link);
                            self.before = link.pieces;
                        }
                    }
                    _ => match self.links.last_mut() {
                        Some(link) => link.end(tag),
                        None if breaks(tag) => self.before.clear(),
                        None => {}
                    },
                }
            }
        }
        self.written.push(node);
        if let Some(host) = mark {
            self.mark(&host);
        }
    }

    fn start(&mut self, element: &PageElement) {
        self.starts.push(self.written.len());
        self.sight.enter(element.tag, &element.attributes);
        if element.tag == "a" {
            let href = element.attribute("href").unwrap_or_default().to_owned();
            let mut pieces = std::mem::take(&mut self.before);
            if pieces.len() > JOINED_PIECES || bytes_of(&pieces) > JOINED_BYTES {
                pieces.clear();
            }
            self.links.push(OpenLink { href, looks: Vec::new(), pieces });
        } else if let Some(link) = self.links.last_mut() {
            link.start(element, self.shows_inline);
        } else if breaks(element.tag) {
            self.before.clear();
        }
    }

    fn void(&mut self, element: &PageElement) {
        if !matches!(element.tag, "br" | "hr") {
            return;
        }
        self.sight.enter(element.tag, &element.attributes);
        let sight = self.sight.words();
        self.sight.leave();
        if sight == TextVisibility::Hidden {
            return;
        }
        match self.links.last_mut() {
            Some(link) => {
                link.pieces.push(match sight == TextVisibility::Seen && !is_styled(element) {
                    true => LinkPiece::Break,
                    false => LinkPiece::PerhapsBreak,
                })
            }
            None => self.before.clear(),
        }
    }

    /// Where the link leads, if its words show another domain.
    fn leads(&mut self, link: &OpenLink) -> Option<String> {
        let target = link_target(&link.href)?;
        let goal = link_goal(&target)?;
        let host = match goal.rsplit_once('@') {
            Some((name, host)) => format!("{name}@{}", shown_host(host)),
            None => shown_host(&goal),
        };
        for word in link.shown_words(self.reverses) {
            // Nobody writes so many addresses, but to hide one among them.
            if self.words_left == 0 {
                return Some(host);
            }
            self.words_left -= 1;
            let disguised = match word.contains('@') {
                true => disguised_mailbox(&word, &target),
                false => disguised_link(&word, &target),
            };
            if disguised.is_some() {
                return Some(host);
            }
        }
        None
    }

    /// Writes a mark, and sees to it that nothing around it cuts it off.
    fn mark(&mut self, host: &str) {
        self.count += 1;
        let mark = PageElement::ours("span", &format!("{RESERVED_PREFIX}goes"));
        self.written.push(PageNode::Start(mark));
        self.written.push(PageNode::Text(format!("goes to {host}")));
        self.written.push(PageNode::End("span"));
        self.before.clear();
        let holds = format!("{RESERVED_PREFIX}holds");
        for start in self.starts.iter().rev() {
            let PageNode::Start(element) = &mut self.written[*start] else { continue };
            match element.attributes.iter_mut().find(|(name, _)| *name == "class") {
                // What is around an element that holds a mark holds it too.
                Some((_, class)) if class.contains(&holds) => return,
                Some((_, class)) => class.push_str(&format!(" {holds}")),
                None => element.attributes.push(("class", holds.clone())),
            }
        }
    }
}

/// True for an element that a rule may be for.
fn is_styled(element: &PageElement) -> bool {
    element.attributes.iter().any(|(name, _)| matches!(*name, "class" | "id" | "style"))
}

fn breaks(tag: &str) -> bool {
    is_block(tag) || matches!(tag, "td" | "th")
}

struct OpenLink {
    href: String,
    /// What tells apart the looks of the elements that are open in it.
    looks: Vec<u64>,
    pieces: Vec<LinkPiece>,
}

enum LinkPiece {
    Words {
        text: String,
        sight: TextVisibility,
        look: u64,
    },
    Break,
    /// A style may put what follows into the same line.
    PerhapsBreak,
}

fn bytes_of(pieces: &[LinkPiece]) -> usize {
    let bytes = |piece: &LinkPiece| match piece {
        LinkPiece::Words { text, .. } => text.len(),
        LinkPiece::Break | LinkPiece::PerhapsBreak => 0,
    };
    pieces.iter().map(bytes).sum()
}

impl OpenLink {
    fn start(&mut self, element: &PageElement, shows_inline: bool) {
        if breaks(element.tag) {
            self.pieces.push(match shows_inline || is_styled(element) {
                true => LinkPiece::PerhapsBreak,
                false => LinkPiece::Break,
            });
        }
        let mut hasher = DefaultHasher::new();
        self.look().hash(&mut hasher);
        element.tag.hash(&mut hasher);
        for name in ["class", "id", "style", "color", "size"] {
            element.attribute(name).hash(&mut hasher);
        }
        self.looks.push(hasher.finish());
    }

    fn end(&mut self, tag: &str) {
        self.looks.pop();
        if breaks(tag) {
            self.pieces.push(LinkPiece::PerhapsBreak);
        }
    }

    fn look(&self) -> u64 {
        self.looks.last().copied().unwrap_or_default()
    }

    fn words(&mut self, text: &str, sight: TextVisibility) {
        if sight != TextVisibility::Hidden {
            self.pieces.push(LinkPiece::Words { text: text.to_owned(), sight, look: self.look() });
        }
    }

    /// The addresses in its words, in every way to read them.
    fn shown_words(&self, reverses: bool) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for reading in self.readings() {
            collect_addresses(&reading, &mut words);
            if reverses {
                collect_addresses(&reading.chars().rev().collect::<String>(), &mut words);
            }
        }
        words
    }

    /// What stands in it: all that may be seen, what the styles show, what they show for certain, and what
    /// looks the same; with breaks, and without those that may be none.
    fn readings(&self) -> Vec<String> {
        let shown = |sight: TextVisibility| {
            matches!(sight, TextVisibility::Seen | TextVisibility::PerhapsSeen)
        };
        let mut readings = Vec::new();
        for breaks in [true, false] {
            readings.push(self.reading(breaks, |_| true));
            readings.push(self.reading(breaks, shown));
            readings.push(self.reading(breaks, |sight| sight == TextVisibility::Seen));
        }
        readings.extend(self.same_looks());
        readings.sort_unstable();
        readings.dedup();
        readings
    }

    fn reading(&self, breaks: bool, is_read: impl Fn(TextVisibility) -> bool) -> String {
        let mut reading = String::new();
        for piece in &self.pieces {
            match piece {
                LinkPiece::Words { text, sight, .. } if is_read(*sight) => reading.push_str(text),
                LinkPiece::Words { .. } => {}
                LinkPiece::Break => reading.push('\n'),
                LinkPiece::PerhapsBreak if breaks => reading.push('\n'),
                LinkPiece::PerhapsBreak => {}
            }
        }
        reading
    }

    /// The words of each look, line by line.
    fn same_looks(&self) -> Vec<String> {
        let mut by_look: BTreeMap<u64, (usize, String)> = BTreeMap::new();
        let mut line = 0;
        for piece in &self.pieces {
            match piece {
                LinkPiece::Words { text, look, .. } => {
                    let (last_line, words) = by_look.entry(*look).or_default();
                    if *last_line != line {
                        words.push('\n');
                        *last_line = line;
                    }
                    words.push_str(text);
                }
                LinkPiece::Break | LinkPiece::PerhapsBreak => line += 1,
            }
        }
        by_look.into_values().map(|(_, words)| words).collect()
    }
}

/// The addresses on the web in a text, by their hosts.
fn collect_addresses(text: &str, into: &mut BTreeSet<String>) {
    let seen = |c: &char| !is_invisible(*c);
    let text: String = text.chars().filter(seen).map(as_it_looks).collect();
    for word in text.split(|c: char| !is_address_char(c)) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let (has_scheme, rest) = match word.split_once("://") {
            Some((_, rest)) => (true, rest),
            None => (false, word),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let hosts: Vec<&str> = match authority.contains('@') {
            true if has_scheme => authority.split('@').collect(),
            // The address of a mailbox.
            true => vec![authority.strip_prefix("mailto:").unwrap_or(authority)],
            false => vec![authority],
        };
        let shows = |host: &&str| host.contains('.') && (has_scheme || !begins_sentence(host));
        into.extend(hosts.into_iter().filter(shows).map(str::to_owned));
    }
}

/// True for what looks like a host only because no space stands behind the end of a sentence.
fn begins_sentence(host: &str) -> bool {
    let ending = host.rsplit('.').next().unwrap_or_default();
    let capital = ending.starts_with(char::is_uppercase) && ending.contains(char::is_lowercase);
    capital && !USUAL_ENDINGS.contains(&ending.to_lowercase().as_str())
}

fn is_address_char(c: char) -> bool {
    c.is_alphanumeric() || "-._~:/?#@%&=+!$'*".contains(c)
}

/// Characters that take no place.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// A character as those that an address is made of: dots of other scripts, and letters that are blank.
fn as_it_looks(c: char) -> char {
    match c {
        '\u{2024}' | '\u{3002}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' | '\\' => '/',
        '\u{ff1a}' => ':',
        '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => ' ',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        collect_addresses(text, &mut found);
        found.into_iter().collect()
    }

    #[test]
    fn addresses_are_found_among_words() {
        for (text, expected) in [
            ("Log in at www.bank.com/now, please", &["www.bank.com"][..]),
            ("(https://bank.com:443/a)", &["bank.com:443"]),
            ("https://bank.com@evil.com/", &["bank.com", "evil.com"]),
            ("bank.com/@me", &["bank.com"]),
            ("b\u{200b}an\u{ad}k.\u{2060}com", &["bank.com"]),
            ("bank\u{ff0e}com\u{3164}or so", &["bank.com"]),
            ("Bank.Com →", &["Bank.Com"]),
            ("Write to ann@bank.com!", &["ann@bank.com"]),
            ("Until then.It is late", &[]),
            ("Click here…", &[]),
        ] {
            assert_eq!(addresses(text), expected, "{text}");
        }
    }
}
