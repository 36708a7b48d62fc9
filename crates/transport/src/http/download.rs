//! Headers of a file that is sent to be kept or shown.

/// `Content-Disposition` with a name that anybody may have chosen.
pub fn disposition(place: &str, filename: &str) -> String {
    format!("{place}; filename*=UTF-8''{}", percent(filename))
}

/// A name as RFC 8187 writes it into a header.
fn percent(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    let one = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    name.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_file_name_cannot_leave_its_header() {
        assert_eq!(percent("a b\"\r\nx: é.pdf"), "a%20b%22%0D%0Ax%3A%20%C3%A9.pdf");
    }
}
