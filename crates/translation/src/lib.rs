//! The languages of the app.
//!
//! A text stands in English where it is shown: `t!("Save")` in the code, `"Save"|t` in a template. Each file of
//! `languages/` is the catalogue of one language, by these English texts. A file more is a language more. A file in
//! `languages/customers/` has what customers read; the app itself is not offered in its language.
//!
//! The language is that of the [`Reader`] for whom the current task works.

mod catalogue;
mod filled;
mod plurals;
mod sentences;

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use catalogue::{CATALOGUES, Catalogue};
pub use filled::InterpolatedText;

tokio::task_local! {
    static READER: Reader;
}

/// Codes of the languages that are written from right to left. Answers of a team can be in more languages than there
/// are catalogues.
const RIGHT_TO_LEFT: [&str; 4] = ["ar", "fa", "he", "ur"];

/// Whether the language of this code is written from right to left.
pub fn is_right_to_left(code: &str) -> bool {
    RIGHT_TO_LEFT.contains(&code)
}

/// Which way the lines of a language run, as the attribute `dir` of HTML says it.
pub fn direction(code: &str) -> &'static str {
    if is_right_to_left(code) { "rtl" } else { "ltr" }
}

/// A language that somebody is spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Language(usize);

impl Language {
    pub const ENGLISH: Language = Language(0);

    /// Every language, English first, then by name.
    pub fn all() -> impl Iterator<Item = Language> {
        (0..=CATALOGUES.len()).map(Language)
    }

    /// Those of the app itself, which people of the team choose among. The others are for customers.
    pub fn of_app() -> impl Iterator<Item = Language> {
        Language::all().filter(|language| language.is_of_app())
    }

    pub fn is_of_app(self) -> bool {
        self.catalogue().is_none_or(|catalogue| !catalogue.is_for_customers)
    }

    /// By its code: `de`, and also `de-AT`.
    pub fn parse(code: &str) -> Option<Language> {
        let primary = code.trim().split(['-', '_']).next().filter(|code| !code.is_empty())?;
        Language::all().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// The first language of an `Accept-Language` field that the app speaks, by the weights in it.
    pub fn from_accept_language(field: &str) -> Option<Language> {
        first_asked(field, Language::is_of_app)
    }

    /// The same among all languages, for a page that customers read.
    pub fn of_customer_from_accept_language(field: &str) -> Option<Language> {
        first_asked(field, |_| true)
    }

    /// `de`.
    pub fn code(self) -> &'static str {
        self.catalogue().map_or("en", |catalogue| &catalogue.code)
    }

    pub fn is_right_to_left(self) -> bool {
        is_right_to_left(self.code())
    }

    /// The name that its speakers give it: `Deutsch`.
    pub fn name(self) -> &'static str {
        self.catalogue().map_or("English", |catalogue| &catalogue.name)
    }

    /// Every text of the catalogue: in English, and in this language. English has none.
    pub fn texts(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let texts = self.catalogue().into_iter().flat_map(|catalogue| &catalogue.texts().texts);
        texts.map(|(english, text)| (english.as_str(), text.as_str()))
    }

    /// The same of the domain's sentences.
    pub fn sentences(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let known = self.catalogue().into_iter().flat_map(|catalogue| &catalogue.texts().sentences);
        known.map(|(english, text)| (english.as_str(), text.as_str()))
    }

    /// The text in this language; the English text where the catalogue lacks it.
    pub fn text(self, english: &str) -> &str {
        self.catalogue().and_then(|known| known.texts().text(english)).unwrap_or(english)
    }

    /// None for English.
    fn catalogue(self) -> Option<&'static Catalogue> {
        CATALOGUES.get(self.0.checked_sub(1)?)
    }
}

