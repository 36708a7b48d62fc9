//! OAuth: codes become tokens, and tokens are replaced and revoked.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::Result;
use base::ids::{AgentId, LETTERS_AND_DIGITS, UserId, WorkspaceId};
use base::limits::{
    ACCESS_TOKEN_MS, ACCESS_TOKENS_PER_APP, REFRESH_GRACE_MS, REFRESH_TOKEN_IDLE_MS,
    REFRESH_TOKEN_MS, REFRESH_TOKENS_PER_APP, REFRESHES_PER_APP,
};
use base::security::api_key::KEY_SECRET_CHARS;
use base::security::redirect_uri::RedirectUri;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::Tx;
use hmac::{Hmac, Mac};
use model::installation::audit_log::{self, Action};
use model::installation::mail_secret::mail_secret;
use model::people::agent_limits::pausing;
use model::people::notices::{Notice, notify};
use model::people::oauth_tokens::{
    CODE_PREFIX, OauthHash, REFRESH_TOKEN_PREFIX, TokenKind, end_tokens,
};
use sha2::{Digest, Sha256};

use crate::sign_in::sessions::count_sign_in_attempt;

/// The lengths that a verifier may have.
const VERIFIER_CHARS: std::ops::RangeInclusive<usize> = 43..=128;

/// What a client gets.
#[derive(Clone)]
pub struct IssuedTokens {
    pub access_token: String,
    pub refresh_token: String,
    pub expires_in_seconds: i64,
    pub scope: String,
}

base::debug_without_secrets!(IssuedTokens { expires_in_seconds, scope });

/// Why a client gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// The code or token is wrong, of another client, used or over; which of these is not told.
    InvalidGrant,
    /// The app asks for tokens without end.
    TooMany,
}

use TokenRefusal::InvalidGrant;

/// An exchange of a code.
#[derive(Clone)]
pub struct CodeExchange {
    pub code: String,
    pub client_id: String,
    pub redirect_uri: String,
    pub verifier: String,
}

base::debug_without_secrets!(CodeExchange { client_id, redirect_uri });

db::row! {
    /// A code with its app.
    struct CodeRow from "c" {
        ws: i64,
        agent: AgentId,
        client_id: String,
        redirect_uri: String,
        challenge: String,
        expires_at: i64,
        used_at: Option<i64>,
        scopes: String = "a.scopes",
    }
}

/// Exchanges a code for tokens. A code that is used a second time was seen by somebody else: what the
/// first use gave ends.
pub fn exchange_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    exchange: &CodeExchange,
) -> Result<Result<IssuedTokens, TokenRefusal>> {
    let Some(hash) = OauthHash::of(CODE_PREFIX, &exchange.code) else {
        return Ok(Err(InvalidGrant));
    };
    let found: Option<CodeRow> = tx.opt(
        &format!(
            "SELECT {} FROM oauth_codes c
             JOIN agents a ON a.ws = c.ws AND a.id = c.agent
             JOIN users u ON u.ws = a.ws AND u.id = a.made_by
             WHERE c.code_hash = ?1 AND a.revoked_at IS NULL",
            CodeRow::COLUMNS
        ),
        &[&hash],
    )?;
    let Some(code) = found else { return Ok(Err(InvalidGrant)) };
    let fits = code.client_id == exchange.client_id
        && RedirectUri::parse(&exchange.redirect_uri)
            .is_some_and(|uri| code.redirect_uri == uri.to_string())
        && VERIFIER_CHARS.contains(&exchange.verifier.len())
        && code.challenge == URL_SAFE_NO_PAD.encode(Sha256::digest(&exchange.verifier));
    if let Some(granted_at) = code.used_at.filter(|_| fits) {
        end_grant(tx, &Grant { ws: code.ws, agent: code.agent, granted_at })?;
        return Ok(Err(InvalidGrant));
    }
    if !fits || code.used_at.is_some() || code.expires_at <= cx.now {
        return Ok(Err(InvalidGrant));
    }
    let used = tx.exec(
        "UPDATE oauth_codes SET used_at = ?2 WHERE code_hash = ?1 AND used_at IS NULL",
        &[&hash, &cx.now],
    )?;
    if used == 0 {
        return Ok(Err(InvalidGrant));
    }
    let (refresh_token, refresh_hash) = OauthHash::make(cx.ids, REFRESH_TOKEN_PREFIX);
    let grant = Grant { ws: code.ws, agent: code.agent, granted_at: cx.now };
    keep_refresh_token(tx, cx, &grant, &refresh_hash)?;
    issue(tx, cx, &grant, refresh_token, code.scopes).map(Ok)
}

