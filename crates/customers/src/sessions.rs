//! Proving an address: the code, the same answer whether the address is known or not, and the session of the browser
//! that entered it.
//!
//! Customers read these texts.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::limits::{CODE_MS, GUEST_SESSION_IDLE_MS, GUEST_SESSION_MS, WRONG_CODES_PER_DAY};
use db::Tx;
use model::guests::guest_tokens::GuestTokenHash;
use model::people::notices::{self, CustomerNotice, Notice};
use model::people::one_time_codes::{self, CodeEntry, CodeHolder, CodeRequest};
use model::times::local_times::LocalTimes;
use translation::t;

use crate::conversations;
use crate::workspace::CustomerWorkspace;

/// A browser whose reader has proven an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomerSession {
    pub email: EmailAddress,
    /// When it ends if nothing more is read.
    pub ends_at: i64,
}

fn purpose(email: &EmailAddress) -> String {
    format!("own page {email}")
}

/// Mails a code where the workspace has something of the address. Whether it does cannot be told from the
/// answer, which is when the next code can be asked for, if there were enough.
pub fn request_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    workspace: &CustomerWorkspace,
    email: &EmailAddress,
    (browser, place): (GuestTokenHash, &str),
) -> Result<Option<i64>> {
    let purpose = purpose(email);
    let holder = CodeHolder { purpose: &purpose, email: email.as_str(), browser, place };
    let code = match one_time_codes::request(tx, cx, &holder)? {
        CodeRequest::Wait(until) => return Ok(Some(until)),
        CodeRequest::Issued(code) => code,
    };
    let Some((mailbox, circle)) = conversations::inbox_for(tx, workspace, email)? else {
        return Ok(None);
    };
    let times = LocalTimes::of(tx, workspace.ws, &mailbox)?;
    let text = code_text(&code, &times.clock(cx.now + CODE_MS), &workspace.name);
    let notice = CustomerNotice {
        mailbox: &mailbox,
        from_name: &workspace.name,
        email: email.as_str(),
        answers: None,
        conversation: None,
        calendar: None,
        notice: Notice { subject: &code_subject(&workspace.name), text: &text },
    };
    notices::write_to_customer(tx, cx, &circle, &notice)?;
    Ok(None)
}

/// The subject of the mail with a code, which the page names.
pub fn code_subject(firm: &str) -> String {
    t!("Your code for {firm}", firm)
}

/// The code is in no subject, and there is no link beside it.
fn code_text(code: &str, until: &str, firm: &str) -> String {
    let code = t!("Your code: {code}", code);
    let how = t!(
        "Enter it on the page that you have open. It is valid until {until}, once, and only in that \
         browser.",
        until
    );
    let otherwise = t!(
        "If you did not ask for it, ignore this mail; nothing has been opened or booked. Nobody from \
         {firm} will ever ask you for this code.",
        firm
    );
    format!("{code}\n\n{how}\n\n{otherwise}\n")
}

/// Tries a code. Too many wrong ones in a day close the page for the network that asked until the next, and not for the
/// address: anybody can ask for codes to it. How many codes it gets bounds how often they can all guess.
pub fn enter_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    (browser, place): (GuestTokenHash, &str),
    typed: &str,
) -> Result<CodeEntry> {
    let purpose = purpose(email);
    if one_time_codes::wrong_today_around(tx, cx, &purpose, browser)? >= WRONG_CODES_PER_DAY {
        return Ok(CodeEntry::RunOut);
    }
    let holder = CodeHolder { purpose: &purpose, email: email.as_str(), browser, place };
    one_time_codes::enter(tx, cx, &holder, typed)
}

/// Begins a session under a new cookie: what was known before the code was entered opens nothing.
pub fn begin_session(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (before, browser): (GuestTokenHash, GuestTokenHash),
    email: &EmailAddress,
) -> Result<()> {
    let ws = cx.actor.ws;
    let over = cx.now - GUEST_SESSION_MS;
    tx.exec("DELETE FROM customer_sessions WHERE created_at <= ?1", &[&over])?;
    tx.exec("DELETE FROM customer_sessions WHERE ws = ?1 AND browser = ?2", &[&ws, &before])?;
    tx.exec(
        "INSERT INTO customer_sessions (ws, browser, email, created_at, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?4)",
        &[&ws, &browser, email, &cx.now],
    )?;
    Ok(())
}

/// The session of a browser, while it lasts.
pub fn find_session(
    tx: &mut Tx<'_>,
    ws: i64,
    browser: GuestTokenHash,
    now: i64,
) -> Result<Option<CustomerSession>> {
    let found: Option<(EmailAddress, i64, i64)> = tx.opt(
        "SELECT email, created_at, seen_at FROM customer_sessions WHERE ws = ?1 AND browser = ?2",
        &[&ws, &browser],
    )?;
    Ok(found.and_then(|(email, created_at, seen_at)| {
        let ends_at = (seen_at + GUEST_SESSION_IDLE_MS).min(created_at + GUEST_SESSION_MS);
        (ends_at > now).then_some(CustomerSession { email, ends_at })
    }))
}

/// Writes down that the page is being read.
pub fn touch_session(tx: &mut Tx<'_>, ws: i64, browser: GuestTokenHash, now: i64) -> Result<()> {
    tx.exec(
        "UPDATE customer_sessions SET seen_at = ?3 WHERE ws = ?1 AND browser = ?2",
        &[&ws, &browser, &now],
    )?;
    Ok(())
}

/// Signs a browser out.
pub fn end_session(tx: &mut Tx<'_>, ws: i64, browser: GuestTokenHash) -> Result<()> {
    tx.exec("DELETE FROM customer_sessions WHERE ws = ?1 AND browser = ?2", &[&ws, &browser])?;
    Ok(())
}
