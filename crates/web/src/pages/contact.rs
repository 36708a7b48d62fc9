//! The page of a contact: everything with one person, notes on them, and their addresses.

use std::sync::Arc;

use actions::conversations::blocked_senders;
use actions::conversations::contacts::{self, OpenContact};
use actions::workspace::fields::{FieldSheet, fields_of_contact, set_contact_fields};
use api::fields::check_query;
use api::operations::list_conversations;
use api::operations::{LIST_CONVERSATIONS, ListConversationsInput};
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Error;
use base::ids::ContactNoteId;
use bookings::zone_or_utc;
use db::Tx;
use model::contacts::contact_notes::{self, ContactNote};
use model::contacts::contact_profile::SharedConversation;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use search::list::ConversationSummary;
use translation::t;

use crate::Web;
use crate::forms::form::{Asked, FormFields, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::hrefs::contact_href;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult, see_other};
use crate::layout::wording::{
    Avatar, DisplayTime, StatusLabel, TimeFormat, first_name, language_name, status_label,
};
use crate::pages::custom_fields::{FieldsForm, FieldsFormPlace, PostedFields};
use crate::pages::lists::conversation_list::subject;
use crate::visitor::Visitor;

/// Conversations on one page.
const LISTED: i64 = 30;

#[derive(Template)]
#[template(path = "contact.html", whitespace = "minimize")]
struct ContactPage {
    frame: PageLayout,
    href: String,
    /// The address of a first mail to them.
    write_href: String,
    email: String,
    name: String,
    first: String,
    avatar: Avatar,
    company: String,
    is_blocked: bool,
    conversations: String,
    open: String,
    next_booking: Option<(String, DisplayTime)>,
    /// The conversations of this page by month.
    months: Vec<MonthView>,
    also_in: Vec<StoryView>,
    older: Option<String>,
    is_older: bool,
    addresses: Vec<String>,
    language: String,
    /// The zone and the time there.
    time_zone: Option<(String, String)>,
    colleagues: Vec<ColleagueView>,
    notes: Vec<NoteView>,
    /// What was typed, and what is wrong with it.
    typed_note: String,
    note_error: String,
    typed_address: String,
    merge_error: String,
    fields: FieldsForm,
}

struct MonthView {
    title: String,
    items: Vec<StoryView>,
}

struct StoryView {
    href: String,
    subject: String,
    about: String,
    status: StatusLabel,
    time: DisplayTime,
}

struct ColleagueView {
    href: String,
    name: String,
    email: String,
    avatar: Avatar,
}

struct NoteView {
    id: String,
    avatar: Avatar,
    author: String,
    lines: Vec<String>,
    time: DisplayTime,
    may_delete: bool,
}

