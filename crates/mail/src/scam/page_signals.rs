//! Scam signals in how a mail is made: swapped letters, pictures instead of words, forms, codes.

use super::evidence::ScamEvidence;
use super::{Risk, Signal};
use crate::kind::MailKind;

/// Letters below which a mail with pictures has nothing to read.
const PICTURE_LETTERS: usize = 200;
/// Disguised words of a text that are no accident.
const DISGUISED_WORDS: usize = 3;
/// Signs of which codes are drawn, in a text that has one.
const DRAWN_SIGNS: usize = 150;
/// Tags of a page that are looked at.
const TAGS: usize = 20_000;

pub(super) fn signals(evidence: &ScamEvidence<'_>) -> Vec<Signal> {
    let page = PageParts::of(evidence.mail.html.as_deref().unwrap_or_default());
    let found = [
        letters(evidence),
        pictures(evidence, &page),
        forms(evidence, &page),
        drawn_code(evidence),
    ];
    found.into_iter().flatten().collect()
}

/// Letters of several alphabets in a word, signs without width, letters of mathematics.
fn letters(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let head = evidence.name.disguised + evidence.subject.disguised;
    let styled = evidence.name.styled + evidence.subject.styled;
    let points = match (head, evidence.text.disguised, styled) {
        (1.., _, _) => 3.0,
        (0, DISGUISED_WORDS.., _) => 2.5,
        (0, 1.., _) => 1.0,
        (0, 0, 1..) => 1.0,
        _ => return None,
    };
    let reason = "Words are written in letters that only look like the usual ones.";
    Some(Signal::new(points, Risk::Phishing, reason))
}

/// A picture that says it all and cannot be read by programs.
fn pictures(evidence: &ScamEvidence<'_>, page: &PageParts) -> Option<Signal> {
    let linked = !evidence.targets.is_empty();
    if page.pictures == 0 || !linked || evidence.letters >= PICTURE_LETTERS {
        return None;
    }
    let reason = "It is a picture with a link, and hardly any text.";
    Some(Signal::new(1.5, Risk::Suspicious, reason))
}

fn forms(evidence: &ScamEvidence<'_>, page: &PageParts) -> Option<Signal> {
    if page.password_fields > 0 {
        let reason = "The mail itself asks for a password in a form.";
        return Some(Signal::new(4.0, Risk::Phishing, reason));
    }
    // Newsletters have forms to search a shop and to rate a purchase.
    let personal = evidence.mail.kind != MailKind::List;
    (personal && page.forms > 0 && page.fields > 0).then(|| {
        let reason = "The mail has a form to fill in.";
        Signal::new(1.0, Risk::Suspicious, reason)
    })
}

/// A code for telephones that is drawn with signs, so that no picture can be checked.
fn drawn_code(evidence: &ScamEvidence<'_>) -> Option<Signal> {
    let signs = evidence.mail.original.chars().take(50_000);
    let drawn = signs.filter(|c| matches!(c, '\u{2580}'..='\u{259f}')).count();
    (drawn >= DRAWN_SIGNS).then(|| {
        let reason = "A code for telephones is drawn with letters.";
        Signal::new(3.0, Risk::Phishing, reason)
    })
}

/// What stands in the HTML, by its tags.
#[derive(Default)]
struct PageParts {
    pictures: usize,
    forms: usize,
    fields: usize,
    password_fields: usize,
}

impl PageParts {
    fn of(html: &str) -> PageParts {
        let mut parts = PageParts::default();
        let bytes = html.as_bytes();
        for at in memchr::memchr_iter(b'<', bytes).take(TAGS) {
            let tag = &bytes[at + 1..(at + 6).min(bytes.len())];
            let begins = |name: &[u8]| {
                tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            };
            parts.pictures += usize::from(begins(b"img"));
            parts.forms += usize::from(begins(b"form"));
            if begins(b"input") {
                let field = &bytes[at..(at + 300).min(bytes.len())];
                let end = memchr::memchr(b'>', field).unwrap_or(field.len());
                let field = String::from_utf8_lossy(&field[..end]).to_lowercase();
                parts.fields += 1;
                let hidden = field.contains("password") && field.contains("type");
                parts.password_fields += usize::from(hidden);
            }
        }
        parts
    }
}
