//! Customers' uploads to a document request, on a page without an account: the link grants access
//! to this request and nothing else.
//!
//! A file arrives in pieces (`arriving`), is checked (`checking` while a scanner cannot be
//! reached), and is then kept or refused. Kept files can be taken back until they are handed over;
//! then they are documents.
//!
//! Customers read the texts of this folder.

mod form_files;
mod naming;
mod page;
mod pieces;
mod scanning;
mod submission;

use base::actor::Actor;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, DocumentId, RequestId, UploadId, WorkspaceId};
use base::limits::{
    UPLOAD_BYTES, UPLOAD_LEFT_MS, UPLOAD_MARK_CHARS, UPLOAD_PAGE_MS, UPLOADS_BYTES,
    UPLOADS_PER_REQUEST, megabytes,
};
use base::string_enum::string_enum;
use base::usage::{self, UsageKind};
use base::workspaces::resting;
use db::Tx;

use crate::conversations::timeline::{self, TimelineEvent};
use crate::documents::file_checks::FileRefusal;
use crate::guests::guest_sessions;
use crate::guests::guest_tokens::{GuestToken, GuestTokenHash};
use crate::mailboxes::CLOSED_ENDING;
use form_files::{forget_refusals, stored_before};
use pieces::{counted_pieces, remove_pieces};

pub use form_files::SentFile;
pub use naming::safe_name;
pub use page::{AskPage, PageFile, PageItem, look};
pub use pieces::remove_bytes;
pub use pieces::{begin_piece, keep_piece};
pub use scanning::scan;
pub use scanning::scan_at;
pub use submission::hand_over_of;
pub use submission::{HandedOver, hand_over};

/// The message for a file that exceeds the size limit per file or per request.
pub fn too_large(size: i64) -> String {
    if size > UPLOAD_BYTES { FileRefusal::TooLarge.sentence() } else { full() }
}

fn full() -> String {
    format!(
        "All files together may have {} MB, and this one would be too much. Remove another one, or \
         answer the e-mail and ask for another way.",
        megabytes(UPLOADS_BYTES)
    )
}

const NO_ROOM: &str = "No more files can be taken here at present. Answer the e-mail instead.";
const TOO_MANY: &str = "There are as many files here as one page takes. Answer the e-mail and ask \
                        for another way.";

string_enum! {
    UploadState {
        Arriving = "arriving",
        Checking = "checking",
        Kept = "kept",
        Filed = "filed",
        Refused = "refused",
        Removed = "removed",
    }
}

/// A request, as accessed by its link.
#[derive(Clone, Debug)]
pub struct Ask {
    pub request: RequestId,
    pub conversation: ConversationId,
    /// Mailroom at work in the request's circle.
    pub actor: Actor,
    pub completed_at: Option<i64>,
    pub closed_at: Option<i64>,
    /// It was asked for in a secure message, so the page is behind the same code.
    secure: bool,
}

impl Ask {
    /// Refuses a browser that has not proven an address that the request went to, where that is
    /// needed, and everybody once its message is closed.
    pub fn must_be_proven(
        &self,
        tx: &mut Tx<'_>,
        browser: Option<GuestTokenHash>,
        now: i64,
    ) -> Result<()> {
        if !self.secure {
            return Ok(());
        }
        let (ws, browser) = (self.actor.ws, browser.ok_or(Error::Unauthorized)?);
        let session = guest_sessions::find(tx, ws, browser, &self.conversation, now)?;
        let session = session.ok_or(Error::Unauthorized)?;
        let open: Option<(i64,)> = tx.opt(
            "SELECT s.expires_at
             FROM document_requests r
             JOIN secure_links l ON l.ws = r.ws AND l.message = r.message
             JOIN secure_messages s ON s.ws = r.ws AND s.message = r.message
             WHERE r.ws = ?1 AND r.id = ?2 AND l.email = ?3
               AND l.revoked_at IS NULL AND s.revoked_at IS NULL AND s.expires_at > ?4",
            &[&ws, &self.request, &session.email, &now],
        )?;
        open.map(drop).ok_or(Error::Unauthorized)
    }

