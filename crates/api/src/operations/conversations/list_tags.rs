//! `GET /tags`: tags with the number of open conversations.

use base::app::Cx;
use base::error::Result;
use base::ids::TagId;
use base::security::scopes::Scope;
use db::Tx;
use model::figures::counters::{self, CounterKind};

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::wire::Tag;

pub const OPERATION: Operation = Operation {
    name: "list_tags",
    method: Method::Get,
    path: "/tags",
    tool: Some(Tool {
        name: "list_tags",
        about: "The tags and how often each is used.",
        help: "Lists the team's tags with how many conversations have each. Use it before \
                tag_conversation. The customer notices nothing.",
        hints: &[],
        example: r#"{}"#,
        list: Some("tags"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List tags",
    about: "Every tag of the team, and those of the key's private inboxes, with how many of the conversations this key can see have it.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<Tag>>(),
    example_input: "",
    example_output: r#"[{ "id": "tag_01kag0v1b3n5m7k9j2h4g6f8ds", "name": "shipping", "count": 7 }]"#,
    run: |tx, cx, _| answer(&list_tags(tx, cx)?),
};

pub fn list_tags(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<Tag>> {
    let counts = counters::of_kind(tx, cx.actor, CounterKind::Tagged)?;
    let (first, second) = cx.actor.circles.pair();
    let tags: Vec<(TagId, String)> = tx.all(
        "SELECT id, name FROM tags WHERE ws = ?1 AND circle IN ('team', ?2, ?3)
         ORDER BY folded, circle",
        &[&cx.actor.ws, first, second],
    )?;
    Ok(tags
        .into_iter()
        .map(|(id, name)| Tag { count: counts.get(id.as_str()).copied().unwrap_or(0), id, name })
        .collect())
}
