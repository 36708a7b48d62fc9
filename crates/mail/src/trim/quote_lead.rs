//! What a few lines over a quotation say it is: an earlier mail, or one that is passed on.

use super::attribution;
use super::header_block::{Block, header_block};
use super::line;
use super::quote_phrases::PASSED_ON;

/// What stands under the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuoteLead {
    /// The mail that is answered: "On Monday Ann wrote:".
    Answered,
    /// A mail that somebody is meant to read: "Begin forwarded message:".
    Forwarded,
}

/// Reads lines that stand right over a quotation. `None` for words of the writer's own.
pub(crate) fn quote_lead(text: &str) -> Option<QuoteLead> {
    let lines = line::lines(text.trim());
    let first = lines.first()?;
    let dashed = first.folded.starts_with("-----") || first.folded.starts_with("_____");
    let short = first.folded.len() <= super::WRAPPED_CHARS * 2;
    let passed_on = PASSED_ON.iter().any(|word| first.folded.contains(word));
    let found = attribution::announcement(&lines)
        .is_some_and(|found| found.lines == lines.iter().filter(|line| !line.is_blank()).count());
    match (found || dashed, passed_on && short) {
        (false, _) => None,
        (true, true) => Some(QuoteLead::Forwarded),
        (true, false) => found.then_some(QuoteLead::Answered),
    }
}

/// True for lines that begin with the fields that mail programs write over an earlier mail.
pub(crate) fn begins_header_block(text: &str) -> bool {
    matches!(header_block(&line::lines(text)), Block::Header(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_over_a_quotation_tells_answers_from_forwarded_mail() {
        use QuoteLead::{Answered, Forwarded};
        for (text, lead) in [
            ("On 6 May 2024 at 10:00 Ann <a@x.example> wrote:", Some(Answered)),
            ("On 6 May 2024 at 10:00 Ann\n<a@x.example> wrote:", Some(Answered)),
            ("Am 06.05.2024 um 16:37 schrieb Ann:", Some(Answered)),
            ("-----Original Message-----", Some(Answered)),
            ("Begin forwarded message:", Some(Forwarded)),
            ("---------- Forwarded message ---------\nFrom: Ann", Some(Forwarded)),
            ("-------- Weitergeleitete Nachricht --------", Some(Forwarded)),
            ("I was on holiday, as Ann wrote", None),
            ("Please forward this", None),
            ("", None),
        ] {
            assert_eq!(quote_lead(text), lead, "{text}");
        }
    }
}
