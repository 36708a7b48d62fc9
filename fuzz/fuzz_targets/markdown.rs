//! Any text as what a person writes: its HTML has no element that acts, and its pictures are attachments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{PictureUrls, markdown_html, markdown_pictures, markdown_text};

fuzz_target!(|source: &str| {
    let html = markdown_html(source, PictureUrls { before: "/p/", behind: "" });
    let lower = html.to_ascii_lowercase();
    for bad in ["<script", "<iframe", "<svg", "<style", "<form", "javascript:", " onerror="] {
        let escaped = bad.starts_with('<') || !source.to_ascii_lowercase().contains(bad);
        assert!(!escaped || !lower.contains(bad), "{bad}");
    }
    let plain = |id: &String| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    assert!(markdown_pictures(source).iter().all(plain));
    let _ = markdown_text(source);
});
