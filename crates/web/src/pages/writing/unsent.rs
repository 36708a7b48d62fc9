//! What the composers of conversations and of first mails share: autosave, attachments, pictures in
//! the text, and saved replies. Without a conversation it is the unsent first mail.

use std::sync::Arc;

use actions::inboxes::writing_settings;
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::compose::NewReply;
use actions::writing::{completion, saved_replies, unsent_files};
use axum::extract::State;
use base::concurrency::blocking::spawn_blocking;
use base::error::Error;
use base::ids::{AttachmentId, MessageId, SavedReplyId, UserId};
use base::limits::{ATTACHED_BYTES, ATTACHMENTS, megabytes};
use model::messages::written_text::TextFormat;
use serde_json::json;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, FormFields, FormValue, form};
use crate::forms::multipart::{FormFiles, FormUpload};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult};
use crate::pages::mail_files::files::is_picture;
use crate::pages::writing::composer::{FormValues, ReplyButton};
use crate::pages::writing::recipients::RecipientLines;
use crate::pages::writing::rich_text::to_html;
use crate::pages::writing::schedule_options::{ScheduleChoice, unsent_times};
use crate::visitor::Visitor;

form! {
    /// What a script sends while somebody is writing.
    pub struct UnsentForm {
        kind: AutosaveKind,
        body: String,
        recipients: RecipientLines,
        mailbox: String,
        subject: String,
        forwards: Option<MessageId>,
        secure: bool,
        later: ScheduleChoice,
        follow_up: ScheduleChoice,
    }
}

impl FormValue for AutosaveKind {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<AutosaveKind> {
        AutosaveKind::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "must be reply, note, forward or new"))
    }
}

/// Saves what somebody is writing; returns their workspace and who they are.
pub async fn keep(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
    form: UnsentForm,
) -> Result<(i64, UserId), PageError> {
    let RecipientLines { to, cc, bcc } = form.recipients;
    let saved = Autosave {
        to,
        cc,
        bcc,
        mailbox: form.mailbox,
        subject: form.subject,
        forwards: form.forwards,
        secure: form.secure,
        times: unsent_times(visitor, &form.later, &form.follow_up),
        ..Autosave::new(form.kind, form.body)
    };
    let conversation = conversation.map(str::to_owned);
    web.act_quietly(visitor, move |tx, cx, me| {
        let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
        autosaves::autosave(tx, cx, &place, &saved)?;
        Ok((cx.actor.ws, me.id.clone()))
    })
    .await
}

pub async fn discard(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
) -> Result<(), PageError> {
    let conversation = conversation.map(str::to_owned);
    web.act_quietly(visitor, move |tx, cx, _| {
        let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
        unsent_files::discard_autosave(tx, cx, &place)
    })
    .await
}

/// Adds the files that came with the form to the message; returns what is wrong with them.
pub async fn attach(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
    files: FormFiles,
) -> Result<Option<String>, PageError> {
    let files = match files {
        FormFiles::Kept(files) if files.is_empty() => return Ok(None),
        FormFiles::Kept(files) => files,
        FormFiles::TooMany => {
            return Ok(Some(t!(
                "A message has at most {files} files, of {size} MB together. None was added.",
                files = ATTACHMENTS,
                size = megabytes(ATTACHED_BYTES),
            )));
        }
    };
    let conversation = conversation.map(str::to_owned);
    let files = web.store_sealed_files(files).await?;
    let added = web
        .act_quietly(visitor, move |tx, cx, _| {
            let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
            unsent_files::attach(tx, cx, &place, &files)
        })
        .await;
    match added.or_problems()? {
        Ok(()) => Ok(None),
        Err(problems) => Ok(problems.0.into_iter().next().map(|problem| problem.sentence)),
    }
}

/// Seals or opens the files of an unsent text, as the message that it becomes wants them. `mailbox` is
/// the inbox of a first mail.
pub async fn fit_files(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
    mailbox: &str,
    message: &NewReply,
) -> Result<(), PageError> {
    let conversation = conversation.map(str::to_owned);
    let (wanted, mailbox, message) = (conversation.clone(), mailbox.to_owned(), message.clone());
    let unfit = web
        .read(visitor, move |tx, cx, _| {
            let place = AutosaveKey::find(tx, cx, wanted.as_deref())?;
            unsent_files::unfit_files(tx, cx, &place, &mailbox, &message)
        })
        .await?;
    if unfit.is_empty() {
        return Ok(());
    }
    let app = web.app.clone();
    let refitting = spawn_blocking(move || {
        let files = unfit.into_iter().map(|file| file.refit((&app.blobs, &app.ids)));
        files.collect::<std::io::Result<Vec<_>>>()
    });
    let files = refitting.await.map_err(|error| PageError::Domain(error.into()))?;
    let files = files.map_err(|error| PageError::Domain(error.into()))?;
    web.act_quietly(visitor, move |tx, cx, _| {
        let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
        unsent_files::refit_files(tx, cx, &place, &files)
    })
    .await
}

