//! Writing: a reply that can be stopped until its undo window is over, or a note that only the team sees.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use inbox::ReplyResult;
use inbox::actions::{self, Autosave, AutosaveKind, NewReply, OpenConversation};
use inbox::api::operations::{AddNoteInput, add_note};
use inbox::base::ids::{AttachmentId, SavedReplyId};
use inbox::base::limits::NOTE_CHARS;
use inbox::base::states::Direction;
use inbox::{Error, Party, load_conversation};

use crate::web::Web;
use crate::web::form::{FormFields, Posted};
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::size;
use crate::web::multipart::{FormFile, FormUpload};
use crate::web::pages::conversation::{self, back_to, back_to_list, party_line};
use crate::web::visitor::Visitor;

/// What stands in the composer.
#[derive(Default)]
pub struct Composer {
    pub is_note: bool,
    pub body: String,
    pub to: String,
    pub cc: String,
    pub bcc: String,
    /// Files that go with the letter: their ids, names and sizes.
    pub files: Vec<(String, String, String)>,
    pub file_error: String,
    /// The saved replies that can be put in: their ids and names.
    pub saved_replies: Vec<(String, String)>,
    pub from_address: String,
    pub seen: i64,
    pub body_error: String,
    pub to_error: String,
    /// Somebody who wrote meanwhile, and whether it was the customer.
    pub meanwhile: Option<(String, bool)>,
    /// True when this was kept from an earlier visit.
    pub kept: bool,
}

impl Composer {
    /// What a visit opens: what was asked for, or what was not finished.
    pub fn asked(write: &str, open: &OpenConversation) -> Option<Composer> {
        let kept = open.autosave.as_ref();
        let is_note = match (write, kept) {
            ("reply", _) => false,
            ("note", _) => true,
            (_, Some(kept)) => kept.kind == AutosaveKind::Note,
            (_, None) if !open.attached.is_empty() => false,
            _ => return None,
        };
        let kept = kept.filter(|kept| (kept.kind == AutosaveKind::Note) == is_note);
        let mut composer = Composer::fresh(open, is_note);
        if let Some(kept) = kept {
            composer.body = kept.body.clone();
            composer.to = Some(kept.to.clone()).filter(|to| !to.is_empty()).unwrap_or(composer.to);
            composer.cc = kept.cc.clone();
            composer.bcc = kept.bcc.clone();
            composer.kept = true;
        }
        Some(composer)
    }

    fn fresh(open: &OpenConversation, is_note: bool) -> Composer {
        let conversation = &open.conversation;
        let contact = Party {
            name: conversation.contact_name.clone(),
            email: conversation.contact_email.to_string(),
        };
        Composer {
            is_note,
            to: party_line(&[contact]),
            from_address: open.mailbox.address.to_string(),
            seen: open.seen,
            files: open
                .attached
                .iter()
                .map(|file| (file.id.to_string(), file.filename.clone(), size(file.size)))
                .collect(),
            ..Composer::default()
        }
    }

    pub fn with_saved(mut self, saved: &[(SavedReplyId, String)]) -> Composer {
        let named = saved.iter().map(|(id, name)| (id.to_string(), name.clone()));
        self.saved_replies = named.collect();
        self
    }

    /// What was typed, with what is wrong about it.
    fn typed(open: &OpenConversation, fields: &FormFields, is_note: bool) -> Composer {
        Composer {
            body: fields.get("body"),
            to: fields.get("to"),
            cc: fields.get("cc"),
            bcc: fields.get("bcc"),
            ..Composer::fresh(open, is_note)
        }
    }
}

enum Outcome {
    Sent(ReplyResult),
    Meanwhile { by: String, is_customer: bool },
}

