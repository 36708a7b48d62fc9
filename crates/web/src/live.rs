//! Live updates: open pages are notified when what they show has changed.
//!
//! A page names what it shows. After each commit the server cheaply checks whether that has changed
//! and notifies the page, which refetches itself. A page sends the version that it has when it
//! connects and reconnects, and is notified at once if that is stale.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use actions::conversations::open_conversation;
use actions::inboxes::first_steps;
use actions::integrations::delivery_log;
use actions::writing::approvals;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Error;
use base::ids::{MessageId, WebhookId};
use db::Tx;
use hyper::body::{Body as HttpBody, Frame};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, mpsc};
use transport::http::Stopping;

use crate::Web;
use crate::forms::form::{Asked, FormFields};
use crate::layout::responses::{PageError, PageResult, guard};
use crate::page_version::{PageVersion, PartVersion};
use crate::pages::lists::conversation_list::ConversationFilter;
use crate::presence::PresenceGuard;
use crate::visitor::Visitor;

/// Changes within this time are notified together.
const TOGETHER: Duration = Duration::from_millis(150);
/// Keeps connections open through proxies and finds those that are closed; what ends by the clock is
/// checked at the same time.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// Delivery attempts wake no page, because there are too many: the page of a log polls.
const LOG_CHECKS: Duration = Duration::from_secs(2);
/// Lines that may wait for a slow page before it is disconnected.
const LINES: usize = 4;
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

