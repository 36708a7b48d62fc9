//! Open pages hear when what they show has changed.
//!
//! A page says what it shows; after each commit the server looks whether that has become
//! different, by reading little, and tells the page, which fetches itself again. A page that lost
//! its connection says on returning what it had, and is told at once if that is old.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::http::{HeaderValue, Response, StatusCode};
use db::Tx;
use hyper::body::{Body as HttpBody, Frame};
use inbox::ids::{MessageId, WebhookId};
use inbox::people::{self, Shelves};
use inbox::{App, Cx, Error, PAGES};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::Web;
use super::answers::{Answer, Refusal, guard};
use super::form::{Asked, Fields};
use super::presence::Stay;
use super::rows::Shelf;
use super::visitor::Visitor;

/// Changes that come close together are told as one.
const TOGETHER: Duration = Duration::from_millis(150);
/// A word now and then keeps connections open through proxies and finds those that are gone; what
/// ends by the clock is looked at then too.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// Tries of webhooks wake nobody, there are too many of them: the page of a log looks by itself.
const LOG_LOOKS: Duration = Duration::from_secs(2);
/// Lines that may wait for a slow page before it is let go.
const LINES: usize = 4;
/// Pages that may wait to hear of the latest change.
const QUESTIONS: usize = 64;
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

pub async fn listen(State(web): State<Arc<Web>>, visitor: Visitor, Asked(asked): Asked) -> Answer {
    let Ok(place) = Arc::clone(&web.listeners).try_acquire_owned() else {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        return Ok(response);
    };
    // Listening begins before the first look, so that nothing falls in between.
    let wakes = web.app.store.wakes();
    let stay = enter(&web, &visitor, &asked).await?;
    let shown = look(&web, &visitor, &asked).await?;
    let missed = match asked.number("at") {
        // Tries of webhooks are not among the changes that are noted.
        Some(_) if asked.has("webhook") => true,
        Some(made_at) => web.changes.latest().await >= made_at,
        None => false,
    };
    let (lines, sent) = mpsc::channel(LINES);
    let page = Page { web, visitor, asked, shown, missed, lines, stay };
    tokio::spawn(async move {
        page.watch(wakes).await;
        drop(place);
    });
    let mut response = Response::new(Body::new(Lines(sent)));
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

/// Knows the time of the latest change, so that a page can be told of one that fell between its
/// making and its connection.
pub struct Changes(mpsc::Sender<oneshot::Sender<i64>>);

impl Changes {
    pub fn note(app: &App) -> Changes {
        let (questions, mut asked) = mpsc::channel::<oneshot::Sender<i64>>(QUESTIONS);
        let (clock, mut wakes) = (app.clock.clone(), app.store.wakes());
        tokio::spawn(async move {
            let mut latest = 0;
            loop {
                tokio::select! {
                    // What was changed before a question came is noted before it is answered.
                    biased;
                    woken = wakes.recv() => match woken {
                        Ok(queue) if queue != PAGES => {}
                        Ok(_) | Err(RecvError::Lagged(_)) => latest = clock.now(),
                        Err(RecvError::Closed) => return,
                    },
                    question = asked.recv() => match question {
                        Some(question) => drop(question.send(latest)),
                        None => return,
                    },
                }
            }
        });
        Changes(questions)
    }

    async fn latest(&self) -> i64 {
        let (question, answer) = oneshot::channel();
        match self.0.send(question).await {
            Ok(()) => answer.await.unwrap_or(i64::MAX),
            Err(_) => i64::MAX,
        }
    }
}

/// What was written to a page and not yet sent.
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
    asked: Fields,
    shown: u64,
    /// True when something was changed after the page was made and before it listened.
    missed: bool,
    lines: mpsc::Sender<Bytes>,
    /// Where the others on the same conversation see this one.
    stay: Option<Stay>,
}

