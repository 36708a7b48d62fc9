//! Any bytes as an electronic invoice, a text or what OCR says. PDF and pictures are parsed in a process of
//! their own, which may crash.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| {
    let is_binary = raw.starts_with(b"\xff\xd8") || raw.starts_with(b"\x89PNG") || raw.len() > 60_000;
    if is_binary || raw.windows(5).any(|bytes| bytes == b"%PDF-") {
        return;
    }
    if let Ok(contents) = extraction::open(raw)
        && contents.pictures.is_empty()
        && !contents.is_picture()
    {
        let _ = contents.paper();
    }
    let _ = extraction::words_seen(&String::from_utf8_lossy(raw));
});
