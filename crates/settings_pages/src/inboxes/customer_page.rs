//! Whether customers have a page of their own, and whether replies name it.

use std::sync::Arc;

use actions::workspace::customer_page::{customer_page, set_customer_page};
use askama::Template;
use axum::extract::State;
use base::error::Error;
use customers::CustomerPageMode;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_customer_page.html", whitespace = "minimize")]
struct CustomerPageSettings {
    frame: PageLayout,
    mode: &'static str,
    url: String,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (frame, (mode, url)) = web
        .page(&visitor, location(SettingsPage::CustomerPage), |tx, cx, _| {
            cx.actor.must_administer()?;
            customer_page(tx, cx)
        })
        .await?;
    web.show(&visitor, &CustomerPageSettings { frame, mode: mode.as_str(), url })
}

form! {
    pub struct CustomerPageForm {
        mode: String,
    }
}

pub async fn set(State(web): State<Arc<Web>>, posted: PostedForm<CustomerPageForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    web.act(&visitor, move |tx, cx, _| {
        let mode = CustomerPageMode::parse(&form.mode);
        let mode = mode.ok_or_else(|| Error::invalid("mode", "Choose one of the answers."))?;
        set_customer_page(tx, cx, mode)
    })
    .await?;
    web.redirect("/settings/customer-page", Flash::CustomerPageSet)
}
