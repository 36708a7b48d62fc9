//! Any text as HTML: what is read of it has no sign that cannot be stored.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::text_of_html;

fuzz_target!(|raw: &[u8]| {
    let text = text_of_html(&String::from_utf8_lossy(raw));
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
});
