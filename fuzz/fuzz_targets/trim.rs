//! Any text: trimming leaves lines out and never makes any up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{inspect_text, trim};

fuzz_target!(|raw: &[u8]| {
    let _ = inspect_text("fuzz", raw);
    let Ok(text) = std::str::from_utf8(raw) else { return };
    // Armour escapes lines that begin with a dash, and other line ends become plain ones.
    if text.contains("PGP SIGNED") || text.contains(|c: char| c.is_control() && c != '\n') {
        return;
    }
    let mut lines = text.lines().map(str::trim_end);
    for line in trim(text).lines() {
        assert!(lines.any(|own| own == line || own.trim_end() == line), "made up: {line:?}");
    }
});
