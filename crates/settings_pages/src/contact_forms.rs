//! Contact forms: their pages, the line that shows one on another site, and what they ask for.

use std::sync::Arc;

use actions::inboxes::contact_forms::{
    add_contact_form, change_contact_form, find_contact_form, list_contact_forms,
    remove_contact_form,
};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::ValidationErrors;
use base::ids::MailboxId;
use base::limits::FORM_FIELDS;
use contact_forms::form_texts::{lines_of, parse_texts};
use contact_forms::{
    ContactForm, ContactFormInput, FormAnswerUse, FormCondition, FormField, FormFieldKind,
    FormProof, posts,
};
use db::Tx;
use model::fields as custom_fields;
use model::mailboxes::{self, Mailbox};
use translation::{msg, t};
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{FormFields, FormValue, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

const PAGE: &str = "/settings/forms";
/// Empty fields below those that a form has.
const EMPTY_FIELDS: usize = 3;
/// The fields of the page at which something can be wrong; the rest is told at the title.
const FIELDS: [&str; 9] =
    ["slug", "title", "intro", "thanks", "mailbox", "fields", "sites", "tag", "texts"];

/// What can be typed into a field, in words.
const KINDS: [(FormFieldKind, &str); 7] = [
    (FormFieldKind::Text, msg!("One line")),
    (FormFieldKind::LongText, msg!("Long text")),
    (FormFieldKind::Choice, msg!("One of several")),
    (FormFieldKind::Reference, msg!("Order or reference number")),
    (FormFieldKind::Date, msg!("Date")),
    (FormFieldKind::Files, msg!("Pictures or files")),
    (FormFieldKind::Consent, msg!("Box to tick")),
];

/// When a code is asked for, in words.
const PROOFS: [(FormProof, &str); 3] = [
    (FormProof::Doubt, msg!("When many strangers write")),
    (FormProof::Always, msg!("From everybody")),
    (FormProof::Never, msg!("From nobody")),
];

#[derive(Template)]
#[template(path = "settings_forms.html", whitespace = "minimize")]
struct ContactFormsPage {
    frame: PageLayout,
    forms: Vec<FormListing>,
    editor: FormEditor,
}

#[derive(Template)]
#[template(path = "settings_form.html", whitespace = "minimize")]
struct EditFormPage {
    frame: PageLayout,
    id: String,
    title: String,
    url: String,
    embed: String,
    height: String,
    editor: FormEditor,
}

/// A form in the table.
struct FormListing {
    id: String,
    title: String,
    url: String,
    path: String,
    inbox: String,
    /// What came by it within 30 days.
    posts: i64,
}

/// The fields of a form that is made or changed.
struct FormEditor {
    /// Empty for a new one.
    id: String,
    typed: ContactFormFields,
    /// Id, name and address, and whether it is chosen.
    inboxes: Vec<(String, String, bool)>,
    proofs: Vec<WordChoice>,
    rows: Vec<FieldRow>,
    errors: FieldErrors,
}

/// What the editor offers beside the form itself.
struct FormSurroundings {
    inboxes: Vec<Mailbox>,
    /// The keys of the workspace's fields of conversations.
    fields: Vec<String>,
}

impl FormSurroundings {
    fn read(tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<FormSurroundings> {
        let owner = custom_fields::FieldOwner::Conversation;
        let fields = custom_fields::of_owner(tx, cx.actor.ws, owner)?;
        Ok(FormSurroundings {
            inboxes: mailboxes::all_seen_by(tx, cx.actor)?,
            fields: fields.into_iter().map(|field| field.key).collect(),
        })
    }
}

impl FormEditor {
    fn new(id: String, typed: ContactFormFields, around: FormSurroundings) -> FormEditor {
        let most = (typed.fields.0.len() + EMPTY_FIELDS).min(FORM_FIELDS);
        let mut rows = typed.fields.0.clone();
        rows.resize_with(most, FieldRow::default);
        for (place, row) in rows.iter_mut().enumerate() {
            row.place = place;
            row.known_fields = around.fields.clone();
        }
        let proof = |(proof, label): (FormProof, &'static str)| WordChoice {
            word: proof.as_str().to_owned(),
            label: translation::text(label).to_owned(),
            is_chosen: typed.proof == proof.as_str(),
        };
        let proofs = PROOFS.into_iter().map(proof).collect();
        let inbox = |inbox: Mailbox| {
            let is_chosen = typed.mailbox == inbox.id.as_str();
            (inbox.id.to_string(), format!("{} ({})", inbox.name, inbox.address), is_chosen)
        };
        let inboxes = around.inboxes.into_iter().map(inbox).collect();
        FormEditor { id, typed, inboxes, proofs, rows, errors: FieldErrors::default() }
    }

    fn action(&self) -> String {
        if self.id.is_empty() { PAGE.to_owned() } else { format!("{PAGE}/{}", self.id) }
    }

    fn heading(&self) -> &'static str {
        if self.id.is_empty() { t!("New form") } else { t!("Change it") }
    }

    fn with_problems(mut self, problems: ValidationErrors) -> FormEditor {
        self.errors = FieldErrors::of(problems, &FIELDS, "title");
        self
    }
}

/// A field of a form as somebody types it.
#[derive(Clone, Default)]
pub struct FieldRow {
    /// From 0.
    place: usize,
    key: String,
    label: String,
    kind: String,
    required: bool,
    /// One a line.
    choices: String,
    /// What the answer becomes.
    becomes: String,
    /// `KEY=CHOICE` of a field above.
    when: String,
    /// Where it stands among the others.
    order: i64,
    /// What an answer can become, as the list offers it.
    known_fields: Vec<String>,
}

impl FieldRow {
    fn of(field: &FormField) -> FieldRow {
        FieldRow {
            place: 0,
            key: field.key.clone(),
            label: field.label.clone(),
            kind: field.kind.as_str().to_owned(),
            required: field.required,
            choices: field.choices.join("\n"),
            becomes: field.becomes.clone().map(String::from).unwrap_or_default(),
            when: field.when.as_ref().map(FormCondition::line).unwrap_or_default(),
            order: 0,
            known_fields: Vec::new(),
        }
    }

    fn field(&self) -> FormField {
        FormField {
            key: self.key.clone(),
            label: self.label.clone(),
            kind: FormFieldKind::parse(&self.kind).unwrap_or(FormFieldKind::Text),
            required: self.required,
            choices: self.choices.lines().map(str::to_owned).collect(),
            becomes: FormAnswerUse::parse(&self.becomes),
            when: self.condition(),
        }
    }

    /// What cannot be read waits for an answer that nobody can give, and is refused as such.
    fn condition(&self) -> Option<FormCondition> {
        let typed = self.when.trim();
        let unread = || FormCondition { field: typed.to_owned(), is: String::new() };
        (!typed.is_empty()).then(|| FormCondition::parse(typed).unwrap_or_else(unread))
    }

    /// What its answer can become.
    fn uses(&self) -> Vec<WordChoice> {
        let mut uses = vec![
            (String::new(), t!("Nothing more").to_owned()),
            ("topic".to_owned(), t!("The topic").to_owned()),
            ("tag".to_owned(), t!("A tag").to_owned()),
        ];
        let field = |key: &String| {
            let label = custom_fields::label(key);
            (format!("field.{key}"), t!("The field {label}", label))
        };
        uses.extend(self.known_fields.iter().map(field));
        let choice = |(word, label): (String, String)| WordChoice {
            is_chosen: word == self.becomes,
            word,
            label,
        };
        uses.into_iter().map(choice).collect()
    }

    /// Where it stands, counted from 1.
    fn number(&self) -> usize {
        self.place + 1
    }

    fn kinds(&self) -> Vec<WordChoice> {
        let kind = |(kind, label): (FormFieldKind, &'static str)| WordChoice {
            word: kind.as_str().to_owned(),
            label: translation::text(label).to_owned(),
            is_chosen: kind.as_str() == self.kind,
        };
        KINDS.into_iter().map(kind).collect()
    }
}

/// A choice of a list.
struct WordChoice {
    word: String,
    label: String,
    is_chosen: bool,
}

/// The fields that have a label, in their order: `label-0`, `type-0` and so on.
#[derive(Clone, Default)]
pub struct FieldRows(Vec<FieldRow>);

impl FormValue for FieldRows {
    fn read(fields: &FormFields, _: &str) -> base::error::Result<FieldRows> {
        let row = |place: usize| FieldRow {
            place,
            key: fields.get(&format!("key-{place}")),
            label: fields.get(&format!("label-{place}")),
            kind: fields.get(&format!("type-{place}")),
            required: fields.has(&format!("required-{place}")),
            choices: fields.get(&format!("choices-{place}")),
            becomes: fields.get(&format!("becomes-{place}")),
            when: fields.get(&format!("when-{place}")),
            order: fields.get(&format!("order-{place}")).trim().parse().unwrap_or(place as i64 + 1),
            known_fields: Vec::new(),
        };
        let rows = (0..FORM_FIELDS).map(row).filter(|row| !row.label.trim().is_empty());
        let mut rows: Vec<FieldRow> = rows.collect();
        rows.sort_by_key(|row| row.order);
        Ok(FieldRows(rows))
    }
}

form! {
    #[derive(Clone, Default)]
    pub struct ContactFormFields {
        title: String,
        slug: String,
        mailbox: String,
        intro: String,
        thanks: String,
        fields: FieldRows,
        /// One a line.
        sites: String,
        tag: String,
        proof: String,
        texts: String,
    }
}

impl ContactFormFields {
    fn of(form: &ContactForm) -> ContactFormFields {
        ContactFormFields {
            title: form.title.clone(),
            slug: form.slug.clone(),
            mailbox: form.mailbox.to_string(),
            intro: form.intro.clone(),
            thanks: form.thanks.clone(),
            fields: FieldRows(form.fields.iter().map(FieldRow::of).collect()),
            sites: form.sites.join("\n"),
            tag: form.tag.clone(),
            proof: form.proof.as_str().to_owned(),
            texts: lines_of(&form.texts),
        }
    }

    fn input(&self) -> base::error::Result<ContactFormInput> {
        let missing = || base::error::Error::invalid("mailbox", "Choose an inbox that you see.");
        let unread = |line: String| {
            let sentence =
                format!("Nobody can read the line “{line}”. Write KEY = TEXT below [de].");
            base::error::Error::invalid("texts", sentence)
        };
        Ok(ContactFormInput {
            mailbox: MailboxId::parse(&self.mailbox).ok_or_else(missing)?,
            slug: self.slug.clone(),
            title: self.title.clone(),
            intro: self.intro.clone(),
            thanks: self.thanks.clone(),
            fields: self.fields.0.iter().map(FieldRow::field).collect(),
            sites: self.sites.lines().map(str::to_owned).collect(),
            tag: self.tag.clone(),
            proof: FormProof::parse(&self.proof).unwrap_or(FormProof::Doubt),
            texts: parse_texts(&self.texts).map_err(unread)?,
        })
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, ContactFormFields::default()).await?)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    typed: ContactFormFields,
) -> Result<ContactFormsPage, PageError> {
    let (frame, (forms, around)) = web
        .page(visitor, location(SettingsPage::Forms), |tx, cx, _| {
            let mut counted = Vec::new();
            for form in list_contact_forms(tx, cx)? {
                let count = posts::count_latest(tx, cx, &form.id)?;
                counted.push((form, count));
            }
            Ok((counted, FormSurroundings::read(tx, cx)?))
        })
        .await?;
    let public_url = &web.app.public_url;
    let listing = |(form, posts): &(ContactForm, i64)| FormListing {
        posts: *posts,
        id: form.id.to_string(),
        url: form.url(public_url),
        path: form.url(""),
        title: form.title.clone(),
        inbox: form.address.to_string(),
    };
    Ok(ContactFormsPage {
        forms: forms.iter().map(listing).collect(),
        editor: FormEditor::new(String::new(), typed, around),
        frame,
    })
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<ContactFormFields>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let typed = form.clone();
    let added = web
        .act(&visitor, move |tx, cx, _| add_contact_form(tx, cx, &typed.input()?).map(|_| ()))
        .await;
    match added.or_problems()? {
        Ok(()) => web.redirect(PAGE, Flash::FormSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor, form).await?;
            page.editor = page.editor.with_problems(problems);
            responses::again(&page)
        }
    }
}