impl Page {
    async fn watch(mut self, mut wakes: broadcast::Receiver<String>) {
        let first = if self.missed { "changed" } else { "here" };
        if !self.tell(first).await {
            return;
        }
        let mut comings = self.web.presence.changes();
        let pause = if self.asked.has("webhook") { LOG_LOOKS } else { HEARTBEAT };
        loop {
            tokio::select! {
                came = comings.recv() => match came {
                    Ok(spot) if self.stay.as_ref().is_none_or(|stay| *stay.spot() != spot) => continue,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                woken = wakes.recv() => match woken {
                    Ok(queue) if queue != PAGES => continue,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                () = tokio::time::sleep(pause) => {
                    if self.lines.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                        return;
                    }
                    if let Some(stay) = &self.stay {
                        stay.goes_on();
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
                // Signed out, or what was shown is gone: the page finds out by fetching itself.
                Err(_) => {
                    self.tell("changed").await;
                    return;
                }
            }
        }
    }

    /// The mark of what is shown goes along, so that a returning page can say what it had.
    async fn tell(&self, event: &str) -> bool {
        let line = format!("event: {event}\ndata: {:016x}\n\n", self.shown);
        self.lines.send(Bytes::from(line)).await.is_ok()
    }
}

/// A mark of what a page shows now.
async fn look(web: &Web, visitor: &Visitor, asked: &Fields) -> Result<u64, Refusal> {
    let asked = asked.clone();
    let (presence, looks) = (Arc::clone(&web.presence), Arc::clone(&web.app.limiter));
    web.read(visitor, move |tx, cx, me| {
        let mut mark = DefaultHasher::new();
        mark_shelves(&people::shelves(tx, cx)?, &mut mark);
        mark_page(tx, cx, &asked, &mut mark)?;
        let spot = (cx.actor.ws, asked.get("conversation"));
        presence.others(&spot, &me.id, cx.now).hash(&mut mark);
        for look in looks.looks.at(spot.0, &spot.1, cx.now) {
            (&look.name, look.writes(cx.now)).hash(&mut mark);
        }
        Ok(mark.finish())
    })
    .await
}

/// A page of a conversation is a visit that others see.
async fn enter(web: &Web, visitor: &Visitor, asked: &Fields) -> Result<Option<Stay>, Refusal> {
    let Some(id) = asked.opt("conversation") else { return Ok(None) };
    let (spot, me, name) = web
        .read(visitor, move |tx, cx, me| {
            inbox::load_conversation(tx, cx.actor, &id)?;
            Ok(((cx.actor.ws, id.clone()), me.id.clone(), cx.actor.name().to_owned()))
        })
        .await?;
    Ok(Some(web.presence.enter(spot, &me, &name)))
}

fn mark_shelves(shelves: &Shelves, mark: &mut impl Hasher) {
    let counts = [shelves.mine, shelves.unassigned, shelves.open, shelves.waiting];
    (counts, shelves.snoozed, shelves.held, shelves.mentions).hash(mark);
    shelves.drafts.hash(mark);
    shelves.leaving.hash(mark);
    for inbox in &shelves.inboxes {
        (&inbox.id, &inbox.name, inbox.open).hash(mark);
    }
}

fn mark_page(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    asked: &Fields,
    mark: &mut impl Hasher,
) -> inbox::Result<()> {
    match asked.get("page").as_str() {
        "leaving" | "mentions" => return Ok(()),
        "webhook" => {
            let id = WebhookId::parse(&asked.get("webhook")).ok_or(Error::NotFound("webhook"))?;
            people::latest_deliveries(tx, cx, &id)?.hash(mark);
            return Ok(());
        }
        "approvals" => {
            for draft in people::queue(tx, cx)? {
                (draft.id.as_str(), draft.wrote_meanwhile).hash(mark);
            }
            if let Some(id) = asked.opt("draft") {
                let id = MessageId::parse(&id).ok_or(Error::NotFound("draft"))?;
                let (draft, _) = inbox::load_outgoing(tx, cx.actor, &id)?;
                (draft.revision, draft.status.word()).hash(mark);
            }
            return Ok(());
        }
        _ => {}
    }
    for summary in Shelf::asked(asked)?.read(tx, cx)?.items {
        (summary.id.as_str(), summary.last_message_at.0, summary.message_count).hash(mark);
        (&summary.tags, summary.status.word(), &summary.risk).hash(mark);
        summary.assignee.as_ref().map(|assignee| assignee.id.as_str().to_owned()).hash(mark);
    }
    if let Some(id) = asked.opt("conversation") {
        people::latest_of(tx, cx, &id)?.hash(mark);
    }
    Ok(())
}