/// Whose tokens they are. An app on two computers has two grants.
struct Grant {
    ws: i64,
    agent: AgentId,
    /// When the code was exchanged that the tokens go back to.
    granted_at: i64,
}

/// Ends the tokens of one grant.
fn end_grant(tx: &mut Tx<'_>, grant: &Grant) -> Result<()> {
    tx.exec(
        "DELETE FROM oauth_tokens WHERE ws = ?1 AND agent = ?2 AND granted_at = ?3",
        &[&grant.ws, &grant.agent, &grant.granted_at],
    )?;
    Ok(())
}

fn issue(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    grant: &Grant,
    refresh_token: String,
    scope: String,
) -> Result<IssuedTokens> {
    tx.exec("DELETE FROM oauth_tokens WHERE expires_at <= ?1", &[&cx.now])?;
    let (access_token, hash) = OauthHash::make(cx.ids, TokenKind::Access.prefix());
    write_token(tx, cx, grant, &hash, TokenKind::Access, cx.now + ACCESS_TOKEN_MS)?;
    for (kind, most) in
        [(TokenKind::Access, ACCESS_TOKENS_PER_APP), (TokenKind::Refresh, REFRESH_TOKENS_PER_APP)]
    {
        tx.exec(
            "DELETE FROM oauth_tokens WHERE token_hash IN (
                 SELECT token_hash FROM oauth_tokens
                 WHERE ws = ?1 AND agent = ?2 AND kind = ?3
                 ORDER BY CASE WHEN rotated_at IS NULL THEN 0 ELSE 1 END, created_at DESC, token_hash
                 LIMIT 1000 OFFSET ?4
             )",
            &[&grant.ws, &grant.agent, &kind, &most],
        )?;
    }
    let expires_in_seconds = ACCESS_TOKEN_MS / 1_000;
    Ok(IssuedTokens { access_token, refresh_token, expires_in_seconds, scope })
}

fn keep_refresh_token(tx: &mut Tx<'_>, cx: &Cx<'_>, grant: &Grant, hash: &OauthHash) -> Result<()> {
    let until = (cx.now + REFRESH_TOKEN_IDLE_MS).min(grant.granted_at + REFRESH_TOKEN_MS);
    write_token(tx, cx, grant, hash, TokenKind::Refresh, until)
}

fn write_token(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    grant: &Grant,
    hash: &OauthHash,
    kind: TokenKind,
    expires_at: i64,
) -> Result<()> {
    tx.exec(
        "INSERT INTO oauth_tokens (token_hash, ws, agent, kind, granted_at, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (token_hash) DO NOTHING",
        &[hash, &grant.ws, &grant.agent, &kind, &grant.granted_at, &cx.now, &expires_at],
    )?;
    Ok(())
}

db::row! {
    /// A refresh token with its app, its person and its workspace.
    struct RefreshRow from "t" {
        ws: i64,
        agent: AgentId,
        granted_at: i64,
        rotated_at: Option<i64>,
        rotated_place: Option<String>,
        client_id: Option<String> = "a.oauth_client",
        name: String = "a.name",
        scopes: String = "a.scopes",
        person: UserId = "a.made_by",
        workspace: WorkspaceId = "w.id",
    }
}

impl RefreshRow {
    fn grant(&self) -> Grant {
        Grant { ws: self.ws, agent: self.agent.clone(), granted_at: self.granted_at }
    }
}

