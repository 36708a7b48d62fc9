//! What waits to leave, is held or has failed in the workspace, and what can be done with it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::error::Error;
use db::Tx;
use jobs::queues::{self, QueueAct, QueueFilter, QueueItem, QueueKind, QueuePage, QueueState};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{PageError, PageResult};
use web::layout::wording::{DisplayTime, TimeFormat};
use web::pages::lists::conversation_list::subject;
use web::queue_words::{state_word, why};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

const PLACE: &str = "/settings/queues";

#[derive(Template)]
#[template(path = "settings_queues.html", whitespace = "minimize")]
struct QueuesPage {
    frame: PageLayout,
    kinds: Vec<(String, &'static str, bool)>,
    states: Vec<(&'static str, &'static str, bool)>,
    kind: String,
    items: Vec<QueueItemView>,
    /// Things in inboxes that the reader does not see.
    unseen: i64,
    is_filtered: bool,
    next: Option<String>,
    /// Where the forms lead back to.
    here: String,
}

struct QueueItemView {
    id: String,
    kind: &'static str,
    target: String,
    title: String,
    href: Option<String>,
    class: &'static str,
    icon: &'static str,
    state: &'static str,
    why: String,
    attempts: String,
    since: DisplayTime,
    next: Option<DisplayTime>,
    can_hold: bool,
    can_release: bool,
    can_retry: bool,
    can_discard: bool,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let filter = filter(&asked);
    let wanted = filter.clone();
    let (frame, (listed, unseen)) = web
        .page(&visitor, location(SettingsPage::Queues), move |tx, cx, _| {
            let listed = queues::list_own_queues(tx, cx, &wanted)?;
            Ok((listed, queues::count_unseen(tx, cx)?))
        })
        .await?;
    web.show(&visitor, &view(frame, listed, unseen, &filter))
}

/// Unknown values are ignored.
fn filter(asked: &FormFields) -> QueueFilter {
    QueueFilter {
        kind: QueueKind::parse(&asked.get("kind")),
        state: QueueState::parse(&asked.get("state")),
        cursor: asked.opt("after"),
        ..QueueFilter::default()
    }
}

fn view(frame: PageLayout, listed: QueuePage, unseen: i64, filter: &QueueFilter) -> QueuesPage {
    let kinds = [
        (None, t!("All")),
        (Some(QueueKind::Messages), t!("Messages")),
        (Some(QueueKind::Webhooks), t!("Webhooks")),
        (Some(QueueKind::Jobs), t!("Background work")),
    ];
    let kinds = kinds.map(|(kind, label)| {
        let href = path(&QueueFilter { kind, cursor: None, ..filter.clone() });
        (href, label, kind == filter.kind)
    });
    let states = QueueState::ALL
        .iter()
        .map(|state| (state.as_str(), state_word(*state), filter.state == Some(*state)));
    let items = listed.items.into_iter().map(|item| item_view(item, &frame.times)).collect();
    let next =
        listed.next.map(|cursor| path(&QueueFilter { cursor: Some(cursor), ..filter.clone() }));
    QueuesPage {
        kinds: kinds.to_vec(),
        states: states.collect(),
        kind: filter.kind.map_or("", QueueKind::as_str).to_owned(),
        items,
        unseen,
        is_filtered: filter.kind.is_some() || filter.state.is_some() || filter.cursor.is_some(),
        next,
        here: path(filter),
        frame,
    }
}

fn path(filter: &QueueFilter) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(kind) = filter.kind {
        query.append_pair("kind", kind.as_str());
    }
    if let Some(state) = filter.state {
        query.append_pair("state", state.as_str());
    }
    if let Some(cursor) = &filter.cursor {
        query.append_pair("after", cursor);
    }
    let query = query.finish();
    if query.is_empty() { PLACE.to_owned() } else { format!("{PLACE}?{query}") }
}

fn item_view(item: QueueItem, times: &TimeFormat) -> QueueItemView {
    let (class, icon) = match item.state {
        QueueState::Waiting | QueueState::Sending => ("act", "leaving"),
        QueueState::Retrying => ("warn", "wait"),
        QueueState::Held => ("warn", "pause"),
        QueueState::Failed | QueueState::GivenUp => ("danger", "fail"),
    };
    let title = match (&item.subject, &item.event_type) {
        (Some(words), _) => subject(words),
        (None, Some(event)) => event.clone(),
        (None, None) => String::new(),
    };
    let href = match item.kind {
        QueueKind::Messages => {
            item.conversation_id.as_ref().map(|id| format!("/conversations/{id}#{}", item.id))
        }
        QueueKind::Webhooks => item
            .id
            .split_once('/')
            .map(|(webhook, event)| format!("/settings/webhooks/{webhook}#{event}")),
        QueueKind::Jobs => None,
    };
    let waits = matches!(item.state, QueueState::Waiting | QueueState::Retrying);
    let is_over = matches!(item.state, QueueState::Failed | QueueState::GivenUp);
    let is_first = item.kind == QueueKind::Messages && item.state == QueueState::Waiting;
    QueueItemView {
        kind: match item.kind {
            QueueKind::Messages => t!("Message"),
            QueueKind::Webhooks => t!("Webhook"),
            QueueKind::Jobs => t!("Background work"),
        },
        class,
        icon,
        state: state_word(item.state),
        why: why(&item),
        attempts: match item.attempts {
            0 => t!("no try").into(),
            1 => t!("1 try").into(),
            n => t!("{n} tries", n),
        },
        since: times.long(item.since.0),
        next: item.next_attempt_at.map(|at| times.long(at.0)),
        can_hold: waits,
        can_release: item.state == QueueState::Held,
        can_retry: (waits || is_over) && !is_first,
        can_discard: item.state != QueueState::Sending
            && (!is_over || item.kind == QueueKind::Jobs),
        id: item.id,
        target: if item.kind == QueueKind::Jobs {
            sentence(&item.target).into_owned()
        } else {
            item.target
        },
        title,
        href,
    }
}

form! {
    pub struct QueueForm {
        id: String,
        act: String,
        back: String,
    }
}

pub async fn change(State(web): State<Arc<Web>>, posted: PostedForm<QueueForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let QueueForm { id, act, back } = form;
    let act = QueueAct::parse(&act).ok_or(Error::NotFound("act on a queue"))?;
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| queues::change_queue(tx, cx, &id, act).map(drop);
    let flash = match web.act(&visitor, work).await {
        Ok(()) => match act {
            QueueAct::Hold => Flash::QueueHeld,
            QueueAct::Release => Flash::QueueReleased,
            QueueAct::Retry => Flash::QueueRetried,
            QueueAct::Discard => Flash::QueueDiscarded,
        },
        Err(PageError::Domain(Error::Invalid(_) | Error::Conflict(_) | Error::NotFound(_))) => {
            Flash::QueueUnchanged
        }
        Err(refusal) => return Err(refusal),
    };
    let is_here = back == PLACE || back.starts_with(&format!("{PLACE}?"));
    web.redirect(if is_here { &back } else { PLACE }, flash)
}
