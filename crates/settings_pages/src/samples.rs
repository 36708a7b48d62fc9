//! The sample of a workspace: made, gone into, left and deleted.

use std::sync::Arc;

use actions::workspace::samples;
use axum::extract::State;
use axum::http::HeaderMap;
use base::app::App;
use base::error::Error;
use db::Tx;
use web::Web;
use web::forms::form::PostedForm;
use web::layout::flash::Flash;
use web::layout::responses::{PageResult, see_other};
use web::visitor::Visitor;

use actions::sign_in::sessions;

/// The part of the page of the data with the sample.
const SECTION: &str = "/settings/data#sample-h";

/// Makes the sample, and goes in.
pub async fn make(
    State(web): State<Arc<Web>>,
    headers: HeaderMap,
    posted: PostedForm,
) -> PageResult {
    let ws = web
        .read(&posted.visitor, |tx, cx, me| {
            samples::must_have_room(tx, cx, me)?;
            Ok(cx.actor.ws)
        })
        .await?;
    match (web.fill_sample)(web.app.clone(), ws).await {
        Ok(()) => web.act(&posted.visitor, |tx, cx, _| samples::record_made(tx, cx)).await?,
        // Another click has made it meanwhile.
        Err(Error::Conflict(_)) => {}
        Err(error) => return Err(error.into()),
    }
    go_in(&web, &headers, &posted.visitor).await
}

pub async fn enter(
    State(web): State<Arc<Web>>,
    headers: HeaderMap,
    posted: PostedForm,
) -> PageResult {
    go_in(&web, &headers, &posted.visitor).await
}

async fn go_in(web: &Web, headers: &HeaderMap, visitor: &Visitor) -> PageResult {
    let (app, device): (App, _) = (web.app.clone(), visitor.device.clone());
    let session = web
        .act_quietly(visitor, move |tx, cx, _| {
            cx.actor.must_administer()?;
            samples::enter_sample(tx, &app, cx.actor.ws, &device)
        })
        .await?;
    let mut response = see_other("/inbox?view=open");
    web.set_sample_session(&mut response, headers, &session);
    Ok(response)
}

/// Ends the look around, and returns to the session from before.
pub async fn leave(
    State(web): State<Arc<Web>>,
    headers: HeaderMap,
    posted: PostedForm,
) -> PageResult {
    let visitor = &posted.visitor;
    web.act_quietly(visitor, |tx, cx, me| {
        if me.sample.is_none() {
            return Err(Error::invalid("sample", "This is your own workspace."));
        }
        sessions::end_session(tx, cx, &me.session)
    })
    .await?;
    let mut response = web.redirect("/", Flash::SampleLeft)?;
    web.set_home_session(&mut response, &headers);
    Ok(response)
}

pub async fn delete(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let delete = |tx: &mut Tx<'_>, cx: &base::app::Cx<'_>, _: &sessions::SignedIn| {
        samples::delete_sample(tx, cx)
    };
    web.act(&posted.visitor, delete).await?;
    web.redirect(SECTION, Flash::SampleDeleted)
}
