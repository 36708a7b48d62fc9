//! What somebody typed into a contact form, which of its fields are asked for, and what is wrong with it.

use base::limits::{
    FORM_LINE_CHARS, FORM_LINKS, FORM_MESSAGE_CHARS, FORM_NAME_CHARS, FORM_PAGE_CHARS,
    FORM_TEXT_CHARS,
};
use contact_forms::fields::are_asked;
use contact_forms::form_texts::FormWords;
use contact_forms::posts::{FormAnswer, FormAnswerValue};
use contact_forms::{FormField, FormFieldKind, PublicForm, TICKED, one_line};
use jiff::civil::Date;
use model::fields::CustomField;
use model::fields::typed_value::FieldValue;
use translation::t;
use url::Url;
use web::forms::form::FormFields;
use web::forms::multipart::FormFiles;

/// The fields of a form, kept whatever becomes of them.
#[derive(Clone, Debug, Default)]
pub struct TypedForm {
    pub name: String,
    pub email: String,
    pub message: String,
    /// The address of the page that the form was opened from.
    pub page: String,
    /// One for each of the form's own fields.
    answers: Vec<String>,
    /// Which of them are asked for after these answers, and which the page had.
    asked: Vec<bool>,
    had: Vec<bool>,
    pub name_error: &'static str,
    pub email_error: &'static str,
    pub message_error: &'static str,
    answer_errors: Vec<String>,
    /// The id of the first field that is wrong or new.
    pub focus: String,
    /// Filled in by programs only.
    pub is_trapped: bool,
}

impl TypedForm {
    /// A form that nobody typed into yet, opened from this page.
    pub fn blank(fields: &[FormField], page: String) -> TypedForm {
        let answers = vec![String::new(); fields.len()];
        TypedForm {
            page,
            asked: are_asked(fields, &answers),
            had: vec![false; fields.len()],
            answer_errors: vec![String::new(); fields.len()],
            answers,
            ..TypedForm::default()
        }
    }

    /// A day is kept as `2026-11-21`, as `iso_day` reads it.
    pub fn read(
        typed: &FormFields,
        fields: &[FormField],
        iso_day: impl Fn(&str) -> String,
    ) -> TypedForm {
        let answer = |field: &FormField| {
            let text = mail::clean_text(&typed.get(&input_name(field)));
            match field.kind {
                FormFieldKind::LongText => text.trim().to_owned(),
                FormFieldKind::Date => iso_day(&one_line(&text)),
                _ => one_line(&text),
            }
        };
        let answers: Vec<String> = fields.iter().map(answer).collect();
        let page_had = typed.get("asked");
        let had = |field: &FormField| {
            page_had.split(' ').any(|key| key == field.key) || typed.has(&input_name(field))
        };
        TypedForm {
            name: one_line(&typed.get("name")),
            email: one_line(&typed.get("email")),
            message: mail::clean_text(&typed.get("message")).trim().to_owned(),
            asked: are_asked(fields, &answers),
            had: fields.iter().map(had).collect(),
            answers,
            is_trapped: !typed.get("site").is_empty(),
            ..TypedForm::blank(fields, page_address(&typed.get("page")))
        }
    }

    /// True when an answer asks for fields that the page did not have. Without a script they come with
    /// the next page.
    pub fn has_new_questions(&mut self, fields: &[FormField]) -> bool {
        let is_new = |place: &usize| {
            fields[*place].when.is_some() && self.asked[*place] && !self.had[*place]
        };
        let new = (0..fields.len()).find(is_new);
        if let Some(place) = new {
            self.focus = input_name(&fields[place]);
        }
        new.is_some()
    }

    /// Finds what is wrong; true when nothing is.
    pub fn check(&mut self, public: &PublicForm, files: &FormFiles) -> bool {
        let fields = &public.form.fields;
        if self.name.is_empty() {
            self.name_error = t!("Please say your name.");
        } else if self.name.chars().count() > FORM_NAME_CHARS {
            self.name_error = t!("That is too long for a name.");
        }
        if !mail::is_address(&self.email) {
            self.email_error = t!("That is not an email address.");
        }
        if self.message.is_empty() {
            self.message_error = t!("Please write a message.");
        } else if self.message.chars().count() > FORM_MESSAGE_CHARS {
            self.message_error = t!("That is too long.");
        }
        let all = fields.iter().zip(&public.filled).zip(self.answers.iter().zip(&self.asked));
        let errors =
            all.map(|((field, filled), (answer, is_asked))| match (is_asked, field.kind) {
                (false, _) => String::new(),
                (true, FormFieldKind::Files) if field.required && files.count() == 0 => {
                    t!("Please choose a file.").to_owned()
                }
                (true, FormFieldKind::Files) => String::new(),
                (true, _) => problem(field, filled.as_ref(), answer),
            });
        self.answer_errors = errors.collect();
        let own = self.answer_errors.iter().position(|error| !error.is_empty());
        let first = [
            ("name", self.name_error),
            ("email", self.email_error),
            ("message", self.message_error),
        ];
        let first = first.into_iter().find(|(_, error)| !error.is_empty());
        self.focus = match (first, own) {
            (Some((name, _)), _) => name.to_owned(),
            (None, Some(place)) => input_name(&fields[place]),
            (None, None) => String::new(),
        };
        self.focus.is_empty()
    }

