//! Forms as they are posted: the checks that every form passes, and the struct of each form.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use transport::http::request_body::{LARGE_BODIES_EACH, RequestBody};
use transport::http::slots::{SlotOwner, SlotShare};

use crate::Web;
use crate::layout::responses::{FORM_BYTES, PageError};
use crate::visitor::{Visitor, is_from_here};

/// A form must have arrived by then.
pub const FORM_TIME: Duration = Duration::from_secs(30);
/// Large forms without a session that are read for one client network at one time.
const FORMS_OF_NETWORK: usize = 2;

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

    /// A field's text with LF line ends; empty if the field is missing.
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

    /// Every value of a field that may occur several times.
    pub fn all(&self, name: &str) -> Vec<String> {
        let found = self.0.iter().filter(|(found, _)| found == name);
        found.map(|(_, value)| value.clone()).collect()
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

/// What is read from the fields of a form. The macro `form!` implements it.
pub trait Form: Sized {
    fn read(fields: &FormFields) -> base::error::Result<Self>;
}

/// A form that is only a button.
impl Form for () {
    fn read(_: &FormFields) -> base::error::Result<()> {
        Ok(())
    }
}

/// A value of a form. The error is shown to the person who sent it.
pub trait FormValue: Sized {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Self>;
}

/// Empty if the field is missing.
impl FormValue for String {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<String> {
        Ok(fields.get(name))
    }
}

/// `None` if the field is missing.
impl FormValue for Option<String> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Option<String>> {
        Ok(fields.has(name).then(|| fields.get(name)))
    }
}

/// True if the field is there: a checkbox that is checked, the button that was pressed.
impl FormValue for bool {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<bool> {
        Ok(fields.has(name))
    }
}

/// `None` if the field is missing or is not a number.
impl FormValue for Option<i64> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Option<i64>> {
        Ok(fields.get(name).parse().ok())
    }
}

/// Every value of a field that occurs several times, such as checkboxes of one name.
impl FormValue for Vec<String> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Vec<String>> {
        Ok(fields.all(name))
    }
}

/// Declares the structs of forms. A field is read under its own name, or under the one in quotes.
#[macro_export]
macro_rules! form {
    ($(
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$field_about:meta])* $field:ident: $kind:ty $(= $key:literal)?,)*
        }
    )*) => {$(
        $(#[$about])*
        pub struct $name {
            $($(#[$field_about])* pub $field: $kind,)*
        }

        impl $crate::forms::form::Form for $name {
            fn read(fields: &$crate::forms::form::FormFields) -> ::base::error::Result<$name> {
                use $crate::forms::form::FormValue;
                Ok($name {
                    $($field: FormValue::read(fields, $crate::forms::form::form!(@key $field $($key)?))?,)*
                })
            }
        }
    )*};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}
pub use form;

/// Reads an input of the domain from the form that has its fields, or from that part of a form.
macro_rules! form_input {
    ($name:ty { $($field:ident $(= $key:literal)?),* $(,)? }) => {
        impl $crate::forms::form::Form for $name {
            fn read(fields: &$crate::forms::form::FormFields) -> ::base::error::Result<$name> {
                use $crate::forms::form::FormValue;
                Ok(Self {
                    $($field: FormValue::read(fields, $crate::forms::form::form!(@key $field $($key)?))?,)*
                })
            }
        }

        impl $crate::forms::form::FormValue for $name {
            fn read(
                fields: &$crate::forms::form::FormFields,
                _: &str,
            ) -> ::base::error::Result<$name> {
                <$name as $crate::forms::form::Form>::read(fields)
            }
        }
    };
}
pub(crate) use form_input;

/// A form that was posted from a page of the same session.
pub struct PostedForm<F = ()> {
    pub visitor: Visitor,
    pub form: F,
}

impl<F: Form> FromRequest<Arc<Web>> for PostedForm<F> {
    type Rejection = PageError;

    async fn from_request(request: Request, web: &Arc<Web>) -> Result<Self, PageError> {
        let (visitor, fields) = read(request, web).await?;
        Ok(PostedForm { visitor, form: F::read(&fields)? })
    }
}

async fn read(request: Request, web: &Web) -> Result<(Visitor, FormFields), PageError> {
    let (parts, body) = request.into_parts();
    let mut visitor = Visitor::of(&parts, web);
    let content_type =
        parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_form =
        content_type.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if !is_form || !is_from_here(&parts.headers) {
        return Err(PageError::Foreign);
    }
    let mut body = RequestBody::new(&parts.headers, body, FORM_BYTES, FORM_TIME);
    let bytes = match body.small().await.map_err(|_| PageError::TooLarge)? {
        Some(small) => small,
        None => read_large(body, web, &visitor, parts.uri.path()).await?,
    };
    let fields = FormFields::read(&bytes);
    visitor.posted = visitor.left_form(parts.uri.path(), fields.pairs());
    if !visitor.csrf.fits(&fields.get("csrf")) {
        return Err(outdated_error(&visitor));
    }
    Ok((visitor, fields))
}

/// Reads a large form of somebody who is signed in. Of anybody else it is read for what was typed,
/// which is kept until they have signed in.
async fn read_large(
    body: RequestBody,
    web: &Web,
    visitor: &Visitor,
    path: &str,
) -> Result<Bytes, PageError> {
    let (shares, sign_in_next) = match web.read(visitor, |_, _, me| Ok(me.id.clone())).await {
        Ok(person) => (vec![(SlotOwner::Person(person), LARGE_BODIES_EACH)], None),
        Err(PageError::SignIn { next, .. }) => (shares_without_session(visitor), Some(next)),
        Err(refusal) => return Err(refusal),
    };
    let read = body.rest(&web.large_bodies, &shares).await;
    let bytes = read.map_err(|_| PageError::TooLarge)?;
    let Some(next) = sign_in_next else { return Ok(bytes) };
    let left = visitor.left_form(path, FormFields::read(&bytes).pairs());
    Err(PageError::SignIn { next, left })
}

/// The share in large bodies of a client in whose browser nobody is signed in.
pub fn shares_without_session(visitor: &Visitor) -> Vec<SlotShare> {
    let network = visitor.network.map(SlotOwner::Network);
    network.map(|network| (network, FORMS_OF_NETWORK)).into_iter().collect()
}

/// A form of a page that another session made: what was typed in it is kept.
pub fn outdated_error(visitor: &Visitor) -> PageError {
    match &visitor.posted {
        Some(left) => {
            PageError::SignIn { next: visitor.here.clone(), left: Some(Arc::clone(left)) }
        }
        None => PageError::Foreign,
    }
}

/// The query of a page.
pub struct Asked(pub FormFields);

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Asked(FormFields::read(parts.uri.query().unwrap_or("").as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    form! {
        pub struct SampleForm {
            text: String,
            note: Option<String>,
            number: Option<i64>,
            checked: bool,
            due_date: String = "dueDate",
        }
    }

    #[test]
    fn a_form_is_read_by_the_names_of_its_fields() {
        let text = "text=a%0D%0Ab&text=second&number=7&checked&dueDate=2026-11-16&else=1";
        let form = SampleForm::read(&FormFields::read(text.as_bytes())).expect("a form");
        assert_eq!((form.text.as_str(), form.note, form.number), ("a\nb", None, Some(7)));
        assert!(form.checked && form.due_date == "2026-11-16");
        let empty = SampleForm::read(&FormFields::read(b"note=&number=x")).expect("a form");
        assert_eq!((empty.text.as_str(), empty.note.as_deref()), ("", Some("")));
        assert!(empty.number.is_none() && !empty.checked);
    }
}
