//! Writing in a conversation: a reply, which can be stopped within the undo window, or a note that
//! only the team sees.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use inbox::ReplyResult;
use inbox::actions::{self, Autosave, AutosaveKind, NewReply};
use inbox::api::operations::{AddNoteInput, add_note};
use inbox::base::ids::SavedReplyId;
use inbox::base::limits::{ATTACHED_BYTES, ATTACHMENTS, NOTE_CHARS, megabytes, thousands};
use inbox::base::states::Direction;
use inbox::{Error, load_conversation};

use crate::web::Web;
use crate::web::form::{FormFields, FormValue, Posted, form};
use crate::web::layout::flash::Flash;
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::multipart::{FormFiles, FormUpload};
use crate::web::pages::composer::{Composer, ReplyButton, ReplyForm};
use crate::web::pages::conversation;
use crate::web::pages::list_query::ListQuery;
use crate::web::pages::recipients::RecipientLines;
use crate::web::visitor::Visitor;

form! {
    pub struct NoteForm {
        body: String,
        from: ListQuery,
        discard: bool,
    }

    /// What a script sends while somebody is writing.
    pub struct AutosaveForm {
        kind: AutosaveKind,
        body: String,
        recipients: RecipientLines,
    }
}

enum Outcome {
    Sent(ReplyResult),
    Meanwhile { by: String, is_customer: bool },
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
    if let Some(sentence) = attach(&web, &visitor, &id, files).await? {
        return again(&web, &visitor, &id, &form, |composer| composer.file_error = sentence).await;
    }
    let message = match &form.button {
        ReplyButton::Attach | ReplyButton::Remove(_) | ReplyButton::Insert(_) => {
            return change(&web, &visitor, &id, &form).await;
        }
        _ => match new_reply(&form) {
            Ok(message) => message,
            Err(sentence) => {
                return again(&web, &visitor, &id, &form, |composer| composer.to_error = sentence)
                    .await;
            }
        },
    };
    let (wanted, seen) = (id.clone(), form.seen.unwrap_or(0));
    let outcome = web
        .act(&visitor, move |tx, cx, _| {
            if message.send
                && let Some(newer) = actions::newer_than(tx, cx, &wanted, seen)?
            {
                let is_customer = newer.direction == Direction::Inbound;
                return Ok(Outcome::Meanwhile { by: newer.by, is_customer });
            }
            Ok(Outcome::Sent(actions::send_reply(tx, cx, &wanted, &message)?))
        })
        .await;
    match outcome {
        Ok(Outcome::Sent(result)) => sent(&web, &id, &form, &result),
        Ok(Outcome::Meanwhile { by, is_customer }) => {
            again(&web, &visitor, &id, &form, |composer| {
                composer.meanwhile = Some((by, is_customer));
            })
            .await
        }
        Err(PageError::Domain(Error::Invalid(problems))) => {
            again(&web, &visitor, &id, &form, move |composer| {
                for problem in problems.0 {
                    match problem.field.as_str() {
                        "to" => composer.to_error = problem.sentence,
                        _ => composer.body_error = problem.sentence,
                    }
                }
            })
            .await
        }
        Err(refusal) => Err(refusal),
    }
}

/// The error is a sentence about the recipients.
fn new_reply(form: &ReplyForm) -> Result<NewReply, String> {
    Ok(NewReply {
        body: form.body.clone(),
        recipients: form.recipients.parse()?,
        close: form.button == ReplyButton::SendAndClose,
        send: form.button != ReplyButton::Keep,
    })
}

/// Adds the files that came with the form to the message; returns what is wrong with them.
async fn attach(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    files: FormFiles,
) -> Result<Option<String>, PageError> {
    let files = match files {
        FormFiles::Kept(files) if files.is_empty() => return Ok(None),
        FormFiles::Kept(files) => files,
        FormFiles::TooMany => {
            return Ok(Some(format!(
                "A message has at most {ATTACHMENTS} files, of {} MB together. None was added.",
                megabytes(ATTACHED_BYTES)
            )));
        }
    };
    let (files, wanted) = (web.store_files(files).await?, id.to_owned());
    let added =
        web.act_quietly(visitor, move |tx, cx, _| actions::attach(tx, cx, &wanted, &files)).await;
    match added {
        Ok(()) => Ok(None),
        Err(PageError::Domain(Error::Invalid(problems))) => {
            Ok(problems.0.into_iter().next().map(|problem| problem.sentence))
        }
        Err(refusal) => Err(refusal),
    }
}

