//! `GET /webhooks`: the webhooks that a key looks after.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use db::Tx;
use model::webhooks::registration::visible_webhooks;

use crate::operations::{Access, ListPage, Method, Operation, ScopeRule, page};
use crate::webhook_json::WebhookJson;

pub const OPERATION: Operation = Operation {
    name: "list_webhooks",
    method: Method::Get,
    path: "/webhooks",
    tool: None,
    scope: ScopeRule::Always(Scope::Admin),
    access: Access::Read,
    idempotent: true,
    title: "List webhooks",
    about: "The webhooks of what this key sees, the oldest first: the team's, or with a test key the \
            sandbox's. Their secrets are not told again.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<WebhookJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "whk_01kag15c7e9g1j3m5n7q9s1v3w",
        "url": "https://shop.example/hooks/mailroom",
        "format": "mailroom",
        "events": ["client.replied", "message.sent", "message.flagged"],
        "state": "active",
        "createdAt": "2026-11-15T09:14:03.120Z"
    }]"#,
    run: |tx, cx, _| page(ListPage { items: list_webhooks(tx, cx)?, next: None }),
};

fn list_webhooks(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<WebhookJson>> {
    Ok(visible_webhooks(tx, cx)?.into_iter().map(WebhookJson::from).collect())
}
