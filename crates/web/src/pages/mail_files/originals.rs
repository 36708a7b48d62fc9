//! The original of a message: its headers and text, its HTML in a sandboxed frame, and every file.

use std::sync::Arc;

use actions::conversations::picture_senders;
use actions::conversations::timeline::TimelineFile;
use askama::Template;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use base::error::Error;
use base::ids::MessageId;
use mail::HeaderField;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, PostedForm};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, PageResult};
use crate::pages::conversation::timeline::file_view;
use crate::pages::mail_files::mail_frame::{self, MailReference, host};
use crate::pages::mail_files::mail_page::{OriginalHead, OriginalPage, OriginalView};
use crate::pages::mail_files::scaled_pictures;
use crate::visitor::Visitor;

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message)): Path<(String, String)>,
    Asked(asked): Asked,
) -> PageResult {
    let location = PageLocation::at(t!("As it came"), "/inbox?view=open");
    let (mail, id) = (MailReference::message(&conversation, &message)?, message_id(&message)?);
    let (wanted, href) = (conversation.clone(), mail.href());
    let reading = async {
        let (frame, (stored, files)) = web
            .page(&visitor, location, move |tx, cx, _| {
                let files = actions::documents::files::files_of_message(tx, cx, &wanted, &id)?;
                Ok((mail.load_bytes(tx, cx)?, files))
            })
            .await?;
        Ok(((frame, files), stored))
    };
    let take = |_: &(PageLayout, Vec<TimelineFile>), stored: &[u8]| mail::original(stored);
    let ((frame, files), original) = web.take_apart(reading, take).await?;
    let files = files.iter().map(file_view).collect();
    responses::page(&OriginalPage {
        frame,
        head: OriginalHead::Message {
            conversation: format!("/conversations/{conversation}#{message}"),
            headers: format!("{href}/headers"),
        },
        mail: OriginalView::new((format!("{href}/original"), href), &asked, original, files),
    })
}

#[derive(Template)]
#[template(path = "headers.html", whitespace = "minimize")]
struct HeadersPage {
    frame: PageLayout,
    conversation: String,
    message: String,
    fields: Vec<HeaderField>,
}

/// Every field of the header.
pub async fn headers(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message)): Path<(String, String)>,
) -> PageResult {
    let location = PageLocation::at(t!("Header"), "/inbox?view=open");
    let mail = MailReference::message(&conversation, &message)?;
    let reading = web.page(&visitor, location, move |tx, cx, _| mail.load_bytes(tx, cx));
    let take = |_: &PageLayout, stored: &[u8]| Some(mail::header_fields(stored));
    let (frame, fields) = web.take_apart(reading, take).await?;
    responses::page(&HeadersPage { frame, conversation, message, fields })
}

/// The mail's HTML, in a sandboxed frame.
pub async fn html(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> PageResult {
    let mail = MailReference::message(&conversation, &message)?;
    mail_frame::frame(&web, &visitor, mail, &host(&uri, &headers), asked.has("pictures")).await
}

/// A picture that a mail names at another place; the reader asked for it.
pub async fn remote_picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message, number)): Path<(String, String, String)>,
) -> PageResult {
    let mail = MailReference::message(&conversation, &message)?;
    mail_frame::remote_picture(&web, &visitor, mail, &number).await
}

/// A picture that a mail brought, as its frame shows it.
pub async fn frame_picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message, number)): Path<(String, String, String)>,
) -> PageResult {
    let mail = MailReference::message(&conversation, &message)?;
    scaled_pictures::of_mail(&web, &visitor, mail, &number).await
}

/// The same as it came.
pub async fn picture(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path((conversation, message, number)): Path<(String, String, String)>,
) -> PageResult {
    let mail = MailReference::message(&conversation, &message)?;
    mail_frame::inline_picture(&web, &visitor, mail, &number).await
}

/// Always shows the reader the remote pictures of whoever sent this.
pub async fn show_pictures(
    State(web): State<Arc<Web>>,
    Path((conversation, message)): Path<(String, String)>,
    posted: PostedForm,
) -> PageResult {
    let (wanted, id) = (conversation.clone(), message_id(&message)?);
    web.act_quietly(&posted.visitor, move |tx, cx, _| {
        picture_senders::always_show_pictures(tx, cx, &wanted, &id)
    })
    .await?;
    web.redirect(&format!("/conversations/{conversation}#{message}"), Flash::PicturesShown)
}

/// Stops that.
pub async fn hide_pictures(
    State(web): State<Arc<Web>>,
    Path((conversation, message)): Path<(String, String)>,
    posted: PostedForm,
) -> PageResult {
    let (wanted, id) = (conversation.clone(), message_id(&message)?);
    web.act_quietly(&posted.visitor, move |tx, cx, _| {
        picture_senders::stop_showing_pictures(tx, cx, &wanted, &id)
    })
    .await?;
    web.redirect(&format!("/conversations/{conversation}#{message}"), Flash::PicturesHidden)
}

fn message_id(message: &str) -> base::error::Result<MessageId> {
    MessageId::parse(message).ok_or(Error::NotFound("message"))
}
