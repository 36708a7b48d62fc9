//! Where a list goes on (sent back as `cursor`, found in `Link: rel="next"`).

/// The place after one item of a list, in the order the list had when its first page was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageCursor {
    /// When the first page was read. What moved since keeps the place it had then.
    pub as_of: i64,
    /// The place of the last item given out.
    pub at: i64,
    pub id: String,
}

/// Exactly what [`PageCursor::parse`] accepts.
pub const PATTERN: &str = r"^[0-9]{1,15}\.[0-9]{1,15}\.[0-9a-z]{1,40}$";

impl PageCursor {
    pub fn parse(text: &str) -> Option<PageCursor> {
        let mut parts = text.splitn(3, '.');
        let (as_of, at, id) = (parts.next()?, parts.next()?, parts.next()?);
        let digits =
            |part: &str| (1..=15).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let plain = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
        let fits =
            digits(as_of) && digits(at) && (1..=40).contains(&id.len()) && id.bytes().all(plain);
        fits.then(|| {
            Some(PageCursor { as_of: as_of.parse().ok()?, at: at.parse().ok()?, id: id.into() })
        })?
    }

    /// The cursor's text; `prefix` is the id's prefix, which every item of the list shares.
    pub fn after(as_of: i64, at: i64, id: &str, prefix: &str) -> String {
        format!("{as_of}.{at}.{}", id.strip_prefix(prefix).unwrap_or(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_what_was_written() {
        let text = PageCursor::after(20, 10, "cnv_0ab", "cnv_");
        assert_eq!(
            PageCursor::parse(&text),
            Some(PageCursor { as_of: 20, at: 10, id: "0ab".into() })
        );
        for bad in
            ["", "1.2", "1.2.", "1.2.A", "x.2.a", "1.2.a.b", "1234567890123456.1.a", "-1.1.a"]
        {
            assert_eq!(PageCursor::parse(bad), None, "{bad}");
        }
    }
}
