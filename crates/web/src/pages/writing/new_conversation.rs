//! A new conversation: the first mail to somebody.

use std::sync::Arc;

use actions::inboxes::writing_settings::{self, WritingSettings};
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::compose::{self, FirstMail, NewReply};
use actions::writing::saved_replies::{self, SavedReply};
use actions::writing::unsent_files;
use askama::Template;
use axum::extract::{Path, State};
use base::ids::MailboxId;
use base::limits::HEADER_CHARS;
use model::mailboxes::{self, Mailbox};
use model::messages::attachments::OutgoingAttachment;
use model::messages::written_text::TextFormat;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, FormFields, PostedForm, form};
use crate::forms::multipart::FormUpload;
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use crate::pages::writing::composer::{Composer, FormValues, ReplyButton};
use crate::pages::writing::recipients::RecipientLines;
use crate::pages::writing::schedule_options::{ScheduleChoice, message_times, unsent_times};
use crate::pages::writing::unsent::{self, UnsentForm};
use crate::visitor::Visitor;

/// The address of the page and of its forms.
const PLACE: &str = "/new";
/// Characters that are taken over of a text, and of a link, that another app shares.
const SHARED_CHARS: usize = 10_000;

#[derive(Template)]
#[template(path = "new.html", whitespace = "minimize")]
struct NewPage {
    frame: PageLayout,
    composer: Composer,
}

form! {
    /// A first mail.
    pub struct FirstMailForm {
        mailbox: String,
        subject: String,
        body: String,
        format: TextFormat,
        recipients: RecipientLines,
        /// Pictures that were taken out of the text again.
        drop: FormValues,
        secure: bool,
        has_lock: bool = "lock",
        later: ScheduleChoice,
        follow_up: ScheduleChoice,
        opened_at: Option<i64> = "seen",
        button: ReplyButton,
    }
}

/// What is read for the page.
struct Unsent {
    inboxes: Vec<Mailbox>,
    /// The inbox that it is sent from: the one that is asked for, that was kept, or that was used last.
    chosen: String,
    autosave: Option<Autosave>,
    attached: Vec<OutgoingAttachment>,
    writing: WritingSettings,
    saved_replies: Vec<SavedReply>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let (frame, mut composer) = build(&web, &visitor, &asked.get("mailbox")).await?;
    if composer.to.is_empty() {
        composer.to = asked.get("to");
    }
    take_shared(&mut composer, &asked);
    web.show(&visitor, &NewPage { frame, composer })
}

/// What another app shared with the installed one, where nothing was begun yet.
fn take_shared(composer: &mut Composer, asked: &FormFields) {
    if !composer.subject.is_empty() || !composer.body.is_empty() {
        return;
    }
    let first = |name: &str, most: usize| -> String {
        asked.get(name).trim().chars().filter(|c| *c != '\0').take(most).collect()
    };
    composer.subject = first("subject", HEADER_CHARS);
    let parts = ["text", "link"].map(|name| first(name, SHARED_CHARS));
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    composer.body = parts.join("\n\n");
}

/// The page with what was saved, in the inbox that is asked for.
async fn build(
    web: &Web,
    visitor: &Visitor,
    mailbox: &str,
) -> Result<(PageLayout, Composer), PageError> {
    let location = PageLocation::at(t!("New conversation"), PLACE);
    let (asked, last) = (mailbox.to_owned(), visitor.last_inbox.clone());
    let (frame, unsent) = web
        .page(visitor, location, move |tx, cx, _| {
            let inboxes = mailboxes::all_seen_by(tx, cx.actor)?;
            let autosave = autosaves::load_autosave(tx, cx, &AutosaveKey::New)?;
            let kept = autosave.as_ref().map(|saved| saved.mailbox.as_str());
            let chosen = inboxes
                .iter()
                .find(|inbox| inbox.id.as_str() == asked)
                .or(inboxes.iter().find(|inbox| Some(inbox.id.as_str()) == kept))
                .or(inboxes.iter().find(|inbox| Some(&inbox.id) == last.as_ref()))
                .or(inboxes.first());
            let chosen_id = chosen.map(|inbox| inbox.id.to_string()).unwrap_or_default();
            let writing = match chosen {
                Some(chosen) => writing_settings::writing_settings(tx, cx, &chosen.id)?,
                None => WritingSettings::default(),
            };
            Ok(Unsent {
                attached: unsent_files::list(tx, cx, &AutosaveKey::New)?,
                saved_replies: saved_replies::list_insertable(tx, cx, t!("Help pages"))?,
                chosen: chosen_id,
                writing,
                autosave,
                inboxes,
            })
        })
        .await?;
    let composer =
        Composer::empty(AutosaveKind::New, PLACE.into(), &unsent.writing, &unsent.attached);
    let mut composer = composer.with_saved(&unsent.saved_replies);
    if let Some(saved) = &unsent.autosave {
        composer.fill(saved, true);
    }
    let label = |inbox: &Mailbox| {
        let label = format!("{}, {}", inbox.name, inbox.address);
        (inbox.id.to_string(), label, inbox.id.as_str() == unsent.chosen)
    };
    composer.inboxes = unsent.inboxes.iter().map(label).collect();
    composer.seen = frame.times.now;
    let composer = composer.with_times(&frame.times);
    Ok((frame, composer))
}

