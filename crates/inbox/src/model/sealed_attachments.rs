//! Files that were attached while a secure message was being written. They are sealed from the start
//! and go with a secure message only.

use db::Tx;

use crate::app::Cx;
use crate::base::blobs::{self, Blob};
use crate::base::error::{Error, Result};
use crate::base::ids::{AttachmentId, UserId};
use crate::model::attachments::{self, OutgoingAttachment};
use crate::model::sealing;
use crate::model::secure::ProtectedFile;

/// Between the key and the name, in what is sealed of a file.
const BREAK: char = '\n';

/// Adds sealed files to an unsent text, all of them or none.
pub fn add(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
    files: &[(ProtectedFile, Blob)],
) -> Result<()> {
    let sizes: Vec<i64> = files.iter().map(|(file, _)| file.size).collect();
    attachments::must_fit(tx, cx.actor.ws, place, person, &sizes)?;
    for (file, blob) in files {
        blobs::keep(tx, cx.actor.ws, blob)?;
        let purpose = sealing::attachment_purpose(cx.actor.ws, &file.id);
        let key = sealing::seal(cx, &purpose, &format!("{}{BREAK}{}", file.key, file.filename));
        tx.exec(
            "INSERT INTO attachments (
                ws, id, conversation, person, filename, content_type, size, hash, created_at, key
             ) VALUES (?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8, ?9)",
            &[
                &cx.actor.ws,
                &file.id,
                &place,
                person,
                &file.content_type,
                &file.size,
                &file.hash,
                &cx.now,
                &key,
            ],
        )?;
    }
    Ok(())
}

/// The files of an unsent text, with their names.
pub fn named(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
) -> Result<Vec<OutgoingAttachment>> {
    let mut files = attachments::unsent(tx, cx.actor.ws, place, person)?;
    for file in files.iter_mut().filter(|file| file.is_sealed()) {
        file.filename = opened(tx, cx, &file.id)?.filename;
    }
    Ok(files)
}

/// One sealed file, opened for its writer.
pub fn opened(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AttachmentId) -> Result<ProtectedFile> {
    let found: Option<(Option<String>, String, i64, String)> = tx.opt(
        "SELECT key, content_type, size, hash FROM attachments WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    let Some((Some(kept), content_type, size, hash)) = found else {
        return Err(Error::NotFound("file"));
    };
    let text = sealing::unseal(cx.sealer, &sealing::attachment_purpose(cx.actor.ws, id), kept)?;
    let (key, filename) = text.split_once(BREAK).ok_or(Error::NotFound("file"))?;
    let (key, filename) = (key.to_owned(), filename.to_owned());
    Ok(ProtectedFile { id: id.clone(), filename, content_type, size, hash, key })
}

/// Takes the files of an unsent text for the secure message that it becomes.
pub fn take(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
) -> Result<Vec<ProtectedFile>> {
    let mut taken = Vec::new();
    for file in attachments::unsent(tx, cx.actor.ws, place, person)? {
        if !file.is_sealed() {
            return Err(mismatch("before the message was protected"));
        }
        taken.push(opened(tx, cx, &file.id)?);
    }
    attachments::remove_all(tx, cx.actor.ws, place, person)?;
    Ok(taken)
}

/// Refuses an ordinary message whose files are sealed.
pub fn must_be_none(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &str, person: &UserId) -> Result<()> {
    let files = attachments::unsent(tx, cx.actor.ws, place, person)?;
    match files.iter().any(OutgoingAttachment::is_sealed) {
        true => Err(mismatch("while the message was protected")),
        false => Ok(()),
    }
}

fn mismatch(when: &str) -> Error {
    let sentence = format!("A file was attached {when}. Remove it and attach it again.");
    Error::invalid("files", sentence)
}
