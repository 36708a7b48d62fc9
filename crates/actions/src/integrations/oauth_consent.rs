//! OAuth: clients make themselves known, and a person lets one in.

use base::actor::{Circle, Plan, Principal};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{AgentId, Ids, UserId};
use base::limits::{
    CLIENT_DOCUMENT_MS, DOCUMENTS_PER_PERSON, OAUTH_CODE_KEPT_MS, OAUTH_CODE_MS, PERSON_NAME_CHARS,
    REGISTRATIONS_PER_NETWORK, UNUSED_CLIENT_MS, UNUSED_CLIENTS,
};
use base::security::agent_policy::{AgentPolicy, PauseReason, PolicyProfile};
use base::security::api_key::{KEY_SECRET_CHARS, KeyHash};
use base::security::redirect_uri::RedirectUri;
use base::security::scopes::{Scope, Scopes};
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::people::notices::{Notice, notify};
use model::people::oauth_clients::{self, ClientKind, ClientMetadata, OauthClient};
use model::people::oauth_tokens::{self, OauthHash};

use crate::sign_in::sessions::{count_sign_in_attempt, own_id};

/// Random characters of a client's id.
const CLIENT_ID_CHARS: usize = 24;
/// What a client is called that does not say.
const NAMELESS: &str = "An app";

/// OAuth needs an address that nobody can listen in on: https, or this computer's own.
pub fn oauth_works_at(public_url: &str) -> bool {
    let on_this_computer = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
    let is_local = |start: &&str| {
        let rest = public_url.strip_prefix(*start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    public_url.starts_with("https://") || on_this_computer.iter().any(is_local)
}

/// Keeps a client that registers itself, in place of the oldest that nobody let in. `None` when too
/// many came from one network.
pub fn register_client(
    tx: &mut Tx<'_>,
    ids: &Ids,
    now: i64,
    metadata: &ClientMetadata,
    place: &str,
) -> Result<Option<OauthClient>> {
    let place = format!("registrations from {place}");
    if !count_sign_in_attempt(tx, &place, REGISTRATIONS_PER_NETWORK, now)? {
        return Ok(None);
    }
    tx.exec("DELETE FROM oauth_clients WHERE kind = 'registered' AND expires_at <= ?1", &[&now])?;
    let (unused,): (i64,) = tx.one(
        "SELECT count(*) FROM oauth_clients WHERE kind = 'registered' AND expires_at IS NOT NULL",
        &[],
    )?;
    if unused >= UNUSED_CLIENTS {
        tx.exec(
            "DELETE FROM oauth_clients WHERE client_id IN (
                 SELECT client_id FROM oauth_clients
                 WHERE kind = 'registered' AND expires_at IS NOT NULL
                 ORDER BY expires_at LIMIT ?1
             )",
            &[&(unused - UNUSED_CLIENTS + 1)],
        )?;
    }
    let client = OauthClient {
        id: format!("ocl_{}", ids.token(CLIENT_ID_CHARS)),
        kind: ClientKind::Registered,
        name: metadata.name.clone().unwrap_or_else(|| NAMELESS.to_owned()),
        redirect_uris: metadata.redirect_uris.clone(),
        created_at: now,
        expires_at: Some(now + UNUSED_CLIENT_MS),
    };
    oauth_clients::write_client(tx, &client)?;
    Ok(Some(client))
}

/// A client that need not be fetched: one that registered itself, or whose document is fresh.
pub fn known_client(tx: &mut Tx<'_>, cx: &Cx<'_>, client_id: &str) -> Result<Option<OauthClient>> {
    let found = oauth_clients::find_client(tx, client_id)?;
    Ok(found.filter(|client| client.expires_at.is_none_or(|until| until > cx.now)))
}

/// Counts a document that is about to be fetched for the actor. `false` at the limit.
pub fn count_client_document(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let what = format!("client documents for {}", own_id(cx)?);
    count_sign_in_attempt(tx, &what, DOCUMENTS_PER_PERSON, cx.now)
}

/// Keeps what the document at a client's address says.
pub fn keep_client_document(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    client_id: &str,
    metadata: &ClientMetadata,
) -> Result<OauthClient> {
    let mut client = OauthClient {
        id: client_id.to_owned(),
        kind: ClientKind::Document,
        name: String::new(),
        redirect_uris: metadata.redirect_uris.clone(),
        created_at: cx.now,
        expires_at: Some(cx.now + CLIENT_DOCUMENT_MS),
    };
    let host = client.host().unwrap_or_else(|| NAMELESS.to_owned());
    client.name = metadata.name.clone().unwrap_or(host);
    oauth_clients::write_client(tx, &client)?;
    Ok(client)
}

/// Refuses a person who may not connect apps in this workspace.
pub fn must_connect_apps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let (plan,): (Plan,) = tx.one("SELECT plan FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    if !plan.has_api() {
        return Err(Error::Forbidden(
            "Apps are part of the Pro and Team plans; this workspace is on Free.".into(),
        ));
    }
    if cx.actor.must_administer().is_ok() || everybody_connects_apps(tx, cx)? {
        return Ok(());
    }
    Err(Error::Forbidden(
        "Only an owner or an admin can connect apps here. Ask one of them, or ask them to allow it \
         for everybody under Settings, Connected apps."
            .into(),
    ))
}

