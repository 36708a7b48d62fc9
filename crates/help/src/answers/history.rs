//! The history of an answer: each version beside the one before it, and the way back to it.

use std::sync::Arc;

use actions::writing::{answer_pages, answers};
use askama::Template;
use axum::extract::{Path, State};
use knowledge::versions::AnswerVersion;
use translation::t;
use web::Web;
use web::forms::form::PostedForm;
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::{FormOutcome, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use super::form::answer_id;
use super::word_changes::{WordChange, word_changes};

#[derive(Template)]
#[template(path = "answer_history.html", whitespace = "minimize")]
struct HistoryPage {
    frame: PageLayout,
    id: String,
    title: String,
    versions: Vec<VersionView>,
}

struct VersionView {
    number: i64,
    by: String,
    did: &'static str,
    when: DisplayTime,
    /// What changed: the name of the text, and its words.
    texts: Vec<(&'static str, Vec<WordChange>)>,
    /// True for what the answer does not say now.
    can_return: bool,
}

/// The versions of an answer, the newest first.
pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let wanted = answer_id(&id)?;
    let location = PageLocation::at(t!("History of the answer"), "/answers");
    let (frame, (listing, background)) = web
        .page(&visitor, location, move |tx, cx, _| {
            let listing = answers::load_answer(tx, cx, &wanted)?;
            Ok((listing, answer_pages::answer_background(tx, cx, &wanted)?))
        })
        .await?;
    let versions = &background.versions;
    let newest = versions.first();
    let view = |(place, version): (usize, &AnswerVersion)| VersionView {
        number: version.number,
        by: if version.by_name.is_empty() {
            t!("Somebody").to_owned()
        } else {
            version.by_name.clone()
        },
        did: version.act.did(),
        when: frame.times.long(version.at),
        texts: changed_texts(versions.get(place + 1), version),
        can_return: newest.is_some_and(|newest| !newest.says_the_same(version)),
    };
    let views = versions.iter().enumerate().map(view).collect();
    web.show(&visitor, &HistoryPage { id, title: listing.answer.title, versions: views, frame })
}

/// The texts that differ from those of the version before; all of the first one.
fn changed_texts(
    before: Option<&AnswerVersion>,
    version: &AnswerVersion,
) -> Vec<(&'static str, Vec<WordChange>)> {
    let old = before.map_or([""; 4], texts_of);
    let names = [t!("Title"), t!("For a reply"), t!("For the help pages"), t!("Section")];
    let mut changed = Vec::new();
    for ((name, old), new) in names.into_iter().zip(old).zip(texts_of(version)) {
        if old != new {
            changed.push((name, word_changes(old, new)));
        }
    }
    changed
}

fn texts_of(version: &AnswerVersion) -> [&str; 4] {
    [&version.title, &version.body, &version.help_body, &version.section]
}

/// Makes the answer say again what it said then.
pub async fn restore(
    State(web): State<Arc<Web>>,
    Path((id, number)): Path<(String, i64)>,
    posted: PostedForm,
) -> PageResult {
    let answer = answer_id(&id)?;
    let restored = web
        .act(&posted.visitor, move |tx, cx, _| {
            answer_pages::restore_version(tx, cx, &answer, number)
        })
        .await;
    match restored.or_problems()? {
        Ok(()) => web.redirect(&format!("/answers/{id}"), Flash::AnswerSaved),
        Err(problems) => Err(base::error::Error::Invalid(problems).into()),
    }
}
