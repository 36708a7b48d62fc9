//! A conversation beside its list, and the forms in its header.

pub mod booking_cards;
pub mod conversation_parts;
pub mod conversation_view;
pub mod encrypted_mail;
pub mod event_rows;
pub mod event_words;
pub mod lock;
pub mod merging;
pub mod message_cards;
pub mod message_details;
pub mod printing;
pub mod snooze_times;
pub mod sorting;
pub mod targets;
pub mod timeline;

use std::sync::Arc;

use actions::conversation_bookings::{ConversationBookings, conversation_bookings};
use actions::conversations::open_conversation::{self, OpenConversation};
use actions::conversations::timeline::{TimelineCursor, TimelineEntry, TimelinePart};
use actions::conversations::triage::TriageAct;
use actions::inboxes::drafting;
use actions::sign_in::sessions::SignedIn;
use actions::writing::saved_replies::{self, SavedReply};
use api::operations::{SetStatusInput, TagConversationInput};
use api::operations::{set_status as put_status, tag_conversation};
use askama::Template;
use axum::extract::{Path, State};
use base::agent_presence::AGENT_STAYS_MS;
use base::app::Cx;
use base::error::Error;
use base::ids::{AgentId, UserId};
use base::limits::{TAG_CHARS, TAGS_PER_CALL};
use base::states::Status;
use db::Tx;
use model::messages::answers::KnownAnswer;
use outbound::scheduling::MessageTimes;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, FormFields, FormValue, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{PageError, PageResult, see_other};
use crate::layout::wording::{Avatar, TimeFormat, first_name};
use crate::page_version::PartVersion;
use crate::pages::conversation::booking_cards::{BookingCard, booking_cards};
use crate::pages::conversation::conversation_parts::{
    AskSheet, ConversationHead, ConversationTimeline, OfferSheet,
};
use crate::pages::conversation::conversation_view::{ConvoView, OtherHere};
use crate::pages::conversation::snooze_times::MORNING;
use crate::pages::conversation::timeline::TimelineChoice;
use crate::pages::lists::conversation_list::{ConversationFilter, ListView, subject};
use crate::pages::lists::list_query::{ConversationButton, ListQuery};
use crate::pages::lists::triage;
use crate::pages::writing::composer::Composer;
use crate::pages::writing::offer_form::{self, OfferForm};
use crate::pages::writing::request_form::AskForm;
use crate::presence::Other;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "conversation.html", whitespace = "minimize")]
pub struct ConversationPage {
    frame: PageLayout,
    list: ListView,
    convo: ConvoView,
    composer: Option<Composer>,
    /// The form that asks for documents, instead of the composer.
    pub asking: Option<AskForm>,
    /// The form that offers times, likewise.
    pub offering: Option<OfferForm>,
    bookings: Vec<BookingCard>,
    /// Answers that may fit: their ids and titles.
    offers: Vec<(String, String)>,
    /// True if mail arrived since the reader was here.
    is_news: bool,
    /// True if the reader is mentioned in a note that they have not read.
    is_mentioned: bool,
}

impl ConversationPage {
    /// The next message's number, as this page shows it.
    pub fn next_number(&self) -> i64 {
        self.convo.seen
    }

    fn head(&self) -> ConversationHead<'_> {
        ConversationHead { frame: &self.frame, convo: &self.convo }
    }

    fn timeline(&self) -> ConversationTimeline<'_> {
        ConversationTimeline {
            frame: &self.frame,
            convo: &self.convo,
            bookings: &self.bookings,
            is_writing: self.composer.is_some() || self.asking.is_some() || self.offering.is_some(),
        }
    }

    fn ask_sheet<'a>(&'a self, asking: &'a AskForm) -> AskSheet<'a> {
        AskSheet { frame: &self.frame, convo: &self.convo, asking }
    }

    fn offer_sheet<'a>(&'a self, offering: &'a OfferForm) -> OfferSheet<'a> {
        OfferSheet { frame: &self.frame, convo: &self.convo, offering }
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let query = asked.clone();
    let compose = move |open: &OpenConversation, times: &TimeFormat| {
        Composer::from_query(&query, open, times)
    };
    let page = build(&web, &visitor, &id, &asked, compose);
    let mut page = page.await?;
    if page.convo.id != id {
        // It was merged: its old link leads to where its messages are.
        return Ok(see_other(&page.convo.here));
    }
    if asked.get("write") == "ask" {
        page.asking = Some(AskForm::fresh(page.next_number()));
    }
    if asked.get("write") == "times" {
        let seen = page.next_number();
        page.offering = Some(offer_form::open(&web, &visitor, &id, &asked, seen).await?);
    }
    if page.is_news || page.is_mentioned {
        note_read(&web, &visitor, id, page.is_mentioned);
    }
    web.show(&visitor, &page)
}

