//! A conversation beside its list, and the forms in its head.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use db::Tx;
use inbox::actions::{self, OpenConversation, SignedIn, TimelineEntry};
use inbox::api::operations::{
    AssignConversationInput, SetStatusInput, TagConversationInput, assign_conversation,
    set_status as put_status, tag_conversation,
};
use inbox::base::agent_presence::AGENT_STAYS_MS;
use inbox::base::ids::{AgentId, SavedReplyId, UserId};
use inbox::base::limits::{TAG_CHARS, TAGS_PER_CALL};
use inbox::base::states::Status;
use inbox::{Conversation, Cx, Error, Party};
use jiff::civil::Weekday;

use crate::web::Web;
use crate::web::form::{Asked, FormFields, Posted};
use crate::web::layout::page_layout::{PageLayout, PageLocation};
use crate::web::layout::responses::{PageError, PageResult, see_other};
use crate::web::layout::wording::{
    Avatar, StatusLabel, TimeFormat, When, filters, first_name, status_label,
};
use crate::web::page_version::PartVersion;
use crate::web::pages::compose::Composer;
use crate::web::pages::conversation_list::{ConversationFilter, ListView, subject};
use crate::web::pages::request_documents::AskForm;
use crate::web::pages::timeline::{self, MessageProgress, TimelineRow};
use crate::web::presence::Other;
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "conversation.html")]
pub struct ConversationPage {
    frame: PageLayout,
    list: ListView,
    convo: ConvoView,
    composer: Option<Composer>,
    /// The form that asks for documents, in the composer's place.
    pub asking: Option<AskForm>,
    /// True when mail has come since the reader was here.
    is_news: bool,
    /// True when a note names the reader that they have not read.
    is_mentioned: bool,
}

impl ConversationPage {
    /// The next message's number, as this page shows it.
    pub fn seen(&self) -> i64 {
        self.convo.seen
    }
}

pub struct ConvoView {
    /// What is shown as it is.
    pub row: Conversation,
    pub id: String,
    pub subject: String,
    pub contact: String,
    pub contact_first: String,
    pub inbox: String,
    pub status: StatusLabel,
    pub is_open: bool,
    pub is_waiting: bool,
    pub is_closed: bool,
    pub snoozed_until: Option<When>,
    pub snoozes: Vec<(String, String)>,
    pub assignee: Option<(Avatar, String)>,
    pub team: Vec<AssigneeChoice>,
    pub items: Vec<TimelineRow>,
    pub older: bool,
    pub others: Vec<OtherView>,
    pub seen: i64,
    pub back: String,
    pub others_here: Vec<OtherHere>,
}

/// Somebody else who has this conversation open.
pub struct OtherHere {
    pub avatar: Avatar,
    pub does: String,
}

pub struct AssigneeChoice {
    pub to: String,
    pub name: String,
    pub avatar: Avatar,
}

pub struct OtherView {
    pub href: String,
    pub subject: String,
    pub status: &'static str,
    pub time: When,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let write = asked.get("write");
    let page = build(&web, &visitor, &id, &asked, move |open| Composer::asked(&write, open));
    let mut page = page.await?;
    if asked.get("write") == "ask" {
        page.asking = Some(AskForm::fresh(page.seen()));
    }
    if page.is_news || page.is_mentioned {
        note_read(&web, &visitor, id, page.is_mentioned);
    }
    web.show(&visitor, &page)
}

