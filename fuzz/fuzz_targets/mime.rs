//! Any bytes as the parts of a mail: its files stand in it, and each that is a mail is taken apart again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{Envelope, attached_mail, calendar_part, mail_pictures, parse, whole_text};

fuzz_target!(|raw: &[u8]| {
    let mail = parse(raw, Envelope::default());
    for file in &mail.attachments {
        // Decoding may replace a byte that is no letter by three, and never does more.
        assert!(file.bytes.len() <= raw.len() * 3, "a file larger than its mail");
    }
    for number in 0..mail.attachments.len().min(5) {
        if let Some(inner) = attached_mail(raw, &[number, 0]) {
            let _ = parse(&inner, Envelope::default());
        }
    }
    let _ = (whole_text(raw), calendar_part(raw), mail_pictures(raw, 1_000));
});
