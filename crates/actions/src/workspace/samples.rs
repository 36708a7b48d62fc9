//! The sample of a workspace: a second workspace with made-up mail, which is looked around in and deleted
//! in one click.

use base::actor::{Actor, Circle, Role};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::{UserId, WorkspaceId};
use base::workspaces::samples::SAMPLE_OF_NONE;
use db::Tx;
use model::erasure::deletions::{self, DeletionCounts};
use model::figures::counting_turns::take_turns;
use model::installation::audit_log::{self, Action};

use crate::inboxes::inbox_access::is_owner;
use crate::sign_in::sessions::{self, SignedIn};

/// Characters of chance in the names of a sample, so that nobody finds its pages by guessing.
const SLUG_CHARS: usize = 16;
const ONE_SAMPLE: &str = "There is a sample already; go in, or delete it.";

db::row! {
    /// A sample as its workspace sees it.
    #[derive(Clone, Debug)]
    pub struct SampleListing from "workspaces" {
        pub ws: i64,
        pub id: WorkspaceId,
        pub created_at: i64,
    }
}

/// Begins a transaction that makes the sample of a workspace, or has to see the one that another makes meanwhile.
pub fn take_sample_turn(tx: &mut Tx<'_>, of: i64) -> Result<()> {
    take_turns(tx, &[(of, "sample")])
}

/// Marks a workspace that was just made as a sample, and gives it a name that cannot be guessed.
pub fn mark_sample(tx: &mut Tx<'_>, cx: &Cx<'_>, made: &WorkspaceId, of: i64) -> Result<()> {
    let slug = format!("sample-{}", cx.ids.token(SLUG_CHARS));
    tx.exec("UPDATE workspaces SET sample_of = ?2, slug = ?3 WHERE id = ?1", &[made, &of, &slug])?;
    // An address belongs to one workspace, and that of the next sample's sandbox is the same.
    tx.exec(
        "UPDATE mailboxes SET address = ?2
         WHERE circle = 'sandbox' AND ws = (SELECT ws FROM workspaces WHERE id = ?1)",
        &[made, &format!("sandbox@{slug}.test")],
    )?;
    // So does the address of help pages, which were opened under the name that it had.
    tx.exec(
        "UPDATE help_sites SET path = ?2 WHERE ws = (SELECT ws FROM workspaces WHERE id = ?1)",
        &[made, &slug],
    )?;
    Ok(())
}

/// The sample that was made in a workspace.
pub fn find_sample(tx: &mut Tx<'_>, of: i64) -> Result<Option<SampleListing>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM workspaces WHERE sample_of = ?1 AND deleted_at IS NULL
             ORDER BY ws LIMIT 1",
            SampleListing::COLUMNS
        ),
        &[&of],
    )?)
}