    /// The form's own fields that its page asks for, in the reader's language.
    pub fn views(&self, fields: &[FormField], words: &FormWords) -> Vec<FormFieldView> {
        let asked = (0..fields.len()).filter(|place| self.asked[*place]);
        asked
            .map(|place| {
                let (field, answer) = (&fields[place], &self.answers[place]);
                let id = input_name(field);
                let choices = field.choices.iter().zip(&words.choices[place]);
                FormFieldView {
                    takes_focus: self.focus == id,
                    id,
                    key: field.key.clone(),
                    label: words.labels[place].clone(),
                    kind: field.kind,
                    required: field.required,
                    choices: choices
                        .map(|(one, label)| (one.clone(), label.clone(), one == answer))
                        .collect(),
                    value: answer.clone(),
                    error: self.answer_errors[place].clone(),
                }
            })
            .collect()
    }

    /// What was typed into the form's own fields, without those that were left empty or not asked for.
    pub fn answers(&self, fields: &[FormField]) -> Vec<FormAnswer> {
        let given = fields.iter().zip(self.answers.iter().zip(&self.asked));
        let given = given.filter(|(field, (answer, is_asked))| {
            **is_asked
                && field.kind != FormFieldKind::Files
                && (field.kind == FormFieldKind::Consent || !answer.is_empty())
        });
        given
            .map(|(field, (answer, _))| FormAnswer {
                key: field.key.clone(),
                label: field.label.clone(),
                value: match field.kind {
                    FormFieldKind::Consent => FormAnswerValue::Consent(answer == TICKED),
                    _ => FormAnswerValue::Text(answer.clone()),
                },
            })
            .collect()
    }

    /// More links than people write.
    pub fn has_many_links(&self) -> bool {
        let texts = self.answers.iter().chain([&self.message]);
        let links = texts.map(|text| {
            let bare = text.split_whitespace().filter(|word| word.starts_with("www.")).count();
            text.matches("://").count() + bare
        });
        links.sum::<usize>() > FORM_LINKS
    }
}

/// A field as the page shows it.
pub struct FormFieldView {
    pub id: String,
    pub key: String,
    pub label: String,
    kind: FormFieldKind,
    pub required: bool,
    pub value: String,
    /// What can be chosen, in the reader's words, and whether it is.
    pub choices: Vec<(String, String, bool)>,
    pub error: String,
    pub takes_focus: bool,
}

impl FormFieldView {
    pub fn is_long(&self) -> bool {
        self.kind == FormFieldKind::LongText
    }

    pub fn is_choice(&self) -> bool {
        self.kind == FormFieldKind::Choice
    }

    pub fn is_consent(&self) -> bool {
        self.kind == FormFieldKind::Consent
    }

    pub fn is_files(&self) -> bool {
        self.kind == FormFieldKind::Files
    }

    pub fn is_ticked(&self) -> bool {
        self.value == TICKED
    }

    pub fn is_day(&self) -> bool {
        self.kind == FormFieldKind::Date
    }
}

fn input_name(field: &FormField) -> String {
    format!("f-{}", field.key)
}

