//! Who is asking, what they may do, and what they may see.

use std::sync::Arc;

use db::Tx;
use tracing::Span;
use tracing::field::display;

use crate::circles::InboxCircles;
use crate::email_address::EmailAddress;
use crate::error::{Error, Result};
use crate::ids::{AgentId, Ids, MemberId, UserId, WorkspaceId};
use crate::security::agent_policy::AgentPolicy;
use crate::security::api_key::KeyHash;
use crate::security::scopes::Scopes;
use crate::string_enum::string_enum;
use crate::workspaces::resting::refuse_suspended;

pub use crate::circles::{Circle, Circles};

/// The one on whose behalf an operation runs. Nothing is looked up without one.
#[derive(Clone, Debug)]
pub struct Actor {
    pub ws: i64,
    pub workspace: WorkspaceId,
    pub who: Principal,
    /// The circles this actor belongs to; rows of any other do not exist for them.
    pub circles: Circles,
}

#[derive(Clone, Debug)]
pub enum Principal {
    Agent {
        id: AgentId,
        name: String,
        scopes: Scopes,
        policy: Arc<AgentPolicy>,
        /// Nothing but reading is allowed to it.
        paused: bool,
    },
    Person {
        id: UserId,
        name: String,
        role: Role,
    },
    /// Mailroom itself: mail that arrives, work that falls due.
    System,
    /// A rule of the team, as it is named where it acts.
    Rule {
        name: String,
    },
}

impl Actor {
    pub fn name(&self) -> &str {
        match &self.who {
            Principal::Agent { name, .. }
            | Principal::Person { name, .. }
            | Principal::Rule { name } => name,
            Principal::System => "Mailroom",
        }
    }

    pub fn member(&self) -> Option<MemberId> {
        match &self.who {
            Principal::Agent { id, .. } => Some(MemberId::Agent(id.clone())),
            Principal::Person { id, .. } => Some(MemberId::User(id.clone())),
            Principal::System | Principal::Rule { .. } => None,
        }
    }

    /// The limits of an agent; nobody else has any.
    pub fn policy(&self) -> Option<&AgentPolicy> {
        match &self.who {
            Principal::Agent { policy, .. } => Some(policy),
            Principal::Person { .. } | Principal::System | Principal::Rule { .. } => None,
        }
    }

    pub fn sees(&self, circle: &Circle) -> bool {
        self.circles.contains(circle)
    }

    /// False for a test key and for the service at work in the sandbox.
    pub fn livemode(&self) -> bool {
        !self.circles.is_sandbox()
    }

    /// Mailroom at work for the owners of one circle.
    pub fn system(ws: i64, workspace: WorkspaceId, circle: Circle) -> Actor {
        Actor { ws, workspace, who: Principal::System, circles: Circles::only(circle) }
    }

    /// The operator of the machine, before there is a workspace.
    pub fn operator(ids: &Ids) -> Actor {
        Actor::system(0, WorkspaceId::new(ids, 0), Circle::team())
    }

    /// Lets the further log lines of a request name the actor, by ids alone.
    pub fn note_in_log(&self) {
        let span = Span::current();
        span.record("workspace", self.ws);
        match &self.who {
            Principal::Agent { id, .. } => span.record("actor", display(id)),
            Principal::Person { id, .. } => span.record("actor", display(id)),
            Principal::System | Principal::Rule { .. } => &span,
        };
    }

    /// Only owners and admins change keys, people, inboxes and webhooks (API section 5.3).
    pub fn must_administer(&self) -> Result<()> {
        match self.who {
            Principal::Person { role: Role::Owner | Role::Admin, .. } | Principal::System => Ok(()),
            _ => Err(Error::Forbidden("Only an owner or an admin can do this.".into())),
        }
    }
}

string_enum! {
    Role { Owner = "owner", Admin = "admin", Member = "member" }
}

string_enum! {
    Plan { Free = "free", Pro = "pro", Team = "team" }
}

impl Plan {
    /// The API and webhooks are available on the Pro and Team plans (API section 5.10).
    pub fn has_api(self) -> bool {
        self != Plan::Free
    }
}

db::row! {
    /// A key with its workspace.
    struct KeyRow from "a" {
        ws: i64,
        id: AgentId,
        name: String,
        scopes: String,
        livemode: bool,
        policy: Option<String>,
        paused_at: Option<i64>,
        private: Circle = "CASE WHEN a.sees_private = TRUE THEN a.made_by ELSE 'team' END",
        inboxes: InboxCircles = "(SELECT string_agg(x.mailbox, ' ') FROM mailbox_access x
             WHERE x.ws = a.ws AND x.holder = a.id AND x.may_see = TRUE)",
        workspace: WorkspaceId = "w.id",
        plan: Plan = "w.plan",
        calls_per_hour: Option<i64> = "(SELECT l.hard FROM workspace_limits l
             WHERE l.ws = a.ws AND l.what = 'callsPerHour')",
        suspended: Option<String> = "(SELECT x.reason FROM resting_workspaces x
             WHERE x.ws = a.ws AND x.suspended_at IS NOT NULL)",
    }
}

