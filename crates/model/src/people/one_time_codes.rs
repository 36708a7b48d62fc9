//! Codes that are mailed to prove an address, for every customer page that needs one.
//!
//! A code has eight digits, counts once, for ten minutes, in the browser that asked for it, and allows
//! five tries. Codes are limited for each page, each address and each client network.

use base::app::Cx;
use base::error::Result;
use base::limits::{
    CODE_MS, CODE_TRIES, CODES_PER_ADDRESS, CODES_PER_NETWORK, CODES_PER_PAGE, CODES_PER_PAGE_DAY,
    CODES_WINDOW_MS, DAY_MS,
};
use db::Tx;

use crate::figures::counting_turns::take_turns;
use crate::guests::guest_tokens::{GuestTokenHash, keyed_digest};

const ID_CHARS: usize = 16;
const MOST: i64 = 99_999_999;

/// Who asks for a code, or enters one.
#[derive(Clone, Debug)]
pub struct CodeHolder<'a> {
    /// What the code opens.
    pub purpose: &'a str,
    /// The proven address once the code is right.
    pub email: &'a str,
    pub browser: GuestTokenHash,
    /// The client's network.
    pub place: &'a str,
}

/// The outcome of asking for a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeRequest {
    /// The digits to mail, in two groups.
    Issued(String),
    /// There were enough; the next is possible at this time.
    Wait(i64),
}

/// The outcome of entering a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeEntry {
    Right,
    Wrong {
        tries_left: i64,
    },
    /// Its ten minutes or its tries are over.
    RunOut,
    /// This browser has asked for none.
    NotAsked,
}

/// The newest code of a browser, as its page tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentCode {
    pub sent_at: i64,
    pub expires_at: i64,
    pub tries_left: i64,
}

/// Makes a code. The one before stops working.
pub fn request(tx: &mut Tx<'_>, cx: &Cx<'_>, holder: &CodeHolder<'_>) -> Result<CodeRequest> {
    let place = format!("codes from {}", holder.place);
    let address = format!("codes to {}", holder.email);
    let page = format!("codes of {}", holder.purpose);
    let ws = cx.actor.ws;
    take_turns(tx, &[(0, place.as_str()), (ws, address.as_str()), (ws, page.as_str())])?;
    tx.exec("DELETE FROM one_time_codes WHERE sent_at < ?1", &[&(cx.now - DAY_MS)])?;
    if let Some(until) = must_wait_until(tx, cx, holder)? {
        return Ok(CodeRequest::Wait(until));
    }
    let number = cx.ids.between(0, MOST);
    let digits = format!("{number:08}");
    let id = cx.ids.token(ID_CHARS);
    let hash = code_hash(tx, cx, holder.purpose, &id, &digits)?;
    tx.exec(
        "UPDATE one_time_codes SET used = TRUE
         WHERE ws = ?1 AND purpose = ?2 AND browser = ?3 AND used = FALSE",
        &[&cx.actor.ws, &holder.purpose, &holder.browser],
    )?;
    tx.exec(
        "INSERT INTO one_time_codes (
            ws, purpose, id, browser, email, place, hash, sent_at, expires_at, wrong, used
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, FALSE)",
        &[
            &cx.actor.ws,
            &holder.purpose,
            &id,
            &holder.browser,
            &holder.email,
            &holder.place,
            &hash.as_slice(),
            &cx.now,
            &(cx.now + CODE_MS),
        ],
    )?;
    Ok(CodeRequest::Issued(format!("{} {}", &digits[..4], &digits[4..])))
}

/// When the next code may be asked for; `None` for at once.
pub fn must_wait_until(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    holder: &CodeHolder<'_>,
) -> Result<Option<i64>> {
    let (ws, now) = (cx.actor.ws, cx.now);
    let sent: Vec<(i64,)> = tx.all(
        "SELECT sent_at FROM one_time_codes WHERE ws = ?1 AND purpose = ?2 AND sent_at > ?3",
        &[&ws, &holder.purpose, &(now - DAY_MS)],
    )?;
    let mut waits: Vec<i64> = Vec::new();
    let mut of_page: Vec<i64> = sent.into_iter().map(|(at,)| at).collect();
    of_page.sort_unstable();
    waits.extend(end_of_wait(&of_page, now, DAY_MS, CODES_PER_PAGE_DAY));
    waits.extend(end_of_wait(&of_page, now, CODES_WINDOW_MS, CODES_PER_PAGE));
    let since = now - CODES_WINDOW_MS;
    let (of_address,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM one_time_codes
         WHERE ws = ?1 AND email = ?2 AND sent_at > ?3",
        &[&ws, &holder.email, &since],
    )?;
    let (of_place,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM one_time_codes WHERE place = ?1 AND sent_at > ?2",
        &[&holder.place, &since],
    )?;
    if of_address >= CODES_PER_ADDRESS || of_place >= CODES_PER_NETWORK {
        waits.push(now + CODES_WINDOW_MS);
    }
    Ok(waits.into_iter().max())
}