pub async fn edit_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    web.show(&visitor, &build_editor(&web, &visitor, &id, None).await?)
}

/// The page of a form, with what was typed instead of what is kept.
async fn build_editor(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    typed: Option<ContactFormFields>,
) -> Result<EditFormPage, PageError> {
    let wanted = id.to_owned();
    let (frame, (form, around)) = web
        .page(visitor, location(SettingsPage::Forms), move |tx, cx, _| {
            let form = find_contact_form(tx, cx, &wanted)?;
            Ok((form, FormSurroundings::read(tx, cx)?))
        })
        .await?;
    let typed = typed.unwrap_or_else(|| ContactFormFields::of(&form));
    let id = form.id.to_string();
    Ok(EditFormPage {
        editor: FormEditor::new(id.clone(), typed, around),
        url: form.url(&web.app.public_url),
        embed: form.embed_line(&web.app.public_url),
        height: ContactForm::height_line(&web.app.public_url),
        title: form.title,
        id,
        frame,
    })
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ContactFormFields>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (typed, wanted) = (form.clone(), id.clone());
    let changed = web
        .act(&visitor, move |tx, cx, _| {
            change_contact_form(tx, cx, &wanted, &typed.input()?).map(|_| ())
        })
        .await;
    match changed.or_problems()? {
        Ok(()) => web.redirect(&format!("{PAGE}/{id}"), Flash::FormSaved),
        Err(problems) => {
            let mut page = build_editor(&web, &visitor, &id, Some(form)).await?;
            page.editor = page.editor.with_problems(problems);
            responses::again(&page)
        }
    }
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    web.act(&posted.visitor, move |tx, cx, _| remove_contact_form(tx, cx, &id).map(|_| ())).await?;
    web.redirect(PAGE, Flash::FormRemoved)
}
