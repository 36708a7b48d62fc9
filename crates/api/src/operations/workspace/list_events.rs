//! `GET /events`: the workspace's events, in the order they became visible.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use base::ids::EventId;
use base::limits::{EVENTS_KEPT_MS, LIST_ITEMS_DEFAULT, events_kept_days};
use base::security::scopes::Scope;
use db::{Json, Tx};
use serde::Deserialize;

use crate::cursor::PageCursor;
use crate::fields::{CURSOR, LIST_LIMIT, one_of};
use crate::input::input;
use crate::operations::{Access, ListPage, Method, Operation, ScopeRule, Tool, page};
use crate::wire::EventRecord;

pub const OPERATION: Operation = Operation {
    name: "list_events",
    method: Method::Get,
    path: "/events",
    tool: Some(Tool {
        name: "list_events",
        about: "What happened, oldest first; go on with cursor.",
        help: "Lists what happened in the inboxes you can see, oldest first. Use it to \
                catch up or to wait: begin with start now, keep nextCursor, and call again \
                with it. Nothing reaches the customer.",
        hints: &[("start", "oldest or now")],
        example: r#"{ "start": "oldest", "limit": 10 }"#,
        list: Some("events"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List events",
    about: concat!(
        "What happened where this key can see, oldest first, exactly as webhooks are told it. \
         Events are kept for ",
        events_kept_days!(),
        " days, so an app that was down catches up from the cursor of its last answer. Every \
         answer with events has a next cursor, the last one too.",
    ),
    fields: Input::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<EventRecord>>(),
    example_input: "",
    example_output: r#"[{
        "id": "evt_01kag13z9x8c7v6b5n4m3k2j1h",
        "type": "client.replied",
        "version": 1,
        "created_at": "2026-11-15T09:14:03.120Z",
        "workspace": "wsp_01kag0z8m4s6y2t9r5w1q3n7xa",
        "livemode": true,
        "data": {
            "summary": "The customer wrote back on a conversation",
            "url": "https://mail.example.com/conversations/cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "conversation_id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "message_id": "msg_01kag13z8m4s6y2t9r5w1q3n7x",
            "mailbox_id": "mbx_01kag0z8m4s6y2t9r5w1q3n7xb",
            "secure": false
        }
    }]"#,
    run: |tx, cx, input| page(list_events(tx, cx, &crate::operations::parse_input(input)?)?),
};

input! {
    struct Input {
        #[shared(LIST_LIMIT)]
        limit: Option<i64> = LIST_ITEMS_DEFAULT,
        /// Where a first call begins: with the oldest event kept, or with a cursor for what happens
        /// from now on and no events yet. A cursor says more and wins.
        #[optional(one_of(&["oldest", "now"]))]
        start: Option<Start> = "oldest",
        /// Where an earlier answer ended (from its Link header). Keep it: it goes on with what
        /// happens after it, today or tomorrow.
        #[optional(CURSOR)]
        cursor: Option<String>,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Start {
    Oldest,
    Now,
}

db::row! {
    /// An event with its place in the order that events became visible in.
    struct Listed from "events" {
        txn: i64,
        id: EventId,
        body: Json<EventRecord>,
    }
}

fn list_events(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &Input) -> Result<ListPage<EventRecord>> {
    let limit = input.limit.unwrap_or(LIST_ITEMS_DEFAULT);
    let cursor = input.cursor.as_deref().and_then(PageCursor::parse);
    let (txn, id) = cursor.map_or((0, String::new()), |cursor| {
        (cursor.at, format!("{}{}", EventId::PREFIX, cursor.id))
    });
    let txn = known_transaction(tx, txn)?;
    let circles: Vec<&Circle> = cx.actor.circles.distinct().collect();
    if input.cursor.is_none() && input.start == Some(Start::Now) {
        let newest = newest(tx, cx, &circles)?;
        return Ok(ListPage { items: Vec::new(), next: Some(newest) });
    }
    let mut found: Vec<Listed> = Vec::new();
    for circle in &circles {
        found.extend(after(tx, cx, circle, (txn, &id), limit)?);
    }
    found.sort_unstable_by(|a, b| (a.txn, &a.id).cmp(&(b.txn, &b.id)));
    found.truncate(limit as usize);
    let next = found
        .last()
        .map(|last| PageCursor::after(cx.now, last.txn, last.id.as_str(), EventId::PREFIX));
    Ok(ListPage { items: found.into_iter().map(|listed| listed.body.0).collect(), next })
}

/// The transaction of a cursor, as far as this database knows it. After a move from another database
/// events go on by their ids.
fn known_transaction(tx: &mut Tx<'_>, txn: i64) -> Result<i64> {
    if txn == 0 || tx.pick(true, false) {
        return Ok(0);
    }
    let (next,): (i64,) = tx
        .one("SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)", &[])?;
    Ok(if txn < next { txn } else { 0 })
}

/// The cursor behind everything that is visible.
fn newest(tx: &mut Tx<'_>, cx: &Cx<'_>, circles: &[&Circle]) -> Result<String> {
    let settled = settled_condition(tx);
    let mut newest = (0, EventId::PREFIX.to_owned() + "0");
    for circle in circles {
        let found: Option<(i64, String)> = tx.opt(
            &format!(
                "SELECT txn, id FROM events WHERE ws = ?1 AND circle = ?2 {settled}
                 ORDER BY txn DESC, id DESC LIMIT 1"
            ),
            &[&cx.actor.ws, circle],
        )?;
        newest = found.into_iter().fold(newest, Ord::max);
    }
    Ok(PageCursor::after(cx.now, newest.0, &newest.1, EventId::PREFIX))
}

/// On PostgreSQL only up to the oldest open transaction: it may still commit events with smaller
/// numbers than those already visible.
fn settled_condition(tx: &Tx<'_>) -> &'static str {
    tx.pick("", "AND txn < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)")
}

fn after(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    (txn, id): (i64, &str),
    limit: i64,
) -> Result<Vec<Listed>> {
    let settled = settled_condition(tx);
    Ok(tx.all(
        &format!(
            "SELECT {} FROM events
             WHERE ws = ?1 AND circle = ?2 AND (txn, id) > (?3, ?4) AND created_at > ?5 {settled}
             ORDER BY txn, id LIMIT ?6",
            Listed::COLUMNS
        ),
        &[&cx.actor.ws, circle, &txn, &id, &(cx.now - EVENTS_KEPT_MS), &limit],
    )?)
}
