//! The workspace's plan.

use std::sync::Arc;

use actions::inboxes::setup;
use actions::sign_in::sessions::SignedIn;
use actions::workspace::limits;
use askama::Template;
use axum::extract::State;
use base::actor::{Plan, Role};
use base::error::Error;
use quotas::{LimitKind, LimitUse, amount_words};
use translation::{t, text_in_context};
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
    uses: Vec<UseRow>,
}

/// What is used of a limit, in words.
struct UseRow {
    title: &'static str,
    used: String,
    limit: String,
    is_near: bool,
}

impl From<LimitUse> for UseRow {
    fn from(one: LimitUse) -> UseRow {
        let words = |amount| amount_words(one.what, amount);
        let title = match one.what {
            LimitKind::Messages => t!("Messages"),
            LimitKind::Bytes => t!("Mails and files"),
            LimitKind::DocumentBytes => t!("Documents"),
            LimitKind::People => t!("People"),
            LimitKind::MailsPerHour => t!("Mails sent in this hour"),
            LimitKind::MailsPerDay => t!("Mails sent within a day"),
            LimitKind::CallsPerHour => t!("Calls of keys in an hour"),
        };
        UseRow {
            title,
            used: one.used.map_or(String::new(), words),
            limit: one.hard.map_or_else(|| t!("no limit").to_owned(), words),
            is_near: one.is_near(),
        }
    }
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
    let (frame, (me, uses)): (PageLayout, (SignedIn, Vec<LimitUse>)) = web
        .page(&visitor, location(SettingsPage::Plan), |tx, cx, me| {
            let uses = if me.administers() { limits::limits_in_use(tx, cx)? } else { Vec::new() };
            Ok((me.clone(), uses))
        })
        .await?;
    let (plan, is_owner) = (me.plan.as_str(), me.role == Role::Owner);
    let page =
        PlanPage { frame, plan, is_owner, uses: uses.into_iter().map(UseRow::from).collect() };
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
