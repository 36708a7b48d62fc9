//! The base subject of a mail, without reply and forward prefixes.

/// What mail clients put before the subject of an answer or a forwarded mail, lower-cased.
const PREFIXES: &[&str] = &[
    "re",
    "fw",
    "fwd",
    "aw",
    "wg",
    "sv",
    "vs",
    "vb",
    "vl",
    "antw",
    "doorst",
    "rv",
    "res",
    "enc",
    "tr",
    "rif",
    "i",
    "r",
    "odp",
    "pd",
    "ynt",
    "ilt",
    "vá",
    "továbbítás",
    "отв",
    "回复",
    "回覆",
    "答复",
    "转发",
    "轉寄",
];

/// The subject without reply and forward prefixes, white space folded, lower-cased: what two
/// mails of one thread have in common.
pub fn base_subject(subject: &str) -> String {
    let folded = subject.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut rest = folded.as_str();
    while let Some(next) = without_prefix(rest) {
        rest = next;
    }
    rest.to_owned()
}

/// True for the subject of a mail that is passed on, by its first prefix.
pub fn is_forward(subject: &str) -> bool {
    const FORWARDED: [&str; 13] =
        ["fw", "fwd", "wg", "vl", "vb", "doorst", "rv", "enc", "tr", "pd", "ilt", "转发", "轉寄"];
    let subject = subject.trim_start().to_lowercase();
    let prefix = subject.split([':', '：']).next().unwrap_or_default();
    prefix.len() < subject.len() && FORWARDED.contains(&prefix.trim())
}

/// Takes one `Re:`, `AW:`, `Re[2]:` or `回复：` off.
fn without_prefix(subject: &str) -> Option<&str> {
    let colon = subject.find([':', '：'])?;
    let word = subject[..colon].trim_end();
    let word = match word.strip_suffix([']', ')']) {
        Some(counted) => {
            let open = counted.find(['[', '('])?;
            let counter = &counted[open + 1..];
            (!counter.is_empty() && counter.bytes().all(|b| b.is_ascii_digit()))
                .then(|| counted[..open].trim_end())?
        }
        None => word,
    };
    let after = subject[colon..].trim_start_matches([':', '：']).trim_start();
    PREFIXES.contains(&word).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::{base_subject, is_forward};

    #[test]
    fn a_forwarded_mail_is_told_by_its_first_prefix() {
        for subject in ["Fwd: Lamps", "WG: Lampen", "转发：灯", "fw:x"] {
            assert!(is_forward(subject), "{subject}");
        }
        for subject in ["Re: Fwd: Lamps", "Lamps", "Fw", "Tr lamps", "AW: x"] {
            assert!(!is_forward(subject), "{subject}");
        }
    }

    #[test]
    fn prefixes_of_many_languages_and_counters_are_taken_off() {
        for subject in [
            "Order 12",
            "Re: Order 12",
            "RE: re:  Order   12",
            "Fwd: AW: Order 12",
            "SV: Order 12",
            "Re[2]: Order 12",
            "RE (3) : Order 12",
            "回复：Order 12",
        ] {
            assert_eq!(base_subject(subject), "order 12", "{subject}");
        }
    }

    #[test]
    fn words_that_only_look_like_prefixes_stay() {
        assert_eq!(base_subject("Question: size"), "question: size");
        assert_eq!(base_subject("Re: "), "");
        assert_eq!(base_subject("Re[x]: hello"), "re[x]: hello");
    }
}
