//! Signing in at the operator's OpenID provider: which person an account there belongs to, how it is linked,
//! and who is let in.
//!
//! An account is known by its issuer and subject, which never change. Its address counts once at most, to
//! find the person whom the account is linked to: addresses are given to others.

use base::actor::{Actor, Circle, Role};
use base::app::{App, Cx};
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{SessionId, UserId, WorkspaceId};
use base::limits::PERSON_NAME_CHARS;
use db::Tx;
use model::installation::audit_log::Action;
use model::people::removed_people::was_removed;

use crate::inboxes::setup::add_person;
use crate::sign_in::provider_rules::{ProviderIdentity, ProviderRefusal, ProviderRules};
use crate::sign_in::second_step::tell;
use crate::sign_in::sessions::{FirstStep, end_other_ways_in, own_id};
use crate::sign_in::sign_in_steps::{
    SignInProgress, actor_of, go_on_after_first_step, skip_second_step,
};

db::row! {
    /// The account by which a person signs in.
    #[derive(Clone, Debug)]
    pub struct ProviderAccount from "provider_accounts" {
        /// The address when it was linked, or used last.
        pub email: String,
        pub linked_at: i64,
        pub used_at: Option<i64>,
    }
}

/// After a sign-in at the provider: a session or the second step, as after a password.
pub fn sign_in_with_provider(
    tx: &mut Tx<'_>,
    app: &App,
    rules: &ProviderRules,
    identity: &ProviderIdentity,
    next: &str,
    device: &str,
) -> Result<std::result::Result<SignInProgress, ProviderRefusal>> {
    let found = match person_of(tx, app, rules, identity)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let first = FirstStep { next: next.to_owned(), ..found };
    if identity.has_both_steps {
        return skip_second_step(tx, app, &first, device).map(Ok);
    }
    go_on_after_first_step(tx, app, &first, rules.other_ways, device).map(Ok)
}

fn person_of(
    tx: &mut Tx<'_>,
    app: &App,
    rules: &ProviderRules,
    identity: &ProviderIdentity,
) -> Result<std::result::Result<FirstStep, ProviderRefusal>> {
    if !has_allowed_domain(rules, identity) {
        return Ok(Err(ProviderRefusal::ForeignDomain));
    }
    if let Some(first) = linked_person(tx, app, identity)? {
        return Ok(Ok(first));
    }
    let Some(email) = proven_address(rules, identity) else {
        return Ok(Err(ProviderRefusal::UnprovenAddress));
    };
    let people: Vec<(i64, UserId, bool)> = tx.all(
        "SELECT ws, id, first_signed_in_at IS NULL FROM users WHERE email = ?1 ORDER BY ws LIMIT 2",
        &[email],
    )?;
    let (ws, person, is_new) = match people.as_slice() {
        [] => match join(tx, app, rules, identity, email)? {
            Ok((ws, person)) => (ws, person, true),
            Err(refusal) => return Ok(Err(refusal)),
        },
        [only] => only.clone(),
        _ => return Ok(Err(ProviderRefusal::SeveralWorkspaces)),
    };
    if account_of(tx, ws, &person, &identity.issuer)?.is_some() {
        return Ok(Err(ProviderRefusal::LinkedOtherwise));
    }
    // Somebody who has signed in here before may have what the owner of their address at the provider
    // must not see, unless the operator answers for both being one.
    if !is_new && !rules.trusts_email {
        return Ok(Err(ProviderRefusal::NotLinked));
    }
    let actor = actor_of(tx, ws, &person)?;
    if !insert(tx, &app.cx(&actor), &person, &rules.name, identity, true)? {
        return Ok(Err(ProviderRefusal::LinkedOtherwise));
    }
    Ok(Ok(FirstStep { ws, person, opens_private: true, next: String::new() }))
}

fn has_allowed_domain(rules: &ProviderRules, identity: &ProviderIdentity) -> bool {
    let domain = identity.email.as_ref().and_then(|email| email.domain());
    rules.domains.is_empty()
        || domain.is_some_and(|domain| rules.domains.iter().any(|allowed| allowed == domain))
}

fn proven_address<'i>(
    rules: &ProviderRules,
    identity: &'i ProviderIdentity,
) -> Option<&'i EmailAddress> {
    let is_proven = identity.email_verified.unwrap_or(rules.trusts_email);
    identity.email.as_ref().filter(|_| is_proven)
}

/// The person whom the account was linked to before.
fn linked_person(
    tx: &mut Tx<'_>,
    app: &App,
    identity: &ProviderIdentity,
) -> Result<Option<FirstStep>> {
    let found: Option<(i64, UserId, bool, String)> = tx.opt(
        "SELECT a.ws, a.person, a.opens_private, a.email
         FROM provider_accounts a JOIN users u ON u.ws = a.ws AND u.id = a.person
         WHERE a.issuer = ?1 AND a.subject = ?2",
        &[&identity.issuer, &identity.subject],
    )?;
    let Some((ws, person, opens_private, kept)) = found else { return Ok(None) };
    let email = identity.email.as_ref().map_or(kept.as_str(), EmailAddress::as_str);
    tx.exec(
        "UPDATE provider_accounts SET used_at = ?4, email = ?5
         WHERE ws = ?1 AND person = ?2 AND issuer = ?3",
        &[&ws, &person, &identity.issuer, &app.clock.now(), &email],
    )?;
    Ok(Some(FirstStep { ws, person, opens_private, next: String::new() }))
}

