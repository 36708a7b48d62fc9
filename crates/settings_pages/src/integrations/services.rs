//! Services that an app sends its own mail through: connecting them, their secrets and their health.

use std::sync::Arc;

use actions::integrations::services::{self, NewService, NotedMail, ServiceListing};
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::ServiceId;
use node::vault::service_purpose;
use outbound::services::{POSTMARK_PASSWORD_CHARS, POSTMARK_USER, SECRET_CHARS, Service};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

use crate::inboxes::incoming_mail::StatusBadge;
use crate::{SettingsPage, location};

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
            for service in services::list_services(tx, cx)? {
                let lately = services::noted_lately(tx, cx, &service.id)?;
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
        trouble: listed.last_error.as_deref().map(|error| sentence(error).into_owned()),
        complete: listed.complete,
        noted: listed.noted,
        last: listed.last_noted_at.map(|at| frame.times.long(at.0)),
        steps: listed.service.steps(&listed.reference_tag),
        secret_label: listed.service.secret_label(),
        secret_error: String::new(),
        lately: lately.into_iter().map(noted).collect(),
        reference_tag: listed.reference_tag,
        address: listed.address,
    }
}

fn state_of(listed: &ServiceListing) -> StatusBadge {
    if !listed.complete {
        StatusBadge { class: "warn", icon: "key", word: t!("Secret missing") }
    } else if listed.last_error.is_some() {
        StatusBadge { class: "danger", icon: "fail", word: t!("Failing") }
    } else if listed.last_noted_at.is_none() {
        StatusBadge { class: "act", icon: "wait", word: t!("Nothing noted yet") }
    } else {
        StatusBadge { class: "ok", icon: "check", word: t!("Working") }
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

/// Connects a service and shows the address that it is to call.
pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<NewServiceForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (service, key) = (form.service, form.api_key.trim().to_owned());
    let tag = form.reference_tag.trim().to_owned();
    if service.keeps_text() && !is_one_word(&key) {
        web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
        let page = build(&web, &visitor).await?;
        let key_error =
            t!("Enter an API key of {service} that may read sent mail.", service = service.label());
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
        web.act(&visitor, move |tx, cx, _| services::connect_service(tx, cx, &new)).await;
    match connected.or_problems()? {
        Ok(path) => {
            let address = address(&web.app.public_url, &path, password.as_deref());
            let page = build(&web, &visitor).await?;
            let made = Some((service.label().to_owned(), address));
            responses::page(&ServicesPage { made, ..page })
        }
        Err(problems) => {
            let page = build(&web, &visitor).await?;
            let rule = problems.first_sentence();
            let tag_error = t!("The name {rule}.", rule = sentence(&rule));
            let chosen = service.as_str().into();
            responses::again(&ServicesPage { tag_error, chosen, tag, ..page })
        }
    }
}

/// Sets the secret that the service's calls are checked with.
pub async fn set_secret(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<ServiceSecretForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (service, secret) = (service_id(&id)?, form.secret.trim().to_owned());
    let wanted = service.clone();
    let listed = web.read(&visitor, move |tx, cx, _| {
        let all = services::list_services(tx, cx)?;
        all.into_iter().find(|one| one.id == wanted).ok_or(Error::NotFound("connection"))
    });
    if !listed.await?.service.is_secret(&secret) {
        let mut page = build(&web, &visitor).await?;
        for one in page.services.iter_mut().filter(|one| one.id == id) {
            one.secret_error = t!(
                "This is not the {secret} of {service}.",
                secret = one.secret_label,
                service = one.label
            );
        }
        return responses::again(&page);
    }
    let sealed = seal(&web, "secret", &service, &secret);
    web.act(&visitor, move |tx, cx, _| services::set_service_secret(tx, cx, &service, &sealed))
        .await?;
    web.redirect("/settings/services", Flash::ServiceSecret)
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = service_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| services::disconnect_service(tx, cx, &id)).await?;
    web.redirect("/settings/services", Flash::ServiceRemoved)
}

fn service_id(id: &str) -> base::error::Result<ServiceId> {
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