pub async fn listen(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    stopping: Option<Extension<Stopping>>,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> PageResult {
    let Ok(place) = Arc::clone(&web.listeners).try_acquire_owned() else {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        return Ok(response);
    };
    // Subscribes before the first check, so that no change is missed in between.
    let wakes = web.app.store.wakes();
    let presence = enter(&web, &visitor, &asked).await?;
    let shown = look(&web, &visitor, &asked).await?;
    let missed = match had(&headers, &asked) {
        // Delivery attempts wake no page: the page of a log checks once more.
        Some(_) if asked.has("webhook") => true,
        Some(had) => had != shown.hex(),
        None => false,
    };
    let stopping = stopping.map(|Extension(Stopping(token))| token).unwrap_or_default();
    let (lines, sent) = mpsc::channel(LINES);
    let page = Page { web, visitor, asked, shown, missed, lines, presence };
    tokio::spawn(async move {
        tokio::select! {
            () = page.watch(wakes) => {}
            // The browser reconnects by itself.
            () = stopping.cancelled() => {}
        }
        drop(place);
    });
    let mut response = Response::new(Body::new(Lines(sent)));
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

/// The version that the page has: a browser that reconnects sends the last one it received.
fn had(headers: &HeaderMap, asked: &FormFields) -> Option<String> {
    let told = headers.get("last-event-id").and_then(|mark| mark.to_str().ok());
    told.map(str::to_owned).or_else(|| asked.opt("mark"))
}

/// The lines that are not sent yet.
struct Lines(mpsc::Receiver<Bytes>);

impl HttpBody for Lines {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}

/// One open page.
struct Page {
    web: Arc<Web>,
    visitor: Visitor,
    asked: FormFields,
    shown: PageVersion,
    /// True if something changed between rendering the page and subscribing.
    missed: bool,
    lines: mpsc::Sender<Bytes>,
    /// Makes the reader visible to others in the same conversation.
    presence: Option<PresenceGuard>,
}

impl Page {
    async fn watch(mut self, mut wakes: broadcast::Receiver<String>) {
        let first = if self.missed { "changed" } else { "here" };
        if !self.tell(first).await {
            return;
        }
        let mut comings = self.web.presence.changes();
        let pause = if self.asked.has("webhook") { LOG_CHECKS } else { HEARTBEAT };
        loop {
            tokio::select! {
                came = comings.recv() => match came {
                    Ok(key) if self.presence.as_ref().is_none_or(|guard| *guard.key() != key) => continue,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                woken = wakes.recv() => match woken {
                    Ok(queue) if queue != Queue::Pages.as_str() => continue,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                () = tokio::time::sleep(pause) => {
                    if self.lines.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                        return;
                    }
                    if let Some(guard) = &self.presence {
                        guard.announce_again();
                    }
                }
                () = self.lines.closed() => return,
            }
            tokio::time::sleep(TOGETHER).await;
            while matches!(wakes.try_recv(), Ok(_) | Err(TryRecvError::Lagged(_))) {}
            match look(&self.web, &self.visitor, &self.asked).await {
                Ok(now) if now == self.shown => {}
                Ok(now) => {
                    self.shown = now;
                    if !self.tell("changed").await {
                        return;
                    }
                }
                // Signed out, or what was shown is gone: the page learns it by refetching itself.
                Err(_) => {
                    self.tell("changed").await;
                    return;
                }
            }
        }
    }

    /// Sends the version along, so that a page that reconnects can name it.
    async fn tell(&self, event: &str) -> bool {
        let mark = self.shown.hex();
        let line = format!("event: {event}\ndata: {mark}\nid: {mark}\n\n");
        self.lines.send(Bytes::from(line)).await.is_ok()
    }
}

/// The version of what a page shows now.
async fn look(
    web: &Arc<Web>,
    visitor: &Visitor,
    asked: &FormFields,
) -> Result<PageVersion, PageError> {
    let (asked, here) = (asked.clone(), Arc::clone(web));
    web.read(visitor, move |tx, cx, me| {
        let sidebar = actions::conversations::sidebar::sidebar(tx, cx)?;
        let shown = mark_shown(tx, cx, &asked)?;
        let present = match asked.opt("conversation") {
            Some(id) => here.mark_present(cx.actor.ws, &id, &me.id, cx.now),
            None => PartVersion::default(),
        };
        Ok(PageVersion::new(&sidebar, shown, present))
    })
    .await
}

/// An open page of a conversation is a visit that others see.
async fn enter(
    web: &Web,
    visitor: &Visitor,
    asked: &FormFields,
) -> Result<Option<PresenceGuard>, PageError> {
    let Some(id) = asked.opt("conversation") else { return Ok(None) };
    let (key, me, name) = web
        .read(visitor, move |tx, cx, me| {
            model::conversations::load(tx, cx.actor, &id)?;
            Ok(((cx.actor.ws, id.clone()), me.id.clone(), cx.actor.name().to_owned()))
        })
        .await?;
    Ok(Some(web.presence.enter(key, &me, &name)))
}

fn mark_shown(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    asked: &FormFields,
) -> base::error::Result<PartVersion> {
    match asked.get("page").as_str() {
        "leaving" | "mentions" => return Ok(PartVersion::default()),
        "welcome" => {
            return Ok(PartVersion::of(first_steps::first_steps(tx, cx)?));
        }
        "webhook" => {
            let id = WebhookId::parse(&asked.get("webhook")).ok_or(Error::NotFound("webhook"))?;
            return Ok(PartVersion::of(delivery_log::latest_deliveries(tx, cx, &id)?));
        }
        "approvals" => {
            let queue = approvals::queue(tx, cx)?;
            let Some(id) = asked.opt("draft") else {
                return Ok(PartVersion::of_drafts(&queue, None));
            };
            let id = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
            let (draft, _) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
            let looked_at = (draft.revision, draft.status.as_str());
            return Ok(PartVersion::of_drafts(&queue, Some(looked_at)));
        }
        _ => {}
    }
    let list = PartVersion::of_list(&ConversationFilter::from_query(asked)?.read(tx, cx)?.items);
    match asked.opt("conversation") {
        Some(id) => {
            Ok(PartVersion::of_conversation(list, &open_conversation::latest_of(tx, cx, &id)?))
        }
        None => Ok(list),
    }
}
