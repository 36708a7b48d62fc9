//! Finds nodes of an XML tree by local names.

use roxmltree::Node;

use crate::paper::{sound, tidy};
use crate::rules::currency;

/// The first child at the end of a path of local names.
pub fn at<'a, 'i>(node: Node<'a, 'i>, path: &[&str]) -> Option<Node<'a, 'i>> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    node.children()
        .filter(|child| child.tag_name().name() == *first)
        .find_map(|child| at(child, rest))
}

/// The first element of that name, however deep.
pub fn within<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.descendants().find(|inner| inner.tag_name().name() == name)
}

pub fn text(node: Option<Node<'_, '_>>) -> Option<String> {
    tidy(node?.text()?)
}

pub fn amount(node: Option<Node<'_, '_>>) -> Option<f64> {
    node?.text()?.trim().parse::<f64>().ok().and_then(sound)
}

pub fn code(node: Option<Node<'_, '_>>) -> Option<String> {
    currency::code(node?.text()?.trim())
}

/// `2026-11-15` and what follows it, or `20261115`.
pub fn date(node: Option<Node<'_, '_>>) -> Option<String> {
    let text = node?.text()?.trim();
    let digits: String = text.chars().filter(|c| *c != '-').take(8).collect();
    if digits.len() != 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let day = format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]);
    day.parse::<jiff::civil::Date>().ok().map(|_| day)
}