/// When a window with this many entries has room again.
fn end_of_wait(sorted: &[i64], now: i64, window: i64, most: i64) -> Option<i64> {
    let within: Vec<i64> = sorted.iter().copied().filter(|at| *at > now - window).collect();
    let surplus = within.len().checked_sub(most as usize)?;
    within.get(surplus).map(|at| at + window)
}

/// Tries a code. Each wrong one is counted, whichever process it came to.
pub fn enter(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    holder: &CodeHolder<'_>,
    typed: &str,
) -> Result<CodeEntry> {
    let ws = cx.actor.ws;
    let found: Option<(String, Vec<u8>, i64, i64)> = tx.opt(
        "SELECT id, hash, expires_at, wrong FROM one_time_codes
         WHERE ws = ?1 AND purpose = ?2 AND browser = ?3 AND used = FALSE
         ORDER BY sent_at DESC, id DESC LIMIT 1",
        &[&ws, &holder.purpose, &holder.browser],
    )?;
    let Some((id, hash, expires_at, wrong)) = found else { return Ok(CodeEntry::NotAsked) };
    if expires_at <= cx.now || wrong >= CODE_TRIES {
        return Ok(CodeEntry::RunOut);
    }
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    if code_hash(tx, cx, holder.purpose, &id, &digits)?.as_slice() == hash {
        tx.exec(
            "UPDATE one_time_codes SET used = TRUE WHERE ws = ?1 AND purpose = ?2 AND id = ?3",
            &[&ws, &holder.purpose, &id],
        )?;
        return Ok(CodeEntry::Right);
    }
    tx.exec(
        "UPDATE one_time_codes SET wrong = wrong + 1 WHERE ws = ?1 AND purpose = ?2 AND id = ?3",
        &[&ws, &holder.purpose, &id],
    )?;
    Ok(CodeEntry::Wrong { tries_left: CODE_TRIES - wrong - 1 })
}

/// The wrong codes that were entered on a page within a day.
pub fn wrong_today(tx: &mut Tx<'_>, cx: &Cx<'_>, purpose: &str) -> Result<i64> {
    let (wrong,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(wrong), 0) AS BIGINT) FROM one_time_codes
         WHERE ws = ?1 AND purpose = ?2 AND sent_at > ?3",
        &[&cx.actor.ws, &purpose, &(cx.now - DAY_MS)],
    )?;
    Ok(wrong)
}

/// The code that a browser may enter, if it has asked for one that still counts.
pub fn find_sent(
    tx: &mut Tx<'_>,
    ws: i64,
    purpose: &str,
    browser: GuestTokenHash,
) -> Result<Option<SentCode>> {
    let found: Option<(i64, i64, i64)> = tx.opt(
        "SELECT sent_at, expires_at, wrong FROM one_time_codes
         WHERE ws = ?1 AND purpose = ?2 AND browser = ?3 AND used = FALSE
         ORDER BY sent_at DESC, id DESC LIMIT 1",
        &[&ws, &purpose, &browser],
    )?;
    Ok(found.map(|(sent_at, expires_at, wrong)| SentCode {
        sent_at,
        expires_at,
        tries_left: (CODE_TRIES - wrong).max(0),
    }))
}

/// Eight digits are few, so their hash is keyed: the database alone does not tell a code.
fn code_hash(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    purpose: &str,
    id: &str,
    digits: &str,
) -> Result<[u8; 32]> {
    keyed_digest(tx, cx, &format!("code {id} {digits} {purpose}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_has_room_when_its_oldest_entry_leaves_it() {
        assert_eq!(end_of_wait(&[10, 20], 30, 100, 3), None);
        assert_eq!(end_of_wait(&[10, 20, 25], 30, 100, 3), Some(110));
        assert_eq!(end_of_wait(&[10, 20, 25], 115, 100, 3), None);
    }
}
