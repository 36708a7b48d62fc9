//! The texts of a form in other languages, as lines of `key = text`.

use std::collections::BTreeMap;

use base::limits::{
    FORM_CHOICE_CHARS, FORM_INTRO_CHARS, FORM_LABEL_CHARS, FORM_LANGUAGES, FORM_THANKS_CHARS,
    FORM_TITLE_CHARS,
};

use crate::fields::{FormField, one_line};
use crate::forms::ContactForm;

/// Language, then key, then text.
pub type FormTexts = BTreeMap<String, BTreeMap<String, String>>;

/// A form in the language of its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormWords {
    pub title: String,
    pub intro: String,
    pub thanks: String,
    /// One for each field.
    pub labels: Vec<String>,
    pub choices: Vec<Vec<String>>,
}

impl FormWords {
    /// What has no text in the language stays as it was written.
    pub fn new(form: &ContactForm, language: &str) -> FormWords {
        let texts = form.texts.get(language);
        let text = |key: &str, original: &str| {
            let found = texts.and_then(|texts| texts.get(key));
            found.map_or_else(|| original.to_owned(), Clone::clone)
        };
        let label = |field: &FormField| text(&label_key(field), &field.label);
        let choices = |field: &FormField| {
            let all = field.choices.iter().enumerate();
            all.map(|(place, choice)| text(&choice_key(field, place), choice)).collect()
        };
        FormWords {
            title: text("title", &form.title),
            intro: text("intro", &form.intro),
            thanks: text("thanks", &form.thanks),
            labels: form.fields.iter().map(label).collect(),
            choices: form.fields.iter().map(choices).collect(),
        }
    }
}

fn label_key(field: &FormField) -> String {
    format!("field.{}", field.key)
}

/// Choices are counted from 1.
fn choice_key(field: &FormField, place: usize) -> String {
    format!("field.{}.{}", field.key, place + 1)
}

/// What can be said in another language: each key with its most characters.
fn keys(fields: &[FormField]) -> Vec<(String, usize)> {
    let mut keys = vec![
        ("title".to_owned(), FORM_TITLE_CHARS),
        ("intro".to_owned(), FORM_INTRO_CHARS),
        ("thanks".to_owned(), FORM_THANKS_CHARS),
    ];
    for field in fields {
        keys.push((label_key(field), FORM_LABEL_CHARS));
        let choices = 0..field.choices.len();
        keys.extend(choices.map(|place| (choice_key(field, place), FORM_CHOICE_CHARS)));
    }
    keys
}

/// Reads `key = text` in each line, below `[de]` the texts of German. The error is the first line that
/// says nothing.
pub fn parse_texts(text: &str) -> Result<FormTexts, String> {
    let mut texts = FormTexts::new();
    let mut language = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(code) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase());
            language = Some(is_code.then(|| code.to_owned()).ok_or_else(|| line.to_owned())?);
            continue;
        }
        let (Some(language), Some((key, text))) = (&language, line.split_once('=')) else {
            return Err(line.to_owned());
        };
        let text = one_line(text);
        if !text.is_empty() {
            let of_language = texts.entry(language.clone()).or_default();
            of_language.insert(key.trim().to_owned(), text);
        }
    }
    Ok(texts)
}

/// The lines that [`parse_texts`] reads.
pub fn lines_of(texts: &FormTexts) -> String {
    let language = |(language, texts): (&String, &BTreeMap<String, String>)| {
        let lines = texts.iter().map(|(key, text)| format!("{key} = {text}\n"));
        format!("[{language}]\n{}", lines.collect::<String>())
    };
    texts.iter().map(language).collect::<Vec<_>>().join("\n")
}

/// What is wrong with the texts of a form with these fields.
pub(crate) fn objection(texts: &FormTexts, fields: &[FormField]) -> Option<String> {
    if texts.len() > FORM_LANGUAGES {
        return Some(format!("A form has at most {FORM_LANGUAGES} other languages."));
    }
    let keys = keys(fields);
    for (key, text) in texts.values().flatten() {
        match keys.iter().find(|(known, _)| known == key) {
            None => return Some(format!("No text of the form is called “{key}”.")),
            Some((_, most)) if text.chars().count() > *most => {
                return Some(format!("“{key}” has at most {most} characters."));
            }
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let lines = "[de]\nfield.about = Worum geht es?\ntitle = Schreiben Sie uns\n";
        let texts = parse_texts(lines).expect("texts");
        assert_eq!(texts["de"]["title"], "Schreiben Sie uns");
        assert_eq!(lines_of(&texts), lines);
        for wrong in ["title = x", "[de]\ntitle", "[deutsch]\ntitle = x"] {
            assert!(parse_texts(wrong).is_err(), "{wrong}");
        }
        assert!(objection(&texts, &[]).is_some_and(|said| said.contains("field.about")));
    }
}
