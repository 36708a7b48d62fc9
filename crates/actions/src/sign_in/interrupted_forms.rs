//! Forms that arrived after their writer's session had ended: what was typed is kept, sealed, until
//! the same person signs in again in the same browser.

use base::app::Cx;
use base::error::Result;
use base::ids::UserId;
use base::limits::{INTERRUPTED_FORM_MS, INTERRUPTED_FORMS_PER_NETWORK};
use db::Tx;
use model::installation::sealing;

use crate::sign_in::sessions::{TokenHash, count_sign_in_attempt, own_id};
use crate::sign_in::sign_in_steps::{
    NewStep, SignInStep, SignInStepKind, begin_step, look_at_step, take_step,
};

/// A form that nobody could take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedForm {
    /// The address that it was posted to.
    pub path: String,
    /// Its fields, as a form writes them.
    pub fields: String,
}

/// Keeps a form for the person who wrote it, and answers the token that its browser gets. `None` where
/// too many came from one network.
pub fn keep_interrupted_form(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    network: &str,
    writer: &UserId,
    form: &InterruptedForm,
) -> Result<Option<String>> {
    let what = format!("forms of {network}");
    if !count_sign_in_attempt(tx, &what, INTERRUPTED_FORMS_PER_NETWORK, cx.now)? {
        return Ok(None);
    }
    let step = NewStep {
        // Nobody is signed in, so the workspace is not known.
        ws: 0,
        kind: SignInStepKind::Form,
        person: writer.as_str(),
        opens_private: false,
        next: &form.path,
        data: &sealing::seal(cx, &sealing::interrupted_form_purpose(writer), &form.fields),
        works_ms: INTERRUPTED_FORM_MS,
    };
    begin_step(tx, cx.ids, cx.now, &step).map(Some)
}

/// What the actor had typed in this browser when their session was over; `None` where it is somebody
/// else's.
pub fn look_at_interrupted_form(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    token: &TokenHash,
) -> Result<Option<InterruptedForm>> {
    let Some(step) = own_step(tx, cx, token)? else { return Ok(None) };
    let purpose = sealing::interrupted_form_purpose(own_id(cx)?);
    let fields = sealing::unseal(cx.sealer, &purpose, step.data)?;
    Ok(Some(InterruptedForm { path: step.next, fields }))
}

/// Deletes what the actor had typed in this browser. Somebody else's is left for them.
pub fn forget_interrupted_form(tx: &mut Tx<'_>, cx: &Cx<'_>, token: &TokenHash) -> Result<()> {
    if own_step(tx, cx, token)?.is_some() {
        take_step(tx, token, SignInStepKind::Form, cx.now)?;
    }
    Ok(())
}

fn own_step(tx: &mut Tx<'_>, cx: &Cx<'_>, token: &TokenHash) -> Result<Option<SignInStep>> {
    let me = own_id(cx)?;
    let found = look_at_step(tx, token, SignInStepKind::Form, cx.now)?;
    Ok(found.filter(|step| step.person().as_ref() == Some(me)))
}
