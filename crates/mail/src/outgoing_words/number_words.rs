//! Numbers that are written as words, in the languages that mail here is mostly written in.

/// A number in words, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct WordNumber {
    pub start: usize,
    pub end: usize,
    pub value: f64,
}

/// Characters of a word that is read as a number; `neunhundertneunundneunzigtausend` has 32.
const WORD_CHARS: usize = 60;
/// Words of one number.
const NUMBER_WORDS: usize = 12;

/// What a part of a number word says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NumberPart {
    /// Is added: `seven`, `twenty`, `quinientos`.
    Adds(f64),
    /// Multiplies what stands before it: `hundred`.
    Hundred,
    /// Multiplies all of its group: `thousand`.
    Multiplies(f64),
    /// `and`, which only stands between others.
    And,
}

use NumberPart::{Adds, And, Hundred, Multiplies};

/// Parts of number words in English, German, Dutch, French, Spanish and Italian, in lower case.
const PARTS: &[(&str, NumberPart)] = &[
    ("one", Adds(1.0)),
    ("two", Adds(2.0)),
    ("three", Adds(3.0)),
    ("four", Adds(4.0)),
    ("five", Adds(5.0)),
    ("six", Adds(6.0)),
    ("seven", Adds(7.0)),
    ("eight", Adds(8.0)),
    ("nine", Adds(9.0)),
    ("ten", Adds(10.0)),
    ("eleven", Adds(11.0)),
    ("twelve", Adds(12.0)),
    ("dozen", Adds(12.0)),
    ("thirteen", Adds(13.0)),
    ("fourteen", Adds(14.0)),
    ("fifteen", Adds(15.0)),
    ("sixteen", Adds(16.0)),
    ("seventeen", Adds(17.0)),
    ("eighteen", Adds(18.0)),
    ("nineteen", Adds(19.0)),
    ("twenty", Adds(20.0)),
    ("thirty", Adds(30.0)),
    ("forty", Adds(40.0)),
    ("fourty", Adds(40.0)),
    ("fifty", Adds(50.0)),
    ("sixty", Adds(60.0)),
    ("seventy", Adds(70.0)),
    ("eighty", Adds(80.0)),
    ("ninety", Adds(90.0)),
    ("hundred", Hundred),
    ("hundreds", Hundred),
    ("thousand", Multiplies(1e3)),
    ("thousands", Multiplies(1e3)),
    ("grand", Multiplies(1e3)),
    ("million", Multiplies(1e6)),
    ("millions", Multiplies(1e6)),
    ("billion", Multiplies(1e12)),
    ("billions", Multiplies(1e12)),
    ("and", And),
    ("ein", Adds(1.0)),
    ("eins", Adds(1.0)),
    ("eine", Adds(1.0)),
    ("zwei", Adds(2.0)),
    ("zwo", Adds(2.0)),
    ("drei", Adds(3.0)),
    ("dreis", Adds(3.0)),
    ("vier", Adds(4.0)),
    ("fünf", Adds(5.0)),
    ("fuenf", Adds(5.0)),
    ("sechs", Adds(6.0)),
    ("sieben", Adds(7.0)),
    ("acht", Adds(8.0)),
    ("neun", Adds(9.0)),
    ("zehn", Adds(10.0)),
    ("elf", Adds(11.0)),
    ("zwölf", Adds(12.0)),
    ("zwoelf", Adds(12.0)),
    ("dutzend", Adds(12.0)),
    ("dreizehn", Adds(13.0)),
    ("vierzehn", Adds(14.0)),
    ("fünfzehn", Adds(15.0)),
    ("fuenfzehn", Adds(15.0)),
    ("sechzehn", Adds(16.0)),
    ("siebzehn", Adds(17.0)),
    ("achtzehn", Adds(18.0)),
    ("neunzehn", Adds(19.0)),
    ("zwanzig", Adds(20.0)),
    ("dreißig", Adds(30.0)),
    ("dreissig", Adds(30.0)),
    ("vierzig", Adds(40.0)),
    ("fünfzig", Adds(50.0)),
    ("fuenfzig", Adds(50.0)),
    ("sechzig", Adds(60.0)),
    ("siebzig", Adds(70.0)),
    ("achtzig", Adds(80.0)),
    ("neunzig", Adds(90.0)),
    ("hundert", Hundred),
    ("tausend", Multiplies(1e3)),
    ("millionen", Multiplies(1e6)),
    ("milliarde", Multiplies(1e9)),
    ("milliarden", Multiplies(1e9)),
    ("und", And),
    ("een", Adds(1.0)),
    ("één", Adds(1.0)),
    ("twee", Adds(2.0)),
    ("drie", Adds(3.0)),
    ("vijf", Adds(5.0)),
    ("zes", Adds(6.0)),
    ("zeven", Adds(7.0)),
    ("negen", Adds(9.0)),
    ("tien", Adds(10.0)),
    ("twaalf", Adds(12.0)),
    ("vijftien", Adds(15.0)),
    ("twintig", Adds(20.0)),
    ("dertig", Adds(30.0)),
    ("veertig", Adds(40.0)),
    ("vijftig", Adds(50.0)),
    ("zestig", Adds(60.0)),
    ("zeventig", Adds(70.0)),
    ("tachtig", Adds(80.0)),
    ("negentig", Adds(90.0)),
    ("honderd", Hundred),
    ("duizend", Multiplies(1e3)),
    ("miljoen", Multiplies(1e6)),
    ("miljard", Multiplies(1e9)),
    ("deux", Adds(2.0)),
    ("trois", Adds(3.0)),
    ("quatre", Adds(4.0)),
    ("cinq", Adds(5.0)),
    ("sept", Adds(7.0)),
    ("huit", Adds(8.0)),
    ("neuf", Adds(9.0)),
    ("dix", Adds(10.0)),
    ("onze", Adds(11.0)),
    ("douze", Adds(12.0)),
    ("quinze", Adds(15.0)),
    ("vingt", Adds(20.0)),
    ("vingts", Adds(20.0)),
    ("trente", Adds(30.0)),
    ("quarante", Adds(40.0)),
    ("cinquante", Adds(50.0)),
    ("soixante", Adds(60.0)),
    ("septante", Adds(70.0)),
    ("huitante", Adds(80.0)),
    ("nonante", Adds(90.0)),
    ("cent", Hundred),
    ("cents", Hundred),
    ("mille", Multiplies(1e3)),
    ("milliard", Multiplies(1e9)),
    ("milliards", Multiplies(1e9)),
    ("dos", Adds(2.0)),
    ("tres", Adds(3.0)),
    ("cuatro", Adds(4.0)),
    ("cinco", Adds(5.0)),
    ("seis", Adds(6.0)),
    ("siete", Adds(7.0)),
    ("ocho", Adds(8.0)),
    ("nueve", Adds(9.0)),
    ("diez", Adds(10.0)),
    ("veinte", Adds(20.0)),
    ("treinta", Adds(30.0)),
    ("cuarenta", Adds(40.0)),
    ("cincuenta", Adds(50.0)),
    ("sesenta", Adds(60.0)),
    ("setenta", Adds(70.0)),
    ("ochenta", Adds(80.0)),
    ("noventa", Adds(90.0)),
    ("cien", Hundred),
    ("ciento", Hundred),
    ("cientos", Hundred),
    ("quinientos", Adds(500.0)),
    ("setecientos", Adds(700.0)),
    ("novecientos", Adds(900.0)),
    ("mil", Multiplies(1e3)),
    ("millón", Multiplies(1e6)),
    ("millones", Multiplies(1e6)),
    ("due", Adds(2.0)),
    ("tre", Adds(3.0)),
    ("quattro", Adds(4.0)),
    ("cinque", Adds(5.0)),
    ("sei", Adds(6.0)),
    ("sette", Adds(7.0)),
    ("otto", Adds(8.0)),
    ("nove", Adds(9.0)),
    ("dieci", Adds(10.0)),
    ("venti", Adds(20.0)),
    ("trenta", Adds(30.0)),
    ("quaranta", Adds(40.0)),
    ("cinquanta", Adds(50.0)),
    ("cento", Hundred),
    ("mila", Multiplies(1e3)),
    ("milione", Multiplies(1e6)),
    ("milioni", Multiplies(1e6)),
];