/// The first language of an `Accept-Language` field that is one of those offered, by the weights in it.
fn first_asked(field: &str, is_offered: fn(Language) -> bool) -> Option<Language> {
    let weighted = field.split(',').enumerate().filter_map(|(place, entry)| {
        let (code, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = match parameters.trim().strip_prefix("q=") {
            Some(weight) => weight.trim().parse().ok()?,
            None => 1.0_f32,
        };
        let language = Language::parse(code).filter(|language| is_offered(*language))?;
        (weight > 0.0).then_some((language, weight, place))
    });
    let best = weighted.max_by(|a, b| a.1.total_cmp(&b.1).then(b.2.cmp(&a.2)));
    best.map(|(language, ..)| language)
}

/// For whom a task works; its parts on other threads share it.
#[derive(Clone, Debug, Default)]
pub struct Reader(Arc<ReaderState>);

#[derive(Debug, Default)]
struct ReaderState {
    /// What the reader is spoken to in.
    language: AtomicUsize,
    /// What the browser asks for.
    asked: Language,
    choice: Mutex<Option<ReaderChoice>>,
}

/// What a person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderChoice {
    /// The language that the browser asks for.
    Browser,
    Language(Language),
}

impl Reader {
    pub fn new(language: Language) -> Reader {
        Reader::with_earlier(language, language)
    }

    /// A reader whose browser asks for one language and who was spoken to in another before.
    pub fn with_earlier(asked: Language, before: Language) -> Reader {
        let language = AtomicUsize::new(before.0);
        Reader(Arc::new(ReaderState { language, asked, choice: Mutex::default() }))
    }

    /// The reader of the current task.
    pub fn current() -> Reader {
        READER.try_with(Reader::clone).unwrap_or_default()
    }

    pub fn language(&self) -> Language {
        Language(self.0.language.load(Ordering::Relaxed))
    }

    /// Goes on, everywhere in the task, in the language that the person turned out to have chosen.
    pub fn know(&self, choice: ReaderChoice) {
        let language = match choice {
            ReaderChoice::Browser => self.0.asked,
            ReaderChoice::Language(language) => language,
        };
        self.0.language.store(language.0, Ordering::Relaxed);
        *self.0.choice.lock().unwrap_or_else(PoisonError::into_inner) = Some(choice);
    }

    /// What the person chose, as soon as it is known who they are.
    pub fn choice(&self) -> Option<ReaderChoice> {
        *self.0.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something for this reader, on any thread.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        READER.sync_scope(self.clone(), work)
    }

    /// Runs a task for this reader.
    pub async fn scope<F: Future>(self, task: F) -> F::Output {
        READER.scope(self, task).await
    }
}

/// The language of the reader for whom this task works; English where there is none.
pub fn current() -> Language {
    READER.try_with(Reader::language).unwrap_or_default()
}

/// A text of the app in the reader's language.
pub fn text(english: &str) -> &str {
    current().text(english)
}

/// A word that has several meanings in English: the catalogue lists it as `context|word`.
pub fn text_in_context<'a>(context: &str, english: &'a str) -> &'a str {
    let Some(catalogue) = current().catalogue() else { return english };
    catalogue.texts().text(&format!("{context}|{english}")).unwrap_or(english)
}

/// A finished English sentence of the domain, whose values are already in it, in the reader's language.
pub fn sentence(english: &str) -> Cow<'_, str> {
    match current().catalogue() {
        Some(catalogue) => sentences::translate(catalogue.texts(), english),
        None => Cow::Borrowed(english),
    }
}