pub async fn send(State(web): State<Arc<Web>>, upload: FormUpload<FirstMailForm>) -> PageResult {
    let FormUpload { visitor, form, files } = upload;
    if form.button == ReplyButton::Discard {
        unsent::discard(&web, &visitor, None).await?;
        return Ok(see_other("/inbox?view=open"));
    }
    if let Some(sentence) = unsent::attach(&web, &visitor, None, files).await? {
        return again(&web, &visitor, &form, |composer| composer.file_error = sentence).await;
    }
    unsent::drop_pictures(&web, &visitor, None, &form.drop).await?;
    if matches!(form.button, ReplyButton::Attach | ReplyButton::Remove(_) | ReplyButton::Insert(_))
    {
        let saved = autosave(&visitor, &form);
        unsent::change(&web, &visitor, None, saved, &form.button).await?;
        return Ok(see_other(&format!("{PLACE}#body")));
    }
    let recipients = match form.recipients.parse() {
        Ok(recipients) => recipients,
        Err(sentence) => {
            return again(&web, &visitor, &form, |composer| composer.to_error = sentence).await;
        }
    };
    let times = match message_times(&visitor, &form.later, &form.follow_up) {
        Ok(times) => times,
        Err(sentence) => {
            return again(&web, &visitor, &form, |composer| composer.later.error = sentence).await;
        }
    };
    let first = FirstMail {
        mailbox: form.mailbox.clone(),
        subject: form.subject.clone(),
        opened_at: form.opened_at,
        message: NewReply {
            body: form.body.clone(),
            format: form.format,
            recipients,
            close: false,
            send: form.button != ReplyButton::Keep,
            forwards: None,
            secure: form.has_lock.then_some(form.secure),
            times,
        },
    };
    unsent::fit_files(&web, &visitor, None, &first.mailbox, &first.message).await?;
    let sent = web.act(&visitor, move |tx, cx, _| compose::send_first_mail(tx, cx, &first)).await;
    match sent.or_problems()? {
        Ok((conversation, result)) => {
            let path = format!("/conversations/{conversation}");
            let mut response = match form.button {
                ReplyButton::Keep => web.redirect(&path, Flash::Kept)?,
                _ => {
                    let mut response = see_other(&path);
                    web.set_undo(&mut response, &visitor, &result.message_id);
                    response
                }
            };
            if let Some(inbox) = MailboxId::parse(&form.mailbox) {
                web.set_last_inbox(&mut response, &inbox);
            }
            Ok(response)
        }
        Err(problems) => {
            again(&web, &visitor, &form, |composer| composer.show_problems(problems)).await
        }
    }
}

/// The page again, with what was typed and what is wrong with it.
async fn again(
    web: &Web,
    visitor: &Visitor,
    form: &FirstMailForm,
    wrong: impl FnOnce(&mut Composer),
) -> PageResult {
    let (frame, composer) = build(web, visitor, &form.mailbox).await?;
    let RecipientLines { to, cc, bcc } = form.recipients.clone();
    let (body, subject) = (form.body.clone(), form.subject.clone());
    let mut composer = Composer { body, subject, to, cc, bcc, ..composer };
    composer.set_lock(form.secure);
    composer.later.fill(&form.later, &form.follow_up);
    composer.later.offer(&frame.times);
    wrong(&mut composer);
    responses::again(&NewPage { frame, composer })
}

fn autosave(visitor: &Visitor, form: &FirstMailForm) -> Autosave {
    let RecipientLines { to, cc, bcc } = form.recipients.clone();
    let (mailbox, subject) = (form.mailbox.clone(), form.subject.clone());
    let times = unsent_times(visitor, &form.later, &form.follow_up);
    let saved = Autosave::new(AutosaveKind::New, form.body.clone());
    Autosave { to, cc, bcc, mailbox, subject, secure: form.secure, times, ..saved }
}

/// Saves what somebody is writing.
pub async fn keep(State(web): State<Arc<Web>>, posted: PostedForm<UnsentForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    unsent::keep(&web, &visitor, None, form).await?;
    Ok(responses::no_content())
}

/// A saved reply, for the script that inserts it at the cursor.
pub async fn saved_reply(
    State(web): State<Arc<Web>>,
    Path(reply): Path<String>,
    posted: PostedForm,
) -> PageResult {
    unsent::saved_reply(&web, &posted.visitor, None, &reply).await
}

/// Takes in a picture that was pasted into the text or dropped on it.
pub async fn picture(State(web): State<Arc<Web>>, upload: FormUpload<()>) -> PageResult {
    unsent::picture(&web, None, upload).await
}
