//! Whether what a sentence states stands in the mail or in an answer: numbers, amounts, dates,
//! addresses, links and references.

use std::collections::{HashMap, HashSet};

use model::messages::answers::words;

use super::named_entities::{NamedEntityKind, named_entities};

/// What texts state, in a form that can be compared.
#[derive(Clone, Debug, Default)]
pub struct GroundingValues {
    /// What is stated, with the units that it is stated in.
    stated: HashMap<String, HashSet<Option<Unit>>>,
}

/// The sign of a currency, `%`, or the code of a currency without a sign.
type Unit = &'static str;

impl GroundingValues {
    /// What a text in this language states.
    pub fn of(text: &str, language: &str) -> GroundingValues {
        let mut grounds = GroundingValues::default();
        for one in statements(text, language) {
            grounds.stated.entry(one.value).or_default().insert(one.unit);
        }
        grounds
    }

    pub fn add(&mut self, other: &GroundingValues) {
        for (value, units) in &other.stated {
            self.stated.entry(value.clone()).or_default().extend(units);
        }
    }

    /// True when everything that a sentence states is here. A link has to be in `links`, which come
    /// from answers alone: a customer's link is never sent back as ours.
    pub fn hold(&self, sentence: &str, language: &str, links: &GroundingValues) -> bool {
        statements(sentence, language).iter().all(|one| match one.kind {
            NamedEntityKind::Link => links.has(one),
            _ => self.has(one),
        })
    }

    /// Units are compared where both have one: "it costs 348" may be repeated as 348 EUR.
    fn has(&self, wanted: &Statement) -> bool {
        self.stated.get(&wanted.value).is_some_and(|units| {
            wanted.unit.is_none() || units.contains(&None::<Unit>) || units.contains(&wanted.unit)
        })
    }
}

/// One thing that a text states.
struct Statement {
    kind: NamedEntityKind,
    value: String,
    unit: Option<Unit>,
}

/// What a text states: an amount by its value, so that `1,234.50` and `1.234,50` are the same, and a
/// number in words as its digits.
fn statements(text: &str, language: &str) -> Vec<Statement> {
    let mut stated = Vec::new();
    for particular in named_entities(text, &[]) {
        let kind = particular.kind;
        let value = &text[particular.start..particular.end];
        match kind {
            NamedEntityKind::Link | NamedEntityKind::Address => {
                let value = value.trim_end_matches('/').to_lowercase();
                stated.push(Statement { kind, value, unit: None });
            }
            // The groups of a telephone number are no numbers of their own.
            NamedEntityKind::Number => {
                let unit = unit_beside(&text[..particular.start], &text[particular.end..]);
                let (value, own_unit) = number(value);
                stated.push(Statement { kind, value, unit: own_unit.or(unit) });
            }
            // A date is grounded part by part: its day, its month and its year.
            NamedEntityKind::Date | NamedEntityKind::Name => {
                let kind = NamedEntityKind::Number;
                let parts = parts(value);
                stated.extend(parts.map(|value| Statement { kind, value, unit: None }));
            }
        }
    }
    let numbers = words(text).into_iter().filter_map(|word| number_word(&word, language));
    stated.extend(numbers.map(|number| Statement {
        kind: NamedEntityKind::Number,
        value: number.to_string(),
        unit: None,
    }));
    stated
}

/// The parts of a date: its numbers, and the names of days and months.
fn parts(value: &str) -> impl Iterator<Item = String> + '_ {
    value.split_whitespace().filter_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        match word.chars().any(char::is_numeric) {
            true => Some(number(word).0),
            false => Some(words(word).concat()).filter(|folded| !folded.is_empty()),
        }
    })
}

