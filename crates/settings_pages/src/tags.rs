//! The workspace's tags, and renaming one.

use std::sync::Arc;

use api::operations::list_tags;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::TagId;
use translation::sentence;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use super::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_tags.html", whitespace = "minimize")]
struct TagsPage {
    frame: PageLayout,
    tags: Vec<TagView>,
}

struct TagView {
    id: String,
    name: String,
    count: i64,
    /// The new name as it was typed, and what is wrong with it.
    typed: String,
    error: String,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<TagsPage, PageError> {
    let (frame, tags) =
        web.page(visitor, location(SettingsPage::Tags), |tx, cx, _| list_tags(tx, cx)).await?;
    let tags = tags.into_iter().map(|tag| TagView {
        id: tag.id.to_string(),
        typed: tag.name.clone(),
        name: tag.name,
        count: tag.count,
        error: String::new(),
    });
    Ok(TagsPage { tags: tags.collect(), frame })
}

form! {
    pub struct TagNameForm {
        name: String,
    }
}

pub async fn rename(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<TagNameForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (tag, name) = (TagId::parse(&id).ok_or(Error::NotFound("tag"))?, form.name.clone());
    let renamed = web
        .act(&visitor, move |tx, cx, _| {
            actions::conversations::tags::rename_tag(tx, cx, &tag, &name)
        })
        .await;
    match renamed.or_problems()? {
        Ok(()) => web.redirect("/settings/tags", Flash::TagRenamed),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            for view in page.tags.iter_mut().filter(|view| view.id == id) {
                view.typed = form.name.clone();
                view.error = problems.0.iter().map(|problem| sentence(&problem.sentence)).collect();
            }
            responses::again(&page)
        }
    }
}
