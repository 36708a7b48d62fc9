//! What an element is to the history that a mail quotes.

use super::element::{Attributes, cites, has_class, role};

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
    let role = role(tag, attributes);
    if role.boundary {
        QuoteRole::Boundary
    } else if role.marker {
        QuoteRole::Lead
    } else if role.signature {
        QuoteRole::Signature
    } else if tag != "blockquote" && has_class(attributes, &holds) {
        QuoteRole::Container
    } else if tag == "blockquote" && !cites(attributes) {
        QuoteRole::Indent
    } else if role.quote {
        QuoteRole::Quote
    } else {
        QuoteRole::None
    }
}
