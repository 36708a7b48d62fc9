//! What an element is to the history that a mail quotes.

use super::element::{Attributes, cites, has_class, meaning};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum QuoteRole {
    /// Nothing special.
    #[default]
    None,
    /// Quoted history.
    Quote,
    /// A block quotation that may as well be the writer's own.
    Indent,
    /// Holds history, and answers between its parts.
    Container,
    /// Announces history: "On Monday Ann wrote:".
    Lead,
    /// Everything from it on is history.
    Boundary,
    /// A mail that is passed on.
    Forwarded,
    Signature,
}

pub(super) fn quote_role(tag: &str, attributes: &Attributes) -> QuoteRole {
    if has_class(attributes, &["moz-forward-container"]) {
        return QuoteRole::Forwarded;
    }
    let holds = ["gmail_quote", "gmail_quote_container", "protonmail_quote"];
    let meaning = meaning(tag, attributes);
    if meaning.boundary {
        QuoteRole::Boundary
    } else if meaning.marker {
        QuoteRole::Lead
    } else if meaning.signature {
        QuoteRole::Signature
    } else if tag != "blockquote" && has_class(attributes, &holds) {
        QuoteRole::Container
    } else if tag == "blockquote" && !cites(attributes) {
        QuoteRole::Indent
    } else if meaning.quote {
        QuoteRole::Quote
    } else {
        QuoteRole::None
    }
}
