//! The parser of headers and parts.

use std::sync::LazyLock;

use mail_parser::{HeaderName, MessageParser};

/// Reads only those fields by their grammar whose parts are looked at; all others are taken as they
/// stand, so that a mistake in one cannot reach the next.
pub static PARSER: LazyLock<MessageParser> = LazyLock::new(|| {
    MessageParser::new()
        .with_mime_headers()
        .header_text(HeaderName::Subject)
        .header_address(HeaderName::From)
        .header_address(HeaderName::Sender)
        .header_address(HeaderName::ReplyTo)
        .header_address(HeaderName::To)
        .header_address(HeaderName::Cc)
        .default_header_raw()
});
