//! Connections to e-mail-sending services: making, completing, listing and ending them.

use base::actor::{Circle, Principal};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ServiceId, UserId};
use base::limits::{REFERENCE_TAG_CHARS, SERVICE_TOKEN_CHARS, SERVICES};
use base::time::Moment;
use base::workspaces::samples::refuse_in_sample;
use db::{Json, Tx};
use model::installation::audit_log::{self, Action};
use outbound::services::Service;
use serde::Serialize;

/// Mails of a service that are listed.
const NOTED_LISTED: i64 = 5;

/// A connection to make. Secrets are sealed already.
#[derive(Clone)]
pub struct NewService {
    pub id: ServiceId,
    pub service: Service,
    pub sealed_key: String,
    pub sealed_secret: Option<String>,
    pub api_url: String,
    pub reference_tag: String,
}

/// The path that the service is to call.
pub fn service_path(service: Service, token: &str) -> String {
    format!("/hooks/{}/{token}", service.as_str())
}

/// Connects a service; returns the path of its webhook.
pub fn connect_service(tx: &mut Tx<'_>, cx: &Cx<'_>, new: &NewService) -> Result<String> {
    cx.actor.must_administer()?;
    let Principal::Person { id: made_by, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a person can connect a service.".into()));
    };
    refuse_in_sample(tx, cx.actor.ws)?;
    let tag = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let fits = (1..=REFERENCE_TAG_CHARS).contains(&new.reference_tag.len());
    if !fits || !new.reference_tag.bytes().all(tag) {
        let sentence = format!("must be 1 to {REFERENCE_TAG_CHARS} letters, digits, _ and -");
        return Err(Error::invalid("reference-tag", sentence));
    }
    let (count,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM services WHERE ws = ?1", &[&cx.actor.ws])?;
    if count >= SERVICES {
        return Err(Error::invalid("service", "there are as many connections as there may be"));
    }
    let token = cx.ids.token(SERVICE_TOKEN_CHARS);
    tx.exec(
        "INSERT INTO services (
            ws, id, service, token, secret, api_key, api_url, reference_tag, made_by, noted,
            created_at
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10)",
        &[
            &cx.actor.ws,
            &new.id,
            &new.service,
            &token,
            &new.sealed_secret,
            &new.sealed_key,
            &new.api_url,
            &new.reference_tag,
            made_by,
            &cx.now,
        ],
    )?;
    let label = new.service.label();
    audit_log::record(tx, cx, &Circle::team(), Action::ServiceConnected, label, new.id.as_str())?;
    Ok(service_path(new.service, &token))
}

/// Completes a connection with the secret that the service signs its calls with.
pub fn set_service_secret(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &ServiceId,
    sealed_secret: &str,
) -> Result<()> {
    cx.actor.must_administer()?;
    let set = tx.exec(
        "UPDATE services SET secret = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, id, &sealed_secret],
    )?;
    if set == 0 {
        return Err(Error::NotFound("connection"));
    }
    let label = label_of(tx, cx, id)?;
    audit_log::record(tx, cx, &Circle::team(), Action::ServiceChanged, label, id.as_str())
}

fn label_of(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ServiceId) -> Result<&'static str> {
    let found: Option<(Service,)> =
        tx.opt("SELECT service FROM services WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    found.map(|(service,)| service.label()).ok_or(Error::NotFound("connection"))
}

/// Ends a connection. Its recorded mail stays until it expires; texts are no longer fetched.
pub fn disconnect_service(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ServiceId) -> Result<()> {
    cx.actor.must_administer()?;
    let label = label_of(tx, cx, id)?;
    tx.exec("DELETE FROM services WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    audit_log::record(tx, cx, &Circle::team(), Action::ServiceDisconnected, label, id.as_str())
}

db::row! {
    /// A mail that a service told of.
    pub struct NotedMail from "app_mail" {
        pub subject: String,
        pub to: Json<Vec<EmailAddress>> = "app_mail.to_list",
        pub reference: String,
        pub recorded_at: i64,
        pub answered: bool = "app_mail.conversation IS NOT NULL",
    }
}

/// What a service told of lately, newest first.
pub fn noted_lately(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ServiceId) -> Result<Vec<NotedMail>> {
    cx.actor.must_administer()?;
    Ok(tx.all(
        &format!(
            "SELECT {} FROM app_mail WHERE ws = ?1 AND service = ?2
             ORDER BY recorded_at DESC LIMIT ?3",
            NotedMail::COLUMNS
        ),
        &[&cx.actor.ws, id, &NOTED_LISTED],
    )?)
}

db::row! {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct ServiceListing from "services" {
        pub id: ServiceId,
        pub service: Service,
        /// The address that the service is to call.
        pub address: String = "services.token",
        /// False until the secret that verifies its calls is set.
        pub complete: bool = "services.secret IS NOT NULL",
        pub reference_tag: String,
        pub made_by: UserId,
        /// Mails that it has reported.
        pub noted: i64,
        pub last_noted_at: Option<Moment>,
        /// A sentence on why words could not be read last time.
        pub last_error: Option<String>,
        pub created_at: Moment,
    }
}

base::debug_without_secrets!(ServiceListing { id, service, complete });

pub fn list_services(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<ServiceListing>> {
    cx.actor.must_administer()?;
    let mut listed: Vec<ServiceListing> = tx.all(
        &format!(
            "SELECT {} FROM services WHERE ws = ?1 ORDER BY created_at, id",
            ServiceListing::COLUMNS
        ),
        &[&cx.actor.ws],
    )?;
    for listing in &mut listed {
        // The row has the token, which is the last part of the address.
        let path = service_path(listing.service, &listing.address);
        listing.address = format!("{}{path}", cx.public_url);
    }
    Ok(listed)
}