/// Adds somebody whom nobody has added, where the operator lets everybody of the provider in.
fn join(
    tx: &mut Tx<'_>,
    app: &App,
    rules: &ProviderRules,
    identity: &ProviderIdentity,
    email: &EmailAddress,
) -> Result<std::result::Result<(i64, UserId), ProviderRefusal>> {
    let unknown = || ProviderRefusal::Unknown(email.clone());
    let Some(slug) = &rules.joins else { return Ok(Err(unknown())) };
    let found: Option<(i64, WorkspaceId)> =
        tx.opt("SELECT ws, id FROM workspaces WHERE slug = ?1", &[slug])?;
    let Some((ws, workspace)) = found else { return Ok(Err(unknown())) };
    let actor = Actor::system(ws, workspace, Circle::team());
    let cx = app.cx(&actor);
    if was_removed(tx, &cx, email, &identity.issuer, &identity.subject)? {
        return Ok(Err(ProviderRefusal::Removed));
    }
    let name: String = identity.name.chars().filter(|c| !c.is_control()).collect();
    let name: String = name.trim().chars().take(PERSON_NAME_CHARS).collect();
    let name = if name.is_empty() { email.local() } else { &name };
    let name: String = name.chars().take(PERSON_NAME_CHARS).collect();
    add_person(tx, &cx, email, &name, Role::Member).map(|person| Ok((ws, person)))
}

/// Writes a link down and tells the person. `false` if the account or the person has another.
fn insert(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: &UserId,
    provider: &str,
    identity: &ProviderIdentity,
    opens_private: bool,
) -> Result<bool> {
    let email = identity.email.as_ref().map_or("", EmailAddress::as_str);
    let added = tx.exec(
        "INSERT INTO provider_accounts (
            ws, person, issuer, subject, email, linked_at, opens_private
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO NOTHING",
        &[
            &cx.actor.ws,
            person,
            &identity.issuer,
            &identity.subject,
            &email,
            &cx.now,
            &opens_private,
        ],
    )?;
    if added == 0 {
        return Ok(false);
    }
    let account = if email.is_empty() { "Your account" } else { email };
    let sentence = format!(
        "{account} at {provider} signs you in from now on. If you did not link it, unlink it under \
         Settings, Signing in."
    );
    let subject = "A sign-in provider was linked";
    tell(tx, cx, person, Action::ProviderLinked, subject, &sentence)?;
    Ok(true)
}

/// Links the account that the actor has just signed in to. It opens private inboxes where this session
/// does.
pub fn link_provider_account(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rules: &ProviderRules,
    identity: &ProviderIdentity,
) -> Result<()> {
    let me = own_id(cx)?;
    let name = &rules.name;
    if !has_allowed_domain(rules, identity) {
        return Err(Error::invalid("account", ProviderRefusal::ForeignDomain.sentence(rules)));
    }
    if own_provider_account(tx, cx, &identity.issuer)?.is_some() {
        let sentence = format!("You have linked an account at {name} already. Unlink it first.");
        return Err(Error::invalid("account", sentence));
    }
    let opens_private = cx.actor.sees(&Circle::of(me));
    if !insert(tx, cx, me, name, identity, opens_private)? {
        let sentence = format!("This account at {name} signs in somebody else already.");
        return Err(Error::invalid("account", sentence));
    }
    Ok(())
}

/// Unlinks the actor's account. Their other sessions end: one of them may have begun with it.
pub fn unlink_provider_account(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rules: &ProviderRules,
    kept: &SessionId,
) -> Result<()> {
    let me = own_id(cx)?;
    let removed = tx.exec(
        "DELETE FROM provider_accounts WHERE ws = ?1 AND person = ?2 AND issuer = ?3",
        &[&cx.actor.ws, me, &rules.issuer],
    )?;
    if removed == 0 {
        return Err(Error::NotFound("account"));
    }
    end_other_ways_in(tx, cx.actor.ws, me, Some(kept))?;
    let sentence = format!("Your account at {} does not sign you in any more.", rules.name);
    let subject = "A sign-in provider was unlinked";
    tell(tx, cx, me, Action::ProviderUnlinked, subject, &sentence)
}

/// The actor's account at the provider.
pub fn own_provider_account(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    issuer: &str,
) -> Result<Option<ProviderAccount>> {
    account_of(tx, cx.actor.ws, own_id(cx)?, issuer)
}

fn account_of(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    issuer: &str,
) -> Result<Option<ProviderAccount>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM provider_accounts WHERE ws = ?1 AND person = ?2 AND issuer = ?3",
            ProviderAccount::COLUMNS
        ),
        &[&ws, person, &issuer],
    )?)
}

/// The people of the workspace who have linked an account at the provider, with its address.
pub fn linked_people(tx: &mut Tx<'_>, cx: &Cx<'_>, issuer: &str) -> Result<Vec<(UserId, String)>> {
    cx.actor.must_administer()?;
    Ok(tx.all(
        "SELECT person, email FROM provider_accounts WHERE ws = ?1 AND issuer = ?2",
        &[&cx.actor.ws, &issuer],
    )?)
}

/// True where the workspace exists that people of the provider join.
pub fn has_workspace(tx: &mut Tx<'_>, slug: &str) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt("SELECT ws FROM workspaces WHERE slug = ?1", &[&slug])?;
    Ok(found.is_some())
}