    /// Somebody who adds files stays signed in meanwhile.
    pub fn keep_signed_in(
        &self,
        tx: &mut Tx<'_>,
        browser: Option<GuestTokenHash>,
        now: i64,
    ) -> Result<()> {
        match browser {
            Some(id) if self.secure => {
                guest_sessions::touch(tx, self.actor.ws, id, &self.conversation, now)
            }
            _ => Ok(()),
        }
    }
}

db::row! {
    /// An upload and its state.
    #[derive(Clone, Debug)]
    pub struct Upload from "uploads" {
        pub id: UploadId,
        pub item: i64,
        pub filename: String,
        pub size: i64,
        /// Bytes that are safely here.
        pub received: i64,
        pub state: UploadState,
        pub content_type: String,
        /// Why it was refused.
        pub problem: Option<String>,
        pub document: Option<DocumentId>,
        /// The names of its pieces.
        pub pieces: String,
    }
}

/// The request of a link. Unknown, revoked and expired links give the same error, and those of an inbox that nobody
/// reads any more.
pub fn ask_at(tx: &mut Tx<'_>, token: &str, now: i64) -> Result<Ask> {
    let token = GuestToken::parse(token).ok_or(Error::NotFound("page"))?;
    let found: Option<(i64, RequestId)> = tx.opt(
        "SELECT r.ws, r.id FROM document_requests r
         JOIN conversations c ON c.ws = r.ws AND c.id = r.conversation
         JOIN mailboxes b ON b.ws = c.ws AND b.id = c.mailbox
         WHERE r.token_hash = ?1 AND r.opened_at IS NOT NULL AND r.revoked_at IS NULL
           AND (r.completed_at IS NULL OR r.completed_at > ?2) AND b.address NOT LIKE ?3",
        &[&token.hash(), &(now - UPLOAD_PAGE_MS), &format!("%{CLOSED_ENDING}")],
    )?;
    let (ws, request) = found.ok_or(Error::NotFound("page"))?;
    resting::must_be_open(tx, ws)?;
    ask_of(tx, ws, &request)
}

/// A request by its id, for background jobs.
pub fn ask_of(tx: &mut Tx<'_>, ws: i64, request: &RequestId) -> Result<Ask> {
    type Found = (WorkspaceId, base::actor::Circle, ConversationId, Option<i64>, Option<i64>, bool);
    let found: Option<Found> = tx.opt(
        "SELECT w.id, c.circle, c.id, r.completed_at, r.closed_at, m.secure
         FROM document_requests r
         JOIN messages m ON m.ws = r.ws AND m.id = r.message
         JOIN conversations c ON c.ws = r.ws AND c.id = r.conversation
         JOIN workspaces w ON w.ws = r.ws
         WHERE r.ws = ?1 AND r.id = ?2",
        &[&ws, request],
    )?;
    let (workspace, circle, conversation, completed_at, closed_at, secure) =
        found.ok_or(Error::NotFound("page"))?;
    Ok(Ask {
        request: request.clone(),
        conversation,
        actor: Actor::system(ws, workspace, circle),
        completed_at,
        closed_at,
        secure,
    })
}

/// The input of a new upload.
#[derive(Clone, Debug)]
pub struct NewUpload {
    pub item: i64,
    pub name: String,
    /// `None` when it is only known at its end, as with a plain form.
    pub size: Option<i64>,
    /// The browser's fingerprint of the file; empty when the upload cannot be resumed.
    pub mark: String,
}

