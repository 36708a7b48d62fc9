//! The time zone of reports, and reports by mail.

use base::actor::Role;

use crate::support::*;

on_both!(
    an_admin_chooses_the_zone_and_who_gets_the_report,
    a_refused_choice_is_shown_again_and_changes_nothing,
    a_report_that_nobody_would_read_is_not_said_to_be_on_its_way,
    another_zone_is_kept_in_the_address_of_the_page
);

const PAGE: &str = "/settings/reports";

async fn an_admin_chooses_the_zone_and_who_gets_the_report(app: TestApp) {
    let bo = app.person_with("Bo", Role::Member).await;
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("Send me one now").shows("As in the office hours: UTC");
    let person = user(&bo).to_string();
    let chosen = [
        ("zone", "Europe/Berlin"),
        ("pace", "week"),
        ("weekday", "2"),
        ("people", person.as_str()),
    ];
    owner.post(PAGE, &chosen).await.goes_to(PAGE);
    let page = owner.get(PAGE).await.is(200);
    page.shows("The next one leaves on Wednesday").shows("<option value=\"2\" selected>");
    owner.get("/reports").await.is(200).shows("days and hours in Europe/Berlin").shows(PAGE);
    owner.get("/settings/audit").await.is(200).shows("changed the time zone and mails of reports");
    let wrong = [("zone", "Nowhere"), ("pace", "week"), ("weekday", "2")];
    owner.post(PAGE, &wrong).await.is(422).shows("This is no time zone.");
    owner.post("/settings/reports/mail", &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("The report is on its way to your address.");
    app.work().await;
    let sent = app.outside.relay.attempts().pop().expect("a mail");
    assert!(String::from_utf8_lossy(&sent.bytes).contains("Report of"));
    owner.post(PAGE, &[("zone", ""), ("pace", "")]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).hides("The next one leaves on");
    let member = app.signed_in(&bo).await;
    member.get(PAGE).await.is(403);
    member.post(PAGE, &chosen).await.is(403);
    member.post("/settings/reports/mail", &[]).await.is(403);
    member.get("/reports").await.is(200).hides(PAGE);
}

async fn a_refused_choice_is_shown_again_and_changes_nothing(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let person = user(&app.owner).to_string();
    let chosen = [("zone", "UTC"), ("pace", "week"), ("weekday", "2")];
    owner.post(PAGE, &chosen).await.goes_to(PAGE);
    let unknown =
        [("zone", "Asia/Tokyo"), ("pace", "day"), ("weekday", "4"), ("people", person.as_str())];
    let page = owner.post(PAGE, &unknown).await.is(422);
    page.shows("Choose never, every week or every month.")
        .shows("<option value=\"Asia/Tokyo\" selected>")
        .shows("<option value=\"4\" selected>")
        .shows(&format!("value=\"{person}\" checked"));
    let missing = [("zone", "Asia/Tokyo"), ("weekday", "4")];
    owner.post(PAGE, &missing).await.is(422).shows("Choose never, every week or every month.");
    let page = owner.get(PAGE).await.is(200);
    page.shows("The next one leaves on Wednesday").shows("<option value=\"UTC\" selected>");
}

async fn a_report_that_nobody_would_read_is_not_said_to_be_on_its_way(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let sql = format!(
        "UPDATE users SET email = 'support@acme.example' WHERE id = '{}'",
        user(&app.owner)
    );
    app.exec(&sql).await;
    owner.post("/settings/reports/mail", &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("No report was mailed: your address is an inbox here");
}

async fn another_zone_is_kept_in_the_address_of_the_page(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get("/reports").await.is(200).shows("days and hours in UTC").hides("Target:");
    let page = owner.get("/reports?zone=Asia/Tokyo").await.is(200);
    page.shows("days and hours in Asia/Tokyo").shows("zone=Asia%2FTokyo");
    page.shows("<option value=\"Asia/Tokyo\" selected>");
    owner.get("/reports?zone=Nowhere").await.is(422).shows("This is no time zone.");
    owner.get("/reports.csv?zone=Asia/Tokyo&table=volume").await.is(200).shows("From,In");
    owner.get("/reports.csv?zone=Nowhere").await.is(400);
}
