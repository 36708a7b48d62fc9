//! The queue of drafts: look, edit, approve what was looked at, or discard with a reason.

use std::sync::Arc;

use actions::conversations::timeline::MessageEntry;
use actions::writing::approvals::{self, Decision, QueuedDraft};
use actions::writing::drafts::{self, DraftApproval};
use actions::writing::seen::{DecisionOutcome, SeenConversation, SeenDraft};
use askama::Template;
use axum::extract::{Path, State};
use base::error::{Error, ValidationErrors};
use base::ids::{ConversationId, MessageId};
use base::limits::{DISCARD_REASON_CHARS, REPLY_CHARS};
use base::states::ConversationRisk;
use model::messages::helper_drafts::HELPER_NAME;
use model::messages::recipients::RecipientList;
use model::people::agent_limits::unusual::UnusualKind;
use outbound::unusual_words::unusual_sentence;
use translation::t;

use crate::Web;
use crate::forms::form::{FormFields, FormValue, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use crate::layout::wording::{Avatar, DisplayTime, first_name, thousands};
use crate::page_version::PartVersion;
use crate::pages::conversation::booking_cards::OfferView;
use crate::pages::conversation::timeline::{MessageView, view};
use crate::pages::lists::conversation_list::{RowBadge, subject};
use crate::pages::mail_files::mail_frame::MailReference;
use crate::pages::writing::recipients::{RecipientLines, party_line};
use crate::pages::writing::rich_text::{formatted_secure, to_html};
use crate::pages::writing::schedule_options::{ScheduleChoice, ScheduleOptions, departure};
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "approvals.html", whitespace = "minimize")]
struct ApprovalsPage {
    frame: PageLayout,
    queue: Vec<QueueRow>,
    decision: Option<DecisionView>,
}

struct QueueRow {
    href: String,
    current: bool,
    avatar: Avatar,
    author: String,
    ago: String,
    time: DisplayTime,
    title: String,
    summary: String,
    marks: Vec<RowBadge>,
}

struct DecisionView {
    id: String,
    conversation: String,
    subject: String,
    contact: String,
    contact_first: String,
    /// The recipients as their fields show them.
    to: String,
    cc: String,
    bcc: String,
    to_error: String,
    inbox: String,
    said: Vec<(bool, MessageView)>,
    draft: MessageView,
    author_first: String,
    /// True when the text is Markdown.
    is_rich: bool,
    /// The draft as it is stored.
    text: String,
    /// The draft as its field shows it.
    typed: String,
    revision: i64,
    seen: i64,
    risk: Option<ConversationRisk>,
    risk_reasons: Vec<String>,
    /// What is unusual about the draft, a sentence each.
    unusual: Vec<String>,
    /// When the customer wrote after the draft was made.
    meanwhile: Option<String>,
    /// When it can leave.
    later: ScheduleOptions,
    changed: bool,
    error: String,
    place: usize,
    of: usize,
    previous: Option<String>,
    next: Option<String>,
}

pub async fn first(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let location = PageLocation::at(t!("To approve"), "/approvals");
    let (mut frame, (queue, decision)) = web
        .page(&visitor, location, |tx, cx, _| {
            let queue = approvals::queue(tx, cx)?;
            let decision = match queue.first() {
                Some(first) => Some(approvals::look_at_draft(tx, cx, &first.id)?),
                None => None,
            };
            Ok((queue, decision))
        })
        .await?;
    let shown = PartVersion::of_drafts(&queue, None);
    frame.watch_live("page=approvals".into(), shown, PartVersion::default());
    let mut decision = decision.map(|decision| decision_view(&decision, &queue, &frame));
    if let Some(decision) = &mut decision {
        offer_pictures(&web, &visitor, decision).await?;
        decision.later.offer(&frame.times);
    }
    let page = ApprovalsPage { queue: rows(&queue, &frame, None), decision, frame };
    web.show(&visitor, &page)
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let page = build(&web, &visitor, &id, |_| {}).await?;
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    change: impl FnOnce(&mut DecisionView),
) -> Result<ApprovalsPage, PageError> {
    let id = MessageId::parse(id).ok_or(Error::NotFound("draft"))?;
    let location = PageLocation::at(t!("To approve"), "/approvals");
    let wanted = id.clone();
    let (mut frame, (queue, decision, shown)) = web
        .page(visitor, location, move |tx, cx, _| {
            let decision = approvals::look_at_draft(tx, cx, &wanted)?;
            let (queue, (draft, _)) = (
                approvals::queue(tx, cx)?,
                outbound::messages::load_outgoing(tx, cx.actor, &wanted)?,
            );
            let shown =
                PartVersion::of_drafts(&queue, Some((draft.revision, draft.status.as_str())));
            Ok((queue, decision, shown))
        })
        .await?;
    frame.watch_live(format!("page=approvals&draft={id}"), shown, PartVersion::default());
    let mut decision = decision_view(&decision, &queue, &frame);
    offer_pictures(web, visitor, &mut decision).await?;
    change(&mut decision);
    decision.later.offer(&frame.times);
    Ok(ApprovalsPage { queue: rows(&queue, &frame, Some(&id)), decision: Some(decision), frame })
}

