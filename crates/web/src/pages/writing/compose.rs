//! Writing in a conversation: a reply or a message that is passed on, which can be stopped until it
//! leaves, or a note that only the team sees.

use std::sync::Arc;

use actions::inboxes::drafting;
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::compose::{self, ForwardedMessage, NewReply};
use actions::writing::seen::DecisionOutcome;
use api::operations::AddNoteInput;
use api::operations::add_note;
use axum::extract::{Path, State};
use base::error::{Error, ValidationErrors};
use base::ids::AnswerId;
use base::limits::NOTE_CHARS;
use outbound::drafts::ReplyResult;
use outbound::scheduling::MessageTimes;
use translation::t;

use crate::Web;
use crate::forms::form::{PostedForm, form};
use crate::forms::multipart::FormUpload;
use crate::layout::flash::Flash;
use crate::layout::responses::{self, FormOutcome, PageResult, see_other};
use crate::layout::wording::thousands;
use crate::pages::conversation;
use crate::pages::lists::list_query::ListQuery;
use crate::pages::writing::composer::{Composer, ReplyButton, ReplyForm};
use crate::pages::writing::recipients::RecipientLines;
use crate::pages::writing::schedule_options::{message_times, unsent_times};
use crate::pages::writing::unsent::{self, UnsentForm};
use crate::visitor::Visitor;

form! {
    pub struct NoteForm {
        body: String,
        from: ListQuery,
        discard: bool,
    }
}

pub async fn reply(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    upload: FormUpload<ReplyForm>,
) -> PageResult {
    let FormUpload { visitor, form, files } = upload;
    if form.button == ReplyButton::Discard {
        return discard(&web, &visitor, &id, &form.from).await;
    }
    if let Some(sentence) = unsent::attach(&web, &visitor, Some(&id), files).await? {
        return again(&web, &visitor, &id, &form, |composer| composer.file_error = sentence).await;
    }
    unsent::drop_pictures(&web, &visitor, Some(&id), &form.drop).await?;
    let message = match &form.button {
        ReplyButton::Attach
        | ReplyButton::Remove(_)
        | ReplyButton::Insert(_)
        | ReplyButton::OfferTimes => {
            let saved = autosave(&visitor, &form);
            unsent::change(&web, &visitor, Some(&id), saved, &form.button).await?;
            let write = match (&form.button, &form.forwards) {
                (ReplyButton::OfferTimes, _) => "times",
                (_, Some(_)) => "forward",
                (_, None) => "reply",
            };
            return Ok(see_other(&form.from.composer(&id, write)));
        }
        _ => match new_reply(&form)? {
            Ok(message) => message,
            Err(sentence) => {
                return again(&web, &visitor, &id, &form, |composer| composer.to_error = sentence)
                    .await;
            }
        },
    };
    let message = match message_times(&visitor, &form.later, &form.follow_up) {
        Ok(times) => NewReply { times, ..message },
        Err(sentence) => {
            return again(&web, &visitor, &id, &form, |composer| composer.later.error = sentence)
                .await;
        }
    };
    unsent::fit_files(&web, &visitor, Some(&id), "", &message).await?;
    let (wanted, seen) = (id.clone(), form.seen);
    let outcome = web
        .act(&visitor, move |tx, cx, _| compose::send_reply(tx, cx, &wanted, &message, seen))
        .await;
    match outcome.or_problems()? {
        Ok(DecisionOutcome::Done(result)) => leave_composer(&web, &visitor, &id, &form, &result),
        Ok(DecisionOutcome::Meanwhile(newer)) => {
            again(&web, &visitor, &id, &form, |composer| {
                composer.meanwhile = Some((newer.by, newer.is_customer));
                composer.keep_sticky_lock();
            })
            .await
        }
        Err(problems) => {
            again(&web, &visitor, &id, &form, |composer| composer.show_problems(problems)).await
        }
    }
}

impl Composer {
    /// Shows each problem at its field.
    pub fn show_problems(&mut self, problems: ValidationErrors) {
        for problem in problems.0 {
            let field = match problem.field.as_str() {
                "to" => &mut self.to_error,
                "subject" => &mut self.subject_error,
                "files" => &mut self.file_error,
                "send" => &mut self.send_error,
                "sendAt" | "followUpAt" => &mut self.later.error,
                _ => &mut self.body_error,
            };
            *field = problem.sentence;
        }
    }
}

/// The inner error is a sentence about the recipients.
fn new_reply(form: &ReplyForm) -> base::error::Result<Result<NewReply, String>> {
    let recipients = match form.recipients.parse() {
        Ok(recipients) => recipients,
        Err(sentence) => return Ok(Err(sentence)),
    };
    let forwards = match &form.forwards {
        Some(id) => Some(ForwardedMessage { id: id.clone(), files: form.include.files()? }),
        None => None,
    };
    Ok(Ok(NewReply {
        body: form.body.clone(),
        format: form.format,
        recipients,
        close: form.button == ReplyButton::SendAndClose,
        send: form.button != ReplyButton::Keep,
        forwards,
        secure: form.secure_wish(),
        times: MessageTimes::default(),
    }))
}

