//! Sentences that say that something was done or will be done: only a person can say so.

use model::messages::answers::words;

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
    let is_future = |word: &String| {
        rule.acts.split_whitespace().any(|stem| is_form(word, stem))
            && rule.futures.split_whitespace().any(|end| is_form(word, end))
    };
    (has(rule.says) && acts(rule.acts)) || words.iter().any(is_future)
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
/// sentence are a promise, and so is an act with an end by which I or we will do it (`futures`).
struct PromiseRule {
    language: &'static str,
    says: &'static str,
    acts: &'static str,
    futures: &'static str,
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
        futures: "",
    },
    PromiseRule {
        language: "de",
        says: "ich habe, wir haben, habe ich, haben wir, wurde, wurden, werde, wird, werden, ich \
               hatte, wir hatten",
        acts: "erstatt- uberw- gesendet gesandt schick- geschickt sende- verschick- versand- versend- \
               storn- geandert ander- aktualis- gebucht buchen bezahl- zahlen veranlass- gutgeschrieben \
               geloscht losch- weitergeleitet zuruckgesetzt zurucks- freigeschaltet ersetz- verlanger- \
               genehmig- bestatigt korrigier- behoben erledigt beauftragt",
        futures: "",
    },
    PromiseRule {
        language: "fr",
        says: "j ai, nous avons, a ete, ont ete, je vais, nous allons, nous venons, je viens, sera, \
               seront",
        acts: "rembours- envoy- enverr- paier- annul- modifi- chang- reserv- pay- vir- credit- \
               supprim- transf- expedi- remplac- confirm- corrig- trait- prolong- effectu-",
        futures: "-erai -erons -irai -irons -rrai -rrons",
    },
    PromiseRule {
        language: "es",
        says: "he, hemos, ha sido, han sido, voy a, vamos a, sera, seran, acabamos de, acabo de, fue, \
               fueron",
        acts: "reembols- devuel- devolv- envi- cancel- cambi- modific- reserv- pag- transfer- abon- \
               elimin- borr- reenvi- sustitu- confirm- correg- tramit- ampli- solicit-",
        futures: "-are -ere -ire -aremos -eremos -iremos",
    },
    PromiseRule {
        language: "it",
        says: "ho, abbiamo, e stato, e stata, sono stati, sono state, sara, saranno, provvedo, \
               provvediamo, provvederemo",
        acts: "rimbors- inviat- inviare inviero invieremo spedi- annull- modific- cambi- \
               prenot- pag- bonific- accredit- elimin- cancell- sostitu- conferm- corre- \
               prorog-",
        futures: "-ero -iro -eremo -iremo",
    },
    PromiseRule {
        language: "nl",
        says: "ik heb, wij hebben, we hebben, heb ik, hebben wij, hebben we, werd, werden, wordt, \
               worden, zal, zullen",
        acts: "terugbetaald terugbetalen verstuurd versturen gestuurd sturen verzonden geannuleerd \
               annuleren gewijzigd wijzigen geboekt boeken betaald overgemaakt gecrediteerd verwijderd \
               doorgestuurd vervangen bevestigd gecorrigeerd verlengd geregeld",
        futures: "",
    },
    PromiseRule {
        language: "pt",
        says: "eu tenho, temos, foi, foram, vou, vamos, sera, serao, ja, acabamos de",
        acts: "reembols- devolv- envi- cancel- alter- mud- reserv- pag- transfer- credit- apag- \
               substitu- confirm- corrig- prolong-",
        futures: "-arei -erei -irei -aremos -eremos -iremos",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_known_in_seven_languages() {
        for language in ["en", "de", "fr", "es", "it", "nl", "pt"] {
            assert!(knows(language), "{language}");
        }
        assert!(!knows("pl"));
    }

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
            ("de", "Der Betrag wird erstattet."),
            ("de", "Die Gebühren werden wir Ihnen überweisen."),
            ("nl", "Het bedrag wordt terugbetaald."),
            ("fr", "Nous vous rembourserons le montant."),
            ("fr", "Je vous enverrai le reçu."),
            ("es", "Le reembolsaremos el importe."),
            ("es", "Cancelaré el pedido."),
            ("it", "Le rimborseremo l'importo."),
            ("it", "Invierò la ricevuta."),
            ("pt", "Reembolsaremos o valor."),
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
            ("es", "Un reembolso tarda cinco días."),
            ("it", "Un rimborso arriva in cinque giorni."),
            ("nl", "Een terugbetaling duurt vijf dagen."),
            ("pt", "Um reembolso demora cinco dias."),
        ] {
            assert!(!is_promise(sentence, language), "{sentence}");
        }
    }
}