/// Offers to show the pictures of a sender only where a message has some from elsewhere.
async fn offer_pictures(
    web: &Web,
    visitor: &Visitor,
    decision: &mut DecisionView,
) -> Result<(), PageError> {
    for (_, message) in &mut decision.said {
        if message.shows_pictures.is_some() {
            let mail = MailReference::message(&decision.conversation, &message.id)?;
            message.shows_pictures = web.shows_remote_pictures(visitor, &mail).await?;
        }
    }
    Ok(())
}

fn rows(queue: &[QueuedDraft], frame: &PageLayout, current: Option<&MessageId>) -> Vec<QueueRow> {
    let current = current.or(queue.first().map(|first| &first.id));
    let row = |draft: &QueuedDraft| {
        let mut marks = Vec::new();
        let mut add = |class, icon, text: &str| {
            marks.push(RowBadge { class, icon, text: text.to_owned() });
        };
        if draft.risk.is_some() {
            add("danger", "warn", t!("Check before you act"));
        }
        if draft.wrote_meanwhile {
            add("warn", "in", t!("Customer wrote meanwhile"));
        }
        for kind in draft.unusual.iter().flat_map(|kinds| kinds.iter()) {
            if let Some(text) = unusual_mark(*kind) {
                add("warn", "warn", text);
            }
        }
        if draft.asks {
            add("", "docs", t!("Asks for documents"));
        }
        let (avatar, author) = match draft.author_name.as_str() {
            HELPER_NAME if draft.author.is_none() => (Avatar::helper(), t!("Drafting helper")),
            name => (Avatar::of(draft.author.as_deref(), name), name),
        };
        QueueRow {
            href: format!("/approvals/{}", draft.id),
            current: current == Some(&draft.id),
            avatar,
            author: author.to_owned(),
            ago: frame.times.ago(draft.at),
            time: frame.times.long(draft.at),
            title: format!("{}, {}", draft.contact, subject(&draft.subject)),
            summary: draft.summary.clone().unwrap_or_default(),
            marks,
        }
    };
    queue.iter().map(row).collect()
}

/// The mark of a row; a marked conversation has one of its own.
fn unusual_mark(kind: UnusualKind) -> Option<&'static str> {
    Some(match kind {
        UnusualKind::Recipients => t!("To somebody from elsewhere"),
        UnusualKind::FirstContact => t!("First contact"),
        UnusualKind::Links => t!("Has a foreign link"),
        UnusualKind::Files => t!("Has files"),
        UnusualKind::Amounts => t!("Names money"),
        UnusualKind::Secrets => t!("Has a secret"),
        UnusualKind::Marked => return None,
    })
}

