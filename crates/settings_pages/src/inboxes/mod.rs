//! The inboxes that the reader may see, and adding one.

pub(crate) mod access;
pub(crate) mod connect;
pub(crate) mod connect_fields;
pub(crate) mod customer_page;
pub(crate) mod deletion;
pub(crate) mod drafting;
pub(crate) mod helpers;
pub(crate) mod holidays;
pub(crate) mod hours;
pub(crate) mod inbox;
pub(crate) mod incoming_mail;
pub(crate) mod outgoing;
pub(crate) mod plus_tags;
pub(crate) mod records;
pub(crate) mod records_view;
pub(crate) mod satisfaction;
pub(crate) mod secure;
pub(crate) mod server_form;
pub(crate) mod writing;

use std::sync::Arc;

use actions::inboxes::imap_accounts::{self, FetchedInbox};
use actions::inboxes::inbox_access;
use actions::inboxes::setup::{self, PersonListing};
use askama::Template;
use axum::extract::State;
use base::error::Error;
use base::ids::UserId;
use base::limits::PERSON_NAME_CHARS;
use model::mailboxes::{self, Mailbox};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_inboxes.html", whitespace = "minimize")]
struct InboxesPage {
    frame: PageLayout,
    inboxes: Vec<InboxView>,
    /// For owners: the inboxes for some that they do not see, by id and name.
    unseen: Vec<(String, String)>,
    /// For owners: the closed inboxes of people who were removed, by id and name.
    closed: Vec<(String, String)>,
    /// The names of those that are being erased.
    erasing: Vec<String>,
    /// The state of inboxes whose mail is not fetched.
    at_listeners: incoming_mail::StatusBadge,
    people: Vec<(String, String)>,
    address: String,
    name: String,
    private_to: String,
    address_error: String,
    name_error: String,
}

struct InboxView {
    id: String,
    name: String,
    address: String,
    private: bool,
    /// Not everybody on the team sees it.
    restricted: bool,
    /// The state of fetching, for owners and admins.
    fetching: Option<incoming_mail::StatusBadge>,
}

/// What the page is made of.
struct Read {
    inboxes: Vec<Mailbox>,
    people: Vec<PersonListing>,
    fetched: Vec<FetchedInbox>,
    unseen: Vec<Mailbox>,
    closed: Vec<Mailbox>,
    erasing: Vec<String>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<InboxesPage, PageError> {
    let (frame, read): (PageLayout, Read) = web
        .page(visitor, location(SettingsPage::Inboxes), |tx, cx, me| {
            let fetched = if me.administers() {
                imap_accounts::list_fetched(tx, cx.actor)?
            } else {
                Vec::new()
            };
            Ok(Read {
                inboxes: mailboxes::all_seen_by(tx, cx.actor)?,
                people: setup::list_people(tx, cx)?,
                fetched,
                unseen: inbox_access::unseen_inboxes(tx, cx)?,
                closed: actions::workspace::deletion::closed_inboxes(tx, cx)?,
                erasing: actions::workspace::deletion::deletions_under_way(tx, cx)?,
            })
        })
        .await?;
    let Read { inboxes, people, fetched, unseen, closed, erasing } = read;
    let named = |inbox: Mailbox| (inbox.id.to_string(), inbox.name);
    let view = |inbox: Mailbox| InboxView {
        id: inbox.id.to_string(),
        private: inbox.circle.person().is_some(),
        restricted: inbox.circle.inbox().is_some(),
        fetching: fetched
            .iter()
            .find(|fetched| fetched.mailbox == inbox.id)
            .map(|fetched| incoming_mail::state_of(fetched, frame.times.now)),
        name: inbox.name,
        address: inbox.address.into(),
    };
    let inboxes = inboxes.into_iter().map(view).collect();
    Ok(InboxesPage {
        frame,
        inboxes,
        unseen: unseen.into_iter().map(named).collect(),
        closed: closed.into_iter().map(named).collect(),
        erasing,
        at_listeners: incoming_mail::listener_state(&web.mail_setup),
        people: people.into_iter().map(|person| (person.id.to_string(), person.name)).collect(),
        address: String::new(),
        name: String::new(),
        private_to: String::new(),
        address_error: String::new(),
        name_error: String::new(),
    })
}

form! {
    pub struct NewInboxForm {
        address: String,
        name: String,
        private_to: Option<UserId>,
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<NewInboxForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (address, name) = (form.address.trim().to_owned(), form.name.clone());
    let owner = form.private_to.clone();
    let added = web
        .act(&visitor, move |tx, cx, _| {
            if let Some(owner) = &owner {
                let known = setup::list_people(tx, cx)?;
                known.iter().find(|person| person.id == *owner).ok_or(Error::NotFound("person"))?;
            }
            setup::add_mailbox(tx, cx, &address, &name, owner.as_ref())
        })
        .await;
    match added.or_problems()? {
        Ok(_) => web.redirect("/settings/inboxes", Flash::InboxAdded),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            page.address = form.address;
            page.name = form.name;
            page.private_to = form.private_to.map(|id| id.to_string()).unwrap_or_default();
            for problem in problems.0 {
                match problem.field.as_str() {
                    "name" => page.name_error = name_rule(),
                    _ => page.address_error = address_rule(&problem.sentence),
                }
            }
            responses::again(&page)
        }
    }
}

/// What a name of an inbox must be.
pub fn name_rule() -> String {
    t!("Give the inbox a name of at most {most} characters.", most = PERSON_NAME_CHARS)
}

/// What is wrong with the address of an inbox.
pub fn address_rule(rule: &str) -> String {
    t!("This address {rule}.", rule = sentence(rule))
}