/// The numbers in words of a text. An article such as `ein` alone is none, and neither is a word that goes on with a
/// number in digits, as in `5 thousand`.
pub fn word_numbers(text: &str) -> Vec<WordNumber> {
    let mut found = Vec::new();
    let mut run: Vec<(usize, usize, Vec<NumberPart>)> = Vec::new();
    let mut before = 0;
    for (start, word) in words(text) {
        let end = start + word.len();
        let joins = text[before..start].chars().all(|c| c == ' ' || c == '-' || c == '\n');
        let parts = parts_of(word);
        if (!joins || parts.is_none() || run.len() == NUMBER_WORDS) && !run.is_empty() {
            found.extend(number_of(text, &run));
            run.clear();
        }
        before = end;
        if let Some(parts) = parts {
            run.push((start, end, parts));
        }
    }
    found.extend(number_of(text, &run));
    found
}

/// The words of a text, letters alone.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(char::is_alphabetic)?;
        let end = text[start..].find(|c: char| !c.is_alphabetic());
        let end = end.map_or(text.len(), |length| start + length);
        from = end;
        Some((start, &text[start..end]))
    })
}

/// The parts of a word that is nothing but a number, the longest that fit first.
fn parts_of(word: &str) -> Option<Vec<NumberPart>> {
    if word.chars().nth(WORD_CHARS).is_some() {
        return None;
    }
    let word = word.to_lowercase();
    let mut parts = Vec::new();
    let mut rest = word.as_str();
    while !rest.is_empty() {
        let fitting = PARTS.iter().filter(|(name, _)| rest.starts_with(name));
        let (name, part) = fitting.max_by_key(|(name, _)| name.len())?;
        parts.push(*part);
        rest = &rest[name.len()..];
    }
    Some(parts)
}

