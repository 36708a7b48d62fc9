//! Signing in: one-time links, sessions, and the limit on password attempts.

use base::actor::{Actor, Circle, Circles, Plan, Principal, Role};
use base::app::Cx;
use base::circles::InboxCircles;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{Ids, SessionId, UserId, WorkspaceId};
use base::limits::{
    DEVICE_CHARS, MAILED_LINK_MS, SEEN_EVERY_MS, SESSION_IDLE_MS, SESSION_MS, SESSIONS_PER_PERSON,
    SIGN_IN_LINK_MS, SIGN_IN_TOKEN_CHARS, SIGN_IN_WINDOW_MS, WORKSPACES_PER_ADDRESS, duration,
};
use base::workspaces::resting::refuse_suspended;
use db::{Arg, Tx, Value};
use model::installation::audit_log::{self, Action};
use model::people::notices::{Notice, notify};
use model::people::notifications::push;
use sha2::{Digest, Sha256};

use crate::sign_in::provider_rules::LocalSignInPolicy;

/// The SHA-256 of a link's or session's token, which is all that is kept of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// `None` for what cannot be a token.
    pub fn of(token: &str) -> Option<TokenHash> {
        let plain = token.bytes().all(|b| b.is_ascii_alphanumeric());
        (token.len() == SIGN_IN_TOKEN_CHARS && plain)
            .then(|| TokenHash(Sha256::digest(token).into()))
    }
}

impl Arg for TokenHash {
    fn value(&self) -> Value<'_> {
        Value::Bytes(&self.0)
    }
}

/// A signed-in person and their workspace.
#[derive(Clone, Debug)]
pub struct SignedIn {
    pub actor: Actor,
    pub session: SessionId,
    pub id: UserId,
    pub email: EmailAddress,
    pub role: Role,
    pub workspace_name: String,
    pub plan: Plan,
    /// True until somebody put the page of first steps away.
    pub is_new: bool,
    /// True when it is time to write down that the session is in use.
    pub stale: bool,
    /// False for a session that began with a link made by someone else, until the person gives
    /// their password. Private inboxes are closed meanwhile.
    pub opens_private: bool,
    /// The code of the language that the person chose for the app; empty for the browser's.
    pub language: String,
    /// For how many seconds they can stop what they wrote.
    pub undo_seconds: i64,
    /// True in a quiet copy.
    pub is_quiet: bool,
    /// Where the workspace is one with made-up mail.
    pub sample: Option<SampleVisit>,
}

/// A look around in a sample.
#[derive(Clone, Copy, Debug)]
pub struct SampleVisit {
    /// When it is deleted by itself, if it is.
    pub ends_at: Option<i64>,
}

impl SignedIn {
    pub fn administers(&self) -> bool {
        self.role != Role::Member
    }
}

