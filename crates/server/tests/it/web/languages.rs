//! The languages of the app: a page is in the language of its reader, and every text in every catalogue.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use jobs::OutgoingMail;
use translation::Language;

use super::browser::{Browser, Page};
use crate::support::*;

on_both!(
    a_person_chooses_the_language_of_the_app,
    every_page_of_a_german_reader_is_german,
    notices_come_in_the_language_of_the_person
);

async fn get_in(browser: &Browser<'_>, path: &str, languages: &str) -> Page {
    browser.send(Request::get(path).header("accept-language", languages), Body::empty()).await
}

async fn a_person_chooses_the_language_of_the_app(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let german = "de-AT,de;q=0.9,en;q=0.5";
    get_in(&browser, "/inbox", "fi").await.is(200).shows("<html lang=\"en\">").shows("Settings");
    let page = get_in(&browser, "/inbox", german).await.is(200);
    page.shows("<html lang=\"de\">").shows("Einstellungen").hides("Settings</span>");
    page.shows("<script type=\"application/json\" id=\"texts\">{");

    let here = "/settings/you";
    browser.post("/settings/you/language", &[("language", "de")]).await.goes_to(here);
    let page = browser.get("/inbox").await.is(200);
    page.shows("<html lang=\"de\">").shows("Gespeichert.");
    let refused = browser.post("/settings/tags", &[("name", "")]).await;
    refused.hides("<html lang=\"en\">");
    browser.post("/settings/you/language", &[("language", "en")]).await.goes_to(here);
    get_in(&browser, "/inbox", german).await.is(200).shows("<html lang=\"en\">");
    browser.post("/settings/you/language", &[("language", "xx")]).await.is(400);
    browser.post("/settings/you/language", &[("language", "")]).await.goes_to(here);
    get_in(&browser, "/inbox", german).await.is(200).shows("<html lang=\"de\">");

    // Where nobody is signed in, the browser alone says it.
    let stranger = app.browser();
    get_in(&stranger, "/sign-in", german).await.is(200).shows("Anmelden");
    get_in(&stranger, "/nowhere", german).await.is(404).shows("<html lang=\"de\">");
}

/// Words of English sentences that are no German words.
const ENGLISH: &[&str] =
    &["the", "and", "is", "are", "you", "your", "with", "this", "that", "of", "for"];

/// What a person reads on a page: its text, and the attributes that are read out or shown.
fn words(page: &str) -> String {
    let mut read = String::new();
    let mut rest = page;
    while let Some((text, after)) = rest.split_once('<') {
        read.push_str(text);
        read.push(' ');
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        for name in ["aria-label=\"", "title=\"", "placeholder=\"", "alt=\""] {
            let value = tag.split_once(name).and_then(|(_, value)| value.split_once('"'));
            read.push_str(value.map_or("", |(value, _)| value));
            read.push(' ');
        }
        let skipped =
            ["script", "code", "pre", "textarea"].iter().find(|name| tag.starts_with(**name));
        rest = match skipped {
            Some(name) => after.split_once(&format!("</{name}>")).map_or("", |(_, after)| after),
            None => after,
        };
    }
    read
}

/// The addresses of our own pages that a page links to, without those of the developer site.
fn links(page: &str) -> impl Iterator<Item = String> {
    let hrefs = page.split("href=\"/").skip(1).filter_map(|rest| rest.split('"').next());
    let paths =
        hrefs.map(|href| format!("/{}", href.split('#').next().unwrap().replace("&amp;", "&")));
    let left_out = ["/assets/", "/developers", "/attachments", "/openapi", "/llms", "/reports.csv"];
    paths.filter(move |path| !left_out.iter().any(|start| path.starts_with(start)))
}

