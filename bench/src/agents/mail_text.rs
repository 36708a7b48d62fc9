//! A mail as a mail server sends it, and the addresses of those that left.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes of a line of base64 (RFC 2045, 6.8).
const LINE: usize = 76;

pub fn attack_mail(from: &str, to: &str, subject: &str, number: usize, text: &str) -> Vec<u8> {
    let coded = STANDARD.encode(text);
    let lines: Vec<&str> =
        coded.as_bytes().chunks(LINE).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!(
        "From: Guest {number} <{from}>\r\nTo: <{to}>\r\nSubject: {subject}\r\n\
         Date: Sun, 15 Nov 2026 10:00:00 +0000\r\nMessage-ID: <{number}@customers.example>\r\n\
         MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
        lines.join("\r\n")
    )
    .into_bytes()
}

/// The recipients of every mail in a folder.
pub fn recipients_of_all(outbox: &Path) -> Result<Vec<Vec<String>>, String> {
    let mut mails = Vec::new();
    for entry in fs::read_dir(outbox).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|end| end == "eml") {
            let bytes = fs::read(&path).map_err(|error| error.to_string())?;
            mails.push(recipients(&String::from_utf8_lossy(&bytes)));
        }
    }
    Ok(mails)
}

/// The addresses of To, Cc and Bcc.
fn recipients(mail: &str) -> Vec<String> {
    let head = mail
        .split("\r\n\r\n")
        .next()
        .unwrap_or_default()
        .replace("\r\n ", " ")
        .replace("\r\n\t", " ");
    let is_recipients = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        ["to", "cc", "bcc"].contains(&name.as_str())
    };
    head.split("\r\n").filter(is_recipients).flat_map(addresses_in).collect()
}

/// Everything in a text that has the shape of an address, in lower case.
pub fn addresses_in(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '.' | '-' | '_' | '+');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    words.filter(|word| word.contains('@')).map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipients_of_a_mail_stand_in_its_head() {
        let mail = "From: a@x.example\r\nTo: \"B\" <b@y.example>,\r\n c@z.example\r\nCC: D@y.example\r\n\r\nto e@f.example";
        assert_eq!(recipients(mail), ["b@y.example", "c@z.example", "d@y.example"]);
    }

    #[test]
    fn no_line_of_a_mail_begins_with_a_dot() {
        let mail = attack_mail("a@x.example", "b@y.example", "Question 1", 1, ".\r\n.\r\nÜ");
        assert!(!String::from_utf8(mail).unwrap().contains("\r\n."));
    }
}