/// A text with its values in the places that bear their names: `{name}`. A place with forms, `{n|file|files}`, takes
/// the form of a word that fits the value. Values are not isolated: a mark beside a link of a mail would become a part
/// of the link.
pub fn fill(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut filled = String::with_capacity(text.len() + 16 * values.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let value = after.split_once('}').and_then(|(place, after)| {
            let (name, forms) = plurals::split_place(place);
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, forms, after))
        });
        match value {
            Some((value, None, after)) => {
                // Writing into a text cannot fail.
                let _ = write!(filled, "{value}");
                rest = after;
            }
            Some((number, Some(forms), after)) => {
                filled.push_str(&plurals::form_for(&number.to_string(), forms));
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// A text of the app in the reader's language: `t!("Save")`, and with values `t!("{n} files", n)` or
/// `t!("{n} files", n = files.len())`.
#[macro_export]
macro_rules! t {
    ($english:literal) => {
        $crate::text($english)
    };
    ($english:literal, $($name:ident $(= $value:expr)?),+ $(,)?) => {
        $crate::fill(
            $crate::text($english),
            &[$((stringify!($name), &$crate::t!(@value $name $(= $value)?) as &dyn ::std::fmt::Display)),+],
        )
    };
    (@value $name:ident) => { $name };
    (@value $name:ident = $value:expr) => { $value };
}

/// A text of the catalogue that is translated where it is shown, by [`text`] or the filter `t`.
#[macro_export]
macro_rules! msg {
    ($english:literal) => {
        $english
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german() -> Language {
        Language::parse("de").expect("there is a German catalogue")
    }

    #[test]
    fn a_text_is_in_the_language_of_the_reader() {
        assert_eq!(t!("Save"), "Save");
        Reader::new(german()).run(|| {
            assert_eq!(t!("Save"), "Speichern");
            assert_eq!(text("Not in any catalogue"), "Not in any catalogue");
        });
        assert_eq!(t!("Save"), "Save");
    }

    #[tokio::test]
    async fn a_request_goes_on_in_the_language_of_its_person() {
        let request = async {
            assert_eq!(t!("Save"), "Save");
            let reader = Reader::current();
            std::thread::spawn(move || reader.know(ReaderChoice::Language(german())))
                .join()
                .unwrap();
            assert_eq!(t!("Save"), "Speichern");
        };
        Reader::default().scope(request).await;
        let reader = Reader::with_earlier(Language::ENGLISH, german());
        assert_eq!((reader.language(), reader.choice()), (german(), None));
        reader.know(ReaderChoice::Browser);
        assert_eq!(reader.language(), Language::ENGLISH);
        assert_eq!(current(), Language::ENGLISH);
    }

    #[test]
    fn the_browser_asks_by_weight() {
        for (field, expected) in [
            ("de", Some("de")),
            ("de-AT,de;q=0.9,en;q=0.8", Some("de")),
            ("en-GB,en;q=0.9,de;q=0.8", Some("en")),
            ("fi, de;q=0.3, en;q=0.7", Some("en")),
            ("fi, sv", None),
            ("de;q=0, en;q=0.1", Some("en")),
            ("DE;q=x", None),
            ("", None),
        ] {
            assert_eq!(
                Language::from_accept_language(field).map(Language::code),
                expected,
                "{field}"
            );
        }
    }

    #[test]
    fn the_app_is_offered_in_its_own_languages_and_customers_read_more() {
        let codes: Vec<&str> = Language::of_app().map(Language::code).collect();
        assert_eq!(codes, ["en", "de", "es", "fr"]);
        let field = "pl, de;q=0.5";
        let code = |found: Option<Language>| found.map(Language::code);
        assert_eq!(code(Language::from_accept_language(field)), Some("de"));
        assert_eq!(code(Language::of_customer_from_accept_language(field)), Some("pl"));
    }

    #[test]
    fn lines_of_some_languages_run_from_right_to_left() {
        let found: Vec<&str> = Language::all()
            .filter(|language| language.is_right_to_left())
            .map(Language::code)
            .collect();
        assert_eq!(found, ["ar"]);
        assert_eq!((direction("he"), direction("de"), direction("")), ("rtl", "ltr", "ltr"));
    }

    #[test]
    fn values_stand_where_their_names_are() {
        let (n, name) = (3, "Ann {n}");
        assert_eq!(t!("{n} of {all} for {name}", n, all = n + 1, name), "3 of 4 for Ann {n}");
        assert_eq!(fill("{unknown} {", &[("n", &n)]), "{unknown} {");
        assert_eq!(fill("{n} {n|plik|pliki|plików}", &[("n", &n)]), "3 pliki");
    }
}
