//! Data: the scheduled backups of the installation, how the last one went, and the way to delete the
//! workspace.

use std::sync::Arc;

use actions::workspace::samples::own_sample;
use askama::Template;
use axum::extract::State;
use base::actor::Role;
use model::installation::scheduled_backups::scheduled_backups;
use web::Web;
use web::layout::filters;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use super::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_data.html", whitespace = "minimize")]
struct DataPage {
    frame: PageLayout,
    /// `None` where no backups are scheduled. Where they go is the operator's to know.
    timing: Option<String>,
    keeps: String,
    succeeded: Option<DisplayTime>,
    failed: Option<DisplayTime>,
    /// True where the last one lacks damaged files.
    has_damage: bool,
    next: Option<DisplayTime>,
    is_owner: bool,
    /// When the sample was made, if there is one.
    sample: Option<DisplayTime>,
    /// The page is that of a sample.
    is_sample: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (frame, (found, is_owner, sample)) = web
        .page(&visitor, location(SettingsPage::Data), |tx, cx, me| {
            cx.actor.must_administer()?;
            let sample = own_sample(tx, cx)?.map(|sample| sample.created_at);
            Ok((scheduled_backups(tx)?, me.role == Role::Owner, sample))
        })
        .await?;
    let stamp = |at: Option<i64>| at.map(|at| frame.times.stamp(at));
    let (succeeded, next) = (stamp(found.succeeded_at), stamp(found.next_at));
    let failed = stamp(found.failed_at.filter(|_| found.failures > 0));
    let has_damage = found.damaged_files() > 0;
    let words = |english: String| translation::sentence(&english).into_owned();
    let keeps = found.keeps.map(words).unwrap_or_default();
    let timing = found.timing.map(words);
    let (sample, is_sample) = (stamp(sample), frame.sample.is_some());
    let page = DataPage {
        timing,
        keeps,
        succeeded,
        failed,
        has_damage,
        next,
        is_owner,
        sample,
        is_sample,
        frame,
    };
    web.show(&visitor, &page)
}