/// Replaces a refresh token. Its successor is derived from it, so that processes that share the old one
/// and use it at the same time get the same new one. That grace ends once the successor was used itself:
/// whoever has the old one still is behind, and is refused. Use after the grace means that the token was
/// copied, whoever is the thief, and ends the grant (RFC 9700 section 4.14.2). `place` is the client's
/// network.
pub fn refresh_tokens(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    refresh_token: &str,
    client_id: &str,
    place: &str,
) -> Result<Result<IssuedTokens, TokenRefusal>> {
    let found = find_refresh_token(tx, cx, refresh_token)?;
    let Some((hash, row)) = found.filter(|(_, row)| row.client_id.as_deref() == Some(client_id))
    else {
        return Ok(Err(InvalidGrant));
    };
    let actor = Actor::system(row.ws, row.workspace.clone(), Circle::team());
    let cx = &Cx { actor: &actor, ..*cx };
    if row.rotated_at.is_some_and(|at| cx.now - at > REFRESH_GRACE_MS) {
        end_stolen(tx, cx, &row, place)?;
        return Ok(Err(InvalidGrant));
    }
    let successor = successor(mail_secret(tx, cx)?.as_bytes(), refresh_token);
    let Some(successor_hash) = OauthHash::of(REFRESH_TOKEN_PREFIX, &successor) else {
        return Ok(Err(InvalidGrant));
    };
    if row.rotated_at.is_some() && !is_unused(tx, &successor_hash)? {
        return Ok(Err(InvalidGrant));
    }
    let what = format!("tokens of {}", row.agent);
    if !count_sign_in_attempt(tx, &what, REFRESHES_PER_APP, cx.now)? {
        return Ok(Err(TokenRefusal::TooMany));
    }
    // Written even where it was replaced already, so that this and the end of the app's tokens at the
    // same moment cannot both succeed.
    let kept = tx.exec(
        "UPDATE oauth_tokens
         SET rotated_at = coalesce(rotated_at, ?2), rotated_place = coalesce(rotated_place, ?3)
         WHERE token_hash = ?1",
        &[&hash, &cx.now, &place],
    )?;
    if kept == 0 {
        return Ok(Err(InvalidGrant));
    }
    let grant = row.grant();
    keep_refresh_token(tx, cx, &grant, &successor_hash)?;
    issue(tx, cx, &grant, successor, row.scopes).map(Ok)
}

/// Whether a token exists and was not replaced.
fn is_unused(tx: &mut Tx<'_>, hash: &OauthHash) -> Result<bool> {
    let found: Option<(Option<i64>,)> =
        tx.opt("SELECT rotated_at FROM oauth_tokens WHERE token_hash = ?1", &[hash])?;
    Ok(found.is_some_and(|(rotated_at,)| rotated_at.is_none()))
}

fn find_refresh_token(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    refresh_token: &str,
) -> Result<Option<(OauthHash, RefreshRow)>> {
    let Some(hash) = OauthHash::of(REFRESH_TOKEN_PREFIX, refresh_token) else { return Ok(None) };
    let found: Option<RefreshRow> = tx.opt(
        &format!(
            "SELECT {} FROM oauth_tokens t
             JOIN agents a ON a.ws = t.ws AND a.id = t.agent
             JOIN users u ON u.ws = a.ws AND u.id = a.made_by
             JOIN workspaces w ON w.ws = t.ws
             WHERE t.token_hash = ?1 AND t.kind = 'refresh' AND t.expires_at > ?2
               AND a.revoked_at IS NULL",
            RefreshRow::COLUMNS
        ),
        &[&hash, &cx.now],
    )?;
    Ok(found.map(|row| (hash, row)))
}

/// The refresh token after this one: letters and digits out of a keyed hash of it.
fn successor(secret: &[u8], refresh_token: &str) -> String {
    let mut text = String::with_capacity(REFRESH_TOKEN_PREFIX.len() + KEY_SECRET_CHARS);
    text.push_str(REFRESH_TOKEN_PREFIX);
    // One byte gives one character; the few that would make some likelier are left out.
    let even = 256 - 256 % LETTERS_AND_DIGITS.len();
    for round in 0u8.. {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
        mac.update(b"the refresh token after ");
        mac.update(refresh_token.as_bytes());
        mac.update(&[round]);
        for byte in mac.finalize().into_bytes() {
            let place = usize::from(byte);
            if place < even && text.len() < REFRESH_TOKEN_PREFIX.len() + KEY_SECRET_CHARS {
                text.push(char::from(LETTERS_AND_DIGITS[place % LETTERS_AND_DIGITS.len()]));
            }
        }
        if text.len() == REFRESH_TOKEN_PREFIX.len() + KEY_SECRET_CHARS {
            break;
        }
    }
    text
}