pub fn everybody_connects_apps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let (everybody,): (bool,) =
        tx.one("SELECT everybody_connects_apps FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    Ok(everybody)
}

/// Who connected this client to the workspace before, and when it was last used.
#[derive(Clone, Debug)]
pub struct ClientUse {
    pub by: String,
    pub since: i64,
    pub last_used_at: Option<i64>,
}

/// The latest connection of this client that still stands.
pub fn client_use(tx: &mut Tx<'_>, cx: &Cx<'_>, client_id: &str) -> Result<Option<ClientUse>> {
    let found: Option<(String, i64, Option<i64>)> = tx.opt(
        "SELECT u.name, a.created_at, a.last_used_at
         FROM agents a JOIN users u ON u.ws = a.ws AND u.id = a.made_by
         WHERE a.ws = ?1 AND a.oauth_client = ?2 AND a.revoked_at IS NULL
         ORDER BY a.created_at DESC LIMIT 1",
        &[&cx.actor.ws, &client_id],
    )?;
    Ok(found.map(|(by, since, last_used_at)| ClientUse { by, since, last_used_at }))
}

/// What a person has agreed to.
#[derive(Clone, Debug)]
pub struct Consent {
    pub client: OauthClient,
    pub redirect_uri: RedirectUri,
    /// The SHA-256 of the verifier that only the client has, in base64 for URLs.
    pub challenge: String,
    pub scopes: Vec<Scope>,
    pub livemode: bool,
}

/// Lets a client in: it becomes an agent of the person, or gets other scopes if it is one. Returns the
/// code that it exchanges for tokens. Tokens that it had stay: a program on two computers is one client
/// with one address, and the second must not sign the first out.
pub fn connect_app(tx: &mut Tx<'_>, cx: &Cx<'_>, consent: &Consent) -> Result<String> {
    must_connect_apps(tx, cx)?;
    if consent.scopes.contains(&Scope::Record) {
        cx.actor.must_administer()?;
    }
    let scopes = Scopes::of_app(&consent.scopes);
    let agent = match find_connected(tx, cx, consent)? {
        Some(agent) => change_agent(tx, cx, consent, &agent, &scopes)?,
        None => make_agent(tx, cx, consent, &scopes)?,
    };
    if consent.client.kind == ClientKind::Registered {
        let used = OauthClient { expires_at: None, ..consent.client.clone() };
        oauth_clients::write_client(tx, &used)?;
    }
    let works = if consent.livemode { "live" } else { "sandbox" };
    let detail = format!("{works}, may {}", scopes.to_row().replace(' ', ", "));
    let name = &consent.client.name;
    audit_log::record(tx, cx, &Circle::team(), Action::AppConnected, name, &detail)?;
    tell_person(tx, cx, consent, &scopes)?;
    write_code(tx, cx, consent, &agent)
}

/// Which inboxes an app works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorksIn {
    Live,
    Sandbox,
}

impl WorksIn {
    /// `None` for anything else: nobody is let into mail of customers by a slip.
    pub fn parse(text: &str) -> Option<WorksIn> {
        match text {
            "live" => Some(WorksIn::Live),
            "sandbox" => Some(WorksIn::Sandbox),
            _ => None,
        }
    }
}

/// What a person let a client do before.
#[derive(Clone, Debug)]
pub struct EarlierGrant {
    pub scopes: Scopes,
    pub works: WorksIn,
}

/// What this person let this client do before, the live inboxes first.
pub fn granted_before(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    client_id: &str,
) -> Result<Option<EarlierGrant>> {
    let found: Option<(String, bool)> = tx.opt(
        "SELECT scopes, livemode FROM agents
         WHERE ws = ?1 AND made_by = ?2 AND oauth_client = ?3 AND revoked_at IS NULL
         ORDER BY livemode DESC, created_at, id LIMIT 1",
        &[&cx.actor.ws, own_id(cx)?, &client_id],
    )?;
    Ok(found.map(|(scopes, is_live)| EarlierGrant {
        scopes: Scopes::from_stored(&scopes),
        works: if is_live { WorksIn::Live } else { WorksIn::Sandbox },
    }))
}

/// The agent that this person made of this client before.
fn find_connected(tx: &mut Tx<'_>, cx: &Cx<'_>, consent: &Consent) -> Result<Option<AgentId>> {
    let found: Option<(AgentId,)> = tx.opt(
        "SELECT id FROM agents
         WHERE ws = ?1 AND made_by = ?2 AND oauth_client = ?3 AND livemode = ?4
           AND revoked_at IS NULL
         ORDER BY created_at, id LIMIT 1",
        &[&cx.actor.ws, own_id(cx)?, &consent.client.id, &consent.livemode],
    )?;
    Ok(found.map(|(id,)| id))
}