async fn every_page_of_a_german_reader_is_german(app: TestApp) {
    let received =
        app.mail("anna@laden.example", "Lampen", "Guten Tag, was kostet die Lampe?").await;
    let browser = app.signed_in(&app.owner).await;
    browser.post("/settings/you/language", &[("language", "de")]).await.is(303);
    let path = format!("/conversations/{}", received.conversation);
    browser.post(&format!("{path}/note"), &[("body", "Bitte ansehen")]).await.is(303);
    browser.post(&format!("{path}/tags"), &[("add", "Lampe")]).await.is(303);
    let reply = [("to", "anna@laden.example"), ("body", "Zehn Euro"), ("seen", "99")];
    browser.post(&format!("{path}/reply"), &reply).await.is(303);

    let mut waiting: Vec<String> = vec!["/inbox".into(), path, "/new".into()];
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    let mut english: Vec<String> = Vec::new();
    while let Some(path) = waiting.pop() {
        let page = browser.get(&path).await;
        if page.status != 200 || !page.text.starts_with("<!doctype html>") {
            continue;
        }
        page.shows("<html lang=\"de\">");
        let read = words(&page.text);
        let read: Vec<&str> = read.split_whitespace().collect();
        for (place, word) in read.iter().enumerate() {
            let plain = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            if ENGLISH.contains(&plain.as_str()) {
                let around = &read[place.saturating_sub(4)..(place + 5).min(read.len())];
                english.push(format!("{path}: {}", around.join(" ")));
            }
        }
        for link in links(&page.text) {
            // One page of each kind: other spans, views and orders show the same texts.
            let kind = link.split('?').next().unwrap().to_owned();
            if seen.insert(kind) {
                waiting.push(link);
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
    assert!(english.is_empty(), "{}", english.join("\n"));
}

async fn notices_come_in_the_language_of_the_person(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let bo = app.person("Bo").await;
    let (one, two) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    two.post("/settings/you/language", &[("language", "de")]).await.is(303);
    let path = format!("/conversations/{}/note", received.conversation);
    one.post(&path, &[("body", "Can you look, @bo?")]).await.is(303);
    app.work().await;
    let is_for_bo = |mail: &OutgoingMail| mail.recipients == ["bo@acme.example"];
    let mails: Vec<_> = app.outside.relay.attempts().into_iter().filter(is_for_bo).collect();
    assert_eq!(mails.len(), 1);
    let text = String::from_utf8_lossy(&mails[0].bytes).replace("=\r\n", "");
    assert!(text.contains("Olive Owner hat Sie in einer Notiz erw"), "{text}");
}

/// The names of the places of a text: `n` of `{n}` and of `{n|file|files}`.
fn places(text: &str) -> BTreeSet<&str> {
    let places = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    places.map(|place| place.split_once('|').map_or(place, |(name, _)| name)).collect()
}

#[test]
fn every_catalogue_has_every_text_and_no_other() {
    let said = said_texts::all();
    assert!(said.len() > 1_500, "{}", said.len());
    for language in Language::of_app().filter(|language| *language != Language::ENGLISH) {
        let code = language.code();
        let known: BTreeSet<String> =
            language.texts().map(|(english, _)| english.to_owned()).collect();
        let missing: Vec<_> = said.difference(&known).collect();
        let superfluous: Vec<_> = known.difference(&said).collect();
        assert!(missing.is_empty(), "{code} lacks {missing:#?}");
        assert!(superfluous.is_empty(), "{code} has what nothing says: {superfluous:#?}");
        for (english, text) in language.texts().chain(language.sentences()) {
            assert_eq!(places(english), places(text), "{code}: {english}");
            assert!(!text.is_empty(), "{code}: {english}");
        }
    }
}

#[test]
fn every_language_of_the_app_has_the_same_sentences() {
    let sentences = |language: Language| -> BTreeSet<&'static str> {
        language.sentences().map(|(english, _)| english).collect()
    };
    let german = sentences(Language::parse("de").unwrap());
    for language in Language::of_app().filter(|language| *language != Language::ENGLISH) {
        let code = language.code();
        let known = sentences(language);
        let missing: Vec<_> = german.difference(&known).collect();
        let superfluous: Vec<_> = known.difference(&german).collect();
        assert!(missing.is_empty(), "{code} lacks {missing:#?}");
        assert!(superfluous.is_empty(), "{code} has what German lacks: {superfluous:#?}");
    }
}

#[test]
fn a_template_says_nothing_that_cannot_be_translated() {
    let bare = said_texts::bare_texts_of_templates();
    assert!(bare.is_empty(), "{}", bare.join("\n"));
}

/// Reads the English texts out of templates, scripts and code.
pub mod said_texts {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use crate::support::PAGE_CRATES;

    /// Names, examples and what is typed as it stands.
    const KEPT: &[&str] = &[
        "Mailroom",
        "http",
        "@example.com",
        "STARTTLS",
        "CSV",
        "JSON",
        "aria-",
        "/conversations/",
    ];
    /// Letters in the circles of the help page.
    const CIRCLES: &[&str] = &["MA", "HO", "Le"];

    /// The developer site is English.
    const ENGLISH_ONLY: &str = "developers";

    /// The code of every crate, but for that whose examples are texts.
    pub fn sources() -> Vec<(PathBuf, String)> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names = fs::read_dir(crates).unwrap().map(|it| it.unwrap().file_name());
        let names = names.filter(|name| name != "translation");
        names.flat_map(|name| files(&format!("{}/src", name.display()), "rs")).collect()
    }

    pub fn scripts() -> Vec<(String, String)> {
        named(files("web/assets", "js")).collect()
    }

    fn files(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let (mut folders, mut found) = (vec![root], Vec::<PathBuf>::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.extension().is_some_and(|it| it == ending) => found.push(path),
                    false => {}
                }
            }
        }
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        };
        found.into_iter().map(read).collect()
    }

    fn named(files: Vec<(PathBuf, String)>) -> impl Iterator<Item = (String, String)> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        files.into_iter().map(move |(path, text)| (name(path.as_path()), text))
    }

    pub fn templates() -> impl Iterator<Item = (String, String)> {
        PAGE_CRATES
            .into_iter()
            .flat_map(|name| named(files(&format!("{name}/src"), "html")))
            .filter(|(name, _)| !name.starts_with(ENGLISH_ONLY))
    }

    pub fn all() -> BTreeSet<String> {
        let mut said = BTreeSet::new();
        for (_, text) in templates() {
            said.extend(of_template(&text));
        }
        for (_, text) in scripts() {
            said.extend(of_script(&text));
        }
        for (path, text) in sources() {
            said.extend(of_code(&text));
            // The lines after a form are a table of their own.
            if path.ends_with("flash.rs") {
                let table = text.split("flashes! {").nth(1).unwrap().split("\n}").next().unwrap();
                let lines = table.lines().filter_map(|line| literals(line).nth(2));
                said.extend(lines.map(|(text, _)| text));
            }
        }
        said
    }

    pub fn of_template(text: &str) -> BTreeSet<String> {
        let mut said = BTreeSet::new();
        let tags = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
        let blocks = text.split("{%").skip(1).filter_map(|rest| rest.split("%}").next());
        for (literal, after) in tags.chain(blocks).flat_map(literals) {
            let folded = literal.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(context) = after.strip_prefix("|tc(\"") {
                said.insert(format!("{}|{folded}", context.split('"').next().unwrap()));
            } else if after.starts_with("|t")
                && !after[2..].starts_with(|c: char| c.is_alphanumeric())
            {
                said.insert(folded);
            }
        }
        said
    }

    pub fn of_script(text: &str) -> BTreeSet<String> {
        let mut said = BTreeSet::new();
        for (at, call) in text.match_indices("t(\"") {
            let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let literal = text[at + call.len()..].split('"').next();
            said.extend(literal.filter(|_| is_whole).map(str::to_owned));
        }
        said
    }

    pub fn of_code(text: &str) -> BTreeSet<String> {
        let mut said = BTreeSet::new();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for call in ["t!(", "msg!("] {
            for (at, _) in text.match_indices(call) {
                let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                let rest = text[at + call.len()..].trim_start();
                if is_whole && rest.starts_with('"') {
                    said.insert(literals(rest).next().unwrap().0);
                }
            }
        }
        for rest in text.split("text_in_context(").skip(1) {
            let mut words = literals(rest);
            let called_with = (words.next(), words.next());
            if let (true, (Some((context, _)), Some((word, _)))) =
                (rest.trim_start().starts_with('"'), called_with)
            {
                said.insert(format!("{context}|{word}"));
            }
        }
        said
    }

    /// The string literals of a text, each with what follows it.
    pub fn literals(text: &str) -> impl Iterator<Item = (String, &str)> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (_, after) = rest.split_once('"')?;
            let (mut literal, mut chars) = (String::new(), after.char_indices());
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        rest = &after[at + 1..];
                        return Some((literal, rest));
                    }
                    '\\' => match chars.next()?.1 {
                        'n' => literal.push('\n'),
                        '\n' => {
                            let blanks =
                                after[chars.offset()..].chars().take_while(|c| c.is_whitespace());
                            for _ in 0..blanks.count() {
                                chars.next();
                            }
                        }
                        other => literal.push(other),
                    },
                    c => literal.push(c),
                }
            }
            None
        })
    }

    /// Texts of templates that no catalogue could have, as `file: text`.
    pub fn bare_texts_of_templates() -> Vec<String> {
        let mut bare = Vec::new();
        for (name, text) in templates() {
            for part in shown(&text) {
                let letters = part.split(|c: char| !c.is_alphabetic()).any(|word| word.len() > 1);
                let is_kept = KEPT.iter().any(|kept| part.contains(kept));
                if letters && !is_kept && !CIRCLES.contains(&part.trim()) {
                    bare.push(format!("{name}: {}", part.trim()));
                }
            }
        }
        bare
    }

    /// What a template itself shows: text outside tags, and attributes that are read out.
    fn shown(template: &str) -> Vec<String> {
        let mut plain = template.to_owned();
        // Names of classes and places, and what is typed or sent as it stands.
        for (open, close) in [
            ("{% block layout %}", "{% endblock %}"),
            ("{% block area %}", "{% endblock %}"),
            ("{% block skip %}", "{% endblock %}"),
            ("<code>", "</code>"),
            ("<pre", "</pre>"),
            ("<kbd>", "</kbd>"),
        ] {
            while let Some(start) = plain.find(open) {
                let end =
                    plain[start..].find(close).map_or(plain.len(), |end| start + end + close.len());
                plain.replace_range(start..end, " ");
            }
        }
        for (open, close) in [("{#", "#}"), ("{%", "%}"), ("{{", "}}")] {
            while let Some(start) = plain.find(open) {
                let end = plain[start..].find(close).map_or(plain.len(), |end| start + end + 2);
                plain.replace_range(start..end, "\u{0}");
            }
        }
        let mut parts = Vec::new();
        let mut rest = plain.as_str();
        while let Some((text, after)) = rest.split_once('<') {
            parts.push(text.replace("&nbsp;", " ").replace("&amp;", "&").replace('\u{0}', " "));
            let (tag, after) = after.split_once('>').unwrap_or((after, ""));
            for attribute in ["aria-label=\"", "title=\"", "placeholder=\"", "alt=\"", "data-l=\""]
            {
                let value = tag.split_once(attribute).and_then(|(_, value)| value.split_once('"'));
                parts.extend(value.map(|(value, _)| value.replace('\u{0}', " ")));
            }
            rest = after;
        }
        parts
    }
}
