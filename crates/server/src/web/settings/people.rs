//! The people of the workspace.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use db::Tx;
use inbox::actions::{self, PersonListing};
use inbox::base::actor::Role;
use inbox::base::ids::UserId;
use inbox::{Cx, Error};

use super::location;
use crate::web::Web;
use crate::web::form::{FormFields, Posted};
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult, see_other};
use crate::web::layout::wording::{Avatar, filters};
use crate::web::visitor::Visitor;

#[derive(Template)]
#[template(path = "settings_people.html")]
struct PeoplePage {
    frame: PageLayout,
    people: Vec<PersonView>,
    email: String,
    name: String,
    role: String,
    email_error: String,
    name_error: String,
    /// A person's name and the link that signs them in, shown this once.
    link: Option<(String, String)>,
    mails: bool,
}

struct PersonView {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    avatar: Avatar,
    is_you: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<PeoplePage, PageError> {
    let (frame, (people, you)): (PageLayout, (Vec<PersonListing>, UserId)) = web
        .page(visitor, location(super::SettingsPage::People), |tx, cx, me| {
            Ok((actions::list_people(tx, cx)?, me.id.clone()))
        })
        .await?;
    Ok(PeoplePage {
        people: people.into_iter().map(|person| view(person, &you)).collect(),
        frame,
        email: String::new(),
        name: String::new(),
        role: "member".into(),
        email_error: String::new(),
        name_error: String::new(),
        link: None,
        mails: web.mails,
    })
}

fn view(person: PersonListing, you: &UserId) -> PersonView {
    PersonView {
        is_you: person.id == *you,
        id: person.id.to_string(),
        avatar: Avatar::person(&person.name),
        name: person.name,
        email: person.email.into(),
        role: person.role.as_str(),
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: Posted) -> PageResult {
    let Posted { visitor, fields } = posted;
    let role = Role::parse(&fields.get("role"))
        .ok_or_else(|| Error::invalid("role", "Choose owner, admin or member."))?;
    let (email, name) = (fields.get("email").trim().to_owned(), fields.get("name"));
    let mails = web.mails;
    let added = web
        .act(&visitor, move |tx, cx, me| {
            if role == Role::Owner && me.role != Role::Owner {
                return Err(Error::Forbidden("Only an owner can add an owner.".into()));
            }
            let id = actions::add_person(tx, cx, &email, &name, role)?;
            let link = hand_over(tx, cx, &id, mails)?;
            Ok(link.map(|link| (name.trim().to_owned(), link)))
        })
        .await;
    match added {
        Ok(link) => handed_over(&web, &visitor, link).await,
        Err(PageError::Domain(Error::Invalid(problems))) => {
            let mut page = build(&web, &visitor).await?;
            typed(&mut page, &fields);
            for problem in problems.0 {
                match (problem.field.as_str(), problem.sentence) {
                    ("name", _) => {
                        page.name_error = "Say their name, in at most 100 characters.".into();
                    }
                    (_, sentence) if sentence.starts_with("is on") => {
                        page.email_error = "Somebody with this address is on the team.".into();
                    }
                    _ => page.email_error = "That is not an e-mail address.".into(),
                }
            }
            responses::again(&page)
        }
        Err(refusal) => Err(refusal),
    }
}

/// Mails a sign-in link where mail reaches people; answers it where it has to be passed on.
fn hand_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &UserId,
    mails: bool,
) -> inbox::Result<Option<String>> {
    match mails {
        true => actions::invite(tx, cx, id).map(|()| None),
        false => actions::make_sign_in_link(tx, cx, id).map(Some),
    }
}

async fn handed_over(web: &Web, visitor: &Visitor, link: Option<(String, String)>) -> PageResult {
    if link.is_none() {
        let mut response = see_other("/settings/people");
        web.set_flash(&mut response, crate::web::Flash::Invited);
        return Ok(response);
    }
    let page = build(web, visitor).await?;
    responses::page(&PeoplePage { link, ..page })
}

fn typed(page: &mut PeoplePage, fields: &FormFields) {
    page.email = fields.get("email");
    page.name = fields.get("name");
    page.role = fields.get("role");
}

pub async fn set_role(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let Posted { visitor, fields } = posted;
    let id = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    let role = Role::parse(&fields.get("role"))
        .ok_or_else(|| Error::invalid("role", "Choose owner, admin or member."))?;
    web.act(&visitor, move |tx, cx, _| actions::set_role(tx, cx, &id, role)).await?;
    let mut response = see_other("/settings/people");
    web.set_flash(&mut response, crate::web::Flash::Role);
    Ok(response)
}

#[derive(Template)]
#[template(path = "settings_remove.html")]
struct RemovePage {
    frame: PageLayout,
    person: PersonView,
    error: String,
}

/// Says what removing somebody does before it is done.
pub async fn ask(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let page = removal(&web, &visitor, &id, String::new()).await?;
    web.show(&visitor, &page)
}

async fn removal(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    error: String,
) -> Result<RemovePage, PageError> {
    let (frame, (people, you)): (PageLayout, (Vec<PersonListing>, UserId)) = web
        .page(visitor, location(super::SettingsPage::People), |tx, cx, me| {
            cx.actor.must_administer()?;
            Ok((actions::list_people(tx, cx)?, me.id.clone()))
        })
        .await?;
    let found = people.into_iter().find(|person| person.id.as_str() == id);
    let person = view(found.ok_or(Error::NotFound("person"))?, &you);
    Ok(RemovePage { frame, person, error })
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let visitor = posted.visitor;
    let person = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    let removed = web.act(&visitor, move |tx, cx, _| actions::remove_person(tx, cx, &person)).await;
    match removed {
        Ok(()) => {
            let mut response = see_other("/settings/people");
            web.set_flash(&mut response, crate::web::Flash::Removed);
            Ok(response)
        }
        Err(PageError::Domain(Error::Invalid(problems))) => {
            let sentence = problems.0.into_iter().next().map(|problem| problem.sentence);
            let sentence = format!("This person {}.", sentence.unwrap_or_default());
            responses::again(&removal(&web, &visitor, &id, sentence).await?)
        }
        Err(refusal) => Err(refusal),
    }
}

/// A new link for somebody who cannot sign in.
pub async fn link(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let visitor = posted.visitor;
    let id = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    let mails = web.mails;
    let link = web
        .act_quietly(&visitor, move |tx, cx, _| {
            let link = hand_over(tx, cx, &id, mails)?;
            let known = actions::list_people(tx, cx)?.into_iter().find(|person| person.id == id);
            let name = known.ok_or(Error::NotFound("person"))?.name;
            Ok(link.map(|link| (name, link)))
        })
        .await?;
    handed_over(&web, &visitor, link).await
}
