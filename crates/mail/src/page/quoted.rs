//! Folds the history that a mail quotes: everything from the quotation on goes behind one button.
//!
//! Mail programs mark what they quote (`html::quote_role`). History is folded only where nothing of
//! the writer's own stands behind it, and something of it before: answers between the lines and mails
//! that are passed on stay as they are.

use super::css::RESERVED_PREFIX;
use super::node::{PageElement, PageNode};
use crate::html::{QuoteRole, is_block};
use crate::limits::QUOTE_LEAD_LINES;
use crate::trim::{QuoteLead, begins_header_block, quote_lead};

/// Nodes that are looked at for the lines over a quotation.
const LEAD_NODES: usize = 200;
/// Bytes of those lines; what is longer is prose.
const LEAD_BYTES: usize = 2_000;

/// Folds the history, and says how many lines it has; 0 where nothing is folded.
pub(super) fn fold_history(nodes: Vec<PageNode>) -> (Vec<PageNode>, usize) {
    let Some(start) = history_start(&nodes) else { return (nodes, 0) };
    let lines = count_lines(&nodes[start..]);
    if lines == 0 {
        return (nodes, 0);
    }
    let mut folded: Vec<PageNode> = nodes[..start].to_vec();
    let open = open_elements(&folded);
    folded.extend(open.iter().rev().map(|element| PageNode::End(element.tag)));
    folded.push(PageNode::Start(PageElement::ours("details", &format!("{RESERVED_PREFIX}quoted"))));
    folded.push(PageNode::Start(PageElement { tag: "summary", ..PageElement::default() }));
    folded.push(PageNode::Text(quoted_button(lines)));
    folded.push(PageNode::End("summary"));
    folded.extend(open.into_iter().map(|element| PageNode::Start(again(element))));
    folded.extend_from_slice(&nodes[start..]);
    folded.push(PageNode::End("details"));
    (folded, lines)
}

/// What the button over folded history says.
pub fn quoted_button(lines: usize) -> String {
    format!("Show {lines} quoted {}", if lines == 1 { "line" } else { "lines" })
}

/// An element that goes on behind the button; an id is there once.
fn again(mut element: PageElement) -> PageElement {
    element.attributes.retain(|(name, _)| *name != "id");
    element
}

fn open_elements(nodes: &[PageNode]) -> Vec<PageElement> {
    let mut open: Vec<&PageElement> = Vec::new();
    for node in nodes {
        match node {
            PageNode::Start(element) => open.push(element),
            PageNode::End(_) => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().cloned().collect()
}

/// The node from which on everything is history.
fn history_start(nodes: &[PageNode]) -> Option<usize> {
    let spans = spans(nodes);
    let own = own_words(nodes, &spans);
    let last = own.last().copied();
    let span = spans.into_iter().find(|span| last.is_none_or(|last| span.start > last))?;
    let lead = lead_before(nodes, span.start);
    let start = match lead {
        Some((_, QuoteLead::Forwarded)) => return None,
        Some((start, QuoteLead::Answered)) => start,
        None => span.start,
    };
    let written_above = own.first().is_some_and(|first| *first < start);
    written_above.then(|| with_opening(nodes, start))
}

/// A stretch of nodes that is history, its last one included.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// The outermost stretches of history, in order.
fn spans(nodes: &[PageNode]) -> Vec<Span> {
    let ends = ends(nodes);
    let mut spans = Vec::new();
    let mut at = 0;
    let mut begins_line = true;
    while let Some(node) = nodes.get(at) {
        if begins_line && is_header_block(nodes, at) {
            spans.push(Span { start: at, end: nodes.len() });
            return spans;
        }
        begins_line = breaks_line(node) || (begins_line && !has_words(node));
        let PageNode::Start(element) = node else {
            at += 1;
            continue;
        };
        let whole = Span { start: at, end: ends[at] };
        match element.role {
            QuoteRole::Boundary => {
                if is_forwarded(nodes, at) {
                    return spans;
                }
                spans.push(Span { start: at, end: nodes.len() });
                return spans;
            }
            QuoteRole::Forwarded => at = whole.end,
            QuoteRole::Container if is_forwarded(nodes, at) => at = whole.end,
            QuoteRole::Container => {
                // What stands in it over the first quotation announces it; answers may stand between.
                let quote = first_quote(&nodes[at + 1..whole.end]);
                spans.push(Span { start: at, end: quote.map_or(whole.end, |quote| at + quote) });
                at = quote.map_or(whole.end, |quote| at + quote);
            }
            QuoteRole::Indent if lead_before(nodes, at).is_none() => {}
            QuoteRole::Quote | QuoteRole::Indent | QuoteRole::Lead => {
                if !is_forwarded(nodes, at) {
                    spans.push(whole);
                }
                at = whole.end;
            }
            QuoteRole::None | QuoteRole::Signature => {}
        }
        at += 1;
    }
    spans
}

/// True for the first words of the fields that mail programs write over a mail: its sender, its date.
fn is_header_block(nodes: &[PageNode], at: usize) -> bool {
    match &nodes[at] {
        PageNode::Text(text) if text.contains(':') => {}
        _ => return false,
    }
    let mut lines = String::new();
    for node in nodes[at..].iter().take(LEAD_NODES) {
        match node {
            PageNode::Text(text) if lines.len() + text.len() > LEAD_BYTES => break,
            PageNode::Text(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                if !lines.is_empty()
                    && !lines.ends_with('\n')
                    && text.starts_with(char::is_whitespace)
                {
                    lines.push(' ');
                }
                lines.push_str(&words.join(" "));
                if !words.is_empty() && text.ends_with(char::is_whitespace) {
                    lines.push(' ');
                }
            }
            node if breaks_line(node) && !lines.is_empty() && !lines.ends_with('\n') => {
                lines.push('\n');
            }
            _ => {}
        }
    }
    begins_header_block(&lines)
}

fn has_words(node: &PageNode) -> bool {
    matches!(node, PageNode::Text(text) if !is_blank(text))
}

/// Where each element ends.
fn ends(nodes: &[PageNode]) -> Vec<usize> {
    let mut ends = vec![nodes.len(); nodes.len()];
    let mut open = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        match node {
            PageNode::Start(_) => open.push(at),
            PageNode::End(_) => {
                if let Some(start) = open.pop() {
                    ends[start] = at;
                }
            }
            _ => {}
        }
    }
    ends
}

/// How many nodes stand before the first quotation.
fn first_quote(nodes: &[PageNode]) -> Option<usize> {
    nodes.iter().position(|node| match node {
        PageNode::Start(element) => element.role == QuoteRole::Quote,
        _ => false,
    })
}

/// True when the first line from here on says that what follows is passed on.
fn is_forwarded(nodes: &[PageNode], start: usize) -> bool {
    let mut line = String::new();
    for node in nodes[start..].iter().take(LEAD_NODES) {
        match node {
            PageNode::Text(text) if line.len() + text.len() > LEAD_BYTES => return false,
            PageNode::Text(text) => line.push_str(text),
            _ if breaks_line(node) && !line.trim().is_empty() => break,
            _ => {}
        }
    }
    quote_lead(&line) == Some(QuoteLead::Forwarded)
}

/// The nodes with words of the writer's own: seen, and in no history. Signatures do not count.
fn own_words(nodes: &[PageNode], spans: &[Span]) -> Vec<usize> {
    let mut spans = spans.iter().peekable();
    let mut own = Vec::new();
    let mut passed_over: Vec<bool> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        while spans.next_if(|span| span.end < at).is_some() {}
        let quoted = spans.peek().is_some_and(|span| span.start <= at);
        let within = passed_over.last().copied().unwrap_or_default();
        match node {
            PageNode::Start(element) => {
                let signature = element.role == QuoteRole::Signature;
                passed_over.push(within || element.hidden || signature);
            }
            PageNode::End(_) => {
                passed_over.pop();
            }
            PageNode::Text(text) if !quoted && !within && !is_blank(text) => own.push(at),
            _ => {}
        }
    }
    own
}

