//! Browsers that take notices: their subscriptions, the installation's key pair, and the messages on
//! their way.

use base::actor::Circle;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{ConversationId, SessionId, SubscriptionId, UserId};
use base::limits::{DEVICE_CHARS, SESSION_IDLE_MS, SESSION_MS};
use base::security::web_push::{PushTarget, VapidKey};
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::installation::sealing;

/// The workspace under which the key pair of the installation is kept, and its name.
const INSTALLATION: i64 = 0;
const KEY_NAME: &str = "vapid";
const ID_CHARS: usize = 24;

/// The key pair by which push services know this installation, made at its first use. All nodes share it, and
/// so do all workspaces: a browser subscribes to a site.
pub fn vapid_key(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<VapidKey> {
    let found: Option<(String,)> = tx.opt(
        "SELECT secret FROM push_keys WHERE ws = ?1 AND id = ?2",
        &[&INSTALLATION, &KEY_NAME],
    )?;
    let unreadable =
        || Error::Files(std::io::Error::other("the key of push messages is unreadable"));
    let purpose = sealing::push_key_purpose();
    let kept = match found {
        Some((kept,)) => sealing::unseal(cx.sealer, &purpose, kept)?,
        None => {
            // Of two that make one at the same time, one loses the race and reads the other's.
            let made = VapidKey::generate().ok_or_else(unreadable)?;
            tx.exec(
                "INSERT INTO push_keys (ws, id, secret) VALUES (?1, ?2, ?3)",
                &[&INSTALLATION, &KEY_NAME, &sealing::seal(cx, &purpose, &made)],
            )?;
            made
        }
    };
    VapidKey::read(&kept).ok_or_else(unreadable)
}

db::row! {
    /// A browser that takes notices.
    #[derive(Clone, Debug)]
    pub struct SubscribedBrowser from "p" {
        pub id: SubscriptionId,
        pub session: SessionId,
        pub device: String,
        pub created_at: i64,
        pub used_at: Option<i64>,
        /// False while private inboxes, and those for some, are shut in its session.
        pub opens_private: bool = "s.opens_private",
        pub person: UserId,
        target: String,
    }
}

/// A person's browsers whose session goes on, the newest first.
pub fn browsers(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<Vec<SubscribedBrowser>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM push_subscriptions p
             JOIN sessions s ON s.ws = p.ws AND s.person = p.person AND s.id = p.session
             WHERE p.ws = ?1 AND p.person = ?2 AND s.seen_at > ?3 AND s.created_at > ?4
             ORDER BY p.id DESC",
            SubscribedBrowser::COLUMNS
        ),
        &[&cx.actor.ws, person, &(cx.now - SESSION_IDLE_MS), &(cx.now - SESSION_MS)],
    )?)
}

/// One of them, if its session goes on.
fn browser(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    id: &SubscriptionId,
) -> Result<Option<SubscribedBrowser>> {
    Ok(browsers(tx, cx, person)?.into_iter().find(|browser| browser.id == *id))
}

