//! The language of a mail, by its letters, its frequent words and its runs of three letters.

mod evidence;
mod own_words;
mod script;
mod small_words;

pub use own_words::mail_language;
pub(crate) use own_words::{is_answer, own_words};
pub(crate) use small_words::{is_small_word, small_words};

use script::Script;
use whatlang::Lang;

/// Words by which a text is judged first: a mail begins with its writer's own words, and what comes
/// further down may be a footer, a log or a translation.
const FIRST_WORDS: usize = 40;
/// Words by which it is judged where the first are not clear.
const WORDS: usize = 200;
/// Bytes of a text that are looked at.
const BYTES: usize = 16 * 1024;

macro_rules! mail_languages {
    ($($name:ident $code:literal $script:ident [$($lang:ident)?],)*) => {
        /// A language that mail is told apart by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum MailLanguage {
            $($name,)*
        }

        impl MailLanguage {
            /// Every language that is known.
            pub const ALL: &[MailLanguage] = &[$(MailLanguage::$name,)*];

            /// The code of ISO 639-1.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(MailLanguage::$name => $code,)*
                }
            }

            fn script(self) -> Script {
                match self {
                    $(MailLanguage::$name => Script::$script,)*
                }
            }

            /// Its name where runs of letters are compared, if they are known of it.
            fn lang(self) -> Option<Lang> {
                match self {
                    $(MailLanguage::$name => [$(Lang::$lang)?].first().copied(),)*
                }
            }
        }
    };
}

mail_languages! {
    English "en" Latin [Eng],
    German "de" Latin [Deu],
    French "fr" Latin [Fra],
    Spanish "es" Latin [Spa],
    Italian "it" Latin [Ita],
    Dutch "nl" Latin [Nld],
    Portuguese "pt" Latin [Por],
    Polish "pl" Latin [Pol],
    Swedish "sv" Latin [Swe],
    Danish "da" Latin [Dan],
    Norwegian "no" Latin [Nob],
    Finnish "fi" Latin [Fin],
    Czech "cs" Latin [Ces],
    Slovak "sk" Latin [Slk],
    Hungarian "hu" Latin [Hun],
    Romanian "ro" Latin [Ron],
    Turkish "tr" Latin [Tur],
    Croatian "hr" Latin [Hrv],
    Slovene "sl" Latin [Slv],
    Estonian "et" Latin [Est],
    Latvian "lv" Latin [Lav],
    Lithuanian "lt" Latin [Lit],
    Catalan "ca" Latin [Cat],
    Vietnamese "vi" Latin [Vie],
    Indonesian "id" Latin [Ind],
    Icelandic "is" Latin [],
    Albanian "sq" Latin [],
    Basque "eu" Latin [],
    Welsh "cy" Latin [Cym],
    Irish "ga" Latin [],
    Swahili "sw" Latin [],
    Tagalog "tl" Latin [Tgl],
    Afrikaans "af" Latin [Afr],
    Malay "ms" Latin [],
    Russian "ru" Cyrillic [Rus],
    Ukrainian "uk" Cyrillic [Ukr],
    Bulgarian "bg" Cyrillic [Bul],
    Serbian "sr" Cyrillic [Srp],
    Macedonian "mk" Cyrillic [Mkd],
    Arabic "ar" Arabic [Ara],
    Persian "fa" Arabic [Pes],
    Urdu "ur" Arabic [Urd],
    Hindi "hi" Devanagari [Hin],
    Marathi "mr" Devanagari [Mar],
    Nepali "ne" Devanagari [Nep],
    Greek "el" Greek [Ell],
    Hebrew "he" Hebrew [Heb],
    Japanese "ja" Kana [Jpn],
    Chinese "zh" Han [Cmn],
    Korean "ko" Hangul [Kor],
    Thai "th" Thai [Tha],
    Bengali "bn" Bengali [Ben],
    Tamil "ta" Tamil [Tam],
    Telugu "te" Telugu [Tel],
    Georgian "ka" Georgian [Kat],
    Armenian "hy" Armenian [Hye],
}

/// The language of a text; `None` for one that is not clear, and for one that is in none of them.
pub fn language(text: &str) -> Option<MailLanguage> {
    let text = own_words::without_addresses(&text[..text.floor_char_boundary(BYTES)]);
    let first = judge(&text, FIRST_WORDS);
    first.or_else(|| judge(&text, WORDS))
}

fn judge(text: &str, words: usize) -> Option<MailLanguage> {
    let script = script::main_script(text, words)?;
    let mut candidates = MailLanguage::ALL.iter().filter(|language| language.script() == script);
    match (candidates.next(), candidates.next()) {
        (Some(only), None) => Some(*only),
        _ => evidence::best_of(script, text, words),
    }
}
