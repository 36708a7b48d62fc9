//! Any bytes as a mail: read, judged and printed without a panic, and nothing unstorable comes out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{Authentication, Envelope, SenderHistory, check, inspect, original, parse};

fuzz_target!(|raw: &[u8]| {
    let mail = parse(raw, Envelope::default());
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!mail.text.contains(control) && !mail.original.contains(control));
    assert!(!mail.subject.contains(char::is_control));
    for file in &mail.attachments {
        assert!(!file.filename.is_empty() && !file.filename.contains(['/', '\\', '\0']));
    }
    let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
    assert!(verdict.score.is_finite() && verdict.reasons.len() <= 3);
    let _ = inspect("fuzz", raw);
    let _ = original(raw);
});