/// The unsent text as the form has it.
fn autosave(visitor: &Visitor, form: &ReplyForm) -> Autosave {
    let kind = match form.forwards {
        Some(_) => AutosaveKind::Forward,
        None => AutosaveKind::Reply,
    };
    let RecipientLines { to, cc, bcc } = form.recipients.clone();
    let forwards = form.forwards.clone();
    let secure = form.secure;
    let times = unsent_times(visitor, &form.later, &form.follow_up);
    Autosave { to, cc, bcc, forwards, secure, times, ..Autosave::new(kind, form.body.clone()) }
}

fn leave_composer(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: &ReplyForm,
    result: &ReplyResult,
) -> PageResult {
    let path = match form.button {
        ReplyButton::Keep => return web.redirect(&form.from.conversation(id), Flash::Kept),
        ReplyButton::SendAndClose => form.from.list(),
        _ => form.from.conversation(id),
    };
    let mut response = see_other(&path);
    web.set_undo(&mut response, visitor, &result.message_id);
    Ok(response)
}

form! {
    /// An answer that was chosen above the reply box.
    pub struct InsertAnswerForm {
        answer: String,
        from: ListQuery,
    }
}

/// Puts an answer into the reply that the reader is writing.
pub async fn insert_answer(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<InsertAnswerForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let answer = AnswerId::parse(&form.answer).ok_or(Error::NotFound("answer"))?;
    let conversation = id.clone();
    web.act_quietly(&visitor, move |tx, cx, _| {
        drafting::insert_answer(tx, cx, &conversation, &answer)
    })
    .await?;
    Ok(see_other(&form.from.composer(&id, "reply")))
}

pub async fn note(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<NoteForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    if form.discard {
        return discard(&web, &visitor, &id, &form.from).await;
    }
    if wrong_note(&form.body).is_some() {
        let list = form.from.fields();
        let page = conversation::build(&web, &visitor, &id, &list, |open, _| {
            let composer = Composer::typed_note(open, &form.body);
            // Said again: the reader's language is known by now.
            Some(Composer { body_error: wrong_note(&form.body).unwrap_or_default(), ..composer })
        });
        return responses::again(&page.await?);
    }
    let input = AddNoteInput { id: id.clone(), body: form.body };
    web.act(&visitor, move |tx, cx, _| {
        add_note(tx, cx, input.clone())?;
        let place = AutosaveKey::find(tx, cx, Some(&input.id))?;
        autosaves::forget_autosave(tx, cx, &place)
    })
    .await?;
    web.redirect(&form.from.conversation(&id), Flash::Noted)
}

/// What is wrong with a note.
fn wrong_note(body: &str) -> Option<String> {
    if body.trim().is_empty() {
        return Some(t!("Write something first.").into());
    }
    let fits = body.chars().count() <= NOTE_CHARS && !body.contains('\0');
    (!fits).then(|| t!("A note has at most {n} characters.", n = thousands(NOTE_CHARS)))
}

/// The page again, with what was typed and what is wrong with it.
async fn again(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: &ReplyForm,
    wrong: impl FnOnce(&mut Composer),
) -> PageResult {
    let list = form.from.composer_fields();
    let page = conversation::build(web, visitor, id, &list, |open, times| {
        let mut composer = Composer::from_form(open, times, form);
        wrong(&mut composer);
        Some(composer)
    });
    responses::again(&page.await?)
}

async fn discard(web: &Web, visitor: &Visitor, id: &str, from: &ListQuery) -> PageResult {
    unsent::discard(web, visitor, Some(id)).await?;
    Ok(see_other(&from.conversation(id)))
}

/// Saves what somebody is writing.
pub async fn keep(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<UnsentForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (ws, me) = unsent::keep(&web, &visitor, Some(&id), form).await?;
    web.presence.writes(&(ws, id), &me, web.app.clock.now());
    Ok(responses::no_content())
}

/// A saved reply as it reads in this conversation, for the script that inserts it at the cursor.
pub async fn saved_reply(
    State(web): State<Arc<Web>>,
    Path((id, reply)): Path<(String, String)>,
    posted: PostedForm,
) -> PageResult {
    unsent::saved_reply(&web, &posted.visitor, Some(&id), &reply).await
}

/// Takes in a picture that was pasted into the text or dropped on it.
pub async fn picture(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    upload: FormUpload<()>,
) -> PageResult {
    unsent::picture(&web, Some(&id), upload).await
}
