//! Folder names as IMAP writes them: letters beyond ASCII in a UTF-7 of its own (RFC 3501, section
//! 5.1.3).

use base64::Engine;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::NO_PAD;

const LETTERS: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

pub fn on_the_wire(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    let mut foreign: Vec<u8> = Vec::new();
    for c in name.chars() {
        if matches!(c, ' '..='~') {
            flush(&mut foreign, &mut written);
            written.push(c);
            if c == '&' {
                written.push('-');
            }
            continue;
        }
        let mut units = [0u16; 2];
        foreign.extend(c.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_be_bytes()));
    }
    flush(&mut foreign, &mut written);
    written
}

fn flush(foreign: &mut Vec<u8>, written: &mut String) {
    if !foreign.is_empty() {
        written.push('&');
        written.push_str(&LETTERS.encode(&foreign));
        written.push('-');
        foreign.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::on_the_wire;

    #[test]
    fn names_are_written_as_servers_read_them() {
        for (name, written) in [
            ("INBOX", "INBOX"),
            ("Sales & Support", "Sales &- Support"),
            ("Entwürfe", "Entw&APw-rfe"),
            ("受信", "&U9dP4Q-"),
            ("😀 a", "&2D3eAA- a"),
        ] {
            assert_eq!(on_the_wire(name), written);
        }
    }
}