/// The lines right before a node that announce a quotation, and where they begin.
fn lead_before(nodes: &[PageNode], before: usize) -> Option<(usize, QuoteLead)> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut begins = before;
    for at in (before.saturating_sub(LEAD_NODES)..before).rev() {
        let node = &nodes[at];
        if let PageNode::Text(text) = node {
            if line.len() + text.len() > LEAD_BYTES {
                return None;
            }
            if !is_blank(text) || !line.is_empty() {
                line.insert_str(0, text);
                begins = at;
            }
            continue;
        }
        let ends = breaks_line(node);
        if ends && !is_blank(&line) {
            lines.insert(0, std::mem::take(&mut line).trim().to_owned());
            if let Some(lead) = quote_lead(&lines.join("\n")) {
                return Some((begins, lead));
            }
            if lines.len() == QUOTE_LEAD_LINES {
                return None;
            }
        }
    }
    lines.insert(0, line.trim().to_owned());
    quote_lead(&lines.join("\n")).map(|lead| (begins, lead))
}

/// The place before what opens right there: elements that hold nothing before it, and a rule.
fn with_opening(nodes: &[PageNode], start: usize) -> usize {
    let opens = |node: &PageNode| match node {
        PageNode::Start(_) => true,
        PageNode::Void(element) => element.tag == "hr",
        PageNode::Text(text) => is_blank(text),
        PageNode::End(_) => false,
    };
    let opening = nodes[..start].iter().rev().take_while(|node| opens(node)).count();
    start - opening
}

fn breaks_line(node: &PageNode) -> bool {
    match node {
        PageNode::Start(element) => is_block(element.tag),
        PageNode::End(tag) => is_block(tag),
        PageNode::Void(element) => matches!(element.tag, "br" | "hr"),
        PageNode::Text(_) => false,
    }
}

fn count_lines(nodes: &[PageNode]) -> usize {
    let mut lines = 0;
    let mut words = false;
    let mut preformatted = 0usize;
    for node in nodes {
        match node {
            PageNode::Start(element) if element.tag == "pre" => preformatted += 1,
            PageNode::End("pre") => preformatted = preformatted.saturating_sub(1),
            PageNode::Text(text) if preformatted > 0 => {
                lines += text.lines().filter(|line| !is_blank(line)).count();
            }
            PageNode::Text(text) => words |= !is_blank(text),
            _ => {}
        }
        if breaks_line(node) && std::mem::take(&mut words) {
            lines += 1;
        }
    }
    lines + usize::from(words)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{200c}' | '\u{feff}'))
}