/// The page with whatever stands in its composer.
pub async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &FormFields,
    composer: impl FnOnce(&OpenConversation) -> Option<Composer>,
) -> Result<ConversationPage, PageError> {
    let filter = ConversationFilter::asked(asked)?;
    let location = PageLocation::at("", &filter.href);
    let (list, wanted, whole) = (filter.clone(), id.to_owned(), asked.has("whole"));
    let writes = asked.has("write");
    let (mut frame, (open, listing, beside)) = web
        .page(visitor, location, move |tx, cx, me| {
            let open = actions::read_conversation(tx, cx, &wanted, whole)?;
            let writes = writes || open.autosave.is_some() || !open.attached.is_empty();
            let beside = Beside {
                ws: cx.actor.ws,
                me: me.id.clone(),
                is_mentioned: actions::is_mentioned(tx, cx, &open.conversation.id)?,
                latest: actions::latest_of(tx, cx, &wanted)?,
                saved_replies: match writes {
                    true => actions::saved_reply_names(tx, cx)?,
                    false => Vec::new(),
                },
            };
            Ok((open, list.read(tx, cx)?, beside))
        })
        .await?;
    let Beside { ws, me, is_mentioned, saved_replies, latest } = beside;
    let here = web.presence.others(&(ws, open.conversation.id.to_string()), &me, frame.watch.now);
    let agents = agents_here(web, ws, &open, frame.watch.now);
    frame.title = subject(&open.conversation.subject);
    frame.from = filter.full_query();
    let shown = PartVersion::of_conversation(PartVersion::of_list(&listing.items), &latest);
    let present = web.mark_present(ws, open.conversation.id.as_str(), &me, frame.watch.now);
    frame.watch_live(format!("{}&conversation={id}", filter.full_query()), shown, present);
    let composer = composer(&open).map(|composer| composer.with_saved(&saved_replies));
    let is_news = open.is_news();
    let list = ListView::new(&filter, listing, &frame, Some(id));
    let mut convo = convo_view(open, &frame.watch, &filter);
    convo.others_here = here.into_iter().map(other_here).chain(agents).collect();
    Ok(ConversationPage { frame, list, convo, composer, asking: None, is_news, is_mentioned })
}

/// What is read beside a conversation.
struct Beside {
    ws: i64,
    me: UserId,
    is_mentioned: bool,
    saved_replies: Vec<(SavedReplyId, String)>,
    /// The newest of everything in it, by which a live page sees a change.
    latest: Vec<String>,
}

fn other_here(other: Other) -> OtherHere {
    let doing = if other.writes { "is writing" } else { "is reading" };
    let does = format!("{} {doing}", first_name(&other.name));
    OtherHere { avatar: Avatar::person(&other.name), does }
}

/// The agents that are at work here: those whose calls this process took, and those whose notes
/// and letters say so, whichever process took them.
fn agents_here(web: &Web, ws: i64, open: &OpenConversation, now: i64) -> Vec<OtherHere> {
    let mut there: Vec<(String, bool)> = Vec::new();
    for entry in open.entries.iter().filter(|entry| now - entry.at() < AGENT_STAYS_MS) {
        let (author, name) = match entry {
            TimelineEntry::Message(message) => {
                (message.author.as_deref(), message.from_name.as_deref())
            }
            TimelineEntry::Note(note) => {
                (Some(note.author.as_str()), Some(note.author_name.as_str()))
            }
            TimelineEntry::Event(_) => (None, None),
        };
        let is_agent = author.and_then(AgentId::parse).is_some();
        if let Some(name) = name.filter(|_| is_agent)
            && !there.iter().any(|(met, _)| met == name)
        {
            there.push((name.to_owned(), true));
        }
    }
    for look in web.app.agents.at(ws, open.conversation.id.as_str(), now) {
        if !there.iter().any(|(met, _)| *met == look.name) {
            there.push((look.name.clone(), look.writes(now)));
        }
    }
    let shown = there.into_iter().map(|(name, writes)| {
        let doing = if writes { "is writing" } else { "is reading" };
        OtherHere { does: format!("{name} {doing}"), avatar: Avatar::agent(&name) }
    });
    shown.collect()
}

