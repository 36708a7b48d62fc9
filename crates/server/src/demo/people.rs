//! The people, agents and inboxes of the sample workspace.

use actions::inboxes::inbox_access::{InboxAccess, set_inbox_access};
use actions::inboxes::setup::{
    NewWorkspace, add_mailbox, add_person, list_workspaces, set_up_workspace,
};
use actions::inboxes::writing_settings::{choose_undo, set_inbox_signature};
use actions::integrations::keys::{MadeKey, make_key};
use actions::people::profile::set_duty;
use actions::people::teams::make_team;
use base::actor::{self, Actor, Circle, Principal, Role};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::{MailboxId, UserId, WorkspaceId};
use base::limits::UNDO_MINUTES;
use base::security::api_key::KeyHash;
use base::security::scopes::Scope;
use db::Tx;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use model::mailboxes::{self, Mailbox};

use super::Sample;
use super::scenario::{SampleInbox, SampleMember};

const OWNER_EMAIL: &str = "ines@lumen-holz.example";
const ADMIN_EMAIL: &str = "jonas@lumen-holz.example";
const MEMBER_EMAIL: &str = "priya@lumen-holz.example";

pub struct SamplePeople {
    pub sample: Sample,
    ines: Actor,
    jonas: Actor,
    priya: Actor,
    robo: Actor,
    robo_test: Actor,
    support: Mailbox,
    billing: Mailbox,
    private: Mailbox,
    sandbox: Mailbox,
}

impl SamplePeople {
    pub fn member(&self, member: SampleMember) -> &Actor {
        match member {
            SampleMember::Ines => &self.ines,
            SampleMember::Jonas => &self.jonas,
            SampleMember::Priya => &self.priya,
            SampleMember::Robo => &self.robo,
            SampleMember::RoboTest => &self.robo_test,
        }
    }

    pub fn inbox(&self, inbox: SampleInbox) -> &Mailbox {
        match inbox {
            SampleInbox::Support => &self.support,
            SampleInbox::Billing => &self.billing,
            SampleInbox::Private => &self.private,
            SampleInbox::Sandbox => &self.sandbox,
        }
    }

    /// Mailroom at work in an inbox.
    pub fn mailroom(&self, inbox: SampleInbox) -> Actor {
        let circle = self.inbox(inbox).circle.clone();
        Actor::system(self.ines.ws, self.sample.workspace.clone(), circle)
    }
}

/// Makes the workspace and everybody in it.
pub fn assemble(tx: &mut Tx<'_>, app: &App, now: i64) -> Result<SamplePeople> {
    let nobody = Actor::system(0, WorkspaceId::new(&app.ids, now), Circle::team());
    let cx = |actor| Cx { now, ..app.cx(actor) };
    let new = NewWorkspace {
        name: "Lumen & Holz".into(),
        owner_email: OWNER_EMAIL.into(),
        owner_name: "Ines Marti".into(),
        inbox: "support@lumen-holz.example".into(),
        inbox_name: "Support".into(),
    };
    let made = set_up_workspace(tx, &cx(&nobody), &new)?;
    let listed = list_workspaces(tx)?.into_iter().find(|listed| listed.id == made.workspace);
    let ws = listed.ok_or(Error::NotFound("workspace"))?.ws;

    let ines = actor::person(tx, ws, OWNER_EMAIL)?;
    let by_ines = &cx(&ines);
    add_person(tx, by_ines, ADMIN_EMAIL, "Jonas Feld", Role::Admin)?;
    add_person(tx, by_ines, MEMBER_EMAIL, "Priya Nair", Role::Member)?;
    let jonas = actor::person(tx, ws, ADMIN_EMAIL)?;
    set_duty(tx, &cx(&jonas), "Invoices, refunds and terms of payment")?;
    let priya = actor::person(tx, ws, MEMBER_EMAIL)?;
    set_duty(tx, &cx(&priya), "Orders, parcels and returns, mornings")?;
    // She likes to be able to stop what she wrote for as long as an agent's.
    choose_undo(tx, &cx(&priya), Some(UNDO_MINUTES * 60))?;
    let billing = add_mailbox(tx, by_ines, "billing@lumen-holz.example", "Billing", None)?;
    let private = add_mailbox(tx, by_ines, OWNER_EMAIL, "Ines, private", Some(&made.owner))?;

    set_inbox_signature(
        tx,
        by_ines,
        &made.mailbox,
        "{{my_name}}\n**Lumen & Holz** · [lumen-holz.example](https://lumen-holz.example)",
    )?;

    let office = make_team(tx, by_ines, "Office", &[made.owner.clone(), person_id(&jonas)?])?;
    let jobs = add_mailbox(tx, by_ines, "jobs@lumen-holz.example", "Applications", None)?;
    let given = AccessEntry { holder: AccessHolder::Team(office), may_see: true, may_send: false };
    let access = InboxAccess { everybody: false, all_send: true, entries: vec![given] };
    set_inbox_access(tx, by_ines, &jobs, &access)?;

    let everything = [Scope::Read, Scope::Write, Scope::Draft, Scope::Send, Scope::Record];
    let live = make_key(tx, by_ines, "Robo", &everything, true)?;
    let test = make_key(tx, by_ines, "Robo", &everything, false)?;
    let reader = make_key(tx, by_ines, "Reporter", &[Scope::Read], true)?;
    let robo_test = agent(tx, &test, now)?;
    Ok(SamplePeople {
        robo: agent(tx, &live, now)?,
        support: find_mailbox(tx, &ines, &made.mailbox)?,
        billing: find_mailbox(tx, &ines, &billing)?,
        private: find_mailbox(tx, &ines, &private)?,
        sandbox: mailboxes::all_seen_by(tx, &robo_test)?.pop().ok_or(Error::NotFound("inbox"))?,
        sample: Sample {
            workspace: made.workspace,
            owner_email: OWNER_EMAIL.into(),
            live_key: live.key,
            test_key: test.key,
            read_key: reader.key,
        },
        jonas: actor::person(tx, ws, ADMIN_EMAIL)?,
        priya: actor::person(tx, ws, MEMBER_EMAIL)?,
        ines,
        robo_test,
    })
}

fn person_id(actor: &Actor) -> Result<UserId> {
    match &actor.who {
        Principal::Person { id, .. } => Ok(id.clone()),
        _ => Err(Error::NotFound("person")),
    }
}

fn agent(tx: &mut Tx<'_>, made: &MadeKey, now: i64) -> Result<Actor> {
    let key = KeyHash::of(&made.key).ok_or(Error::Unauthorized)?;
    Ok(actor::authenticate(tx, &key, now)?.0)
}

fn find_mailbox(tx: &mut Tx<'_>, actor: &Actor, id: &MailboxId) -> Result<Mailbox> {
    mailboxes::seen_by(tx, actor, id)?.ok_or(Error::NotFound("inbox"))
}
