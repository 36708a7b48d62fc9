//! Answers as a folder of Markdown files with front matter, one for each answer and language.

use std::collections::{BTreeMap, HashMap};

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AnswerId;
use base::limits::{ANSWER_CHARS, ANSWERS, thousands};
use db::Tx;
use knowledge::slugs::slug_of;
use model::messages::answers::{TeamAnswer, is_language};

use super::answer_pages::input_of;
use super::answers::{
    AnswerInput, ImportResult, Imported, find_known, import_one, list_answers, name_in_file,
};

/// What stands between the words for a reply and those for the public page.
const HELP_PART: &str = "<!-- help page -->";
/// What begins and ends the front matter.
const FENCE: &str = "---";
/// Bytes of one file.
pub const FOLDER_FILE_BYTES: usize = 10 * ANSWER_CHARS;

/// An answer of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderAnswer {
    /// Its path in the folder.
    pub path: String,
    /// The path of what it translates.
    pub translates: Option<String>,
    /// An answer that is known already stays as public as it is, and a retired one as it is.
    pub keeps_state: bool,
    pub input: AnswerInput,
}

/// Reads one file of a folder. Without front matter its title is its first heading or its name, and its language
/// that of its folder or its text.
pub fn read_answer(path: &str, bytes: &[u8]) -> Result<FolderAnswer> {
    let wrong = |sentence: &str| Error::invalid("file", format!("{path}: {sentence}"));
    if bytes.len() > FOLDER_FILE_BYTES {
        return Err(wrong(&format!("is larger than {} bytes.", thousands(FOLDER_FILE_BYTES))));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("is not UTF-8 text."))?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (facts, text) = split_front_matter(&text);
    let mut input = AnswerInput::default();
    let mut translates = None;
    for (name, value) in facts {
        match name.as_str() {
            "title" => input.title = value,
            "language" => input.language = value.to_lowercase(),
            "section" => input.section = value,
            "audience" => input.audience = value,
            "state" => input.help_state = value,
            "slug" => input.slug = value,
            "valid_until" => input.valid_until = value,
            "look_again" => input.look_at = value,
            "translates" => translates = Some(value),
            _ => {}
        }
    }
    let (reply, help) = text.split_once(HELP_PART).unwrap_or((text, ""));
    let mut body = reply.trim().to_owned();
    input.help_body = help.trim().to_owned();
    if input.title.is_empty() {
        let heading =
            body.strip_prefix("# ").map(|rest| rest.split_once('\n').unwrap_or((rest, "")));
        if let Some((title, rest)) =
            heading.map(|(title, rest)| (title.to_owned(), rest.to_owned()))
        {
            input.title = title.trim().to_owned();
            body = rest.trim().to_owned();
        } else {
            let name = path.rsplit('/').next().unwrap_or(path);
            input.title = name.trim_end_matches(".md").replace(['-', '_'], " ");
        }
    }
    let folder = path.split('/').rev().nth(1).unwrap_or_default();
    if input.language.is_empty() && is_language(folder) {
        input.language = folder.to_owned();
    }
    // A page without words for replies is written for everybody.
    input.body = if body.is_empty() { input.help_body.clone() } else { body };
    Ok(FolderAnswer { path: path.to_owned(), translates, keeps_state: false, input })
}

/// Names and values of the front matter, and what follows it.
fn split_front_matter(text: &str) -> (Vec<(String, String)>, &str) {
    let Some(rest) = text.strip_prefix(FENCE).and_then(|rest| rest.strip_prefix('\n')) else {
        return (Vec::new(), text);
    };
    let Some((matter, body)) = rest
        .split_once("\n---\n")
        .or_else(|| rest.strip_suffix("\n---").map(|matter| (matter, "")))
    else {
        return (Vec::new(), text);
    };
    let fact = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_lowercase().replace([' ', '-'], "_"), without_quotes(value.trim())))
    };
    (matter.lines().filter_map(fact).collect(), body)
}

/// A value without the quotes around it.
fn without_quotes(value: &str) -> String {
    let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.map_or_else(
        || value.to_owned(),
        |inside| inside.replace("\\\"", "\"").replace("\\\\", "\\"),
    )
}