/// Written beside the page: nobody waits for it.
fn note_read(web: &Arc<Web>, visitor: &Visitor, id: String, is_mentioned: bool) {
    let background = web.app.background.clone();
    let (web, visitor) = (Arc::clone(web), visitor.clone());
    background.start("read mark", async move {
        let mark =
            move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| actions::mark_read(tx, cx, &id);
        // The bell of the reader's own pages falls silent; nobody else sees what was read.
        let noted = if is_mentioned {
            web.act(&visitor, mark).await
        } else {
            web.act_quietly(&visitor, mark).await
        };
        match noted {
            Err(PageError::Domain(error)) => Err(error),
            // Somebody who signed out meanwhile has read nothing.
            Ok(()) | Err(_) => Ok(()),
        }
    });
}

fn convo_view(
    open: OpenConversation,
    watch: &TimeFormat,
    filter: &ConversationFilter,
) -> ConvoView {
    let items = timeline::items(&open, watch);
    let conversation = open.conversation;
    let contact = conversation.contact_name.clone().filter(|name| !name.is_empty());
    let contact = contact.unwrap_or_else(|| conversation.contact_email.to_string());
    let people = open.team.people.iter().map(|member| AssigneeChoice {
        to: member.id.clone(),
        avatar: Avatar::person(&member.name),
        name: member.name.clone(),
    });
    let agents = open.team.agents.iter().map(|member| AssigneeChoice {
        to: member.id.clone(),
        avatar: Avatar::agent(&member.name),
        name: member.name.clone(),
    });
    let team = people.chain(agents).collect();
    let others = open.others.iter().map(|other| OtherView {
        href: format!("/conversations/{}", other.id),
        subject: subject(&other.subject),
        status: status_label(other.status, false).text,
        time: watch.short(other.last_message_at),
    });
    ConvoView {
        id: conversation.id.to_string(),
        subject: subject(&conversation.subject),
        contact_first: first_name(&contact).to_owned(),
        contact,
        inbox: open.mailbox.name.clone(),
        status: status_label(conversation.status, conversation.snoozed_until.is_some()),
        is_open: conversation.status == Status::Open,
        is_waiting: conversation.status == Status::Waiting,
        is_closed: conversation.status == Status::Closed,
        snoozed_until: conversation.snoozed_until.map(|until| watch.long(until)),
        snoozes: snoozes(watch),
        assignee: open.assignee.as_ref().map(|assignee| {
            let avatar = Avatar::of(Some(assignee.id.as_str()), &assignee.name);
            (avatar, assignee.name.clone())
        }),
        team,
        items,
        older: open.older,
        others: others.collect(),
        seen: open.seen,
        back: format!("/inbox?{}", filter.full_query()),
        others_here: Vec::new(),
        row: conversation,
    }
}

/// The morning hour that "tomorrow" and "Monday" mean.
const MORNING: i8 = 8;

/// Times to snooze until: what they are called, and the moment in milliseconds.
fn snoozes(watch: &TimeFormat) -> Vec<(String, String)> {
    let now = watch.zoned(watch.now);
    let morning = |day: jiff::civil::Date| {
        let at = day.at(MORNING, 0, 0, 0).to_zoned(watch.zone.clone()).ok()?;
        Some(at.timestamp().as_millisecond())
    };
    let tomorrow = now.date().tomorrow().ok().and_then(morning);
    let monday = now.date().nth_weekday(1, Weekday::Monday).ok().and_then(morning);
    let later = watch.now + 3 * 60 * inbox::base::limits::MINUTE_MS;
    let mut choices = vec![(format!("Until {}, in 3 hours", watch.clock(later)), later)];
    choices.extend(tomorrow.map(|at| ("Until tomorrow, 08:00".to_owned(), at)));
    choices.extend(monday.map(|at| (format!("Until {}", watch.long(at).text), at)));
    choices.into_iter().map(|(words, at)| (words, at.to_string())).collect()
}

/// Back to the conversation, in the list that it was opened from.
pub fn back_to(id: &str, fields: &FormFields) -> String {
    match own_query(&fields.get("from")) {
        query if query.is_empty() => format!("/conversations/{id}"),
        query => format!("/conversations/{id}?{query}"),
    }
}