/// Saves what was typed and changes it as the button says. This is how attachments and saved
/// replies work without a script.
pub async fn change(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
    saved: Autosave,
    button: &ReplyButton,
) -> Result<(), PageError> {
    let (conversation, button) = (conversation.map(str::to_owned), button.clone());
    web.act_quietly(visitor, move |tx, cx, _| {
        let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
        let mut saved = saved.clone();
        if let ReplyButton::Remove(file) = &button {
            unsent_files::take_out(tx, cx, &place, file)?;
        }
        if let ReplyButton::Insert(reply) = &button {
            let text = saved_replies::put_in_saved_reply(tx, cx, &place, reply)?;
            let gap = if saved.body.trim().is_empty() { "" } else { "\n\n" };
            saved.body = format!("{}{gap}{text}", saved.body.trim_end());
            saved_replies::attach_saved_files(tx, cx, &place, reply)?;
        }
        autosaves::autosave(tx, cx, &place, &saved)
    })
    .await
}

/// Takes off the pictures that are not in the text any more.
pub async fn drop_pictures(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
    dropped: &FormValues,
) -> Result<(), PageError> {
    let files: Vec<AttachmentId> =
        dropped.0.iter().take(ATTACHMENTS).filter_map(|id| AttachmentId::parse(id)).collect();
    if files.is_empty() {
        return Ok(());
    }
    let conversation = conversation.map(str::to_owned);
    web.act_quietly(visitor, move |tx, cx, _| {
        let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
        for file in &files {
            match unsent_files::take_out(tx, cx, &place, file) {
                // Another page of the same person took it off.
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    })
    .await
}

/// A saved reply, as the writer's format has it: HTML for the editor, or plain text.
pub async fn saved_reply(
    web: &Web,
    visitor: &Visitor,
    conversation: Option<&str>,
    reply: &str,
) -> PageResult {
    let reply = SavedReplyId::parse(reply).ok_or(Error::NotFound("saved reply"))?;
    let conversation = conversation.map(str::to_owned);
    let (text, format) = web
        .act_quietly(visitor, move |tx, cx, _| {
            let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
            let text = saved_replies::put_in_saved_reply(tx, cx, &place, &reply)?;
            Ok((text, writing_settings::own_format(tx, cx)?))
        })
        .await?;
    Ok(responses::plain(match format {
        TextFormat::Markdown => to_html(&text),
        TextFormat::Plain => mail::markdown_text(&text),
    }))
}

/// Takes in one picture for the text; answers its id and name as JSON.
pub async fn picture(web: &Web, conversation: Option<&str>, upload: FormUpload<()>) -> PageResult {
    let FormUpload { visitor, files, .. } = upload;
    // Somebody else's conversation is missing, whatever is wrong with the file.
    let wanted = conversation.map(str::to_owned);
    web.read(&visitor, move |tx, cx, _| AutosaveKey::find(tx, cx, wanted.as_deref())).await?;
    let too_large = || {
        let most = megabytes(ATTACHED_BYTES);
        Error::invalid(
            "files",
            format!("The pictures and files of a message have at most {most} MB."),
        )
    };
    let FormFiles::Kept(mut files) = files else { return Err(too_large().into()) };
    files.truncate(1);
    let Some(file) = files.first().filter(|file| is_picture(&file.content_type)) else {
        let sentence = "Only PNG, JPEG, GIF and WebP pictures go into the text.";
        return Err(Error::invalid("files", sentence).into());
    };
    let name = file.filename.clone();
    let stored = web.store_sealed_files(files).await?;
    let id = stored.first().map(|(file, _)| file.id.to_string()).unwrap_or_default();
    let conversation = conversation.map(str::to_owned);
    web.act_quietly(&visitor, move |tx, cx, _| {
        let place = AutosaveKey::find(tx, cx, conversation.as_deref())?;
        unsent_files::attach(tx, cx, &place, &stored)
    })
    .await?;
    Ok(responses::json(&json!({ "id": id, "name": name })))
}

/// The people whose name or address begins with what was typed, as JSON.
pub async fn people(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let typed = asked.get("q");
    let found =
        web.read(&visitor, move |tx, cx, _| completion::complete_recipient(tx, cx, &typed)).await?;
    let found = found.iter().map(|party| json!({ "name": party.name, "email": party.email }));
    Ok(responses::json(&json!(found.collect::<Vec<_>>())))
}
