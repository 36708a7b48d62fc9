//! Scam signals in the words: what a mail wants, and whether it presses for it.

use super::evidence::ScamEvidence;
use super::{Risk, Signal};
use crate::kind::MailKind;

/// How much the second and the third story of a mail add to the first.
const FURTHER: [f64; 3] = [1.0, 0.6, 0.4];
/// How much words count in a mail whose links all lead to its sender: shops write like that.
const AT_HOME: f64 = 0.7;
/// How much words count that only the quoted part has: people pass scams on to ask about them.
const QUOTED: f64 = 0.6;

/// One phrase proves little. Several of a group, or one together with haste, are what scams are made
/// of, and several groups add up.
pub(super) fn signals(evidence: &ScamEvidence<'_>) -> Vec<Signal> {
    // A mail server's report is full of failures, limits and mailboxes.
    if evidence.mail.kind == MailKind::Bounce && !evidence.mail.bounces.is_empty() {
        return Vec::new();
    }
    let hasty = evidence.phrases.of("haste") > 0;
    let home = if evidence.leads_home() { AT_HOME } else { 1.0 };
    let mut found: Vec<Signal> =
        RULES.iter().filter_map(|rule| rule.signal(evidence, hasty)).collect();
    found.sort_by(|a, b| b.points.total_cmp(&a.points));
    found.truncate(FURTHER.len());
    for (signal, share) in found.iter_mut().zip(FURTHER) {
        signal.points *= share * home;
    }
    found
}

/// A group of phrases and what it weighs.
struct WordRule {
    group: &'static str,
    risk: Risk,
    /// Points for one line of the group, and for several.
    one: f64,
    several: f64,
    /// Points together with haste, for one line and for several.
    one_hasty: f64,
    several_hasty: f64,
    /// Lines from which on they are several.
    many: usize,
    reason: &'static str,
}

impl WordRule {
    fn signal(&self, evidence: &ScamEvidence<'_>, hasty: bool) -> Option<Signal> {
        let all = evidence.phrases.of(self.group);
        let own = evidence.own_phrases.as_ref().map(|own| own.of(self.group));
        if self.group == "renewal" && !has_telephone(evidence) {
            return None;
        }
        let quoted = own == Some(0);
        let count = own.filter(|own| *own > 0).unwrap_or(all);
        let points = match (count >= self.many, hasty) {
            _ if count == 0 => return None,
            (true, true) => self.several_hasty,
            (true, false) => self.several,
            (false, true) => self.one_hasty,
            (false, false) => self.one,
        };
        let points = if quoted { points * QUOTED } else { points };
        let presses = if hasty { ", and presses for it" } else { "" };
        let place = if quoted { "The quoted part" } else { "It" };
        let reason = format!("{place} {}{presses}.", self.reason);
        // It is put together from fixed parts.
        let signal = Signal { general: true, ..Signal::words(points, self.risk, reason) };
        (points > 0.0).then_some(signal)
    }
}

const fn rule(group: &'static str, risk: Risk, points: [f64; 4], reason: &'static str) -> WordRule {
    let [one, several, one_hasty, several_hasty] = points;
    WordRule { group, risk, one, several, one_hasty, several_hasty, many: 2, reason }
}

/// In the order of the file of phrases.
const RULES: &[WordRule] = &[
    rule(
        "credentials",
        Risk::Phishing,
        [1.5, 2.5, 2.5, 4.0],
        "asks to confirm an account or a password",
    ),
    rule(
        "secrets",
        Risk::Phishing,
        [2.5, 3.5, 3.5, 4.5],
        "asks for a card number, a PIN or a recovery phrase",
    ),
    rule(
        "mailbox",
        Risk::Phishing,
        [1.5, 3.0, 2.5, 4.0],
        "says that a mailbox is full or will be closed",
    ),
    rule("document", Risk::Phishing, [0.5, 1.0, 1.0, 1.5], "says that a document is waiting"),
    rule("parcel", Risk::Phishing, [1.0, 2.0, 2.0, 3.0], "says that a parcel is held back"),
    rule("refund", Risk::Scam, [1.0, 2.0, 1.5, 3.0], "promises a refund"),
    rule("fine", Risk::Scam, [1.5, 3.0, 2.5, 3.5], "demands a fine or a debt"),
    rule("prize", Risk::Scam, [1.0, 2.5, 1.5, 3.0], "promises a prize or a present"),
    rule("voucher request", Risk::Scam, [1.5, 3.0, 4.5, 4.5], "asks for gift cards or vouchers"),
    rule(
        "renewal",
        Risk::Scam,
        [1.5, 3.0, 2.0, 3.5],
        "tells of a charge and gives a telephone number to object",
    ),
    rule("bank change", Risk::Scam, [2.5, 3.0, 4.0, 4.5], "asks to pay into another account"),
    rule("payroll", Risk::Scam, [2.5, 3.5, 4.0, 4.5], "asks to pay a salary into another account"),
    rule("sextortion", Risk::Scam, [1.0, 4.0, 2.0, 5.0], "threatens with recordings"),
    rule("wallet", Risk::Phishing, [1.5, 3.0, 2.5, 4.0], "is about a wallet of crypto-currency"),
    WordRule {
        many: 3,
        ..rule("fortune", Risk::Scam, [0.5, 4.0, 0.5, 4.5], "promises a fortune or a loan")
    },
    rule("casino", Risk::Scam, [1.0, 3.0, 1.5, 3.5], "advertises gambling"),
    rule("dating", Risk::Scam, [1.0, 2.5, 1.0, 2.5], "promises acquaintances"),
    rule("cure", Risk::Scam, [1.0, 2.5, 1.5, 3.0], "promises a cure or a loss of weight"),
    rule(
        "lapse",
        Risk::Phishing,
        [1.0, 2.5, 1.5, 3.0],
        "says that a protection, a plan or a payment failed",
    ),
    rule(
        "offer",
        Risk::Suspicious,
        [0.5, 1.5, 1.0, 1.5],
        "is an offer of the kind that is sent unasked",
    ),
    rule("qr", Risk::Phishing, [1.5, 2.0, 2.0, 2.5], "asks to scan a code with a telephone"),
];

/// True when the text has a telephone number: seven to fifteen digits, parted by spaces and signs,
/// at least once.
fn has_telephone(evidence: &ScamEvidence<'_>) -> bool {
    let (mut digits, mut groups) = (0, 0);
    for word in evidence.text.words.split(' ') {
        if word.len() <= 5 && word.bytes().all(|b| b.is_ascii_digit()) {
            digits += word.len();
            groups += 1;
            if groups >= 3 && (9..=15).contains(&digits) {
                return true;
            }
        } else {
            (digits, groups) = (0, 0);
        }
    }
    false
}
