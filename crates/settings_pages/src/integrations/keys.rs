//! Keys: each is an agent on the team.

use std::sync::Arc;

use actions::inboxes::setup::{self, PersonListing};
use actions::integrations::keys::{self, KeyListing};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::AgentId;
use base::limits::PERSON_NAME_CHARS;
use base::security::agent_policy::PolicyProfile;
use base::security::scopes::Scope;
use translation::{t, text_in_context};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::{Avatar, DisplayTime};
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_keys.html", whitespace = "minimize")]
struct KeysPage {
    frame: PageLayout,
    keys: Vec<KeyView>,
    name: String,
    scopes: Vec<String>,
    live: bool,
    name_error: String,
    /// The agent's name and its key, shown this once.
    made: Option<(String, String)>,
    address: String,
}

struct KeyView {
    id: String,
    name: String,
    avatar: Avatar,
    scopes: String,
    live: bool,
    made_by: String,
    made: DisplayTime,
    revoked: Option<DisplayTime>,
    used: Option<DisplayTime>,
    paused: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<KeysPage, PageError> {
    let (frame, (keys, people)): (PageLayout, (Vec<KeyListing>, Vec<PersonListing>)) = web
        .page(visitor, location(SettingsPage::Keys), |tx, cx, _| {
            Ok((keys::list_keys(tx, cx)?, setup::list_people(tx, cx)?))
        })
        .await?;
    let view = |key: KeyListing| KeyView {
        id: key.id.to_string(),
        avatar: Avatar::agent(&key.name),
        name: key.name,
        scopes: scope_words(key.scopes.split(' ')),
        live: key.livemode,
        made_by: people
            .iter()
            .find(|person| person.id == key.made_by)
            .map(|person| person.name.clone())
            .unwrap_or_else(|| t!("Somebody who left").into()),
        made: frame.times.short(key.created_at.0),
        revoked: key.revoked_at.map(|at| frame.times.short(at.0)),
        paused: key.paused_at.is_some(),
        used: key.last_used_at.map(|at| frame.times.short(at.0)),
    };
    Ok(KeysPage {
        keys: keys.into_iter().map(view).collect(),
        frame,
        name: String::new(),
        scopes: vec!["write".into(), "draft".into()],
        live: true,
        name_error: String::new(),
        made: None,
        address: web.app.public_url.to_string(),
    })
}

/// What a key or an app may do, as pages write it.
pub(crate) fn scope_words<'a>(scopes: impl Iterator<Item = &'a str>) -> String {
    scopes.map(scope_word).collect::<Vec<_>>().join(", ")
}

fn scope_word(scope: &str) -> &str {
    match scope {
        "read" => text_in_context("scope", "read"),
        "write" => text_in_context("scope", "write"),
        "draft" => text_in_context("scope", "draft"),
        "send" => text_in_context("scope", "send"),
        "record" => text_in_context("scope", "record"),
        "admin" => text_in_context("scope", "administer"),
        other => other,
    }
}

impl KeysPage {
    fn may(&self, scope: &str) -> bool {
        self.scopes.iter().any(|chosen| chosen == scope)
    }
}

form! {
    pub struct NewKeyForm {
        name: String,
        scopes: Vec<Scope> = "scope",
        works: String,
    }
}

pub async fn make(State(web): State<Arc<Web>>, posted: PostedForm<NewKeyForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (name, live) = (form.name.trim().to_owned(), form.works != "sandbox");
    let chosen = form.scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
    let scopes: Vec<Scope> = [Scope::Read].into_iter().chain(form.scopes).collect();
    let wanted = name.clone();
    let made = web
        .act(&visitor, move |tx, cx, _| {
            let profile = if live { PolicyProfile::Agent } else { PolicyProfile::Program };
            keys::make_key_with(tx, cx, &wanted, &scopes, live, profile)
        })
        .await;
    match made.or_problems()? {
        Ok(made) => {
            let page = build(&web, &visitor).await?;
            responses::page(&KeysPage { made: Some((name, made.key)), ..page })
        }
        Err(_) => {
            let page = build(&web, &visitor).await?;
            let name_error = if name.is_empty() {
                t!("Give the agent a name. The team sees it beside every note and draft.")
                    .to_owned()
            } else {
                t!("A name has at most {n} characters.", n = PERSON_NAME_CHARS)
            };
            responses::again(&KeysPage { name, scopes: chosen, live, name_error, ..page })
        }
    }
}

pub async fn revoke(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = AgentId::parse(&id).ok_or(Error::NotFound("key"))?;
    web.act(&posted.visitor, move |tx, cx, _| keys::revoke_key(tx, cx, &id)).await?;
    web.redirect("/settings/keys", Flash::Revoked)
}