/// A number with the unit written to it. What is no amount, such as a reference or a telephone
/// number, is its letters and digits behind `=`, so that `3-5` is not 35.
fn number(text: &str) -> (String, Option<Unit>) {
    let is_digit = |c: char| c.is_ascii_digit();
    let reference = || (format!("={}", words(text).concat()), None);
    let (Some(first), Some(last)) = (text.find(is_digit), text.rfind(is_digit)) else {
        return reference();
    };
    let (before, after) = (&text[..first], &text[last + 1..]);
    let is_bare = |beside: &str| matches!(beside, "" | "#") || unit(beside).is_some();
    match amount(&text[first..=last]) {
        Some(amount) if is_bare(before) && is_bare(after) => {
            (amount, unit(before).or_else(|| unit(after)))
        }
        _ => reference(),
    }
}

/// The value of an amount, without zeros that say nothing. A last `.` or `,` before one or two
/// digits is the decimal mark; other marks have to group thousands.
fn amount(text: &str) -> Option<String> {
    let (whole, decimals) = match text.rfind(['.', ',']) {
        Some(mark) if (1..=2).contains(&(text.len() - mark - 1)) => {
            (&text[..mark], &text[mark + 1..])
        }
        _ => (text, ""),
    };
    let groups: Vec<&str> = whole.split(['.', ',', '\'', '’', ' ', '\u{a0}', '\u{202f}']).collect();
    let is_number = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = groups.len() == 1
        || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    let whole = groups.concat();
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    if !groups.iter().all(is_number) || !is_grouped || is_padded {
        return None;
    }
    match decimals.trim_end_matches('0') {
        "" => Some(whole),
        rest if rest.bytes().all(|b| b.is_ascii_digit()) => Some(format!("{whole}.{rest}")),
        _ => None,
    }
}

/// The unit that stands next to a number: the word behind it, or else the one before it.
fn unit_beside(before: &str, after: &str) -> Option<Unit> {
    let is_space = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}');
    let is_end = |c: char| !c.is_alphabetic() && !SIGNS.contains(&c);
    let after = after.trim_start_matches(is_space).split(is_end).next().unwrap_or_default();
    let before = before.trim_end_matches(is_space).rsplit(is_end).next().unwrap_or_default();
    unit(after).or_else(|| unit(before))
}

fn unit(word: &str) -> Option<Unit> {
    let word = word.to_lowercase();
    let (unit, _) =
        UNITS.iter().find(|(_, names)| names.split_whitespace().any(|name| name == word))?;
    Some(*unit)
}

const SIGNS: [char; 5] = ['€', '$', '£', '¥', '%'];

const UNITS: [(Unit, &str); 6] = [
    ("€", "€ eur euro euros"),
    ("$", "$ usd dollar dollars"),
    ("£", "£ gbp pound pounds"),
    ("¥", "¥ jpy yen"),
    ("chf", "chf franken"),
    ("%", "% percent prozent"),
];

/// The value of a number in words. One is left out: it is an article in most languages.
fn number_word(word: &str, language: &str) -> Option<i64> {
    let (_, listed) = NUMBER_WORDS.iter().find(|(code, _)| *code == language)?;
    let mut listed = listed.split_whitespace();
    let place = listed.position(|forms| forms.split('/').any(|form| form == word))?;
    NUMBER_VALUES.get(place).copied()
}

const NUMBER_VALUES: [i64; 28] = [
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 30, 40, 50, 60, 70, 80, 90,
    100, 1_000,
];

