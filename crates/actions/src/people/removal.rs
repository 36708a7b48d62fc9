//! Removing a person from the workspace.

use base::actor::{Circle, Principal, Role};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId, MailboxId, UserId, WebhookId};
use base::limits::thousands;
use db::Tx;
use model::conversations;
use model::erasure::deletions;
use model::installation::audit_log::{self, Action};
use model::mailboxes::inbox_access;
use model::people::agent_limits::pausing;
use model::people::owners::hold_owners;
use model::people::removed_people::remember_removed;
use model::webhooks::registration::forget_webhook;

/// Conversations that are given back at once.
const GIVEN_BACK: i64 = 1_000;

/// Removes a person permanently. Their sessions end, their keys are revoked, their conversations
/// become unassigned. They are no longer booked, and the feed of their bookings ends. Their private
/// inboxes are closed: nobody can read them, and their addresses become free. Their webhooks for
/// team events pass to the person who removes them, or to the oldest owner when that is the
/// operator.
pub fn remove_person(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    cx.actor.must_administer()?;
    let found: Option<(String, String, Role)> = tx.opt(
        "SELECT name, email, role FROM users WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, person],
    )?;
    let (name, email, role) = found.ok_or(Error::NotFound("person"))?;
    may_remove(tx, cx, person, role)?;
    must_have_no_appointments(tx, cx, person)?;
    give_back(tx, cx, person)?;
    revoke_agents(tx, cx, person)?;
    inbox_access::unassign(tx, cx.actor.ws, person.as_str())?;
    pass_on_webhooks(tx, cx, person)?;
    close_inboxes(tx, cx, person)?;
    remember_removed(tx, cx, person, &EmailAddress::new(&email))?;
    for sql in [
        "DELETE FROM sessions WHERE ws = ?1 AND person = ?2",
        "DELETE FROM push_messages WHERE ws = ?1 AND subscription IN (
             SELECT id FROM push_subscriptions WHERE ws = ?1 AND person = ?2
         )",
        "DELETE FROM push_subscriptions WHERE ws = ?1 AND person = ?2",
        "DELETE FROM notice_facts WHERE ws = ?1 AND person = ?2",
        "DELETE FROM notice_choices WHERE ws = ?1 AND person = ?2",
        "DELETE FROM notice_settings WHERE ws = ?1 AND person = ?2",
        "DELETE FROM approval_links WHERE ws = ?1 AND person = ?2",
        "DELETE FROM report_recipients WHERE ws = ?1 AND person = ?2",
        "DELETE FROM notice_pace WHERE ws = ?1 AND person = ?2",
        "DELETE FROM sign_in_links WHERE ws = ?1 AND person = ?2",
        "DELETE FROM passwords WHERE ws = ?1 AND person = ?2",
        "DELETE FROM passkeys WHERE ws = ?1 AND person = ?2",
        "DELETE FROM provider_accounts WHERE ws = ?1 AND person = ?2",
        "DELETE FROM totp_secrets WHERE ws = ?1 AND person = ?2",
        "DELETE FROM recovery_codes WHERE ws = ?1 AND person = ?2",
        // What they typed when they were signed out is in workspace 0.
        "DELETE FROM sign_in_steps WHERE ws IN (0, ?1) AND person = ?2",
        "DELETE FROM autosaves WHERE ws = ?1 AND person = ?2",
        "DELETE FROM read_marks WHERE ws = ?1 AND person = ?2",
        "DELETE FROM picture_senders WHERE ws = ?1 AND person = ?2",
        "DELETE FROM mentions WHERE ws = ?1 AND person = ?2",
        "DELETE FROM pins WHERE ws = ?1 AND person = ?2",
        "DELETE FROM followers WHERE ws = ?1 AND person = ?2",
        "DELETE FROM contact_notes WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM contact_fields WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM company_fields WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM contact_addresses WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM team_members WHERE ws = ?1 AND person = ?2",
        "DELETE FROM mailbox_access WHERE ws = ?1 AND holder = ?2",
        "DELETE FROM sorter_examples WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM sorter_revisions WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM answered_mail WHERE ws = ?1 AND circle = ?2",
        "DELETE FROM answer_versions WHERE ws = ?1 AND answer IN (
             SELECT id FROM answers WHERE ws = ?1 AND circle = ?2
         )",
        "DELETE FROM answers WHERE ws = ?1 AND circle = ?2",
        // A time that is held with them cannot be proven any more.
        "DELETE FROM host_bookings WHERE ws = ?1 AND booking IN (
             SELECT booking FROM host_bookings
             WHERE ws = ?1 AND person = ?2 AND holds_until IS NOT NULL
         )",
        "DELETE FROM host_bookings WHERE ws = ?1 AND person = ?2",
        "DELETE FROM booking_hosts WHERE ws = ?1 AND person = ?2",
        "DELETE FROM host_dates WHERE ws = ?1 AND person = ?2",
        "DELETE FROM host_stays WHERE ws = ?1 AND person = ?2",
        "DELETE FROM busy_times WHERE ws = ?1 AND person = ?2",
        "DELETE FROM busy_calendars WHERE ws = ?1 AND person = ?2",
        "DELETE FROM hosts WHERE ws = ?1 AND person = ?2",
        "DELETE FROM users WHERE ws = ?1 AND id = ?2",
    ] {
        tx.exec(sql, &[&cx.actor.ws, person])?;
    }
    audit_log::record(tx, cx, &Circle::team(), Action::PersonRemoved, &name, &email)
}

