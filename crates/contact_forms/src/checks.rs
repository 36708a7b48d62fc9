//! What is wrong with a form that somebody sets up. Everything is told at once.

use base::app::Cx;
use base::error::{Error, Result, ValidationErrors};
use base::ids::ContactFormId;
use base::limits::{
    FORM_CHOICE_CHARS, FORM_CHOICES, FORM_FIELDS, FORM_INTRO_CHARS, FORM_KEY_CHARS,
    FORM_LABEL_CHARS, FORM_SLUG_CHARS, FORM_THANKS_CHARS, FORM_TITLE_CHARS, TAG_CHARS, thousands,
};
use db::Tx;
use model::{fields as custom_fields, mailboxes};

use crate::fields::{
    FormAnswerUse, FormField, FormFieldKind, TICKED, is_key, one_line, tidy_field,
};
use crate::form_texts;
use crate::forms::ContactFormInput;
use crate::sites::parse_sites;

/// The input as it is kept.
pub(crate) fn check(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &ContactFormInput,
    own: Option<&ContactFormId>,
) -> Result<ContactFormInput> {
    let mut input = tidy(input);
    let mut problems = ValidationErrors::default();
    check_words(&input, &mut problems);
    check_fields(&input.fields, &mut problems);
    check_conditions(&input.fields, &mut problems);
    check_uses(tx, cx, &input.fields, &mut problems)?;
    match parse_sites(&input.sites) {
        Ok(sites) => input.sites = sites,
        Err(site) => problems.add(
            "sites",
            format!("“{site}” is no site. Name each by its host, such as shop.example."),
        ),
    }
    if let Some(sentence) = form_texts::objection(&input.texts, &input.fields) {
        problems.add("texts", sentence);
    }
    let slug = &input.slug;
    if is_slug(slug) {
        let taken: Option<(ContactFormId,)> =
            tx.opt("SELECT id FROM contact_forms WHERE slug = ?1", &[slug])?;
        if taken.is_some_and(|(taken,)| Some(&taken) != own) {
            problems.add("slug", "Another form has this address.");
        }
    } else {
        let sentence =
            format!("The address has 1 to {FORM_SLUG_CHARS} lower-case letters, digits and -.");
        problems.add("slug", sentence);
    }
    if mailboxes::seen_by(tx, cx.actor, &input.mailbox)?.is_none() {
        problems.add("mailbox", "Choose an inbox that you see.");
    }
    if problems.0.is_empty() { Ok(input) } else { Err(Error::Invalid(problems)) }
}

fn tidy(input: &ContactFormInput) -> ContactFormInput {
    ContactFormInput {
        mailbox: input.mailbox.clone(),
        slug: input.slug.trim().to_owned(),
        title: one_line(&input.title),
        intro: mail::clean_text(input.intro.trim()),
        thanks: mail::clean_text(input.thanks.trim()),
        fields: input.fields.iter().map(tidy_field).collect(),
        sites: input.sites.clone(),
        tag: one_line(&input.tag),
        proof: input.proof,
        texts: input.texts.clone(),
    }
}

fn check_words(input: &ContactFormInput, problems: &mut ValidationErrors) {
    let chars = input.title.chars().count();
    if chars == 0 || chars > FORM_TITLE_CHARS {
        let sentence = format!("The title of a form has 1 to {FORM_TITLE_CHARS} characters.");
        problems.add("title", sentence);
    }
    for (field, text, most) in [
        ("intro", &input.intro, FORM_INTRO_CHARS),
        ("thanks", &input.thanks, FORM_THANKS_CHARS),
        ("tag", &input.tag, TAG_CHARS),
    ] {
        if text.chars().count() > most {
            problems.add(field, format!("This has at most {} characters.", thousands(most)));
        }
    }
}

fn check_fields(fields: &[FormField], problems: &mut ValidationErrors) {
    if fields.len() > FORM_FIELDS {
        problems.add("fields", format!("A form has at most {FORM_FIELDS} fields of its own."));
    }
    let is_label =
        |field: &FormField| (1..=FORM_LABEL_CHARS).contains(&field.label.chars().count());
    if !fields.iter().all(is_label) {
        let sentence = format!("Each field has a label of 1 to {FORM_LABEL_CHARS} characters.");
        problems.add("fields", sentence);
    }
    if !fields.iter().all(|field| is_key(&field.key)) {
        let sentence = format!(
            "The key of a field begins with a letter and has up to {FORM_KEY_CHARS} lower-case letters, \
             digits, - and _."
        );
        problems.add("fields", sentence);
    }
    let is_twin = |place: usize| fields[..place].iter().any(|one| one.key == fields[place].key);
    if (0..fields.len()).any(is_twin) {
        problems.add("fields", "Two fields have the same key.");
    }
    if fields.iter().filter(|field| field.kind == FormFieldKind::Files).count() > 1 {
        problems.add("fields", "A form has one field for files.");
    }
    let can_be_chosen = |field: &FormField| {
        let is_choice = |choice: &String| (1..=FORM_CHOICE_CHARS).contains(&choice.chars().count());
        field.kind != FormFieldKind::Choice
            || ((2..=FORM_CHOICES).contains(&field.choices.len())
                && field.choices.iter().all(is_choice))
    };
    if !fields.iter().all(can_be_chosen) {
        let sentence = format!(
            "A field of choices has 2 to {FORM_CHOICES} of them, each of up to {FORM_CHOICE_CHARS} \
             characters."
        );
        problems.add("fields", sentence);
    }
}

/// A field waits for a choice or a tick of a field above it.
fn check_conditions(fields: &[FormField], problems: &mut ValidationErrors) {
    for (place, field) in fields.iter().enumerate() {
        let Some(when) = &field.when else { continue };
        let is_met = fields[..place].iter().any(|before| {
            before.key == when.field
                && match before.kind {
                    FormFieldKind::Choice => before.choices.contains(&when.is),
                    FormFieldKind::Consent => when.is == TICKED,
                    _ => false,
                }
        });
        if !is_met {
            let sentence = format!(
                "“{}” waits for an answer that nobody can give: name a choice or a box to tick above \
                 it, as KEY=CHOICE or KEY={TICKED}.",
                field.label
            );
            problems.add("fields", sentence);
        }
    }
}

fn check_uses(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    fields: &[FormField],
    problems: &mut ValidationErrors,
) -> Result<()> {
    for field in fields {
        match &field.becomes {
            None => {}
            Some(FormAnswerUse::Topic | FormAnswerUse::Tag)
                if field.kind != FormFieldKind::Choice =>
            {
                problems.add("fields", "Only a choice becomes a topic or a tag.");
            }
            Some(FormAnswerUse::Tag)
                if field.choices.iter().any(|choice| choice.chars().count() > TAG_CHARS) =>
            {
                problems.add("fields", format!("A tag has 1 to {TAG_CHARS} characters."));
            }
            Some(FormAnswerUse::Topic | FormAnswerUse::Tag) => {}
            Some(FormAnswerUse::Field(key)) => {
                let is_text = !matches!(field.kind, FormFieldKind::Files | FormFieldKind::LongText);
                if !is_text || custom_fields::find(tx, cx.actor.ws, key)?.is_none() {
                    problems.add("fields", format!("No answer can become the field “{key}”."));
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn is_slug(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=FORM_SLUG_CHARS).contains(&text.len())
        && text.bytes().all(plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_plain() {
        for good in ["contact", "a", "returns-2026"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "a/b", "frm_1", "ä", &"a".repeat(61)] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
