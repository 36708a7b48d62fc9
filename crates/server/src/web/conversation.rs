//! A conversation beside its list, and the forms in its head.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use db::Tx;
use inbox::ids::{AgentId, SavedReplyId, UserId};
use inbox::limits::{TAG_CHARS, TAGS_PER_CALL};
use inbox::looks::AGENT_STAYS_MS;
use inbox::operations::{
    AssignConversation, SetStatus, TagConversation, assign_conversation, set_status as put_status,
    tag_conversation,
};
use inbox::people::{self, Entry, Reading, SignedIn};
use inbox::wire::Status;
use inbox::{Cx, Error, Party};
use jiff::civil::Weekday;

use super::Web;
use super::answers::{Answer, Refusal, see_other};
use super::asking::AskForm;
use super::compose::Composer;
use super::form::{Asked, Fields, Posted};
use super::frame::{Frame, Spot};
use super::mark::PartMark;
use super::presence::Other;
use super::rows::{ListView, Shelf, subject};
use super::timeline::{self, Item, State as LetterState};
use super::visitor::Visitor;
use super::wording::{Seal, StatusWords, Watch, When, filters, first_name, status_words};

#[derive(Template)]
#[template(path = "conversation.html")]
pub struct ConversationPage {
    frame: Frame,
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
    pub id: String,
    pub subject: String,
    pub contact: String,
    pub contact_first: String,
    pub contact_email: String,
    pub inbox: String,
    pub status: StatusWords,
    pub is_open: bool,
    pub is_waiting: bool,
    pub is_closed: bool,
    pub snoozed_until: Option<When>,
    pub snoozes: Vec<(String, String)>,
    pub assignee: Option<(Seal, String)>,
    pub team: Vec<Member>,
    pub tags: Vec<String>,
    pub reference: Option<String>,
    pub held: bool,
    pub risk: Option<String>,
    pub risk_reasons: Vec<String>,
    pub items: Vec<Item>,
    pub older: bool,
    pub others: Vec<OtherView>,
    pub seen: i64,
    pub back: String,
    pub others_here: Vec<OtherHere>,
}

/// Somebody else who has this conversation open.
pub struct OtherHere {
    pub seal: Seal,
    pub does: String,
}

pub struct Member {
    pub to: String,
    pub name: String,
    pub seal: Seal,
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
) -> Answer {
    let write = asked.get("write");
    let page = build(&web, &visitor, &id, &asked, move |reading| Composer::asked(&write, reading));
    let mut page = page.await?;
    if asked.get("write") == "ask" {
        page.asking = Some(AskForm::fresh(page.seen()));
    }
    if page.is_news || page.is_mentioned {
        note_reading(&web, &visitor, id, page.is_mentioned);
    }
    web.show(&visitor, &page)
}

/// The page with whatever stands in its composer.
pub async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &Fields,
    composer: impl FnOnce(&Reading) -> Option<Composer>,
) -> Result<ConversationPage, Refusal> {
    let shelf = Shelf::asked(asked)?;
    let spot = Spot::at("", &shelf.href);
    let (list, wanted, whole) = (shelf.clone(), id.to_owned(), asked.has("whole"));
    let writes = asked.has("write");
    let (mut frame, (reading, listing, beside)) = web
        .page(visitor, spot, move |tx, cx, me| {
            let reading = people::read_conversation(tx, cx, &wanted, whole)?;
            let writes = writes || reading.unfinished.is_some() || !reading.enclosed.is_empty();
            let beside = Beside {
                ws: cx.actor.ws,
                me: me.id.clone(),
                is_mentioned: people::is_mentioned(tx, cx, &reading.id)?,
                latest: people::latest_of(tx, cx, &wanted)?,
                saved_replies: match writes {
                    true => people::saved_reply_names(tx, cx)?,
                    false => Vec::new(),
                },
            };
            Ok((reading, list.read(tx, cx)?, beside))
        })
        .await?;
    let Beside { ws, me, is_mentioned, saved_replies, latest } = beside;
    let here = web.presence.others(&(ws, reading.id.to_string()), &me, frame.watch.now);
    let agents = agents_here(web, ws, &reading, frame.watch.now);
    frame.title = subject(&reading.subject);
    frame.from = shelf.full_query();
    let shown = PartMark::of_conversation(PartMark::of_list(&listing.items), &latest);
    let present = web.mark_present(ws, reading.id.as_str(), &me, frame.watch.now);
    frame.watch_live(format!("{}&conversation={id}", shelf.full_query()), shown, present);
    let composer = composer(&reading).map(|composer| composer.with_saved(&saved_replies));
    let is_news = reading.is_news();
    let list = ListView::new(&shelf, listing, &frame, Some(id));
    let mut convo = convo_view(reading, &frame.watch, &shelf);
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
    OtherHere { seal: Seal::person(&other.name), does }
}

