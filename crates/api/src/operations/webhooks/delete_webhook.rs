//! `DELETE /webhooks/{id}`: removes a webhook.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::WebhookId;
use base::security::scopes::Scope;
use db::Tx;
use model::webhooks::registration::delete_visible_webhook;

use crate::operations::{Access, Method, Operation, PathInput, ScopeRule, answer, parse_input};
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "delete_webhook",
    method: Method::Delete,
    path: "/webhooks/{id}",
    tool: None,
    scope: ScopeRule::Always(Scope::Admin),
    access: Access::Write,
    idempotent: true,
    title: "Delete a webhook",
    about: "Removes a webhook and the log of what was sent to it. What waits for it is not sent. One \
            that this key does not see is not found.",
    fields: &[],
    body_optional: true,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: "{}",
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&delete_webhook(tx, cx, &parse_input(input)?)?),
};

fn delete_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &PathInput) -> Result<Done> {
    let id = WebhookId::parse(&input.id).ok_or(Error::NotFound("webhook"))?;
    delete_visible_webhook(tx, cx, &id)?;
    Ok(Done::OK)
}
