//! A conversation as it is printed: every message with its text, recipients and names of files.

use std::sync::Arc;

use actions::conversations::open_conversation::{self, OpenConversation};
use actions::conversations::timeline::{TimelineEntry, TimelinePart};
use askama::Template;
use axum::extract::{Path, State};

use crate::Web;
use crate::forms::form::Asked;
use crate::layout::filters;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::PageResult;
use crate::layout::wording::TimeFormat;
use crate::pages::conversation::asked_part;
use crate::pages::conversation::timeline::{self, MessageView, NoteView};
use crate::pages::lists::conversation_list::{ConversationFilter, subject};
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "print.html", whitespace = "minimize")]
struct PrintPage {
    frame: PageLayout,
    subject: String,
    contact: String,
    inbox: String,
    entries: Vec<PrintEntry>,
    has_notes: bool,
    /// Where the conversation is.
    back: String,
    /// The same page with notes, or without.
    with_notes: String,
    without_notes: String,
    shows_notes: bool,
    /// The part before this one, and the newest where another is shown.
    older: Option<String>,
    newest: Option<String>,
}

enum PrintEntry {
    Message(Box<MessageView>),
    Note(NoteView),
}

/// What was written, without what happened to it.
pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let filter = ConversationFilter::from_query(&asked)?;
    let part = asked_part(&asked)?;
    let is_older = part != TimelinePart::Newest;
    let (mut frame, open) = web
        .page(&visitor, PageLocation::at("", &filter.href), move |tx, cx, _| {
            open_conversation::read_conversation(tx, cx, &id, &part)
        })
        .await?;
    let list = filter.full_query();
    let conversation = &open.conversation;
    let back = format!("/conversations/{}?{list}", conversation.id);
    let here = format!("/conversations/{}/print?{list}", conversation.id);
    let this_part = match asked.opt("before") {
        Some(before) => format!("{here}&before={before}"),
        None => here.clone(),
    };
    let shows_notes = asked.get("notes") != "none";
    let notes = if shows_notes { "" } else { "&notes=none" };
    let named = conversation.contact_name.clone().filter(|name| !name.is_empty());
    let entries = entries(&open, &frame.times);
    frame.title = subject(&conversation.subject);
    frame.from = list;
    let page = PrintPage {
        subject: frame.title.clone(),
        contact: named.unwrap_or_else(|| conversation.contact_email.to_string()),
        inbox: open.mailbox.name.clone(),
        has_notes: entries.iter().any(|entry| matches!(entry, PrintEntry::Note(_))),
        older: open.older.as_ref().map(|cursor| format!("{here}&before={cursor}{notes}")),
        newest: is_older.then(|| format!("{here}{notes}")),
        with_notes: this_part.clone(),
        without_notes: format!("{this_part}&notes=none"),
        entries,
        back,
        shows_notes,
        frame,
    };
    web.show(&visitor, &page)
}

fn entries(open: &OpenConversation, times: &TimeFormat) -> Vec<PrintEntry> {
    let names = timeline::mentioned_names(open);
    let entry = |entry: &TimelineEntry| match entry {
        TimelineEntry::Message(message) => {
            let view = timeline::view(message, &open.conversation, times);
            Some(PrintEntry::Message(Box::new(view)))
        }
        TimelineEntry::Note(note) => {
            Some(PrintEntry::Note(timeline::note_view(note, &names, times)))
        }
        TimelineEntry::Event(_) => None,
    };
    open.entries.iter().filter_map(entry).collect()
}
