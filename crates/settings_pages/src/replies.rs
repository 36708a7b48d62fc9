//! Saved replies: texts with files, in folders, that the whole team answers with.

use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use actions::writing::saved_replies::{self, SavedReply, SavedReplyFile, SavedReplyInput};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::{AttachmentId, SavedReplyId};
use base::limits::{ATTACHED_BYTES, ATTACHMENTS, megabytes};
use db::Tx;
use model::fields;
use model::messages::attachments::NewAttachment;
use translation::t;
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{Asked, PostedForm, form};
use web::forms::multipart::{FormFiles, FormUpload};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use web::layout::wording::{DisplayTime, size};
use web::pages::writing::rich_text::to_html;
use web::visitor::Visitor;

use super::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_replies.html", whitespace = "minimize")]
struct RepliesPage {
    frame: PageLayout,
    replies: Vec<ReplyView>,
    /// The one that is being changed; empty for a new one.
    editing: String,
    input: SavedReplyInput,
    /// The files of the one that is being changed: their ids, names and sizes.
    files: Vec<(String, String, String)>,
    errors: FieldErrors,
    /// The words that were searched for.
    query: String,
    /// The folders there are, to choose from.
    folders: Vec<String>,
    placeholders: &'static [(&'static str, &'static str)],
    /// The placeholders of the fields that there are.
    field_placeholders: Vec<String>,
}

struct ReplyView {
    id: String,
    name: String,
    folder: String,
    files: usize,
    gist: String,
    /// How often it was put into a message.
    uses: String,
    /// When last.
    used: Option<DisplayTime>,
    changed: DisplayTime,
}

impl RepliesPage {
    fn action(&self) -> String {
        match self.editing.as_str() {
            "" => "/settings/replies".into(),
            id => format!("/settings/replies/{id}"),
        }
    }

    fn heading(&self) -> &'static str {
        if self.editing.is_empty() { t!("Save a reply") } else { t!("Change it") }
    }

    /// The text as the editor shows it.
    fn editor_html(&self) -> String {
        to_html(&self.input.body)
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let (page, _) = build(&web, &visitor, &asked.get("q")).await?;
    web.show(&visitor, &page)
}

pub async fn edit_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let (mut page, replies) = build(&web, &visitor, "").await?;
    let found = replies.into_iter().find(|reply| reply.id.as_str() == id);
    let found = found.ok_or(Error::NotFound("saved reply"))?;
    page.files = files(&found);
    let SavedReply { name, folder, body, .. } = found;
    let input = SavedReplyInput { name, folder, body };
    web.show(&visitor, &RepliesPage { editing: id, input, ..page })
}

fn files(reply: &SavedReply) -> Vec<(String, String, String)> {
    let file =
        |file: &SavedReplyFile| (file.id.to_string(), file.filename.clone(), size(file.size));
    reply.files.iter().map(file).collect()
}

/// The page with the replies that have every word of the query, and all of them.
async fn build(
    web: &Web,
    visitor: &Visitor,
    query: &str,
) -> Result<(RepliesPage, Vec<SavedReply>), PageError> {
    let (frame, (replies, fields)) = web
        .page(visitor, location(SettingsPage::Replies), |tx, cx, _| {
            Ok((saved_replies::list_saved_replies(tx, cx)?, fields::all(tx, cx.actor.ws)?))
        })
        .await?;
    let view = |reply: &SavedReply| ReplyView {
        id: reply.id.to_string(),
        name: reply.name.clone(),
        folder: reply.folder.clone(),
        files: reply.files.len(),
        gist: reply.body.split_whitespace().take(20).collect::<Vec<_>>().join(" "),
        uses: match reply.uses {
            0 => t!("never").to_owned(),
            1 => t!("once").to_owned(),
            n => t!("{n} times", n),
        },
        used: reply.used_at.map(|at| frame.times.short(at)),
        changed: frame.times.short(reply.changed_at),
    };
    let wanted = query.to_lowercase();
    let fits = |reply: &&SavedReply| {
        let text = format!("{} {} {}", reply.folder, reply.name, reply.body).to_lowercase();
        wanted.split_whitespace().all(|word| text.contains(word))
    };
    let mut folders: Vec<String> = replies.iter().map(|reply| reply.folder.clone()).collect();
    folders.retain(|folder| !folder.is_empty());
    folders.dedup();
    let page = RepliesPage {
        replies: replies.iter().filter(fits).map(view).collect(),
        frame,
        editing: String::new(),
        input: SavedReplyInput::default(),
        files: Vec::new(),
        errors: FieldErrors::default(),
        query: query.to_owned(),
        folders,
        placeholders: saved_replies::PLACEHOLDERS,
        field_placeholders: fields.iter().map(saved_replies::placeholder_of).collect(),
    };
    Ok((page, replies))
}