/// What is read for the page.
struct Details {
    open: OpenContact,
    items: Vec<ConversationSummary>,
    next: Option<String>,
    deletable: Vec<bool>,
    fields: FieldSheet,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(address): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let page = build(&web, &visitor, &address, &asked).await?;
    if page.email != EmailAddress::new(&address).as_str() {
        // It is another address of the same person.
        return Ok(see_other(&page.href));
    }
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    address: &str,
    asked: &FormFields,
) -> Result<ContactPage, PageError> {
    let email = EmailAddress::new(address);
    let cursor = asked.opt("cursor");
    let input = ListConversationsInput {
        view: Some("all".into()),
        from: Some(email.to_string()),
        limit: Some(LISTED),
        cursor: cursor.clone(),
        ..Default::default()
    };
    if let Some(cursor) = &cursor {
        let pairs = [("cursor".to_owned(), cursor.clone())];
        check_query(LIST_CONVERSATIONS.fields, &pairs).map_err(Error::Invalid)?;
    }
    let (frame, details) = web
        .page(visitor, PageLocation::new(t!("Contact")), move |tx, cx, _| {
            let open = contacts::open_contact(tx, cx, &email)?;
            let page = list_conversations(tx, cx, input.clone())?;
            let deletable =
                open.profile.notes.iter().map(|note| contact_notes::may_delete(cx.actor, note));
            let deletable = deletable.collect();
            let fields = fields_of_contact(tx, cx, &open.profile.addresses)?;
            Ok(Details { deletable, fields, open, items: page.items, next: page.next })
        })
        .await?;
    let OpenContact { profile, conversations, open, also_in, next_booking } = details.open;
    let times = &frame.times;
    let (email, href) = (profile.email.to_string(), contact_href(&profile.email));
    let name = profile.name.unwrap_or_else(|| email.clone());
    let note = |(note, may_delete): (ContactNote, bool)| note_view(note, may_delete, times);
    let notes = profile.notes.into_iter().zip(details.deletable).map(note).collect();
    let time_zone = profile.time_zone.map(|zone| {
        let there = TimeFormat::new(times.now, zone_or_utc(&zone));
        (zone, there.clock(times.now))
    });
    let place = FieldsFormPlace {
        csrf: frame.csrf.to_string(),
        from: frame.from.clone(),
        action: format!("{href}/fields"),
    };
    let page = ContactPage {
        months: months(&details.items, times),
        also_in: also_in.into_iter().map(|shared| shared_view(shared, times)).collect(),
        next_booking: next_booking.map(|(at, id)| (format!("/calendar/{id}"), times.long(at))),
        older: details.next.map(|cursor| format!("{href}?cursor={cursor}")),
        is_older: cursor.is_some(),
        first: first_name(&name).to_owned(),
        avatar: Avatar::customer(&name),
        company: company(&profile.addresses),
        is_blocked: profile.is_blocked,
        conversations: count_text(conversations.n, conversations.is_exact),
        open: count_text(open.n, open.is_exact),
        addresses: profile.addresses.iter().map(ToString::to_string).collect(),
        language: profile.language.map(language_name).unwrap_or_default(),
        time_zone,
        colleagues: profile
            .colleagues
            .into_iter()
            .map(|party| colleague(party.name, party.email))
            .collect(),
        notes,
        typed_note: String::new(),
        note_error: String::new(),
        typed_address: String::new(),
        merge_error: String::new(),
        fields: FieldsForm::new(place, details.fields),
        write_href: format!("/new?to={}", utf8_percent_encode(&email, NON_ALPHANUMERIC)),
        href,
        email,
        name,
        frame,
    };
    Ok(page)
}

fn count_text(n: usize, is_exact: bool) -> String {
    if is_exact { n.to_string() } else { format!("{n}+") }
}

/// The domain of the first address that is a company's.
fn company(addresses: &[EmailAddress]) -> String {
    addresses.iter().find_map(|email| mail::organisation(email)).unwrap_or_default()
}

fn colleague(name: Option<String>, email: String) -> ColleagueView {
    let name = name.unwrap_or_else(|| email.clone());
    ColleagueView { href: contact_href(&email), avatar: Avatar::customer(&name), name, email }
}

fn months(items: &[ConversationSummary], times: &TimeFormat) -> Vec<MonthView> {
    let mut months: Vec<MonthView> = Vec::new();
    for summary in items {
        let title = times.month(summary.last_message_at);
        let story = StoryView {
            href: format!("/conversations/{}", summary.id),
            subject: subject(&summary.subject),
            about: summary.snippet.clone(),
            status: status_label(summary.status, false),
            time: times.short(summary.last_message_at),
        };
        match months.last_mut().filter(|month| month.title == title) {
            Some(month) => month.items.push(story),
            None => months.push(MonthView { title, items: vec![story] }),
        }
    }
    months
}

fn shared_view(shared: SharedConversation, times: &TimeFormat) -> StoryView {
    let named = shared.contact_name.filter(|name| !name.is_empty());
    let name = named.unwrap_or_else(|| shared.contact_email.to_string());
    StoryView {
        href: format!("/conversations/{}", shared.id),
        subject: subject(&shared.subject),
        about: t!("with {name}", name),
        status: status_label(shared.status, false),
        time: times.short(shared.last_message_at),
    }
}

