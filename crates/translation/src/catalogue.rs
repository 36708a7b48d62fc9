//! The catalogues: one file for each language, read when its first text is asked for. Those in `customers/` have
//! only what customers read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use rust_embed::RustEmbed;
use serde::Deserialize;

#[derive(RustEmbed)]
#[folder = "languages/"]
struct Files;

/// The folder of the languages that the app itself does not speak.
const CUSTOMERS: &str = "customers/";

/// The languages with a file, by name. English has none: its texts are those of the code itself.
pub(crate) static CATALOGUES: LazyLock<Vec<Catalogue>> = LazyLock::new(|| {
    let mut catalogues: Vec<Catalogue> = Files::iter().map(|file| Catalogue::of(&file)).collect();
    catalogues.sort_by(|a, b| a.name.cmp(&b.name));
    catalogues
});

/// The texts of one language.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub code: String,
    pub name: String,
    /// It has only what customers read.
    pub is_for_customers: bool,
    file: String,
    texts: OnceLock<CatalogueTexts>,
}

/// What a file holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CatalogueTexts {
    /// The first line, which is read before.
    #[serde(rename = "name")]
    pub(crate) _name: String,
    /// What the pages and scripts say, by the English text.
    pub texts: HashMap<String, String>,
    /// What the domain says, which speaks English: refusals and reasons, by the English sentence with its places.
    pub sentences: HashMap<String, String>,
}

impl Catalogue {
    /// Only the first line is read, which names the language.
    fn of(file: &str) -> Catalogue {
        let text = contents(file);
        let first = text.lines().next().unwrap_or_default();
        let name = first.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
        let name = name.unwrap_or_else(|| panic!("{file} does not begin with a name")).to_owned();
        let stem = file.strip_prefix(CUSTOMERS);
        let code = stem.unwrap_or(file).trim_end_matches(".toml").to_owned();
        let is_for_customers = stem.is_some();
        Catalogue { code, name, is_for_customers, file: file.to_owned(), texts: OnceLock::new() }
    }

    /// The files are part of the program, and a test reads each.
    pub fn texts(&self) -> &CatalogueTexts {
        self.texts.get_or_init(|| {
            let file = &self.file;
            toml::from_str(&contents(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
        })
    }
}

impl CatalogueTexts {
    pub fn text(&self, english: &str) -> Option<&str> {
        let folded = match english.contains('\n') {
            // A long text goes over several lines of its template.
            true => Cow::Owned(english.split_whitespace().collect::<Vec<_>>().join(" ")),
            false => Cow::Borrowed(english),
        };
        self.texts.get(folded.as_ref()).map(String::as_str)
    }
}

fn contents(file: &str) -> String {
    let found = Files::get(file).unwrap_or_else(|| panic!("{file} is not part of the program"));
    String::from_utf8(found.data.into_owned()).unwrap_or_else(|error| panic!("{file}: {error}"))
}
