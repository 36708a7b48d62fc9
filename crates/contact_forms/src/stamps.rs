//! When the page of a contact form was made: signed and in a hidden field, so that neither a cookie nor a row
//! is needed.

use base::app::Cx;
use base::error::Result;
use base::files::blobs::hex;
use base::ids::ContactFormId;
use base::limits::FORM_OPEN_MS;
use db::Tx;
use model::guests::guest_forms::GuestFormId;
use model::guests::guest_tokens::{GuestTokenHash, keyed_digest};

/// A page that was shown: when, and the id that tells it from any other.
#[derive(Clone, Debug)]
pub struct FormStamp {
    pub made_at: i64,
    pub id: GuestFormId,
}

impl FormStamp {
    pub fn new(cx: &Cx<'_>) -> FormStamp {
        FormStamp { made_at: cx.now, id: GuestFormId::new(cx.ids) }
    }

    /// As the page of this form carries it.
    pub fn sign(&self, tx: &mut Tx<'_>, cx: &Cx<'_>, form: &ContactFormId) -> Result<String> {
        let text = format!("{}.{}", self.made_at, self.id.as_str());
        let digest = keyed_digest(tx, cx, &format!("contact form {form} {text}"))?;
        Ok(format!("{text}.{}", hex(&digest)))
    }

    /// `None` for what no page of this form carried, or one that was open for too long.
    pub fn verify(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        form: &ContactFormId,
        written: &str,
    ) -> Result<Option<FormStamp>> {
        let mut parts = written.splitn(3, '.');
        let made_at = parts.next().and_then(|at| at.parse().ok());
        let (Some(made_at), Some(id)) = (made_at, parts.next().and_then(GuestFormId::parse)) else {
            return Ok(None);
        };
        let stamp = FormStamp { made_at, id };
        let signed = stamp.sign(tx, cx, form)?;
        // Hashes are compared, so that the time it takes tells nothing.
        if GuestTokenHash::of(&signed) != GuestTokenHash::of(written) {
            return Ok(None);
        }
        Ok((cx.now - made_at <= FORM_OPEN_MS).then_some(stamp))
    }
}
