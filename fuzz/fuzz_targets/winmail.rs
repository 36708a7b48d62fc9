//! Any bytes as what Outlook packs as `winmail.dat`, as the compressed RTF in it, and as what an S/MIME
//! signature is put around.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{Envelope, attached_mail, mail_pictures, parse, whole_text};

/// The beginning of a package, as far as the content of the property that holds RTF.
const BEFORE_RTF: &[u8] = &[0x78, 0x9f, 0x3e, 0x22, 1, 0, 1, 3, 0x90, 6, 0];

fuzz_target!(|bytes: &[u8]| {
    read("application/ms-tnef", bytes);
    read("application/pkcs7-mime", bytes);
    let size = (bytes.len() as u32).to_le_bytes();
    let property = [&[1, 0, 0, 0, 2, 1, 9, 0x10, 1, 0, 0, 0][..], &size, bytes].concat();
    let length = (property.len() as u32).to_le_bytes();
    read("application/ms-tnef", &[BEFORE_RTF, &length, &property, &[0, 0]].concat());
});

fn read(content_type: &str, bytes: &[u8]) {
    let header = format!("From: a@x.example\nContent-Type: {content_type}\n\n");
    let raw = [header.as_bytes(), bytes].concat();
    let mail = parse(&raw, Envelope::default());
    let size: usize = mail.attachments.iter().map(|file| file.bytes.len()).sum();
    assert!(size <= 10 * raw.len() + 300 * mail.attachments.len(), "files larger than their mail");
    for number in 0..mail.attachments.len().min(5) {
        if let Some(inner) = attached_mail(&raw, &[number]) {
            let _ = parse(&inner, Envelope::default());
        }
    }
    let _ = (whole_text(&raw), mail_pictures(&raw, 1_000));
}
