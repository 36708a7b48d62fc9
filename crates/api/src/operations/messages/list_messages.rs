//! `GET /messages`: outgoing messages that wait, are about to leave, or failed.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use base::limits::LIST_ITEMS_DEFAULT;
use base::security::scopes::Scope;
use base::states::MessageStatus;
use base::time::Moment;
use db::{Json, Tx};
use model::figures::counted_mail::snippet;
use model::messages::recipients::Party;
use model::messages::send_failure;

use crate::fields::{LIST_LIMIT, one_of};
use crate::input::input;
use crate::operations::{Access, ListPage, Method, Operation, ScopeRule, Tool, page, parse_input};
use crate::wire::OutgoingMessageJson;

pub const OPERATION: Operation = Operation {
    name: "list_messages",
    method: Method::Get,
    path: "/messages",
    tool: Some(Tool {
        name: "list_messages",
        about: "Drafts, scheduled and failed messages.",
        help: "Lists outgoing messages that have not reached the customer: drafts, \
                scheduled and failed ones, the latter with the reason. Use it to see what waits before you write, or to \
                find one to change or stop.",
        hints: &[],
        example: r#"{ "status": "scheduled" }"#,
        list: Some("messages"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List waiting messages",
    about: "Outgoing messages that this key can see and that have not reached the customer: \
            scheduled ones, the soonest to leave first; then drafts and failed ones, newest first. \
            A failed one has `reason`.",
    fields: Input::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<OutgoingMessageJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "msg_01kag11q2w3e4r5t6y7z8a9b0c",
        "conversationId": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
        "status": "scheduled",
        "to": ["bruno@keller.example"],
        "cc": [],
        "subject": "Re: Where is my order 20418?",
        "snippet": "Hello Bruno, your parcel left on Tuesday and should be with you tomorrow.",
        "author": "Robo",
        "createdAt": "2026-11-15T09:20:03.120Z",
        "sendsAt": "2026-11-15T09:30:03.120Z"
    }]"#,
    run: |tx, cx, input| {
        let items = list_messages(tx, cx, parse_input(input)?)?;
        page(ListPage { items, next: None })
    },
};

input! {
    struct Input {
        /// Only these; all three without it.
        #[optional(one_of(&["draft", "scheduled", "failed"]))]
        status: Option<MessageStatus>,
        #[shared(LIST_LIMIT)]
        limit: Option<i64> = LIST_ITEMS_DEFAULT,
    }
}

/// The statuses in the order they are listed, each with the order of its messages. An index has
/// each in that order for an inbox.
const STATUSES: [(MessageStatus, &str); 4] = [
    (
        MessageStatus::Scheduled,
        "m.status = 'scheduled' AND m.sends_at IS NOT NULL ORDER BY m.sends_at, m.id",
    ),
    // Those that somebody holds.
    (MessageStatus::Scheduled, "m.status = 'scheduled' AND m.sends_at IS NULL ORDER BY m.id"),
    (
        MessageStatus::Draft,
        "m.status = 'draft' AND m.discarded_at IS NULL ORDER BY m.at DESC, m.id DESC",
    ),
    (MessageStatus::Failed, "m.status = 'failed' ORDER BY m.at DESC, m.id DESC"),
];

fn list_messages(tx: &mut Tx<'_>, cx: &Cx<'_>, input: Input) -> Result<Vec<OutgoingMessageJson>> {
    let limit = input.limit.unwrap_or(LIST_ITEMS_DEFAULT);
    let (first, second) = cx.actor.circles.pair();
    let mut listed = Vec::new();
    for (status, in_order) in STATUSES {
        let left = limit - listed.len() as i64;
        if left == 0 || input.status.is_some_and(|wanted| wanted != status) {
            continue;
        }
        let rows: Vec<MessageRow> = tx.all(
            &format!(
                "SELECT {} FROM mailboxes b CROSS JOIN messages m
                 WHERE b.ws = ?1 AND b.circle IN (?2, ?3) AND m.ws = b.ws AND m.mailbox = b.id
                   AND {in_order} LIMIT ?4",
                MessageRow::COLUMNS
            ),
            &[&cx.actor.ws, first, second, &left],
        )?;
        listed.extend(rows.into_iter().map(OutgoingMessageJson::from));
    }
    Ok(listed)
}

db::row! {
    struct MessageRow from "m" {
        id: MessageId,
        conversation: ConversationId,
        status: MessageStatus,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        subject: String,
        text: String,
        from_name: Option<String>,
        at: Moment,
        sends_at: Option<Moment>,
        held: bool = "m.held_at IS NOT NULL",
        outcome_code: Option<String>,
        outcome_text: Option<String>,
    }
}

impl From<MessageRow> for OutgoingMessageJson {
    fn from(row: MessageRow) -> OutgoingMessageJson {
        OutgoingMessageJson {
            id: row.id,
            conversation_id: row.conversation,
            status: row.status,
            to: row.to_list.0.into_iter().map(|party| party.email).collect(),
            cc: row.cc_list.0.into_iter().map(|party| party.email).collect(),
            subject: row.subject,
            snippet: snippet(&row.text),
            author: row.from_name,
            created_at: row.at,
            sends_at: row.sends_at,
            held: row.held,
            reason: send_failure::of_row(Some(row.status), row.outcome_code, row.outcome_text),
        }
    }
}
