//! The team as its page lists it.

use base::actor::Role;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::UserId;
use db::Tx;

db::row! {
    /// Somebody on the team, with what they look after and how they sign in.
    pub struct RosterEntry from "u" {
        pub id: UserId,
        pub email: EmailAddress,
        pub name: String,
        pub role: Role,
        pub duty: Option<String>,
        pub first_signed_in_at: Option<i64>,
        pub has_passkey: bool = "EXISTS (
            SELECT 1 FROM passkeys k WHERE k.ws = u.ws AND k.person = u.id
        )",
        pub has_app: bool = "EXISTS (
            SELECT 1 FROM totp_secrets t
            WHERE t.ws = u.ws AND t.person = u.id AND t.confirmed_at IS NOT NULL
        )",
        pub has_password: bool = "EXISTS (
            SELECT 1 FROM passwords p WHERE p.ws = u.ws AND p.person = u.id
        )",
    }
}

/// Everybody, in the order in which they came.
pub fn list_roster(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<RosterEntry>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM users u WHERE u.ws = ?1 ORDER BY u.created_at, u.id",
            RosterEntry::COLUMNS
        ),
        &[&cx.actor.ws],
    )?)
}
