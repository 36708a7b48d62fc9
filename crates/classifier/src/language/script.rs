//! Which letters a text is written with.

/// Letters that are counted for each word that is looked at.
const LETTERS_A_WORD: usize = 8;
/// How many letters a sign counts for that stands for a syllable or a word.
const SIGN: usize = 3;
/// Letters from which on a text has a script.
const FEWEST: usize = 3;
/// Among Chinese signs, one syllable in so many makes a text Japanese.
const KANA_SHARE: usize = 12;

/// The letters that a language is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Arabic,
    Devanagari,
    Greek,
    Hebrew,
    Kana,
    Han,
    Hangul,
    Thai,
    Bengali,
    Tamil,
    Telugu,
    Georgian,
    Armenian,
}

const SCRIPTS: [Script; 15] = [
    Script::Latin,
    Script::Cyrillic,
    Script::Arabic,
    Script::Devanagari,
    Script::Greek,
    Script::Hebrew,
    Script::Kana,
    Script::Han,
    Script::Hangul,
    Script::Thai,
    Script::Bengali,
    Script::Tamil,
    Script::Telugu,
    Script::Georgian,
    Script::Armenian,
];

/// The script that most of a text's beginning is written with.
pub(super) fn main_script(text: &str, words: usize) -> Option<Script> {
    let mut counts = [0usize; SCRIPTS.len()];
    let letters = text.chars().filter(|c| c.is_alphabetic());
    for script in letters.take(words * LETTERS_A_WORD).filter_map(script_of) {
        let sign = matches!(script, Script::Kana | Script::Han | Script::Hangul);
        counts[script as usize] += if sign { SIGN } else { 1 };
    }
    let (kana, han) = (counts[Script::Kana as usize], counts[Script::Han as usize]);
    if kana > 0 && kana * KANA_SHARE >= han {
        counts[Script::Kana as usize] += han;
        counts[Script::Han as usize] = 0;
    }
    let best = SCRIPTS.into_iter().max_by_key(|script| counts[*script as usize])?;
    (counts[best as usize] >= FEWEST).then_some(best)
}

fn script_of(c: char) -> Option<Script> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '\u{aa}' | '\u{ba}' | '\u{c0}'..='\u{24f}' => Script::Latin,
        '\u{1e00}'..='\u{1eff}' => Script::Latin,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{531}'..='\u{58f}' => Script::Armenian,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Script::Arabic,
        '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => Script::Arabic,
        '\u{900}'..='\u{97f}' => Script::Devanagari,
        '\u{980}'..='\u{9ff}' => Script::Bengali,
        '\u{b80}'..='\u{bff}' => Script::Tamil,
        '\u{c00}'..='\u{c7f}' => Script::Telugu,
        '\u{e00}'..='\u{e7f}' => Script::Thai,
        '\u{10a0}'..='\u{10ff}' | '\u{1c90}'..='\u{1cbf}' => Script::Georgian,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        '\u{3040}'..='\u{30ff}' => Script::Kana,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Script::Han,
        _ => return None,
    })
}
