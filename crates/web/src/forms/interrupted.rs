//! Forms of somebody whose session is over: what they typed is kept until they have signed in again,
//! and then stands where they wrote it.

use std::sync::Arc;

use actions::sign_in::interrupted_forms;
use askama::Template;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::middleware::Next;
use base::actor::Actor;
use base::error::Error;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, Form, FormFields};
use crate::forms::left_form::{LeftForm, is_text};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageError, PageResult, see_other};
use crate::pages::signing_in::sign_in::SignInRedirect;
use crate::pages::writing::unsent::{self, UnsentForm};
use crate::visitor::Visitor;

/// Keeps the form of a response that leads to signing in, and leads there by way of what was typed.
pub async fn keep(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response<Body> {
    let mut response = next.run(request).await;
    let Some(left) = response.extensions_mut().remove::<Arc<LeftForm>>() else { return response };
    let (app, form) = (web.app.clone(), Arc::clone(&left));
    let kept = web
        .app
        .store
        .write(move |tx| {
            let operator = Actor::operator(&app.ids);
            let LeftForm { writer, form, network, .. } = &*form;
            interrupted_forms::keep_interrupted_form(tx, &app.cx(&operator), network, writer, form)
        })
        .await;
    match kept {
        Ok(Some(token)) => {
            let query = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("then", &left.page)
                .finish();
            let mut response = see_other(&format!("/unsent?{query}"));
            web.set_unsent(&mut response, &token);
            response
        }
        Ok(None) => response,
        Err(error) => {
            if !error.is_outage() {
                tracing::warn!(%error, "a form without a session could not be kept");
            }
            response
        }
    }
}

#[derive(Template)]
#[template(path = "unsent.html", whitespace = "minimize")]
struct UnsentPage {
    frame: PageLayout,
    texts: Vec<String>,
    back: String,
}

/// Puts what was typed back into its composer, or shows it where there is none.
pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let then = SignInRedirect::of(&asked.get("then"));
    web.read(&visitor, |_, _, _| Ok(())).await?;
    let Some(token) = visitor.unsent else { return Ok(then.go()) };
    let found = web
        .read(&visitor, move |tx, cx, _| {
            interrupted_forms::look_at_interrupted_form(tx, cx, &token)
        })
        .await?;
    let Some(form) = found else { return Ok(then.go()) };
    let fields = FormFields::read(form.fields.as_bytes());
    let mut response = match fill_composer(&web, &visitor, &form.path, &fields).await? {
        Some(path) => web.redirect(&path, Flash::TextKept)?,
        None => {
            let location = PageLocation::new(t!("What you typed"));
            let (frame, ()) = web.page(&visitor, location, |_, _, _| Ok(())).await?;
            let typed = fields
                .pairs()
                .iter()
                .filter(|(name, text)| is_text(name) && !text.trim().is_empty());
            let texts = typed.map(|(_, text)| text.clone()).collect();
            web.show(&visitor, &UnsentPage { frame, texts, back: then.to_string() })?
        }
    };
    // Only now is it safe elsewhere: after an error it can be asked for again.
    web.act_quietly(&visitor, move |tx, cx, _| {
        interrupted_forms::forget_interrupted_form(tx, cx, &token)
    })
    .await?;
    web.clear_unsent(&mut response);
    Ok(response)
}

/// The page of the composer that has the text now; `None` for a form without one. A form without a text
/// is none for it: what the composer has kept would be deleted.
async fn fill_composer(
    web: &Web,
    visitor: &Visitor,
    path: &str,
    fields: &FormFields,
) -> Result<Option<String>, PageError> {
    let conversation = match path.strip_prefix("/conversations/").and_then(|it| it.split_once('/'))
    {
        Some((id, "reply" | "note")) => Some(id),
        Some(_) => return Ok(None),
        None if path == "/new" => None,
        None => return Ok(None),
    };
    let Ok(form) = UnsentForm::read(fields) else { return Ok(None) };
    if form.body.trim().is_empty() {
        return Ok(None);
    }
    let write = form.kind.as_str();
    match unsent::keep(web, visitor, conversation, form).await {
        Ok(_) => {}
        // It was moved where the writer does not see it, or is too long to keep.
        Err(PageError::Domain(Error::NotFound(_) | Error::Invalid(_))) => return Ok(None),
        Err(refusal) => return Err(refusal),
    }
    Ok(Some(match conversation {
        Some(id) => format!("/conversations/{id}?write={write}#body"),
        None => "/new".to_owned(),
    }))
}
