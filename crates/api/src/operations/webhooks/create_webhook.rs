//! `POST /webhooks`: adds a webhook.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::UserId;
use base::limits::{EVENT_NAME_CHARS, EVENT_NAMES, WEBHOOK_URL_CHARS};
use base::security::scopes::Scope;
use db::Tx;
use model::webhooks::WebhookFormat;
use model::webhooks::events::{self, CHAT_EVENTS_AT_FIRST};
use model::webhooks::registration::{
    check_chosen_events, check_url, insert_webhook, masked_address, set_chosen_events,
};

use crate::fields::{InputKind, filled_text, list, one_of};
use crate::input::input;
use crate::operations::{
    Access, Method, Operation, OperationOutput, ScopeRule, answer, parse_input,
};
use crate::webhook_json::{CreatedWebhook, heard_events};

const NAMES: InputKind = list(0, EVENT_NAMES, &filled_text(EVENT_NAME_CHARS));

pub const OPERATION: Operation = Operation {
    name: "create_webhook",
    method: Method::Post,
    path: "/webhooks",
    tool: None,
    scope: ScopeRule::Always(Scope::Admin),
    access: Access::Write,
    idempotent: false,
    title: "Add a webhook",
    about: "Adds a public `https://` address that is told of what happens in the team's inboxes, or \
            with a test key in the sandbox. Every webhook hears the events that are not by choice; \
            `events` adds those that are, such as `message.flagged`. `secret` signs what is sent, and \
            is told this once. With `format` it is the address of an incoming webhook of a chat, which gets \
            messages about the conversations of the named `events` alone.",
    fields: CreateWebhookInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<CreatedWebhook>(),
    example_input: r#"{
        "url": "https://shop.example/hooks/mailroom",
        "events": ["message.flagged"]
    }"#,
    example_output: r#"{
        "id": "whk_01kag15c7e9g1j3m5n7q9s1v3w",
        "url": "https://shop.example/hooks/mailroom",
        "format": "mailroom",
        "events": ["client.replied", "message.sent", "message.flagged"],
        "secret": "whsec_bm90IGEgc2VjcmV0LCBvbmx5IGFuIGV4YW1wbGU="
    }"#,
    run: |tx, cx, input| {
        let created = create_webhook(tx, cx, &parse_input(input)?)?;
        Ok(OperationOutput { has_secret: true, ..answer(&created)? })
    },
};

input! {
    struct CreateWebhookInput {
        /// A public address that begins with https://, and whose name leads to public addresses alone.
        #[required(filled_text(WEBHOOK_URL_CHARS))]
        url: String,
        /// mailroom, or the chat that gets messages; its address is a secret that is not told again.
        #[optional(one_of(WebhookFormat::NAMES))]
        format: Option<WebhookFormat> = "mailroom",
        /// Names of events by choice that it hears, too. Names of those that all hear change nothing.
        #[optional(NAMES)]
        events: Vec<String> = [],
    }
}

/// Whether the name of the address leads to public addresses is for the server to find out before: it
/// waits for the network.
fn create_webhook(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &CreateWebhookInput,
) -> Result<CreatedWebhook> {
    let url = check_url(&input.url, true)?;
    let format = input.format.unwrap_or(WebhookFormat::Mailroom);
    let chosen = chosen_events(format, &input.events)?;
    let circle = if cx.actor.livemode() { Circle::team() } else { Circle::sandbox() };
    let maker = maker_of_key(tx, cx)?;
    let made = insert_webhook(tx, cx, (&url, format), &circle, &maker)?;
    if !input.events.is_empty() && !chosen.is_empty() {
        set_chosen_events(tx, cx, &made.id, &circle, &chosen)?;
    }
    Ok(CreatedWebhook {
        id: made.id,
        url: if format.is_chat() { masked_address(&url) } else { url.into() },
        format,
        events: heard_events(format, &chosen),
        secret: made.secret,
    })
}

/// The events by choice among the named ones; for a chat that names none, those that it hears at first.
fn chosen_events(format: WebhookFormat, names: &[String]) -> Result<Vec<&'static str>> {
    if format.is_chat() && names.is_empty() {
        return Ok(CHAT_EVENTS_AT_FIRST.to_vec());
    }
    if format.is_chat() {
        return check_chosen_events(format, names, "events");
    }
    let known = events::names();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let sentence = format!("{unknown} is no event; there are {}", known.join(", "));
        return Err(Error::invalid("events", sentence));
    }
    let mut chosen = events::choosable_names(format);
    chosen.retain(|known| names.iter().any(|name| name == known));
    Ok(chosen)
}

/// A webhook stands for a person: the one who made the key.
fn maker_of_key(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<UserId> {
    let Principal::Agent { id, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a key has an agent.".into()));
    };
    let (maker,): (UserId,) =
        tx.one("SELECT made_by FROM agents WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    Ok(maker)
}
