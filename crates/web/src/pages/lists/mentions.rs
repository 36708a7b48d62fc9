//! Mentions: the notes that name the signed-in person.

use std::sync::Arc;

use actions::people::mentions::{self, MENTIONS_LISTED, Mention};
use askama::Template;
use axum::extract::State;
use base::ids::NoteId;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, PostedForm};
use crate::layout::filters;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageResult, see_other};
use crate::layout::wording::{Avatar, DisplayTime};
use crate::page_version::PartVersion;
use crate::pages::lists::conversation_list::subject;
use crate::visitor::Visitor;

/// Characters of a note that are shown.
const NOTE_SHOWN_CHARS: usize = 300;

#[derive(Template)]
#[template(path = "mentions.html", whitespace = "minimize")]
struct MentionsPage {
    frame: PageLayout,
    mentions: Vec<MentionView>,
    any_unread: bool,
    older: Option<String>,
}

struct MentionView {
    href: String,
    subject: String,
    avatar: Avatar,
    author: String,
    note: String,
    time: DisplayTime,
    unread: bool,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let location = PageLocation::at(t!("Mentions"), "/mentions");
    let before = NoteId::parse(&asked.get("before"));
    let (mut frame, mentions) = web
        .page(&visitor, location, move |tx, cx, _| mentions::list_mentions(tx, cx, before.as_ref()))
        .await?;
    frame.watch_live("page=mentions".into(), PartVersion::default(), PartVersion::default());
    let older = mentions.last().filter(|_| mentions.len() as i64 == MENTIONS_LISTED);
    let view = |mention: &Mention| MentionView {
        href: format!("/conversations/{}", mention.conversation),
        subject: subject(&mention.subject),
        avatar: Avatar::of(Some(&mention.author), &mention.author_name),
        author: mention.author_name.clone(),
        note: mention.body.chars().take(NOTE_SHOWN_CHARS).collect(),
        time: frame.times.long(mention.at),
        unread: mention.unread,
    };
    let page = MentionsPage {
        any_unread: frame.sidebar.mentions > 0,
        older: older.map(|last| format!("/mentions?before={}", last.note)),
        mentions: mentions.iter().map(view).collect(),
        frame,
    };
    web.show(&visitor, &page)
}

pub async fn read_all(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    web.act(&posted.visitor, |tx, cx, _| mentions::read_mentions(tx, cx)).await?;
    Ok(see_other("/mentions"))
}
