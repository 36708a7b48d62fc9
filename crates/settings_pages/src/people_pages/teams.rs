//! Teams: named sets of people that an inbox can be given to.

use std::sync::Arc;

use actions::inboxes::setup::{self, PersonListing};
use actions::people::teams::{self, TeamListing};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::{TeamId, UserId};
use base::limits::TEAM_NAME_CHARS;
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_teams.html", whitespace = "minimize")]
struct TeamsPage {
    frame: PageLayout,
    teams: Vec<TeamView>,
    /// The one that is being changed; empty for a new one.
    editing: String,
    name: String,
    /// Id, name, and whether they are in the team that is being changed.
    people: Vec<(String, String, bool)>,
    error: String,
}

struct TeamView {
    id: String,
    name: String,
    people: String,
}

impl TeamsPage {
    fn action(&self) -> String {
        match self.editing.as_str() {
            "" => "/settings/teams".into(),
            id => format!("/settings/teams/{id}"),
        }
    }

    fn heading(&self) -> &'static str {
        if self.editing.is_empty() { t!("Make a team") } else { t!("Change it") }
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, None).await?)
}

pub async fn edit_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let id = team_id(&id)?;
    web.show(&visitor, &build(&web, &visitor, Some(id)).await?)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    editing: Option<TeamId>,
) -> Result<TeamsPage, PageError> {
    let (frame, (teams, people)): (PageLayout, (Vec<TeamListing>, Vec<PersonListing>)) = web
        .page(visitor, location(SettingsPage::Teams), |tx, cx, _| {
            cx.actor.must_administer()?;
            Ok((teams::list_teams(tx, cx)?, setup::list_people(tx, cx)?))
        })
        .await?;
    let edited = match &editing {
        Some(id) => Some(teams.iter().find(|team| team.id == *id).ok_or(Error::NotFound("team"))?),
        None => None,
    };
    let is_in = |id: &UserId| {
        edited.is_some_and(|team: &TeamListing| team.people.iter().any(|(member, _)| member == id))
    };
    let person = |one: &PersonListing| (one.id.to_string(), one.name.clone(), is_in(&one.id));
    let view = |team: &TeamListing| TeamView {
        id: team.id.to_string(),
        name: team.name.clone(),
        people: team.people.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", "),
    };
    Ok(TeamsPage {
        name: edited.map(|team| team.name.clone()).unwrap_or_default(),
        people: people.iter().map(person).collect(),
        teams: teams.iter().map(view).collect(),
        editing: editing.map(|id| id.to_string()).unwrap_or_default(),
        frame,
        error: String::new(),
    })
}

form! {
    pub struct TeamForm {
        name: String,
        people: Vec<String>,
    }
}

impl TeamForm {
    fn people(&self) -> base::error::Result<Vec<UserId>> {
        let id = |id: &String| UserId::parse(id).ok_or(Error::NotFound("person"));
        self.people.iter().map(id).collect()
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<TeamForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (name, people) = (form.name.clone(), form.people()?);
    let made = web.act(&visitor, move |tx, cx, _| teams::make_team(tx, cx, &name, &people)).await;
    answer(&web, &visitor, None, form, made.map(|_| ())).await
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<TeamForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (id, name, people) = (team_id(&id)?, form.name.clone(), form.people()?);
    let editing = id.clone();
    let changed =
        web.act(&visitor, move |tx, cx, _| teams::change_team(tx, cx, &id, &name, &people)).await;
    answer(&web, &visitor, Some(editing), form, changed).await
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<()>,
) -> PageResult {
    let id = team_id(&id)?;
    let removed = web.act(&posted.visitor, move |tx, cx, _| teams::remove_team(tx, cx, &id)).await;
    match removed.or_problems()? {
        Ok(()) => web.redirect("/settings/teams", Flash::TeamRemoved),
        Err(problems) => {
            let mut page = build(&web, &posted.visitor, None).await?;
            page.error = sentence(problems);
            responses::again(&page)
        }
    }
}

async fn answer(
    web: &Web,
    visitor: &Visitor,
    editing: Option<TeamId>,
    form: TeamForm,
    done: Result<(), PageError>,
) -> PageResult {
    match done.or_problems()? {
        Ok(()) => web.redirect("/settings/teams", Flash::TeamSaved),
        Err(problems) => {
            let mut page = build(web, visitor, editing).await?;
            for (id, _, chosen) in &mut page.people {
                *chosen = form.people.contains(id);
            }
            page.name = form.name;
            page.error = sentence(problems);
            responses::again(&page)
        }
    }
}

fn sentence(problems: base::error::ValidationErrors) -> String {
    let sentences = problems.0.into_iter().map(|problem| match problem.field.as_str() {
        "team" => format!("This team {}.", problem.sentence),
        _ => format!("The name {}.", problem.sentence),
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn team_id(id: &str) -> base::error::Result<TeamId> {
    TeamId::parse(id).ok_or(Error::NotFound("team"))
}
