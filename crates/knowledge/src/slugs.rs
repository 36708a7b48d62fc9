//! Addresses of help pages, made of titles.

use base::limits::HELP_SLUG_CHARS;

/// Letters that are two without their accent, and none that folding would lose.
const LETTERS: [(char, &str); 8] = [
    ('ä', "ae"),
    ('ö', "oe"),
    ('ü', "ue"),
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('å', "a"),
];

/// `Wie lange die Rückgabe geht` becomes `wie-lange-die-rueckgabe-geht`. Empty where no letter can be kept.
pub fn slug_of(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for letter in text.to_lowercase().chars() {
        match LETTERS.iter().find(|(one, _)| *one == letter) {
            Some((_, letters)) => spelled.push_str(letters),
            None => spelled.push(letter),
        }
    }
    let folded = search::fold_name(&spelled);
    let words = folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words {
        if slug.len() + word.len() >= HELP_SLUG_CHARS {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(word);
    }
    slug
}

/// True for an address as it is written here.
pub fn is_slug(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=HELP_SLUG_CHARS).contains(&text.len())
        && text.bytes().all(plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_what_its_title_says() {
        for (title, slug) in [
            ("A part is missing, or broken!", "a-part-is-missing-or-broken"),
            ("Rückgabe & Größe", "rueckgabe-groesse"),
            ("Où est ma commande ?", "ou-est-ma-commande"),
            ("ما هي مدة التسليم", ""),
            ("配送", ""),
            ("../../etc/passwd", "etc-passwd"),
        ] {
            assert_eq!(slug_of(title), slug, "{title}");
            assert!(slug.is_empty() || is_slug(slug), "{title}");
        }
        let long = slug_of(&"word ".repeat(100));
        assert!(is_slug(&long) && long.ends_with("word"), "{long}");
        for bad in ["", "-a", "a-", "A", "a b", "a/b", "ä", "a.b"] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
