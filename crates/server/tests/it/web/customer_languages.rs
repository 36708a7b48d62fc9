//! The languages of customers: everything that they read is translated and nothing else, and pages and mails are in
//! them.

use std::collections::BTreeSet;

use actions::workspace::customer_page::set_customer_page;
use actions::workspace::help_site::set_help_site;
use axum::body::Body;
use axum::http::Request;
use bookings::types::BookingTypeInput;
use customers::CustomerPageMode;
use knowledge::help_site::HelpSiteInput;
use serde_json::json;
use translation::Language;

use super::browser::{Browser, Page};
use crate::support::*;

on_both!(
    a_booking_page_is_in_a_language_that_the_app_is_not_offered_in,
    a_customers_own_page_is_in_a_language_that_the_app_is_not_offered_in,
    mail_to_somebody_unknown_is_in_the_language_of_the_help_pages
);

/// A translation has at most so many characters for each of the English text, and a few more where that is short.
const GROWTH: f64 = 1.6;
const SHORT_TEXT_CHARS: f64 = 16.0;

/// Names of numbers that stand before a noun.
const NUMBERS: [&str; 7] = ["n", "minutes", "files", "tries", "tries_left", "waiting", "count"];

pub(super) async fn get_in(browser: &Browser<'_>, path: &str, languages: &str) -> Page {
    browser.send(Request::get(path).header("accept-language", languages), Body::empty()).await
}

async fn a_booking_page_is_in_a_language_that_the_app_is_not_offered_in(app: TestApp) {
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let input = BookingTypeInput {
            name: "Rozmowa".into(),
            slug: "short".into(),
            minutes: 30,
            step: Some(30),
            hosts: vec![person.clone()],
            ..BookingTypeInput::default()
        };
        actions::bookings::add_booking_type(tx, cx, &input)
    })
    .await;
    let polish = "pl-PL,pl;q=0.9,en;q=0.5";
    let guest = app.browser();
    let page = get_in(&guest, "/b/acme/short", polish).await.is(200);
    page.shows("<html lang=\"pl\" dir=\"ltr\">").shows("Wolne terminy").shows("30 minut<");
    page.shows(" listopada</span>").hides("Free times").hides("November");
    let nowhere = get_in(&guest, "/u/nowhere", polish).await.is(404);
    nowhere.shows("Ten link donikąd nie prowadzi").hides("This link");

    let browser = app.signed_in(&app.owner).await;
    get_in(&browser, "/inbox", polish).await.is(200).shows("<html lang=\"en\">");
    browser.get("/settings/you").await.is(200).shows("Français").hides("Polski");
    browser.post("/settings/you/language", &[("language", "pl")]).await.is(400);
    get_in(&app.browser(), "/sign-in", polish).await.is(200).shows("<html lang=\"en\">");
}

async fn a_customers_own_page_is_in_a_language_that_the_app_is_not_offered_in(app: TestApp) {
    app.act(&app.owner, |tx, cx| set_customer_page(tx, cx, CustomerPageMode::On)).await;
    let page = get_in(&app.browser(), "/me/acme", "pl").await.is(200);
    page.shows("<html lang=\"pl\"").shows("Państwa rozmowy").hides("Your conversations");
}

async fn mail_to_somebody_unknown_is_in_the_language_of_the_help_pages(app: TestApp) {
    let key = app.key("read send").await;
    for (language, expected) in [
        ("pl", "Czego potrzebujemy od Państwa:\n- Dowód"),
        ("sv", "What we need from you:\n- Dowód"),
    ] {
        let input = HelpSiteInput { is_open: true, language: language.into(), form: String::new() };
        app.act(&app.owner, move |tx, cx| set_help_site(tx, cx, &input)).await;
        let mail = app.mail(&format!("{language}@shop.example Bo"), "Chair", "x").await;
        let asks = json!({ "documents": [{ "label": "Dowód" }], "send": true });
        app.on(&key, &mail.conversation, "document-requests", asks).await.is(201);
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        let text = text_of(messages.last().unwrap(), "text");
        assert!(text.contains(expected), "{language}: {text}");
    }
}

fn of_customers() -> impl Iterator<Item = Language> {
    Language::all().filter(|language| !language.is_of_app())
}

/// The languages whose texts have a bound. German was the first and has a few longer ones.
fn of_bounded_length() -> impl Iterator<Item = Language> {
    let unbounded = [Language::ENGLISH, Language::parse("de").unwrap()];
    Language::all().filter(move |language| !unbounded.contains(language))
}

/// The places of a text, each with the forms of a word in it.
fn places(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let places = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    places.map(|place| match place.split_once('|') {
        Some((name, forms)) => (name, Some(forms)),
        None => (place, None),
    })
}

