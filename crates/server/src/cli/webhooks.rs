//! Webhooks at the command line: everything that can be done with one.

use actions::integrations::delivery_log::{self, DeliveryState, LogFilter, LoggedDelivery};
use actions::integrations::webhooks;
use base::ids::{EventId, WebhookId};
use base::limits::{HOUR_MS, OLD_SECRET_MS};
use base::security::public_ip::is_public_host;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use model::webhooks::{WebhookFormat, events};
use serde_json::json;
use transport::net::ssrf_guard::SsrfGuard;

use super::command::{CommandResult, WorkspaceArgs, open, person, print, sentence, word_of};
use crate::serve::net_config;
use crate::settings::Settings;

/// Characters of an answer that the log shows.
const ANSWER_CHARS: usize = 200;

#[derive(Subcommand)]
pub enum Webhook {
    /// Add an address that is told of events; its secret is shown this once. One of a chat is itself the secret
    Add {
        /// A public https:// address; its name must lead to public addresses alone
        url: String,
        /// The owner or admin who adds it
        #[arg(long, value_name = "EMAIL")]
        by: String,
        /// In which form it is told: signed events, or messages of a chat
        #[arg(long, value_name = "FORMAT", default_value = "mailroom", value_parser = word_of!(WebhookFormat))]
        format: WebhookFormat,
        /// Hears the sandbox
        #[arg(long)]
        test: bool,
        /// Hears only the private inboxes of the one who adds it
        #[arg(long)]
        private: bool,
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Choose the events that one hears beside those that all hear, for a chat all it hears; no name for none
    Events {
        #[command(flatten)]
        one: One,
        #[arg(value_name = "EVENT", value_parser = PossibleValuesParser::new(events::all_choosable_names()))]
        names: Vec<String>,
    },
    /// List the webhooks
    List {
        #[command(flatten)]
        workspace: WorkspaceArgs,
    },
    /// Give one a new secret, shown this once; the old one signs too for a while
    Rotate(One),
    /// Send nothing to one until it is resumed
    Pause(One),
    /// Let events through again
    Resume(One),
    /// Remove one and its log
    Delete(One),
    /// Send a test event to one
    Test(One),
    /// Show what was sent to one in the last 30 days, newest first, with every try
    Log {
        #[command(flatten)]
        one: One,
        /// Only those in this state
        #[arg(long, value_name = "STATE", value_parser = word_of!(DeliveryState))]
        state: Option<DeliveryState>,
        /// Only events of this name, such as client.replied
        #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(events::names()))]
        event: Option<String>,
        /// Only events before this one
        #[arg(long, value_name = "EVENT")]
        before: Option<String>,
    },
    /// Send an event once more, with the same id
    Redeliver {
        #[command(flatten)]
        one: One,
        /// The event's id
        event: String,
    },
}

/// Which webhook a command is about.
#[derive(Args)]
pub struct One {
    /// The webhook's id, as `webhook list` shows it
    id: String,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl One {
    fn id(&self) -> Result<WebhookId, String> {
        WebhookId::parse(&self.id).ok_or_else(|| "A webhook's id starts with whk_.".to_owned())
    }
}

impl Webhook {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        match self {
            Webhook::Add { url, by, format, test, private, workspace } => {
                add(settings, (&url, format), by, (test, private), workspace).await
            }
            Webhook::Events { one, names } => choose(settings, one, names).await,
            Webhook::List { workspace } => list(settings, workspace).await,
            Webhook::Rotate(one) => rotate(settings, one).await,
            Webhook::Pause(one) => {
                change(settings, one, delivery_log::pause_webhook, "Paused.").await
            }
            Webhook::Resume(one) => {
                change(settings, one, delivery_log::resume_webhook, "Resumed.").await
            }
            Webhook::Delete(one) => {
                change(settings, one, delivery_log::delete_webhook, "Deleted.").await
            }
            Webhook::Test(one) => test(settings, one).await,
            Webhook::Log { one, state, event, before } => {
                log(settings, one, state, event, before).await
            }
            Webhook::Redeliver { one, event } => redeliver(settings, one, &event).await,
        }
    }
}

async fn add(
    settings: &Settings,
    (url, format): (&str, WebhookFormat),
    by: String,
    (test, private): (bool, bool),
    workspace: WorkspaceArgs,
) -> CommandResult {
    let app = open(settings).await?;
    let maker = person(&app, &workspace.operator(&app).await?, by).await?;
    let vetted = SsrfGuard::of(&net_config(settings))?.vet(url).await;
    let url = vetted.map_err(|error| refusal(url, error))?;
    let made = app
        .act(&maker, move |tx, cx| {
            webhooks::add_webhook_in_format(tx, cx, (&url, format), private, !test)
        })
        .await
        .map_err(sentence)?;
    let said = match &made.secret {
        Some(secret) => format!(
            "{} is told of events from now on. Its secret, which is shown this once:\n{secret}",
            made.id
        ),
        None => format!("{} gets messages from now on. Its address is not shown again.", made.id),
    };
    print(workspace.output, &json!(made), &said);
    Ok(())
}

/// Why an address cannot be added. Whoever names their own computer or network is building a receiver, and
/// reads what to use meanwhile.
fn refusal(address: &str, error: base::error::Error) -> String {
    let said = sentence(error);
    let parsed = url::Url::parse(address).ok();
    let is_private =
        parsed.as_ref().and_then(url::Url::host).is_some_and(|host| !is_public_host(&host));
    if !is_private {
        return said;
    }
    format!(
        "{said} While you build a receiver, mailroom listen --forward-to {address} takes events to it \
         without a webhook. A server that runs with MAILROOM_WEBHOOKS_ALLOW_PRIVATE=true takes such \
         addresses, for development."
    )
}

async fn list(settings: &Settings, workspace: WorkspaceArgs) -> CommandResult {
    let app = open(settings).await?;
    let operator = workspace.operator(&app).await?;
    let hooks = app.read(&operator, webhooks::list_webhooks).await.map_err(sentence)?;
    let lines = hooks.iter().map(|hook| {
        let kind = if hook.livemode { "live" } else { "test" };
        let (state, format) = (hook.state.as_str(), hook.format.as_str());
        format!("{}  {kind}  {state}  {format}  {}", hook.id, hook.url)
    });
    print(workspace.output, &json!({ "webhooks": hooks }), &lines.collect::<Vec<_>>().join("\n"));
    Ok(())
}

async fn choose(settings: &Settings, one: One, names: Vec<String>) -> CommandResult {
    let app = open(settings).await?;
    let (id, operator) = (one.id()?, one.workspace.operator(&app).await?);
    let chosen = app.act(&operator, move |tx, cx| webhooks::choose_events(tx, cx, &id, &names));
    chosen.await.map_err(sentence)?;
    print(one.workspace.output, &json!({ "ok": true }), "Chosen.");
    Ok(())
}

async fn rotate(settings: &Settings, one: One) -> CommandResult {
    let app = open(settings).await?;
    let (id, operator) = (one.id()?, one.workspace.operator(&app).await?);
    let rotated = app.act(&operator, move |tx, cx| delivery_log::rotate_secret(tx, cx, &id)).await;
    let secret = rotated.map_err(sentence)?;
    let hours = OLD_SECRET_MS / HOUR_MS;
    let said = format!("{secret}\nIt is shown this once. The old one signs too for {hours} hours.");
    print(one.workspace.output, &json!({ "secret": secret }), &said);
    Ok(())
}

type Change = fn(&mut db::Tx<'_>, &base::app::Cx<'_>, &WebhookId) -> base::error::Result<()>;

async fn change(settings: &Settings, one: One, change: Change, said: &str) -> CommandResult {
    let app = open(settings).await?;
    let (id, operator) = (one.id()?, one.workspace.operator(&app).await?);
    app.act(&operator, move |tx, cx| change(tx, cx, &id)).await.map_err(sentence)?;
    print(one.workspace.output, &json!({ "ok": true }), said);
    Ok(())
}

async fn test(settings: &Settings, one: One) -> CommandResult {
    let app = open(settings).await?;
    let (id, operator) = (one.id()?, one.workspace.operator(&app).await?);
    let sent = app.act(&operator, move |tx, cx| delivery_log::send_test_event(tx, cx, &id)).await;
    let event = sent.map_err(sentence)?;
    let said = format!("{event} is on its way while a server runs; see `webhook log`.");
    print(one.workspace.output, &json!({ "event": event }), &said);
    Ok(())
}

async fn log(
    settings: &Settings,
    one: One,
    state: Option<DeliveryState>,
    event_type: Option<String>,
    before: Option<String>,
) -> CommandResult {
    let before = before.as_deref().map(event_id).transpose()?;
    let app = open(settings).await?;
    let (id, operator) = (one.id()?, one.workspace.operator(&app).await?);
    let filter = LogFilter { state, event_type, before };
    let log =
        app.read(&operator, move |tx, cx| delivery_log::delivery_log(tx, cx, &id, &filter)).await;
    let log = log.map_err(sentence)?;
    let lines: Vec<String> = log.iter().map(line).collect();
    print(one.workspace.output, &json!({ "deliveries": log }), &lines.join("\n"));
    Ok(())
}

fn line(delivery: &LoggedDelivery) -> String {
    let attempts = delivery.attempts.iter().map(|tried| {
        let status = tried.status.map_or("no answer".to_owned(), |status| status.to_string());
        let (at, took) = (tried.at.iso(), tried.took_ms);
        format!("\n    {at}  {status}  {took} ms  {}", one_line(&tried.answer))
            .trim_end()
            .to_owned()
    });
    let (state, kind) = (delivery.state.as_str(), &delivery.event_type);
    format!("{}  {state:9}  {kind}{}", delivery.event, attempts.collect::<String>())
}

/// The start of what a receiver answered, fit for a terminal: without control characters.
fn one_line(answer: &str) -> String {
    let plain = answer.chars().map(|c| if c.is_control() { ' ' } else { c });
    let plain: String = plain.take(ANSWER_CHARS).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn redeliver(settings: &Settings, one: One, event: &str) -> CommandResult {
    let event = event_id(event)?;
    let app = open(settings).await?;
    let (id, operator) = (one.id()?, one.workspace.operator(&app).await?);
    app.act(&operator, move |tx, cx| delivery_log::redeliver(tx, cx, &id, &event))
        .await
        .map_err(sentence)?;
    print(one.workspace.output, &json!({ "ok": true }), "On its way while a server runs.");
    Ok(())
}

fn event_id(text: &str) -> Result<EventId, String> {
    EventId::parse(text).ok_or_else(|| "An event's id starts with evt_.".to_owned())
}
