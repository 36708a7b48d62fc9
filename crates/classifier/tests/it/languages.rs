//! Languages of short texts. Those of the shop were looked at while the words were chosen, those of
//! the services were not.

use classifier::{MailLanguage, language, mail_language};

const SHOP: &str = include_str!("language_shop.txt");
const SERVICES: &str = include_str!("language_services.txt");
/// The languages that most mail is in.
const EIGHT: [&str; 8] = ["en", "de", "fr", "es", "it", "nl", "pt", "pl"];

/// Each text with the code of its language; `none` for what is in none of them.
fn rows(file: &str) -> Vec<(&str, &str)> {
    let mut code = "";
    let mut rows = Vec::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(next) => code = next,
            None => rows.push((code, line)),
        }
    }
    rows
}

/// Shares of texts that were named rightly: of the eight, of others, and of none.
fn shares(file: &str, tell: bool) -> [f64; 3] {
    let mut counts = [(0u32, 0u32); 3];
    for (code, text) in rows(file) {
        let named = language(text).map_or("none", MailLanguage::as_str);
        let group = match code {
            "none" => 2,
            code => usize::from(!EIGHT.contains(&code)),
        };
        counts[group].0 += u32::from(named == code);
        counts[group].1 += 1;
        if tell && named != code {
            println!("{code}, not {named}: {text}");
        }
    }
    counts.map(|(right, all)| f64::from(right) / f64::from(all))
}

#[test]
fn languages_of_short_texts_are_named() {
    let mut reached = true;
    for (name, file, tell) in [("shop", SHOP, true), ("services", SERVICES, false)] {
        let [eight, others, none] = shares(file, tell);
        println!("{name}: eight {eight:.3}, others {others:.3}, none {none:.3}");
        reached &= eight >= 0.95 && others >= 0.9 && none >= 0.75;
    }
    assert!(reached);
}

#[test]
fn every_language_has_texts() {
    for language in MailLanguage::ALL {
        if !["mr", "ne", "mk", "te", "sq", "af", "ms"].contains(&language.as_str()) {
            assert!(rows(SHOP).iter().any(|(code, _)| *code == language.as_str()), "{language:?}");
        }
    }
}

#[test]
fn a_mail_is_in_the_language_of_its_writers_own_words() {
    for (subject, text, code) in [
        ("Re: Your order", "Wo bleibt die Lampe?\n> Your order has been sent.\n> Thank you!", "de"),
        ("Re: Your order", "Où est-il ?\n-- \nSent with the mail program of the company", "fr"),
        (
            "Lampe",
            "Wann kommt die Lampe?\n\nBest regards\nJ. Maier\nHead of Sales and of the Office",
            "de",
        ),
        (
            "Fehler",
            "Guten Tag, seit heute kommt diese Meldung, was kann ich tun? Vielen Dank schon im \
             Voraus und freundliche Grüße aus dem Norden, wir warten auf Sie und auf Ihre Antwort.\n\
             error: the file could not be opened because it is in use by an other process of the \
             system and has not been closed by it, please close it and try to open it again",
            "de",
        ),
        ("Gdzie jest moja paczka?", "4711", "pl"),
    ] {
        let named = mail_language(subject, text).map(MailLanguage::as_str);
        assert_eq!(named, Some(code), "{text}");
    }
}

#[test]
fn long_and_hostile_texts_take_little_time() {
    for text in [
        "a".repeat(1_000_000),
        "wo ".repeat(500_000),
        "\u{301}".repeat(500_000),
        "x@y ".repeat(300_000),
        "é".repeat(300_000),
        "漢".repeat(300_000),
    ] {
        language(&text);
        mail_language(&text, &text);
    }
}
