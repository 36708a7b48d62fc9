//! Webhooks: added, listed and looked at.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{MailboxId, UserId, WebhookId};
use base::time::Moment;
use db::{Json, Tx};
use model::mailboxes;
use model::webhooks::registration::{self, check_chosen_events, insert_webhook};
use model::webhooks::{State, WebhookFormat};
use serde::Serialize;
use url::Url;

use crate::integrations::delivery_log::{find, looks_after};

pub use model::webhooks::registration::{MadeWebhook, check_url};

/// The error when a session begun by someone else's link creates a private webhook.
const PRIVATE_SHUT: &str = "Your private inboxes are shut in this session. Open them with your \
                            password first, under Settings, You.";

/// Adds a webhook of Mailroom's own format.
pub fn add_webhook(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    url: &Url,
    private: bool,
    livemode: bool,
) -> Result<MadeWebhook> {
    add_webhook_in_format(tx, cx, (url, WebhookFormat::Mailroom), private, livemode)
}

/// Adds a webhook for the team's inboxes, its maker's private ones, or the sandbox.
pub fn add_webhook_in_format(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    address: (&Url, WebhookFormat),
    private: bool,
    livemode: bool,
) -> Result<MadeWebhook> {
    cx.actor.must_administer()?;
    let Principal::Person { id: made_by, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a person can add a webhook.".into()));
    };
    let circle = match (livemode, private) {
        (false, true) => {
            return Err(Error::invalid("private", "the sandbox has no private inboxes"));
        }
        (false, false) => Circle::sandbox(),
        (true, true) if !cx.actor.sees(&Circle::of(made_by)) => {
            return Err(Error::Forbidden(PRIVATE_SHUT.into()));
        }
        (true, true) => Circle::of(made_by),
        (true, false) => Circle::team(),
    };
    insert_webhook(tx, cx, address, &circle, made_by)
}

/// Adds a webhook for one inbox that is for some, by somebody who sees it.
pub fn add_inbox_webhook(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    address: (&Url, WebhookFormat),
    mailbox: &MailboxId,
) -> Result<MadeWebhook> {
    cx.actor.must_administer()?;
    let Principal::Person { id: made_by, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a person can add a webhook.".into()));
    };
    let inbox = mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or(Error::NotFound("inbox"))?;
    if inbox.circle.inbox().is_none() {
        return Err(Error::invalid("inbox", "is for everybody; the webhooks of the team hear it"));
    }
    insert_webhook(tx, cx, address, &inbox.circle, made_by)
}

/// Chooses the events that a webhook hears beside those that all hear, by their names; for a chat all that it hears.
pub fn choose_events(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId, names: &[String]) -> Result<()> {
    let circle = find(tx, cx, id)?;
    let format = registration::format_of(tx, cx, id)?;
    let chosen = check_chosen_events(format, names, "event")?;
    registration::set_chosen_events(tx, cx, id, &circle, &chosen)
}

db::row! {
    #[derive(Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct WebhookListing from "webhooks" {
        pub id: WebhookId,
        pub url: String,
        pub format: WebhookFormat,
        pub livemode: bool,
        pub private: bool = "webhooks.circle LIKE 'usr%'",
        /// The inbox for some that it hears.
        pub inbox: Option<String> = "(SELECT b.name FROM mailboxes b
             WHERE b.ws = webhooks.ws AND b.id = webhooks.circle)",
        pub state: State,
        pub made_by: UserId,
        pub created_at: Moment,
        #[serde(skip)]
        circle: Circle,
    }
}

pub fn list_webhooks(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<WebhookListing>> {
    cx.actor.must_administer()?;
    let mut listed: Vec<WebhookListing> = tx.all(
        &format!(
            "SELECT {} FROM webhooks WHERE ws = ?1 ORDER BY created_at, id",
            WebhookListing::COLUMNS
        ),
        &[&cx.actor.ws],
    )?;
    // Another person's private webhook is not found.
    listed.retain(|webhook| looks_after(cx, &webhook.circle));
    Ok(listed)
}

db::row! {
    /// A webhook with the data of its page.
    pub struct WebhookDetail from "w" {
        pub url: String,
        pub format: WebhookFormat,
        pub livemode: bool,
        pub private: bool = "w.circle LIKE 'usr%'",
        /// The inbox for some that it hears.
        pub inbox: Option<String> = "(SELECT b.name FROM mailboxes b
             WHERE b.ws = w.ws AND b.id = w.circle)",
        pub state: State,
        /// `None` when its maker is not on the team any more.
        pub maker: Option<String> = "u.name",
        pub created_at: i64,
        /// The old secret signs too until then.
        pub old_secret_until: Option<i64>,
        /// The first failure after the last success.
        pub failing_since: Option<i64>,
        /// The names of the events that it hears beside those that all hear; one of a chat hears no others.
        pub chosen_events: Json<Vec<String>>,
    }
}

pub fn look_at_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<WebhookDetail> {
    find(tx, cx, id)?;
    let mut found: WebhookDetail = tx.one(
        &format!(
            "SELECT {} FROM webhooks w LEFT JOIN users u ON u.ws = w.ws AND u.id = w.made_by
             WHERE w.ws = ?1 AND w.id = ?2",
            WebhookDetail::COLUMNS
        ),
        &[&cx.actor.ws, id],
    )?;
    found.old_secret_until = found.old_secret_until.filter(|until| *until > cx.now);
    Ok(found)
}
