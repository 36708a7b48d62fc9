//! References: the plus tags of addresses, such as an order number.

/// Letters, digits, `_` and `-`, at least one digit. The length is up to the caller.
pub fn is_reference(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && text.bytes().any(|b| b.is_ascii_digit())
}
