//! A list of conversations, alone or beside a conversation.

use std::collections::HashSet;

use actions::conversations::{after_triage, pins, sidebar};
use api::fields::check_query;
use api::operations::list_conversations;
use api::operations::{LIST_CONVERSATIONS, ListConversationsInput};
use base::app::Cx;
use base::assignee::MemberType;
use base::error::Error;
use base::ids::{ConversationId, TagId};
use base::limits::{DAY_MS, PINS, TRASH_DAYS};
use base::states::{Status, Urgency};
use db::Tx;
use model::conversations::topics;
use search::list::ConversationSummary;
use translation::t;

use crate::forms::form::FormFields;
use crate::layout::hrefs::contact_href;
use crate::layout::page_layout::PageLayout;
use crate::layout::wording::{Avatar, DisplayTime, TimeFormat, count};
use crate::pages::conversation::snooze_times::snoozes;
use crate::pages::conversation::targets::target;
use crate::pages::lists::list_filters::{FilterMenu, ListFilters};
use crate::visitor::CsrfToken;

/// Conversations on one page of a list.
const LISTED: i64 = 30;

/// Which list is meant.
#[derive(Clone)]
pub struct ConversationFilter {
    kind: Kind,
    /// The address of the entry in the sidebar.
    pub href: String,
    /// The query of the whole list: `view=mine`.
    list: String,
    filters: ListFilters,
    /// What links carry so that the list stays: `view=mine&topic=Refunds`.
    pub query: String,
    cursor: Option<String>,
}

#[derive(Clone)]
enum Kind {
    Walk(Box<ListConversationsInput>),
    Held,
    Tag(TagId),
}

/// What a list holds.
pub struct Listing {
    pub items: Vec<ConversationSummary>,
    pub unread: HashSet<ConversationId>,
    pub next: Option<String>,
    pub title: String,
    /// What the reader keeps on top.
    pinned: HashSet<ConversationId>,
    /// The names of the topics that it can be narrowed by.
    topics: Vec<String>,
    /// Who a conversation can be given to: the value of the button and the name.
    team: Vec<(String, String)>,
}

impl ConversationFilter {
    /// The list that a query asks for; `open` when it asks for none.
    pub fn from_query(fields: &FormFields) -> base::error::Result<ConversationFilter> {
        let cursor = fields.opt("cursor");
        if let Some(tag) = fields.opt("tag") {
            let id = TagId::parse(&tag).ok_or(Error::NotFound("tag"))?;
            return Ok(ConversationFilter::new(Kind::Tag(id), format!("tag={tag}"), cursor));
        }
        let mut input = ListConversationsInput { limit: Some(LISTED), ..Default::default() };
        if let Some(mailbox) = fields.opt("mailbox") {
            let known = base::ids::MailboxId::parse(&mailbox).ok_or(Error::NotFound("inbox"))?;
            input.mailbox = Some(known.to_string());
            return ConversationFilter::walk(input, format!("mailbox={known}"), fields);
        }
        let view = fields.opt("view").unwrap_or_else(|| "open".into());
        match view.as_str() {
            "held" => return Ok(ConversationFilter::new(Kind::Held, "view=held".into(), None)),
            "mine" => input.assigned = Some("me".into()),
            "unassigned" => input.assigned = Some("unassigned".into()),
            "open" | "waiting" | "snoozed" | "closed" | "spam" | "trash" => {
                input.view = Some(view.clone());
            }
            _ => return Err(Error::NotFound("list")),
        }
        ConversationFilter::walk(input, format!("view={view}"), fields)
    }

    fn walk(
        mut input: ListConversationsInput,
        list: String,
        fields: &FormFields,
    ) -> base::error::Result<ConversationFilter> {
        let (filters, cursor) = (ListFilters::from_query(fields)?, fields.opt("cursor"));
        filters.narrow(&mut input);
        if let Some(cursor) = &cursor {
            check_cursor(cursor)?;
            input.cursor = Some(cursor.clone());
        }
        let query = filters.on(&list);
        let kind = Kind::Walk(Box::new(input));
        let whole = ConversationFilter::new(kind, list, cursor);
        Ok(ConversationFilter { filters, query, ..whole })
    }

    fn new(kind: Kind, list: String, cursor: Option<String>) -> ConversationFilter {
        let (href, query) = (format!("/inbox?{list}"), list.clone());
        ConversationFilter { kind, href, list, filters: ListFilters::default(), query, cursor }
    }

    /// The query of the page that is shown, with its cursor.
    pub fn full_query(&self) -> String {
        match &self.cursor {
            Some(cursor) => format!("{}&cursor={cursor}", self.query),
            None => self.query.clone(),
        }
    }

