//! `GET /mailboxes`: the inboxes a key can see.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::leaving;
use model::figures::counters::{self, CounterKind};
use model::mailboxes;

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::wire::MailboxJson;

pub const OPERATION: Operation = Operation {
    name: "list_mailboxes",
    method: Method::Get,
    path: "/mailboxes",
    tool: Some(Tool {
        name: "list_mailboxes",
        about: "The inboxes and what is open in each.",
        help: "Lists the inboxes you can see, with their open conversations counted. Use it \
                for the ids that other tools take as mailbox. The customer notices nothing.",
        hints: &[],
        example: r#"{}"#,
        list: Some("mailboxes"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List inboxes",
    about: "Every inbox this key can see, with how many conversations are open in it.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<MailboxJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "mbx_01kag0w3e5r7t9y1u2p4a6s8df",
        "address": "support@acme.example",
        "name": "Support",
        "open": 12
    }]"#,
    run: |tx, cx, _| answer(&list_mailboxes(tx, cx)?),
};

fn list_mailboxes(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<MailboxJson>> {
    let open = counters::of_kind(tx, cx.actor, CounterKind::Open)?;
    // Open for its customer until the answer has left.
    let leaving = leaving::by_mailbox(tx, cx.actor)?;
    let seen = mailboxes::all_seen_by(tx, cx.actor)?;
    Ok(seen
        .into_iter()
        .map(|mailbox| MailboxJson {
            open: open.get(mailbox.id.as_str()).copied().unwrap_or(0)
                + leaving.get(&mailbox.id).copied().unwrap_or(0),
            id: mailbox.id,
            address: mailbox.address.into(),
            name: mailbox.name,
        })
        .collect())
}