/// Creates a one-time sign-in link and returns its URL. It opens private inboxes only if its
/// creator sees them, so that nobody can read another person's mail by it.
pub fn make_sign_in_link(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<String> {
    note_link(tx, cx, person)?;
    let opens_private = cx.actor.sees(&Circle::of(person));
    write_link(tx, cx, person, SIGN_IN_LINK_MS, opens_private, None)
}

/// Makes a link that opens private inboxes, too, for a person who lost their password on an
/// installation that sends no mail. Only the operator at the command line can, who has access to
/// the database anyway.
pub fn make_recovery_link(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<String> {
    if !matches!(cx.actor.who, Principal::System) {
        return Err(Error::Forbidden("Only the operator of the machine can do this.".into()));
    }
    note_link(tx, cx, person)?;
    write_link(tx, cx, person, SIGN_IN_LINK_MS, true, None)
}

/// Checks the actor's right to create a link, and writes it to the audit log.
fn note_link(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    cx.actor.must_administer()?;
    let known: Option<(Role, String)> =
        tx.opt("SELECT role, name FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, person])?;
    let (role, name) = known.ok_or(Error::NotFound("person"))?;
    if role == Role::Owner && matches!(cx.actor.who, Principal::Person { role: Role::Admin, .. }) {
        return Err(Error::Forbidden("Only an owner can make a link for an owner.".into()));
    }
    audit_log::record(tx, cx, &Circle::team(), Action::LinkMade, &name, "")
}

/// A browser that asked for a link, and where it was going: a path of this site. Somebody else's browser
/// is not led there, because who asks for a link need not be who gets it.
#[derive(Clone)]
pub struct LinkAsker {
    pub browser: TokenHash,
    pub next: String,
}

/// Mails a sign-in link to the person with this address, one for each workspace. The response does
/// not reveal whether there is one.
/// `by_operator` tells whether it leaves through the operator's relay: a server that people of the
/// workspace set may show it to them, so such a link opens no private inbox.
pub fn mail_sign_in_link(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &str,
    by_operator: bool,
    other_ways: LocalSignInPolicy,
    asker: &LinkAsker,
) -> Result<()> {
    let found: Vec<(i64, WorkspaceId, String, UserId, Role)> = tx.all(
        "SELECT u.ws, w.id, w.name, u.id, u.role FROM users u JOIN workspaces w ON w.ws = u.ws
         WHERE u.email = ?1 ORDER BY u.ws LIMIT ?2",
        &[&EmailAddress::new(email), &WORKSPACES_PER_ADDRESS],
    )?;
    for (ws, workspace, name, person, role) in found {
        if !other_ways.let_in(role) {
            continue;
        }
        let actor = Actor::system(ws, workspace, Circle::team());
        let cx = Cx { actor: &actor, ..*cx };
        let link = write_link(tx, &cx, &person, MAILED_LINK_MS, by_operator, Some(asker))?;
        let subject = format!("Sign in to {name}");
        let text = format!(
            "This link signs you in to {name}. It works once, for {works}:\n\n{link}\n\n\
             If you did not ask for it, nothing has happened; you can delete this mail.\n",
            works = duration(MAILED_LINK_MS)
        );
        notify(tx, &cx, &person, &Notice { subject: &subject, text: &text })?;
    }
    Ok(())
}

/// Mails a sign-in link to a person who was added or cannot sign in. Only they see it, so it opens
/// their private inboxes, where it leaves through the operator's relay.
pub fn invite(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, by_operator: bool) -> Result<()> {
    note_link(tx, cx, person)?;
    let link = write_link(tx, cx, person, SIGN_IN_LINK_MS, by_operator, None)?;
    let (workspace,): (String,) =
        tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    let by = cx.actor.name();
    let subject = format!("{by} invites you to {workspace}");
    let text = format!(
        "{by} has made a place for you in {workspace}, where the team answers its mail.\n\n\
         This link signs you in. It works once, for {works}:\n\n{link}\n\n\
         Set a password afterwards under Settings, You.\n",
        works = duration(SIGN_IN_LINK_MS)
    );
    notify(tx, cx, person, &Notice { subject: &subject, text: &text })
}

/// Tells a person who was added to sign in at the provider, where links do not sign them in.
pub fn invite_to_provider(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    provider: &str,
) -> Result<()> {
    cx.actor.must_administer()?;
    let (workspace,): (String,) =
        tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&cx.actor.ws])?;
    let by = cx.actor.name();
    let subject = format!("{by} invites you to {workspace}");
    let text = format!(
        "{by} has made a place for you in {workspace}, where the team answers its mail.\n\n\
         Sign in with {provider}:\n\n{}/sign-in\n",
        cx.public_url
    );
    notify(tx, cx, person, &Notice { subject: &subject, text: &text })
}

fn write_link(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    works_ms: i64,
    opens_private: bool,
    asker: Option<&LinkAsker>,
) -> Result<String> {
    tx.exec("DELETE FROM sign_in_links WHERE expires_at <= ?1", &[&cx.now])?;
    let token = cx.ids.secret(SIGN_IN_TOKEN_CHARS);
    let hash = TokenHash::of(&token).ok_or(Error::Unauthorized)?;
    tx.exec(
        "INSERT INTO sign_in_links (
            ws, token_hash, person, expires_at, opens_private, next, browser
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            &cx.actor.ws,
            &hash,
            person,
            &(cx.now + works_ms),
            &opens_private,
            &asker.map_or("", |asker| asker.next.as_str()),
            &asker.map(|asker| asker.browser),
        ],
    )?;
    Ok(format!("{}/sign-in/{token}", cx.public_url))
}

