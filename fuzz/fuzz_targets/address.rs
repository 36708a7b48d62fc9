//! Any text as an address, a subject, a Message-ID or a token.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{
    Address, Envelope, bare_message_id, base_subject, is_address, message_of_id, parse, plus_tag,
    token_of_address,
};

fuzz_target!(|raw: &[u8]| {
    let text = String::from_utf8_lossy(raw);
    let address = Address::new(Some(&text), &text);
    assert!(address.email.chars().count() <= 254);
    let (base, reference) = plus_tag(&text);
    assert!(reference.is_none_or(|reference| reference.len() <= 40 && base.contains('@')));
    let _ = (base_subject(&text), bare_message_id(&text));
    assert!(message_of_id(b"secret", &text).is_none());
    assert!(token_of_address(b"secret", &text).is_none());
    let mut mail = b"From: ".to_vec();
    mail.extend_from_slice(raw);
    mail.extend_from_slice(b"\n\nhello");
    if let Some(from) = parse(&mail, Envelope::default()).from {
        assert!(is_address(&from.email), "{from:?}");
        assert!(from.name.is_none_or(|name| !name.contains(char::is_control)));
    }
});
