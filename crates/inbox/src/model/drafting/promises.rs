//! Sentences that say that something was done or will be done: only a person can say so.

use crate::model::answers::words;

/// True for a sentence in which we did something, or will.
pub fn is_promise(sentence: &str, language: &str) -> bool {
    let Some(rule) = RULES.iter().find(|rule| rule.language == language) else { return false };
    let words = words(sentence);
    let has = |listed: &str| {
        listed.split(", ").any(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            words.windows(phrase.len()).any(|window| window == phrase.as_slice())
        })
    };
    let acts = |listed: &str| {
        let mut stems = listed.split_whitespace();
        stems.any(|stem| words.iter().any(|word| is_form(word, stem)))
    };
    has(rule.says) && acts(rule.acts)
}

/// True for a language whose promises are known.
pub fn knows(language: &str) -> bool {
    RULES.iter().any(|rule| rule.language == language)
}

/// A stem with `-` at its end is the beginning of a word, one with `-` before it its end.
fn is_form(word: &str, stem: &str) -> bool {
    match (stem.strip_suffix('-'), stem.strip_prefix('-')) {
        (Some(beginning), _) => word.starts_with(beginning),
        (_, Some(end)) => word.ends_with(end),
        _ => word == stem,
    }
}

/// How a language says that we did something or will (`says`), and what we do (`acts`). Both in one
/// sentence are a promise.
struct PromiseRule {
    language: &'static str,
    says: &'static str,
    acts: &'static str,
}

const RULES: [PromiseRule; 7] = [
    PromiseRule {
        language: "en",
        says: "i have, we have, i ve, we ve, has been, have been, i will, we will, i ll, we ll, i am, \
               we are, i m, we re, was, were, i just, we just, will be, i had, we had, i d, is being",
        acts: "refund- sent sending send return- cancel- chang- updat- book- pay paying paid transfer- \
               issu- arrang- ship- credit- delet- remov- forward- schedul- process- initiat- reset- \
               activat- deactivat- replac- reimburs- compensat- extend- upgrad- approv- confirm- fix- \
               correct- escalat- waiv-",
    },
    PromiseRule {
        language: "de",
        says: "ich habe, wir haben, habe ich, haben wir, wurde, wurden, ich werde, wir werden, werde \
               ich, werden wir, ich hatte, wir hatten",
        acts: "erstatt- uberw- gesendet gesandt schick- geschickt sende- verschick- versand- versend- \
               storn- geandert ander- aktualis- gebucht buchen bezahl- zahlen veranlass- gutgeschrieben \
               geloscht losch- weitergeleitet zuruckgesetzt zurucks- freigeschaltet ersetz- verlanger- \
               genehmig- bestatigt korrigier- behoben erledigt beauftragt",
    },
    PromiseRule {
        language: "fr",
        says: "j ai, nous avons, a ete, ont ete, je vais, nous allons, nous venons, je viens, sera, \
               seront",
        acts: "rembours- envoy- annul- modifi- chang- reserv- pay- vir- credit- supprim- transf- expedi- \
               remplac- confirm- corrig- trait- prolong- effectu-",
    },
    PromiseRule {
        language: "es",
        says: "he, hemos, ha sido, han sido, voy a, vamos a, sera, seran, acabamos de, acabo de, fue, \
               fueron",
        acts: "reembols- devuel- devolv- envi- cancel- cambi- modific- reserv- pag- transfer- abon- \
               elimin- borr- reenvi- sustitu- confirm- correg- tramit- ampli- solicit-",
    },
    PromiseRule {
        language: "it",
        says: "ho, abbiamo, e stato, e stata, sono stati, sono state, sara, saranno, provvedo, \
               provvediamo, provvederemo",
        acts: "rimbors- inviat- inviare spedi- annull- modific- cambi- prenot- pag- bonific- accredit- \
               elimin- cancell- sostitu- conferm- corre- prorog-",
    },
    PromiseRule {
        language: "nl",
        says: "ik heb, wij hebben, we hebben, heb ik, hebben wij, hebben we, werd, werden, ik \
               zal, wij zullen, we zullen",
        acts: "terugbetaald terugbetalen verstuurd versturen gestuurd sturen verzonden geannuleerd \
               annuleren gewijzigd wijzigen geboekt boeken betaald overgemaakt gecrediteerd verwijderd \
               doorgestuurd vervangen bevestigd gecorrigeerd verlengd geregeld",
    },
    PromiseRule {
        language: "pt",
        says: "eu tenho, temos, foi, foram, vou, vamos, sera, serao, ja, acabamos de",
        acts: "reembols- devolv- envi- cancel- alter- mud- reserv- pag- transfer- credit- apag- \
               substitu- confirm- corrig- prolong-",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_we_did_or_will_do_is_a_promise() {
        for (language, sentence) in [
            ("en", "I have refunded the second debit."),
            ("en", "We've cancelled your order."),
            ("en", "Your refund has been processed."),
            ("en", "I will send the money back."),
            ("en", "I am sending the second one back."),
            ("de", "Wir haben den Betrag heute erstattet."),
            ("de", "Ihre Bestellung wurde storniert."),
            ("fr", "Nous avons remboursé le montant."),
            ("es", "Hemos cancelado su pedido."),
            ("it", "Abbiamo rimborsato l'importo."),
            ("nl", "Wij hebben het bedrag terugbetaald."),
        ] {
            assert!(is_promise(sentence, language), "{sentence}");
        }
    }

    #[test]
    fn how_things_are_is_no_promise() {
        for (language, sentence) in [
            ("en", "Returned fees arrive within five bank days."),
            ("en", "A second debit goes back to the account it came from."),
            ("en", "Thank you for writing to us."),
            ("de", "Erstattungen dauern fünf Banktage."),
            ("fr", "Un remboursement prend cinq jours."),
        ] {
            assert!(!is_promise(sentence, language), "{sentence}");
        }
    }
}
