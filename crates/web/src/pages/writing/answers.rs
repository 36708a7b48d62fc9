//! The team's answers: the list, the form of one, the import of a file, and an answer made of a reply.

use std::borrow::Cow;
use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use actions::writing::answers::{self, AnswerInput, AnswerListing, ImportResult, StaleAnswer};
use actions::writing::{answer_files, answer_from_reply, saved_replies};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::{Error, ValidationErrors};
use base::ids::{AnswerId, MessageId};
use base::time::Moment;
use db::Tx;
use model::mailboxes::{self, Mailbox};
use translation::t;

use crate::Web;
use crate::forms::field_errors::FieldErrors;
use crate::forms::form::{Asked, PostedForm, form};
use crate::forms::multipart::{FormFiles, FormUpload};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use crate::layout::wording::DisplayTime;
use crate::visitor::Visitor;

/// Characters of an answer that the list shows.
const GIST_WORDS: usize = 24;

#[derive(Template)]
#[template(path = "answers.html", whitespace = "minimize")]
struct AnswersPage {
    frame: PageLayout,
    answers: Vec<AnswerRow>,
    query: String,
    /// Which are shown: empty for those in use, `stale` or `retired`.
    show: String,
    /// How many there are: in use, stale, retired.
    counts: [usize; 3],
    import_error: String,
    imported: Option<ImportResult>,
}

struct AnswerRow {
    id: String,
    title: String,
    gist: String,
    language: String,
    uses: i64,
    changed: DisplayTime,
    inboxes: String,
    /// What is unusual: class, icon and words.
    marks: Vec<(&'static str, &'static str, String)>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let page = build(&web, &visitor, &asked.get("q"), &asked.get("show")).await?;
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    query: &str,
    show: &str,
) -> Result<AnswersPage, PageError> {
    let location = PageLocation::at(t!("Answers"), "/answers");
    let (frame, (listed, inboxes)) = web
        .page(visitor, location, |tx, cx, _| {
            Ok((answers::list_answers(tx, cx)?, mailboxes::all_seen_by(tx, cx.actor)?))
        })
        .await?;
    let is_retired = |one: &AnswerListing| one.answer.retired_at.is_some();
    let counts = [
        listed.iter().filter(|one| !is_retired(one)).count(),
        listed.iter().filter(|one| one.stale.is_some()).count(),
        listed.iter().filter(|one| is_retired(one)).count(),
    ];
    let wanted = query.to_lowercase();
    let is_shown = |one: &&AnswerListing| {
        let text = format!("{} {}", one.answer.title, one.answer.body).to_lowercase();
        let fits = wanted.split_whitespace().all(|word| text.contains(word));
        fits && match show {
            "stale" => one.stale.is_some(),
            "retired" => is_retired(one),
            _ => !is_retired(one),
        }
    };
    Ok(AnswersPage {
        answers: listed.iter().filter(is_shown).map(|one| row(one, &inboxes, &frame)).collect(),
        frame,
        query: query.to_owned(),
        show: show.to_owned(),
        counts,
        import_error: String::new(),
        imported: None,
    })
}

fn row(one: &AnswerListing, inboxes: &[Mailbox], frame: &PageLayout) -> AnswerRow {
    let answer = &one.answer;
    let mut marks = Vec::new();
    let until = answer.valid_until.map(|until| frame.times.short(until).text);
    match (one.stale, until) {
        (Some(StaleAnswer::PastItsDate), Some(until)) => {
            let words = t!("Ended {until}, helpers leave it out", until);
            marks.push(("danger", "wait", words));
        }
        (Some(StaleAnswer::Unused), _) => {
            let words = t!("Neither used nor changed for half a year");
            marks.push(("warn", "wait", words.to_owned()));
        }
        (_, Some(until)) => marks.push(("", "wait", t!("Valid until {until}", until))),
        (_, None) => {}
    }
    let named = inboxes.iter().filter(|inbox| answer.inboxes.contains(&inbox.id));
    let named: Vec<&str> = named.map(|inbox| inbox.name.as_str()).collect();
    AnswerRow {
        id: answer.id.to_string(),
        title: answer.title.clone(),
        gist: answer.body.split_whitespace().take(GIST_WORDS).collect::<Vec<_>>().join(" "),
        language: answer.language.clone(),
        uses: one.uses,
        changed: frame.times.short(answer.changed_at),
        inboxes: match named.as_slice() {
            [] => t!("All inboxes").to_owned(),
            named => named.join(", "),
        },
        marks,
    }
}

/// Takes in a file of answers.
pub async fn import(State(web): State<Arc<Web>>, upload: FormUpload<()>) -> PageResult {
    let FormUpload { visitor, files, .. } = upload;
    let imported = match files {
        FormFiles::Kept(mut files) if files.len() == 1 => {
            let read = answer_files::read_answer_file(&files.remove(0).bytes);
            match read {
                Ok(answers) => {
                    let import = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                        answers::import_answers(tx, cx, &answers)
                    };
                    web.act(&visitor, import).await
                }
                Err(error) => Err(error.into()),
            }
        }
        _ => Err(Error::invalid("file", "Choose one file.").into()),
    };
    let mut page = build(&web, &visitor, "", "").await?;
    match imported.or_problems()? {
        Ok(result) => {
            page.imported = Some(result);
            web.show(&visitor, &page)
        }
        Err(problems) => {
            page.import_error = problems.sentences();
            responses::again(&page)
        }
    }
}

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
    facts: String,
    is_retired: bool,
    errors: FieldErrors,
    placeholders: &'static [(&'static str, &'static str)],
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

    fn heading(&self) -> &'static str {
        match (self.id.is_empty(), self.from.is_empty()) {
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
        "" => form_page(&web, &visitor, AnswerInput::default()).await?,
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
        facts: String::new(),
        is_retired: false,
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
    let page = with_facts(form_page(&web, &visitor, input(&listing)).await?, &listing);
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

fn input(listing: &AnswerListing) -> AnswerInput {
    let answer = &listing.answer;
    AnswerInput {
        title: answer.title.clone(),
        body: answer.body.clone(),
        language: answer.language.clone(),
        inboxes: answer.inboxes.iter().map(ToString::to_string).collect(),
        valid_until: answer
            .valid_until
            .map(|until| Moment(until).iso()[..10].to_owned())
            .unwrap_or_default(),
    }
}

fn with_facts(page: AnswerPage, listing: &AnswerListing) -> AnswerPage {
    let made = page.frame.times.long(listing.answer.created_at).text;
    let facts = match listing.used_at {
        Some(used_at) => {
            let last = page.frame.times.long(used_at).text;
            t!("Made {made}. Sent {uses} times, last {last}.", made, uses = listing.uses, last)
        }
        None => t!("Made {made}. Not sent yet.", made),
    };
    let is_retired = listing.answer.retired_at.is_some();
    AnswerPage { id: listing.answer.id.to_string(), facts, is_retired, ..page }
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
    fn input(&self) -> AnswerInput {
        let language = self.input.language.trim().to_lowercase();
        AnswerInput { language, ..self.input.clone() }
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<AnswerForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
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
    let PostedForm { visitor, form } = posted;
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
    let page = form_page(web, visitor, form.input()).await?;
    let fields = ["title", "language", "valid_until", "inboxes"];
    let errors = FieldErrors::of(problems, &fields, "body");
    let id = id.to_owned();
    responses::again(&AnswerPage { id, from: form.from, particulars, errors, ..page })
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

fn answer_id(id: &str) -> base::error::Result<AnswerId> {
    AnswerId::parse(id).ok_or(Error::NotFound("answer"))
}
