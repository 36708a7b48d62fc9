//! Logo and colour: how the workspace looks on the pages that customers see and in the mail that they get.

use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use actions::workspace::branding_settings::{branding_settings, set_branding};
use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::concurrency::blocking::spawn_blocking;
use base::error::Error;
use db::Tx;
use model::branding::{Branding, LogoChange, clean_logo, is_jpeg};
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::form;
use web::forms::multipart::{FormFiles, FormUpload};
use web::layout::brand_files::png_of_jpeg;
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_branding.html", whitespace = "minimize")]
struct BrandingSettings {
    frame: PageLayout,
    branding: Branding,
    /// The colour as it was typed.
    colour: String,
    in_mail: bool,
    errors: FieldErrors,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<BrandingSettings, PageError> {
    let (frame, branding) = web
        .page(visitor, location(SettingsPage::Branding), |tx, cx, _| branding_settings(tx, cx))
        .await?;
    Ok(BrandingSettings {
        frame,
        colour: branding.chosen_colour.clone(),
        in_mail: branding.in_mail,
        branding,
        errors: FieldErrors::default(),
    })
}

form! {
    pub struct BrandingForm {
        colour: String,
        in_mail: bool,
        /// The logo is taken away.
        remove: bool,
    }
}

pub async fn save(State(web): State<Arc<Web>>, upload: FormUpload<BrandingForm>) -> PageResult {
    let FormUpload { visitor, form, files } = upload;
    let saved = match logo_change(&web, form.remove, files).await {
        Ok(logo) => {
            let (colour, in_mail) = (form.colour.clone(), form.in_mail);
            let change = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                set_branding(tx, cx, &colour, in_mail, &logo)
            };
            web.act(&visitor, change).await
        }
        Err(error) => Err(error),
    };
    match saved.or_problems()? {
        Ok(branding) if branding.is_darkened() => {
            web.redirect("/settings/branding", Flash::BrandingDarkened)
        }
        Ok(_) => web.redirect("/settings/branding", Flash::BrandingSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            (page.colour, page.in_mail) = (form.colour, form.in_mail);
            page.errors = FieldErrors::of(problems, &["colour", "logo"], "colour");
            responses::again(&page)
        }
    }
}

/// What becomes of the logo: a file that was chosen counts for more than the box that takes the logo away.
async fn logo_change(
    web: &Web,
    is_unwanted: bool,
    files: FormFiles,
) -> Result<LogoChange, PageError> {
    let file = match files {
        FormFiles::Kept(mut files) => files.pop(),
        FormFiles::TooMany => {
            return Err(Error::invalid("logo", "Choose one file as the logo.").into());
        }
    };
    let Some(file) = file else {
        return Ok(if is_unwanted { LogoChange::Remove } else { LogoChange::Keep });
    };
    let bytes = if is_jpeg(&file.bytes) { png_of_jpeg(web, file.bytes).await? } else { file.bytes };
    let work = spawn_blocking(move || clean_logo(&bytes));
    let clean = work.await.map_err(|error| PageError::Domain(error.into()))?;
    clean.map(LogoChange::Replace).map_err(|sentence| Error::invalid("logo", sentence).into())
}
