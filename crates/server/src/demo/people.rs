//! The people, agents and inboxes of the sample workspace.

use actions::inboxes::inbox_access::{InboxAccess, set_inbox_access};
use actions::inboxes::setup::{NewWorkspace, add_mailbox, add_person, set_up_workspace};
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

use super::scenario::{SampleInbox, SampleMember};
use super::{Sample, SamplePlace};

const DOMAIN: &str = "lumen-holz.example";
/// Characters by which the domains of several samples differ.
const DOMAIN_CHARS: usize = 10;

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

/// The domain of the sample's addresses. An address belongs to one workspace.
fn domain_of(app: &App, place: SamplePlace) -> String {
    match place {
        SamplePlace::Alone => DOMAIN.to_owned(),
        SamplePlace::In(_) => format!("{}.{DOMAIN}", app.ids.token(DOMAIN_CHARS)),
    }
}

/// Makes the workspace and everybody in it.
pub fn assemble(tx: &mut Tx<'_>, app: &App, now: i64, place: SamplePlace) -> Result<SamplePeople> {
    let domain = domain_of(app, place);
    let at = |name: &str| format!("{name}@{domain}");
    let [owner_email, admin_email, member_email] = ["ines", "jonas", "priya"].map(at);
    let nobody = Actor::system(0, WorkspaceId::new(&app.ids, now), Circle::team());
    let cx = |actor| Cx { now, ..app.cx(actor) };
    let new = NewWorkspace {
        name: "Lumen & Holz".into(),
        owner_email: owner_email.clone(),
        owner_name: "Ines Marti".into(),
        inbox: at("support"),
        inbox_name: "Support".into(),
    };
    let made = set_up_workspace(tx, &cx(&nobody), &new)?;
    let ws = made.ws;

    let ines = actor::person(tx, ws, &owner_email)?;
    let by_ines = &cx(&ines);
    add_person(tx, by_ines, &admin_email, "Jonas Feld", Role::Admin)?;
    add_person(tx, by_ines, &member_email, "Priya Nair", Role::Member)?;
    let jonas = actor::person(tx, ws, &admin_email)?;
    set_duty(tx, &cx(&jonas), "Invoices, refunds and terms of payment")?;
    let priya = actor::person(tx, ws, &member_email)?;
    set_duty(tx, &cx(&priya), "Orders, parcels and returns, mornings")?;
    // She likes to be able to stop what she wrote for as long as an agent's.
    choose_undo(tx, &cx(&priya), Some(UNDO_MINUTES * 60))?;
    let billing = add_mailbox(tx, by_ines, &at("billing"), "Billing", None)?;
    let private = add_mailbox(tx, by_ines, &owner_email, "Ines, private", Some(&made.owner))?;

    set_inbox_signature(
        tx,
        by_ines,
        &made.mailbox,
        "{{my_name}}\n**Lumen & Holz** · [lumen-holz.example](https://lumen-holz.example)",
    )?;

    let office = make_team(tx, by_ines, "Office", &[made.owner.clone(), person_id(&jonas)?])?;
    let jobs = add_mailbox(tx, by_ines, &at("jobs"), "Applications", None)?;
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
            owner_email,
            live_key: live.key,
            test_key: test.key,
            read_key: reader.key,
        },
        jonas: actor::person(tx, ws, &admin_email)?,
        priya: actor::person(tx, ws, &member_email)?,
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
