//! How soon a person must look at a mail: rules that read the situation, and decisions.
//!
//! High is what loses value or does harm within about a day, what keeps people from working or from
//! using what they paid for, and a deadline of law or safety within days. Low is what nobody loses
//! anything by if it is answered next week or never. Words such as "urgent" count for little, in
//! either direction: people write them over ordinary questions and leave them out of emergencies.

mod days;
mod situation;

use jiff::civil::Date;
use situation::Situation;

use crate::model::TopicModel;

/// How urgent a mail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UrgencyLevel {
    Low,
    Normal,
    High,
}

impl UrgencyLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            UrgencyLevel::Low => "low",
            UrgencyLevel::Normal => "normal",
            UrgencyLevel::High => "high",
        }
    }

    pub fn parse(name: &str) -> Option<UrgencyLevel> {
        let levels = [UrgencyLevel::Low, UrgencyLevel::Normal, UrgencyLevel::High];
        levels.into_iter().find(|level| level.as_str() == name)
    }
}

/// How urgent a mail is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrgencyVerdict {
    pub level: UrgencyLevel,
    /// Up to three plain sentences that name the rule and the words; none for a normal mail.
    pub reasons: Vec<String>,
}

/// Points from which on a mail is urgent.
const HIGH: f64 = 3.0;
/// Points from which on all that is said makes a mail urgent, none of it being enough by itself.
const PRESSING: f64 = 1.6;
/// Points from which on a mail can wait.
const LOW: f64 = 2.0;
/// Reasons that are given.
const REASONS: usize = 3;

/// How urgent a mail is, by rules. `text` is what its writer wrote, without quoted history.
pub fn urgency(subject: &str, text: &str) -> UrgencyVerdict {
    urgency_on(subject, text, None)
}

/// The same for a mail that was written on a day, where its writer is: what is named by its weekday or
/// date may be today or tomorrow.
pub fn urgency_on(subject: &str, text: &str, today: Option<Date>) -> UrgencyVerdict {
    let situation = Situation::of(subject, text, today);
    let (high, low) = (situation.high(), situation.low());
    let pressing = situation.pressing() > PRESSING;
    let level = if (high >= HIGH || pressing) && low < HIGH {
        UrgencyLevel::High
    } else if low >= LOW && high < HIGH {
        UrgencyLevel::Low
    } else {
        UrgencyLevel::Normal
    };
    let mut reasons = match level {
        UrgencyLevel::High => situation.reasons_for_high(high >= HIGH),
        UrgencyLevel::Low => situation.reasons_for_low(),
        UrgencyLevel::Normal => Vec::new(),
    };
    reasons.truncate(REASONS);
    UrgencyVerdict { level, reasons }
}

