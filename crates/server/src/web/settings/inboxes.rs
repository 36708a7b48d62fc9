//! The inboxes that one sees, and adding one.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::Error;
use inbox::actions::{self, FetchedInbox, PersonListing};
use inbox::base::ids::UserId;
use inbox::model::mailboxes::{self, Mailbox};

use super::{incoming_mail, location};
use crate::web::Web;
use crate::web::form::Posted;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::filters;
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "settings_inboxes.html")]
struct InboxesPage {
    frame: PageLayout,
    inboxes: Vec<InboxView>,
    /// How mail comes into an inbox that is not fetched.
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
    /// How fetching its mail goes, for those who look after that.
    fetching: Option<incoming_mail::StatusBadge>,
}

type Read = (Vec<Mailbox>, Vec<PersonListing>, Vec<FetchedInbox>);

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<InboxesPage, PageError> {
    let (frame, (inboxes, people, fetched)): (PageLayout, Read) = web
        .page(visitor, location(super::SettingsPage::Inboxes), |tx, cx, me| {
            let fetched = match me.administers() {
                true => actions::list_fetched(tx, cx.actor)?,
                false => Vec::new(),
            };
            Ok((mailboxes::all_seen_by(tx, cx.actor)?, actions::list_people(tx, cx)?, fetched))
        })
        .await?;
    let view = |inbox: Mailbox| InboxView {
        id: inbox.id.to_string(),
        private: inbox.circle.person().is_some(),
        fetching: fetched
            .iter()
            .find(|fetched| fetched.mailbox == inbox.id)
            .map(|fetched| incoming_mail::state_of(fetched, frame.watch.now)),
        name: inbox.name,
        address: inbox.address.into(),
    };
    let inboxes = inboxes.into_iter().map(view).collect();
    Ok(InboxesPage {
        frame,
        inboxes,
        at_listeners: incoming_mail::listener_state(&web.ways),
        people: people.into_iter().map(|person| (person.id.to_string(), person.name)).collect(),
        address: String::new(),
        name: String::new(),
        private_to: String::new(),
        address_error: String::new(),
        name_error: String::new(),
    })
}

pub async fn add(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    let (address, name) = (fields.get("address").trim().to_owned(), fields.get("name"));
    let owner = match fields.opt("private_to") {
        Some(id) => Some(UserId::parse(&id).ok_or(Error::NotFound("person"))?),
        None => None,
    };
    let added = web
        .act(&visitor, move |tx, cx, _| {
            if let Some(owner) = &owner {
                let known = actions::list_people(tx, cx)?;
                known.iter().find(|person| person.id == *owner).ok_or(Error::NotFound("person"))?;
            }
            actions::add_mailbox(tx, cx, &address, &name, owner.as_ref())
        })
        .await;
    match added {
        Ok(_) => {
            let mut response = see_other("/settings/inboxes");
            web.set_flash(&mut response, crate::web::Flash::InboxAdded);
            Ok(response)
        }
        Err(PageError::Domain(Error::Invalid(problems))) => {
            let mut page = build(&web, &visitor).await?;
            page.address = fields.get("address");
            page.name = fields.get("name");
            page.private_to = fields.get("private_to");
            for problem in problems.0 {
                match problem.field.as_str() {
                    "name" => {
                        page.name_error = "Give the inbox a name of at most 100 characters.".into()
                    }
                    _ => page.address_error = format!("This address {}.", problem.sentence),
                }
            }
            responses::again(&page)
        }
        Err(refusal) => Err(refusal),
    }
}
