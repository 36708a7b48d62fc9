//! A form as it was posted, after the checks that every form passes.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::header;

use crate::http::request_body::{LARGE_BODIES_EACH, RequestBody};
use crate::http::slots::SlotOwner;
use crate::web::Web;
use crate::web::layout::responses::PageError;
use crate::web::visitor::{Visitor, is_from_here};

/// The largest form, in bytes. Who is not signed in sends small ones only.
pub const FORM_BYTES: usize = 1024 * 1024;
/// A form must have arrived by then.
const FORM_TIME: Duration = Duration::from_secs(30);

/// The fields of a query or a form.
#[derive(Clone, Debug, Default)]
pub struct FormFields(Vec<(String, String)>);

impl FormFields {
    pub fn read(text: &[u8]) -> FormFields {
        FormFields(url::form_urlencoded::parse(text).into_owned().collect())
    }

    pub fn of(pairs: Vec<(String, String)>) -> FormFields {
        FormFields(pairs)
    }

    /// A field's text, line ends as we keep them; empty when it is not there.
    pub fn get(&self, name: &str) -> String {
        let found = self.0.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.replace("\r\n", "\n")).unwrap_or_default()
    }

    pub fn opt(&self, name: &str) -> Option<String> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }

    pub fn all(&self, name: &str) -> Vec<String> {
        let found = self.0.iter().filter(|(found, _)| found == name);
        found.map(|(_, value)| value.clone()).collect()
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.get(name).parse().ok()
    }
}

/// A form that came from a page of ours, of this very session.
pub struct Posted {
    pub visitor: Visitor,
    pub fields: FormFields,
}

impl FromRequest<Arc<Web>> for Posted {
    type Rejection = PageError;

    async fn from_request(request: Request, web: &Arc<Web>) -> Result<Self, PageError> {
        let (parts, body) = request.into_parts();
        let visitor = Visitor::of(&parts, web);
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_form =
            kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        if !is_form || !is_from_here(&parts.headers) {
            return Err(PageError::Foreign);
        }
        let mut body = RequestBody::new(&parts.headers, body, FORM_BYTES, FORM_TIME);
        let bytes = match body.small().await.map_err(|_| PageError::TooLarge)? {
            Some(small) => small,
            None => {
                let person = web.read(&visitor, |_, _, me| Ok(me.id.clone())).await?;
                let share = [(SlotOwner::Person(person), LARGE_BODIES_EACH)];
                let read = body.rest(&web.large_bodies, &share).await;
                read.map_err(|_| PageError::TooLarge)?
            }
        };
        let fields = FormFields::read(&bytes);
        if fields.get("csrf") != visitor.csrf {
            return Err(PageError::Foreign);
        }
        Ok(Posted { visitor, fields })
    }
}

/// The query of a page.
pub struct Asked(pub FormFields);

impl<S: Sync> axum::extract::FromRequestParts<S> for Asked {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        _: &S,
    ) -> Result<Self, Self::Rejection> {
        Ok(Asked(FormFields::read(parts.uri.query().unwrap_or("").as_bytes())))
    }
}
