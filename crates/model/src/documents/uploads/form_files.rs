//! Files of a plain form, which the back button, a reload or a second click sends again: a file that came
//! whole is stored once for each form, and a refusal is said once.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::files::blobs::hex;
use base::ids::UploadId;
use db::Tx;

use crate::documents::uploads::{Ask, NewUpload, safe_name};
use crate::guests::guest_forms::GuestFormId;
use crate::guests::guest_tokens::GuestTokenHash;

/// A file as a form sent it. The same one again has the same form, item, name and bytes. The name alone
/// does not do: some cameras give every photo the same one.
#[derive(Clone, Debug)]
pub struct SentFile {
    /// `None` when it did not arrive whole.
    whole: Option<GuestTokenHash>,
    cut_off: GuestTokenHash,
}

impl SentFile {
    /// `digest` is that of all its bytes; `None` when they did not all arrive.
    pub fn new(form: &GuestFormId, new: &NewUpload, digest: Option<&[u8]>) -> SentFile {
        let name = safe_name(&new.name);
        let hash = |bytes: &str| form.hash(&format!("upload form {} {bytes} {name}", new.item));
        SentFile { whole: digest.map(|digest| hash(&hex(digest))), cut_off: hash("cut off") }
    }

    /// What the row of its upload keeps.
    pub(super) fn key(&self) -> GuestTokenHash {
        self.whole.unwrap_or(self.cut_off)
    }
}

/// The upload that the form stored of this file before. One that was removed or refused is taken anew.
pub(super) fn stored_before(
    tx: &mut Tx<'_>,
    ask: &Ask,
    sent: &SentFile,
) -> Result<Option<UploadId>> {
    let Some(whole) = sent.whole else { return Ok(None) };
    let found: Option<(UploadId,)> = tx.opt(
        "SELECT id FROM uploads
         WHERE ws = ?1 AND request = ?2 AND form = ?3
           AND state <> 'removed' AND state <> 'refused'",
        &[&ask.actor.ws, &ask.request, &whole],
    )?;
    Ok(found.map(|(id,)| id))
}

/// Puts away what was said of this file when the form sent it before.
pub(super) fn forget_refusals(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ask: &Ask,
    sent: &SentFile,
) -> Result<()> {
    let mut forgotten = 0;
    for key in sent.whole.into_iter().chain([sent.cut_off]) {
        forgotten += tx.exec(
            "UPDATE uploads SET state = 'removed', due_at = ?4
             WHERE ws = ?1 AND request = ?2 AND form = ?3 AND state = 'refused'",
            &[&cx.actor.ws, &ask.request, &key, &cx.now],
        )?;
    }
    if forgotten > 0 {
        tx.wake(Queue::Uploads);
    }
    Ok(())
}