/// The agents that are at work here: those whose calls this process took, and those whose notes
/// and letters say so, whichever process took them.
fn agents_here(web: &Web, ws: i64, reading: &Reading, now: i64) -> Vec<OtherHere> {
    let mut there: Vec<(String, bool)> = Vec::new();
    for entry in reading.entries.iter().filter(|entry| now - entry.at() < AGENT_STAYS_MS) {
        let (author, name) = match entry {
            Entry::Letter(letter) => (letter.author.as_deref(), letter.from.name.as_deref()),
            Entry::Note(note) => (Some(note.author.as_str()), Some(note.author_name.as_str())),
            Entry::Event(_) => (None, None),
        };
        let is_agent = author.and_then(AgentId::parse).is_some();
        if let Some(name) = name.filter(|_| is_agent)
            && !there.iter().any(|(met, _)| met == name)
        {
            there.push((name.to_owned(), true));
        }
    }
    for look in web.app.limiter.looks.at(ws, reading.id.as_str(), now) {
        if !there.iter().any(|(met, _)| *met == look.name) {
            there.push((look.name.clone(), look.writes(now)));
        }
    }
    let shown = there.into_iter().map(|(name, writes)| {
        let doing = if writes { "is writing" } else { "is reading" };
        OtherHere { does: format!("{name} {doing}"), seal: Seal::agent(&name) }
    });
    shown.collect()
}

/// Written beside the page: nobody waits for it.
fn note_reading(web: &Arc<Web>, visitor: &Visitor, id: String, is_mentioned: bool) {
    let (web, visitor) = (Arc::clone(web), visitor.clone());
    tokio::spawn(async move {
        let mark = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| people::mark_read(tx, cx, &id);
        // The bell of the reader's own pages falls silent; nobody else sees what was read.
        let noted = match is_mentioned {
            true => web.act(&visitor, mark).await,
            false => web.act_quietly(&visitor, mark).await,
        };
        if let Err(Refusal::Domain(error)) = noted
            && !error.is_outage()
        {
            tracing::warn!(%error, "a reading was not written down");
        }
    });
}

fn convo_view(reading: Reading, watch: &Watch, shelf: &Shelf) -> ConvoView {
    let items = timeline::items(&reading, watch);
    let contact = reading.contact_name.clone().filter(|name| !name.is_empty());
    let contact = contact.unwrap_or_else(|| reading.contact_email.clone());
    let people = reading.team.people.iter().map(|member| Member {
        to: member.id.clone(),
        seal: Seal::person(&member.name),
        name: member.name.clone(),
    });
    let agents = reading.team.agents.iter().map(|member| Member {
        to: member.id.clone(),
        seal: Seal::agent(&member.name),
        name: member.name.clone(),
    });
    let team = people.chain(agents).collect();
    let others = reading.others.iter().map(|other| OtherView {
        href: format!("/conversations/{}", other.id),
        subject: subject(&other.subject),
        status: status_words(other.status, false).text,
        time: watch.short(other.last_message_at),
    });
    ConvoView {
        id: reading.id.to_string(),
        subject: subject(&reading.subject),
        contact_first: first_name(&contact).to_owned(),
        contact,
        inbox: reading.mailbox.name.clone(),
        status: status_words(reading.status, reading.snoozed_until.is_some()),
        is_open: reading.status == Status::Open,
        is_waiting: reading.status == Status::Waiting,
        is_closed: reading.status == Status::Closed,
        snoozed_until: reading.snoozed_until.map(|until| watch.long(until)),
        snoozes: snoozes(watch),
        assignee: reading.assignee.as_ref().map(|assignee| {
            let seal = Seal::of(Some(assignee.id.as_str()), &assignee.name);
            (seal, assignee.name.clone())
        }),
        team,
        tags: reading.tags,
        reference: reading.reference,
        held: reading.held,
        risk: reading.risk,
        risk_reasons: reading.risk_reasons,
        items,
        older: reading.older,
        others: others.collect(),
        seen: reading.seen,
        contact_email: reading.contact_email,
        back: format!("/inbox?{}", shelf.full_query()),
        others_here: Vec::new(),
    }
}

