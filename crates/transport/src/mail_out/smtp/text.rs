//! Prepares a mail for `DATA`: CRLF line ends and dot stuffing.

/// A mail as it stands between `DATA` and its end: every line end becomes CRLF, and lines that
/// begin with a dot are dot-stuffed (RFC 5321, section 4.5.2). So no line break in the mail can end
/// it early (SMTP smuggling).
pub fn as_data(mail: &[u8]) -> Vec<u8> {
    let mut data = Vec::with_capacity(mail.len() + mail.len() / 32 + 8);
    let mut lines = mail;
    while !lines.is_empty() {
        let end = lines.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let (line, rest) = lines.split_at(end.unwrap_or(lines.len()));
        if line.first() == Some(&b'.') {
            data.push(b'.');
        }
        data.extend_from_slice(line);
        data.extend_from_slice(b"\r\n");
        lines = match rest {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => rest,
        };
    }
    data.extend_from_slice(b".\r\n");
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_crlf_and_no_line_is_a_lone_dot() {
        for (mail, expected) in [
            ("", ".\r\n"),
            ("a", "a\r\n.\r\n"),
            ("a\r\nb\r\n", "a\r\nb\r\n.\r\n"),
            ("a\nb\rc", "a\r\nb\r\nc\r\n.\r\n"),
            ("\r\n\r\n", "\r\n\r\n.\r\n"),
            (".\r\n..b\n.", "..\r\n...b\r\n..\r\n.\r\n"),
            ("a\r\n.\r\nMAIL FROM:<x>\r\n", "a\r\n..\r\nMAIL FROM:<x>\r\n.\r\n"),
            ("a\n.\nb", "a\r\n..\r\nb\r\n.\r\n"),
            ("a\r.\rb", "a\r\n..\r\nb\r\n.\r\n"),
        ] {
            assert_eq!(String::from_utf8(as_data(mail.as_bytes())).unwrap(), expected, "{mail:?}");
        }
    }
}
