//! The domains that a workspace corresponds with: those it has sent mail to, not those that only
//! wrote, because anybody can write. The scam check warns of look-alikes of these domains.
//!
//! They are stored per circle, so that a warning in a team inbox reveals nothing about a private
//! one.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use base::limits::DAY_MS;
use db::Tx;

/// Domains that a sender's is compared with: the latest.
const COMPARED: i64 = 300;
/// When a domain was last written to is kept no more exactly than this.
const NOTED_EVERY_MS: i64 = DAY_MS;
/// How long a correspondence must have lasted for somebody to imitate it by a name that is only near.
const ESTABLISHED_MS: i64 = 14 * DAY_MS;

/// Domains that a sender's is compared with.
#[derive(Default)]
pub struct ComparedDomains {
    /// Those that were written to long ago as well.
    pub established: Vec<String>,
    pub new: Vec<String>,
}

/// Records the domain of a recipient of sent mail.
pub fn note(tx: &mut Tx<'_>, cx: &Cx<'_>, circle: &Circle, email: &str) -> Result<()> {
    let Some(domain) = mail::organisation(email) else { return Ok(()) };
    let noted: Option<(i64,)> = tx.opt(
        "SELECT last_at FROM correspondents WHERE ws = ?1 AND circle = ?2 AND domain = ?3",
        &[&cx.actor.ws, circle, &domain],
    )?;
    if noted.is_some_and(|(at,)| cx.now - at < NOTED_EVERY_MS) {
        return Ok(());
    }
    tx.exec_soon(
        "INSERT INTO correspondents (ws, circle, domain, last_at, first_at)
         VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT (ws, circle, domain) DO UPDATE SET last_at = excluded.last_at",
        &[&cx.actor.ws, circle, &domain, &cx.now],
    )?;
    Ok(())
}

/// The domains that a sender's domain is compared with; empty when the sender's domain is itself a
/// correspondent's or a public provider's.
pub fn compared_with(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    from: &str,
) -> Result<ComparedDomains> {
    let Some(own) = mail::organisation(from) else {
        return Ok(ComparedDomains::default());
    };
    let known: Option<(i64,)> = tx.opt(
        "SELECT last_at FROM correspondents WHERE ws = ?1 AND circle = ?2 AND domain = ?3",
        &[&ws, circle, &own],
    )?;
    if known.is_some() {
        return Ok(ComparedDomains::default());
    }
    let domains: Vec<(String, bool)> = tx.all(
        "SELECT domain, last_at - first_at >= ?4 FROM correspondents WHERE ws = ?1 AND circle = ?2
         ORDER BY last_at DESC LIMIT ?3",
        &[&ws, circle, &COMPARED, &ESTABLISHED_MS],
    )?;
    let mut compared = ComparedDomains::default();
    for (domain, is_established) in domains {
        if mail::is_public_provider(&domain) {
            continue;
        }
        match is_established {
            true => compared.established.push(domain),
            false => compared.new.push(domain),
        }
    }
    Ok(compared)
}