/// The morning hour that "tomorrow" and "Monday" mean.
const MORNING: i8 = 8;

/// Times to snooze until: what they are called, and the moment in milliseconds.
fn snoozes(watch: &Watch) -> Vec<(String, String)> {
    let now = watch.zoned(watch.now);
    let morning = |day: jiff::civil::Date| {
        let at = day.at(MORNING, 0, 0, 0).to_zoned(watch.zone.clone()).ok()?;
        Some(at.timestamp().as_millisecond())
    };
    let tomorrow = now.date().tomorrow().ok().and_then(morning);
    let monday = now.date().nth_weekday(1, Weekday::Monday).ok().and_then(morning);
    let later = watch.now + 3 * 60 * inbox::limits::MINUTE_MS;
    let mut choices = vec![(format!("Until {}, in 3 hours", watch.clock(later)), later)];
    choices.extend(tomorrow.map(|at| ("Until tomorrow, 08:00".to_owned(), at)));
    choices.extend(monday.map(|at| (format!("Until {}", watch.long(at).text), at)));
    choices.into_iter().map(|(words, at)| (words, at.to_string())).collect()
}

/// Back to the conversation, in the list that it was opened from.
pub fn back_to(id: &str, fields: &Fields) -> String {
    match own_query(&fields.get("from")) {
        query if query.is_empty() => format!("/conversations/{id}"),
        query => format!("/conversations/{id}?{query}"),
    }
}

/// Back to the list that a conversation was opened from.
pub fn back_to_list(fields: &Fields) -> String {
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
) -> Answer {
    let Posted { visitor, fields } = posted;
    let status = Status::parse(&fields.get("status"))
        .ok_or_else(|| Error::invalid("status", "Choose open, waiting or closed."))?;
    let input = SetStatus { id: id.clone(), status };
    web.act(&visitor, move |tx, cx, _| put_status(tx, cx, input.clone()).map(|_| ())).await?;
    if status == Status::Closed {
        let mut response = see_other(&back_to_list(&fields));
        web.set_flash(&mut response, crate::web::Flash::Closed);
        return Ok(response);
    }
    Ok(see_other(&back_to(&id, &fields)))
}

pub async fn assign(State(web): State<Arc<Web>>, Path(id): Path<String>, posted: Posted) -> Answer {
    let Posted { visitor, fields } = posted;
    let input = AssignConversation { id: id.clone(), to: fields.get("to") };
    web.act(&visitor, move |tx, cx, _| assign_conversation(tx, cx, input.clone()).map(|_| ()))
        .await?;
    Ok(see_other(&back_to(&id, &fields)))
}

pub async fn tag(State(web): State<Arc<Web>>, Path(id): Path<String>, posted: Posted) -> Answer {
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
    let input = TagConversation { id: id.clone(), add, remove };
    web.act(&visitor, move |tx, cx, _| tag_conversation(tx, cx, input.clone()).map(|_| ())).await?;
    Ok(see_other(&back_to(&id, &fields)))
}

pub async fn snooze(State(web): State<Arc<Web>>, Path(id): Path<String>, posted: Posted) -> Answer {
    let Posted { visitor, fields } = posted;
    let until = match fields.number("until") {
        Some(until) => until,
        None => day_and_time(&visitor, &fields.get("at"))?,
    };
    let wanted = id.clone();
    web.act(&visitor, move |tx, cx, _| people::snooze(tx, cx, &wanted, until)).await?;
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
) -> Answer {
    let Posted { visitor, fields } = posted;
    let wanted = id.clone();
    web.act(&visitor, move |tx, cx, _| people::release_held(tx, cx, &wanted)).await?;
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
