//! Services that an app sends its own mail through: connecting them, their secrets and their health.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use inbox::Error;
use inbox::actions::{self, NewService, NotedMail, ServiceListing};
use inbox::base::ids::ServiceId;
use inbox::model::services::{POSTMARK_PASSWORD_CHARS, POSTMARK_USER, SECRET_CHARS, Service};

use super::incoming_mail::StatusBadge;
use super::{SettingsPage, location};
use crate::node::vault::service_purpose;
use crate::web::Web;
use crate::web::form::{FormFields, FormValue, Posted, form};
use crate::web::layout::filters;
use crate::web::layout::flash::Flash;
use crate::web::layout::page_layout::PageLayout;
use crate::web::layout::responses::{self, PageError, PageResult};
use crate::web::layout::wording::DisplayTime;
use crate::web::visitor::Visitor;

/// Where Mailgun's API for customers in the EU is.
const MAILGUN_EU: &str = "https://api.eu.mailgun.net";

#[derive(Template)]
#[template(path = "settings_services.html", whitespace = "minimize")]
struct ServicesPage {
    frame: PageLayout,
    services: Vec<ServiceView>,
    /// The name and address of a connection that was just made; Postmark's holds a password and is
    /// shown this once.
    made: Option<(String, String)>,
    has_api: bool,
    chosen: String,
    tag: String,
    key_error: String,
    tag_error: String,
}

struct ServiceView {
    id: String,
    label: &'static str,
    address: String,
    state: StatusBadge,
    trouble: Option<String>,
    complete: bool,
    reference_tag: String,
    noted: i64,
    last: Option<DisplayTime>,
    steps: Vec<String>,
    secret_label: &'static str,
    secret_error: String,
    lately: Vec<NotedView>,
}

struct NotedView {
    subject: String,
    to: String,
    reference: String,
    at: DisplayTime,
    answered: bool,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<ServicesPage, PageError> {
    let (frame, (listed, has_api)) = web
        .page(visitor, location(SettingsPage::Services), |tx, cx, me| {
            let mut listed = Vec::new();
            for service in actions::list_services(tx, cx)? {
                let lately = actions::noted_lately(tx, cx, &service.id)?;
                listed.push((service, lately));
            }
            Ok((listed, me.plan.has_api()))
        })
        .await?;
    let view = |(service, lately)| service_view(service, lately, &frame);
    Ok(ServicesPage {
        services: listed.into_iter().map(view).collect(),
        frame,
        made: None,
        has_api,
        chosen: Service::Resend.as_str().into(),
        tag: "reference".into(),
        key_error: String::new(),
        tag_error: String::new(),
    })
}

fn service_view(listed: ServiceListing, lately: Vec<NotedMail>, frame: &PageLayout) -> ServiceView {
    let noted = |mail: NotedMail| NotedView {
        subject: mail.subject,
        to: mail.to.0.iter().map(|to| to.to_string()).collect::<Vec<_>>().join(", "),
        reference: mail.reference,
        at: frame.times.short(mail.recorded_at),
        answered: mail.answered,
    };
    ServiceView {
        id: listed.id.to_string(),
        label: listed.service.label(),
        state: state_of(&listed),
        trouble: listed.last_error.clone(),
        complete: listed.complete,
        noted: listed.noted,
        last: listed.last_noted_at.map(|at| frame.times.long(at.0)),
        steps: steps(listed.service, &listed.reference_tag),
        secret_label: secret_label(listed.service),
        secret_error: String::new(),
        lately: lately.into_iter().map(noted).collect(),
        reference_tag: listed.reference_tag,
        address: listed.address,
    }
}

fn state_of(listed: &ServiceListing) -> StatusBadge {
    if !listed.complete {
        StatusBadge { class: "warn", icon: "key", word: "Secret missing" }
    } else if listed.last_error.is_some() {
        StatusBadge { class: "danger", icon: "fail", word: "Failing" }
    } else if listed.last_noted_at.is_none() {
        StatusBadge { class: "act", icon: "wait", word: "Nothing noted yet" }
    } else {
        StatusBadge { class: "ok", icon: "check", word: "Working" }
    }
}

/// What is to be entered at the service.
fn steps(service: Service, tag: &str) -> Vec<String> {
    let steps: &[&str] = match service {
        Service::Resend => &[
            "In Resend, open Webhooks and add the address above for the event email.sent.",
            "Copy the signing secret that Resend shows (whsec_…) and enter it here.",
        ],
        Service::Postmark => &[
            "In Postmark, open the message stream's Webhooks and add the address that was shown when \
             you connected it, for the event Delivery.",
        ],
        Service::Mailgun => &[
            "In Mailgun, open Sending, Webhooks and add the address above for accepted or delivered \
             messages.",
            "Copy the HTTP webhook signing key and enter it here.",
        ],
        Service::SendGrid => &[
            "In SendGrid, open Settings, Mail Settings, Event Webhook and add the address above for \
             Processed or Delivered.",
            "Turn on Signed Event Webhook, copy the verification key and enter it here.",
        ],
        Service::AmazonSes => &[
            "In Amazon SNS, make a topic and enter its ARN here.",
            "Subscribe the address above to the topic, with the protocol HTTPS. The subscription \
             confirms itself.",
            "In Amazon SES, publish the event Send of your configuration set to the topic.",
        ],
    };
    let reference = match service {
        Service::Resend => format!("Put your reference into the tag {tag}."),
        Service::Postmark => format!("Put your reference into the metadata field {tag}."),
        Service::Mailgun => format!("Put your reference into the variable v:{tag}."),
        Service::SendGrid => format!("Put your reference into the custom argument {tag}."),
        Service::AmazonSes => format!("Put your reference into the message tag {tag}."),
    };
    steps.iter().map(|step| (*step).to_owned()).chain([reference]).collect()
}

fn secret_label(service: Service) -> &'static str {
    match service {
        Service::Resend => "Signing secret (whsec_…)",
        Service::Postmark => "Password",
        Service::Mailgun => "HTTP webhook signing key",
        Service::SendGrid => "Verification key",
        Service::AmazonSes => "ARN of the topic",
    }
}