/// The sample of the actor's workspace, for owners and admins.
pub fn own_sample(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<SampleListing>> {
    cx.actor.must_administer()?;
    find_sample(tx, cx.actor.ws)
}

/// Refuses a second sample, and one within a sample.
pub fn must_have_room(tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn) -> Result<()> {
    cx.actor.must_administer()?;
    if me.sample.is_some() {
        return Err(Error::Forbidden("This is a sample already.".into()));
    }
    match find_sample(tx, cx.actor.ws)? {
        Some(_) => Err(Error::invalid("sample", ONE_SAMPLE)),
        None => Ok(()),
    }
}

/// Writes down who made the sample.
pub fn record_made(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    audit_log::record(tx, cx, &Circle::team(), Action::SampleMade, "", "")
}

/// Begins a session of the sample's owner; answers its token.
pub fn enter_sample(tx: &mut Tx<'_>, app: &App, of: i64, device: &str) -> Result<String> {
    let sample = find_sample(tx, of)?.ok_or(Error::NotFound("sample"))?;
    begin_owner_session(tx, app, sample.ws, device)
}

/// Begins a session of the first owner of a workspace; answers its token.
pub fn begin_owner_session(tx: &mut Tx<'_>, app: &App, ws: i64, device: &str) -> Result<String> {
    let (owner,): (UserId,) = tx.one(
        "SELECT id FROM users WHERE ws = ?1 AND role = ?2 ORDER BY created_at, id LIMIT 1",
        &[&ws, &Role::Owner],
    )?;
    sessions::begin_session(tx, &app.ids, app.clock.now(), ws, &owner, device, true)
}

/// The sample that was looked at before there was any workspace belongs to the first one.
pub fn adopt_sample(tx: &mut Tx<'_>, ws: i64) -> Result<()> {
    tx.exec(
        "UPDATE workspaces SET sample_of = ?1 WHERE sample_of = ?2 AND ends_at IS NULL",
        &[&ws, &SAMPLE_OF_NONE],
    )?;
    Ok(())
}

/// Deletes the sample of the actor's workspace, for an owner. What is in it is erased by a job.
pub fn delete_sample(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    if !is_owner(cx) {
        return Err(Error::Forbidden("Only an owner can delete the sample.".into()));
    }
    let sample = own_sample(tx, cx)?.ok_or(Error::NotFound("sample"))?;
    end_sample(tx, cx, &sample)?;
    audit_log::record(tx, cx, &Circle::team(), Action::SampleDeleted, "", "")
}

fn end_sample(tx: &mut Tx<'_>, cx: &Cx<'_>, sample: &SampleListing) -> Result<()> {
    let actor = Actor::system(sample.ws, sample.id.clone(), Circle::team());
    let cx = &Cx { actor: &actor, ..*cx };
    let counts = DeletionCounts::of_workspace(tx, cx)?;
    deletions::begin_workspace(tx, cx, &counts)
}

/// The number of a workspace.
pub fn number_of(tx: &mut Tx<'_>, id: &WorkspaceId) -> Result<i64> {
    let (ws,): (i64,) = tx.one("SELECT ws FROM workspaces WHERE id = ?1", &[id])?;
    Ok(ws)
}

/// Lets all samples of a kind end at once.
pub fn end_all(tx: &mut Tx<'_>, of: i64, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE workspaces SET ends_at = ?2 WHERE sample_of = ?1 AND deleted_at IS NULL",
        &[&of, &now],
    )?;
    Ok(())
}

/// The samples of a kind that have no end yet.
pub fn without_end(tx: &mut Tx<'_>, of: i64) -> Result<Vec<i64>> {
    let found: Vec<(i64,)> = tx.all(
        "SELECT ws FROM workspaces
         WHERE sample_of = ?1 AND ends_at IS NULL AND deleted_at IS NULL ORDER BY ws",
        &[&of],
    )?;
    Ok(found.into_iter().map(|(ws,)| ws).collect())
}

/// A sample for a visitor of a public demo, and when it ends.
pub fn end_at(tx: &mut Tx<'_>, ws: i64, ends_at: i64) -> Result<()> {
    tx.exec(
        "UPDATE workspaces SET ends_at = ?2 WHERE ws = ?1 AND sample_of IS NOT NULL",
        &[&ws, &ends_at],
    )?;
    Ok(())
}

/// Deletes samples whose time is over, so many at most; answers how many.
pub fn end_due_samples(tx: &mut Tx<'_>, app: &App, most: i64) -> Result<usize> {
    let due: Vec<SampleListing> = tx.all(
        &format!(
            "SELECT {} FROM workspaces
             WHERE ends_at <= ?1 AND sample_of IS NOT NULL AND deleted_at IS NULL
             ORDER BY ends_at LIMIT ?2",
            SampleListing::COLUMNS
        ),
        &[&app.clock.now(), &most],
    )?;
    let operator = Actor::operator(&app.ids);
    for sample in &due {
        end_sample(tx, &app.cx(&operator), sample)?;
        tx.exec("UPDATE workspaces SET ends_at = NULL WHERE ws = ?1", &[&sample.ws])?;
    }
    Ok(due.len())
}

/// Samples that have an end and are still there.
pub fn count_visits(tx: &mut Tx<'_>) -> Result<i64> {
    let (count,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM workspaces WHERE ends_at IS NOT NULL", &[])?;
    Ok(count)
}

/// When the next sample ends.
pub fn next_end(tx: &mut Tx<'_>) -> Result<Option<i64>> {
    let (next,): (Option<i64>,) =
        tx.one("SELECT min(ends_at) FROM workspaces WHERE ends_at IS NOT NULL", &[])?;
    Ok(next)
}