/// The page, with a composer if there is one.
pub async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &FormFields,
    composer: impl FnOnce(&OpenConversation, &TimeFormat) -> Option<Composer>,
) -> Result<ConversationPage, PageError> {
    let filter = ConversationFilter::from_query(asked)?;
    let location = PageLocation::at("", &filter.href);
    let (list, wanted, part) = (filter.clone(), id.to_owned(), asked_part(asked)?);
    let is_older = part != TimelinePart::Newest;
    let writes = asked.has("write");
    let (mut frame, (open, listing, details)) = web
        .page(visitor, location, move |tx, cx, me| {
            let open = open_conversation::read_conversation(tx, cx, &wanted, &part)?;
            let writes = writes || open.autosave.is_some() || !open.attached.is_empty();
            let details = Details {
                ws: cx.actor.ws,
                me: me.id.clone(),
                offers: if open.has_offers {
                    drafting::offered_answers(tx, cx, &open.conversation)?
                } else {
                    Vec::new()
                },
                bookings: if open.has_bookings {
                    conversation_bookings(tx, cx, &wanted)?
                } else {
                    ConversationBookings::default()
                },
                saved_replies: if writes {
                    saved_replies::list_insertable(tx, cx, t!("Help pages"))?
                } else {
                    Vec::new()
                },
            };
            Ok((open, list.read(tx, cx)?, details))
        })
        .await?;
    let Details { ws, me, saved_replies, offers, bookings } = details;
    let is_mentioned = open.is_mentioned;
    let here = web.presence.others(&(ws, open.conversation.id.to_string()), &me, frame.times.now);
    let agents = agents_here(web, ws, &open, frame.times.now);
    frame.title = subject(&open.conversation.subject);
    frame.from = filter.full_query();
    let shown = PartVersion::of_conversation(PartVersion::of_list(&listing.items), &open.latest);
    let present = web.mark_present(ws, open.conversation.id.as_str(), &me, frame.times.now);
    frame.watch_live(format!("{}&conversation={id}", filter.full_query()), shown, present);
    let composer = composer(&open, &frame.times).map(|composer| {
        composer.with_saved(&saved_replies).with_list(&frame.from).with_times(&frame.times)
    });
    let is_news = open.is_news();
    let list = ListView::new(&filter, listing, &frame, Some(id));
    let as_text = asked.get("text");
    let is_splitting = !asked.get("split").is_empty();
    let choice = TimelineChoice { as_text: &as_text, is_older, is_splitting, from: &frame.from };
    let mut convo = ConvoView::new(open, &frame.times, &filter, choice);
    convo.stopped = asked.get("stopped");
    let leaves_at = asked.get("leaves").parse().ok();
    convo.later.restore(MessageTimes { leaves_at, follow_up_at: None });
    convo.later.offer(&frame.times);
    offer_form::show_offers(&mut convo.items, &bookings.offers, &frame.times);
    let bookings = booking_cards(&bookings, &frame.times);
    convo.others_here = here.into_iter().map(other_here).chain(agents).collect();
    let offers = offers.into_iter().map(|answer| (answer.id.to_string(), answer.title)).collect();
    Ok(ConversationPage {
        frame,
        list,
        convo,
        composer,
        asking: None,
        offering: None,
        bookings,
        offers,
        is_news,
        is_mentioned,
    })
}

/// The part of the timeline that the address names.
fn asked_part(asked: &FormFields) -> base::error::Result<TimelinePart> {
    match asked.opt("before") {
        None => Ok(TimelinePart::Newest),
        Some(before) => {
            let cursor = TimelineCursor::parse(&before).ok_or(Error::NotFound("conversation"))?;
            Ok(TimelinePart::Before(cursor))
        }
    }
}

/// What is read together with a conversation.
struct Details {
    ws: i64,
    me: UserId,
    saved_replies: Vec<SavedReply>,
    offers: Vec<KnownAnswer>,
    bookings: ConversationBookings,
}

fn other_here(other: Other) -> OtherHere {
    let does = doing(first_name(&other.name), other.writes);
    OtherHere { avatar: Avatar::person(&other.name), does }
}

fn doing(name: &str, writes: bool) -> String {
    if writes { t!("{name} is writing", name) } else { t!("{name} is reading", name) }
}

/// The agents that are active here: those whose calls this process served, and those with recent
/// notes and messages, whichever process served them.
fn agents_here(web: &Web, ws: i64, open: &OpenConversation, now: i64) -> Vec<OtherHere> {
    let mut agents: Vec<(String, bool)> = Vec::new();
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
            && !agents.iter().any(|(met, _)| met == name)
        {
            agents.push((name.to_owned(), true));
        }
    }
    for activity in web.app.agents.at(ws, open.conversation.id.as_str(), now) {
        if !agents.iter().any(|(met, _)| *met == activity.name) {
            agents.push((activity.name.clone(), activity.writes(now)));
        }
    }
    let shown = agents.into_iter().map(|(name, writes)| OtherHere {
        does: doing(&name, writes),
        avatar: Avatar::agent(&name),
    });
    shown.collect()
}