/// What is wrong with an answer; empty where nothing is.
fn problem(field: &FormField, filled: Option<&CustomField>, answer: &str) -> String {
    let is_empty =
        if field.kind == FormFieldKind::Consent { answer != TICKED } else { answer.is_empty() };
    if is_empty {
        let sentence = match (field.required, field.kind) {
            (false, _) => "",
            (true, FormFieldKind::Consent) => t!("Please tick this."),
            (true, FormFieldKind::Choice) => t!("Please choose one."),
            (true, _) => t!("Please answer this."),
        };
        return sentence.to_owned();
    }
    let most =
        if field.kind == FormFieldKind::LongText { FORM_TEXT_CHARS } else { FORM_LINE_CHARS };
    if answer.chars().count() > most {
        return t!("That is too long.").to_owned();
    }
    let is_fitting = match field.kind {
        FormFieldKind::Choice => field.choices.iter().any(|choice| choice == answer),
        FormFieldKind::Date => answer.parse::<Date>().is_ok(),
        _ => true,
    };
    if !is_fitting {
        let is_choice = field.kind == FormFieldKind::Choice;
        let sentence = if is_choice { t!("Please choose one.") } else { t!("That is not a date.") };
        return sentence.to_owned();
    }
    let is_typed = field.kind != FormFieldKind::Consent;
    match filled.filter(|_| is_typed).map(|filled| FieldValue::of_text(filled, answer)) {
        Some(Err(expectation)) => {
            t!("This {expectation}.", expectation = translation::sentence(&expectation))
        }
        _ => String::new(),
    }
}

/// The address of a page of the web, without what is behind `#`; empty for anything else.
pub fn page_address(text: &str) -> String {
    let Ok(mut page) = Url::parse(text.trim()) else { return String::new() };
    let is_page = matches!(page.scheme(), "http" | "https") && page.has_host();
    if !is_page || page.set_username("").is_err() || page.set_password(None).is_err() {
        return String::new();
    }
    page.set_fragment(None);
    page.as_str().chars().take(FORM_PAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use contact_forms::FormCondition;

    use super::*;

    fn field(key: &str, kind: FormFieldKind, required: bool) -> FormField {
        let choices = match kind {
            FormFieldKind::Choice => vec!["Red".to_owned(), "Blue".to_owned()],
            _ => Vec::new(),
        };
        let label = key.to_uppercase();
        FormField { key: key.into(), label, kind, required, choices, becomes: None, when: None }
    }

    #[test]
    fn what_is_typed_fits_its_field() {
        for (kind, required, answer, is_right) in [
            (FormFieldKind::Text, true, "", false),
            (FormFieldKind::Text, false, "", true),
            (FormFieldKind::Reference, true, "A-1", true),
            (FormFieldKind::Choice, true, "Red", true),
            (FormFieldKind::Choice, false, "Green", false),
            (FormFieldKind::Date, false, "2026-11-19", true),
            (FormFieldKind::Date, false, "yesterday", false),
            (FormFieldKind::Consent, true, "", false),
            (FormFieldKind::Consent, true, "yes", true),
            (FormFieldKind::Consent, false, "", true),
        ] {
            let said = problem(&field("one", kind, required), None, answer);
            assert_eq!(said.is_empty(), is_right, "{kind:?} {answer}: {said}");
        }
    }

    #[test]
    fn a_field_that_an_answer_asks_for_comes_with_the_next_page() {
        let mut order = field("order", FormFieldKind::Reference, true);
        order.when = FormCondition::parse("about=Red");
        let fields = [field("about", FormFieldKind::Choice, true), order];
        let read = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            TypedForm::read(&FormFields::of(pairs.collect()), &fields, str::to_owned)
        };
        assert!(!read(&[("asked", "about"), ("f-about", "Blue")]).has_new_questions(&fields));
        let mut typed = read(&[("asked", "about"), ("f-about", "Red")]);
        assert!(typed.has_new_questions(&fields));
        assert_eq!(typed.focus, "f-order");
        let mut typed = read(&[("asked", "about order"), ("f-about", "Red"), ("f-order", "")]);
        assert!(!typed.has_new_questions(&fields));
        // What stands in a field that is not asked for any more says nothing.
        let typed = read(&[("asked", "about order"), ("f-about", "Blue"), ("f-order", "A-1")]);
        assert_eq!(typed.answers(&fields).len(), 1);
    }

    #[test]
    fn the_page_that_a_form_was_opened_from_is_an_address_of_the_web() {
        for (text, page) in [
            ("https://shop.example/help?a=1#top", "https://shop.example/help?a=1"),
            ("https://ann:secret@shop.example/", "https://shop.example/"),
            ("javascript:alert(1)", ""),
            ("/help", ""),
            ("", ""),
        ] {
            assert_eq!(page_address(text), page, "{text}");
        }
        let long = format!("https://shop.example/{}", "a".repeat(600));
        assert_eq!(page_address(&long).chars().count(), FORM_PAGE_CHARS);
    }

    #[test]
    fn many_links_are_counted_wherever_they_stand() {
        let typed = |message: &str| TypedForm { message: message.into(), ..TypedForm::default() };
        assert!(!typed("https://a.example https://b.example www.c.example").has_many_links());
        assert!(
            typed("https://a.example,http://b.example http://c.example www.d").has_many_links()
        );
    }
}
