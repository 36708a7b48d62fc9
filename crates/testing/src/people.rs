//! Workspaces, people, keys and inboxes, and what is done as one of them.

use actions::inboxes::setup::{self, NewWorkspace};
use actions::integrations::{agent_policy, keys};
use base::actor::{self, Actor, Circle, Principal, Role, authenticate};
use base::app::{App, Cx};
use base::error::Error;
use base::ids::{MailboxId, UserId};
use base::security::agent_policy::PolicyProfile;
use base::security::api_key::KeyHash;
use base::security::scopes::Scope;
use model::mailboxes::{self, Mailbox};

use crate::{TestApp, TestKey};

impl TestApp {
    /// A second workspace on the same database.
    pub async fn other_workspace(&self, name: &str) -> Actor {
        set_up(&self.app, name, &format!("{name} Owner")).await
    }

    /// A member of the team, by first name.
    pub async fn person(&self, name: &str) -> Actor {
        self.person_with(name, Role::Member).await
    }

    pub async fn person_with(&self, name: &str, role: Role) -> Actor {
        let email = format!("{}@acme.example", name.to_lowercase());
        let (address, full) = (email.clone(), format!("{name} Teammate"));
        self.app
            .act(&self.owner, move |tx, cx| setup::add_person(tx, cx, &address, &full, role))
            .await
            .unwrap();
        let ws = self.owner.ws;
        self.app.store.read(move |tx| actor::person(tx, ws, &email)).await.unwrap()
    }

    /// A live key of the owner's with these scopes.
    pub async fn key(&self, scopes: &str) -> TestKey {
        self.key_of(&self.owner, "Robo", scopes, true).await
    }

    pub async fn test_key(&self, scopes: &str) -> TestKey {
        self.key_of(&self.owner, "Testo", scopes, false).await
    }

    /// A live key of the owner's with the limits that a new agent begins with.
    pub async fn agent_key(&self, scopes: &str) -> TestKey {
        let scopes: Vec<Scope> =
            scopes.split(' ').map(|word| Scope::parse(word).unwrap()).collect();
        let make = move |tx: &mut db::Tx<'_>, cx: &Cx<'_>| {
            keys::make_key_with(tx, cx, "Robo", &scopes, true, PolicyProfile::Agent)
        };
        let made = self.act(&self.owner, make).await;
        TestKey { id: made.id, key: made.key }
    }

    /// Changes the limits of a key, each as `field=value`.
    pub async fn limit(&self, key: &TestKey, changes: &[&str]) {
        let id = key.id.clone();
        let typed = changes.iter().filter_map(|change| change.split_once('='));
        let typed: Vec<(String, String)> =
            typed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let change = move |tx: &mut db::Tx<'_>, cx: &Cx<'_>| {
            agent_policy::change_policy(tx, cx, &id, &typed)
        };
        self.act(&self.owner, change).await;
    }

    pub async fn key_of(&self, maker: &Actor, name: &str, scopes: &str, livemode: bool) -> TestKey {
        let scopes: Vec<Scope> =
            scopes.split(' ').map(|word| Scope::parse(word).unwrap()).collect();
        let name = name.to_owned();
        let made = self
            .app
            .act(maker, move |tx, cx| keys::make_key(tx, cx, &name, &scopes, livemode))
            .await
            .unwrap();
        TestKey { id: made.id, key: made.key }
    }

    pub async fn revoke(&self, key: &TestKey) {
        let id = key.id.clone();
        self.act(&self.owner, move |tx, cx| keys::revoke_key(tx, cx, &id)).await;
    }

    /// An inbox that only this person sees.
    pub async fn private_inbox(&self, person: &Actor) -> Mailbox {
        let address = format!("{}.private@acme.example", user(person));
        let (owner, given) = (user(person), address.clone());
        self.act(&self.owner, move |tx, cx| {
            setup::add_mailbox(tx, cx, &given, "Private", Some(&owner))
        })
        .await;
        mailbox(&self.app, person, &address).await
    }

    pub async fn team_inbox(&self, address: &str, name: &str) -> Mailbox {
        let (given, name) = (address.to_owned(), name.to_owned());
        self.act(&self.owner, move |tx, cx| setup::add_mailbox(tx, cx, &given, &name, None)).await;
        mailbox(&self.app, &self.owner, address).await
    }

    /// Does what a person or the service does; it must succeed.
    pub async fn act<T, F>(&self, actor: &Actor, operation: F) -> T
    where
        F: FnMut(&mut db::Tx<'_>, &Cx<'_>) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.app.act(actor, operation).await.unwrap()
    }

    /// What somebody tries and may not.
    pub async fn expect_refusal<T, F>(&self, actor: &Actor, operation: F) -> Error
    where
        F: FnMut(&mut db::Tx<'_>, &Cx<'_>) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        match self.app.act(actor, operation).await {
            Ok(_) => panic!("this should have been refused"),
            Err(error) => error,
        }
    }

    /// Mailroom itself, where this inbox is seen.
    pub fn service(&self, mailbox: &Mailbox) -> Actor {
        Actor::system(self.owner.ws, self.owner.workspace.clone(), mailbox.circle.clone())
    }

    /// The actor that a key acts as.
    pub async fn agent(&self, key: &TestKey) -> Actor {
        let (hash, now) = (KeyHash::of(&key.key).unwrap(), self.now());
        let found = self.app.store.read(move |tx| authenticate(tx, &hash, now)).await;
        found.unwrap().0
    }
}

pub(crate) async fn set_up(app: &App, name: &str, owner: &str) -> Actor {
    let domain = format!("{}.example", name.to_lowercase());
    let new = NewWorkspace {
        name: name.into(),
        owner_email: format!("owner@{domain}"),
        owner_name: owner.into(),
        inbox: format!("support@{domain}"),
        inbox_name: "Support".into(),
    };
    let email = new.owner_email.clone();
    let operator = Actor::operator(&app.ids);
    let made =
        app.act(&operator, move |tx, cx| setup::set_up_workspace(tx, cx, &new)).await.unwrap();
    let workspaces = app.store.read(setup::list_workspaces).await.unwrap();
    let ws = workspaces.iter().find(|w| w.id == made.workspace).unwrap().ws;
    app.store.read(move |tx| actor::person(tx, ws, &email)).await.unwrap()
}

pub(crate) async fn mailbox(app: &App, viewer: &Actor, address: &str) -> Mailbox {
    let seen = app.act(viewer, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await.unwrap();
    seen.into_iter().find(|mailbox| mailbox.address == address).expect("the inbox")
}

pub(crate) async fn sandbox(app: &App, owner: &Actor) -> Mailbox {
    let service = Actor::system(owner.ws, owner.workspace.clone(), Circle::sandbox());
    let seen = app.act(&service, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await.unwrap();
    seen.into_iter().next().expect("the sandbox")
}

pub fn user(person: &Actor) -> UserId {
    match &person.who {
        Principal::Person { id, .. } => id.clone(),
        _ => panic!("not a person"),
    }
}

/// An id that nothing has.
pub fn nowhere() -> String {
    "cnv_00000000000000000000000000".into()
}

/// An inbox id that nothing has.
pub fn no_mailbox() -> MailboxId {
    MailboxId::parse("mbx_00000000000000000000000000").unwrap()
}
