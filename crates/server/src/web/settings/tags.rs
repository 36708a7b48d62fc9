//! The workspace's tags, and renaming one.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::ids::TagId;
use inbox::operations::list_tags;
use inbox::people;

use super::spot;
use crate::web::Web;
use crate::web::answers::{self, Answer, Refusal, see_other};
use crate::web::form::Posted;
use crate::web::frame::Frame;
use crate::web::visitor::Visitor;
use crate::web::wording::filters;

#[derive(Template)]
#[template(path = "settings_tags.html")]
struct TagsPage {
    frame: Frame,
    tags: Vec<TagView>,
}

struct TagView {
    id: String,
    name: String,
    count: i64,
    /// What stands in the field of its new name, and what is wrong with it.
    typed: String,
    error: String,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> Answer {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<TagsPage, Refusal> {
    let (frame, tags) =
        web.page(visitor, spot(super::SettingsPage::Tags), |tx, cx, _| list_tags(tx, cx)).await?;
    let tags = tags.into_iter().map(|tag| TagView {
        id: tag.id.to_string(),
        typed: tag.name.clone(),
        name: tag.name,
        count: tag.count,
        error: String::new(),
    });
    Ok(TagsPage { tags: tags.collect(), frame })
}

pub async fn rename(State(web): State<Arc<Web>>, Path(id): Path<String>, posted: Posted) -> Answer {
    let Posted { visitor, fields } = posted;
    let (tag, name) = (TagId::parse(&id).ok_or(Error::NotFound("tag"))?, fields.get("name"));
    let renamed = web.act(&visitor, move |tx, cx, _| people::rename_tag(tx, cx, &tag, &name)).await;
    match renamed {
        Ok(()) => {
            let mut response = see_other("/settings/tags");
            web.set_flash(&mut response, crate::web::Flash::TagRenamed);
            Ok(response)
        }
        Err(Refusal::Domain(Error::Invalid(problems))) => {
            let mut page = build(&web, &visitor).await?;
            for view in page.tags.iter_mut().filter(|view| view.id == id) {
                view.typed = fields.get("name");
                view.error = problems.0.iter().map(|problem| problem.sentence.clone()).collect();
            }
            answers::again(&page)
        }
        Err(refusal) => Err(refusal),
    }
}