/// Only an owner, or the operator at the machine, removes owners. One owner always stays, and nobody
/// removes themselves.
fn may_remove(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId, role: Role) -> Result<()> {
    if let Principal::Person { id, .. } = &cx.actor.who
        && id == person
    {
        let sentence = "You cannot remove yourself. Ask another owner or admin.";
        return Err(Error::Forbidden(sentence.into()));
    }
    if role != Role::Owner {
        return Ok(());
    }
    match &cx.actor.who {
        Principal::Person { role: Role::Owner, .. } | Principal::System => {}
        _ => return Err(Error::Forbidden("Only an owner can remove an owner.".into())),
    }
    let owners = hold_owners(tx, cx.actor.ws)?;
    // Whoever removes an owner may have been removed by them a moment ago.
    if owners.iter().all(|owner| owner == person) {
        let sentence = "The last owner cannot be removed. Add another owner first.";
        return Err(Error::Forbidden(sentence.into()));
    }
    Ok(())
}

/// Guests expect them: somebody has to move or cancel what is ahead.
fn must_have_no_appointments(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    let (ahead,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM host_bookings
         WHERE ws = ?1 AND person = ?2 AND pad_to > ?3 AND ends_at > ?3 AND holds_until IS NULL",
        &[&cx.actor.ws, person, &cx.now],
    )?;
    let sentence = match ahead {
        0 => return Ok(()),
        1 => "has an appointment ahead; move it to somebody else or cancel it first".to_owned(),
        _ => format!("has {ahead} appointments ahead; move or cancel them first"),
    };
    Err(Error::invalid("person", sentence))
}

/// The oldest of the other owners.
fn oldest_owner(tx: &mut Tx<'_>, cx: &Cx<'_>, except: &UserId) -> Result<Option<UserId>> {
    let found: Option<(UserId,)> = tx.opt(
        "SELECT id FROM users WHERE ws = ?1 AND role = 'owner' AND id <> ?2
         ORDER BY created_at, id LIMIT 1",
        &[&cx.actor.ws, except],
    )?;
    Ok(found.map(|(id,)| id))
}

/// Their conversations become unassigned; closed ones cause no event.
fn give_back(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    for view in ["open", "leaving", "waiting", "snoozed"] {
        let assigned: Vec<(ConversationId,)> = tx.all(
            "SELECT id FROM conversations
             WHERE ws = ?1 AND circle = 'team' AND assignee = ?2 AND view = ?3 LIMIT ?4",
            &[&cx.actor.ws, person, &view, &(GIVEN_BACK + 1)],
        )?;
        if assigned.len() as i64 > GIVEN_BACK {
            let sentence = format!(
                "has more than {} conversations to answer; give them to others first",
                thousands(GIVEN_BACK as usize)
            );
            return Err(Error::invalid("person", sentence));
        }
        for (id,) in assigned {
            let conversation = conversations::load(tx, cx.actor, id.as_str())?;
            conversations::assign(tx, cx, &conversation, None)?;
        }
    }
    tx.exec(
        "UPDATE conversations SET assignee = ''
         WHERE ws = ?1 AND circle = 'team' AND assignee = ?2 AND view = 'closed'",
        &[&cx.actor.ws, person],
    )?;
    Ok(())
}

/// Revokes the keys and apps of a person, and stops what these have under way.
fn revoke_agents(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    let agents: Vec<(AgentId,)> = tx.all(
        "SELECT id FROM agents WHERE ws = ?1 AND made_by = ?2 AND revoked_at IS NULL",
        &[&cx.actor.ws, person],
    )?;
    tx.exec(
        "UPDATE agents SET revoked_at = ?3
         WHERE ws = ?1 AND made_by = ?2 AND revoked_at IS NULL",
        &[&cx.actor.ws, person, &cx.now],
    )?;
    for (agent,) in agents {
        pausing::stop_what_waits(tx, cx, &agent)?;
    }
    Ok(())
}

fn pass_on_webhooks(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    let private: Vec<(WebhookId,)> = tx.all(
        "SELECT id FROM webhooks WHERE ws = ?1 AND circle = ?2",
        &[&cx.actor.ws, &Circle::of(person)],
    )?;
    for (id,) in private {
        forget_webhook(tx, cx, &id)?;
    }
    let heir = match &cx.actor.who {
        Principal::Person { id, .. } => Some(id.clone()),
        _ => oldest_owner(tx, cx, person)?,
    };
    if let Some(heir) = heir {
        tx.exec(
            "UPDATE webhooks SET made_by = ?3 WHERE ws = ?1 AND made_by = ?2",
            &[&cx.actor.ws, person, &heir],
        )?;
    }
    Ok(())
}

/// Closes the private inboxes. Nobody can read them; an owner deletes what is in them.
fn close_inboxes(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<()> {
    let private: Vec<(MailboxId,)> = tx.all(
        "SELECT id FROM mailboxes WHERE ws = ?1 AND circle = ?2",
        &[&cx.actor.ws, &Circle::of(person)],
    )?;
    for (id,) in private {
        deletions::close_inbox(tx, cx.actor.ws, &id)?;
    }
    Ok(())
}
