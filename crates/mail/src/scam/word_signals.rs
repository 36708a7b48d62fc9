//! Scam signals in the text.

use super::{Risk, Signal};
use crate::parse::ParsedMail;

/// Bytes of text in which words are looked for.
const SEARCHED_BYTES: usize = 64 * 1024;

/// Single phrases prove little: typical for scams is urgency together with a request for money,
/// vouchers or passwords.
pub(super) fn signals(mail: &ParsedMail) -> Vec<Signal> {
    let text = &mail.text[..mail.text.floor_char_boundary(SEARCHED_BYTES)];
    let text = format!("{} {text}", mail.subject).to_lowercase();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = |phrases: &[&str]| phrases.iter().filter(|phrase| text.contains(*phrase)).count();
    let haste = count(HASTE) > 0;
    let mut found = Vec::new();
    for rule in PHRASE_RULES {
        let told = count(rule.phrases);
        if told == 0 {
            continue;
        }
        if haste && rule.with_haste > 0.0 {
            found.push(Signal::new(rule.with_haste, rule.risk, rule.hasty_reason));
        } else if rule.alone > 0.0 && told >= rule.enough {
            found.push(Signal::new(rule.alone, rule.risk, rule.reason));
        }
    }
    found.sort_by(|a, b| b.points.total_cmp(&a.points));
    found.truncate(2);
    found
}

struct PhraseRule {
    phrases: &'static [&'static str],
    risk: Risk,
    with_haste: f64,
    hasty_reason: &'static str,
    /// Points without haste, from this many phrases on.
    alone: f64,
    enough: usize,
    reason: &'static str,
}

const PHRASE_RULES: &[PhraseRule] = &[
    PhraseRule {
        phrases: BANK,
        risk: Risk::Scam,
        with_haste: 4.0,
        hasty_reason: "It presses for a payment to another account.",
        alone: 2.5,
        enough: 1,
        reason: "It asks to pay into another account.",
    },
    PhraseRule {
        phrases: VOUCHERS,
        risk: Risk::Scam,
        with_haste: 4.5,
        hasty_reason: "It presses for gift cards or vouchers.",
        alone: 1.5,
        enough: 1,
        reason: "It asks for gift cards or vouchers.",
    },
    PhraseRule {
        phrases: COINS,
        risk: Risk::Scam,
        with_haste: 3.5,
        hasty_reason: "It presses for a payment in crypto-currency.",
        alone: 0.0,
        enough: 1,
        reason: "",
    },
    PhraseRule {
        phrases: PASSWORDS,
        risk: Risk::Phishing,
        with_haste: 4.0,
        hasty_reason: "It presses to confirm an account or a password.",
        alone: 2.0,
        enough: 1,
        reason: "It asks to confirm an account or a password.",
    },
    PhraseRule {
        phrases: FORTUNES,
        risk: Risk::Scam,
        with_haste: 4.5,
        hasty_reason: "It promises a fortune and presses for an answer.",
        alone: 4.0,
        enough: 2,
        reason: "It promises a fortune for a favour.",
    },
];

const HASTE: &[&str] = &[
    "urgent",
    "immediately",
    "as soon as possible",
    "within 24 hours",
    "within 48 hours",
    "act now",
    "right away",
    "will be suspended",
    "will be closed",
    "will be terminated",
    "has been suspended",
    "has been limited",
    "final notice",
    "last warning",
    "before it is too late",
    "asap",
    "dringend",
    "sofort",
    "umgehend",
    "innerhalb von 24 stunden",
    "wird gesperrt",
    "wurde gesperrt",
    "letzte mahnung",
    "immédiatement",
    "sous 24 heures",
    "sera suspendu",
    "a été suspendu",
    "dernier avis",
    "inmediatamente",
    "en las próximas 24 horas",
    "será suspendida",
    "urgente",
    "immediatamente",
    "entro 24 ore",
    "verrà sospeso",
    "è stato sospeso",
    "imediatamente",
    "em 24 horas",
    "será bloqueada",
    "onmiddellijk",
    "binnen 24 uur",
    "wordt geblokkeerd",
    "natychmiast",
    "в течение 24 часов",
    "срочно",
];

const BANK: &[&str] = &[
    "new bank details",
    "new bank account",
    "changed our bank",
    "change of bank",
    "updated bank details",
    "our bank details have changed",
    "new account details for payment",
    "new payment details",
    "pay into the new account",
    "update our banking",
    "change my direct deposit",
    "update my direct deposit",
    "change my payroll",
    "neue bankverbindung",
    "bankverbindung hat sich geändert",
    "geänderte bankverbindung",
    "neue kontoverbindung",
    "nouveau rib",
    "nouvelles coordonnées bancaires",
    "changement de rib",
    "nueva cuenta bancaria",
    "nuevos datos bancarios",
    "nuove coordinate bancarie",
    "nuovo iban",
    "novos dados bancários",
    "nova conta bancária",
    "nieuwe bankgegevens",
    "nieuw rekeningnummer",
];

const VOUCHERS: &[&str] = &[
    "gift cards",
    "gift card",
    "itunes card",
    "google play card",
    "steam card",
    "apple card codes",
    "geschenkkarten",
    "gutscheinkarten",
    "paysafecard",
    "carte cadeau",
    "cartes cadeaux",
    "tarjetas de regalo",
    "carte regalo",
    "buoni regalo",
    "cartões-presente",
    "cadeaukaarten",
];

const COINS: &[&str] = &[
    "bitcoin",
    "btc wallet",
    "ethereum",
    "crypto wallet",
    "usdt",
    "seed phrase",
    "recovery phrase",
];

const PASSWORDS: &[&str] = &[
    "verify your account",
    "confirm your account",
    "verify your identity",
    "confirm your identity",
    "update your account information",
    "confirm your password",
    "verify your password",
    "your account has been limited",
    "re-activate your account",
    "reactivate your account",
    "unusual sign-in",
    "update your payment information",
    "update your billing information",
    "verify your email account",
    "mailbox will be deactivated",
    "upgrade your mailbox",
    "validate your mailbox",
    "konto bestätigen",
    "bestätigen sie ihr konto",
    "passwort bestätigen",
    "ihre daten bestätigen",
    "confirmer votre compte",
    "vérifier votre compte",
    "mettre à jour vos informations",
    "verificar su cuenta",
    "confirme su cuenta",
    "actualizar sus datos",
    "verifica il tuo account",
    "conferma i tuoi dati",
    "verificar sua conta",
    "confirme seus dados",
    "bevestig uw account",
    "verifieer uw account",
];

const FORTUNES: &[&str] = &[
    "million dollars",
    "million united states dollars",
    "million us dollars",
    "million pounds",
    "million euros",
    "next of kin",
    "inheritance",
    "deceased client",
    "late husband",
    "beneficiary",
    "foreign partner",
    "transfer the sum",
    "transfer of the sum",
    "this fund",
    "the funds into your account",
    "of the total sum",
    "modalities",
    "lottery",
    "you have won",
    "winning number",
    "consignment",
    "strictly confidential",
    "utmost confidence",
    "barrister",
    "security company",
    "diplomatic",
    "erbschaft",
    "sie haben gewonnen",
    "héritage",
    "vous avez gagné",
    "herencia",
    "ha ganado",
    "eredità",
    "hai vinto",
    "herança",
    "você ganhou",
];