/// The numbers of `NUMBER_VALUES` in words, without accents. A number of several words, such as
/// `dix-sept`, only holds the place: its parts are numbers.
const NUMBER_WORDS: [(&str, &str); 7] = [
    (
        "en",
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
         sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety \
         hundred thousand",
    ),
    (
        "de",
        "zwei drei vier funf/fuenf sechs sieben acht neun zehn elf zwolf/zwoelf dreizehn vierzehn \
         funfzehn/fuenfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreissig vierzig \
         funfzig/fuenfzig sechzig siebzig achtzig neunzig hundert/einhundert tausend/eintausend",
    ),
    (
        "fr",
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize \
         dix-sept dix-huit dix-neuf vingt/vingts trente quarante cinquante soixante septante \
         huitante/octante nonante cent mille",
    ),
    (
        "es",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis \
         diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta \
         noventa cien/ciento mil",
    ),
    (
        "it",
        "due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici \
         sedici diciassette diciotto diciannove venti trenta quaranta cinquanta sessanta settanta \
         ottanta novanta cento mille",
    ),
    (
        "nl",
        "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien \
         zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig tachtig \
         negentig honderd duizend",
    ),
    (
        "pt",
        "dois/duas tres quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze \
         dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove vinte trinta quarenta \
         cinquenta sessenta setenta oitenta noventa cem/cento mil",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(sentence: &str) -> bool {
        let mail = GroundingValues::of(
            "348.00 EUR, order HM-2026-1044 of 9 November, +49 40 5550 1141, ann@x.example, see \
             http://evil.example/x",
            "en",
        );
        let answer = GroundingValues::of(
            "Returned fees arrive within five bank days, see https://acme.example/fees.",
            "en",
        );
        let mut all = mail;
        all.add(&answer);
        all.hold(sentence, "en", &answer)
    }

    #[test]
    fn what_the_mail_or_the_answer_states_holds() {
        for sentence in [
            "The 348.00 EUR of 9 November arrive within five bank days.",
            "It takes 5 bank days.",
            "The order HM-2026-1044 is known to us.",
            "We write to ann@x.example, and https://acme.example/fees/ has more.",
            "Thank you for your patience.",
            "348,00 is right.",
            "We call you on +49 40 5550 1141.",
        ] {
            assert!(holds(sentence), "{sentence}");
        }
    }

    #[test]
    fn what_stands_nowhere_does_not_hold() {
        for sentence in [
            "You get 349.00 EUR.",
            "You get 40 EUR.",
            "It takes three bank days.",
            "It arrives on 10 November.",
            "It arrives tomorrow.",
            "It arrives in December.",
            "The order HM-2026-1045 is known.",
            "Write to bob@x.example.",
            "See acme.example.",
            "See http://evil.example/x.",
            "Hello [NAME-4],",
        ] {
            assert!(!holds(sentence), "{sentence}");
        }
    }

    #[test]
    fn amounts_are_compared_by_their_value() {
        for (text, value) in [
            ("348.00", "348"),
            ("348,5", "348.5"),
            ("34,800", "34800"),
            ("1.240,50", "1240.5"),
            ("1,240.50", "1240.5"),
            ("1240.50", "1240.5"),
            ("1 240,50", "1240.5"),
            ("1'240.50", "1240.5"),
            ("0.50", "0.5"),
            ("#12", "12"),
            ("3-5", "=35"),
            ("007", "=007"),
            ("9.11.2026", "=9112026"),
            ("+49 40 5550", "=49405550"),
            ("HM-2026-1044", "=hm20261044"),
        ] {
            assert_eq!(number(text).0, value, "{text}");
        }
    }

    #[test]
    fn an_amount_grounds_neither_another_value_nor_another_unit() {
        let holds = |stated: &str, sentence: &str| {
            let grounds = GroundingValues::of(stated, "en");
            grounds.hold(sentence, "en", &grounds)
        };
        assert!(!holds("It was 348.00.", "You get 34,800 EUR."));
        assert!(!holds("It takes 3-5 days.", "You get 35 EUR."));
        assert!(holds("It was 1.240,50.", "It was 1,240.50 EUR, or €1240.50."));
        assert!(holds("It was €20.", "It was 20 euros, EUR 20.00 or 20€."));
        assert!(!holds("It was 20 EUR.", "It was 20 %."));
        assert!(!holds("It was 20%.", "It was $20."));
        assert!(holds("It was 20% or 20 USD.", "It was $20."));
    }

    #[test]
    fn numbers_in_words_are_numbers() {
        for (language, listed) in NUMBER_WORDS {
            assert_eq!(listed.split_whitespace().count(), NUMBER_VALUES.len(), "{language}");
        }
        assert_eq!(number_word("thirteen", "en"), Some(13));
        assert_eq!(number_word("neunzig", "de"), Some(90));
        assert_eq!(number_word("fuenf", "de"), Some(5));
        assert_eq!(number_word("diecinueve", "es"), Some(19));
        assert_eq!(number_word("one", "en"), None);
    }
}