/// The person and workspace of a sign-in link, without consuming it.
pub fn look_at_link(tx: &mut Tx<'_>, link: &TokenHash, now: i64) -> Result<(String, String)> {
    let found: Option<(String, String)> = tx.opt(
        "SELECT u.name, w.name
         FROM sign_in_links l
         JOIN users u ON u.ws = l.ws AND u.id = l.person
         JOIN workspaces w ON w.ws = l.ws
         WHERE l.token_hash = ?1 AND l.expires_at > ?2",
        &[link, &now],
    )?;
    found.ok_or(Error::NotFound("link"))
}

db::row! {
    /// Somebody who has shown who they are by a link or a password, and where they were going.
    #[derive(Clone, Debug)]
    pub struct FirstStep from "sign_in_links" {
        pub ws: i64,
        pub person: UserId,
        pub opens_private: bool,
        pub next: String,
    }
}

/// Uses a link up. The second step, or the session, is next. `browser` is what asked for a link in the
/// browser that uses it.
pub fn use_sign_in_link(
    tx: &mut Tx<'_>,
    now: i64,
    link: &TokenHash,
    browser: Option<&TokenHash>,
) -> Result<FirstStep> {
    let found: Option<FirstStep> = tx.opt(
        &format!(
            "SELECT {} FROM sign_in_links WHERE token_hash = ?1 AND expires_at > ?2",
            FirstStep::COLUMNS
        ),
        &[link, &now],
    )?;
    let found = found.ok_or(Error::NotFound("link"))?;
    let ws = found.ws;
    let asked_here = match browser {
        Some(browser) => asked_by(tx, ws, link, browser)?,
        None => false,
    };
    let used =
        tx.exec("DELETE FROM sign_in_links WHERE ws = ?1 AND token_hash = ?2", &[&ws, link])?;
    if used == 0 {
        return Err(Error::NotFound("link"));
    }
    let opens_private = found.opens_private || is_new_here(tx, ws, &found.person)?;
    let next = if asked_here { found.next } else { String::new() };
    Ok(FirstStep { ws, person: found.person, opens_private, next })
}

fn asked_by(tx: &mut Tx<'_>, ws: i64, link: &TokenHash, browser: &TokenHash) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT ws FROM sign_in_links WHERE ws = ?1 AND token_hash = ?2 AND browser = ?3",
        &[&ws, link, browser],
    )?;
    Ok(found.is_some())
}

