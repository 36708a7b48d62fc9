//! The app that is asked: its address and signing secret, and how it fares.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::limits::{DAY_MS, MINUTE_MS, PANEL_NAME_CHARS};
use base::security::secret_sealer::SecretSealer;
use base::workspaces::samples::refuse_in_sample;
use db::Tx;
use model::installation::audit_log::{self, Action};
use model::installation::sealing;
use model::webhooks::webhook_signing;
use url::Url;

/// How long the old secret signs too after a rotation.
const OLD_SECRET_MS: i64 = DAY_MS;
/// Successes and failures are written down once in so long.
const NOTED_EVERY_MS: i64 = MINUTE_MS;

db::row! {
    /// An app that is asked about customers.
    #[derive(Clone)]
    pub struct CustomerPanel from "customer_panels" {
        /// False for the sandbox's conversations.
        pub livemode: bool,
        /// What people call it, as in “the shop”.
        pub name: String,
        pub url: String,
        secret: String,
        old_secret: Option<String>,
        pub old_secret_until: Option<i64>,
        pub created_at: i64,
        /// When it last answered as it should.
        pub answered_at: Option<i64>,
        pub failed_at: Option<i64>,
        /// Why it was not shown; empty while it answers.
        pub problem: String,
    }
}

base::debug_without_secrets!(CustomerPanel { livemode, name });

impl CustomerPanel {
    /// The secrets that sign, the newest first.
    pub(crate) fn secrets(
        &self,
        sealer: &dyn SecretSealer,
        ws: i64,
        now: i64,
    ) -> Result<Vec<String>> {
        let purpose = sealing::panel_purpose(ws, self.livemode);
        let old = self.old_secret.as_ref().filter(|_| self.old_secret_until > Some(now));
        let kept = std::iter::once(&self.secret).chain(old);
        kept.map(|secret| sealing::unseal(sealer, &purpose, secret.clone())).collect()
    }

    /// True where an outcome says something that is not written down yet.
    pub(crate) fn lacks(&self, problem: &str, now: i64) -> bool {
        let noted = if problem.is_empty() { self.answered_at } else { self.failed_at };
        self.problem != problem || noted.is_none_or(|noted| now - noted >= NOTED_EVERY_MS)
    }
}

/// The app that is asked about the team's conversations, or about the sandbox's.
pub(crate) fn find(tx: &mut Tx<'_>, ws: i64, livemode: bool) -> Result<Option<CustomerPanel>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM customer_panels WHERE ws = ?1 AND livemode = ?2",
            CustomerPanel::COLUMNS
        ),
        &[&ws, &livemode],
    )?)
}

/// Both apps, as owners and admins see them.
pub fn list_panels(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<CustomerPanel>> {
    cx.actor.must_administer()?;
    let mut panels = Vec::new();
    for livemode in [true, false] {
        panels.extend(find(tx, cx.actor.ws, livemode)?);
    }
    Ok(panels)
}

/// Registers the app, or gives it another name or address; a new one gets a secret, shown this once.
pub fn register_panel(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    livemode: bool,
    name: &str,
    url: &Url,
) -> Result<Option<String>> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    refuse_in_sample(tx, ws)?;
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || name.chars().count() > PANEL_NAME_CHARS || name.contains('\0') {
        return Err(Error::invalid("name", format!("must be 1 to {PANEL_NAME_CHARS} characters")));
    }
    audit_log::record(tx, cx, &Circle::team(), Action::PanelRegistered, url.as_str(), &name)?;
    cx.panels.forget_workspace(ws);
    if find(tx, ws, livemode)?.is_some() {
        tx.exec(
            "UPDATE customer_panels SET name = ?3, url = ?4, failed_at = NULL, problem = ''
             WHERE ws = ?1 AND livemode = ?2",
            &[&ws, &livemode, &name, &url.as_str()],
        )?;
        return Ok(None);
    }
    let secret = webhook_signing::new_secret(cx.ids);
    let kept = sealing::seal(cx, &sealing::panel_purpose(ws, livemode), &secret);
    tx.exec(
        "INSERT INTO customer_panels (ws, livemode, name, url, secret, created_at, problem)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, '')",
        &[&ws, &livemode, &name, &url.as_str(), &kept, &cx.now],
    )?;
    Ok(Some(secret))
}

/// Gives an app a new secret, shown this once. The old one signs too for a day.
pub fn rotate_panel_secret(tx: &mut Tx<'_>, cx: &Cx<'_>, livemode: bool) -> Result<String> {
    let panel = must_find(tx, cx, livemode)?;
    let ws = cx.actor.ws;
    let secret = webhook_signing::new_secret(cx.ids);
    let kept = sealing::seal(cx, &sealing::panel_purpose(ws, livemode), &secret);
    tx.exec(
        "UPDATE customer_panels SET old_secret = secret, old_secret_until = ?3, secret = ?4
         WHERE ws = ?1 AND livemode = ?2",
        &[&ws, &livemode, &(cx.now + OLD_SECRET_MS), &kept],
    )?;
    audit_log::record(tx, cx, &Circle::team(), Action::PanelRotated, &panel.url, "")?;
    Ok(secret)
}

/// Asks an app no more.
pub fn remove_panel(tx: &mut Tx<'_>, cx: &Cx<'_>, livemode: bool) -> Result<()> {
    let panel = must_find(tx, cx, livemode)?;
    let ws = cx.actor.ws;
    tx.exec("DELETE FROM customer_panels WHERE ws = ?1 AND livemode = ?2", &[&ws, &livemode])?;
    cx.panels.forget_workspace(ws);
    audit_log::record(tx, cx, &Circle::team(), Action::PanelRemoved, &panel.url, "")
}

fn must_find(tx: &mut Tx<'_>, cx: &Cx<'_>, livemode: bool) -> Result<CustomerPanel> {
    cx.actor.must_administer()?;
    find(tx, cx.actor.ws, livemode)?.ok_or(Error::NotFound("customer panel"))
}

/// Writes down how the app fared.
pub(crate) fn note(
    tx: &mut Tx<'_>,
    ws: i64,
    livemode: bool,
    problem: &str,
    now: i64,
) -> Result<()> {
    let sql = if problem.is_empty() {
        "UPDATE customer_panels SET answered_at = ?3, problem = ?4, failed_at = NULL
         WHERE ws = ?1 AND livemode = ?2"
    } else {
        "UPDATE customer_panels SET failed_at = ?3, problem = ?4 WHERE ws = ?1 AND livemode = ?2"
    };
    tx.exec(sql, &[&ws, &livemode, &now, &problem])?;
    Ok(())
}