/// The text with the longest form of every word that has several.
fn longest(text: &str) -> String {
    let mut longest = String::new();
    let mut parts = text.split('{');
    longest.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (place, after) = part.split_once('}').unwrap_or((part, ""));
        let forms = place.split('|').skip(1);
        match forms.max_by_key(|form| form.chars().count()) {
            Some(form) => longest.push_str(form),
            None => longest.push_str(&format!("{{{place}}}")),
        }
        longest.push_str(after);
    }
    longest
}

#[test]
fn the_five_languages_have_what_customers_read_and_nothing_else() {
    let codes: Vec<&str> = of_customers().map(Language::code).collect();
    assert_eq!(codes, ["it", "nl", "pl", "pt", "ar"]);
    let (texts, sentences) = customer_texts::all();
    assert!(texts.len() > 500 && sentences.len() > 70, "{} {}", texts.len(), sentences.len());
    for language in of_customers() {
        let code = language.code();
        let known = |english: &'static str| english.to_owned();
        let all_texts: BTreeSet<String> = language.texts().map(|(text, _)| known(text)).collect();
        let all_sentences: BTreeSet<String> =
            language.sentences().map(|(text, _)| known(text)).collect();
        for (read, translated) in [(&texts, &all_texts), (&sentences, &all_sentences)] {
            let missing: Vec<_> = read.difference(translated).collect();
            let superfluous: Vec<_> = translated.difference(read).collect();
            assert!(missing.is_empty(), "{code} lacks {missing:#?}");
            assert!(superfluous.is_empty(), "{code} has what no customer reads: {superfluous:#?}");
        }
    }
}

#[test]
fn a_translation_has_the_same_places_and_is_not_much_longer() {
    for language in of_bounded_length() {
        for (english, text) in language.texts().chain(language.sentences()) {
            let code = language.code();
            let names = |text| places(text).map(|(name, _)| name).collect::<BTreeSet<_>>();
            assert_eq!(names(english), names(text), "{code}: {english}");
            assert!(!text.is_empty(), "{code}: {english}");
            let said = english.rsplit_once('|').map_or(english, |(_, said)| said);
            let most = GROWTH * said.chars().count() as f64 + SHORT_TEXT_CHARS;
            let chars = longest(text).chars().count();
            assert!(chars as f64 <= most, "{code} takes {chars} characters for: {english}");
        }
    }
}

#[test]
fn a_noun_after_a_number_has_its_three_forms_in_polish_and_its_five_in_arabic() {
    for (code, forms) in [("pl", 3), ("ar", 5)] {
        nouns_have_forms(Language::parse(code).unwrap(), forms);
    }
}

fn nouns_have_forms(language: Language, count: usize) {
    let mut counted = 0;
    for (english, text) in language.texts().chain(language.sentences()) {
        for part in english.split('{').skip(1) {
            let Some((name, noun)) = part.split_once("} ") else { continue };
            let noun = noun.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            if !NUMBERS.contains(&name) || noun.len() < 4 || !noun.ends_with('s') {
                continue;
            }
            let has_forms = |(place, forms): (&str, Option<&str>)| {
                place == name && forms.is_some_and(|forms| forms.split('|').count() == count)
            };
            // Behind a colon a number has no noun.
            let is_alone = text.ends_with(&format!(": {{{name}}}"));
            assert!(is_alone || places(text).any(has_forms), "{english}: {text}");
            counted += 1;
        }
    }
    assert!(counted > 20, "{counted}");
}

/// What customers read, as the code says it: the documentation of a folder (in its `mod.rs`), a file or an item has
/// the mark.
mod customer_texts {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::sync::LazyLock;

    use translation::Language;

    use crate::web::languages::said_texts;

    const MARK: &str = "Customers read";
    /// What pages of the team have too. Its macros on customers' pages say nothing.
    const MACROS: &str = "macros.html";
    /// Characters of its own that a pattern needs to stand for several sentences.
    const OWN_CHARS: usize = 20;

    /// The sentences of the German catalogue, each with the words around its places.
    static GERMAN: LazyLock<Vec<(Vec<&'static str>, &'static str)>> = LazyLock::new(|| {
        let german = Language::parse("de").unwrap();
        german.sentences().map(|(english, _)| (own_words(english), english)).collect()
    });

    /// The texts, and the sentences of the domain.
    pub fn all() -> (BTreeSet<String>, BTreeSet<String>) {
        let code = marked_code();
        let mut texts = BTreeSet::new();
        let mut sentences = BTreeSet::new();
        for part in &code {
            texts.extend(said_texts::of_code(part));
            sentences.extend(sentences_of(part));
        }
        texts.extend(texts_of_templates(&code));
        sentences.retain(|sentence| sentence.contains('{') || !texts.contains(sentence));
        (texts, sentences)
    }