/// Adds and changes the answers of a folder, originals before their translations. All are imported or none.
pub fn import_folder(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    answers: &[FolderAnswer],
) -> Result<ImportResult> {
    if answers.len() > ANSWERS as usize {
        let most = thousands(ANSWERS as usize);
        return Err(Error::invalid("file", format!("The folder has more than {most} answers.")));
    }
    let mut result = ImportResult::default();
    let mut ids: HashMap<&str, AnswerId> = HashMap::new();
    let (originals, translations): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer.translates.is_none());
    for (place, answer) in originals.into_iter().chain(translations).enumerate() {
        let mut input = answer.input.clone();
        let original = answer.translates.as_deref().and_then(|path| ids.get(path));
        input.original = original.map(ToString::to_string).unwrap_or_default();
        let known = if answer.keeps_state { find_known(tx, cx, &input)? } else { None };
        match known {
            Some(known) if known.retired_at.is_some() => {
                ids.insert(&answer.path, known.id);
                result.unchanged += 1;
                continue;
            }
            Some(_) => {
                input.audience.clear();
                input.help_state.clear();
            }
            None => {}
        }
        let (id, imported) =
            import_one(tx, cx, &input).map_err(|error| name_in_file(place, &input, error))?;
        ids.insert(&answer.path, id);
        *match imported {
            Imported::Added => &mut result.added,
            Imported::Changed => &mut result.changed,
            Imported::Unchanged => &mut result.unchanged,
        } += 1;
    }
    Ok(result)
}

/// The answers that the actor sees and that are in use, as files: paths and contents.
pub fn export_folder(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<BTreeMap<String, String>> {
    let listed = list_answers(tx, cx)?;
    let answers: Vec<TeamAnswer> = listed
        .into_iter()
        .map(|listing| listing.answer)
        .filter(|answer| answer.retired_at.is_none())
        .collect();
    let mut paths: HashMap<String, String> = HashMap::new();
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for answer in &answers {
        let slug = slug_of(&answer.title);
        let name = if slug.is_empty() { answer.id.to_string() } else { slug };
        let path = format!("{}/{name}.md", answer.language);
        let is_free = !taken.contains_key(&path);
        let path = if is_free { path } else { format!("{}/{}.md", answer.language, answer.id) };
        taken.insert(path.clone(), String::new());
        paths.insert(answer.id.to_string(), path);
    }
    for answer in &answers {
        let text = file_of(answer, paths.get(&answer.original).map(String::as_str));
        taken.insert(paths[answer.id.as_str()].clone(), text);
    }
    Ok(taken)
}

fn file_of(answer: &TeamAnswer, translates: Option<&str>) -> String {
    let input = input_of(answer);
    let facts = [
        ("title", Some(input.title)),
        ("language", Some(input.language)),
        ("section", Some(input.section)),
        ("audience", Some(input.audience)),
        ("state", Some(input.help_state)),
        ("slug", Some(input.slug)),
        ("valid_until", Some(input.valid_until)),
        ("look_again", Some(input.look_at)),
        ("translates", translates.map(str::to_owned)),
    ];
    let mut text = format!("{FENCE}\n");
    for (name, value) in facts {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("{name}: \"{value}\"\n"));
        }
    }
    text.push_str(&format!("{FENCE}\n\n{}\n", input.body.trim()));
    if !input.help_body.trim().is_empty() {
        text.push_str(&format!("\n{HELP_PART}\n\n{}\n", input.help_body.trim()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_an_answer_is() {
        let text = "---\ntitle: \"Say \\\"when\\\"\"\nlanguage: en\nsection: Paying\naudience: everybody\n\
                    state: public\ntranslates: de/wann.md\n---\nHello {{name}},\n\nnow.\n\n\
                    <!-- help page -->\n\nNow.\n";
        let read = read_answer("en/when.md", text.as_bytes()).unwrap();
        assert_eq!(read.translates.as_deref(), Some("de/wann.md"));
        let input = &read.input;
        assert_eq!((input.title.as_str(), input.section.as_str()), ("Say \"when\"", "Paying"));
        assert_eq!(input.body, "Hello {{name}},\n\nnow.");
        assert_eq!((input.help_body.as_str(), input.help_state.as_str()), ("Now.", "public"));
    }

    #[test]
    fn a_plain_file_has_its_title_in_its_heading_or_its_name() {
        let heading = read_answer("faq/de/a.md", b"# Wann?\r\n\r\nJetzt.").unwrap().input;
        assert_eq!((heading.title.as_str(), heading.body.as_str()), ("Wann?", "Jetzt."));
        assert_eq!(heading.language, "de");
        let name = read_answer("how-long.md", b"Two days.").unwrap().input;
        assert_eq!((name.title.as_str(), name.language.as_str()), ("how long", ""));
        assert!(read_answer("a.md", &[0xff]).is_err());
    }
}
