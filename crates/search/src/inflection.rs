//! Other forms of a searched word: `invoices` finds `invoice`, `Rechnung` finds `Rechnungen`.
//!
//! The index keeps words as they were written, so that a phrase in quotes stays exact; the forms are
//! made for the query. A form that is no word costs one look-up and finds nothing. The endings are
//! those of English, German, French, Spanish, Italian and Dutch, on words without accents.

/// Letters that must be left of a word without its ending.
const STEM_LETTERS: usize = 4;
/// Letters that must be left without `ed` and `ing`, which also end words that have no other form
/// (`evening`).
const VERB_STEM_LETTERS: usize = 5;
/// Letters of the shortest stem (`box`, `bat` of `bateau`).
const SHORT_STEM_LETTERS: usize = 3;
/// Forms of one word that are looked for.
const FORMS: usize = 14;

/// What a noun or verb may end in beside its stem.
const ENDINGS: [&str; 7] = ["", "s", "e", "en", "es", "ed", "ing"];
/// The same for words that end in a vowel: Spanish and Italian nouns and adjectives.
const VOWEL_ENDINGS: [&str; 7] = ["a", "o", "e", "i", "as", "os", "es"];
/// Endings that replace one another and are not a longer form of the same stem.
const PAIRS: [(&str, &str); 5] =
    [("y", "ies"), ("al", "aux"), ("eau", "eaux"), ("cao", "coes"), ("in", "innen")];

/// The other forms of a folded word, without the word itself.
pub fn other_forms(word: &str) -> Vec<String> {
    if !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut forms = Forms { word, found: Vec::new() };
    for (one, other) in PAIRS {
        forms.swap(one, other);
        forms.swap(other, one);
    }
    if let Some(stem) = hissing_stem(word) {
        forms.add(stem, &[""]);
    }
    let verb = ["ed", "ing"].into_iter().find_map(|ending| stem(word, ending, VERB_STEM_LETTERS));
    if let Some(stem) = verb {
        forms.add(stem, &["", "e", "s", "es", "ed", "ing"]);
        forms.add(without_doubled_letter(stem), &["", "s"]);
    }
    if let Some(stem) = word.strip_suffix('n').filter(|stem| ends_in(stem, &["er", "el"])) {
        forms.add(stem, &["", "s"]);
    }
    let vowel = ["as", "os", "a", "o", "i"];
    if let Some(stem) = vowel.into_iter().find_map(|ending| stem(word, ending, STEM_LETTERS)) {
        forms.add(stem, &VOWEL_ENDINGS);
    } else if let Some(stem) = stem(word, "e", STEM_LETTERS) {
        forms.add(stem, &ENDINGS);
        forms.add(stem, &["a", "i"]);
    } else {
        let stripped = ["es", "en", "s"].into_iter().find_map(|e| stem(word, e, STEM_LETTERS));
        if let Some(stem) = stripped {
            forms.add(stem, &ENDINGS);
        }
    }
    if word.len() >= STEM_LETTERS {
        let plural = if ends_in(word, &["er", "el"]) { ["s", "n"] } else { ["s", "en"] };
        forms.add(word, &plural);
        forms.add(word, &["es", "e", "er", "ed", "ing"]);
    } else if word.len() == SHORT_STEM_LETTERS {
        forms.add(word, &["s", "es"]);
    }
    forms.found
}

/// The forms found so far, each once.
struct Forms<'w> {
    word: &'w str,
    found: Vec<String>,
}

impl Forms<'_> {
    fn add(&mut self, stem: &str, endings: &[&str]) {
        for ending in endings {
            let form = format!("{stem}{ending}");
            if self.found.len() < FORMS && form != self.word && !self.found.contains(&form) {
                self.found.push(form);
            }
        }
    }

    fn swap(&mut self, ending: &str, other: &str) {
        if let Some(stem) = stem(self.word, ending, SHORT_STEM_LETTERS) {
            self.add(stem, &[other]);
        }
    }
}

/// The word without the ending, where enough of it is left.
fn stem<'w>(word: &'w str, ending: &str, letters: usize) -> Option<&'w str> {
    word.strip_suffix(ending).filter(|stem| stem.len() >= letters)
}

/// `box` of `boxes`.
fn hissing_stem(word: &str) -> Option<&str> {
    let stem = stem(word, "es", SHORT_STEM_LETTERS)?;
    ends_in(stem, &["s", "x", "z", "ch", "sh"]).then_some(stem)
}

/// `ship` of `shipp`.
fn without_doubled_letter(stem: &str) -> &str {
    let mut letters = stem.bytes().rev();
    match letters.next() == letters.next() {
        true => &stem[..stem.len() - 1],
        false => stem,
    }
}

fn ends_in(word: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| word.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(asked: &str, written: &str) -> bool {
        other_forms(asked).iter().any(|form| form == written)
    }

    #[test]
    fn a_form_finds_the_others_in_six_languages() {
        let pairs = [
            ("invoice", "invoices"),
            ("delivery", "deliveries"),
            ("order", "ordered"),
            ("change", "changing"),
            ("shipment", "shipments"),
            ("address", "addresses"),
            ("box", "boxes"),
            ("rechnung", "rechnungen"),
            ("kunde", "kunden"),
            ("vertrag", "vertrage"),
            ("lampe", "lampen"),
            ("nummer", "nummern"),
            ("kundin", "kundinnen"),
            ("facture", "factures"),
            ("journal", "journaux"),
            ("bateau", "bateaux"),
            ("factura", "facturas"),
            ("pedido", "pedidos"),
            ("devolucion", "devoluciones"),
            ("fattura", "fatture"),
            ("ordine", "ordini"),
            ("rekening", "rekeningen"),
            ("levering", "leveringen"),
        ];
        for (one, other) in pairs {
            assert!(finds(one, other), "{one} finds {other}: {:?}", other_forms(one));
            assert!(finds(other, one), "{other} finds {one}: {:?}", other_forms(other));
        }
        assert!(finds("shipping", "ship"), "{:?}", other_forms("shipping"));
    }

    #[test]
    fn other_words_are_not_forms() {
        let pairs = [
            ("customer", "custom"),
            ("evening", "even"),
            ("news", "new"),
            ("string", "str"),
            ("bestellung", "bestellen"),
        ];
        for (asked, written) in pairs {
            assert!(!finds(asked, written), "{asked} finds {written}");
        }
    }

    #[test]
    fn numbers_other_scripts_and_short_words_have_no_forms() {
        for word in ["a12", "1240", "счета", "is", ""] {
            assert_eq!(other_forms(word), Vec::<String>::new(), "{word}");
        }
        let many = other_forms("abcdefghijklmnopqrstuvwxyz");
        assert!(many.len() <= FORMS);
    }
}
