//! The workspace's tags, with how often they are used.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::operations::list_tags;

use super::spot;
use crate::web::Web;
use crate::web::answers::{self, Answer};
use crate::web::frame::Frame;
use crate::web::visitor::Visitor;
use crate::web::wording::filters;

#[derive(Template)]
#[template(path = "settings_tags.html")]
struct TagsPage {
    frame: Frame,
    tags: Vec<(String, String, i64)>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> Answer {
    let (frame, tags) = web.page(&visitor, spot("Tags"), |tx, cx, _| list_tags(tx, cx)).await?;
    let tags = tags.into_iter().map(|tag| (tag.id.to_string(), tag.name, tag.count)).collect();
    answers::page(&TagsPage { frame, tags })
}
