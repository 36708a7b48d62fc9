//! The language of a mail, by its most frequent small words.

use phrases::folded_words;

/// Words that are looked at.
const WORDS: usize = 400;
/// Small words of a language that must be met, and how many more than of any other.
const ENOUGH: usize = 2;

/// A language that mail is told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailLanguage {
    English,
    German,
    French,
    Spanish,
    Italian,
    Dutch,
    Portuguese,
    Polish,
}

impl MailLanguage {
    /// The code of ISO 639-1.
    pub fn as_str(self) -> &'static str {
        match self {
            MailLanguage::English => "en",
            MailLanguage::German => "de",
            MailLanguage::French => "fr",
            MailLanguage::Spanish => "es",
            MailLanguage::Italian => "it",
            MailLanguage::Dutch => "nl",
            MailLanguage::Portuguese => "pt",
            MailLanguage::Polish => "pl",
        }
    }
}

/// The language of a text; `None` for a short one, and for one that is in none of them.
pub fn language(text: &str) -> Option<MailLanguage> {
    let words = folded_words(text, WORDS);
    let count = |small: &str| {
        let small: Vec<&str> = small.split(' ').collect();
        words.iter().filter(|word| small.contains(&word.folded.as_str())).count()
    };
    let mut counts: Vec<(usize, MailLanguage)> =
        SMALL_WORDS.iter().map(|(language, small)| (count(small), *language)).collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let (best, next) = (counts[0], counts[1]);
    (best.0 >= ENOUGH && best.0 > next.0).then_some(best.1)
}

/// True for a word that says nothing about what a mail is about.
pub(crate) fn is_small_word(folded: &str) -> bool {
    let within = |small: &&str| small.split(' ').any(|word| word == folded);
    folded.chars().count() < 2 || SMALL_WORDS.iter().any(|(_, small)| within(small))
}

/// The small words of all languages.
pub(crate) fn small_words() -> impl Iterator<Item = &'static str> {
    SMALL_WORDS.iter().flat_map(|(_, small)| small.split_whitespace())
}

const SMALL_WORDS: [(MailLanguage, &str); 8] = [
    (
        MailLanguage::English,
        "the and you to of is it i we my your for that this have has with not are was be can will \
         would please in on at from they what when there if been do does did our an",
    ),
    (
        MailLanguage::German,
        "der die das und ich sie ist nicht ein eine zu mit wir auf fur den dem von im es bei habe \
         haben wie kann bitte mein meine ihre noch auch wenn aber oder sind hallo danke seit uns",
    ),
    (
        MailLanguage::French,
        "le la les et je vous est pas un une de des du que pour dans nous mon ma mes sur avec ce \
         cette au aux ne en j l d c qu votre vos bonjour merci avez sont mais ou si depuis",
    ),
    (
        MailLanguage::Spanish,
        "el la los las y que de en un una es no por para con mi se lo al del me su hola gracias \
         nos esta este pero como cuando ya si tengo hay muy buenos estimados donde porque",
    ),
    (
        MailLanguage::Italian,
        "il lo la gli le e di che un una non per con mi si da in ho del della alla sono ma come \
         buongiorno grazie vi ci al nel questo questa anche quando se piu mio mia salve",
    ),
    (
        MailLanguage::Dutch,
        "de het een en ik is niet van op te dat die voor met we wij mijn u uw je zijn aan er om \
         ook maar nog bij naar kan heb hebben als wat graag hallo beste bedankt kunnen jullie",
    ),
    (
        MailLanguage::Portuguese,
        "o a os as e que de em um uma nao por para com meu minha se no na do da dos das eu voce \
         seu sua ola obrigado obrigada mas como quando ja tenho esta foi ao pelo",
    ),
    (
        MailLanguage::Polish,
        "i w na z do nie ze to jest sie o jak po mam czy moje moj dla od prosze dziekuje dzien \
         dobry ale co za przez juz oraz aby moja witam gdy jestem",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for (text, code) in [
            ("Hello, where is my parcel? I have not received it.", "en"),
            ("Guten Tag, wo ist mein Paket? Ich habe es noch nicht erhalten.", "de"),
            ("Bonjour, où est mon colis ? Je ne l'ai pas reçu.", "fr"),
            ("Hola, ¿dónde está mi paquete? No lo he recibido.", "es"),
            ("Buongiorno, dov'è il mio pacco? Non l'ho ancora ricevuto.", "it"),
            ("Hallo, waar is mijn pakket? Ik heb het nog niet ontvangen.", "nl"),
            ("Olá, onde está a minha encomenda? Ainda não a recebi.", "pt"),
            ("Dzień dobry, gdzie jest moja paczka? Jeszcze jej nie mam.", "pl"),
        ] {
            assert_eq!(language(text).map(MailLanguage::as_str), Some(code), "{text}");
        }
        assert_eq!(language("12345"), None);
        assert_eq!(language("日本語のメール"), None);
    }
}
