//! The form of an answer: its words for replies and for the public page, its languages, who sees it, and what was
//! changed.

use std::borrow::Cow;
use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use actions::writing::answer_pages::{self, AnswerBackground, AnswerLanguage, input_of};
use actions::writing::answers::{self, AnswerInput, AnswerListing};
use actions::writing::{answer_from_reply, saved_replies};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::{Error, ValidationErrors};
use base::ids::{AnswerId, MessageId};
use db::Tx;
use knowledge::versions::AnswerVersion;
use model::mailboxes::{self, Mailbox};
use model::messages::answers::{AnswerAudience, HelpState};
use translation::t;
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::site::languages;

/// Changes that the page of an answer lists; its history has all.
const CHANGES: usize = 5;

#[derive(Template)]
#[template(path = "answer.html", whitespace = "minimize")]
struct AnswerPage {
    frame: PageLayout,
    /// Empty for a new one.
    id: String,
    /// The reply that it is made of; empty for none.
    from: String,
    input: AnswerInput,
    inboxes: Vec<InboxChoice>,
    /// What belongs to one customer: its kind, its words, and whether it is removed.
    particulars: Vec<(Cow<'static, str>, String, bool)>,
    facts: Vec<String>,
    is_retired: bool,
    /// Its languages: code, name, address, whether it is this one, and whether it is older.
    tabs: Vec<LanguageTab>,
    /// The sections that there are.
    sections: Vec<String>,
    /// The address of the public page; empty for none.
    url: String,
    /// It is a translation, and older than what it translates.
    is_older: bool,
    changes: Vec<ChangeLine>,
    errors: FieldErrors,
    placeholders: &'static [(&'static str, &'static str)],
}

struct LanguageTab {
    href: String,
    code: String,
    name: String,
    current: bool,
    is_older: bool,
}

/// A line of the history.
struct ChangeLine {
    by: String,
    did: &'static str,
    when: DisplayTime,
}

struct InboxChoice {
    id: String,
    name: String,
    checked: bool,
}

impl AnswerPage {
    fn action(&self) -> String {
        if self.id.is_empty() { "/answers".into() } else { format!("/answers/{}", self.id) }
    }

    fn audience(&self) -> &str {
        if self.input.audience.is_empty() {
            AnswerAudience::Helpers.as_str()
        } else {
            &self.input.audience
        }
    }

    fn state(&self) -> &str {
        if self.input.help_state.is_empty() {
            HelpState::Draft.as_str()
        } else {
            &self.input.help_state
        }
    }

    fn heading(&self) -> &'static str {
        match (self.id.is_empty(), self.from.is_empty()) {
            (true, true) if !self.input.original.is_empty() => t!("New translation"),
            (true, true) => t!("New answer"),
            (true, false) => t!("Make an answer of this reply"),
            (false, _) => t!("Answer"),
        }
    }
}

/// The form of a new answer, or of one made of a reply.
pub async fn new(State(web): State<Arc<Web>>, visitor: Visitor, Asked(asked): Asked) -> PageResult {
    let from = asked.get("from");
    let page = match from.as_str() {
        "" => {
            let original = asked.get("of");
            let input = match AnswerId::parse(&original) {
                Some(id) => {
                    let translated = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                        answers::load_answer(tx, cx, &id)
                    };
                    translation_input(&web.read(&visitor, translated).await?)
                }
                None => AnswerInput::default(),
            };
            form_page(&web, &visitor, input).await?
        }
        _ => {
            let message = MessageId::parse(&from).ok_or(Error::NotFound("message"))?;
            let made = web
                .read(&visitor, move |tx, cx, _| {
                    answer_from_reply::reply_as_answer(tx, cx, &message)
                })
                .await?;
            let marked = made.particulars.into_iter();
            let marked =
                marked.map(|(kind, words)| (translation::sentence(kind.label()), words, true));
            let particulars = marked.collect();
            let page = form_page(&web, &visitor, made.input).await?;
            AnswerPage { from, particulars, ..page }
        }
    };
    web.show(&visitor, &page)
}

/// The form of a translation: for the same readers, with the words still to be written.
fn translation_input(listing: &AnswerListing) -> AnswerInput {
    AnswerInput {
        original: listing.answer.id.to_string(),
        language: String::new(),
        section: String::new(),
        slug: String::new(),
        help_state: String::new(),
        ..input_of(&listing.answer)
    }
}

