//! The envelope of what a client was refused, as far as it was known, in a form that is safe for a log.

/// Characters of an address that are kept (RFC 5321, section 4.5.3.1.3: a path has at most 256 octets).
const ADDRESS_CHARS: usize = 254;
/// Recipients that are named; the rest are counted.
const RECIPIENTS_NAMED: usize = 3;

/// Sender and recipients of a refused mail: addresses alone, nothing of the mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedEnvelope {
    sender: Option<String>,
    recipients: Vec<String>,
    further: usize,
}

impl RefusedEnvelope {
    pub(super) fn new<'a>(
        sender: Option<&str>,
        recipients: impl IntoIterator<Item = &'a str>,
    ) -> RefusedEnvelope {
        let mut recipients = recipients.into_iter();
        let named = recipients.by_ref().take(RECIPIENTS_NAMED).map(clean).collect();
        let sender = sender.map(|path| if path.is_empty() { "<>".to_owned() } else { clean(path) });
        RefusedEnvelope { sender, recipients: named, further: recipients.count() }
    }

    /// The envelope sender; `<>` is that of a bounce, `None` where none was given yet.
    pub fn sender(&self) -> Option<&str> {
        self.sender.as_deref()
    }

    /// The recipients that are concerned, `None` where there are none.
    pub fn recipients(&self) -> Option<String> {
        let named = self.recipients.join(", ");
        match (self.recipients.is_empty(), self.further) {
            (true, _) => None,
            (false, 0) => Some(named),
            (false, further) => Some(format!("{named} and {further} more")),
        }
    }
}

/// Letters, digits and the signs of addresses. Whatever could end a line, hide in it or look like another field is
/// replaced.
fn clean(address: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\' || c.is_alphanumeric();
    let shown = address.chars().map(|c| if is_plain(c) { c } else { '?' });
    let mut text: String = shown.take(ADDRESS_CHARS).collect();
    if address.chars().nth(ADDRESS_CHARS).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_word_of_bounded_length() {
        let long = format!("{}@x.example", "a".repeat(5_000));
        for (address, shown) in [
            ("ann@x.example", "ann@x.example"),
            ("zoë@bücher.example", "zoë@bücher.example"),
            ("\"a b\\\" reason=\"x\"@x", "?a?b???reason=?x?@x"),
            ("a\u{1b}[31m\u{202e}\u{200b}\r\n@x", "a?[31m????@x"),
        ] {
            assert_eq!(clean(address), shown, "{address:?}");
        }
        assert_eq!(clean(&long).chars().count(), ADDRESS_CHARS + 1);
    }

    #[test]
    fn many_recipients_are_counted() {
        let all = ["a@x", "b@x", "c@x", "d@x", "e@x"];
        let shown = |count: usize| RefusedEnvelope::new(Some(""), all[..count].iter().copied());
        assert_eq!(shown(0).recipients(), None);
        assert_eq!(shown(3).recipients().as_deref(), Some("a@x, b@x, c@x"));
        assert_eq!(shown(5).recipients().as_deref(), Some("a@x, b@x, c@x and 2 more"));
        assert_eq!(shown(5).sender(), Some("<>"));
        assert_eq!(RefusedEnvelope::default().sender(), None);
    }
}