form! {
    pub struct NewServiceForm {
        service: Service,
        api_key: String,
        region: String,
        reference_tag: String,
    }

    pub struct ServiceSecretForm {
        secret: String,
    }
}

impl FormValue for Service {
    fn read(fields: &FormFields, name: &str) -> inbox::Result<Service> {
        Service::parse(&fields.get(name)).ok_or_else(|| Error::invalid(name, "Choose a service."))
    }
}

/// Connects a service and shows the address that it is to call.
pub async fn add(State(web): State<Arc<Web>>, posted: Posted<NewServiceForm>) -> PageResult {
    let Posted { visitor, form } = posted;
    let (service, key) = (form.service, form.api_key.trim().to_owned());
    let tag = form.reference_tag.trim().to_owned();
    if service.keeps_text() && !is_one_word(&key) {
        web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
        let page = build(&web, &visitor).await?;
        let key_error = format!("Enter an API key of {} that may read sent mail.", service.label());
        let chosen = service.as_str().into();
        return responses::again(&ServicesPage { key_error, chosen, tag, ..page });
    }
    let id = ServiceId::new(&web.app.ids, web.app.clock.now());
    let password =
        (service == Service::Postmark).then(|| web.app.ids.secret(POSTMARK_PASSWORD_CHARS));
    let new = NewService {
        service,
        sealed_key: seal(&web, "key", &id, &key),
        sealed_secret: password.as_ref().map(|password| seal(&web, "secret", &id, password)),
        api_url: match (service, form.region.as_str()) {
            (Service::Mailgun, "eu") => MAILGUN_EU.into(),
            _ => service.api_url().into(),
        },
        reference_tag: tag.clone(),
        id,
    };
    let connected =
        web.act(&visitor, move |tx, cx, _| actions::connect_service(tx, cx, &new)).await;
    match connected {
        Ok(path) => {
            let address = address(&web.app.public_url, &path, password.as_deref());
            let page = build(&web, &visitor).await?;
            let made = Some((service.label().to_owned(), address));
            responses::page(&ServicesPage { made, ..page })
        }
        Err(PageError::Domain(Error::Invalid(problems))) => {
            let page = build(&web, &visitor).await?;
            let first = problems.0.first().map(|problem| problem.sentence.clone());
            let tag_error = format!("The name {}.", first.unwrap_or_default());
            let chosen = service.as_str().into();
            responses::again(&ServicesPage { tag_error, chosen, tag, ..page })
        }
        Err(refusal) => Err(refusal),
    }
}

/// Sets the secret that the service's calls are checked with.
pub async fn set_secret(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted<ServiceSecretForm>,
) -> PageResult {
    let Posted { visitor, form } = posted;
    let (service, secret) = (service_id(&id)?, form.secret.trim().to_owned());
    let wanted = service.clone();
    let listed = web.read(&visitor, move |tx, cx, _| {
        let all = actions::list_services(tx, cx)?;
        all.into_iter().find(|one| one.id == wanted).ok_or(Error::NotFound("connection"))
    });
    if !listed.await?.service.is_secret(&secret) {
        let mut page = build(&web, &visitor).await?;
        for one in page.services.iter_mut().filter(|one| one.id == id) {
            one.secret_error = format!("This is not the {} of {}.", one.secret_label, one.label);
        }
        return responses::again(&page);
    }
    let sealed = seal(&web, "secret", &service, &secret);
    web.act(&visitor, move |tx, cx, _| actions::set_service_secret(tx, cx, &service, &sealed))
        .await?;
    web.redirect("/settings/services", Flash::ServiceSecret)
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: Posted,
) -> PageResult {
    let id = service_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| actions::disconnect_service(tx, cx, &id)).await?;
    web.redirect("/settings/services", Flash::ServiceRemoved)
}

fn service_id(id: &str) -> inbox::Result<ServiceId> {
    ServiceId::parse(id).ok_or(Error::NotFound("connection"))
}

fn seal(web: &Web, what: &str, id: &ServiceId, secret: &str) -> String {
    web.app.sealer.seal(&web.app.ids, &service_purpose(what, id.as_str()), secret)
}

fn is_one_word(text: &str) -> bool {
    (1..=SECRET_CHARS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

/// The whole address that the service is to call, with user and password where it names them.
fn address(public_url: &str, path: &str, password: Option<&str>) -> String {
    let url = format!("{public_url}{path}");
    match (password, url.split_once("://")) {
        (Some(password), Some((scheme, rest))) => {
            format!("{scheme}://{POSTMARK_USER}:{password}@{rest}")
        }
        _ => url,
    }
}