    fn marked_code() -> Vec<String> {
        let files = said_texts::sources();
        let is_mark = |line: &str| line.starts_with("//!") && line.contains(MARK);
        let is_marked = |text: &str| text.lines().any(is_mark);
        let roots = files.iter().filter(|(path, text)| path.ends_with("mod.rs") && is_marked(text));
        let folders: Vec<&Path> = roots.filter_map(|(path, _)| path.parent()).collect();
        let mut marked = Vec::new();
        for (path, text) in &files {
            let code = text.split("#[cfg(test)]").next().unwrap();
            if is_marked(code) || folders.iter().any(|folder| path.starts_with(folder)) {
                marked.push(code.to_owned());
            } else {
                marked.push(marked_items(code));
            }
        }
        marked
    }

    /// The items below a mark, each to the line that ends it.
    fn marked_items(code: &str) -> String {
        let lines: Vec<&str> = code.lines().collect();
        let mut items = String::new();
        for (at, line) in lines.iter().enumerate() {
            let words = line.trim_start();
            if !words.starts_with("///") || !words.contains(MARK) {
                continue;
            }
            let indent = &line[..line.len() - words.len()];
            for line in &lines[at + 1..] {
                items.push_str(line);
                items.push('\n');
                let outer = line.strip_prefix(indent).unwrap_or_default();
                let is_end = outer.starts_with('}') || outer.ends_with([';', ',']);
                if is_end && !outer.starts_with(char::is_whitespace) {
                    break;
                }
            }
        }
        items
    }

    /// What the templates of this code say, with all that they include, and their scripts.
    fn texts_of_templates(code: &[String]) -> BTreeSet<String> {
        let templates: BTreeMap<String, String> = said_texts::templates().collect();
        let named = |part: &String| -> Vec<String> {
            let paths = part.split("template(path = \"").skip(1);
            paths.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
        };
        let mut waiting: Vec<String> = code.iter().flat_map(named).collect();
        let (mut seen, mut scripts) = (BTreeSet::new(), BTreeSet::new());
        let mut texts = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            let Some(template) = templates.get(&name).filter(|_| name != MACROS) else { continue };
            if !seen.insert(name) {
                continue;
            }
            texts.extend(said_texts::of_template(template));
            for quoted in template.split('"') {
                if quoted.ends_with(".html") {
                    waiting.push(quoted.to_owned());
                } else if quoted.ends_with(".js") {
                    scripts.insert(quoted.to_owned());
                }
            }
        }
        assert!(seen.len() > 30, "{seen:?}");
        let scripts = said_texts::scripts().into_iter().filter(|(name, _)| scripts.contains(name));
        texts.extend(scripts.flat_map(|(_, script)| said_texts::of_script(&script)));
        texts
    }

    /// The sentences of the German catalogue that this code says: its literals, whole or sentence by sentence.
    fn sentences_of(code: &str) -> BTreeSet<String> {
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        let literals = said_texts::literals(&code).map(|(literal, _)| literal);
        let mut said = BTreeSet::new();
        for literal in literals.filter(|literal| literal.contains(' ')) {
            let parts = split(&literal).into_iter().filter(|part| has_words(part));
            let found: Vec<Vec<&str>> = parts.map(matching).collect();
            if !found.is_empty() && found.iter().all(|sentences| !sentences.is_empty()) {
                said.extend(found.into_iter().flatten().map(str::to_owned));
            } else {
                said.extend(matching(&literal).into_iter().map(str::to_owned));
            }
        }
        said
    }

    /// The words around the places of a text.
    fn own_words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            words.push(before);
            rest = after.split_once('}').map_or("", |(_, after)| after);
        }
        words.push(rest);
        words
    }

    fn has_words(text: &str) -> bool {
        own_words(text).iter().any(|words| words.contains(char::is_alphabetic))
    }

    /// The sentences that a literal stands for: the one with the same words, or those that a pattern can become.
    fn matching(literal: &str) -> Vec<&'static str> {
        let words = own_words(literal);
        let same = GERMAN.iter().filter(|(own, _)| *own == words).map(|(_, english)| *english);
        let same: Vec<&str> = same.collect();
        let own: usize = words.iter().map(|words| words.chars().count()).sum();
        match words.as_slice() {
            [start, end] if same.is_empty() && own >= OWN_CHARS => {
                let becomes = |english: &&str| {
                    let value = english.strip_prefix(*start).and_then(|it| it.strip_suffix(*end));
                    value.is_some_and(|value| !value.is_empty() && !value.contains(['.', '?', '!']))
                };
                GERMAN.iter().map(|(_, english)| *english).filter(becomes).collect()
            }
            _ => same,
        }
    }

    /// The sentences of a text, as they are looked up one by one.
    fn split(text: &str) -> Vec<&str> {
        let (mut sentences, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let mut ends = rest.match_indices(['.', '?', '!']).map(|(at, _)| at + 1);
            let begins = |c: char| c.is_uppercase() || c == '{';
            let end = ends.find(|at| {
                rest[*at..].strip_prefix(' ').is_some_and(|after| after.starts_with(begins))
            });
            let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
            sentences.push(sentence);
            rest = after.trim_start();
        }
        sentences
    }
}
