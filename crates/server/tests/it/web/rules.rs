//! Rules, office hours and reports on pages.

use inbox::base::actor::Role;

use crate::support::{TestApp, on_both};

on_both!(
    a_rule_is_made_tried_switched_on_and_its_work_stands_in_the_report,
    members_read_rules_and_hours_and_change_nothing
);

const PAGE: &str = "/settings/rules";

async fn a_rule_is_made_tried_switched_on_and_its_work_stands_in_the_report(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("No rules yet").shows("Around the clock");
    let lamp = app.mail("ann@x.example", "Lamp", "broken").await;
    let wrong =
        [("name", "Lamps"), ("event", "mail-arrives"), ("act", "assign"), ("with", "Nobody")];
    owner
        .post(PAGE, &wrong)
        .await
        .is(422)
        .shows("<h3>Not saved</h3>")
        .shows("There is no person called")
        .shows("value=\"Lamps\"");
    let rule = [
        ("name", "Lamps"),
        ("event", "mail-arrives"),
        ("field", "subject"),
        ("how", "is"),
        ("value", "lamp"),
        ("act", "tag"),
        ("with", "lamps"),
        ("act", "close"),
    ];
    owner.post(PAGE, &rule).await.is(303);
    let key = app.key("read").await;
    let rules = app.get(&key, "/rules").await.json();
    let id = rules[0]["id"].as_str().unwrap().to_owned();
    let tried = owner.get(&format!("{PAGE}/{id}?try=1")).await.is(200);
    tried.shows("Tried on the last 1 conversations").shows("acted on 1 of 1 that match");
    owner.post(&format!("{PAGE}/{id}/switch"), &[("on", "1")]).await.goes_to(PAGE);
    owner
        .get(PAGE)
        .await
        .is(200)
        .shows("When mail arrives and subject has lamp: tag it lamps, close it");
    owner.post(&format!("{PAGE}/{id}/move"), &[("up", "1")]).await.goes_to(PAGE);
    let second = app.mail("bo@x.example", "A lamp", "broken").await;
    app.pass(5_000).await;
    let page = owner.get(&format!("/conversations/{}", second.conversation)).await.is(200);
    page.shows("The rule “Lamps”").shows("closed this");
    owner.get(&format!("/conversations/{}", lamp.conversation)).await.is(200).hides("The rule");
    let report = owner.get("/reports").await.is(200);
    report
        .shows("Messages in and out")
        .shows("<svg")
        .shows("lamps")
        .shows("The figures as a table")
        .shows("none set");
    let csv = owner.get("/reports.csv?table=tags").await.is(200);
    csv.shows("Tag,Conversations,Before").shows("lamps,1,0");
    owner.get("/reports.csv?table=nothing").await.is(404);
    owner
        .get("/reports?from=2026-02-02&to=2026-02-01")
        .await
        .is(422)
        .shows("The first day is after the last one.")
        .shows("value=\"2026-02-02\"");
    let hours = format!("/settings/hours/{}", app.support.id);
    owner.get(&hours).await.is(200).shows("Office hours of Support");
    owner
        .post(&hours, &[("weekly", "someday"), ("zone", "UTC")])
        .await
        .is(422)
        .shows("Hours are written");
    let good = [("weekly", "mon-fri 09:00-17:00"), ("zone", "Europe/Berlin"), ("answer", "4 h")];
    owner.post(&hours, &good).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("Europe/Berlin").shows("answer in 4 h");
    owner.get("/reports").await.is(200).shows("none due");
    owner.post(&format!("{PAGE}/{id}/delete"), &[]).await.goes_to(PAGE);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("added the rule").shows("switched on the rule").shows("deleted the rule");
}

async fn members_read_rules_and_hours_and_change_nothing(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let rule = [("name", "Lamps"), ("event", "mail-arrives"), ("act", "close"), ("with", "")];
    owner.post(PAGE, &rule).await.is(303);
    let mia = app.person_with("Mia", Role::Member).await;
    let member = app.signed_in(&mia).await;
    member.get(PAGE).await.is(200).shows("Lamps").hides("Save and try it");
    member.post(PAGE, &rule).await.is(403);
    member.get(&format!("/settings/hours/{}", app.support.id)).await.is(403);
    member.get("/reports").await.is(200).shows("Reports");
}