/// Makes room for a file, or finds the one that was cut off. The error is a sentence for the
/// customer.
pub fn begin(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    new: &NewUpload,
) -> Result<std::result::Result<Upload, String>> {
    must_be_open(ask)?;
    touch(tx, cx, ask)?;
    must_be_asked_for(tx, cx, ask, new.item)?;
    let mark: String = new.mark.chars().take(UPLOAD_MARK_CHARS).collect();
    if let (false, Some(size)) = (mark.is_empty(), new.size)
        && let Some(begun) = cut_off(tx, cx, ask, new.item, size, &mark)?
    {
        return Ok(Ok(begun));
    }
    for what in [UsageKind::DocumentBytes, UsageKind::Bytes] {
        if !usage::has_room(tx, cx.actor.ws, what)? {
            return Ok(Err(NO_ROOM.into()));
        }
    }
    let (count, bytes) = count_taken(tx, cx, ask)?;
    if count >= UPLOADS_PER_REQUEST {
        return Ok(Err(TOO_MANY.into()));
    }
    let room = UPLOADS_BYTES - bytes;
    match new.size {
        Some(size) if size <= 0 => return Ok(Err(FileRefusal::Empty.sentence())),
        Some(size) if size > room.min(UPLOAD_BYTES) => return Ok(Err(too_large(size))),
        None if room <= 0 => return Ok(Err(full())),
        _ => {}
    }
    let id = UploadId::new(cx.ids, cx.now);
    let size = new.size.unwrap_or(room.min(UPLOAD_BYTES));
    tx.exec(
        "INSERT INTO uploads (
            ws, request, id, item, filename, mark, size, received, state, content_type,
            handed_over, attempts, created_at, due_at, pieces
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 'arriving', '', FALSE, 0, ?8, ?9, '')",
        &[
            &cx.actor.ws,
            &ask.request,
            &id,
            &new.item,
            &safe_name(&new.name),
            &mark,
            &size,
            &cx.now,
            &(cx.now + UPLOAD_LEFT_MS),
        ],
    )?;
    load(tx, ask, &id).map(Ok)
}

fn must_be_open(ask: &Ask) -> Result<()> {
    match ask.closed_at {
        None => Ok(()),
        Some(_) => Err(Error::invalid("page", "Nothing more is needed here.")),
    }
}

/// Locks the request's row, so that changes of its uploads are serialized.
fn touch(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask) -> Result<()> {
    tx.exec(
        "UPDATE document_requests SET touched_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &ask.request, &cx.now],
    )?;
    Ok(())
}

fn must_be_asked_for(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask, item: i64) -> Result<()> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT place FROM requested_documents WHERE ws = ?1 AND request = ?2 AND place = ?3",
        &[&cx.actor.ws, &ask.request, &item],
    )?;
    found.map(drop).ok_or(Error::NotFound("page"))
}

fn cut_off(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    item: i64,
    size: i64,
    mark: &str,
) -> Result<Option<Upload>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM uploads
             WHERE ws = ?1 AND request = ?2 AND item = ?3 AND size = ?4 AND mark = ?5
               AND state = 'arriving'
             ORDER BY id LIMIT 1",
            Upload::COLUMNS
        ),
        &[&cx.actor.ws, &ask.request, &item, &size, &mark],
    )?)
}

/// How many files a request has, and how many bytes they have or will have.
fn count_taken(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask) -> Result<(i64, i64)> {
    Ok(tx.one(
        "SELECT CAST(count(*) AS BIGINT),
                CAST(coalesce(sum(CASE WHEN state IN ('refused', 'removed') THEN 0 ELSE size END), 0)
                     AS BIGINT)
         FROM uploads WHERE ws = ?1 AND request = ?2",
        &[&cx.actor.ws, &ask.request],
    )?)
}

/// One file of a request.
pub fn load(tx: &mut Tx<'_>, ask: &Ask, id: &UploadId) -> Result<Upload> {
    tx.opt(
        &format!(
            "SELECT {} FROM uploads
             WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state <> 'removed'",
            Upload::COLUMNS
        ),
        &[&ask.actor.ws, &ask.request, id],
    )?
    .ok_or(Error::NotFound("file"))
}