    pub fn read(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<Listing> {
        let pinned = pins::pins(tx, cx)?;
        let (items, next, title) = match &self.kind {
            Kind::Walk(input) => {
                let title = self.title(tx, cx, input)?;
                let mut items = pinned_first(tx, cx, input, &pinned)?;
                let others = (!pinned.is_empty()).then_some(false);
                let input = ListConversationsInput { pinned: others, ..(**input).clone() };
                let page = list_conversations(tx, cx, input)?;
                items.extend(page.items);
                (items, page.next, title)
            }
            Kind::Held => (sidebar::list_held(tx, cx)?, None, t!("Held").to_owned()),
            Kind::Tag(tag) => {
                let title = sidebar::tag_name(tx, cx, tag)?;
                let after = self.cursor.as_deref().and_then(ConversationId::parse);
                let items = sidebar::list_tagged(tx, cx, tag, after.as_ref(), LISTED)?;
                let full = items.len() as i64 == LISTED;
                let next = items.last().filter(|_| full).map(|last| last.id.to_string());
                (items, next, title)
            }
        };
        let unread = sidebar::unread(tx, cx, &items)?;
        let topics = match &self.kind {
            Kind::Walk(_) => topics::all(tx, cx.actor.ws)?,
            Kind::Held | Kind::Tag(_) => Vec::new(),
        };
        let topics = topics.into_iter().map(|topic| topic.name).collect();
        let team = after_triage::list_assignees(tx, cx)?;
        Ok(Listing { items, unread, next, title, pinned, topics, team })
    }

    /// The conversations of the whole list, up to a number.
    pub fn ids(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        most: usize,
    ) -> base::error::Result<Vec<String>> {
        let items = match &self.kind {
            Kind::Walk(input) => {
                let input = ListConversationsInput {
                    limit: Some(most as i64),
                    cursor: None,
                    ..(**input).clone()
                };
                list_conversations(tx, cx, input)?.items
            }
            Kind::Held => sidebar::list_held(tx, cx)?,
            Kind::Tag(tag) => sidebar::list_tagged(tx, cx, tag, None, most as i64)?,
        };
        Ok(items.into_iter().map(|summary| summary.id.to_string()).collect())
    }

    /// The conversation below one on its page of the list, or else the one above it.
    pub fn next_after(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        id: &str,
    ) -> base::error::Result<Option<String>> {
        let items = self.read(tx, cx)?.items;
        let place = items.iter().position(|summary| summary.id.as_str() == id);
        let Some(place) = place else { return Ok(None) };
        let above = place.checked_sub(1).and_then(|above| items.get(above));
        let next = items.get(place + 1).or(above);
        Ok(next.map(|summary| summary.id.to_string()))
    }

    fn title(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        input: &ListConversationsInput,
    ) -> base::error::Result<String> {
        if let Some(id) = &input.mailbox {
            let id = base::ids::MailboxId::parse(id).ok_or(Error::NotFound("inbox"))?;
            let seen = model::mailboxes::seen_by(tx, cx.actor, &id)?;
            return Ok(seen.ok_or(Error::NotFound("inbox"))?.name);
        }
        let title = match (input.assigned.as_deref(), input.view.as_deref()) {
            (Some("me"), _) => t!("For you"),
            (Some(_), _) => t!("Unassigned"),
            (_, Some("waiting")) => t!("Waiting on customer"),
            (_, Some("snoozed")) => t!("Snoozed"),
            (_, Some("closed")) => t!("Closed"),
            (_, Some("spam")) => t!("Spam"),
            (_, Some("trash")) => t!("Trash"),
            _ => t!("All open"),
        };
        Ok(title.to_owned())
    }

    fn menu(&self, topics: &[String]) -> Option<FilterMenu> {
        match &self.kind {
            Kind::Walk(_) => Some(self.filters.menu(&self.list, topics)),
            Kind::Held | Kind::Tag(_) => None,
        }
    }

    /// True if the list has conversations of more than one status.
    fn mixes(&self) -> bool {
        matches!(self.kind, Kind::Tag(_) | Kind::Held)
    }
}

/// What the reader pinned of a list, which stands on top of its first page.
fn pinned_first(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &ListConversationsInput,
    pinned: &HashSet<ConversationId>,
) -> base::error::Result<Vec<ConversationSummary>> {
    if pinned.is_empty() || input.cursor.is_some() {
        return Ok(Vec::new());
    }
    let top = ListConversationsInput { pinned: Some(true), limit: Some(PINS), ..input.clone() };
    Ok(list_conversations(tx, cx, top)?.items)
}

/// A cursor is checked by the same table as the API's.
fn check_cursor(cursor: &str) -> base::error::Result<()> {
    let pairs = [("cursor".to_owned(), cursor.to_owned())];
    check_query(LIST_CONVERSATIONS.fields, &pairs).map(|_| ()).map_err(Error::Invalid)
}

/// A list, ready for its template.
pub struct ListView {
    pub title: String,
    pub count: String,
    pub note: &'static str,
    pub rows: Vec<RowView>,
    pub next: Option<String>,
    pub begin: Option<String>,
    pub empty: Empty,
    /// The menu that narrows it, where there is one.
    pub menu: Option<FilterMenu>,
    pub bulk: BulkBar,
}

/// What can be done with the conversations that are ticked.
pub struct BulkBar {
    /// The query of the list, to return to.
    pub from: String,
    pub csrf: CsrfToken,
    /// True in the spam and the trash.
    pub restores: bool,
    pub reopens: bool,
    pub team: Vec<(String, String)>,
    /// The tags that there are.
    pub tags: Vec<String>,
    pub snoozes: Vec<(String, String)>,
    /// In which a time that is typed is read.
    pub zone: String,
    /// True when the list goes on beyond this page.
    pub has_more: bool,
}

pub struct Empty {
    pub title: &'static str,
    pub text: String,
    pub link: Option<(&'static str, &'static str)>,
}

pub struct RowView {
    pub id: String,
    pub href: String,
    pub current: bool,
    pub unread: bool,
    pub who: String,
    pub messages: i64,
    pub time: DisplayTime,
    pub subject: String,
    pub snippet: String,
    pub assignee: Option<(Avatar, String)>,
    pub marks: Vec<RowBadge>,
    /// The page of its contact, where it is linked.
    pub contact_href: Option<String>,
}

pub struct RowBadge {
    pub class: &'static str,
    pub icon: &'static str,
    pub text: String,
}

/// Marks of one row beside its pin, so that what matters most stays visible.
const MARKS: usize = 2;
/// From then on it is unusual that a customer waits.
const LONG_WAIT_DAYS: i64 = 2;

impl ListView {
    pub fn new(
        filter: &ConversationFilter,
        listing: Listing,
        frame: &PageLayout,
        current: Option<&str>,
    ) -> ListView {
        let entries = frame.views.iter().chain(&frame.inboxes);
        let count =
            entries.filter(|entry| entry.href == filter.href).map(|e| e.count.clone()).next();
        let query = filter.full_query();
        let rows = listing.items.iter().map(|summary| {
            let mut row = row(summary, &frame.times, &query);
            row.current = current == Some(summary.id.as_str());
            let is_new = summary.status == Status::Open && listing.unread.contains(&summary.id);
            row.unread = is_new && !row.current;
            row.marks = marks(summary, frame, filter.mixes());
            if listing.pinned.contains(&summary.id) {
                let text = t!("Pinned").into();
                row.marks.push(RowBadge { class: "", icon: "pin", text });
            }
            // Beside an open conversation there is no room for it.
            row.contact_href = current.is_none().then(|| contact_href(&summary.contact_email));
            row
        });
        let rows = rows.collect();
        let bulk = BulkBar {
            from: query,
            csrf: frame.csrf.clone(),
            restores: matches!(filter.list.as_str(), "view=spam" | "view=trash"),
            reopens: filter.list == "view=closed",
            team: listing.team,
            tags: frame.tags.iter().map(|tag| tag.label.clone()).collect(),
            snoozes: snoozes(&frame.times),
            zone: frame.times.zone_name().to_owned(),
            has_more: listing.next.is_some() || filter.cursor.is_some(),
        };
        ListView {
            rows,
            bulk,
            next: listing.next.map(|cursor| format!("/inbox?{}&cursor={cursor}", filter.query)),
            begin: filter.cursor.as_ref().map(|_| format!("/inbox?{}", filter.query)),
            menu: filter.menu(&listing.topics),
            note: if matches!(filter.kind, Kind::Tag(_)) { t!("Latest begun first") } else { "" },
            empty: if filter.filters.is_empty() {
                empty(&filter.href, frame)
            } else {
                nothing_narrowed()
            },
            count: count.filter(|_| filter.filters.is_empty()).unwrap_or_default(),
            title: listing.title,
        }
    }
}

pub fn row(summary: &ConversationSummary, times: &TimeFormat, query: &str) -> RowView {
    let address = summary.contact_email.to_string();
    let assignee = summary.assignee().map(|assignee| match assignee.member_type {
        MemberType::Agent => (
            Avatar::agent(&assignee.name),
            t!("Assigned to the agent {name}", name = assignee.name),
        ),
        MemberType::User => {
            (Avatar::person(&assignee.name), t!("Assigned to {name}", name = assignee.name))
        }
    });
    RowView {
        id: summary.id.to_string(),
        href: match query {
            "" => format!("/conversations/{}", summary.id),
            query => format!("/conversations/{}?{query}", summary.id),
        },
        current: false,
        unread: false,
        who: summary.contact_name.clone().filter(|name| !name.is_empty()).unwrap_or(address),
        messages: summary.message_count,
        time: times.short(summary.last_message_at),
        subject: subject(&summary.subject),
        snippet: summary.snippet.clone(),
        assignee,
        marks: Vec::new(),
        contact_href: None,
    }
}

pub fn subject(subject: &str) -> String {
    if subject.trim().is_empty() { t!("No subject").into() } else { subject.to_owned() }
}

/// What is unusual about a conversation, the gravest first. That nobody has it, says the row itself.
fn marks(summary: &ConversationSummary, frame: &PageLayout, mixed: bool) -> Vec<RowBadge> {
    let mut marks = Vec::new();
    let mut add = |class, icon, text: String| marks.push(RowBadge { class, icon, text });
    if summary.risk.is_some() {
        add("danger", "warn", t!("Check before you act").into());
    }
    if frame.sidebar.drafts.contains(&summary.id) {
        add("act", "approve", t!("Draft to approve").into());
    }
    let leaving = frame.sidebar.leaving.iter().find(|(id, _, _)| *id == summary.id);
    match leaving {
        Some((_, _, Some(at))) => {
            add("act", "leaving", t!("Leaves {time}", time = frame.times.long(*at).text));
        }
        Some((_, _, None)) => add("warn", "pause", t!("Message held").into()),
        None => {}
    }
    let target = target(summary.answer_due_at, summary.resolve_due_at, &frame.times);
    if let Some(target) = target.filter(|target| !target.class.is_empty()) {
        add(target.class, "wait", target.words);
    }
    if let Some(since) = summary.waiting_since.filter(|_| summary.status == Status::Open) {
        let days = (frame.times.now - since) / DAY_MS;
        if days >= LONG_WAIT_DAYS {
            add("", "wait", t!("Waits {days} d", days));
        }
    }
    if summary.urgency == Some(Urgency::High) {
        add("warn", "wait", t!("High urgency").into());
    }
    match summary.status {
        Status::Waiting if mixed => add("", "wait", t!("Waiting on customer").into()),
        Status::Closed if mixed => add("", "closed", t!("Closed").into()),
        _ => {}
    }
    if summary.has_secure {
        add("", "lock", t!("Protected").into());
    }
    marks.truncate(MARKS);
    marks
}

fn nothing_narrowed() -> Empty {
    without_link(
        t!("Nothing of this kind"),
        t!("No conversation of this list has this topic and urgency now.").into(),
    )
}

fn without_link(title: &'static str, text: String) -> Empty {
    Empty { title, text, link: None }
}

fn empty(href: &str, frame: &PageLayout) -> Empty {
    let unassigned = frame.sidebar.unassigned;
    match href {
        "/inbox?view=mine" => Empty {
            title: t!("Nothing waits for you"),
            text: match unassigned {
                0 => t!("Every open conversation has somebody.").into(),
                1 => t!("One conversation in Unassigned has nobody yet.").into(),
                n => t!("{n} in Unassigned have nobody yet.", n = count(n)),
            },
            link: (unassigned > 0).then(|| ("/inbox?view=unassigned", t!("Look at Unassigned"))),
        },
        "/inbox?view=unassigned" => without_link(
            t!("Everybody has something"),
            t!("New mail stands here until somebody takes it.").into(),
        ),
        "/inbox?view=held" => without_link(
            t!("No suspicious mail"),
            t!("Likely scams stop here until a person looks at them.").into(),
        ),
        "/inbox?view=snoozed" => without_link(
            t!("Nothing is put away"),
            t!("Snooze a conversation and it comes back by itself, or when the customer writes.")
                .into(),
        ),
        "/inbox?view=waiting" => without_link(
            t!("No customer owes you an answer"),
            t!("Conversations you have answered wait here until the customer writes.").into(),
        ),
        "/inbox?view=closed" => without_link(
            t!("Nothing is closed yet"),
            t!("Close a conversation when it is done. New mail opens it again.").into(),
        ),
        "/inbox?view=spam" => without_link(
            t!("No spam"),
            t!("What you mark as spam, and mail of blocked senders, stands here.").into(),
        ),
        "/inbox?view=trash" => without_link(
            t!("The trash is empty"),
            t!("Deleted conversations stand here for {days} days.", days = TRASH_DAYS),
        ),
        "/inbox?view=open" => Empty {
            title: t!("The inbox is empty"),
            text: t!("Mail to your inboxes appears here as it comes in.").into(),
            link: frame.administers.then(|| ("/settings/inboxes", t!("See your inboxes"))),
        },
        _ => {
            without_link(t!("Nothing here"), t!("No conversation stands in this list now.").into())
        }
    }
}
