//! An inbox that is for some is indistinguishable from one that does not exist for everybody else, on
//! every page and form.

use actions::inboxes::inbox_access::{self, InboxAccess};
use base::actor::{Actor, Role};
use model::mailboxes::Mailbox;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use serde_json::json;

use crate::support::*;
use crate::web::visibility::{ADMINISTERED, NAMING, nothing, things_in};

on_both!(
    what_is_in_an_inbox_for_some_is_missing_for_the_others,
    lists_are_as_without_an_inbox_that_is_for_others,
    a_rule_for_an_inbox_for_some_is_missing_for_the_others
);

/// The method, the end of the path, and the fields of a form.
type RuleRoute<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

async fn close_inbox(app: &TestApp, inbox: &Mailbox, person: &Actor) {
    let holder = AccessHolder::Person(user(person));
    let entries = vec![AccessEntry { holder, may_see: true, may_send: false }];
    let access = InboxAccess { everybody: false, all_send: true, entries };
    let id = inbox.id.clone();
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access)).await;
}

async fn what_is_in_an_inbox_for_some_is_missing_for_the_others(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.team_inbox("billing@acme.example", "Billing").await;
    let (hidden, missing) = (things_in(&app, &ann, inbox.clone()).await, nothing());
    close_inbox(&app, &inbox, &ann).await;
    let member = app.person("Bo").await;
    let admin = app.person_with("Cy", Role::Admin).await;
    for viewer in [&app.owner, &admin, &member] {
        let browser = app.signed_in(viewer).await;
        let (is_member, is_owner) =
            (user(viewer) == user(&member), user(viewer) == user(&app.owner));
        for (method, path, fields) in NAMING.iter().chain(ADMINISTERED) {
            // Owners may choose who sees it, and delete it.
            let owned = ["/access", "/delete", "/retention"];
            if is_owner && owned.iter().any(|end| path.ends_with(end)) {
                continue;
            }
            let refused =
                is_member && ADMINISTERED.iter().any(|one| (one.0, one.1) == (*method, *path));
            let mut pages = Vec::new();
            for things in [&hidden, &missing] {
                let path = things.in_path(path);
                let page = match *method {
                    "GET" => browser.get(&path).await,
                    _ => browser.post(&path, fields).await,
                };
                pages.push((page.status, page.text, page.answer.header_list()));
            }
            let expected = if refused { 403 } else { 404 };
            assert_eq!(pages[0].0, expected, "{method} {path}: {}", pages[0].1);
            assert_eq!(pages[0], pages[1], "{method} {path}");
        }
    }
    let browser = app.signed_in(&app.owner).await;
    let access = format!("/settings/inboxes/{}/access", inbox.id);
    browser.get(&access).await.is(200).shows("You do not see its mail");
    browser.get("/settings/inboxes").await.is(200).shows("For others");
    let own = app.signed_in(&ann).await;
    own.get(&format!("/conversations/{}", hidden.id)).await.is(200).shows("Secret lamps");
    own.get(&access).await.is(200);
}

async fn lists_are_as_without_an_inbox_that_is_for_others(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let bo = app.person("Bo").await;
    let inbox = app.team_inbox("billing@acme.example", "Billing").await;
    things_in(&app, &ann, inbox.clone()).await;
    close_inbox(&app, &inbox, &ann).await;
    let browser = app.signed_in(&bo).await;
    for path in [
        "/inbox?view=open",
        "/inbox?view=held",
        "/inbox?view=unassigned",
        "/approvals",
        "/leaving",
        "/search?q=hidden",
        "/search?q=zed",
        "/documents",
        "/reports",
        "/settings/inboxes",
        "/answers",
        "/mentions",
        "/calendar",
    ] {
        let page = browser.get(path).await.is(200);
        for word in ["Billing", "billing@", "Secret lamps", "Zed", "secret.eml", "A hidden"] {
            assert!(!page.text.contains(word), "{path} says {word}");
        }
    }
}

async fn a_rule_for_an_inbox_for_some_is_missing_for_the_others(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let member = app.person("Bo").await;
    let admin = app.person_with("Cy", Role::Admin).await;
    let inbox = app.team_inbox("billing@acme.example", "Billing").await;
    close_inbox(&app, &inbox, &ann).await;
    let rule: &[(&str, &str)] = &[
        ("name", "Dunning to Ann"),
        ("event", "mail-arrives"),
        ("field", "inbox"),
        ("how", "is"),
        ("value", "Billing"),
        ("act", "assign"),
        ("with", "Ann Teammate"),
    ];
    let own = app.signed_in(&ann).await;
    let made = own.post("/settings/rules", rule).await.is(303);
    let path = made.answer.header("location").split('?').next().unwrap().to_owned();
    own.get(&path).await.is(200).shows("inbox is Billing").shows("value=\"Billing\"");
    own.get("/settings/audit").await.is(200).shows("Dunning to Ann");
    let missing = "/settings/rules/rul_00000000000000000000000000";
    let routes: [RuleRoute<'_>; 6] = [
        ("GET", "", &[]),
        ("GET", "?try=1", &[]),
        ("POST", "", rule),
        ("POST", "/switch", &[("on", "1")]),
        ("POST", "/move", &[("up", "1")]),
        ("POST", "/delete", &[]),
    ];
    for viewer in [&app.owner, &admin, &member] {
        let browser = app.signed_in(viewer).await;
        let page = browser.get("/settings/rules").await.is(200);
        page.hides("Dunning to Ann").hides("Billing").shows("No rules yet");
        for (method, end, fields) in routes {
            let mut pages = Vec::new();
            for of in [path.as_str(), missing] {
                let path = format!("{of}{end}");
                let page = match method {
                    "GET" => browser.get(&path).await,
                    _ => browser.post(&path, fields).await,
                };
                pages.push((page.status, page.text, page.answer.header_list()));
            }
            let is_refused = method == "POST" && user(viewer) == user(&member);
            let expected = if is_refused { 403 } else { 404 };
            assert_eq!(pages[0].0, expected, "{method} {end}: {}", pages[0].1);
            assert_eq!(pages[0], pages[1], "{method} {end}");
        }
    }
    let browser = app.signed_in(&admin).await;
    let refused = browser.post("/settings/rules", rule).await.is(422);
    refused.shows("There is no inbox called “Billing”.");
    browser.get("/settings/audit").await.is(200).hides("Dunning to Ann");
    let key = app.key("read").await;
    assert_eq!(app.get(&key, "/rules").await.is(200).json(), json!([]));
}
