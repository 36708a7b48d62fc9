//! How you write: rich or plain text, your signature, and those of the inboxes.

use std::sync::Arc;

use actions::inboxes::writing_settings::{self, InboxSignature, SendingRules};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::MailboxId;
use base::limits::UNDO_CHOICES;
use model::messages::signatures;
use model::messages::undo_time;
use model::messages::written_text::TextFormat;
use translation::{sentence, t};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::undo_words;
use web::pages::writing::rich_text::to_html;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_writing.html", whitespace = "minimize")]
struct WritingPage {
    frame: PageLayout,
    is_plain: bool,
    /// The times to choose from: the value, the words and whether it is chosen.
    own_undo: Vec<(String, String, bool)>,
    undo: Vec<(String, String, bool)>,
    answer_assigns: bool,
    own: SignatureView,
    inboxes: Vec<SignatureView>,
}

/// A signature with its form.
struct SignatureView {
    /// Where it is posted.
    action: String,
    /// Unique on the page.
    id: String,
    title: String,
    signature: String,
    /// As it stands below a message, as HTML; empty where there is none.
    preview: String,
    error: String,
    may_change: bool,
}

impl SignatureView {
    fn is_own(&self) -> bool {
        self.id == "own"
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<WritingPage, PageError> {
    let (frame, (format, own, inboxes, choice, rules)) = web
        .page(visitor, location(SettingsPage::Writing), |tx, cx, _| {
            let format = writing_settings::own_format(tx, cx)?;
            let own = writing_settings::own_signature(tx, cx)?;
            let choice = writing_settings::undo_choice(tx, cx)?;
            let rules = writing_settings::sending_rules(tx, cx)?;
            Ok((format, own, writing_settings::inbox_signatures(tx, cx)?, choice, rules))
        })
        .await?;
    let inbox = |inbox: InboxSignature| SignatureView {
        action: format!("/settings/writing/{}", inbox.id),
        id: inbox.id.to_string(),
        preview: to_html(&signatures::fill_placeholders(
            &inbox.signature,
            &frame.name,
            &inbox.name,
        )),
        title: t!("Signature of {inbox}", inbox = inbox.name),
        signature: inbox.signature,
        error: String::new(),
        may_change: frame.administers || inbox.is_private,
    };
    Ok(WritingPage {
        is_plain: format == TextFormat::Plain,
        own_undo: std::iter::once((
            String::new(),
            t!("As the workspace has it: {time}", time = undo_words(choice.of_workspace)),
            choice.own.is_none(),
        ))
        .chain(undo_times(choice.own))
        .collect(),
        undo: undo_times(Some(rules.undo_seconds)).collect(),
        answer_assigns: rules.answer_assigns,
        own: SignatureView {
            action: "/settings/writing/signature".into(),
            id: "own".into(),
            title: t!("Your signature").into(),
            preview: to_html(&signatures::fill_placeholders(&own, &frame.name, "")),
            signature: own,
            error: String::new(),
            may_change: true,
        },
        inboxes: inboxes.into_iter().map(inbox).collect(),
        frame,
    })
}

/// The times to choose from: the value, the words and whether it is chosen.
fn undo_times(chosen: Option<i64>) -> impl Iterator<Item = (String, String, bool)> {
    UNDO_CHOICES
        .into_iter()
        .map(move |seconds| (seconds.to_string(), undo_words(seconds), chosen == Some(seconds)))
}

form! {
    /// How long somebody can stop what they wrote; empty as the workspace has it.
    pub struct UndoForm {
        undo: String,
    }

    /// How messages are sent in the workspace.
    pub struct SendingForm {
        undo: String,
        assign: bool,
    }

    /// The format that somebody writes in.
    pub struct FormatForm {
        plain: bool,
    }

    pub struct SignatureForm {
        signature: String,
    }
}

pub async fn choose_format(
    State(web): State<Arc<Web>>,
    posted: PostedForm<FormatForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let format = if form.plain { TextFormat::Plain } else { TextFormat::Markdown };
    web.act_quietly(&visitor, move |tx, cx, _| writing_settings::choose_format(tx, cx, format))
        .await?;
    web.redirect("/settings/writing", Flash::Saved)
}

pub async fn choose_undo(State(web): State<Arc<Web>>, posted: PostedForm<UndoForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let seconds = match form.undo.as_str() {
        "" => None,
        undo => Some(seconds(undo)?),
    };
    web.act_quietly(&visitor, move |tx, cx, _| writing_settings::choose_undo(tx, cx, seconds))
        .await?;
    web.redirect("/settings/writing", Flash::Saved)
}

pub async fn set_sending(
    State(web): State<Arc<Web>>,
    posted: PostedForm<SendingForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let rules = SendingRules { undo_seconds: seconds(&form.undo)?, answer_assigns: form.assign };
    web.act(&visitor, move |tx, cx, _| writing_settings::set_sending_rules(tx, cx, rules)).await?;
    web.redirect("/settings/writing", Flash::Saved)
}

/// What is no number is none of the choices either.
fn seconds(undo: &str) -> Result<i64, Error> {
    undo_time::check(undo.parse().unwrap_or_default())
}

pub async fn set_own_signature(
    State(web): State<Arc<Web>>,
    posted: PostedForm<SignatureForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let signature = form.signature.clone();
    let set = web
        .act_quietly(&visitor, move |tx, cx, _| {
            writing_settings::set_own_signature(tx, cx, &signature)
        })
        .await;
    answer(&web, &visitor, "own", form, set).await
}

pub async fn set_inbox_signature(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<SignatureForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let mailbox = MailboxId::parse(&id).ok_or(Error::NotFound("inbox"))?;
    let signature = form.signature.clone();
    let set = web
        .act(&visitor, move |tx, cx, _| {
            writing_settings::set_inbox_signature(tx, cx, &mailbox, &signature)
        })
        .await;
    answer(&web, &visitor, &id, form, set).await
}

/// Back to the page, or the page again with what is wrong.
async fn answer(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: SignatureForm,
    set: Result<(), PageError>,
) -> PageResult {
    let problems = match set.or_problems()? {
        Ok(()) => return web.redirect("/settings/writing", Flash::Saved),
        Err(problems) => problems,
    };
    let mut page = build(web, visitor).await?;
    let views = std::iter::once(&mut page.own).chain(&mut page.inboxes);
    for view in views.filter(|view| view.id == id) {
        view.signature = form.signature.clone();
        view.error = problems.0.iter().map(|problem| sentence(&problem.sentence)).collect();
    }
    responses::again(&page)
}