/// True where notices to a person's browsers may have somewhere to go.
pub fn has_browser(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<bool> {
    let found: Option<(SubscriptionId,)> = tx.opt(
        "SELECT id FROM push_subscriptions WHERE ws = ?1 AND person = ?2 LIMIT 1",
        &[&ws, person],
    )?;
    Ok(found.is_some())
}

/// Subscribes the browser of a session. It has one subscription, and an address belongs to whoever
/// subscribed last: people who share a computer do not get each other's notices.
pub fn subscribe(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    session: &SessionId,
    device: &str,
    target: &PushTarget,
) -> Result<SubscriptionId> {
    refuse_in_sample(tx, cx.actor.ws)?;
    if !target.is_usable() {
        return Err(Error::invalid("browser", "This browser gave keys that cannot be used."));
    }
    let hash = Sha256::digest(&target.endpoint);
    let before: Vec<(i64, UserId, SubscriptionId)> = tx.all(
        "SELECT ws, person, id FROM push_subscriptions WHERE endpoint_hash = ?1",
        &[&hash.as_slice()],
    )?;
    let of_session: Vec<(SubscriptionId,)> = tx.all(
        "SELECT id FROM push_subscriptions WHERE ws = ?1 AND person = ?2 AND session = ?3",
        &[&cx.actor.ws, person, session],
    )?;
    let of_session = of_session.into_iter().map(|(id,)| (cx.actor.ws, person.clone(), id));
    for (ws, person, id) in before.into_iter().chain(of_session) {
        end(tx, ws, &person, &id)?;
    }
    let id = SubscriptionId::new(cx.ids, cx.now);
    let text = serde_json::to_string(target)?;
    let sealed = sealing::seal(cx, &sealing::push_target_purpose(cx.actor.ws, &id), &text);
    let device: String = device.chars().filter(|c| !c.is_control()).take(DEVICE_CHARS).collect();
    tx.exec(
        "INSERT INTO push_subscriptions (
            ws, person, id, session, device, endpoint_hash, target, created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[&cx.actor.ws, person, &id, session, &device, &hash.as_slice(), &sealed, &cx.now],
    )?;
    Ok(id)
}

/// Ends a subscription with what is on its way to it; false where there is none.
pub fn end(tx: &mut Tx<'_>, ws: i64, person: &UserId, id: &SubscriptionId) -> Result<bool> {
    tx.exec("DELETE FROM push_messages WHERE ws = ?1 AND subscription = ?2", &[&ws, id])?;
    let ended = tx.exec(
        "DELETE FROM push_subscriptions WHERE ws = ?1 AND person = ?2 AND id = ?3",
        &[&ws, person, id],
    )?;
    Ok(ended > 0)
}

/// Ends the subscriptions of a person whose sessions are over.
pub fn end_with_sessions(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<()> {
    let over: Vec<(SubscriptionId,)> = tx.all(
        "SELECT p.id FROM push_subscriptions p
         WHERE p.ws = ?1 AND p.person = ?2 AND NOT EXISTS (
             SELECT 1 FROM sessions s
             WHERE s.ws = p.ws AND s.person = p.person AND s.id = p.session
         )",
        &[&ws, person],
    )?;
    for (id,) in over {
        end(tx, ws, person, &id)?;
    }
    Ok(())
}

/// What a browser shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrowserNotice {
    pub title: String,
    pub body: String,
    /// The path that a click opens.
    pub url: String,
    /// A notice replaces the one with the same tag.
    pub tag: String,
    #[serde(skip)]
    pub urgent: bool,
    /// The conversation that the person must still be allowed to see when it leaves.
    #[serde(skip)]
    pub conversation: Option<ConversationId>,
}

/// Puts a message to a browser into the queue.
pub fn send(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    browser: &SubscribedBrowser,
    notice: &BrowserNotice,
) -> Result<()> {
    let (ws, id) = (cx.actor.ws, cx.ids.token(ID_CHARS));
    let text = serde_json::to_string(notice)?;
    let payload = sealing::seal(cx, &sealing::push_message_purpose(ws, &id), &text);
    tx.exec(
        "INSERT INTO push_messages (
            ws, id, person, subscription, conversation, payload, topic, urgent, due_at, attempts,
            created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?9)",
        &[
            &ws,
            &id,
            &browser.person,
            &browser.id,
            &notice.conversation,
            &payload,
            &topic(&notice.tag),
            &notice.urgent,
            &cx.now,
        ],
    )?;
    tx.wake(Queue::PushMessages);
    Ok(())
}

/// The topic of a message (RFC 8030, 5.4): a newer one takes the place of one that waits. It tells the push
/// service nothing but that.
fn topic(tag: &str) -> String {
    Sha256::digest(tag).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

db::row! {
    /// A message on its way, as it is kept.
    struct QueuedPush from "push_messages" {
        person: UserId,
        subscription: SubscriptionId,
        conversation: Option<ConversationId>,
        payload: String,
        topic: String,
        urgent: bool,
        attempts: i64,
        created_at: i64,
    }
}

/// A message that may leave now.
pub struct PushMessage {
    pub person: UserId,
    pub subscription: SubscriptionId,
    pub target: PushTarget,
    pub payload: String,
    pub topic: String,
    pub urgent: bool,
    pub attempts: i64,
    pub created_at: i64,
}

/// A message with the browser it is for. `None` where it must not leave any more: the session is over, or
/// the person may not see the conversation.
pub fn load(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    sees: impl FnOnce(&mut Tx<'_>, &UserId, &ConversationId) -> Result<Option<Circle>>,
) -> Result<Option<PushMessage>> {
    let ws = cx.actor.ws;
    let queued: Option<QueuedPush> = tx.opt(
        &format!("SELECT {} FROM push_messages WHERE ws = ?1 AND id = ?2", QueuedPush::COLUMNS),
        &[&ws, &id],
    )?;
    let Some(queued) = queued else { return Ok(None) };
    let Some(browser) = browser(tx, cx, &queued.person, &queued.subscription)? else {
        return Ok(None);
    };
    if let Some(conversation) = &queued.conversation {
        let circle = sees(tx, &queued.person, conversation)?;
        if !circle.is_some_and(|circle| browser.may_show(&circle)) {
            return Ok(None);
        }
    }
    let purpose = sealing::push_target_purpose(ws, &browser.id);
    let target = sealing::unseal(cx.sealer, &purpose, browser.target)?;
    let target = serde_json::from_str(&target)?;
    let payload =
        sealing::unseal(cx.sealer, &sealing::push_message_purpose(ws, id), queued.payload)?;
    Ok(Some(PushMessage {
        person: queued.person,
        subscription: queued.subscription,
        target,
        payload,
        topic: queued.topic,
        urgent: queued.urgent,
        attempts: queued.attempts,
        created_at: queued.created_at,
    }))
}

impl SubscribedBrowser {
    /// True where its session sees what is in a circle that its person belongs to.
    pub fn may_show(&self, circle: &Circle) -> bool {
        self.opens_private || circle.is_team()
    }
}
