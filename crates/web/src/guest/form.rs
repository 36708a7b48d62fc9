//! A form of a customer's page. Who posts it checks its token.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::header;
use transport::http::request_body::RequestBody;
use transport::http::slots::SlotOwner;

use crate::Web;
use crate::forms::form::FormFields;
use crate::layout::responses::{FORM_BYTES, PageError};
use crate::visitor::Visitor;

/// A form must have arrived by then.
const FORM_TIME: Duration = Duration::from_secs(30);
/// Large forms that are read for one client network at one time.
const FORMS_OF_NETWORK: usize = 2;

/// The fields of a customer's form.
pub struct GuestForm(FormFields);

impl GuestForm {
    pub fn get(&self, name: &str) -> String {
        self.0.get(name)
    }

    pub fn fields(&self) -> &FormFields {
        &self.0
    }

    /// What tells a form of this browser from any other.
    pub fn csrf(&self) -> String {
        self.0.get("csrf")
    }
}

impl FromRequest<Arc<Web>> for GuestForm {
    type Rejection = PageError;

    async fn from_request(request: Request, web: &Arc<Web>) -> Result<Self, PageError> {
        let (parts, body) = request.into_parts();
        let content_type = parts.headers.get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
            return Err(PageError::Foreign);
        }
        let mut body = RequestBody::new(&parts.headers, body, FORM_BYTES, FORM_TIME);
        let bytes = match body.small().await.map_err(|_| PageError::TooLarge)? {
            Some(small) => small,
            None => {
                let network = Visitor::of(&parts, web).network.map(SlotOwner::Network);
                let shares: Vec<_> =
                    network.map(|network| (network, FORMS_OF_NETWORK)).into_iter().collect();
                let read = body.rest(&web.large_bodies, &shares).await;
                read.map_err(|_| PageError::TooLarge)?
            }
        };
        Ok(GuestForm(FormFields::read(&bytes)))
    }
}
