//! The inboxes that one sees, and adding one.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use inbox::Error;
use inbox::ids::UserId;
use inbox::mailboxes::{self, Mailbox};
use inbox::people::{self, FetchedInbox, Person};

use super::{arrival, spot};
use crate::web::Web;
use crate::web::answers::{self, Answer, Refusal, see_other};
use crate::web::form::Posted;
use crate::web::frame::Frame;
use crate::web::visitor::Visitor;
use crate::web::wording::filters;

#[derive(Template)]
#[template(path = "settings_inboxes.html")]
struct InboxesPage {
    frame: Frame,
    inboxes: Vec<InboxView>,
    /// How mail comes into an inbox that is not fetched.
    at_doors: arrival::State,
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
    fetching: Option<arrival::State>,
}

type Read = (Vec<Mailbox>, Vec<Person>, Vec<FetchedInbox>);

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> Answer {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<InboxesPage, Refusal> {
    let (frame, (inboxes, people, fetched)): (Frame, Read) = web
        .page(visitor, spot(super::SettingsPage::Inboxes), |tx, cx, me| {
            let fetched = match me.administers() {
                true => people::list_fetched(tx, cx.actor)?,
                false => Vec::new(),
            };
            Ok((mailboxes::all_seen_by(tx, cx.actor)?, people::list_people(tx, cx)?, fetched))
        })
        .await?;
    let view = |inbox: Mailbox| InboxView {
        id: inbox.id.to_string(),
        private: inbox.circle.person().is_some(),
        fetching: fetched
            .iter()
            .find(|fetched| fetched.mailbox == inbox.id)
            .map(|fetched| arrival::state_of(fetched, frame.watch.now)),
        name: inbox.name,
        address: inbox.address,
    };
    let inboxes = inboxes.into_iter().map(view).collect();
    Ok(InboxesPage {
        frame,
        inboxes,
        at_doors: arrival::state_at_doors(&web.ways),
        people: people.into_iter().map(|person| (person.id.to_string(), person.name)).collect(),
        address: String::new(),
        name: String::new(),
        private_to: String::new(),
        address_error: String::new(),
        name_error: String::new(),
    })
}

pub async fn add(State(web): State<Arc<Web>>, posted: Posted) -> Answer {
    let Posted { visitor, fields } = posted;
    let (address, name) = (fields.get("address").trim().to_owned(), fields.get("name"));
    let owner = match fields.opt("private_to") {
        Some(id) => Some(UserId::parse(&id).ok_or(Error::NotFound("person"))?),
        None => None,
    };
    let added = web
        .act(&visitor, move |tx, cx, _| {
            if let Some(owner) = &owner {
                let known = people::list_people(tx, cx)?;
                known.iter().find(|person| person.id == *owner).ok_or(Error::NotFound("person"))?;
            }
            people::add_mailbox(tx, cx, &address, &name, owner.as_ref())
        })
        .await;
    match added {
        Ok(_) => {
            let mut response = see_other("/settings/inboxes");
            web.set_flash(&mut response, crate::web::Flash::InboxAdded);
            Ok(response)
        }
        Err(Refusal::Domain(Error::Invalid(problems))) => {
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
            answers::again(&page)
        }
        Err(refusal) => Err(refusal),
    }
}
