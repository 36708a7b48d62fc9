//! The files and pictures of unsent texts.

use base::actor::Principal;
use base::app::Cx;
use base::error::Result;
use base::files::blobs::Blob;
use base::ids::AttachmentId;
use db::Tx;
use model::guests::secure::{self, ProtectedFile};
use model::messages::attachments::OutgoingAttachment;
use model::messages::sealed_attachments::{self, RefittedFile, UnfitFile};
use model::{conversations, mailboxes};

use crate::sign_in::sessions::own_id;
use crate::writing::autosaves::{AutosaveKey, forget_autosave};
use crate::writing::compose::NewReply;

/// Adds files to the actor's unsent text; they are sealed already.
pub fn attach(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    files: &[(ProtectedFile, Blob)],
) -> Result<()> {
    sealed_attachments::add(tx, cx, place.key(), own_id(cx)?, files)
}

/// Takes one of these files off again.
pub fn take_out(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    file: &AttachmentId,
) -> Result<()> {
    sealed_attachments::remove(tx, cx, place.key(), own_id(cx)?, file)
}

/// The files of the actor's unsent text.
pub fn list(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &AutosaveKey) -> Result<Vec<OutgoingAttachment>> {
    match &cx.actor.who {
        Principal::Person { id: me, .. } => sealed_attachments::list(tx, cx, place.key(), me),
        _ => Ok(Vec::new()),
    }
}

/// Deletes the actor's unsent text and its files.
pub fn discard_autosave(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &AutosaveKey) -> Result<()> {
    sealed_attachments::discard(tx, cx, place.key(), own_id(cx)?)?;
    forget_autosave(tx, cx, place)
}

/// The files of the actor's unsent text that have to be sealed or opened before it is sent as this
/// message. `mailbox` is the inbox of a first mail.
pub fn unfit_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    mailbox: &str,
    message: &NewReply,
) -> Result<Vec<UnfitFile>> {
    let (mailbox, by_itself) = match place {
        AutosaveKey::Conversation(id) => {
            let conversation = conversations::load(tx, cx.actor, id.as_str())?;
            (Some(conversation.mailbox), conversation.secure_answer)
        }
        AutosaveKey::New => (mailboxes::find(tx, cx.actor, mailbox)?.map(|inbox| inbox.id), false),
    };
    let always = match mailbox {
        Some(mailbox) => secure::is_always_secure(tx, cx.actor.ws, &mailbox)?,
        None => false,
    };
    let is_secure = always || message.secure_wish().secure.unwrap_or(by_itself);
    sealed_attachments::unfit(tx, cx, place.key(), own_id(cx)?, is_secure)
}

/// Puts these files in their other form into the actor's unsent text.
pub fn refit_files(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &AutosaveKey,
    files: &[RefittedFile],
) -> Result<()> {
    sealed_attachments::replace(tx, cx, place.key(), own_id(cx)?, files)
}
