//! What a search found in each conversation: the message, note or document, and the words around.

use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use db::Tx;
use model::conversations::topics;
use model::fields;
use model::indexing::search_filter;
use model::indexing::search_index::{self, IndexedItem};
use model::mailboxes;
use model::people::members;
use search::list::ConversationSummary;
use search::{Excerpt, Query};

/// Messages of the newest part of a timeline; an older one is opened in a part of its own.
const NEWEST_PART: i64 = 15;

/// The newest thing in a conversation that a search found.
#[derive(Clone, Debug)]
pub struct SearchHit {
    pub kind: HitKind,
    /// Who wrote it, or the file's name.
    pub name: String,
    pub at: i64,
    pub excerpt: Vec<Excerpt>,
    /// The id of the message or note in the timeline.
    pub anchor: String,
    /// The cursor of the part of the timeline that ends with it, unless it is in the newest.
    pub part: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitKind {
    Message,
    Draft,
    Note,
    Document,
}

/// The hit of each conversation that a query found by its words, in the same order.
pub fn search_hits(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    q: &str,
    found: &[ConversationSummary],
) -> Result<Vec<Option<SearchHit>>> {
    let query = Query::parse(q, cx.now).filter(|query| !query.terms.is_empty());
    let Some(mut query) = query else { return Ok(found.iter().map(|_| None).collect()) };
    search_filter::widen(tx, cx.actor, &mut query)?;
    let ws = cx.actor.ws;
    let (all, any) = (search::all_terms(tx, ws, &query), search::any_term(tx, ws, &query));
    let mut hits = Vec::with_capacity(found.len());
    for summary in found {
        let place = (summary.num, &summary.id);
        let item = match newest_item(tx, ws, place, &all)? {
            Some(item) => Some(item),
            None => newest_item(tx, ws, place, &any)?,
        };
        hits.push(match item {
            Some(item) => hit(tx, ws, &summary.id, &query, &item)?,
            None => None,
        });
    }
    Ok(hits)
}

/// The newest item that matches and has words to show, which tags have not.
fn newest_item(
    tx: &mut Tx<'_>,
    ws: i64,
    place: (i64, &ConversationId),
    expression: &str,
) -> Result<Option<IndexedItem>> {
    let mut below = search::SERIALS;
    while let Some(serial) = search::newest_match(tx, ws, place, expression, below)? {
        match search_index::item(tx, ws, place.1, serial)? {
            Some(IndexedItem::Tags) => below = serial,
            item => return Ok(item),
        }
    }
    Ok(None)
}

fn hit(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    query: &Query,
    item: &IndexedItem,
) -> Result<Option<SearchHit>> {
    let found = match item {
        IndexedItem::Message(id) => {
            let (name, email, at, text, quoted, secure, counted): MessageRow = tx.one(
                "SELECT from_name, from_email, at, text, quoted, secure, counted_at FROM messages
                 WHERE ws = ?1 AND id = ?2",
                &[&ws, id],
            )?;
            let kind = if counted.is_some() { HitKind::Message } else { HitKind::Draft };
            let name = name.filter(|name| !name.is_empty()).unwrap_or(email);
            let text = match (secure, quoted) {
                (true, _) => String::new(),
                (false, Some(quoted)) => format!("{text}\n{quoted}"),
                (false, None) => text,
            };
            (kind, name, at, text, id.to_string())
        }
        IndexedItem::Note(id) => {
            let (name, at, body): (String, i64, String) = tx.one(
                "SELECT author_name, at, body FROM notes
                 WHERE ws = ?1 AND conversation = ?2 AND id = ?3",
                &[&ws, conversation, id],
            )?;
            (HitKind::Note, name, at, body, id.to_string())
        }
        IndexedItem::Document(id) => {
            let (name, at, text, message): (String, i64, Option<String>, Option<String>) = tx.one(
                "SELECT filename, created_at, text, message FROM documents
                 WHERE ws = ?1 AND id = ?2",
                &[&ws, id],
            )?;
            let anchor = message.unwrap_or_default();
            (HitKind::Document, name, at, text.unwrap_or_default(), anchor)
        }
        IndexedItem::Tags => return Ok(None),
    };
    let (kind, name, at, text, anchor) = found;
    let part = part(tx, ws, conversation, at)?;
    let excerpt = search::excerpt(&text, query);
    Ok(Some(SearchHit { kind, name, at, excerpt, anchor, part }))
}

/// The names that operators can be completed with.
#[derive(Clone, Debug, Default)]
pub struct SearchNames {
    pub inboxes: Vec<String>,
    pub tags: Vec<String>,
    pub topics: Vec<String>,
    pub members: Vec<String>,
    /// Keys.
    pub fields: Vec<String>,
    pub none: Vec<String>,
}

/// Tags that are offered.
const TAGS_OFFERED: i64 = 200;

pub fn search_names(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<SearchNames> {
    let actor = cx.actor;
    let (first, second) = actor.circles.pair();
    let tags: Vec<(String,)> = tx.all(
        "SELECT name FROM tags WHERE ws = ?1 AND circle IN ('team', ?2, ?3)
         ORDER BY folded LIMIT ?4",
        &[&actor.ws, first, second, &TAGS_OFFERED],
    )?;
    let team = members::team(tx, actor.ws, first)?;
    let members = team.people.into_iter().map(|member| member.name);
    Ok(SearchNames {
        inboxes: mailboxes::all_seen_by(tx, actor)?.into_iter().map(|one| one.name).collect(),
        tags: tags.into_iter().map(|(name,)| name).collect(),
        topics: topics::all(tx, actor.ws)?.into_iter().map(|topic| topic.name).collect(),
        members: members.collect(),
        fields: fields::all(tx, actor.ws)?.into_iter().map(|field| field.key).collect(),
        none: Vec::new(),
    })
}

type MessageRow = (Option<String>, String, i64, String, Option<String>, bool, Option<i64>);

/// The cursor of the part that ends at a time, where many messages are newer.
fn part(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
    at: i64,
) -> Result<Option<String>> {
    let beyond: Option<(i64,)> = tx.opt(
        "SELECT at FROM messages WHERE ws = ?1 AND conversation = ?2 AND at > ?3
         ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?4",
        &[&ws, conversation, &at, &NEWEST_PART],
    )?;
    Ok(beyond.map(|_| format!("{}.0", at + 1)))
}