/// True for a person who never signed in, has no private mail and was given no inbox for some: the
/// first use of their link is trusted.
fn is_new_here(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<bool> {
    let never: Option<(String,)> = tx.opt(
        "SELECT id FROM users WHERE ws = ?1 AND id = ?2 AND first_signed_in_at IS NULL",
        &[&ws, person],
    )?;
    let private: Option<(String,)> = tx.opt(
        "SELECT id FROM conversations WHERE ws = ?1 AND circle = ?2 LIMIT 1",
        &[&ws, &Circle::of(person)],
    )?;
    // The team's circle and their own are everybody's.
    let is_given = Circles::of_person(tx, ws, person)?.distinct().count() > 2;
    Ok(never.is_some() && private.is_none() && !is_given)
}

/// Begins a session and returns its token. It opens private inboxes if the person authenticated
/// themselves.
pub fn begin_session(
    tx: &mut Tx<'_>,
    ids: &Ids,
    now: i64,
    ws: i64,
    person: &UserId,
    device: &str,
    opens_private: bool,
) -> Result<String> {
    tx.exec(
        "UPDATE users SET first_signed_in_at = ?3
         WHERE ws = ?1 AND id = ?2 AND first_signed_in_at IS NULL",
        &[&ws, person, &now],
    )?;
    tx.exec(
        "DELETE FROM sessions
         WHERE ws = ?1 AND person = ?2 AND (seen_at <= ?3 OR created_at <= ?4)",
        &[&ws, person, &(now - SESSION_IDLE_MS), &(now - SESSION_MS)],
    )?;
    tx.exec(
        "DELETE FROM sessions WHERE ws = ?1 AND person = ?2 AND id IN (
             SELECT id FROM sessions WHERE ws = ?1 AND person = ?2
             ORDER BY seen_at DESC, id DESC LIMIT 1000 OFFSET ?3
         )",
        &[&ws, person, &(SESSIONS_PER_PERSON - 1)],
    )?;
    push::end_with_sessions(tx, ws, person)?;
    let token = ids.secret(SIGN_IN_TOKEN_CHARS);
    let hash = TokenHash::of(&token).ok_or(Error::Unauthorized)?;
    let device: String = device.chars().filter(|c| !c.is_control()).take(DEVICE_CHARS).collect();
    tx.exec(
        "INSERT INTO sessions (ws, person, id, token_hash, device, created_at, seen_at, opens_private)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)",
        &[&ws, person, &SessionId::new(ids, now), &hash, &device, &now, &opens_private],
    )?;
    Ok(token)
}

db::row! {
    /// A session with its person, the inboxes that they were given, and their workspace.
    struct SessionRow from "s" {
        ws: i64,
        id: SessionId,
        seen_at: i64,
        opens_private: bool,
        person: UserId = "u.id",
        name: String = "u.name",
        email: EmailAddress = "u.email",
        role: Role = "u.role",
        workspace: WorkspaceId = "w.id",
        workspace_name: String = "w.name",
        plan: Plan = "w.plan",
        is_new: bool = "w.first_steps_over_at IS NULL",
        language: String = "u.language",
        undo_seconds: i64 = "coalesce(u.undo_seconds, w.undo_seconds)",
        own_inboxes: InboxCircles = "(SELECT string_agg(x.mailbox, ' ') FROM mailbox_access x
             WHERE x.ws = s.ws AND x.holder = s.person AND x.may_see = TRUE)",
        team_inboxes: InboxCircles = "(SELECT string_agg(x.mailbox, ' ') FROM team_members t
             JOIN mailbox_access x ON x.ws = t.ws AND x.holder = t.team AND x.may_see = TRUE
             WHERE t.ws = s.ws AND t.person = s.person)",
        is_sample: bool = "w.sample_of IS NOT NULL",
        ends_at: Option<i64> = "w.ends_at",
        is_quiet: bool = "EXISTS (SELECT 1 FROM resting_workspaces x
             WHERE x.ws = s.ws AND x.quiet_at IS NOT NULL)",
        suspended: Option<String> = "(SELECT x.reason FROM resting_workspaces x
             WHERE x.ws = s.ws AND x.suspended_at IS NOT NULL)",
    }
}

