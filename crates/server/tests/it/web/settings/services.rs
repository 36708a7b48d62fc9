//! Sending services, as owners and admins connect them in the app.

use base::actor::Plan;

use crate::support::*;

on_both!(
    every_service_is_connected_and_says_what_to_enter,
    a_secret_is_checked_for_its_form_and_never_shown,
    members_see_no_services
);

const PAGE: &str = "/settings/services";

async fn every_service_is_connected_and_says_what_to_enter(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("No service is connected");
    for (service, label, step) in [
        ("resend", "Resend", "email.sent"),
        ("postmark", "Postmark", "Delivery"),
        ("mailgun", "Mailgun", "HTTP webhook signing key"),
        ("sendgrid", "SendGrid", "Signed Event Webhook"),
        ("ses", "Amazon SES", "ARN of the topic"),
    ] {
        let key = if matches!(service, "sendgrid" | "ses") { "" } else { "re_secret_key" };
        let fields = [("service", service), ("api_key", key), ("reference_tag", "reference")];
        let page = owner.post(PAGE, &fields).await.is(200);
        page.shows(&format!("Enter this address at {label}")).shows(step).hides("re_secret_key");
        page.shows(&format!("/hooks/{service}/"));
    }
    let page = owner.get(PAGE).await.is(200);
    page.shows("Secret missing").shows("Nothing noted yet").hides("mailroom:");
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("connected the sending service <strong>Amazon SES</strong>");
    let missing = [("service", "resend"), ("api_key", ""), ("reference_tag", "reference")];
    owner.post(PAGE, &missing).await.is(422).shows("Enter an API key of Resend");
    let bad = [("service", "ses"), ("reference_tag", "a b")];
    owner.post(PAGE, &bad).await.is(422).shows("The name must be 1 to 80 letters");
    owner.post(PAGE, &[("service", "pigeon"), ("reference_tag", "r")]).await.is(400);
    app.set_plan(Plan::Free).await;
    owner.get(PAGE).await.is(200).shows("Connections are part of the Pro and Team plans");
}

async fn a_secret_is_checked_for_its_form_and_never_shown(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let fields = [("service", "ses"), ("reference_tag", "reference")];
    let page = owner.post(PAGE, &fields).await.is(200);
    let id = page.between("/settings/services/svc_", "/secret").to_owned();
    let path = format!("{PAGE}/svc_{id}");
    let bad = owner.post(&format!("{path}/secret"), &[("secret", "nonsense")]).await.is(422);
    bad.shows("This is not the ARN of the topic of Amazon SES.");
    let topic = "arn:aws:sns:eu-central-1:123456789012:sent-mail";
    owner.post(&format!("{path}/secret"), &[("secret", topic)]).await.goes_to(PAGE);
    let page = owner.get(PAGE).await.is(200);
    page.shows("Saved. Calls that it signs are taken from now on.").hides(topic);
    page.shows("Nothing noted yet").hides("Secret missing");
    owner.post(&format!("{path}/remove"), &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("No service is connected");
    owner.post(&format!("{path}/remove"), &[]).await.is(404);
    owner.post(&format!("{path}/secret"), &[("secret", topic)]).await.is(404);
}

async fn members_see_no_services(app: TestApp) {
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    member.get(PAGE).await.is(403);
    let fields = [("service", "ses"), ("api_key", "x"), ("reference_tag", "reference")];
    member.post(PAGE, &fields).await.is(403);
    let missing = [("service", "resend"), ("reference_tag", "reference")];
    member.post(PAGE, &missing).await.is(403);
}
