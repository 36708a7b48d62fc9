//! The workspace's plan.

use std::sync::Arc;

use actions::inboxes::setup;
use actions::sign_in::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use base::actor::{Plan, Role};
use base::error::Error;
use translation::text_in_context;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::visitor::Visitor;

use super::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_plan.html", whitespace = "minimize")]
struct PlanPage {
    frame: PageLayout,
    plan: &'static str,
    is_owner: bool,
}

impl PlanPage {
    /// The name of the plan within a sentence.
    fn plan_word(&self) -> &'static str {
        match self.plan {
            "free" => text_in_context("plan", "free"),
            "pro" => text_in_context("plan", "pro"),
            _ => text_in_context("plan", "team"),
        }
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (frame, me): (PageLayout, SignedIn) =
        web.page(&visitor, location(SettingsPage::Plan), |_, _, me| Ok(me.clone())).await?;
    let page = PlanPage { frame, plan: me.plan.as_str(), is_owner: me.role == Role::Owner };
    web.show(&visitor, &page)
}

form! {
    pub struct PlanForm {
        plan: Plan,
    }
}

pub async fn set(State(web): State<Arc<Web>>, posted: PostedForm<PlanForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    web.act(&visitor, move |tx, cx, me| match me.role {
        Role::Owner => setup::set_plan(tx, cx, form.plan),
        _ => Err(Error::Forbidden("Only an owner changes the plan.".into())),
    })
    .await?;
    web.redirect("/settings/plan", Flash::Plan)
}