/// Records the end of a file of undeclared length, and returns the upload that has it: the earlier one
/// where the form has sent the same file before. Of two nodes that get one form at the same time the later
/// one waits for the request's row, and finds what the other has stored.
pub fn note_end(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    id: &UploadId,
    size: i64,
    sent: Option<&SentFile>,
) -> Result<UploadId> {
    touch(tx, cx, ask)?;
    if let Some(sent) = sent {
        if let Some(earlier) = stored_before(tx, ask, sent)? {
            remove(tx, cx, ask, id)?;
            return Ok(earlier);
        }
        forget_refusals(tx, cx, ask, sent)?;
    }
    let noted = tx.exec(
        "UPDATE uploads SET received = ?4, size = ?4, due_at = ?5, form = ?6
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'arriving'",
        &[
            &cx.actor.ws,
            &ask.request,
            id,
            &size,
            &(cx.now + UPLOAD_LEFT_MS),
            &sent.map(SentFile::key),
        ],
    )?;
    if noted == 0 { Err(Error::NotFound("file")) } else { Ok(id.clone()) }
}

/// Records a refused file, so that the page shows the reason beside its item. A form that sends what it has
/// stored before, now that there is no room for it, is told nothing.
pub fn refuse(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    new: &NewUpload,
    sentence: &str,
    sent: Option<&SentFile>,
) -> Result<()> {
    must_be_open(ask)?;
    touch(tx, cx, ask)?;
    must_be_asked_for(tx, cx, ask, new.item)?;
    if count_taken(tx, cx, ask)?.0 >= UPLOADS_PER_REQUEST {
        return Ok(());
    }
    if let Some(sent) = sent {
        if stored_before(tx, ask, sent)?.is_some() {
            return Ok(());
        }
        forget_refusals(tx, cx, ask, sent)?;
    }
    tx.exec(
        "INSERT INTO uploads (
            ws, request, id, item, filename, mark, size, received, state, content_type, problem,
            handed_over, attempts, created_at, due_at, pieces, form
         ) VALUES (?1, ?2, ?3, ?4, ?5, '', 0, 0, 'refused', '', ?6, FALSE, 0, ?7, ?8, '', ?9)",
        &[
            &cx.actor.ws,
            &ask.request,
            &UploadId::new(cx.ids, cx.now),
            &new.item,
            &safe_name(&new.name),
            &sentence,
            &cx.now,
            &(cx.now + UPLOAD_LEFT_MS),
            &sent.map(SentFile::key),
        ],
    )?;
    Ok(())
}

/// Takes a file back that is not handed over yet. One that is gone already changes nothing.
pub fn remove(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask, id: &UploadId) -> Result<()> {
    touch(tx, cx, ask)?;
    let removed = tx.exec(
        "UPDATE uploads SET state = 'removed', due_at = ?4
         WHERE ws = ?1 AND request = ?2 AND id = ?3
           AND state IN ('arriving', 'checking', 'kept', 'refused') AND handed_over = FALSE",
        &[&cx.actor.ws, &ask.request, id, &cx.now],
    )?;
    if removed > 0 {
        tx.wake(Queue::Uploads);
    }
    Ok(())
}

/// The customer wants no more reminders of this request.
pub fn stop_reminders(tx: &mut Tx<'_>, cx: &Cx<'_>, ask: &Ask) -> Result<()> {
    let stopped = tx.exec(
        "UPDATE document_requests SET stopped_at = ?3, remind_at = NULL
         WHERE ws = ?1 AND id = ?2 AND stopped_at IS NULL",
        &[&cx.actor.ws, &ask.request, &cx.now],
    )?;
    if stopped == 0 {
        return Ok(());
    }
    let stopped = TimelineEvent::RemindersStopped { request_id: ask.request.clone() };
    timeline::record(tx, cx, &ask.conversation, &stopped)
}