/// Saves what was typed, changes it as the button says, and shows it again. This is how attachments
/// and saved replies work without a script.
async fn change(web: &Web, visitor: &Visitor, id: &str, form: &ReplyForm) -> PageResult {
    let saved = autosave(AutosaveKind::Reply, &form.body, &form.recipients);
    let (wanted, button) = (id.to_owned(), form.button.clone());
    web.act_quietly(visitor, move |tx, cx, _| {
        let mut saved = saved.clone();
        if let ReplyButton::Remove(file) = &button {
            actions::take_out(tx, cx, &wanted, file)?;
        }
        if let ReplyButton::Insert(reply) = &button {
            let text = actions::fill_saved_reply(tx, cx, &wanted, reply)?;
            let gap = if saved.body.trim().is_empty() { "" } else { "\n\n" };
            saved.body = format!("{}{gap}{text}", saved.body.trim_end());
        }
        actions::autosave(tx, cx, &wanted, &saved)
    })
    .await?;
    Ok(see_other(&form.from.composer(id)))
}

/// A saved reply as it reads in this conversation, for the script that inserts it at the cursor.
pub async fn saved_reply(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((id, reply)): Path<(String, String)>,
) -> PageResult {
    let reply = SavedReplyId::parse(&reply).ok_or(Error::NotFound("saved reply"))?;
    let text =
        web.read(&visitor, move |tx, cx, _| actions::fill_saved_reply(tx, cx, &id, &reply)).await?;
    Ok(responses::plain(text))
}

fn sent(web: &Web, id: &str, form: &ReplyForm, result: &ReplyResult) -> PageResult {
    let path = match form.button {
        ReplyButton::Keep => return web.redirect(&form.from.conversation(id), Flash::Kept),
        ReplyButton::SendAndClose => form.from.list(),
        _ => form.from.conversation(id),
    };
    let mut response = see_other(&path);
    web.set_undo(&mut response, result.message_id.as_str());
    Ok(response)
}

pub async fn note(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted<NoteForm>,
) -> PageResult {
    let Posted { visitor, form } = posted;
    if form.discard {
        return discard(&web, &visitor, &id, &form.from).await;
    }
    if let Some(sentence) = wrong_note(&form.body) {
        let list = form.from.fields();
        let page = conversation::build(&web, &visitor, &id, &list, |open| {
            let composer = Composer::typed_note(open, &form.body);
            Some(Composer { body_error: sentence, ..composer })
        });
        return responses::again(&page.await?);
    }
    let input = AddNoteInput { id: id.clone(), body: form.body };
    web.act(&visitor, move |tx, cx, _| {
        add_note(tx, cx, input.clone())?;
        let conversation = load_conversation(tx, cx.actor, &input.id)?;
        actions::forget_autosave(tx, cx, &conversation.id)
    })
    .await?;
    web.redirect(&form.from.conversation(&id), Flash::Noted)
}

/// What is wrong with a note.
fn wrong_note(body: &str) -> Option<String> {
    if body.trim().is_empty() {
        return Some("Write something first.".into());
    }
    let fits = body.chars().count() <= NOTE_CHARS && !body.contains('\0');
    (!fits).then(|| format!("A note has at most {} characters.", thousands(NOTE_CHARS)))
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
    let page = conversation::build(web, visitor, id, &list, |open| {
        let mut composer = Composer::typed(open, form);
        wrong(&mut composer);
        Some(composer)
    });
    responses::again(&page.await?)
}

async fn discard(web: &Web, visitor: &Visitor, id: &str, from: &ListQuery) -> PageResult {
    let wanted = id.to_owned();
    web.act_quietly(visitor, move |tx, cx, _| actions::discard_autosave(tx, cx, &wanted)).await?;
    Ok(see_other(&from.conversation(id)))
}

/// Saves what somebody is writing.
pub async fn keep(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted<AutosaveForm>,
) -> PageResult {
    let Posted { visitor, form } = posted;
    let (wanted, saved) = (id.clone(), autosave(form.kind, &form.body, &form.recipients));
    let (ws, me) = web
        .act_quietly(&visitor, move |tx, cx, me| {
            actions::autosave(tx, cx, &wanted, &saved)?;
            Ok((cx.actor.ws, me.id.clone()))
        })
        .await?;
    web.presence.writes(&(ws, id), &me, web.app.clock.now());
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

impl FormValue for AutosaveKind {
    fn read(fields: &FormFields, name: &str) -> inbox::Result<AutosaveKind> {
        AutosaveKind::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "must be reply or note"))
    }
}

fn autosave(kind: AutosaveKind, body: &str, recipients: &RecipientLines) -> Autosave {
    let RecipientLines { to, cc, bcc } = recipients.clone();
    Autosave { kind, body: body.to_owned(), to, cc, bcc, saved_at: 0 }
}
