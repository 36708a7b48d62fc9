//! Finds the block of header fields above a quoted mail.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::field_names::{QuoteField, fields};
use super::line::TrimLine;

/// Lines over which a block of fields may reach.
const BLOCK_LINES: usize = 24;
/// Characters of a field name.
const NAME_CHARS: usize = 24;

/// What stands where a block of fields may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// A block of this many lines.
    Header(usize),
    /// None begins in any of this many lines.
    Nothing(usize),
}

/// Looks for the block of fields that mail programs put over an earlier mail ("From: … Sent: …
/// To: … Subject: …") in the first of these lines.
///
/// People send such lines too: a journey has From, To and Date, a form has From, Subject and
/// Phone. So a block needs a sender, two more kinds of field, an address or a subject among them,
/// and no field that mail programs do not write.
pub(super) fn header_block(lines: &[TrimLine<'_>]) -> Block {
    let mut found = Found::default();
    let mut length = 0;
    for (index, line) in lines.iter().take(BLOCK_LINES).enumerate() {
        if line.folded.is_empty() {
            break;
        }
        match field(&line.folded) {
            Some((Some(kind), value)) => found.note(kind, value),
            Some((None, _)) => return Block::Nothing(index + 1),
            None if index == 0 => return Block::Nothing(1),
            None if continues(line) || field_follows(lines, index) => {
                found.note_value(&line.folded);
            }
            None => break,
        }
        length = index + 1;
    }
    if found.is_block() { Block::Header(length) } else { Block::Nothing(length.max(1)) }
}

#[derive(Default)]
struct Found {
    from: bool,
    sent: bool,
    to: bool,
    subject: bool,
    address: bool,
}

impl Found {
    fn note(&mut self, kind: QuoteField, value: &str) {
        match kind {
            QuoteField::From => self.from = true,
            QuoteField::Sent => self.sent = true,
            QuoteField::To => self.to = true,
            QuoteField::Subject => self.subject = true,
            QuoteField::Other => {}
        }
        self.note_value(value);
    }

    fn note_value(&mut self, value: &str) {
        self.address |= value.contains('@');
    }

    fn is_block(&self) -> bool {
        let kinds = [self.from, self.sent, self.to, self.subject];
        self.from
            && kinds.iter().filter(|kind| **kind).count() >= 3
            && (self.subject || self.address)
    }
}

/// The kind of a field (`None` for a name that mail programs do not write) and its value.
fn field(folded: &str) -> Option<(Option<QuoteField>, &str)> {
    let colon = folded.find([':', '：', '﹕'])?;
    let name = folded[..colon].trim_matches(|c: char| c == '*' || c == '_' || c == ' ');
    let value = folded[colon..].trim_start_matches([':', '：', '﹕']);
    if name.is_empty() || name.chars().count() > NAME_CHARS || name.contains(['<', '@', '/']) {
        return None;
    }
    let spaced = value.is_empty() || value.starts_with([' ', '*', '"', '<']) || !value.is_ascii();
    let known = kind_of(name);
    (known.is_some() || spaced).then_some((known, value))
}

fn kind_of(name: &str) -> Option<QuoteField> {
    static KINDS: LazyLock<HashMap<&str, QuoteField>> = LazyLock::new(|| {
        let named = fields().into_iter().rev();
        named.flat_map(|(kind, names)| names.iter().map(move |name| (*name, kind))).collect()
    });
    KINDS.get(name).copied()
}

/// A line that goes on with the value before it.
fn continues(line: &TrimLine<'_>) -> bool {
    line.folded.starts_with(['<', '"', '\'', '[', '('])
        || line.folded.contains('@')
        || line.text.starts_with([' ', '\t'])
        || line.folded.ends_with(['>', ';', ','])
}

/// A line between two fields belongs to the first, whatever it looks like.
fn field_follows(lines: &[TrimLine<'_>], at: usize) -> bool {
    let next = lines.get(at + 1).and_then(|line| field(&line.folded));
    matches!(next, Some((Some(_), _)))
}

#[cfg(test)]
mod tests {
    use super::super::line::lines;
    use super::*;

    fn length(text: &str) -> Option<usize> {
        match header_block(&lines(text)) {
            Block::Header(length) => Some(length),
            Block::Nothing(_) => None,
        }
    }

    #[test]
    fn blocks_of_many_languages_are_known() {
        for text in [
            "From: Ann <ann@x.example>\nSent: Monday\nTo: Bob\nSubject: Lamp",
            "*From:* Ann\n*Sent:* 2024-05-06\n*To:* Bob\n*Subject:* Lamp",
            "Von: Ann\nGesendet: Montag\nAn: Bob\nBetreff: Lampe",
            "De : Ann\nEnvoyé le : lundi\nÀ : Bob\nObjet : Lampe",
            "Da: Ann\nInviato: lunedì\nA: Bob\nOggetto: Lampada",
            "De: Ann\nEnviado: lunes\nPara: Bob\nAsunto: Lámpara",
            "Van: Ann\nVerzonden: maandag\nAan: Bob\nOnderwerp: Lamp",
            "Från: Ann\nSkickat: måndag\nTill: Bob\nÄmne: Lampa",
            "Fra: Ann\nDato: mandag\nTil: Bob\nEmne: Lampe",
            "Od: Ann\nWysłano: poniedziałek\nDo: Bob\nTemat: Lampa",
            "От: Ann\nОтправлено: 6 мая\nКому: Bob\nТема: Лампа",
            "发件人: Ann\n发送时间: 2024年5月6日\n收件人: Bob\n主题: 灯",
            "差出人: Ann\n送信日時: 2024年5月6日\n宛先: Bob\n件名: ランプ",
            "보낸 사람: Ann\n보낸 날짜: 2024\n받는 사람: Bob\n제목: 램프",
        ] {
            assert_eq!(length(text), Some(4), "{text}");
        }
    }

    #[test]
    fn a_long_value_may_go_on_in_the_next_line() {
        let text = "From: Human Resources\n<hr@x.example>\nSent: Monday\nTo: Bob\n\nHello";
        assert_eq!(length(text), Some(4));
    }

    #[test]
    fn what_people_write_as_fields_is_no_block() {
        for text in [
            "From: Berlin\nTo: Paris\nDate: 6 May",
            "From: Ann\nDate: 6 May\nSubject: Lamp\nPhone: 123",
            "From: our database, not from elsewhere",
            "To: do today\nFrom: now on",
        ] {
            assert_eq!(length(text), None, "{text}");
        }
    }
}
