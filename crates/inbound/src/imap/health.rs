//! The health of IMAP fetching: successful rounds, errors and their backoff, skipped mails, and the
//! notices to the owners.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::limits::{DAY_MS, FETCHING_FAILED_MS, MINUTE_MS, duration};
use db::Tx;
use model::people::notices::{Notice, notify_responsible};

use super::ImapAccount;

/// The backoff after the first error; it doubles with each further one.
const FIRST_WAIT_MS: i64 = 10_000;
const LONGEST_WAIT_MS: i64 = 10 * MINUTE_MS;
/// Servers lock out clients that try a wrong password too often.
const FIRST_WAIT_REFUSED_MS: i64 = 5 * MINUTE_MS;
const LONGEST_WAIT_REFUSED_MS: i64 = 60 * MINUTE_MS;
/// The jitter of waits in percent, so that many inboxes do not connect at once.
const VARIES_BY: i64 = 20;

/// When an account is due that is not fetched again by itself: in the year 9999.
const NOT_BY_ITSELF: i64 = 253_370_764_800_000;

const UNREADABLE: &str = "How this inbox is fetched cannot be read from the database. Set it up \
    again under Settings, Inboxes.";

/// Why mail could not be fetched, as a sentence for the people who run the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchFailure {
    pub sentence: String,
    pub kind: FetchFailureKind,
}

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchFailureKind {
    /// It may pass by itself.
    Passing,
    /// The server does not let us in.
    Refused,
    /// The provider ended the grant: nothing helps until somebody signs in again.
    SignInOver,
}

impl FetchFailure {
    pub fn is_refused(&self) -> bool {
        self.kind != FetchFailureKind::Passing
    }
}

/// Records a successful round: all mail was fetched.
pub fn note_round(tx: &mut Tx<'_>, cx: &Cx<'_>, account: &ImapAccount) -> Result<bool> {
    let found: Option<(bool,)> = tx.opt(
        "SELECT owners_told FROM imap_accounts WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[&cx.actor.ws, &account.inbox.mailbox.id, &account.holder],
    )?;
    let Some((told,)) = found else { return Ok(false) };
    tx.exec(
        "UPDATE imap_accounts SET failures = 0, failing_since = NULL, owners_told = FALSE,
            last_error = NULL, last_fetched_at = ?3
         WHERE ws = ?1 AND mailbox = ?2",
        &[&cx.actor.ws, &account.inbox.mailbox.id, &cx.now],
    )?;
    if told {
        let address = &account.inbox.mailbox.address;
        let subject = format!("Mail for {address} is fetched again");
        let text = format!(
            "Mail for {address} is fetched again from {}. Whatever came in the meantime is in the \
             inbox now.\n\nService: {}\n",
            account.host, cx.public_url
        );
        tell(tx, cx, account, &subject, &text)?;
    }
    Ok(true)
}

/// Records a failed round: it is retried after a backoff, and after an hour of failures the owners
/// get one notice.
pub fn note_failure(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    account: &ImapAccount,
    trouble: &FetchFailure,
) -> Result<()> {
    let found: Option<(i64, Option<i64>, bool)> = tx.opt(
        "SELECT failures, failing_since, owners_told FROM imap_accounts
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[&cx.actor.ws, &account.inbox.mailbox.id, &account.holder],
    )?;
    let Some((failures, since, told)) = found else { return Ok(()) };
    let since = since.unwrap_or(cx.now);
    let is_over = trouble.kind == FetchFailureKind::SignInOver;
    let tell_now = !told && (is_over || cx.now - since >= FETCHING_FAILED_MS);
    let next_attempt_at = match is_over {
        true => NOT_BY_ITSELF,
        false => {
            let wait = wait_after(failures + 1, trouble.is_refused());
            cx.now + wait * cx.ids.between(100 - VARIES_BY, 100 + VARIES_BY) / 100
        }
    };
    tx.exec(
        "UPDATE imap_accounts SET failures = failures + 1, failing_since = ?3, last_error = ?4,
            owners_told = ?5, holder = '', next_attempt_at = ?6
         WHERE ws = ?1 AND mailbox = ?2",
        &[
            &cx.actor.ws,
            &account.inbox.mailbox.id,
            &since,
            &trouble.sentence,
            &(told || tell_now),
            &next_attempt_at,
        ],
    )?;
    if tell_now && is_over {
        tell_sign_in(tx, cx, account, trouble)?;
    } else if tell_now {
        let address = &account.inbox.mailbox.address;
        let subject = format!("Mail for {address} cannot be fetched");
        let text = format!(
            "For {time} now no mail for {address} could be fetched from {host}.\n\n\
             {sentence}\n\nIt is tried again and again; mail waits there until then. To change the \
             server, user or password: {service}/settings/inboxes\n\n\
             Service: {service}\n",
            time = duration(FETCHING_FAILED_MS),
            host = account.host,
            sentence = trouble.sentence,
            service = cx.public_url,
        );
        tell(tx, cx, account, &subject, &text)?;
    }
    Ok(())
}

/// Leaves a server alone for as long as it asks, which is no failure. False where no round went well for
/// a long time, or the lease was lost.
pub fn stay_away(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    account: &ImapAccount,
    wait_ms: i64,
) -> Result<bool> {
    let put_off = tx.exec(
        "UPDATE imap_accounts SET holder = '', next_attempt_at = ?4
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3
           AND coalesce(last_fetched_at, created_at) > ?5",
        &[
            &cx.actor.ws,
            &account.inbox.mailbox.id,
            &account.holder,
            &(cx.now + wait_ms),
            &(cx.now - FETCHING_FAILED_MS),
        ],
    )?;
    Ok(put_off == 1)
}

