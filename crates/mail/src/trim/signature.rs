//! Finds signatures and footers.

use std::sync::LazyLock;

use regex::Regex;

use super::line::TrimLine;
use super::signature_words::{
    DEVICES, FROM_WORDS, PROGRAM_OFFERS, SENT, SENT_FROM, SENT_FROM_MY, SENT_UNSPACED,
};

/// Lines of text that may stand under a signature mark; more is somebody's text.
const SIGNATURE_LINES: usize = 14;
/// Lines of a block with ways to reach its writer, under a line drawn across.
const CONTACT_LINES: usize = 8;
const CONTACT_LINE_CHARS: usize = 80;
/// Characters of the line a telephone adds to every mail.
const MOBILE_CHARS: usize = 90;
/// Words that name a device.
const THING_WORDS: usize = 5;
/// Words of the line in which a program offers itself.
const OFFER_WORDS: usize = 8;

/// `-- ` alone in its line, with a signature's worth of text under it.
pub(super) fn begins_signature(lines: &[TrimLine<'_>]) -> bool {
    let Some((mark, under)) = lines.split_first() else { return false };
    matches!(mark.folded.as_str(), "--" | "—" | "––" | "- -")
        && mark.depth == 0
        && text_lines(under).count() <= SIGNATURE_LINES
}

/// A line drawn across the mail with nothing but a footer under it: who to reach and where.
pub(super) fn begins_footer(lines: &[TrimLine<'_>]) -> bool {
    let Some((mark, under)) = lines.split_first() else { return false };
    if mark.depth > 0 || !mark.is_rule() {
        return false;
    }
    let mut footer = text_lines(under).peekable();
    if footer.peek().is_none() {
        return true;
    }
    let underscored = mark.folded.starts_with('_');
    let (mut count, mut short, mut reachable) = (0, true, false);
    for line in footer {
        count += 1;
        short &= line.text.chars().count() <= CONTACT_LINE_CHARS;
        reachable |= tells_contact(&line.folded);
    }
    count <= CONTACT_LINES && short && (reachable || underscored)
}

fn text_lines<'a>(lines: &'a [TrimLine<'a>]) -> impl Iterator<Item = &'a TrimLine<'a>> {
    lines.iter().filter(|line| line.depth == 0 && !line.is_blank()).take(SIGNATURE_LINES + 1)
}

fn tells_contact(folded: &str) -> bool {
    let digits = folded.chars().filter(char::is_ascii_digit).count();
    let words = folded.split(' ').count();
    folded.contains("://")
        || folded.contains("www.")
        || (folded.contains('@') && words <= 6)
        || (digits >= 7 && words <= 8)
}

/// "Sent from my iPhone" in its many languages: a short line of its own that names a device or a
/// program. A sentence that begins with the same words is the writer's own.
pub(super) fn is_mobile_signature(line: &TrimLine<'_>) -> bool {
    let bare = without_link(&line.folded);
    if line.depth > 0 || bare.len() > MOBILE_CHARS * 4 || !MAY_BE_MOBILE.is_match(bare) {
        return false;
    }
    if bare.chars().count() > MOBILE_CHARS {
        return false;
    }
    if bare.contains([',', ';', '!', '?', ':']) || bare.contains(". ") {
        return false;
    }
    if SENT_FROM_MY.iter().any(|start| bare.strip_prefix(start).is_some_and(names_a_thing)) {
        return true;
    }
    if PROGRAM_OFFERS.iter().any(|start| bare.starts_with(start)) {
        return bare.split(' ').count() <= OFFER_WORDS;
    }
    let first = SENT_FROM.iter().any(|start| bare.strip_prefix(start).is_some_and(ends_word));
    let last =
        SENT.iter().any(|end| bare.strip_suffix(end).is_some_and(|rest| rest.ends_with(' ')));
    let unspaced = SENT_UNSPACED.iter().any(|word| bare.starts_with(word) || bare.ends_with(word));
    (first || unspaced || (last && begins_from_device(bare))) && names_device(bare)
}

/// Every way in which such a line begins or ends, so that most lines are looked at once.
static MAY_BE_MOBILE: LazyLock<Regex> = LazyLock::new(|| {
    let any = |lists: &[&[&str]]| {
        let words = lists.iter().flat_map(|list| list.iter());
        words.map(|word| regex::escape(word)).collect::<Vec<_>>().join("|")
    };
    let begins = any(&[*SENT_FROM_MY, *PROGRAM_OFFERS, *SENT_FROM, *SENT_UNSPACED]);
    let ends = any(&[*SENT, *SENT_UNSPACED]);
    Regex::new(&format!("^(?:{begins})|(?:{ends})$")).expect("escaped words make a valid pattern")
});

/// The line without the link behind the program's name and without signs around it.
fn without_link(folded: &str) -> &str {
    let end = folded.find(['<', '[']).filter(|at| *at > 0).unwrap_or(folded.len());
    folded[..end].trim_matches(|c: char| !c.is_alphanumeric())
}

/// "my Wiko RIDGE FAB 4G": a few words that make no sentence.
fn names_a_thing(rest: &str) -> bool {
    let rest = rest.trim();
    !rest.is_empty() && rest.split(' ').count() <= THING_WORDS
}

fn names_device(bare: &str) -> bool {
    let starts_a_word =
        |at: usize| bare[..at].chars().next_back().is_none_or(|c| !c.is_alphabetic());
    let loose = |at: usize| starts_a_word(at) || !bare[..at].is_ascii();
    DEVICES.iter().any(|device| bare.match_indices(device).any(|(at, _)| loose(at)))
}

fn ends_word(rest: &str) -> bool {
    rest.starts_with(' ')
}

fn begins_from_device(bare: &str) -> bool {
    let first = bare.split(' ').next().unwrap_or_default();
    FROM_WORDS.contains(&first) || names_device(first)
}

#[cfg(test)]
mod tests {
    use super::super::line::lines;
    use super::*;

    #[test]
    fn the_lines_that_telephones_add_are_known() {
        for text in [
            "Sent from my iPhone",
            "Sent from my Wiko RIDGE FAB 4G",
            "Sent from Outlook Mobile<https://aka.ms/x>",
            "Sent from Yahoo Mail on Android",
            "Get Outlook for iOS<https://aka.ms/o0ukef>",
            "Von meinem iPhone gesendet",
            "Gesendet von Outlook für Android<https://aka.ms/x>",
            "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.",
            "Envoyé de mon iPhone",
            "Envoyé à partir de Outlook pour iOS<https://aka.ms/x>",
            "Enviado desde mi iPhone",
            "Enviado do meu iPhone",
            "Inviato da iPhone",
            "Verstuurd vanaf mijn iPhone",
            "Sendt fra min iPhone",
            "Skickat från min iPhone",
            "Lähetetty iPhonesta",
            "Wysłane z iPhone'a",
            "Odesláno z iPhonu",
            "Отправлено с iPhone",
            "Надіслано з iPhone",
            "iPhoneから送信",
            "发自我的iPhone",
            "나의 iPhone에서 보냄",
            "Đã gửi từ iPhone của tôi",
            "Trimis de pe iPhone",
            "iPhone'umdan gönderildi",
        ] {
            assert!(is_mobile_signature(&lines(text)[0]), "{text}");
        }
    }

    #[test]
    fn sentences_that_begin_alike_stay() {
        for text in [
            "Sent from my desk, is much easier then my mobile phone.",
            "The notification was sent from my iPhone app to all users.",
            "Sent from a magnificent torch of pixels",
            "Sent the parcel back yesterday, please confirm",
            "Get outlook working again on my new machine, I have tried everything you told me",
            "Gesendet habe ich das Paket am Montag.",
            "Verzonden heb ik het gisteren",
        ] {
            assert!(!is_mobile_signature(&lines(text)[0]), "{text}");
        }
    }

    #[test]
    fn a_footer_is_short_and_tells_how_to_reach_someone() {
        assert!(begins_footer(&lines("-----\nAnn Lee\nann@x.example\n+1 555 0123 456")));
        assert!(begins_footer(&lines("____\nA list for lamps")));
        assert!(!begins_footer(&lines("-----\n1. The lamp is broken\n2. The cord is too short")));
        assert!(!begins_footer(&lines("text")));
        assert!(begins_signature(&lines("-- \nAnn")));
        assert!(!begins_signature(&lines("-- first point")));
    }
}
