//! Damaged and random files never panic.

use extraction::Unreadable;

/// Chance from a seed, the same on every machine.
fn chance(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |end| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end.max(1)
    }
}

#[test]
fn no_text_makes_the_rules_fail() {
    let pieces = [
        "Invoice",
        "Rechnung Nr.",
        "Total",
        "12,50",
        "€",
        "05.03.2026",
        "(",
        ")",
        "-",
        "No",
        "#",
        "N°",
        ":",
        "\t",
        "\n",
        "  ",
        "İ",
        "ß",
        "1.2.3.4.5",
        "99999999999999999999",
        "%",
        "Bill to",
        "GmbH",
        "@",
        "http://",
        "\u{202e}",
        "𝟙𝟚",
        "due",
        "bis",
        "1er",
        "🙂",
        "\u{0}",
        "..",
        "a.b@c",
        ",-",
    ];
    for seed in 0..400 {
        let mut chance = chance(seed);
        let count = chance(200);
        let text: String = (0..count).map(|_| pieces[chance(pieces.len())]).collect();
        if let Ok(contents) = extraction::open(text.as_bytes()) {
            let _ = (contents.paper(), contents.text());
        }
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    for (bytes, expected) in [
        (&b""[..], Unreadable::Empty),
        (b"%PDF-1.7 and nothing else", Unreadable::Damaged),
        (b"\x89PNG\r\n\x1a\nshort", Unreadable::Damaged),
        (b"PK\x03\x04\0\0\0", Unreadable::Unknown),
        (b"\x7fELF\x02\x01\x01\0\0\0", Unreadable::Unknown),
    ] {
        assert_eq!(extraction::open(bytes).err(), Some(expected));
        assert!(expected.sentence().ends_with('.'));
    }
}

#[test]
fn text_in_other_encodings_is_read() {
    let latin: Vec<u8> =
        "Rechnung 12\nGesamtbetrag für März 12,50 EUR\n".chars().map(|c| c as u8).collect();
    let wide: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("Invoice 12\nTotal 12.50 EUR\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    for bytes in [latin, wide] {
        let fields = extraction::open(&bytes).expect("a text").paper().fields;
        assert_eq!((fields.amount, fields.reference.as_deref()), (Some(12.5), Some("12")));
    }
}