fn change_agent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    consent: &Consent,
    agent: &AgentId,
    scopes: &Scopes,
) -> Result<AgentId> {
    tx.exec(
        "UPDATE agents SET name = ?3, scopes = ?4, sees_private = ?5 WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            agent,
            &agent_name(cx, consent),
            &scopes.to_row(),
            &sees_private(cx, own_id(cx)?),
        ],
    )?;
    Ok(agent.clone())
}

fn make_agent(tx: &mut Tx<'_>, cx: &Cx<'_>, consent: &Consent, scopes: &Scopes) -> Result<AgentId> {
    let me = own_id(cx)?;
    // Nobody ever has this key: an app has tokens.
    let key = format!("rk_{}", cx.ids.secret(KEY_SECRET_CHARS));
    let hash = KeyHash::of(&key).ok_or(Error::Unauthorized)?;
    let id = AgentId::new(cx.ids, cx.now);
    let limits = earlier_limits(tx, cx, consent)?.unwrap_or_default();
    let policy = match limits.policy {
        Some(policy) => policy,
        None => AgentPolicy::of(PolicyProfile::Agent).to_row()?,
    };
    tx.exec(
        "INSERT INTO agents (
            ws, id, name, key_hash, scopes, livemode, made_by, created_at, sees_private,
            oauth_client, policy, paused_at, paused_by, pause_reason
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        &[
            &cx.actor.ws,
            &id,
            &agent_name(cx, consent),
            &hash,
            &scopes.to_row(),
            &consent.livemode,
            me,
            &cx.now,
            &sees_private(cx, me),
            &consent.client.id,
            &policy,
            &limits.paused_at,
            &limits.paused_by,
            &limits.pause_reason,
        ],
    )?;
    Ok(id)
}

db::row! {
    /// The limits of an app that was disconnected.
    #[derive(Default)]
    struct EarlierLimits from "agents" {
        policy: Option<String>,
        paused_at: Option<i64>,
        paused_by: Option<String>,
        pause_reason: Option<PauseReason>,
    }
}

/// The limits that this client had when the same person disconnected it last: connecting it again lifts
/// no pause.
fn earlier_limits(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    consent: &Consent,
) -> Result<Option<EarlierLimits>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM agents
             WHERE ws = ?1 AND oauth_client = ?2 AND livemode = ?3 AND made_by = ?4
               AND revoked_at IS NOT NULL
             ORDER BY revoked_at DESC, id DESC LIMIT 1",
            EarlierLimits::COLUMNS
        ),
        &[&cx.actor.ws, &consent.client.id, &consent.livemode, own_id(cx)?],
    )?)
}

fn sees_private(cx: &Cx<'_>, me: &UserId) -> bool {
    cx.actor.sees(&Circle::of(me))
}

/// The app's name and whose it is, such as `Claude Code · Olive`.
fn agent_name(cx: &Cx<'_>, consent: &Consent) -> String {
    app_name(&consent.client.name, cx.actor.name())
}

/// What an app of a person is called on the team.
pub fn app_name(client: &str, person: &str) -> String {
    let first = person.split_whitespace().next().unwrap_or(person);
    format!("{client} · {first}").chars().take(PERSON_NAME_CHARS).collect()
}

fn tell_person(tx: &mut Tx<'_>, cx: &Cx<'_>, consent: &Consent, scopes: &Scopes) -> Result<()> {
    let Principal::Person { id, .. } = &cx.actor.who else { return Ok(()) };
    let name = &consent.client.name;
    let may = scopes.to_row().replace(' ', ", ");
    let subject = format!("{name} is connected");
    let text = format!(
        "You let an app in that calls itself {name}. It may: {may}.\n\n\
         If that was not you, disconnect it and end your other sessions:\n\n\
         {url}/settings/apps\n",
        url = cx.public_url,
    );
    notify(tx, cx, id, &Notice { subject: &subject, text: &text })
}

fn write_code(tx: &mut Tx<'_>, cx: &Cx<'_>, consent: &Consent, agent: &AgentId) -> Result<String> {
    tx.exec("DELETE FROM oauth_codes WHERE expires_at <= ?1", &[&(cx.now - OAUTH_CODE_KEPT_MS)])?;
    let (code, hash) = OauthHash::make(cx.ids, oauth_tokens::CODE_PREFIX);
    tx.exec(
        "INSERT INTO oauth_codes (
            code_hash, ws, agent, client_id, redirect_uri, challenge, expires_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            &hash,
            &cx.actor.ws,
            agent,
            &consent.client.id,
            &consent.redirect_uri.to_string(),
            &consent.challenge,
            &(cx.now + OAUTH_CODE_MS),
        ],
    )?;
    Ok(code)
}
