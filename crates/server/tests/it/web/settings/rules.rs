//! Rules, office hours and reports on pages.

use base::actor::Role;
use base::limits::{RULE_ACTS, RULE_CONDITIONS};

use crate::support::{TestApp, on_both};

on_both!(
    a_rule_is_made_tried_switched_on_and_its_work_stands_in_the_report,
    a_row_that_is_added_keeps_what_was_typed_and_saves_nothing,
    the_row_that_is_removed_is_the_one_that_was_meant,
    a_rule_has_no_more_rows_than_it_can_have,
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
        .shows("value=\"2 Feb 2026\"");
    for (query, sentence) in [
        ("from=abc", "The first day must be a date such as 2026-11-30."),
        ("to=2026-02-30", "The last day must be a date such as 2026-11-30."),
        ("from=zzz&to=2026-02-01", "The first day must be a date such as 2026-11-30."),
    ] {
        owner.get(&format!("/reports?{query}")).await.is(422).shows(sentence);
        owner.get(&format!("/reports.csv?{query}")).await.is(400).shows(sentence);
    }
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
    let report = owner.get("/reports").await.is(200);
    report.shows("none due").shows("Target: 4 h 00").shows("days and hours in Europe/Berlin");
    owner.post(&format!("{PAGE}/{id}/delete"), &[]).await.goes_to(PAGE);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("added the rule").shows("switched on the rule").shows("deleted the rule");
}

async fn a_row_that_is_added_keeps_what_was_typed_and_saves_nothing(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(PAGE).await.is(200);
    page.shows("Condition 1, what").hides("Condition 2, what");
    page.shows("Act 1, what").hides("Act 2, what").hides("Changed, not saved");
    let typed = [
        ("name", ""),
        ("event", "customer-replies"),
        ("field", "subject"),
        ("how", "is-not"),
        ("value", "lamp"),
        ("act", ""),
        ("with", "lamps"),
        ("last", "1"),
    ];
    let add = |what: &'static str| [typed.as_slice(), &[("add", what)]].concat();
    let page = owner.post(PAGE, &add("condition")).await.is(200);
    page.shows("Changed, not saved").shows("No rules yet").hides("Not saved</h3>");
    for kept in [
        "value=\"customer-replies\" selected",
        "value=\"subject\" selected",
        "value=\"is-not\" selected",
        "value=\"lamp\"",
        "value=\"lamps\"",
        "name=\"last\" value=\"1\" checked",
    ] {
        page.shows(kept);
    }
    assert!(page.between("Condition 2, what\"", ">").contains("autofocus"), "{}", page.text);
    assert!(!page.between("Condition 1, what\"", ">").contains("autofocus"));
    page.hides("Condition 3, what").hides("Act 2, what");
    let page = owner.post(PAGE, &add("act")).await.is(200);
    assert!(page.between("Act 2, what\"", ">").contains("autofocus"), "{}", page.text);
    page.hides("Condition 2, what");

    // The same of a rule that is there.
    let rule = [("name", "Lamps"), ("event", "mail-arrives"), ("act", "tag"), ("with", "lamps")];
    owner.post(PAGE, &rule).await.is(303);
    let key = app.key("read").await;
    let rules = app.get(&key, "/rules").await.json();
    let path = format!("{PAGE}/{}", rules[0]["id"].as_str().unwrap());
    owner.get(&path).await.is(200).shows("Act 2, what").hides("Act 3, what");
    let changed = [("name", "Desks"), ("event", "mail-arrives"), ("act", "close"), ("add", "act")];
    let page = owner.post(&path, &changed).await.is(200);
    page.shows("value=\"Desks\"").shows("tag it lamps").shows("Act 2, what").hides("Act 3, what");
    assert_eq!(app.get(&key, "/rules").await.json(), rules);
}

async fn the_row_that_is_removed_is_the_one_that_was_meant(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let typed = [
        ("name", "Lamps"),
        ("field", "subject"),
        ("value", "first"),
        ("field", "words"),
        ("value", "second"),
        ("field", "tag"),
        ("value", "third"),
        ("act", "tag"),
        ("with", "fourth"),
        ("act", "assign"),
        ("with", "fifth"),
    ];
    let remove = |row, place| [typed.as_slice(), &[(row, place)]].concat();
    let page = owner.post(PAGE, &remove("remove_condition", "1")).await.is(200);
    page.shows("value=\"first\"").hides("value=\"second\"").shows("value=\"third\"");
    page.shows("value=\"fourth\"").shows("value=\"fifth\"").hides("Condition 3, what");
    assert!(page.between("Condition 2, what\"", ">").contains("autofocus"), "{}", page.text);
    let page = owner.post(PAGE, &remove("remove_act", "0")).await.is(200);
    page.hides("value=\"fourth\"").shows("value=\"fifth\"").shows("value=\"second\"");
    page.shows("Act 1, what").hides("Act 2, what").shows("No rules yet");
    let only = [("act", "tag"), ("with", "fourth"), ("remove_act", "0")];
    let page = owner.post(PAGE, &only).await.is(200);
    page.hides("value=\"fourth\"").shows("Act 1, what").hides("Act 2, what");
}

async fn a_rule_has_no_more_rows_than_it_can_have(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("Add a condition").shows("Add an act");
    let mut typed = [("field", "subject"), ("value", "lamp")].repeat(RULE_CONDITIONS - 1);
    typed.push(("add", "condition"));
    let page = owner.post(PAGE, &typed).await.is(200);
    page.shows(&format!("Condition {RULE_CONDITIONS}, what"));
    page.hides("Add a condition").shows("Add an act");
    let mut typed = [("act", "tag"), ("with", "lamp")].repeat(RULE_ACTS);
    typed.push(("add", "act"));
    let page = owner.post(PAGE, &typed).await.is(200);
    page.hides(&format!("Act {}, what", RULE_ACTS + 1)).hides("Add an act");
    typed.pop();
    typed.extend([("name", "Full"), ("event", "mail-arrives")]);
    owner.post(PAGE, &typed).await.is(303);
    let key = app.key("read").await;
    let id = app.get(&key, "/rules").await.json()[0]["id"].as_str().unwrap().to_owned();
    let page = owner.get(&format!("{PAGE}/{id}")).await.is(200);
    page.shows(&format!("Act {RULE_ACTS}, what")).hides("Add an act").shows("Add a condition");
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
