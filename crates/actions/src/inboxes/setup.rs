//! Workspaces, people and inboxes: made, listed and changed.

use base::actor::{Actor, Circle, Plan, Role};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{MailboxId, UserId, WorkspaceId};
use base::limits::PERSON_NAME_CHARS;
use bookings::types;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::mailboxes;
use model::mailboxes::plus_tags;
use model::people::removed_people;
use quotas::LimitKind;
use serde::Serialize;

/// Parts of addresses that are not a workspace's: `/b/m/…` and `/b/o/…` are pages of guests.
const RESERVED_SLUGS: [&str; 2] = ["m", "o"];

/// The initial data of a workspace.
#[derive(Clone, Debug, Default)]
pub struct NewWorkspace {
    pub name: String,
    pub owner_email: String,
    pub owner_name: String,
    pub inbox: String,
    pub inbox_name: String,
}

impl NewWorkspace {
    /// What is wrong with it before anything is made, by field.
    pub fn problems(&self) -> ValidationErrors {
        let mut problems = ValidationErrors::default();
        check_name(&mut problems, "workspace", &self.name);
        check_name(&mut problems, "owner-name", &self.owner_name);
        check_name(&mut problems, "inbox-name", &self.inbox_name);
        check_address(&mut problems, "owner-email", &self.owner_email);
        check_address(&mut problems, "inbox", &self.inbox);
        problems
    }
}

#[derive(Debug, Serialize)]
pub struct CreatedWorkspace {
    /// Its number, by which rows name it.
    #[serde(skip)]
    pub ws: i64,
    pub workspace: WorkspaceId,
    pub owner: UserId,
    pub mailbox: MailboxId,
}

/// Makes a workspace with its owner, first inbox and sandbox. It starts on the Team plan.
pub fn set_up_workspace(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    new: &NewWorkspace,
) -> Result<CreatedWorkspace> {
    refuse(new.problems())?;

    let (ws,): (i64,) = tx.one(
        "SELECT CAST(coalesce(max(ws), 0) + 1 AS BIGINT) FROM (
             SELECT ws FROM workspaces UNION ALL SELECT ws FROM deleted_workspaces
         ) AS used",
        &[],
    )?;
    let workspace = WorkspaceId::new(cx.ids, cx.now);
    let slug = free_slug(tx, &new.name)?;
    tx.exec(
        "INSERT INTO workspaces (ws, id, slug, name, plan, created_at)
         VALUES (?1, ?2, ?3, ?4, 'team', ?5)",
        &[&ws, &workspace, &slug, &new.name.trim(), &cx.now],
    )?;
    let actor = Actor::system(ws, workspace.clone(), Circle::team());
    let cx = &Cx { actor: &actor, ..*cx };
    let owner = add_person(tx, cx, &new.owner_email, &new.owner_name, Role::Owner)?;
    let mailbox = add_mailbox(tx, cx, &new.inbox, &new.inbox_name, None)?;
    let sandbox = format!("sandbox@{slug}.test");
    let sandbox = insert_mailbox(tx, cx, &sandbox, "Sandbox", &Circle::sandbox())?;
    types::add_sandbox(tx, cx, &sandbox)?;
    Ok(CreatedWorkspace { ws, workspace, owner, mailbox })
}

/// The workspace's name as part of a domain, with a number when it is taken.
fn free_slug(tx: &mut Tx<'_>, name: &str) -> Result<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let mapped: String = name.chars().map(plain).collect();
    let words: Vec<&str> = mapped.split('-').filter(|word| !word.is_empty()).collect();
    let base: String = match words.join("-") {
        empty if empty.is_empty() => "workspace".into(),
        words => words.chars().take(40).collect(),
    };
    let taken: Vec<(String,)> = tx.all("SELECT slug FROM workspaces", &[])?;
    let is_free = |slug: &String| {
        !RESERVED_SLUGS.contains(&slug.as_str()) && !taken.iter().any(|(taken,)| taken == slug)
    };
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    Ok(std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base))
}

/// Adds a person to the workspace.
pub fn add_person(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &str,
    name: &str,
    role: Role,
) -> Result<UserId> {
    cx.actor.must_administer()?;
    let mut problems = ValidationErrors::default();
    check_address(&mut problems, "email", email);
    check_name(&mut problems, "name", name);
    refuse(problems)?;
    let email = EmailAddress::new(email);
    let taken: Option<(UserId,)> =
        tx.opt("SELECT id FROM users WHERE ws = ?1 AND email = ?2", &[&cx.actor.ws, &email])?;
    if taken.is_some() {
        return Err(Error::invalid("email", "is on the team already"));
    }
    quotas::admit(tx, cx, LimitKind::People, 1)?;
    let id = UserId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO users (ws, id, email, name, role, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&cx.actor.ws, &id, &email, &name.trim(), &role, &cx.now],
    )?;
    removed_people::forget_removed(tx, cx, &email)?;
    let detail = format!("{email}, as {}", role.as_str());
    audit_log::record(tx, cx, &Circle::team(), Action::PersonAdded, name.trim(), &detail)?;
    Ok(id)
}

