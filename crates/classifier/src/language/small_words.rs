//! Small words, which say nothing about what a mail is about.

/// True for a word that says nothing about what a mail is about.
pub(crate) fn is_small_word(folded: &str) -> bool {
    let within = |small: &&str| small.split(' ').any(|word| word == folded);
    folded.chars().count() < 2 || SMALL_WORDS.iter().any(within)
}

/// The small words of all languages.
pub(crate) fn small_words() -> impl Iterator<Item = &'static str> {
    SMALL_WORDS.iter().flat_map(|small| small.split_whitespace())
}

/// English, German, French, Spanish, Italian, Dutch, Portuguese, Polish.
const SMALL_WORDS: [&str; 8] = [
    "the and you to of is it i we my your for that this have has with not are was be can will \
         would please in on at from they what when there if been do does did our an",
    "der die das und ich sie ist nicht ein eine zu mit wir auf fur den dem von im es bei habe \
         haben wie kann bitte mein meine ihre noch auch wenn aber oder sind hallo danke seit uns",
    "le la les et je vous est pas un une de des du que pour dans nous mon ma mes sur avec ce \
         cette au aux ne en j l d c qu votre vos bonjour merci avez sont mais ou si depuis",
    "el la los las y que de en un una es no por para con mi se lo al del me su hola gracias \
         nos esta este pero como cuando ya si tengo hay muy buenos estimados donde porque",
    "il lo la gli le e di che un una non per con mi si da in ho del della alla sono ma come \
         buongiorno grazie vi ci al nel questo questa anche quando se piu mio mia salve",
    "de het een en ik is niet van op te dat die voor met we wij mijn u uw je zijn aan er om \
         ook maar nog bij naar kan heb hebben als wat graag hallo beste bedankt kunnen jullie",
    "o a os as e que de em um uma nao por para com meu minha se no na do da dos das eu voce \
         seu sua ola obrigado obrigada mas como quando ja tenho esta foi ao pelo",
    "i w na z do nie ze to jest sie o jak po mam czy moje moj dla od prosze dziekuje dzien \
         dobry ale co za przez juz oraz aby moja witam gdy jestem",
];