fn note_view(note: ContactNote, may_delete: bool, times: &TimeFormat) -> NoteView {
    NoteView {
        id: note.id.to_string(),
        avatar: Avatar::of(Some(&note.author), &note.author_name),
        author: note.author_name,
        lines: note.body.lines().map(str::to_owned).collect(),
        time: times.long(note.at),
        may_delete,
    }
}

form! {
    pub struct ContactNoteForm {
        body: String,
    }

    pub struct ContactMergeForm {
        /// The address of the same person.
        with: String,
    }

    pub struct SeparateForm {
        email: String,
    }
}

pub async fn add_note(
    State(web): State<Arc<Web>>,
    Path(address): Path<String>,
    posted: PostedForm<ContactNoteForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (email, body) = (EmailAddress::new(&address), form.body.clone());
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        contacts::add_contact_note(tx, cx, &email, &body)
    };
    match web.act(&visitor, work).await.or_problems()? {
        Ok(()) => web.redirect(&contact_href(&address), Flash::Noted),
        Err(problems) => {
            let mut page = build(&web, &visitor, &address, &FormFields::default()).await?;
            page.typed_note = form.body;
            page.note_error = problems.sentences();
            responses::again(&page)
        }
    }
}

pub async fn delete_note(
    State(web): State<Arc<Web>>,
    Path((address, note)): Path<(String, String)>,
    posted: PostedForm,
) -> PageResult {
    let note = ContactNoteId::parse(&note).ok_or(Error::NotFound("note"))?;
    let email = EmailAddress::new(&address);
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        contacts::delete_contact_note(tx, cx, &email, &note)
    };
    web.act(&posted.visitor, work).await?;
    web.redirect(&contact_href(&address), Flash::ContactNoteDeleted)
}

pub async fn set_fields(
    State(web): State<Arc<Web>>,
    Path(address): Path<String>,
    posted: PostedForm<PostedFields>,
) -> PageResult {
    let PostedForm { visitor, mut form } = posted;
    form.read_days(&visitor);
    let (email, typed) = (EmailAddress::new(&address), form.typed.clone());
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| set_contact_fields(tx, cx, &email, &typed);
    match web.act(&visitor, work).await.or_problems()? {
        Ok(()) => web.redirect(&contact_href(&address), Flash::FieldsSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor, &address, &FormFields::default()).await?;
            page.fields.refuse(&form.typed, &problems);
            responses::again(&page)
        }
    }
}

/// Makes another contact part of this one.
pub async fn merge(
    State(web): State<Arc<Web>>,
    Path(address): Path<String>,
    posted: PostedForm<ContactMergeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (into, with) = (EmailAddress::new(&address), EmailAddress::new(&form.with));
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| contacts::merge_contacts(tx, cx, &with, &into);
    match web.act(&visitor, work).await.or_problems()? {
        Ok(()) => web.redirect(&contact_href(&address), Flash::ContactsMerged),
        Err(problems) => {
            let mut page = build(&web, &visitor, &address, &FormFields::default()).await?;
            page.typed_address = form.with;
            page.merge_error = problems.sentences();
            responses::again(&page)
        }
    }
}

/// Undoes the merge by which an address came to the contact.
pub async fn separate(
    State(web): State<Arc<Web>>,
    Path(address): Path<String>,
    posted: PostedForm<SeparateForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let email = EmailAddress::new(&form.email);
    let of = EmailAddress::new(&address);
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| contacts::separate_address(tx, cx, &of, &email);
    web.act(&visitor, work).await?;
    web.redirect(&contact_href(&address), Flash::ContactSeparated)
}

pub async fn block(
    State(web): State<Arc<Web>>,
    Path(address): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let email = EmailAddress::new(&address);
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| blocked_senders::block_contact(tx, cx, &email);
    web.act(&posted.visitor, work).await?;
    web.redirect(&contact_href(&address), Flash::SenderBlocked)
}

pub async fn unblock(
    State(web): State<Arc<Web>>,
    Path(address): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let email = EmailAddress::new(&address);
    let work =
        move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| blocked_senders::unblock_contact(tx, cx, &email);
    web.act(&posted.visitor, work).await?;
    web.redirect(&contact_href(&address), Flash::SenderUnblocked)
}
