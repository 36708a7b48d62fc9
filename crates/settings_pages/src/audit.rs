//! Who changed what in the settings.

use std::sync::Arc;

use actions::workspace::audit_log::{self, AUDIT_LISTED, AuditEntry};
use askama::Template;
use axum::extract::State;
use base::ids::AuditId;
use translation::t;
use web::Web;
use web::forms::form::Asked;
use web::layout::filters;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::layout::wording::{Avatar, DisplayTime};
use web::visitor::Visitor;

use super::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_audit.html", whitespace = "minimize")]
struct AuditPage {
    frame: PageLayout,
    entries: Vec<EntryView>,
    older: Option<String>,
}

struct EntryView {
    avatar: Avatar,
    actor: String,
    did: &'static str,
    thing: String,
    detail: String,
    time: DisplayTime,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let before = AuditId::parse(&asked.get("before"));
    let (frame, entries) = web
        .page_from_replica(&visitor, location(SettingsPage::Audit), move |tx, cx, _| {
            audit_log::list_audit(tx, cx, before.as_ref())
        })
        .await?;
    let older = entries.last().filter(|_| entries.len() as i64 == AUDIT_LISTED);
    let older = older.map(|last| format!("/settings/audit?before={}", last.id));
    let view = |entry: AuditEntry| EntryView {
        avatar: Avatar::of(Some(&entry.actor), &entry.actor_name),
        actor: if entry.actor.is_empty() {
            t!("The command line").into()
        } else {
            entry.actor_name
        },
        did: entry.action.did(),
        thing: entry.thing,
        detail: entry.detail,
        time: frame.times.stamp(entry.at),
    };
    let entries = entries.into_iter().map(view).collect();
    web.show(&visitor, &AuditPage { frame, entries, older })
}