/// A token that was replaced long ago was used again: somebody copied it, so what goes back to the same
/// code works no more until the person lets the app in again.
fn end_stolen(tx: &mut Tx<'_>, cx: &Cx<'_>, row: &RefreshRow, place: &str) -> Result<()> {
    end_grant(tx, &row.grant())?;
    let name = &row.name;
    let is_same = row.rotated_place.as_deref() == Some(place);
    let network = if is_same { "the same network" } else { "another network" };
    let detail = &format!("an old token was used again, from {network}");
    audit_log::record(tx, cx, &Circle::team(), Action::AppTokensEnded, name, detail)?;
    let subject = format!("{name} was signed out");
    let text = format!(
        "A token of {name} that had been replaced was used again, from {network}. Somebody may \
         have copied it, so we ended the app's access on the computer that it was given to.\n\n\
         Connect it again if you still use it. Everything it did is in the timelines, under its \
         name.\n\n{url}/settings/apps\n",
        url = cx.public_url,
    );
    notify(tx, cx, &row.person, &Notice { subject: &subject, text: &text })
}

/// Ends a token that its client gives back. A refresh token ends with all of its grant; the app is
/// disconnected with the last. An unknown token changes nothing.
pub fn revoke_token(tx: &mut Tx<'_>, cx: &Cx<'_>, token: &str) -> Result<()> {
    if let Some(hash) = OauthHash::of(TokenKind::Access.prefix(), token) {
        tx.exec("DELETE FROM oauth_tokens WHERE token_hash = ?1", &[&hash])?;
        return Ok(());
    }
    let Some((_, row)) = find_refresh_token(tx, cx, token)? else { return Ok(()) };
    if row.rotated_at.is_some_and(|at| cx.now - at > REFRESH_GRACE_MS) {
        return Ok(());
    }
    let actor = Actor::system(row.ws, row.workspace.clone(), Circle::team());
    let cx = &Cx { actor: &actor, ..*cx };
    end_grant(tx, &row.grant())?;
    let other: Option<(i64,)> = tx.opt(
        "SELECT granted_at FROM oauth_tokens
         WHERE ws = ?1 AND agent = ?2 AND kind = 'refresh' AND expires_at > ?3 LIMIT 1",
        &[&row.ws, &row.agent, &cx.now],
    )?;
    let waiting: Option<(i64,)> = tx.opt(
        "SELECT expires_at FROM oauth_codes
         WHERE ws = ?1 AND agent = ?2 AND used_at IS NULL AND expires_at > ?3 LIMIT 1",
        &[&row.ws, &row.agent, &cx.now],
    )?;
    if other.is_some() || waiting.is_some() {
        return Ok(());
    }
    end_tokens(tx, row.ws, &row.agent)?;
    tx.exec(
        "UPDATE agents SET revoked_at = ?3 WHERE ws = ?1 AND id = ?2 AND revoked_at IS NULL",
        &[&row.ws, &row.agent, &cx.now],
    )?;
    pausing::stop_what_waits(tx, cx, &row.agent)?;
    let detail = "by the app itself";
    audit_log::record(tx, cx, &Circle::team(), Action::AppDisconnected, &row.name, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_is_a_refresh_token_of_its_own_and_always_the_same() {
        let old = format!("rr_{}", "aB3".repeat(16));
        let new = successor(b"secret", &old);
        assert!(OauthHash::of(REFRESH_TOKEN_PREFIX, &new).is_some(), "{new}");
        assert_eq!(new, successor(b"secret", &old));
        assert_ne!(new, successor(b"other", &old));
        assert_ne!(new, successor(b"secret", &new));
    }
}