/// The number of words that stand beside one another.
fn number_of(text: &str, run: &[(usize, usize, Vec<NumberPart>)]) -> Option<WordNumber> {
    let says = |(_, _, parts): &&(usize, usize, Vec<NumberPart>)| parts.iter().any(|it| *it != And);
    let first = run.iter().position(|word| says(&word))?;
    let last = run.iter().rposition(|word| says(&word))?;
    let (start, end) = (run[first].0, run[last].1);
    let follows_digits = text[..start].trim_end().ends_with(|c: char| c.is_ascii_digit());
    let parts: Vec<NumberPart> =
        run[first..=last].iter().flat_map(|(_, _, parts)| parts.iter().copied()).collect();
    let value = value_of(&parts);
    (value > 1.0 && !follows_digits).then_some(WordNumber { start, end, value })
}

fn value_of(parts: &[NumberPart]) -> f64 {
    let (mut total, mut group): (f64, f64) = (0.0, 0.0);
    let mut before: Option<f64> = None;
    for part in parts {
        match part {
            // Of `quatre-vingts`, four times twenty.
            Adds(20.0) if before == Some(4.0) => group += 76.0,
            Adds(value) => group += value,
            Hundred => group = group.max(1.0) * 100.0,
            Multiplies(factor) => {
                total += group.max(1.0) * factor;
                group = 0.0;
            }
            And => {}
        }
        before = match part {
            Adds(value) => Some(*value),
            _ => None,
        };
    }
    total + group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_have_their_value() {
        for (text, value) in [
            ("five hundred", 500.0),
            ("fivehundred", 500.0),
            ("Five-Hundred and twenty-one", 521.0),
            ("a hundred", 100.0),
            ("two thousand five hundred", 2_500.0),
            ("one hundred twenty thousand", 120_000.0),
            ("two million", 2e6),
            ("fünfhundert", 500.0),
            ("fuenfhundert", 500.0),
            ("fünf hundert", 500.0),
            ("tausend", 1_000.0),
            ("eintausendzweihundert", 1_200.0),
            ("einundzwanzig", 21.0),
            ("zweihundertfünfundvierzigtausend", 245_000.0),
            ("dreißig", 30.0),
            ("drei Millionen", 3e6),
            ("vijfhonderd", 500.0),
            ("cinq cents", 500.0),
            ("quatre-vingt-dix", 90.0),
            ("deux mille", 2_000.0),
            ("quinientos", 500.0),
            ("cinquecento", 500.0),
        ] {
            let found = word_numbers(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].value, value, "{text}");
        }
    }

    #[test]
    fn other_words_are_no_numbers() {
        for text in ["ein", "one", "und", "often", "tense", "undone", "5 thousand", "hundertmal"] {
            assert!(word_numbers(text).is_empty(), "{text}: {:?}", word_numbers(text));
        }
    }

    #[test]
    fn long_texts_take_little_time() {
        for piece in ["hundert", "one ", "ein-", "und"] {
            word_numbers(&piece.repeat(200_000 / piece.len()));
        }
    }
}