async fn form_page(
    web: &Web,
    visitor: &Visitor,
    input: AnswerInput,
) -> Result<AnswerPage, PageError> {
    let location = PageLocation::at(t!("Answer"), "/answers");
    let (frame, inboxes) =
        web.page(visitor, location, |tx, cx, _| mailboxes::all_seen_by(tx, cx.actor)).await?;
    let choice = |inbox: &Mailbox| InboxChoice {
        id: inbox.id.to_string(),
        name: inbox.name.clone(),
        checked: input.inboxes.iter().any(|chosen| chosen == inbox.id.as_str()),
    };
    Ok(AnswerPage {
        frame,
        id: String::new(),
        from: String::new(),
        inboxes: inboxes.iter().map(choice).collect(),
        input,
        particulars: Vec::new(),
        facts: Vec::new(),
        is_retired: false,
        tabs: Vec::new(),
        sections: Vec::new(),
        url: String::new(),
        is_older: false,
        changes: Vec::new(),
        errors: FieldErrors::default(),
        placeholders: saved_replies::PLACEHOLDERS,
    })
}

/// The form of an answer; a saved reply has its own.
pub async fn edit(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let wanted = answer_id(&id)?;
    let found = web.read(&visitor, move |tx, cx, _| find(tx, cx, &wanted)).await?;
    let listing = match found {
        FoundAnswer::Answer(listing) => listing,
        FoundAnswer::SavedReply(reply) => {
            return Ok(see_other(&format!("/settings/replies/{reply}#edit")));
        }
    };
    let page = form_page(&web, &visitor, input_of(&listing.answer)).await?;
    let page = with_background(&web, &visitor, page, &listing).await?;
    web.show(&visitor, &page)
}

enum FoundAnswer {
    Answer(Box<AnswerListing>),
    SavedReply(String),
}

fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AnswerId) -> base::error::Result<FoundAnswer> {
    match answers::load_answer(tx, cx, id) {
        Ok(listing) => Ok(FoundAnswer::Answer(Box::new(listing))),
        Err(missing) => {
            let reply = id.saved_reply().ok_or(Error::NotFound("answer"))?;
            let saved = saved_replies::list_saved_replies(tx, cx)?;
            if saved.iter().any(|one| one.id == reply) {
                Ok(FoundAnswer::SavedReply(reply.to_string()))
            } else {
                Err(missing)
            }
        }
    }
}

async fn with_background(
    web: &Web,
    visitor: &Visitor,
    page: AnswerPage,
    listing: &AnswerListing,
) -> Result<AnswerPage, PageError> {
    let id = listing.answer.id.clone();
    let background =
        web.read(visitor, move |tx, cx, _| answer_pages::answer_background(tx, cx, &id)).await?;
    Ok(fill_background(page, listing, background))
}

fn fill_background(
    mut page: AnswerPage,
    listing: &AnswerListing,
    background: AnswerBackground,
) -> AnswerPage {
    let answer = &listing.answer;
    let long = |at: i64| page.frame.times.long(at).text;
    let made = long(answer.created_at);
    let mut facts = vec![match listing.used_at {
        Some(used_at) => {
            let last = long(used_at);
            t!("Made {made}. Sent {uses} times, last {last}.", made, uses = listing.uses, last)
        }
        None => t!("Made {made}. Not sent yet.", made),
    }];
    let tally = background.tally;
    if tally.yes + tally.no > 0 {
        let count = tally.yes + tally.no;
        facts.push(t!(
            "Of {count} readers of its page, {yes} said that it helped.",
            count,
            yes = tally.yes
        ));
    }
    if !answer.checked_by.is_empty() {
        let (day, name) = (long(answer.checked_at), &answer.checked_by);
        facts.push(t!("Looked at {day} by {name}.", day, name));
    }
    let change = |version: &AnswerVersion| ChangeLine {
        by: if version.by_name.is_empty() {
            t!("Somebody").to_owned()
        } else {
            version.by_name.clone()
        },
        did: version.act.did(),
        when: page.frame.times.short(version.at),
    };
    let changes = background.versions.iter().take(CHANGES).map(change).collect();
    let tab = |one: &AnswerLanguage| LanguageTab {
        href: format!("/answers/{}", one.id),
        name: languages::name(&one.language),
        code: one.language.clone(),
        current: one.id == answer.id,
        is_older: one.is_older,
    };
    page.tabs = background.languages.iter().map(tab).collect();
    page.is_older = background.languages.iter().any(|one| one.id == answer.id && one.is_older);
    page.id = answer.id.to_string();
    page.is_retired = answer.retired_at.is_some();
    page.sections = background.sections;
    page.url = background.url.unwrap_or_default();
    page.facts = facts;
    page.changes = changes;
    page
}

