//! Settings of protected messages: how long their pages are open, and who sends them.

use std::sync::Arc;

use actions::workspace::secure_settings::{self, SecureSettingsInput};
use askama::Template;
use axum::extract::State;
use base::ids::MailboxId;
use model::guests::secure::SecureSenders;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_secure.html", whitespace = "minimize")]
struct SecureSettingsPage {
    frame: PageLayout,
    days: String,
    days_max: String,
    for_admins: bool,
    /// Ids, names and whether they send protected messages only.
    inboxes: Vec<(String, String, bool)>,
    error: String,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<SecureSettingsPage, PageError> {
    let (frame, (rules, inboxes)) = web
        .page(visitor, location(SettingsPage::Secure), |tx, cx, _| {
            Ok((secure_settings::secure_rules(tx, cx)?, secure_settings::secure_inboxes(tx, cx)?))
        })
        .await?;
    let inboxes = inboxes.into_iter().map(|(inbox, always)| {
        (inbox.id.to_string(), format!("{}, {}", inbox.name, inbox.address), always)
    });
    Ok(SecureSettingsPage {
        frame,
        days: rules.days.to_string(),
        days_max: rules.days_max.to_string(),
        for_admins: rules.senders == SecureSenders::Admins,
        inboxes: inboxes.collect(),
        error: String::new(),
    })
}

form! {
    pub struct SecureForm {
        days: Option<i64>,
        days_max: Option<i64> = "daysMax",
        senders: String,
        always: Vec<String>,
    }
}

pub async fn save(State(web): State<Arc<Web>>, posted: PostedForm<SecureForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let input = SecureSettingsInput {
        days: form.days.unwrap_or(0),
        days_max: form.days_max.unwrap_or(0),
        senders: SecureSenders::parse(&form.senders).unwrap_or(SecureSenders::Everybody),
        always: form.always.iter().filter_map(|id| MailboxId::parse(id)).collect(),
    };
    let saved =
        web.act(&visitor, move |tx, cx, _| secure_settings::set_secure_rules(tx, cx, &input)).await;
    match saved.or_problems()? {
        Ok(()) => web.redirect("/settings/secure", Flash::SecureSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            let typed = |days: Option<i64>| days.map(|days| days.to_string()).unwrap_or_default();
            (page.days, page.days_max) = (typed(form.days), typed(form.days_max));
            page.error = problems.sentences();
            responses::again(&page)
        }
    }
}
