//! What the scripts say, in the languages of the app and of customers.

use std::sync::{LazyLock, OnceLock};

use serde_json::{Map, Value};
use translation::Language;

use crate::layout::asset_files;

/// For each language, the texts as JSON that can stand in a page, from when its first page is shown.
static TEXTS: LazyLock<Vec<OnceLock<String>>> =
    LazyLock::new(|| Language::all().map(|_| OnceLock::new()).collect());

/// The scripts' texts by their English texts, as JSON; empty for English.
pub fn json(language: Language) -> &'static str {
    if language == Language::ENGLISH {
        return "";
    }
    let place = Language::all().position(|one| one == language);
    place.map_or("", |place| TEXTS[place].get_or_init(|| texts(language)).as_str())
}

fn texts(language: Language) -> String {
    if language == Language::ENGLISH {
        return String::new();
    }
    let said = english_texts();
    // Scripts of the team have no texts in the languages of customers.
    let said = said.iter().filter(|text| language.is_of_app() || language.text(text) != **text);
    let said = said.map(|text| (text.clone(), Value::from(language.text(text))));
    // `<` would end the element that holds the texts.
    Value::Object(said.collect::<Map<_, _>>()).to_string().replace('<', "\\u003c")
}

/// What the scripts hand to `t("...")`.
fn english_texts() -> Vec<String> {
    let scripts = asset_files::names().filter(|name| name.ends_with(".js"));
    let mut said: Vec<String> = Vec::new();
    for script in scripts.filter_map(|name| asset_files::file(&name)) {
        let script = String::from_utf8_lossy(&script);
        for (at, call) in script.match_indices("t(\"") {
            let is_whole = !script[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let text = script[at + call.len()..].split('"').next();
            said.extend(text.filter(|_| is_whole).map(str::to_owned));
        }
    }
    said.sort();
    said.dedup();
    said
}
