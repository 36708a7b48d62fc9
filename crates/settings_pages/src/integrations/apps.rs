//! Connected apps: what people let in by OAuth.

use std::sync::Arc;

use actions::integrations::connected_apps::{self, ConnectedApp};
use actions::integrations::oauth_consent;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::AgentId;
use base::security::scopes::Scope;
use model::people::oauth_clients::ClientKind;
use url::Url;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::PageResult;
use web::layout::wording::{Avatar, DisplayTime};
use web::visitor::Visitor;

use crate::integrations::keys::scope_words;
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_apps.html", whitespace = "minimize")]
struct AppsPage {
    frame: PageLayout,
    apps: Vec<AppView>,
    administers: bool,
    everybody: bool,
    /// False where OAuth cannot be used.
    works: bool,
    address: String,
}

struct AppView {
    id: String,
    name: String,
    avatar: Avatar,
    /// The site that the app proved to come from.
    host: Option<String>,
    person: String,
    scopes: Vec<String>,
    live: bool,
    since: DisplayTime,
    used: Option<DisplayTime>,
}

impl AppView {
    fn may(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    fn scope_words(&self) -> String {
        scope_words(self.scopes.iter().map(String::as_str))
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let read = web.page(&visitor, location(SettingsPage::Apps), |tx, cx, me| {
        let everybody = oauth_consent::everybody_connects_apps(tx, cx)?;
        Ok((connected_apps::list_apps(tx, cx)?, everybody, me.administers()))
    });
    let (frame, (apps, everybody, administers)) = read.await?;
    let view = |app: ConnectedApp| AppView {
        id: app.id.to_string(),
        avatar: Avatar::agent(&app.name),
        name: app.name,
        host: match app.kind {
            Some(ClientKind::Document) => {
                Url::parse(&app.client_id).ok().and_then(|url| url.host_str().map(str::to_owned))
            }
            _ => None,
        },
        person: app.person,
        scopes: app.scopes.split(' ').map(str::to_owned).collect(),
        live: app.livemode,
        since: frame.times.short(app.created_at),
        used: app.last_used_at.map(|at| frame.times.short(at)),
    };
    let page = AppsPage {
        apps: apps.into_iter().map(view).collect(),
        frame,
        administers,
        everybody,
        works: oauth_consent::oauth_works_at(&web.app.public_url),
        address: format!("{}/mcp", web.app.public_url),
    };
    web.show(&visitor, &page)
}

form! {
    pub struct AppScopesForm {
        scopes: Vec<Scope> = "scope",
    }

    pub struct AppRuleForm {
        who: String,
    }
}

pub async fn change_scopes(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<AppScopesForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = AgentId::parse(&id).ok_or(Error::NotFound("app"))?;
    let change = web.act(&visitor, move |tx, cx, _| {
        connected_apps::change_app_scopes(tx, cx, &id, &form.scopes)
    });
    change.await?;
    web.redirect("/settings/apps", Flash::AppScopes)
}

pub async fn disconnect(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = AgentId::parse(&id).ok_or(Error::NotFound("app"))?;
    web.act(&posted.visitor, move |tx, cx, _| connected_apps::disconnect_app(tx, cx, &id)).await?;
    web.redirect("/settings/apps", Flash::AppDisconnected)
}

pub async fn set_rule(State(web): State<Arc<Web>>, posted: PostedForm<AppRuleForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let everybody = form.who == "everybody";
    let rule = web.act(&visitor, move |tx, cx, _| {
        connected_apps::let_everybody_connect_apps(tx, cx, everybody)
    });
    rule.await?;
    web.redirect("/settings/apps", Flash::AppRule)
}