fn decision_view(decision: &Decision, queue: &[QueuedDraft], frame: &PageLayout) -> DecisionView {
    let conversation = &decision.conversation;
    let contact = conversation.contact_name.clone().filter(|name| !name.is_empty());
    let contact = contact.unwrap_or_else(|| conversation.contact_email.to_string());
    let mut draft = view(&decision.draft, conversation, &frame.times);
    draft.offer = decision.offer.as_ref().map(|offer| OfferView::of(offer, &frame.times));
    let said: Vec<(bool, MessageView)> = decision
        .said
        .iter()
        .map(|message| {
            (message.serial > decision.draft.serial, view(message, conversation, &frame.times))
        })
        .collect();
    let place = queue.iter().position(|queued| queued.id == decision.draft.id).unwrap_or(0);
    let beside = |place: Option<usize>| {
        place.and_then(|place| queue.get(place)).map(|draft| format!("/approvals/{}", draft.id))
    };
    let meanwhile = decision.said_since().next().map(|message| frame.times.long(message.at).text);
    DecisionView {
        id: decision.draft.id.to_string(),
        conversation: conversation.id.to_string(),
        subject: subject(&conversation.subject),
        contact_first: first_name(&contact).to_owned(),
        contact,
        to: party_line(&decision.draft.to),
        cc: party_line(&decision.draft.cc),
        bcc: party_line(&decision.draft.bcc),
        to_error: String::new(),
        inbox: decision.mailbox.name.clone(),
        said,
        author_first: first_name(&draft.name).to_owned(),
        draft,
        is_rich: decision.draft.markdown.is_some(),
        text: typed_text(&decision.draft).to_owned(),
        typed: typed_text(&decision.draft).to_owned(),
        revision: decision.draft.revision,
        seen: decision.seen.next_number,
        risk: conversation.risk,
        risk_reasons: conversation.risk_reasons.0.clone(),
        unusual: decision.unusual.iter().filter_map(unusual_sentence).collect(),
        meanwhile,
        later: ScheduleOptions::default(),
        changed: false,
        error: String::new(),
        place: place + 1,
        of: queue.len(),
        previous: beside(place.checked_sub(1)),
        next: beside(Some(place + 1)),
    }
}

/// A draft as its author typed it.
fn typed_text(draft: &MessageEntry) -> &str {
    draft.markdown.as_deref().unwrap_or(&draft.text)
}

impl DecisionView {
    /// The text as the editor shows it.
    fn editor_html(&self) -> String {
        if self.draft.protected.is_some() {
            formatted_secure(&self.typed, &self.draft.id)
        } else {
            to_html(&self.typed)
        }
    }
}

form! {
    /// The form of a draft, whichever of its buttons was pressed.
    pub struct DecisionForm {
        revision: Option<i64>,
        seen: SeenConversation,
        /// The text, where the form lets it be edited.
        body: Option<String>,
        recipients: Option<RecipientLines>,
        later: ScheduleChoice,
        reason: String,
        next: NextPage,
    }
}

impl DecisionForm {
    /// The revision of the draft that was on the page.
    fn revision(&self) -> i64 {
        self.revision.unwrap_or(0)
    }

    /// The recipients; `None` where the form does not have them.
    fn read_recipients(&self) -> Result<Option<RecipientList>, String> {
        self.recipients.as_ref().map(RecipientLines::parse).transpose()
    }
}

/// The page after a decision: the next draft of the queue, the conversation, or the queue.
pub struct NextPage(String);

impl FormValue for NextPage {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<NextPage> {
        let path = fields.get(name);
        let draft = path.strip_prefix("/approvals/").and_then(MessageId::parse);
        let conversation = path.strip_prefix("/conversations/").and_then(ConversationId::parse);
        let is_known = draft.is_some() || conversation.is_some();
        Ok(NextPage(if is_known { path } else { "/approvals".into() }))
    }
}

/// An approval counts for the revision and the messages that were on the page.
pub async fn approve(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<DecisionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let draft = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
    let seen = SeenDraft { revision: form.revision(), conversation: form.seen };
    let typed = form.body.clone();
    let recipients = match form.read_recipients() {
        Ok(recipients) => recipients,
        Err(sentence) => return wrong_address(&web, &visitor, &id, &form, sentence).await,
    };
    let Ok(leaves_at) = departure(&visitor, &form.later) else {
        return wrong_time(&web, &visitor, &id, &form).await;
    };
    let approved = draft.clone();
    let outcome = web
        .act(&visitor, move |tx, cx, _| {
            let (recipients, text) = (recipients.as_ref(), typed.as_deref());
            let approval = DraftApproval { recipients, text, leaves_at };
            drafts::approve_draft(tx, cx, &draft, seen, &approval)
        })
        .await;
    match outcome.or_problems()? {
        Ok(DecisionOutcome::Done(_)) => {
            let mut response = see_other(&form.next.0);
            web.set_undo(&mut response, &visitor, &approved);
            Ok(response)
        }
        Ok(DecisionOutcome::Meanwhile(_)) => {
            let page = build(&web, &visitor, &id, |decision| keep_typed(decision, &form)).await?;
            responses::again(&page)
        }
        Err(problems) => show_problems(&web, &visitor, &id, &form, problems).await,
    }
}