form! {
    pub struct SavedReplyForm {
        input: SavedReplyInput,
        /// The file that is taken off, if its button was pressed.
        remove: Option<String>,
    }
}

pub async fn add(State(web): State<Arc<Web>>, upload: FormUpload<SavedReplyForm>) -> PageResult {
    let FormUpload { visitor, form, files } = upload;
    let saved = match taken_in(&web, files).await? {
        Some(files) => {
            let input = form.input.clone();
            let save = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                saved_replies::save_reply(tx, cx, &input, &files).map(|_| ())
            };
            web.act(&visitor, save).await
        }
        None => Err(too_many()),
    };
    answer(&web, &visitor, "", form, saved).await
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    upload: FormUpload<SavedReplyForm>,
) -> PageResult {
    let FormUpload { visitor, form, files } = upload;
    let reply = reply_id(&id)?;
    let changed = match taken_in(&web, files).await? {
        Some(files) => {
            let (input, removed) = (form.input.clone(), form.remove.clone());
            let change = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                if let Some(file) = &removed {
                    let file = AttachmentId::parse(file).ok_or(Error::NotFound("file"))?;
                    saved_replies::remove_saved_reply_file(tx, cx, &reply, &file)?;
                }
                saved_replies::change_saved_reply(tx, cx, &reply, &input, &files)
            };
            web.act(&visitor, change).await
        }
        None => Err(too_many()),
    };
    if form.remove.is_some() && changed.is_ok() {
        return Ok(see_other(&format!("/settings/replies/{id}#edit")));
    }
    answer(&web, &visitor, &id, form, changed).await
}

/// The files of the form, stored; `None` if there are too many.
async fn taken_in(web: &Web, files: FormFiles) -> Result<Option<Vec<NewAttachment>>, PageError> {
    match files {
        FormFiles::Kept(files) => web.store_files(files).await.map(Some),
        FormFiles::TooMany => Ok(None),
    }
}

fn too_many() -> PageError {
    let most = megabytes(ATTACHED_BYTES);
    let sentence = format!("A saved reply has at most {ATTACHMENTS} files, of {most} MB together.");
    Error::invalid("files", sentence).into()
}

/// Back to the list, or the form again with what is wrong.
async fn answer(
    web: &Web,
    visitor: &Visitor,
    editing: &str,
    form: SavedReplyForm,
    saved: Result<(), PageError>,
) -> PageResult {
    let problems = match saved.or_problems()? {
        Ok(()) => return web.redirect("/settings/replies", Flash::ReplySaved),
        Err(problems) => problems,
    };
    let (mut page, replies) = build(web, visitor, "").await?;
    let found = replies.iter().find(|reply| reply.id.as_str() == editing);
    page.files = found.map(files).unwrap_or_default();
    page.editing = editing.to_owned();
    page.input = form.input;
    page.errors = FieldErrors::of(problems, &["name", "folder", "files"], "body");
    responses::again(&page)
}

pub async fn delete(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let reply = reply_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| saved_replies::delete_saved_reply(tx, cx, &reply))
        .await?;
    web.redirect("/settings/replies", Flash::ReplyDeleted)
}

fn reply_id(id: &str) -> base::error::Result<SavedReplyId> {
    SavedReplyId::parse(id).ok_or(Error::NotFound("saved reply"))
}
