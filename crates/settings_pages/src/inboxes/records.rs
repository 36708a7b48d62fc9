//! Looking up the DNS records of an inbox's domain, and the key that signs the domain's mail.

use std::sync::Arc;

use actions::inboxes::first_steps::{FirstStepTrial, record_outcome};
use axum::extract::{Path, State};
use base::app::Cx;
use base::concurrency::blocking::spawn_blocking;
use base::error::Error;
use base::ids::MailboxId;
use db::Tx;
use model::mailboxes;
use model::mailboxes::domains::{self, ListedKey};
use translation::t;
use transport::mail_out::dns_records::{self, Finding};
use transport::net::dns_lookup::Lookup;
use web::Web;
use web::forms::form::PostedForm;
use web::layout::flash::Flash;
use web::layout::responses::{PageError, PageResult, see_other};
use web::visitor::Visitor;

use crate::inboxes::inbox::{build, mailbox_id};
use crate::inboxes::records_view::{OutcomeView, ascii_domain, from_finding, outcome};

/// Looks the records up and shows the page with what was found.
pub async fn look(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let visitor = posted.visitor;
    let mailbox = mailbox_id(&id)?;
    let (domain, keys) = web.read(&visitor, move |tx, cx, _| domain_of(tx, cx, &mailbox)).await?;
    let looked = look_up(&web, &domain, &keys).await;
    if let Ok(findings) = &looked {
        begin_signing(&web, &visitor, &domain, &keys, findings).await?;
        let (good, domain) = (dns_records::are_good(findings), domain.clone());
        web.act_quietly(&visitor, move |tx, cx, _| {
            record_outcome(tx, cx, FirstStepTrial::Records, good, &domain)
        })
        .await?;
    }
    let mut page = build(&web, &visitor, &id).await?;
    if let Some(records) = page.mail.as_mut().and_then(|mail| mail.records.as_mut()) {
        match looked {
            Ok(findings) => {
                records.outcome = Some(outcome(&findings));
                records.rows = findings.into_iter().map(from_finding).collect();
            }
            Err(outcome) => records.outcome = Some(outcome),
        }
    }
    web.show(&visitor, &page)
}

/// A cached answer would tell somebody who has just published a record that it is missing, so each
/// look-up has an empty cache.
async fn look_up(web: &Web, domain: &str, keys: &[ListedKey]) -> Result<Vec<Finding>, OutcomeView> {
    let not = |title: &str, sentence| OutcomeView {
        class: "warn",
        icon: "warn",
        title: title.into(),
        sentence,
    };
    let Ok(_place) = web.lookups.try_acquire() else {
        let sentence = t!("Several domains are being looked up already. Check again in a moment.");
        return Err(not(t!("Nothing was looked up"), sentence));
    };
    let lookup = Lookup::at(web.mail_setup.dns).map_err(|error| {
        tracing::warn!(%error, "no DNS resolver available");
        not(
            t!("The DNS could not be asked"),
            t!("This server does not know a DNS server; its log says why."),
        )
    })?;
    Ok(dns_records::look_up(&lookup, domain, keys, &web.mail_setup.sending).await)
}

async fn begin_signing(
    web: &Web,
    visitor: &Visitor,
    domain: &str,
    keys: &[ListedKey],
    findings: &[Finding],
) -> Result<(), PageError> {
    let Some(selector) = dns_records::key_now_seen(domain, keys, findings) else { return Ok(()) };
    let domain = domain.to_owned();
    web.act(visitor, move |tx, cx, _| domains::begin_signing(tx, cx, &domain, &selector)).await
}

/// Makes the first key of the inbox's domain; it signs at once.
pub async fn make_key(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let visitor = posted.visitor;
    let mailbox = mailbox_id(&id)?;
    let (domain, keys) = web.read(&visitor, move |tx, cx, _| domain_of(tx, cx, &mailbox)).await?;
    let path = format!("/settings/inboxes/{id}#records");
    if !keys.is_empty() {
        return Ok(see_other(&path));
    }
    let key = domain_key(&web).await?;
    web.act(&visitor, move |tx, cx, _| domains::keep_first_key(tx, cx, &domain, &key)).await?;
    web.redirect(&path, Flash::SigningKey)
}

async fn domain_key(web: &Web) -> base::error::Result<mail::DkimKey> {
    let failed = || Error::invalid("domain", "The key could not be made. Try again.");
    let _place = web.hashing.acquire().await.map_err(|_| failed())?;
    let ids = web.app.ids.clone();
    let made = spawn_blocking(move || domains::make_key(&ids)).await;
    made.map_err(|_| failed())?
}

/// The domain of an inbox and its keys, for owners and admins.
fn domain_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &MailboxId,
) -> base::error::Result<(String, Vec<ListedKey>)> {
    cx.actor.must_administer()?;
    let found = mailboxes::seen_by(tx, cx.actor, mailbox)?.ok_or(Error::NotFound("inbox"))?;
    let domain = ascii_domain(&found.address).unwrap_or_default();
    let keys = domains::list_keys(tx, cx, &domain)?;
    Ok((domain, keys))
}