/// Written in the background: the page does not wait for it.
fn note_read(web: &Arc<Web>, visitor: &Visitor, id: String, is_mentioned: bool) {
    let background = web.app.background.clone();
    let (web, visitor) = (Arc::clone(web), visitor.clone());
    background.start("read mark", async move {
        let mark = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
            open_conversation::mark_read(tx, cx, &id)
        };
        // A mention that was read changes the reader's other pages; nobody else sees a read mark.
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

form! {
    pub struct StatusForm {
        status: Status,
        from: ListQuery,
    }

    pub struct AssignForm {
        to: String,
        from: ListQuery,
    }

    pub struct TagsForm {
        /// What was typed.
        add: TagNames,
        /// A tag of the list, which counts instead of what was typed to find it.
        choose: String,
        remove: TagNames,
        from: ListQuery,
    }

    pub struct SnoozeForm {
        /// A moment that the page offered, in milliseconds.
        until: Option<i64>,
        /// A day and time of the reader's own choice.
        at: String,
        from: ListQuery,
    }
}

impl FormValue for Status {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Status> {
        Status::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "Choose open, waiting or closed."))
    }
}

/// Names of tags: a field may occur several times, with several names separated by commas.
pub struct TagNames(Vec<String>);

impl FormValue for TagNames {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<TagNames> {
        let typed = fields.all(name);
        let names = typed.iter().flat_map(|names| names.split(',')).map(str::trim);
        Ok(TagNames(names.filter(|name| !name.is_empty()).map(str::to_owned).collect()))
    }
}

pub async fn set_status(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<StatusForm>,
) -> PageResult {
    let PostedForm { visitor, form: StatusForm { status, from } } = posted;
    if status == Status::Closed {
        return triage::act_on_open(&web, &visitor, TriageAct::Close, &id, &from).await;
    }
    let input = SetStatusInput { id: id.clone(), status };
    web.act(&visitor, move |tx, cx, _| put_status(tx, cx, input.clone()).map(|_| ())).await?;
    Ok(see_other(&from.conversation(&id)))
}

pub async fn assign(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<AssignForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let act = TriageAct::Assign(form.to.clone());
    // Who takes it stays with it; who passes it on goes on with the next.
    match form.to.as_str() {
        "me" | "none" => triage::act_and_stay(&web, &visitor, act, &id, &form.from).await,
        _ => triage::act_on_open(&web, &visitor, act, &id, &form.from).await,
    }
}

pub async fn tag(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<TagsForm>,
) -> PageResult {
    let PostedForm {
        visitor,
        form: TagsForm { add: TagNames(typed), choose, remove: TagNames(remove), from },
    } = posted;
    let add = if choose.is_empty() { typed } else { vec![choose] };
    let too_long = |name: &String| name.chars().count() > TAG_CHARS || name.contains('\0');
    if add.len() > TAGS_PER_CALL || remove.len() > TAGS_PER_CALL || add.iter().any(too_long) {
        let sentence = format!(
            "Add at most {TAGS_PER_CALL} tags at a time, each of 1 to {TAG_CHARS} characters."
        );
        return Err(Error::invalid("add", sentence).into());
    }
    let input = TagConversationInput { id: id.clone(), add, remove };
    web.act(&visitor, move |tx, cx, _| tag_conversation(tx, cx, input.clone()).map(|_| ())).await?;
    Ok(see_other(&from.conversation(&id)))
}

pub async fn snooze(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<SnoozeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let until = match form.until {
        Some(until) => until,
        None => visitor.day_and_time(&form.at, MORNING)?,
    };
    triage::act_on_open(&web, &visitor, TriageAct::Snooze(until), &id, &form.from).await
}

/// Takes the warning of the scam check off, and releases what was held.
pub async fn remove_warning(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ConversationButton>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let wanted = id.clone();
    web.act(&visitor, move |tx, cx, _| {
        actions::conversations::snooze::remove_warning(tx, cx, &wanted)
    })
    .await?;
    web.redirect(&form.from.conversation(&id), Flash::WarningRemoved)
}

pub async fn release(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ConversationButton>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let wanted = id.clone();
    web.act(&visitor, move |tx, cx, _| {
        actions::conversations::snooze::release_held(tx, cx, &wanted)
    })
    .await?;
    web.redirect(&form.from.conversation(&id), Flash::Released)
}
