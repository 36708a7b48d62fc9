/// A Message-ID without the angle brackets and spaces that may stand around it.
pub fn bare_message_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix('<').and_then(|id| id.strip_suffix('>')).unwrap_or(id).trim()
}

#[cfg(test)]
mod tests {
    use super::bare_message_id;

    #[test]
    fn brackets_around_a_message_id_do_not_count() {
        assert_eq!(bare_message_id(" <a.1@x> "), "a.1@x");
        assert_eq!(bare_message_id("a.1@x"), "a.1@x");
        assert_eq!(bare_message_id("<a.1@x"), "<a.1@x");
    }
}
