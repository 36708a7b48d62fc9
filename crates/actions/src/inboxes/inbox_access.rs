//! Choosing who sees an inbox and who sends from it.

use base::actor::{Circle, Principal, Role};
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{MailboxId, MemberId, UserId, WebhookId};
use base::limits::{ACCESS_HOLDERS, ACCESS_MOVED, RESTRICTED_INBOXES, thousands};
use db::Tx;
use model::conversations::circle_move::CircleMove;
use model::installation::audit_log::{self, Action};
use model::mailboxes::inbox_access::{self, AccessEntry, AccessHolder};
use model::mailboxes::{self, Mailbox};
use model::people::{members, teams};
use model::webhooks::registration::forget_webhook;
use serde::Serialize;

/// Who sees an inbox and who sends from it, as it is chosen.
#[derive(Clone, Debug, Default)]
pub struct InboxAccess {
    /// Everybody on the team sees it.
    pub everybody: bool,
    /// Whoever sees it sends from it.
    pub all_send: bool,
    pub entries: Vec<AccessEntry>,
}

/// Somebody whom an inbox can be given to, and what they may do.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessRow {
    pub id: String,
    /// `team`, `person` or `agent`.
    pub kind: &'static str,
    pub name: String,
    pub sees: bool,
    pub sends: bool,
}

/// An inbox with everybody whom it can be given to.
pub struct InboxAccessListing {
    pub mailbox: Mailbox,
    pub everybody: bool,
    pub all_send: bool,
    pub rows: Vec<AccessRow>,
    /// False for an owner who may change it and does not see its mail.
    pub seen: bool,
}

impl InboxAccessListing {
    /// Who sees it, in a few words.
    pub fn seen_by(&self) -> String {
        self.names(self.everybody, |row| row.sees)
    }

    /// Who sends from it, in a few words.
    pub fn sent_by(&self) -> String {
        if self.all_send { "whoever sees it".into() } else { self.names(false, |row| row.sends) }
    }

    fn names(&self, everybody: bool, is_meant: impl Fn(&AccessRow) -> bool) -> String {
        let names: Vec<&str> =
            self.rows.iter().filter(|row| is_meant(row)).map(|row| row.name.as_str()).collect();
        match (everybody, names.is_empty()) {
            (true, _) => "everybody".into(),
            (false, true) => "nobody".into(),
            (false, false) => names.join(", "),
        }
    }
}

/// The inbox and who has it. Owners find every inbox for some, without its mail.
pub fn inbox_access(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<InboxAccessListing> {
    let mailbox = changeable(tx, cx, id)?;
    listing(tx, cx, mailbox)
}

fn listing(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: Mailbox) -> Result<InboxAccessListing> {
    let ws = cx.actor.ws;
    let entries = inbox_access::entries(tx, ws, &mailbox.id)?;
    let row = |id: String, kind: &'static str, name: String| {
        let entry = entries.iter().find(|entry| entry.holder.as_str() == id);
        let sees = entry.is_some_and(|entry| entry.may_see);
        AccessRow { id, kind, name, sees, sends: entry.is_some_and(|entry| entry.may_send) }
    };
    let team = members::team(tx, ws, &Circle::team())?;
    let bare = |id: &str| id.split_once(':').map_or("", |(_, id)| id).to_owned();
    let mut rows: Vec<AccessRow> = Vec::new();
    rows.extend(teams::all(tx, ws)?.into_iter().map(|t| row(t.id.to_string(), "team", t.name)));
    rows.extend(team.people.into_iter().map(|one| row(bare(&one.id), "person", one.name)));
    rows.extend(team.agents.into_iter().map(|one| row(bare(&one.id), "agent", one.name)));
    Ok(InboxAccessListing {
        everybody: mailbox.circle.is_team(),
        all_send: inbox_access::all_send(tx, ws, &mailbox.id)?,
        seen: cx.actor.sees(&mailbox.circle),
        mailbox,
        rows,
    })
}

