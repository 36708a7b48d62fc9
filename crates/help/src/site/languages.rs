//! What the languages of help pages call themselves, and which of them a browser asks for.

/// Codes and names.
const NAMES: [(&str, &str); 28] = [
    ("ar", "العربية"),
    ("bg", "Български"),
    ("cs", "Čeština"),
    ("da", "Dansk"),
    ("de", "Deutsch"),
    ("el", "Ελληνικά"),
    ("en", "English"),
    ("es", "Español"),
    ("et", "Eesti"),
    ("fa", "فارسی"),
    ("fi", "Suomi"),
    ("fr", "Français"),
    ("he", "עברית"),
    ("hu", "Magyar"),
    ("it", "Italiano"),
    ("ja", "日本語"),
    ("ko", "한국어"),
    ("nl", "Nederlands"),
    ("no", "Norsk"),
    ("pl", "Polski"),
    ("pt", "Português"),
    ("ro", "Română"),
    ("sk", "Slovenčina"),
    ("sv", "Svenska"),
    ("tr", "Türkçe"),
    ("uk", "Українська"),
    ("ur", "اردو"),
    ("zh", "中文"),
];

/// A language in its own words; its code in capitals where they are not known.
pub fn name(code: &str) -> String {
    let known = NAMES.iter().find(|(one, _)| *one == code);
    known.map_or_else(|| code.to_uppercase(), |(_, name)| (*name).to_owned())
}

/// The first of these languages that a browser asks for.
pub fn choose_language<'a>(accepted: &str, there: &'a [String]) -> Option<&'a str> {
    let mut asked: Vec<(f32, &str)> = accepted
        .split(',')
        .take(20)
        .filter_map(|one| {
            let (tag, weight) = one.split_once(';').unwrap_or((one, ""));
            let weight =
                weight.trim().strip_prefix("q=").map_or(Some(1.0), |q| q.trim().parse().ok());
            let code = tag.trim().split('-').next()?;
            weight.filter(|weight| *weight > 0.0).map(|weight| (weight, code))
        })
        .collect();
    asked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let found = asked
        .into_iter()
        .find_map(|(_, code)| there.iter().find(|language| language.eq_ignore_ascii_case(code)));
    found.map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_chooses_among_what_there_is() {
        let there = ["de".to_owned(), "en".to_owned()];
        for (accepted, language) in [
            ("de-CH,de;q=0.9,en;q=0.8", Some("de")),
            ("fr, en;q=0.3, de;q=0.4", Some("de")),
            ("fr", None),
            ("", None),
            ("en;q=0", None),
        ] {
            assert_eq!(choose_language(accepted, &there), language, "{accepted}");
        }
        assert_eq!((name("de").as_str(), name("xx").as_str()), ("Deutsch", "XX"));
    }
}
