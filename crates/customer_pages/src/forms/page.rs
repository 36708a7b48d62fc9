//! The form itself, and what stands in its place once it was sent.

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use contact_forms::form_texts::FormWords;
use model::branding::Branding;
use web::Web;
use web::forms::form::FormFields;
use web::layout::filters;
use web::layout::responses::html;
use web::visitor::Visitor;

use super::typed_form::{FormFieldView, TypedForm, page_address};
use super::{FormPlace, OpenedForm, open_form};

#[derive(Template)]
#[template(path = "contact_form.html", whitespace = "minimize")]
struct ContactFormPage {
    firm: String,
    branding: Branding,
    title: String,
    intro: String,
    is_framed: bool,
    action: String,
    /// When this page was made, signed.
    made: String,
    /// Why nothing was sent, where no field is wrong.
    alert: String,
    /// The keys of the fields that the page asks for.
    asked: String,
    takes_files: bool,
    typed: TypedForm,
    fields: Vec<FormFieldView>,
}

#[derive(Template)]
#[template(path = "contact_form_thanks.html", whitespace = "minimize")]
struct ContactFormThanks {
    firm: String,
    branding: Branding,
    title: String,
    thanks: String,
    is_framed: bool,
    action: String,
}

impl OpenedForm {
    /// The texts of the form in the reader's language.
    pub(super) fn words(&self) -> FormWords {
        FormWords::new(&self.public.form, translation::current().code())
    }

    pub(super) fn page(
        &self,
        status: StatusCode,
        typed: TypedForm,
        alert: String,
    ) -> Response<Body> {
        let (form, words) = (&self.public.form, self.words());
        let fields = typed.views(&form.fields, &words);
        let keys: Vec<&str> = fields.iter().map(|field| field.key.as_str()).collect();
        let page = ContactFormPage {
            firm: self.public.firm.clone(),
            branding: self.public.branding.clone(),
            title: words.title,
            intro: words.intro,
            is_framed: self.place == FormPlace::Frame,
            action: self.path(),
            made: self.made.clone(),
            alert,
            asked: keys.join(" "),
            takes_files: fields.iter().any(FormFieldView::is_files),
            fields,
            typed,
        };
        self.finish(html(status, &page))
    }

    pub(super) fn thanks(&self) -> Response<Body> {
        let words = self.words();
        let page = ContactFormThanks {
            firm: self.public.firm.clone(),
            branding: self.public.branding.clone(),
            title: words.title,
            thanks: words.thanks,
            is_framed: self.place == FormPlace::Frame,
            action: self.path(),
        };
        self.finish(html(StatusCode::OK, &page))
    }
}

pub(super) async fn show(
    web: &Web,
    visitor: &Visitor,
    place: (&str, FormPlace),
    headers: &HeaderMap,
    asked: &FormFields,
) -> Response<Body> {
    let opened = match open_form(web, visitor, place, String::new()).await {
        Ok(opened) => opened,
        Err(error) => return error.into_response(),
    };
    if asked.has("sent") {
        return opened.thanks();
    }
    let page = page_before(headers, &web.app.public_url);
    let typed = TypedForm::blank(&opened.public.form.fields, page);
    opened.page(StatusCode::OK, typed, String::new())
}

/// The page that leads to the form, or shows it in a frame. A page of the form itself is none.
fn page_before(headers: &HeaderMap, public_url: &str) -> String {
    let referer = headers.get(header::REFERER).and_then(|value| value.to_str().ok());
    let page = page_address(referer.unwrap_or_default());
    if page.starts_with(&format!("{public_url}/f/")) { String::new() } else { page }
}