/// Asks the owners to sign in again, which nothing else replaces.
fn tell_sign_in(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    account: &ImapAccount,
    trouble: &FetchFailure,
) -> Result<()> {
    let mailbox = &account.inbox.mailbox;
    let subject = format!("Sign in again for {}", mailbox.address);
    let text = format!(
        "No mail for {address} is fetched, and none is sent from it.\n\n{sentence}\n\nOne click \
         there is enough, by somebody who may use the mailbox: {service}/settings/inboxes/{id}\n\n\
         Service: {service}\n",
        address = mailbox.address,
        sentence = trouble.sentence,
        service = cx.public_url,
        id = mailbox.id,
    );
    tell(tx, cx, account, &subject, &text)
}

/// An inbox whose row cannot be read gets the backoff of any other error.
pub(super) fn note_unreadable(tx: &mut Tx<'_>, ws: i64, mailbox: &str, now: i64) -> Result<()> {
    let (failures,): (i64,) = tx.one(
        "UPDATE imap_accounts SET failures = failures + 1,
            failing_since = coalesce(failing_since, ?3), last_error = ?4, holder = ''
         WHERE ws = ?1 AND mailbox = ?2
         RETURNING failures",
        &[&ws, &mailbox, &now, &UNREADABLE],
    )?;
    tx.exec(
        "UPDATE imap_accounts SET next_attempt_at = ?3 WHERE ws = ?1 AND mailbox = ?2",
        &[&ws, &mailbox, &(now + wait_after(failures, false))],
    )?;
    Ok(())
}

/// The backoff after this many consecutive failures, without jitter.
fn wait_after(failures: i64, refused: bool) -> i64 {
    let (first, longest) = match refused {
        true => (FIRST_WAIT_REFUSED_MS, LONGEST_WAIT_REFUSED_MS),
        false => (FIRST_WAIT_MS, LONGEST_WAIT_MS),
    };
    (first << (failures - 1).clamp(0, 20)).min(longest)
}

/// Releases an inbox's lease: its next round is due at once, for any process.
pub fn let_go(tx: &mut Tx<'_>, account: &ImapAccount, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE imap_accounts SET holder = '', next_attempt_at = ?4
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &account.holder, &now],
    )?;
    tx.wake(Queue::Imap);
    Ok(())
}

/// Counts a failed download of a mail.
pub fn note_stuck(tx: &mut Tx<'_>, account: &ImapAccount, uid: i64) -> Result<()> {
    tx.exec(
        "UPDATE imap_accounts SET stuck_uid = ?4,
            stuck_attempts = CASE WHEN stuck_uid = ?4 THEN stuck_attempts + 1 ELSE 1 END
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[&account.inbox.ws, &account.inbox.mailbox.id, &account.holder, &uid],
    )?;
    Ok(())
}

/// Skips a mail that cannot be downloaded, and sends the owners a notice, at most once a day.
pub fn note_skipped(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    account: &ImapAccount,
    uid: i64,
    why: &str,
) -> Result<bool> {
    let moved = tx.exec(
        "UPDATE imap_accounts SET last_uid = ?4
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3 AND last_uid < ?4",
        &[&cx.actor.ws, &account.inbox.mailbox.id, &account.holder, &uid],
    )?;
    if moved == 0 {
        return Ok(false);
    }
    let sentence = format!("The mail with the number {uid} in {}: {why}", account.folder);
    note_passed_over(tx, cx, account, &sentence)
}

/// Counts a mail that is not fetched, and sends the owners a notice, at most once a day.
pub fn note_passed_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    account: &ImapAccount,
    sentence: &str,
) -> Result<bool> {
    let found: Option<(Option<i64>,)> = tx.opt(
        "SELECT skipped_told_at FROM imap_accounts
         WHERE ws = ?1 AND mailbox = ?2 AND holder = ?3",
        &[&cx.actor.ws, &account.inbox.mailbox.id, &account.holder],
    )?;
    let Some((told_at,)) = found else { return Ok(false) };
    let tell_now = told_at.is_none_or(|at| cx.now - at >= DAY_MS);
    tx.exec(
        "UPDATE imap_accounts SET skipped = skipped + 1, last_skipped = ?3, skipped_told_at = ?4
         WHERE ws = ?1 AND mailbox = ?2",
        &[
            &cx.actor.ws,
            &account.inbox.mailbox.id,
            &sentence,
            &if tell_now { Some(cx.now) } else { told_at },
        ],
    )?;
    if tell_now {
        let address = &account.inbox.mailbox.address;
        let text = format!(
            "A mail to {address} is not in the inbox: it stays on {}, where you can read it.\n\n\
             {sentence}\n\nFurther ones of today are counted in `mailroom mailbox list`.\n\n\
             Service: {}\n",
            account.host, cx.public_url
        );
        tell(tx, cx, account, &format!("A mail to {address} was not fetched"), &text)?;
    }
    Ok(true)
}

/// How many inboxes cannot be fetched at present.
pub fn failing(tx: &mut Tx<'_>) -> Result<i64> {
    let (failing,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM imap_accounts WHERE failing_since IS NOT NULL",
        &[],
    )?;
    Ok(failing)
}

fn tell(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    account: &ImapAccount,
    subject: &str,
    text: &str,
) -> Result<()> {
    notify_responsible(tx, cx, &account.inbox.mailbox.circle, &Notice { subject, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_longest_one() {
        let waits: Vec<i64> = (1..10).map(|failures| wait_after(failures, false) / 1_000).collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 600, 600, 600]);
        let waits: Vec<i64> =
            (1..7).map(|failures| wait_after(failures, true) / MINUTE_MS).collect();
        assert_eq!(waits, [5, 10, 20, 40, 60, 60]);
        assert_eq!(wait_after(i64::MAX, false), LONGEST_WAIT_MS);
    }
}