form! {
    pub struct AnswerForm {
        input: AnswerInput,
        /// The reply that it is made of.
        from: String,
        /// Words that belong to one customer, and those of them that are removed.
        found: Vec<String>,
        remove: Vec<String>,
    }
}

impl AnswerForm {
    /// Reads the days as they were typed.
    fn read_days(&mut self, visitor: &Visitor) {
        for day in [&mut self.input.valid_until, &mut self.input.look_at] {
            *day = visitor.iso_day(day);
        }
    }

    fn input(&self) -> AnswerInput {
        let language = self.input.language.trim().to_lowercase();
        AnswerInput { language, ..self.input.clone() }
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<AnswerForm>) -> PageResult {
    let PostedForm { visitor, mut form } = posted;
    form.read_days(&visitor);
    let (input, removed) = (form.input(), form.remove.clone());
    let from = match form.from.as_str() {
        "" => None,
        id => Some(MessageId::parse(id).ok_or(Error::NotFound("message"))?),
    };
    let added = web
        .act(&visitor, move |tx, cx, _| match &from {
            None => answers::add_answer(tx, cx, &input),
            Some(from) => answer_from_reply::add_answer_from_reply(tx, cx, from, &input, &removed),
        })
        .await;
    match added.or_problems()? {
        Ok(_) => web.redirect("/answers", Flash::AnswerSaved),
        Err(problems) => again(&web, &visitor, "", form, problems).await,
    }
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<AnswerForm>,
) -> PageResult {
    let PostedForm { visitor, mut form } = posted;
    form.read_days(&visitor);
    let (answer, input) = (answer_id(&id)?, form.input());
    let changed =
        web.act(&visitor, move |tx, cx, _| answers::change_answer(tx, cx, &answer, &input)).await;
    match changed.or_problems()? {
        Ok(()) => web.redirect("/answers", Flash::AnswerSaved),
        Err(problems) => again(&web, &visitor, &id, form, problems).await,
    }
}

/// The form again with what was typed and what is wrong with it.
async fn again(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: AnswerForm,
    problems: ValidationErrors,
) -> PageResult {
    let marked = form.found.iter().map(|words| {
        let is_removed = form.remove.contains(words);
        (Cow::Borrowed(""), words.clone(), is_removed)
    });
    let particulars = marked.collect();
    let mut page = form_page(web, visitor, form.input()).await?;
    if let Some(wanted) = AnswerId::parse(id) {
        let listing =
            web.read(visitor, move |tx, cx, _| answers::load_answer(tx, cx, &wanted)).await?;
        page = with_background(web, visitor, page, &listing).await?;
    }
    let fields = [
        "title",
        "language",
        "valid_until",
        "inboxes",
        "audience",
        "help_state",
        "help_body",
        "section",
        "slug",
        "look_at",
    ];
    let errors = FieldErrors::of(problems, &fields, "body");
    responses::again(&AnswerPage { from: form.from, particulars, errors, ..page })
}

pub async fn retire(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let answer = answer_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| answers::retire_answer(tx, cx, &answer)).await?;
    web.redirect("/answers", Flash::AnswerRetired)
}

pub async fn restore(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let answer = answer_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| answers::restore_answer(tx, cx, &answer)).await?;
    web.redirect("/answers", Flash::AnswerRestored)
}

/// Somebody read the answer, and it still holds.
pub async fn check(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let answer = answer_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| answer_pages::check_answer(tx, cx, &answer)).await?;
    web.redirect(&format!("/answers/{id}"), Flash::AnswerChecked)
}

pub fn answer_id(id: &str) -> base::error::Result<AnswerId> {
    AnswerId::parse(id).ok_or(Error::NotFound("answer"))
}