/// Saves an edit without deciding.
pub async fn save(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<DecisionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let draft = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
    let (revision, text) = (form.revision(), form.body.clone().unwrap_or_default());
    let recipients = match form.read_recipients() {
        Ok(recipients) => recipients,
        Err(sentence) => return wrong_address(&web, &visitor, &id, &form, sentence).await,
    };
    let saved = web
        .act(&visitor, move |tx, cx, _| {
            if let Some(recipients) = &recipients {
                drafts::address_draft(tx, cx, &draft, revision, recipients)?;
            }
            drafts::edit_draft(tx, cx, &draft, revision, &text)
        })
        .await;
    match saved.or_problems()? {
        Ok(_) => web.redirect(&format!("/approvals/{id}"), Flash::Saved),
        Err(problems) => show_problems(&web, &visitor, &id, &form, problems).await,
    }
}

pub async fn discard(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<DecisionForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let draft = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
    let revision = form.revision();
    let reason: String = form.reason.trim().chars().take(DISCARD_REASON_CHARS).collect();
    let discarded = web
        .act(&visitor, move |tx, cx, _| drafts::discard_draft(tx, cx, &draft, revision, &reason))
        .await;
    match discarded.or_problems()? {
        Ok(()) => web.redirect(&form.next.0, Flash::Discarded),
        Err(problems) => show_problems(&web, &visitor, &id, &form, problems).await,
    }
}

async fn wrong_address(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: &DecisionForm,
    sentence: String,
) -> PageResult {
    let page = build(web, visitor, id, |decision| {
        keep_typed(decision, form);
        decision.to_error = sentence;
    });
    responses::again(&page.await?)
}

async fn wrong_time(web: &Web, visitor: &Visitor, id: &str, form: &DecisionForm) -> PageResult {
    let page = build(web, visitor, id, |decision| {
        keep_typed(decision, form);
        // Said again: the reader's language is known by now.
        decision.error = departure(visitor, &form.later).err().unwrap_or_default();
    });
    responses::again(&page.await?)
}

/// Shows the draft as it is now, or the queue if somebody else has decided about it.
async fn show_problems(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: &DecisionForm,
    problems: ValidationErrors,
) -> PageResult {
    if let Some(problem) = problems.0.iter().find(|problem| problem.field == "to") {
        return wrong_address(web, visitor, id, form, problem.sentence.clone()).await;
    }
    let sentence = match problems.0.first().map(|first| first.field.as_str()) {
        Some("revision") => t!(
            "Somebody changed this draft meanwhile. Read it again; what you typed is still in the \
             field."
        )
        .to_owned(),
        Some("text") => {
            t!("A message has 1 to {n} characters.", n = thousands(REPLY_CHARS))
        }
        Some("send" | "sendAt" | "followUpAt") => problems.first_sentence(),
        _ => return web.redirect("/approvals", Flash::Gone),
    };
    let page = build(web, visitor, id, |decision| {
        keep_typed(decision, form);
        decision.error = sentence;
    });
    responses::again(&page.await?)
}

fn keep_typed(decision: &mut DecisionView, form: &DecisionForm) {
    decision.later.fill(&form.later, &ScheduleChoice::default());
    if let Some(body) = &form.body {
        decision.typed = body.clone();
        decision.changed = decision.typed != decision.text;
    }
    if let Some(RecipientLines { to, cc, bcc }) = form.recipients.clone() {
        (decision.to, decision.cc, decision.bcc) = (to, cc, bcc);
    }
}
