//! What a new workspace has done and has left to do until its team answers mail. Everything is read from what
//! is so: no step is ticked off by hand.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MailboxId};
use base::limits::FIRST_STEPS_COUNTED;
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use model::figures::report_facts::ReportMeasure;
use model::installation::scheduled_backups::scheduled_backups;
use model::mailboxes;

/// The state of the first steps, for owners and admins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FirstSteps {
    pub created_at: i64,
    /// The first inbox of the team, with its address.
    pub inbox: Option<(MailboxId, String)>,
    /// Mail of an inbox is fetched from a mailbox.
    pub fetches: bool,
    /// Why the first fetched inbox fails, if it does.
    pub fetch_error: Option<String>,
    /// The newest mail that arrived.
    pub arrived: Option<ArrivedMail>,
    /// How the last test mail did.
    pub test_mail: Option<StepOutcome>,
    /// What the last look at the DNS records found.
    pub records: Option<StepOutcome>,
    /// People on the team, counted up to a limit.
    pub people: i64,
    /// A message of the team's inboxes has left.
    pub has_answered: bool,
    pub has_key: bool,
    /// An agent has called.
    pub has_agent: bool,
    /// When scheduled backups are written.
    pub backups: Option<String>,
    /// Somebody put the page away.
    pub is_over: bool,
}

string_enum! {
    /// A step whose outcome is remembered.
    FirstStepTrial { TestMail = "test-mail", Records = "records" }
}

db::row! {
    /// How a step went when it was tried last.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct StepOutcome from "first_step_outcomes" {
        pub at: i64,
        pub good: bool,
        /// What was tried: a domain, or an address.
        pub detail: String,
    }
}

db::row! {
    /// A conversation that began with a mail.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct ArrivedMail from "c" {
        pub id: ConversationId,
        pub subject: String,
        pub contact_email: Option<String>,
        pub at: i64 = "c.last_message_at",
    }
}

/// Asked once for each view of the page, and by lists while the page is not put away. Each statement
/// reads a bounded number of rows, however much mail there is.
pub fn first_steps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<FirstSteps> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    let (created_at, over): (i64, Option<Moment>) =
        tx.one("SELECT created_at, first_steps_over_at FROM workspaces WHERE ws = ?1", &[&ws])?;
    let first: Option<(MailboxId, String)> = tx.opt(
        "SELECT id, address FROM mailboxes WHERE ws = ?1 AND circle = 'team'
         ORDER BY created_at, id LIMIT 1",
        &[&ws],
    )?;
    let seen = mailboxes::all_seen_by(tx, cx.actor)?;
    let accounts: Vec<(MailboxId, Option<String>)> = tx.all(
        "SELECT mailbox, last_error FROM imap_accounts WHERE ws = ?1 ORDER BY created_at",
        &[&ws],
    )?;
    let own = |(id, _): &&(MailboxId, Option<String>)| seen.iter().any(|inbox| inbox.id == *id);
    let fetched = accounts.iter().find(own);
    let (people,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT id FROM users WHERE ws = ?1 LIMIT ?2
         ) AS counted",
        &[&ws, &FIRST_STEPS_COUNTED],
    )?;
    let (has_key, has_agent) = agents(tx, ws)?;
    Ok(FirstSteps {
        created_at,
        inbox: first,
        fetches: fetched.is_some(),
        fetch_error: fetched.and_then(|(_, error)| error.clone()),
        arrived: newest(tx, cx)?,
        test_mail: outcome_of(tx, ws, FirstStepTrial::TestMail)?,
        records: outcome_of(tx, ws, FirstStepTrial::Records)?,
        people,
        has_answered: has_answered(tx, ws)?,
        has_key,
        has_agent,
        backups: scheduled_backups(tx)?.timing,
        is_over: over.is_some(),
    })
}

impl FirstSteps {
    /// Something of the team's inboxes has left, or a test mail has.
    pub fn has_sent(&self) -> bool {
        self.has_answered || self.test_mail.as_ref().is_some_and(|tried| tried.good)
    }

    pub fn has_records(&self) -> bool {
        self.records.as_ref().is_some_and(|found| found.good)
    }
}

/// The newest open conversation of the team: the first mail of a new workspace is one.
fn newest(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Option<ArrivedMail>> {
    for view in ["open", "leaving", "waiting", "closed"] {
        let found: Option<ArrivedMail> = tx.opt(
            &format!(
                "SELECT {} FROM conversations c
                 WHERE c.ws = ?1 AND c.circle = 'team' AND c.view = ?2
                 ORDER BY c.last_message_at DESC, c.id DESC LIMIT 1",
                ArrivedMail::COLUMNS
            ),
            &[&cx.actor.ws, &view],
        )?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn outcome_of(tx: &mut Tx<'_>, ws: i64, step: FirstStepTrial) -> Result<Option<StepOutcome>> {
    let columns = StepOutcome::COLUMNS;
    let sql = format!("SELECT {columns} FROM first_step_outcomes WHERE ws = ?1 AND step = ?2");
    Ok(tx.opt(&sql, &[&ws, &step])?)
}

/// Remembers how a step went. Once it went well it stays so until it is tried again.
pub fn record_outcome(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    step: FirstStepTrial,
    good: bool,
    detail: &str,
) -> Result<()> {
    tx.exec("DELETE FROM first_step_outcomes WHERE ws = ?1 AND step = ?2", &[&cx.actor.ws, &step])?;
    tx.exec(
        "INSERT INTO first_step_outcomes (ws, step, at, good, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[&cx.actor.ws, &step, &cx.now, &good, &detail],
    )?;
    Ok(())
}

/// Reports count each message that left, by day.
fn has_answered(tx: &mut Tx<'_>, ws: i64) -> Result<bool> {
    let found: Option<(i64,)> = tx.opt(
        "SELECT n FROM report_days WHERE ws = ?1 AND circle = 'team' AND measure = ?2 LIMIT 1",
        &[&ws, &ReportMeasure::Sent],
    )?;
    Ok(found.is_some())
}

/// Whether there is a key or a connected app, and whether one of them has called.
fn agents(tx: &mut Tx<'_>, ws: i64) -> Result<(bool, bool)> {
    let used: Vec<(bool,)> = tx.all(
        "SELECT last_used_at IS NOT NULL FROM agents WHERE ws = ?1 AND revoked_at IS NULL LIMIT ?2",
        &[&ws, &FIRST_STEPS_COUNTED],
    )?;
    Ok((!used.is_empty(), used.iter().any(|(is_used,)| *is_used)))
}

/// Puts the page of first steps away, for everybody.
pub fn end_first_steps(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    cx.actor.must_administer()?;
    tx.exec(
        "UPDATE workspaces SET first_steps_over_at = coalesce(first_steps_over_at, ?2) WHERE ws = ?1",
        &[&cx.actor.ws, &cx.now],
    )?;
    Ok(())
}