pub async fn reply(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    upload: FormUpload,
) -> PageResult {
    let FormUpload { visitor, fields, files, too_much } = upload;
    if fields.has("discard") {
        return discard(&web, &visitor, &id, &fields).await;
    }
    if let Some(sentence) = attach(&web, &visitor, &id, files, too_much).await? {
        return again(&web, &visitor, &id, &fields, |composer| composer.file_error = sentence)
            .await;
    }
    if ["attach", "remove", "insert"].iter().any(|name| fields.has(name)) {
        return go_on(&web, &visitor, &id, &fields).await;
    }
    let lines = recipients(&fields);
    let (to, cc, bcc) = match lines {
        Ok([to, cc, bcc]) => (to, cc, bcc),
        Err(sentence) => {
            return again(&web, &visitor, &id, &fields, |composer| composer.to_error = sentence)
                .await;
        }
    };
    let (send, close) = (!fields.has("keep"), fields.has("close"));
    let message = NewReply { body: fields.get("body"), to, cc, bcc, close, send };
    let (wanted, seen) = (id.clone(), fields.number("seen").unwrap_or(0));
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
        Ok(Outcome::Sent(result)) => Ok(sent(&web, &id, &fields, send, close, &result)),
        Ok(Outcome::Meanwhile { by, is_customer }) => {
            again(&web, &visitor, &id, &fields, |composer| {
                composer.meanwhile = Some((by, is_customer));
            })
            .await
        }
        Err(PageError::Domain(Error::Invalid(problems))) => {
            again(&web, &visitor, &id, &fields, move |composer| {
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

/// The lines To, Cc and Bcc; the error is a sentence about what is no address.
pub fn recipients(fields: &FormFields) -> Result<[Vec<Party>; 3], String> {
    let read = |name: &str| {
        let line = actions::parties(&fields.get(name));
        line.map_err(|part| format!("{part} is not an e-mail address."))
    };
    Ok([read("to")?, read("cc")?, read("bcc")?])
}

/// Adds the files that came with the form to what is being written; answers what is wrong.
async fn attach(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    files: Vec<FormFile>,
    too_much: bool,
) -> Result<Option<String>, PageError> {
    if too_much {
        let sentence = "A message has at most 20 files, of 15 MB together. None was added.";
        return Ok(Some(sentence.into()));
    }
    if files.is_empty() {
        return Ok(None);
    }
    let (files, wanted) = (web.take_in(files).await?, id.to_owned());
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

/// Keeps what was typed, changes it as the button said, and shows it again: without a script this
/// is how files and saved replies get into a letter.
async fn go_on(web: &Web, visitor: &Visitor, id: &str, fields: &FormFields) -> PageResult {
    let autosave = autosave(fields, AutosaveKind::Reply);
    let removed = match fields.opt("remove") {
        Some(file) => Some(AttachmentId::parse(&file).ok_or(Error::NotFound("file"))?),
        None => None,
    };
    let inserted = match fields.opt("insert") {
        Some(reply) => Some(SavedReplyId::parse(&reply).ok_or(Error::NotFound("saved reply"))?),
        None => None,
    };
    let wanted = id.to_owned();
    web.act_quietly(visitor, move |tx, cx, _| {
        let mut autosave = autosave.clone();
        if let Some(file) = &removed {
            actions::take_out(tx, cx, &wanted, file)?;
        }
        if let Some(reply) = &inserted {
            let text = actions::fill_saved_reply(tx, cx, &wanted, reply)?;
            let gap = if autosave.body.trim().is_empty() { "" } else { "\n\n" };
            autosave.body = format!("{}{gap}{text}", autosave.body.trim_end());
        }
        actions::autosave(tx, cx, &wanted, &autosave)
    })
    .await?;
    let path = back_to(id, fields);
    let joint = if path.contains('?') { '&' } else { '?' };
    Ok(see_other(&format!("{path}{joint}write=reply#body")))
}

/// A saved reply as it reads in this conversation, for the script that puts it where the cursor is.
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

fn sent(
    web: &Web,
    id: &str,
    fields: &FormFields,
    send: bool,
    close: bool,
    result: &ReplyResult,
) -> Response<Body> {
    let path = if close { back_to_list(fields) } else { back_to(id, fields) };
    let mut response = see_other(&path);
    match send {
        true => web.set_undo(&mut response, result.message_id.as_str()),
        false => web.set_flash(&mut response, crate::web::Flash::Kept),
    }
    response
}

pub async fn note(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    if fields.has("discard") {
        return discard(&web, &visitor, &id, &fields).await;
    }
    let body = fields.get("body");
    let sentence = match body.chars().count() {
        _ if body.trim().is_empty() => Some("Write something first."),
        n if n > NOTE_CHARS || body.contains('\0') => Some("A note has at most 10,000 characters."),
        _ => None,
    };
    if let Some(sentence) = sentence {
        return again_note(&web, &visitor, &id, &fields, sentence).await;
    }
    let input = AddNoteInput { id: id.clone(), body };
    web.act(&visitor, move |tx, cx, _| {
        add_note(tx, cx, input.clone())?;
        let conversation = load_conversation(tx, cx.actor, &input.id)?;
        actions::forget_autosave(tx, cx, &conversation.id)
    })
    .await?;
    let mut response = see_other(&back_to(&id, &fields));
    web.set_flash(&mut response, crate::web::Flash::Noted);
    Ok(response)
}

/// The page again, with what was typed and what is wrong with it.
async fn again(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    fields: &FormFields,
    wrong: impl FnOnce(&mut Composer),
) -> PageResult {
    let list = FormFields::read(format!("{}&write=reply", fields.get("from")).as_bytes());
    let page = conversation::build(web, visitor, id, &list, |open| {
        let mut composer = Composer::typed(open, fields, false);
        wrong(&mut composer);
        Some(composer)
    });
    responses::again(&page.await?)
}

async fn again_note(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    fields: &FormFields,
    sentence: &str,
) -> PageResult {
    let list = FormFields::read(fields.get("from").as_bytes());
    let page = conversation::build(web, visitor, id, &list, |open| {
        let mut composer = Composer::typed(open, fields, true);
        composer.body_error = sentence.to_owned();
        Some(composer)
    });
    responses::again(&page.await?)
}

async fn discard(web: &Web, visitor: &Visitor, id: &str, fields: &FormFields) -> PageResult {
    let wanted = id.to_owned();
    web.act_quietly(visitor, move |tx, cx, _| actions::discard_autosave(tx, cx, &wanted)).await?;
    Ok(see_other(&back_to(id, fields)))
}

/// Keeps what a script sends while somebody is writing.
pub async fn keep(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let kind = AutosaveKind::parse(&fields.get("kind"))
        .ok_or_else(|| Error::invalid("kind", "must be reply or note"))?;
    let autosave = autosave(&fields, kind);
    let wanted = id.clone();
    let (ws, me) = web
        .act_quietly(&visitor, move |tx, cx, me| {
            actions::autosave(tx, cx, &wanted, &autosave)?;
            Ok((cx.actor.ws, me.id.clone()))
        })
        .await?;
    web.presence.writes(&(ws, id), &me, web.app.clock.now());
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

fn autosave(fields: &FormFields, kind: AutosaveKind) -> Autosave {
    Autosave {
        kind,
        body: fields.get("body"),
        to: fields.get("to"),
        cc: fields.get("cc"),
        bcc: fields.get("bcc"),
        saved_at: 0,
    }
}
