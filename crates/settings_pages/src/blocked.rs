//! Senders whose mail goes to the spam at once, and letting them write again.

use std::sync::Arc;

use actions::conversations::blocked_senders::{self, BLOCKED_LISTED};
use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::email_address::EmailAddress;
use db::Tx;
use web::Web;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::hrefs::contact_href;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use super::{SettingsPage, location};

const PLACE: &str = "/settings/blocked";

#[derive(Template)]
#[template(path = "settings_blocked.html", whitespace = "minimize")]
struct BlockedPage {
    frame: PageLayout,
    senders: Vec<SenderView>,
    next: Option<String>,
}

struct SenderView {
    email: String,
    href: String,
    by: String,
    since: DisplayTime,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let after = asked.get("after");
    let (frame, found) = web
        .page(&visitor, location(SettingsPage::Blocked), move |tx, cx, _| {
            blocked_senders::list_blocked(tx, cx, &after)
        })
        .await?;
    let last = found.last().filter(|_| found.len() == BLOCKED_LISTED);
    let next = last.map(|last| {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        format!("{PLACE}?{}", query.append_pair("after", &last.email).finish())
    });
    let senders = found.into_iter().map(|sender| SenderView {
        href: contact_href(&sender.email),
        email: sender.email.to_string(),
        by: sender.blocked_by,
        since: frame.times.short(sender.created_at),
    });
    let senders = senders.collect();
    web.show(&visitor, &BlockedPage { frame, senders, next })
}

form! {
    pub struct UnblockForm {
        email: String,
    }
}

pub async fn unblock(State(web): State<Arc<Web>>, posted: PostedForm<UnblockForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let email = EmailAddress::new(&form.email);
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| blocked_senders::unblock_contact(tx, cx, &email);
    web.act(&visitor, work).await?;
    web.redirect(PLACE, Flash::SenderUnblocked)
}