/// The actor of a session. Read in the transaction that does the work, so that ending a session or
/// changing a role counts at once.
pub fn signed_in(tx: &mut Tx<'_>, session: &TokenHash, now: i64) -> Result<SignedIn> {
    let found: Option<SessionRow> = tx.opt(
        &format!(
            "SELECT {} FROM sessions s
             JOIN users u ON u.ws = s.ws AND u.id = s.person
             JOIN workspaces w ON w.ws = s.ws
             WHERE s.token_hash = ?1 AND s.seen_at > ?2 AND s.created_at > ?3",
            SessionRow::COLUMNS
        ),
        &[session, &(now - SESSION_IDLE_MS), &(now - SESSION_MS)],
    )?;
    let found = found.ok_or(Error::Unauthorized)?;
    refuse_suspended(found.suspended)?;
    let circles = match found.opens_private {
        true => Circles::of_person_with(&found.person, found.own_inboxes, found.team_inboxes),
        false => Circles::only(Circle::team()),
    };
    let who = Principal::Person { id: found.person.clone(), name: found.name, role: found.role };
    let actor = Actor { ws: found.ws, workspace: found.workspace, who, circles };
    actor.note_in_log();
    Ok(SignedIn {
        actor,
        session: found.id,
        id: found.person,
        email: found.email,
        role: found.role,
        workspace_name: found.workspace_name,
        plan: found.plan,
        is_new: found.is_new,
        stale: now - found.seen_at >= SEEN_EVERY_MS,
        opens_private: found.opens_private,
        language: found.language,
        undo_seconds: found.undo_seconds,
        sample: found.is_sample.then_some(SampleVisit { ends_at: found.ends_at }),
        is_quiet: found.is_quiet,
    })
}

/// When a session began.
pub fn began_at(tx: &mut Tx<'_>, ws: i64, session: &SessionId) -> Result<i64> {
    let found: Option<(i64,)> =
        tx.opt("SELECT created_at FROM sessions WHERE ws = ?1 AND id = ?2", &[&ws, session])?;
    Ok(found.ok_or(Error::Unauthorized)?.0)
}

/// Writes down that a session is in use.
pub fn mark_seen(tx: &mut Tx<'_>, session: &TokenHash, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE sessions SET seen_at = ?2 WHERE token_hash = ?1 AND seen_at < ?2",
        &[session, &now],
    )?;
    Ok(())
}

db::row! {
    #[derive(Clone, Debug)]
    pub struct SessionListing from "sessions" {
        pub id: SessionId,
        pub device: String,
        pub created_at: i64,
        pub seen_at: i64,
    }
}

/// The actor's own sessions, the latest used first.
pub fn list_sessions(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<SessionListing>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM sessions
             WHERE ws = ?1 AND person = ?2 AND seen_at > ?3 AND created_at > ?4
             ORDER BY seen_at DESC, id DESC",
            SessionListing::COLUMNS
        ),
        &[&cx.actor.ws, own_id(cx)?, &(cx.now - SESSION_IDLE_MS), &(cx.now - SESSION_MS)],
    )?)
}

/// Ends one of the actor's own sessions.
pub fn end_session(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &SessionId) -> Result<()> {
    let ended = tx.exec(
        "DELETE FROM sessions WHERE ws = ?1 AND person = ?2 AND id = ?3",
        &[&cx.actor.ws, own_id(cx)?, id],
    )?;
    push::end_with_sessions(tx, cx.actor.ws, own_id(cx)?)?;
    if ended == 0 { Err(Error::NotFound("session")) } else { Ok(()) }
}

/// Ends all of the actor's own sessions but one.
pub fn end_other_sessions(tx: &mut Tx<'_>, cx: &Cx<'_>, kept: &SessionId) -> Result<u64> {
    let ended = tx.exec(
        "DELETE FROM sessions WHERE ws = ?1 AND person = ?2 AND id <> ?3",
        &[&cx.actor.ws, own_id(cx)?, kept],
    )?;
    push::end_with_sessions(tx, cx.actor.ws, own_id(cx)?)?;
    Ok(ended)
}

db::row! {
    /// A password as it is kept.
    #[derive(Clone)]
    pub struct StoredPassword from "p" {
        pub ws: i64,
        pub person: UserId,
        /// The argon2 string.
        pub hash: String,
        /// False for one that was set in a session in which private inboxes were shut.
        pub opens_private: bool,
    }
}

