//! The workspace's plan.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::Error;
use inbox::actions::{self, SignedIn};
use inbox::base::actor::{Plan, Role};

use super::location;
use crate::web::Web;
use crate::web::form::Posted;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{PageResult, see_other};
use crate::web::layout::wording::filters;
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "settings_plan.html")]
struct PlanPage {
    frame: PageLayout,
    plan: &'static str,
    is_owner: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (frame, me): (PageLayout, SignedIn) =
        web.page(&visitor, location(super::SettingsPage::Plan), |_, _, me| Ok(me.clone())).await?;
    let page = PlanPage { frame, plan: me.plan.as_str(), is_owner: me.role == Role::Owner };
    web.show(&visitor, &page)
}

pub async fn set(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    let plan = Plan::parse(&fields.get("plan"))
        .ok_or_else(|| Error::invalid("plan", "Choose free, pro or team."))?;
    web.act(&visitor, move |tx, cx, me| match me.role {
        Role::Owner => actions::set_plan(tx, cx, plan),
        _ => Err(Error::Forbidden("Only an owner changes the plan.".into())),
    })
    .await?;
    let mut response = see_other("/settings/plan");
    web.set_flash(&mut response, crate::web::Flash::Plan);
    Ok(response)
}
