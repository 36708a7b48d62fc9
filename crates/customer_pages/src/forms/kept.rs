//! What was typed into a form that cannot be looked at, because the database is away or the disk is full: it
//! stands on the page, to be sent again.

use askama::Template;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use base::limits::FORM_FIELDS;
use web::forms::form::FormFields;
use web::layout::filters;
use web::layout::responses::{ask_to_wait, html, let_sites_frame};

use super::FormPlace;

/// Fields of a page beside the form's own.
const OTHER_FIELDS: usize = 8;

#[derive(Template)]
#[template(path = "contact_form_kept.html", whitespace = "minimize")]
struct KeptFormPage {
    action: String,
    name: String,
    email: String,
    message: String,
    /// The others, as they came.
    others: Vec<(String, String)>,
    had_files: bool,
}

/// The page on which nothing that was typed is lost.
pub(super) fn page(
    (slug, place): (&str, FormPlace),
    typed: &FormFields,
    had_files: bool,
) -> Response<Body> {
    let is_shown = |name: &str| matches!(name, "name" | "email" | "message");
    let others = typed.pairs().iter().filter(|(name, _)| !is_shown(name));
    let page = KeptFormPage {
        action: place.path(slug),
        name: typed.get("name"),
        email: typed.get("email"),
        message: typed.get("message"),
        others: others.take(FORM_FIELDS + OTHER_FIELDS).cloned().collect(),
        had_files,
    };
    let mut response = html(StatusCode::SERVICE_UNAVAILABLE, &page);
    ask_to_wait(&mut response);
    if place == FormPlace::Frame {
        // The sites of the form are in the database. The page has nothing but what its reader typed.
        let_sites_frame(&mut response, &["*".to_owned()]);
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn what_was_typed_in_a_frame_is_shown_in_the_frame() {
        let typed = FormFields::of(vec![("message".to_owned(), "Where is it?".to_owned())]);
        for (place, is_framed) in [(FormPlace::Frame, true), (FormPlace::OwnPage, false)] {
            let response = page(("contact", place), &typed, false);
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            let headers = response.headers();
            assert_eq!(headers.get(header::X_FRAME_OPTIONS).is_none(), is_framed);
            let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().expect("a policy");
            assert_eq!(policy.contains("frame-ancestors 'self' *;"), is_framed, "{policy}");
        }
    }
}
