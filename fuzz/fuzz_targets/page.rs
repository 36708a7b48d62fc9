//! Any text as the HTML of a mail, a plain text, a vCard: the page has no element that acts and asks
//! for nothing but its pictures, and the segments of a text are the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{PageAddresses, RemotePictures, TextSegment, calendar_part, contact_cards, header_fields, mail_page, remote_picture, text_blocks};
use mail::participants;

fuzz_target!(|raw: &[u8]| {
    let _ = (contact_cards(raw), calendar_part(raw), participants(raw), header_fields(raw));
    let mut mail = b"Content-Type: text/html\n\n".to_vec();
    mail.extend_from_slice(raw);
    let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Shown };
    if let Some(page) = mail_page(&mail, &addresses) {
        let html = page.html.to_ascii_lowercase();
        for bad in ["<script", "<iframe", "<svg", "<math", "<form", "<object", "<base", "<link"] {
            assert!(!html.contains(bad), "{bad}");
        }
        assert!(remote_picture(&mail, page.remote_pictures).is_none());
    }
    let text = String::from_utf8_lossy(raw);
    let segments = text_blocks(&text).into_iter().flat_map(|block| block.segments);
    let whole: String = segments
        .map(|segment| match segment {
            TextSegment::Words(text) | TextSegment::Link { text, .. } => text,
        })
        .collect();
    assert_eq!(whole, text);
});
