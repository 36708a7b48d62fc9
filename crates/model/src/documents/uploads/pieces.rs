//! The pieces that a file arrives in, each by a request of its own that any node may serve. A piece is
//! named in the row before its first byte is written, so that nothing is ever left that no row knows;
//! it counts once the row says so.

use base::app::{App, Cx};
use base::error::{Error, Result};
use base::files::partial_uploads::UploadPiece;
use base::ids::UploadId;
use base::limits::{UPLOAD_LEFT_MS, UPLOAD_PIECES};
use db::Tx;

use crate::documents::uploads::{Ask, Upload, load};

/// Before the name of a piece that does not count yet.
const PENDING: char = '?';
const TOO_MANY_PIECES: &str = "This file came in too many pieces. Remove it and send it again.";

/// Makes room for the bytes that a request brings from an offset on; `None` when the file is elsewhere
/// than the client thinks.
pub fn begin_piece(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    upload: &Upload,
    offset: i64,
) -> Result<Option<UploadPiece>> {
    let now = load(tx, ask, &upload.id)?;
    if now.received != offset {
        return Ok(None);
    }
    if now.pieces.split_whitespace().count() >= UPLOAD_PIECES {
        return Err(Error::invalid("file", TOO_MANY_PIECES));
    }
    let piece = UploadPiece::new(&upload.id, offset, cx.ids);
    let pieces = format!("{} {PENDING}{}", now.pieces, piece.as_str());
    let noted = tx.exec(
        "UPDATE uploads SET pieces = ?4
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'arriving'",
        &[&cx.actor.ws, &ask.request, &upload.id, &pieces.trim()],
    )?;
    Ok((noted > 0).then_some(piece))
}

/// Writes down that so many bytes of a piece are safely here. False when another request was faster: the
/// piece does not count then, and is forgotten.
pub fn keep_piece(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    from: &Upload,
    (piece, bytes): (&UploadPiece, i64),
) -> Result<bool> {
    let now = load(tx, ask, &from.id)?;
    let pending = format!("{PENDING}{}", piece.as_str());
    let counts = now.received == from.received && bytes > 0;
    let pieces: Vec<&str> = now
        .pieces
        .split_whitespace()
        .filter_map(|name| match name == pending {
            true => counts.then_some(piece.as_str()),
            false => Some(name),
        })
        .collect();
    let received = if counts { from.received + bytes } else { now.received };
    let noted = tx.exec(
        "UPDATE uploads SET received = ?4, due_at = ?5, pieces = ?6
         WHERE ws = ?1 AND request = ?2 AND id = ?3 AND state = 'arriving' AND size >= ?4",
        &[
            &cx.actor.ws,
            &ask.request,
            &from.id,
            &received,
            &(cx.now + UPLOAD_LEFT_MS),
            &pieces.join(" "),
        ],
    )?;
    if noted == 0 { Err(Error::NotFound("file")) } else { Ok(counts) }
}

/// The pieces that count, in their order.
pub fn counted_pieces(id: &UploadId, pieces: &str) -> Vec<UploadPiece> {
    pieces.split_whitespace().filter_map(|name| UploadPiece::parse(id, name)).collect()
}

/// Removes the bytes of an upload, also those that never counted.
pub fn remove_bytes(app: &App, id: &UploadId, pieces: &str) -> Result<()> {
    remove_pieces(app, id, pieces)?;
    Ok(app.blobs.partial_uploads().remove(id)?)
}

/// Removes the pieces, and leaves the whole file.
pub fn remove_pieces(app: &App, id: &UploadId, pieces: &str) -> Result<()> {
    for name in pieces.split_whitespace() {
        if let Some(piece) = UploadPiece::parse(id, name.trim_start_matches(PENDING)) {
            app.blobs.partial_uploads().remove_piece(&piece)?;
        }
    }
    Ok(())
}
