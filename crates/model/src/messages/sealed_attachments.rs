//! Files and pictures of unsent texts. They are sealed from the start, because any text may become a
//! secure message until it is sent; an ordinary message gets them opened.

use std::io;

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::files::blobs::{self, Blob, Blobs};
use base::ids::{AttachmentId, Ids, UserId};
use db::Tx;

use crate::erasure;
use crate::guests::secure::{self, ProtectedFile};
use crate::installation::sealing;
use crate::messages::attachments::{self, OutgoingAttachment};

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
        tx.exec_soon(
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
                &sealed_key(cx, file),
            ],
        )?;
    }
    Ok(())
}

/// The key and the name of a file, as its row has them.
fn sealed_key(cx: &Cx<'_>, file: &ProtectedFile) -> String {
    let purpose = sealing::attachment_purpose(cx.actor.ws, &file.id);
    sealing::seal(cx, &purpose, &format!("{}{BREAK}{}", file.key, file.filename))
}

/// The files of an unsent text, with their names.
pub fn list(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
) -> Result<Vec<OutgoingAttachment>> {
    let mut files = attachments::unsent(tx, cx.actor.ws, place, person)?;
    for file in files.iter_mut().filter(|file| file.is_sealed()) {
        file.filename = open(tx, cx, &file.id)?.filename;
    }
    Ok(files)
}

/// One sealed file, opened for its writer.
pub fn open(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &AttachmentId) -> Result<ProtectedFile> {
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
    let digest = String::new();
    Ok(ProtectedFile { id: id.clone(), filename, content_type, size, hash, key, digest })
}

/// A file that is not as the message it goes with wants it: sealed for a secure message, open for an
/// ordinary one.
pub struct UnfitFile {
    id: AttachmentId,
    filename: String,
    content_type: String,
    bytes: Vec<u8>,
    /// The name of its bytes as they are kept.
    hash: String,
    is_sealed: bool,
}

/// The files of an unsent text that do not fit a message, with their bytes. Files of saved replies and
/// of messages that were stopped are open.
pub fn unfit(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
    is_secure: bool,
) -> Result<Vec<UnfitFile>> {
    let mut unfit = Vec::new();
    for file in attachments::unsent(tx, cx.actor.ws, place, person)? {
        let is_sealed = file.is_sealed();
        if is_sealed == is_secure {
            continue;
        }
        let hash = file.hash().to_owned();
        let (filename, bytes) = if is_sealed {
            let file = open(tx, cx, &file.id)?;
            let bytes = secure::file_bytes(tx, cx, &file)?;
            (file.filename, bytes)
        } else {
            let bytes = cx.blobs.get(tx, cx.actor.ws, &hash)?.ok_or(Error::NotFound("file"))?;
            (file.filename, bytes)
        };
        let (id, content_type) = (file.id, file.content_type);
        unfit.push(UnfitFile { id, filename, content_type, bytes, hash, is_sealed });
    }
    Ok(unfit)
}

/// A file in the form that fits; its bytes are stored.
pub struct RefittedFile {
    form: FileForm,
    /// The name of its bytes in the other form.
    was: String,
}

enum FileForm {
    Open { id: AttachmentId, filename: String, blob: Blob },
    Sealed { file: ProtectedFile, blob: Blob },
}

impl UnfitFile {
    /// Stores its bytes in the other form. Call it outside of a transaction.
    pub fn refit(self, (blobs, ids): (&Blobs, &Ids)) -> io::Result<RefittedFile> {
        let UnfitFile { id, filename, content_type, bytes, hash, is_sealed } = self;
        let form = if is_sealed {
            FileForm::Open { blob: blobs.put(&bytes)?, id, filename }
        } else {
            let sealed = secure::seal_file_as((blobs, ids), id, filename, content_type, &bytes)?;
            FileForm::Sealed { file: sealed.0, blob: sealed.1 }
        };
        Ok(RefittedFile { form, was: hash })
    }
}

/// Gives the files of an unsent text their other form, and forgets the bytes of the first.
pub fn replace(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
    files: &[RefittedFile],
) -> Result<()> {
    let ws = cx.actor.ws;
    for RefittedFile { form, was } in files {
        let (id, filename, blob, key) = match form {
            FileForm::Open { id, filename, blob } => (id, filename.as_str(), blob, None),
            FileForm::Sealed { file, blob } => (&file.id, "", blob, Some(sealed_key(cx, file))),
        };
        blobs::keep(tx, ws, blob)?;
        tx.exec_soon(
            "UPDATE attachments SET filename = ?6, hash = ?7, key = ?8
             WHERE ws = ?1 AND id = ?2 AND conversation = ?3 AND person = ?4 AND hash = ?5
               AND message IS NULL",
            &[&ws, id, &place, person, was, &filename, &blob.hash, &key],
        )?;
        // Whoever took the file off meanwhile leaves both forms without use.
        for hash in [was, &blob.hash] {
            erasure::forget_bytes(tx, ws, hash, cx.now)?;
        }
    }
    tx.wake(Queue::Trash);
    Ok(())
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
            return Err(unfit_error());
        }
        taken.push(open(tx, cx, &file.id)?);
    }
    attachments::remove_all(tx, cx.actor.ws, place, person)?;
    Ok(taken)
}

/// Refuses an ordinary message whose files are still sealed.
pub fn must_be_open(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &str, person: &UserId) -> Result<()> {
    let files = attachments::unsent(tx, cx.actor.ws, place, person)?;
    match files.iter().any(OutgoingAttachment::is_sealed) {
        true => Err(unfit_error()),
        false => Ok(()),
    }
}

/// A file or an answer on a page came between the preparation of the files and the sending.
fn unfit_error() -> Error {
    Error::invalid("files", "The files changed meanwhile. Nothing was sent; send it again.")
}

/// Takes one file off an unsent text.
pub fn remove(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    place: &str,
    person: &UserId,
    id: &AttachmentId,
) -> Result<()> {
    let ws = cx.actor.ws;
    let files = attachments::unsent(tx, ws, place, person)?;
    let file = files.into_iter().find(|file| file.id == *id).ok_or(Error::NotFound("file"))?;
    attachments::remove(tx, ws, place, person, id)?;
    forget(tx, cx, &[file])
}

/// Takes all files off an unsent text.
pub fn discard(tx: &mut Tx<'_>, cx: &Cx<'_>, place: &str, person: &UserId) -> Result<()> {
    let files = attachments::unsent(tx, cx.actor.ws, place, person)?;
    attachments::remove_all(tx, cx.actor.ws, place, person)?;
    forget(tx, cx, &files)
}

/// Forgets the bytes of files that were taken off.
fn forget(tx: &mut Tx<'_>, cx: &Cx<'_>, files: &[OutgoingAttachment]) -> Result<()> {
    for file in files {
        erasure::forget_bytes(tx, cx.actor.ws, file.hash(), cx.now)?;
    }
    if !files.is_empty() {
        tx.wake(Queue::Trash);
    }
    Ok(())
}
