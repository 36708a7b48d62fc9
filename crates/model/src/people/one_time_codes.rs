//! Codes that are mailed to prove an address, for every customer page that needs one.
//!
//! A code has eight digits, counts once, for ten minutes, in the browser that asked for it, and allows
//! five tries. Codes are limited for each client network: those of a page, those to an address, and all. The bound of
//! all networks together is higher, so that a stranger who asks for codes of somebody does not lock them out.

use base::app::Cx;
use base::error::Result;
use base::limits::{
    CODE_MS, CODE_TRIES, CODES_PER_ADDRESS, CODES_PER_NETWORK, CODES_PER_PAGE, CODES_PER_PAGE_DAY,
    CODES_WINDOW_MS, DAY_MS, NETWORKS_ASKING_FOR_CODES,
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
    let of_page: Vec<(i64, String)> = tx.all(
        "SELECT sent_at, place FROM one_time_codes
         WHERE ws = ?1 AND purpose = ?2 AND sent_at > ?3",
        &[&ws, &holder.purpose, &(now - DAY_MS)],
    )?;
    let since = now - CODES_WINDOW_MS;
    let to_address: Vec<(i64, String)> = tx.all(
        "SELECT sent_at, place FROM one_time_codes WHERE ws = ?1 AND email = ?2 AND sent_at > ?3",
        &[&ws, &holder.email, &since],
    )?;
    let mut waits: Vec<i64> = Vec::new();
    for (sent, window, most) in [
        (&of_page, DAY_MS, CODES_PER_PAGE_DAY),
        (&of_page, CODES_WINDOW_MS, CODES_PER_PAGE),
        (&to_address, CODES_WINDOW_MS, CODES_PER_ADDRESS),
    ] {
        waits.extend(end_of_wait(sent, now, window, (holder.place, most)));
    }
    let (of_place,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM one_time_codes WHERE place = ?1 AND sent_at > ?2",
        &[&holder.place, &since],
    )?;
    if of_place >= CODES_PER_NETWORK {
        waits.push(now + CODES_WINDOW_MS);
    }
    Ok(waits.into_iter().max())
}

/// When a place that may ask for so many codes in a window has room again, and so have all places together; `None` for
/// at once.
pub fn end_of_wait(
    asked: &[(i64, String)],
    now: i64,
    window: i64,
    (place, most): (&str, i64),
) -> Option<i64> {
    let mut of_all: Vec<i64> =
        asked.iter().map(|(at, _)| *at).filter(|at| *at > now - window).collect();
    let mut of_place: Vec<i64> = asked
        .iter()
        .filter(|(at, from)| *at > now - window && from == place)
        .map(|(at, _)| *at)
        .collect();
    of_all.sort_unstable();
    of_place.sort_unstable();
    let room_at = |times: &[i64], most: i64| {
        let surplus = times.len().checked_sub(most as usize)?;
        times.get(surplus).map(|at| at + window)
    };
    room_at(&of_place, most).max(room_at(&of_all, most * NETWORKS_ASKING_FOR_CODES))
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

/// The same of the networks from which a browser asked for its codes: what is entered for codes that others asked for
/// elsewhere does not lock it out.
pub fn wrong_today_around(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    purpose: &str,
    browser: GuestTokenHash,
) -> Result<i64> {
    let (wrong,): (i64,) = tx.one(
        "SELECT CAST(coalesce(sum(c.wrong), 0) AS BIGINT) FROM one_time_codes c
         WHERE c.ws = ?1 AND c.purpose = ?2 AND c.sent_at > ?3
           AND c.place IN (SELECT o.place FROM one_time_codes o
                           WHERE o.ws = ?1 AND o.purpose = ?2 AND o.browser = ?4)",
        &[&cx.actor.ws, &purpose, &(cx.now - DAY_MS), &browser],
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

    fn codes_from(times: &[i64], place: &str) -> Vec<(i64, String)> {
        times.iter().map(|at| (*at, place.to_owned())).collect()
    }

    #[test]
    fn a_full_window_has_room_when_its_oldest_entry_leaves_it() {
        let wait = |times: &[i64], now: i64| {
            end_of_wait(&codes_from(times, "here"), now, 100, ("here", 3))
        };
        assert_eq!(wait(&[10, 20], 30), None);
        assert_eq!(wait(&[25, 10, 20], 30), Some(110));
        assert_eq!(wait(&[10, 20, 25], 115), None);
    }

    #[test]
    fn who_asks_elsewhere_leaves_room_until_many_do() {
        let mut all = codes_from(&[10, 20, 25], "there");
        assert_eq!(end_of_wait(&all, 30, 100, ("there", 3)), Some(110));
        assert_eq!(end_of_wait(&all, 30, 100, ("here", 3)), None);
        for network in 1..NETWORKS_ASKING_FOR_CODES {
            all.extend(codes_from(&[11, 21, 26], &format!("network {network}")));
        }
        assert_eq!(end_of_wait(&all, 30, 100, ("here", 3)), Some(110));
    }
}