/// The password hashes of this address, one for each workspace.
pub fn stored_passwords(tx: &mut Tx<'_>, email: &str) -> Result<Vec<StoredPassword>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM users u JOIN passwords p ON p.ws = u.ws AND p.person = u.id
             WHERE u.email = ?1 ORDER BY p.ws LIMIT ?2",
            StoredPassword::COLUMNS
        ),
        &[&EmailAddress::new(email), &WORKSPACES_PER_ADDRESS],
    )?)
}

/// True when the actor has set a password.
pub fn has_password(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT changed_at FROM passwords WHERE ws = ?1 AND person = ?2",
        &[&cx.actor.ws, own_id(cx)?],
    )?;
    Ok(found.is_some())
}

/// Keeps the argon2 string of the actor's new password; their other sessions, and links that would
/// sign them in, end. It opens private inboxes where this session does.
pub fn set_password(tx: &mut Tx<'_>, cx: &Cx<'_>, hash: &str, kept: &SessionId) -> Result<()> {
    let me = own_id(cx)?;
    let opens_private = cx.actor.sees(&Circle::of(me));
    tx.exec(
        "INSERT INTO passwords (ws, person, hash, changed_at, opens_private)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, person) DO UPDATE
         SET hash = excluded.hash, changed_at = excluded.changed_at,
             opens_private = excluded.opens_private",
        &[&cx.actor.ws, me, &hash, &cx.now, &opens_private],
    )?;
    end_other_ways_in(tx, cx.actor.ws, me, Some(kept))
}

/// After a change of how a person signs in: ends links and steps that would sign them in, and their
/// sessions, but for the one in which it was done.
pub(crate) fn end_other_ways_in(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    kept: Option<&SessionId>,
) -> Result<()> {
    tx.exec("DELETE FROM sign_in_links WHERE ws = ?1 AND person = ?2", &[&ws, person])?;
    tx.exec("DELETE FROM sign_in_steps WHERE ws = ?1 AND person = ?2", &[&ws, person])?;
    let kept = kept.map_or("", SessionId::as_str);
    tx.exec(
        "DELETE FROM sessions WHERE ws = ?1 AND person = ?2 AND id <> ?3",
        &[&ws, person, &kept],
    )?;
    push::end_with_sessions(tx, ws, person)
}

/// Opens private inboxes in a session after the person gave their password.
pub fn open_private(tx: &mut Tx<'_>, cx: &Cx<'_>, session: &SessionId) -> Result<()> {
    tx.exec(
        "UPDATE sessions SET opens_private = TRUE WHERE ws = ?1 AND person = ?2 AND id = ?3",
        &[&cx.actor.ws, own_id(cx)?, session],
    )?;
    Ok(())
}

/// Counts an attempt before the password is checked, so that concurrent attempts count as well.
/// `false` at the limit.
pub fn count_sign_in_attempt(tx: &mut Tx<'_>, what: &str, most: i64, now: i64) -> Result<bool> {
    let begun = now - SIGN_IN_WINDOW_MS;
    tx.exec("DELETE FROM sign_in_attempts WHERE since <= ?1", &[&begun])?;
    let (attempts,): (i64,) = tx.one(
        "INSERT INTO sign_in_attempts (ws, what, attempts, since) VALUES (0, ?1, 1, ?2)
         ON CONFLICT (ws, what) DO UPDATE SET attempts = sign_in_attempts.attempts + 1
         RETURNING attempts",
        &[&what, &now],
    )?;
    Ok(attempts <= most)
}

/// Resets the count of failed attempts after a sign-in.
pub fn forget_sign_in_attempts(tx: &mut Tx<'_>, what: &str) -> Result<()> {
    tx.exec("DELETE FROM sign_in_attempts WHERE ws = 0 AND what = ?1", &[&what])?;
    Ok(())
}

pub(crate) fn own_id<'c>(cx: &'c Cx<'_>) -> Result<&'c UserId> {
    match &cx.actor.who {
        Principal::Person { id, .. } => Ok(id),
        _ => Err(Error::Forbidden("Only a person signs in.".into())),
    }
}