/// The inboxes for some that an owner may give to others and does not see.
pub fn unseen_inboxes(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<Mailbox>> {
    if !is_owner(cx) {
        return Ok(Vec::new());
    }
    let all: Vec<Mailbox> = tx.all(
        &format!(
            "SELECT {} FROM mailboxes WHERE ws = ?1 AND circle = id ORDER BY name, id LIMIT ?2",
            Mailbox::COLUMNS
        ),
        &[&cx.actor.ws, &RESTRICTED_INBOXES],
    )?;
    Ok(all.into_iter().filter(|inbox| !cx.actor.sees(&inbox.circle)).collect())
}

/// Chooses who sees an inbox and who sends from it. It takes effect with the next request. A private
/// inbox stays its person's.
pub fn set_inbox_access(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    access: &InboxAccess,
) -> Result<()> {
    let mailbox = changeable(tx, cx, id)?;
    check(tx, cx, &mailbox, access)?;
    let ws = cx.actor.ws;
    let circle = if access.everybody { Circle::team() } else { Circle::of_inbox(id) };
    if mailbox.circle != circle {
        check_size(tx, cx, id)?;
        CircleMove { mailbox: id, from: &mailbox.circle, to: &circle }.run(tx, cx)?;
        end_webhooks(tx, cx, &mailbox.circle, "its inbox opened")?;
    }
    tx.exec("DELETE FROM mailbox_access WHERE ws = ?1 AND mailbox = ?2", &[&ws, id])?;
    for entry in &access.entries {
        let may_see = entry.may_see && !access.everybody;
        let may_send = entry.may_send && !access.all_send;
        if may_see || may_send {
            tx.exec(
                "INSERT INTO mailbox_access (ws, mailbox, holder, may_see, may_send)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                &[&ws, id, &entry.holder, &may_see, &may_send],
            )?;
        }
    }
    tx.exec(
        "UPDATE mailboxes SET all_send = ?3 WHERE ws = ?1 AND id = ?2",
        &[&ws, id, &access.all_send],
    )?;
    if !access.everybody {
        shut_out(tx, cx, &circle)?;
    }
    let (name, was) = (mailbox.name.clone(), mailbox.circle.clone());
    let now = listing(tx, cx, Mailbox { circle: circle.clone(), ..mailbox })?;
    let outside = if cx.actor.sees(&was) { "" } else { "; changed from outside" };
    let detail = format!("seen by {}; sent by {}{outside}", now.seen_by(), now.sent_by());
    audit_log::record(tx, cx, &circle, Action::InboxAccessChanged, &name, &detail)
}

/// An inbox that the actor may give to others: owners and admins those that they see, and owners every
/// inbox for some. A private inbox is nobody's to give.
fn changeable(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<Mailbox> {
    cx.actor.must_administer()?;
    let found: Option<Mailbox> = tx.opt(
        &format!("SELECT {} FROM mailboxes WHERE ws = ?1 AND id = ?2", Mailbox::COLUMNS),
        &[&cx.actor.ws, id],
    )?;
    let is_open = |inbox: &Mailbox| {
        let given = inbox.circle.inbox().is_some() && is_owner(cx);
        inbox.circle.is_shared() && (given || cx.actor.sees(&inbox.circle))
    };
    if let Some(inbox) = found.filter(is_open) {
        return Ok(inbox);
    }
    match mailboxes::seen_by(tx, cx.actor, id)? {
        Some(_) => Err(Error::invalid("inbox", "is private and stays with its person")),
        None => Err(Error::NotFound("inbox")),
    }
}

/// The operator of the machine counts as an owner.
pub(crate) fn is_owner(cx: &Cx<'_>) -> bool {
    matches!(cx.actor.who, Principal::Person { role: Role::Owner, .. } | Principal::System)
}

fn check(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &Mailbox, access: &InboxAccess) -> Result<()> {
    let ws = cx.actor.ws;
    if access.entries.len() > ACCESS_HOLDERS {
        let sentence = format!("are too many: at most {ACCESS_HOLDERS} people, teams and agents");
        return Err(Error::invalid("holders", sentence));
    }
    for (place, entry) in access.entries.iter().enumerate() {
        let table = match entry.holder {
            AccessHolder::Person(_) => "users",
            AccessHolder::Team(_) => "teams",
            AccessHolder::Agent(_) => "agents",
        };
        let found: Option<(String,)> = tx.opt(
            &format!("SELECT id FROM {table} WHERE ws = ?1 AND id = ?2"),
            &[&ws, &entry.holder],
        )?;
        let is_twice = access.entries[..place].iter().any(|other| other.holder == entry.holder);
        if found.is_none() || is_twice {
            return Err(Error::NotFound("person, team or agent"));
        }
    }
    let sees = |entry: &AccessEntry| access.everybody || entry.may_see;
    let is_held = |entry: &AccessEntry| !matches!(entry.holder, AccessHolder::Agent(_));
    if !access.everybody && !access.entries.iter().any(|entry| entry.may_see && is_held(entry)) {
        return Err(Error::invalid("sees", "Choose at least one person or team that sees it."));
    }
    if !access.all_send && !access.entries.iter().any(|entry| entry.may_send && sees(entry)) {
        return Err(Error::invalid("sends", "Choose at least one of them who sends from it."));
    }
    if access.entries.iter().any(|entry| entry.may_send && !sees(entry)) {
        let sentence = "Whoever sends from an inbox must see it, too.";
        return Err(Error::invalid("sends", sentence));
    }
    if !access.everybody && mailbox.circle.is_team() {
        let restricted = inbox_access::restricted_circles(tx, ws)?;
        if restricted.len() as i64 >= RESTRICTED_INBOXES {
            let sentence = format!("There are {RESTRICTED_INBOXES} inboxes for some already.");
            return Err(Error::invalid("sees", sentence));
        }
    }
    Ok(())
}

/// A large inbox would keep everybody else waiting, so it is opened or closed at the command line.
fn check_size(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<()> {
    if matches!(cx.actor.who, Principal::System) {
        return Ok(());
    }
    let beyond: Option<(String,)> = tx.opt(
        "SELECT id FROM conversations WHERE ws = ?1 AND mailbox = ?2 LIMIT 1 OFFSET ?3",
        &[&cx.actor.ws, id, &ACCESS_MOVED],
    )?;
    match beyond {
        Some(_) => Err(Error::invalid(
            "sees",
            format!(
                "This inbox has more than {} conversations. Use `mailroom mailbox access` on the \
                 server, at a quiet time.",
                thousands(ACCESS_MOVED as usize)
            ),
        )),
        None => Ok(()),
    }
}

/// Webhooks that heard this inbox alone end with its circle.
pub(crate) fn end_webhooks(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle, why: &str) -> Result<()> {
    if circle.inbox().is_none() {
        return Ok(());
    }
    let ended: Vec<(WebhookId, String)> = tx.all(
        "SELECT id, url FROM webhooks WHERE ws = ?1 AND circle = ?2",
        &[&cx.actor.ws, circle],
    )?;
    let team = Circle::team();
    for (id, url) in ended {
        forget_webhook(tx, cx, &id)?;
        audit_log::record(tx, cx, &team, Action::WebhookDeleted, &url, why)?;
    }
    Ok(())
}

/// Takes back from those who no longer see an inbox for some what they had of it: its conversations,
/// and the webhooks that they made for it.
pub(crate) fn shut_out(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle) -> Result<()> {
    let ws = cx.actor.ws;
    inbox_access::unassign_outsiders(tx, ws, circle)?;
    let made: Vec<(WebhookId, String, UserId)> = tx.all(
        "SELECT id, url, made_by FROM webhooks WHERE ws = ?1 AND circle = ?2",
        &[&ws, circle],
    )?;
    for (id, url, made_by) in made {
        if members::in_circle(tx, ws, circle, &MemberId::User(made_by))?.is_none() {
            forget_webhook(tx, cx, &id)?;
            let why = "who made it no longer sees the inbox";
            audit_log::record(tx, cx, circle, Action::WebhookDeleted, &url, why)?;
        }
    }
    Ok(())
}