/// Back to the list that a conversation was opened from.
pub fn back_to_list(fields: &FormFields) -> String {
    match own_query(&fields.get("from")) {
        query if query.is_empty() => "/inbox".into(),
        query => format!("/inbox?{query}"),
    }
}

/// The names that a list is asked for with, and nothing else.
fn own_query(from: &str) -> String {
    let known = ["view", "mailbox", "tag", "cursor"];
    let pairs = url::form_urlencoded::parse(from.as_bytes());
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs.filter(|(name, _)| known.contains(&name.as_ref())))
        .finish()
}

pub async fn set_status(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let status = Status::parse(&fields.get("status"))
        .ok_or_else(|| Error::invalid("status", "Choose open, waiting or closed."))?;
    let input = SetStatusInput { id: id.clone(), status };
    web.act(&visitor, move |tx, cx, _| put_status(tx, cx, input.clone()).map(|_| ())).await?;
    if status == Status::Closed {
        let mut response = see_other(&back_to_list(&fields));
        web.set_flash(&mut response, crate::web::Flash::Closed);
        return Ok(response);
    }
    Ok(see_other(&back_to(&id, &fields)))
}

pub async fn assign(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let input = AssignConversationInput { id: id.clone(), to: fields.get("to") };
    web.act(&visitor, move |tx, cx, _| assign_conversation(tx, cx, input.clone()).map(|_| ()))
        .await?;
    Ok(see_other(&back_to(&id, &fields)))
}

pub async fn tag(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let names = |field: &str| -> Vec<String> {
        let typed = fields.all(field);
        let names = typed.iter().flat_map(|names| names.split(',')).map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let (add, remove) = (names("add"), names("remove"));
    let too_long = |name: &String| name.chars().count() > TAG_CHARS || name.contains('\0');
    if add.len() > TAGS_PER_CALL || remove.len() > TAGS_PER_CALL || add.iter().any(too_long) {
        let sentence = "Add at most 10 tags at a time, each of 1 to 40 characters.";
        return Err(Error::invalid("add", sentence).into());
    }
    let input = TagConversationInput { id: id.clone(), add, remove };
    web.act(&visitor, move |tx, cx, _| tag_conversation(tx, cx, input.clone()).map(|_| ())).await?;
    Ok(see_other(&back_to(&id, &fields)))
}

pub async fn snooze(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let until = match fields.number("until") {
        Some(until) => until,
        None => day_and_time(&visitor, &fields.get("at"))?,
    };
    let wanted = id.clone();
    web.act(&visitor, move |tx, cx, _| actions::snooze(tx, cx, &wanted, until)).await?;
    let mut response = see_other(&back_to_list(&fields));
    web.set_flash(&mut response, crate::web::Flash::Snoozed);
    Ok(response)
}

/// `2026-11-16T08:00` as the reader's clock shows it, in milliseconds.
fn day_and_time(visitor: &Visitor, text: &str) -> inbox::Result<i64> {
    let wrong = || Error::invalid("at", "Say a day and a time to come.");
    let at: jiff::civil::DateTime = text.parse().map_err(|_| wrong())?;
    let zoned = at.to_zoned(visitor.zone.clone()).map_err(|_| wrong())?;
    Ok(zoned.timestamp().as_millisecond())
}

pub async fn release(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let wanted = id.clone();
    web.act(&visitor, move |tx, cx, _| actions::release_held(tx, cx, &wanted)).await?;
    let mut response = see_other(&back_to(&id, &fields));
    web.set_flash(&mut response, crate::web::Flash::Released);
    Ok(response)
}

/// An address line as it is typed: `Bo Li <bo@example.com>`.
pub fn party_line(parties: &[Party]) -> String {
    let one = |party: &Party| match &party.name {
        Some(name) if !name.is_empty() && !name.contains(['<', '>', ',', ';', '"']) => {
            format!("{name} <{}>", party.email)
        }
        _ => party.email.clone(),
    };
    parties.iter().map(one).collect::<Vec<_>>().join(", ")
}
