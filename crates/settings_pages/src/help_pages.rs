//! Whether the workspace has public help pages, in which language they begin, and where they lead on to.

use std::sync::Arc;

use actions::workspace::help_site;
use askama::Template;
use axum::extract::State;
use knowledge::help_site::HelpSiteInput;
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_help_pages.html", whitespace = "minimize")]
struct HelpPagesSettings {
    frame: PageLayout,
    is_open: bool,
    language: String,
    form: String,
    /// The contact forms of the team: ids and titles.
    forms: Vec<(String, String)>,
    /// The address of the first page; empty before they were open once.
    url: String,
    errors: FieldErrors,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<HelpPagesSettings, PageError> {
    let (frame, (site, forms)) = web
        .page(visitor, location(SettingsPage::HelpPages), |tx, cx, _| {
            help_site::help_settings(tx, cx)
        })
        .await?;
    let forms: Vec<(String, String)> =
        forms.into_iter().map(|form| (form.id.to_string(), form.title)).collect();
    Ok(match site {
        Some(site) => HelpPagesSettings {
            url: format!("{}{}", web.app.public_url, site.root()),
            is_open: site.is_open,
            form: site.form.map(|form| form.id.to_string()).unwrap_or_default(),
            language: site.language,
            frame,
            forms,
            errors: FieldErrors::default(),
        },
        None => HelpPagesSettings {
            frame,
            is_open: false,
            language: translation::current().code().to_owned(),
            form: forms.first().map(|(id, _)| id.clone()).unwrap_or_default(),
            forms,
            url: String::new(),
            errors: FieldErrors::default(),
        },
    })
}

form! {
    pub struct HelpPagesForm {
        open: bool,
        language: String,
        form: String,
    }
}

pub async fn save(State(web): State<Arc<Web>>, posted: PostedForm<HelpPagesForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let input = HelpSiteInput {
        is_open: form.open,
        language: form.language.trim().to_lowercase(),
        form: form.form.clone(),
    };
    let saved = web.act(&visitor, move |tx, cx, _| help_site::set_help_site(tx, cx, &input)).await;
    match saved.or_problems()? {
        Ok(_) => web.redirect("/settings/help", Flash::HelpPagesSet),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            (page.is_open, page.language, page.form) = (form.open, form.language, form.form);
            page.errors = FieldErrors::of(problems, &["language", "form"], "language");
            responses::again(&page)
        }
    }
}