/// What a workspace lets its keys do.
#[derive(Clone, Copy, Debug)]
pub struct KeyTerms {
    pub plan: Plan,
    /// The calls of all keys together in an hour, where they are limited.
    pub calls_per_hour: Option<i64>,
}

/// The agent whose key or access token this is, and what its workspace lets it do. Read in the transaction
/// that goes on to do the work, so that revoking it counts at once.
pub fn authenticate(tx: &mut Tx<'_>, key: &KeyHash, now: i64) -> Result<(Actor, KeyTerms)> {
    let columns = KeyRow::COLUMNS;
    let found: Option<KeyRow> = if key.is_access_token() {
        let sql = format!(
            "SELECT {columns} FROM oauth_tokens t
             JOIN agents a ON a.ws = t.ws AND a.id = t.agent
             JOIN users u ON u.ws = a.ws AND u.id = a.made_by
             JOIN workspaces w ON w.ws = a.ws
             WHERE t.token_hash = ?1 AND t.kind = 'access' AND t.expires_at > ?2
               AND a.revoked_at IS NULL"
        );
        tx.opt(&sql, &[key, &now])?
    } else {
        let sql = format!(
            "SELECT {columns} FROM agents a JOIN workspaces w ON w.ws = a.ws
             WHERE a.key_hash = ?1 AND a.revoked_at IS NULL"
        );
        tx.opt(&sql, &[key])?
    };
    let found = found.ok_or(Error::Unauthorized)?;
    refuse_suspended(found.suspended)?;
    let circles = match found.livemode {
        true => Circles::of_agent(found.private, found.inboxes),
        false => Circles::only(Circle::sandbox()),
    };
    let scopes = Scopes::from_stored(&found.scopes);
    let policy = Arc::new(AgentPolicy::from_stored(found.policy.as_deref())?);
    let paused = found.paused_at.is_some();
    let who = Principal::Agent { id: found.id, name: found.name, scopes, policy, paused };
    let actor = Actor { ws: found.ws, workspace: found.workspace, who, circles };
    actor.note_in_log();
    Ok((actor, KeyTerms { plan: found.plan, calls_per_hour: found.calls_per_hour }))
}

/// The circles that an agent's key sees, whether it works or is revoked.
pub fn circles_of_agent(tx: &mut Tx<'_>, ws: i64, agent: &AgentId) -> Result<Circles> {
    let found: Option<(bool, Circle, InboxCircles)> = tx.opt(
        "SELECT a.livemode, CASE WHEN a.sees_private = TRUE THEN a.made_by ELSE 'team' END,
                (SELECT string_agg(x.mailbox, ' ') FROM mailbox_access x
                 WHERE x.ws = a.ws AND x.holder = a.id AND x.may_see = TRUE)
         FROM agents a WHERE a.ws = ?1 AND a.id = ?2",
        &[&ws, agent],
    )?;
    let (livemode, private, inboxes) = found.ok_or(Error::NotFound("agent"))?;
    Ok(match livemode {
        true => Circles::of_agent(private, inboxes),
        false => Circles::only(Circle::sandbox()),
    })
}

/// What the calls of a key or token are counted for: the tokens of one app together.
pub fn counted_as(tx: &mut Tx<'_>, key: &KeyHash, now: i64) -> Result<KeyHash> {
    if !key.is_access_token() {
        return Ok(*key);
    }
    let found: Option<(Vec<u8>,)> = tx.opt(
        "SELECT a.key_hash FROM oauth_tokens t JOIN agents a ON a.ws = t.ws AND a.id = t.agent
         WHERE t.token_hash = ?1 AND t.kind = 'access' AND t.expires_at > ?2",
        &[key, &now],
    )?;
    found.and_then(|(hash,)| KeyHash::from_stored(&hash)).ok_or(Error::Unauthorized)
}

/// A person of a workspace, by their address.
pub fn person(tx: &mut Tx<'_>, ws: i64, email: &str) -> Result<Actor> {
    type Found = (UserId, String, Role, WorkspaceId);
    let found: Option<Found> = tx.opt(
        "SELECT u.id, u.name, u.role, w.id
         FROM users u JOIN workspaces w ON w.ws = u.ws
         WHERE u.ws = ?1 AND u.email = ?2",
        &[&ws, &EmailAddress::new(email)],
    )?;
    let (id, name, role, workspace) = found.ok_or(Error::NotFound("person"))?;
    let circles = Circles::of_person(tx, ws, &id)?;
    Ok(Actor { ws, workspace, who: Principal::Person { id, name, role }, circles })
}