/// Adds an inbox: the team's, or one person's own.
pub fn add_mailbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    address: &str,
    name: &str,
    private_to: Option<&UserId>,
) -> Result<MailboxId> {
    cx.actor.must_administer()?;
    let mut problems = ValidationErrors::default();
    check_address(&mut problems, "address", address);
    check_name(&mut problems, "name", name);
    refuse(problems)?;
    let address = EmailAddress::new(address);
    if address.contains('+') {
        return Err(Error::invalid(
            "address",
            "must be without a plus tag; tags are added by senders",
        ));
    }
    if address.ends_with(".test") && address.starts_with("sandbox@") {
        return Err(Error::invalid("address", "is kept for the sandbox"));
    }
    let circle = private_to.map_or_else(Circle::team, Circle::of);
    let id = insert_mailbox(tx, cx, &address, name.trim(), &circle)?;
    audit_log::record(tx, cx, &circle, Action::InboxAdded, name.trim(), &address)?;
    Ok(id)
}

/// Gives an inbox another name; its address stays.
pub fn rename_mailbox(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId, name: &str) -> Result<()> {
    cx.actor.must_administer()?;
    let found = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    let mut problems = ValidationErrors::default();
    check_name(&mut problems, "name", name);
    refuse(problems)?;
    let name = name.trim();
    if found.name == name {
        return Ok(());
    }
    tx.exec(
        "UPDATE mailboxes SET name = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &name],
    )?;
    let detail = format!("now {name}");
    audit_log::record(tx, cx, &found.circle, Action::InboxRenamed, &found.name, &detail)
}

fn insert_mailbox(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    address: &str,
    name: &str,
    circle: &Circle,
) -> Result<MailboxId> {
    let taken: Option<(MailboxId,)> =
        tx.opt("SELECT id FROM mailboxes WHERE address = ?1", &[&address])?;
    if taken.is_some() {
        return Err(Error::invalid("address", "is an inbox already"));
    }
    let id = MailboxId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO mailboxes (ws, id, address, name, circle, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[&cx.actor.ws, &id, &address, &name, circle, &cx.now],
    )?;
    Ok(id)
}

/// The inbox at an address, of any circle.
pub fn mailbox_at(tx: &mut Tx<'_>, cx: &Cx<'_>, address: &str) -> Result<MailboxId> {
    cx.actor.must_administer()?;
    let found: Option<(MailboxId,)> = tx.opt(
        "SELECT id FROM mailboxes WHERE address = ?2 AND ws = ?1",
        &[&cx.actor.ws, &EmailAddress::new(address)],
    )?;
    found.map(|(id,)| id).ok_or(Error::NotFound("inbox"))
}

/// Sets whether an inbox's provider supports plus tags, as somebody says. Without them replies and
/// bounces go to the bare address and are recognized by Message-ID alone.
pub fn set_plus_tags(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId, on: bool) -> Result<()> {
    cx.actor.must_administer()?;
    let found: Option<(EmailAddress, Circle)> = tx.opt(
        "SELECT address, circle FROM mailboxes WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id],
    )?;
    let (address, circle) = found.ok_or(Error::NotFound("inbox"))?;
    plus_tags::decide(tx, cx.actor.ws, id, on)?;
    let action = if on { Action::PlusTagsOn } else { Action::PlusTagsOff };
    audit_log::record(tx, cx, &circle, action, &address, "")
}

pub fn set_plan(tx: &mut Tx<'_>, cx: &Cx<'_>, plan: Plan) -> Result<()> {
    cx.actor.must_administer()?;
    tx.exec("UPDATE workspaces SET plan = ?2 WHERE ws = ?1", &[&cx.actor.ws, &plan])?;
    audit_log::record(tx, cx, &Circle::team(), Action::PlanChanged, plan.as_str(), "")
}

db::row! {
    #[derive(Debug, Serialize)]
    pub struct PersonListing from "users" {
        pub id: UserId,
        pub email: EmailAddress,
        pub name: String,
        pub role: Role,
    }
}

pub fn list_people(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<PersonListing>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM users WHERE ws = ?1 ORDER BY created_at, id",
            PersonListing::COLUMNS
        ),
        &[&cx.actor.ws],
    )?)
}

db::row! {
    /// A workspace as the operator of the machine sees it.
    #[derive(Clone, Debug)]
    pub struct WorkspaceListing from "workspaces" {
        pub ws: i64,
        pub id: WorkspaceId,
        pub slug: String,
        pub name: String,
        pub plan: Plan,
    }
}

/// All but samples, which are looked at and deleted in the app.
pub fn list_workspaces(tx: &mut Tx<'_>) -> Result<Vec<WorkspaceListing>> {
    let columns = WorkspaceListing::COLUMNS;
    let sql = format!(
        "SELECT {columns} FROM workspaces WHERE deleted_at IS NULL AND sample_of IS NULL ORDER BY ws"
    );
    Ok(tx.all(&sql, &[])?)
}

fn check_name(problems: &mut ValidationErrors, field: &str, name: &str) {
    let chars = name.trim().chars().count();
    if chars == 0 || chars > PERSON_NAME_CHARS || name.contains('\0') {
        add(problems, field, &format!("must be 1 to {PERSON_NAME_CHARS} characters"));
    }
}

fn check_address(problems: &mut ValidationErrors, field: &str, address: &str) {
    if !mail::is_address(address.trim()) {
        add(problems, field, "must be an e-mail address");
    }
}

fn add(problems: &mut ValidationErrors, field: &str, sentence: &str) {
    problems.0.push(ValidationError { field: field.into(), sentence: sentence.into() });
}

fn refuse(problems: ValidationErrors) -> Result<()> {
    if problems.0.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}
