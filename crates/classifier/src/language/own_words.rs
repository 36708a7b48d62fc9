//! What the writer of a mail wrote, without quoted lines, signature and addresses.

use super::{MailLanguage, language};

/// Signs of subjects of answers and of mail that was passed on.
const ANSWER_SIGNS: [&str; 12] =
    ["re", "aw", "fw", "fwd", "wg", "tr", "rv", "r", "i", "antw", "sv", "rif"];

/// Words after which a signature follows, on a line of their own.
const CLOSINGS: &[&str] = &[
    "best regards",
    "kind regards",
    "regards",
    "best wishes",
    "yours sincerely",
    "yours faithfully",
    "sincerely",
    "all the best",
    "many thanks and best regards",
    "best",
    "cheers",
    "mit freundlichen grüßen",
    "mit freundlichem gruß",
    "freundliche grüße",
    "viele grüße",
    "liebe grüße",
    "beste grüße",
    "mfg",
    "cordialement",
    "bien cordialement",
    "bien à vous",
    "un saludo",
    "saludos",
    "saludos cordiales",
    "atentamente",
    "cordiali saluti",
    "distinti saluti",
    "saluti",
    "met vriendelijke groet",
    "vriendelijke groet",
    "groeten",
    "mvg",
    "atenciosamente",
    "cumprimentos",
    "com os melhores cumprimentos",
    "pozdrawiam",
    "z poważaniem",
    "med vänliga hälsningar",
    "vänliga hälsningar",
    "mvh",
    "med venlig hilsen",
    "med vennlig hilsen",
];

/// The language of a mail: that of its writer's own words. Quoted lines and what follows a closing do
/// not count, and a subject only where the words leave it open: that of an answer is older than they
/// are.
pub fn mail_language(subject: &str, text: &str) -> Option<MailLanguage> {
    let own = own_words(text);
    let body = before_closing(&own);
    let subject = if is_answer(subject) { "" } else { subject };
    let by_body = language(body);
    by_body.or_else(|| language(&format!("{subject}\n{own}")))
}

/// True for the subject of an answer or of a mail that was passed on.
pub(crate) fn is_answer(subject: &str) -> bool {
    let sign = subject.split_once(':').map(|(sign, _)| sign.trim().to_lowercase());
    sign.is_some_and(|sign| ANSWER_SIGNS.contains(&sign.as_str()))
}

/// A text without quoted lines and what stands under the signature's dashes.
pub(crate) fn own_words(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.trim_end() != "--");
    let own = lines.filter(|line| !line.trim_start().starts_with('>'));
    own.collect::<Vec<_>>().join("\n")
}

/// What stands before a line that closes the mail.
fn before_closing(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim().trim_end_matches([',', '.', '!']).trim_end();
        let short = words.len() <= LONGEST_CLOSING;
        if short && CLOSINGS.contains(&words.to_lowercase().as_str()) {
            return &text[..at];
        }
        at += line.len();
    }
    text
}

/// Bytes of the longest closing, with room for capital letters.
const LONGEST_CLOSING: usize = 40;

/// A text without mail addresses and links, whose words are of no language.
pub(super) fn without_addresses(text: &str) -> String {
    let is_address =
        |word: &&str| word.contains('@') || word.contains("://") || word.starts_with("www.");
    let words = text.split_whitespace().filter(|word| !is_address(word));
    words.collect::<Vec<_>>().join(" ")
}