/// The same, corrected by what people decided: a model whose topics are the names of the levels
/// ([`UrgencyLevel::as_str`]), learned from the same texts, overrules the rules where it is sure.
pub fn urgency_with(
    subject: &str,
    text: &str,
    today: Option<Date>,
    decided: &TopicModel,
) -> UrgencyVerdict {
    let by_rules = urgency_on(subject, text, today);
    let learned = decided.sort(&format!("{subject}\n{text}"));
    let level = learned.topic.as_deref().and_then(UrgencyLevel::parse);
    match level.filter(|level| *level != by_rules.level) {
        Some(level) => {
            let mut reasons = vec!["You decided so about similar mail.".to_owned()];
            reasons.extend(learned.reasons);
            reasons.truncate(REASONS);
            UrgencyVerdict { level, reasons }
        }
        None => by_rules,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SorterExample;

    fn level(subject: &str, text: &str) -> UrgencyLevel {
        urgency(subject, text).level
    }

    #[test]
    fn danger_blocked_work_and_near_deadlines_are_high() {
        for (subject, text) in [
            ("Heating", "There is a smell of gas in the kitchen since this evening."),
            ("Login", "Nobody in the office can log in since this morning, we cannot work at all."),
            (
                "Abholung",
                "Ich stehe am Flughafen, der Flug geht in zwei Stunden, die Buchung fehlt.",
            ),
            ("Annulation", "L'annulation gratuite n'est possible que jusqu'à ce soir 18 h."),
            ("Cuenta", "Están haciendo pagos con mi tarjeta ahora mismo, yo no he sido."),
            ("Scadenza", "Il termine scade oggi alle 18 e parte la sanzione."),
            ("Insuline", "Mijn laatste insuline is vanavond op."),
        ] {
            assert_eq!(level(subject, text), UrgencyLevel::High, "{text}");
        }
    }

    #[test]
    fn a_weekday_is_near_by_the_day_of_the_mail() {
        let (subject, text) =
            ("Dress", "The dress for the wedding on Friday came in the wrong size.");
        let level = |day| urgency_on(subject, text, Some(jiff::civil::date(2026, 11, day))).level;
        assert_eq!((level(19), level(16)), (UrgencyLevel::High, UrgencyLevel::Normal));
    }

    #[test]
    fn words_of_haste_over_an_ordinary_question_are_normal() {
        for (subject, text) in [
            ("URGENT", "Do you have the lamp in green as well?"),
            ("Dringend!!", "Gibt es die Jacke auch in XL?"),
            ("URGENTE", "¿Hacen marcos a medida?"),
            ("Refund", "I am furious. Three weeks and still no refund. When will you pay?"),
        ] {
            assert_eq!(level(subject, text), UrgencyLevel::Normal, "{subject} {text}");
        }
    }

    #[test]
    fn thanks_offers_and_automatic_mail_are_low() {
        for (subject, text) in [
            ("Thank you", "Thanks a lot for the quick help, all is well again."),
            ("Angebot", "Wir würden Ihnen gerne unser Verzeichnis vorstellen, Preise im Anhang."),
            ("Candidature", "Veuillez trouver ci-joint ma candidature spontanée et mon CV."),
            ("Out of office", "I am out of the office until Monday. This is an automatic reply."),
        ] {
            assert_eq!(level(subject, text), UrgencyLevel::Low, "{text}");
        }
    }

    #[test]
    fn short_thanks_are_low_in_any_language() {
        for text in [
            "Thanks!",
            "Thank you so much, all good now.",
            "Merci beaucoup",
            "Merci beaucoup pour votre réponse rapide !",
            "Un grand merci à toute l'équipe.",
            "Danke schön, alles gut",
            "Vielen Dank, hat geklappt.\n\nViele Grüße\nJörg Maier",
            "Besten Dank!",
            "Mil gracias",
            "Muchísimas gracias, todo perfecto.",
            "Grazie mille!",
            "La ringrazio, cordiali saluti",
            "Muito obrigado",
            "Obrigada, está tudo certo.",
            "Dank je wel!",
            "Hartelijk dank, alles is goed aangekomen",
            "Dziękuję bardzo",
            "Tack så mycket!",
            "Mange tak",
            "Kiitos!",
            "Děkuji",
            "Спасибо",
        ] {
            assert_eq!(level("Re: Lamp", text), UrgencyLevel::Low, "{text}");
        }
    }

    #[test]
    fn thanks_beside_a_wish_are_not_low() {
        for text in [
            "Danke, aber die Lampe ist noch nicht da.",
            "Merci de me rappeler demain.",
            "Merci, mais je n'ai pas reçu la facture.",
            "Gracias, ¿cuándo llega?",
            "Thanks, please send the invoice again.",
            "Bitte senden Sie mir die Rechnung, danke",
            "Grazie, ma non funziona ancora.",
            "Thanks in advance for sending two more lamps in green to our branch office in Leeds \
             by the end of next month, as we agreed on the phone",
        ] {
            assert_ne!(level("Re: Lamp", text), UrgencyLevel::Low, "{text}");
        }
    }

    #[test]
    fn a_reason_names_the_rule_and_the_words() {
        let verdict = urgency("Kitchen", "There is a smell of gas in the kitchen.");
        assert_eq!(verdict.reasons, ["Somebody may be in danger: “smell of gas”."]);
    }

    #[test]
    fn decisions_correct_the_rules() {
        let text = |at: usize| format!("Order {at}: please change the colour of the label");
        let mut examples: Vec<SorterExample> =
            (0..40).map(|at| SorterExample::from_decision(&text(at), Some("high"))).collect();
        let other = |at: usize| format!("Question {at} about an invoice that I cannot find");
        examples.extend((0..40).map(|at| SorterExample::from_decision(&other(at), Some("normal"))));
        let model = TopicModel::learn(&examples);
        assert_eq!(level("", &text(99)), UrgencyLevel::Normal);
        let corrected = urgency_with("", &text(99), None, &model);
        assert_eq!(corrected.level, UrgencyLevel::High);
        assert_eq!(corrected.reasons[0], "You decided so about similar mail.");
    }
}
