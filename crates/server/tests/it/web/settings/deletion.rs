//! Deleting an inbox and the workspace in the app, and how long an inbox keeps mail.

use base::actor::Role;
use serde_json::json;

use crate::support::*;

on_both!(
    an_owner_deletes_an_inbox_after_typing_its_address,
    an_owner_deletes_the_workspace_and_is_signed_out,
    the_page_of_retention_says_how_many_would_go
);

async fn an_owner_deletes_an_inbox_after_typing_its_address(app: TestApp) {
    let inbox = app.team_inbox("billing@acme.example", "Billing").await;
    app.deliver(&inbox, letter("ann@x.example", "Invoice", "text")).await;
    let (owner, path) =
        (app.signed_in(&app.owner).await, format!("/settings/inboxes/{}/delete", inbox.id));
    let own = format!("/settings/inboxes/{}", inbox.id);
    owner.get(&own).await.is(200).shows("Delete this inbox");
    let page = owner.get(&path).await.is(200);
    page.shows("1 conversation and 1 message").shows("Backups from before");
    let wrong = owner.post(&path, &[("confirmation", "billing")]).await.is(422);
    wrong.shows("Nothing was deleted");
    let admin = app.person_with("Ada", Role::Admin).await;
    let admin = app.signed_in(&admin).await;
    admin.get(&own).await.is(200).hides("Delete this inbox");
    admin.get(&path).await.is(403);
    admin.post(&path, &[("confirmation", "billing@acme.example")]).await.is(403);
    owner.post(&path, &[("confirmation", "billing@acme.example")]).await.is(303);
    owner.get("/settings/inboxes").await.is(200).shows("Being erased");
    app.pass(HOUR).await;
    owner.get("/settings/inboxes").await.is(200).hides("Being erased").hides("billing@");
    owner.get(&path).await.is(404);
    owner.get("/settings/audit").await.is(200).shows("deleted the inbox");
    let support = format!("/settings/inboxes/{}/delete", app.support.id);
    owner.get(&support).await.is(200).shows("only inbox").hides("to confirm");
}

async fn an_owner_deletes_the_workspace_and_is_signed_out(app: TestApp) {
    app.mail("ann@x.example", "Invoice", "text").await;
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/data").await.is(200).shows("Delete the workspace");
    owner.get("/settings/data/delete").await.is(200).shows("1 conversation and 1 message");
    owner.post("/settings/data/delete", &[("confirmation", "acme!")]).await.is(422);
    let admin = app.person_with("Ada", Role::Admin).await;
    let admin = app.signed_in(&admin).await;
    admin.get("/settings/data").await.is(200).hides("Delete the workspace");
    admin.get("/settings/data/delete").await.is(403);
    owner.post("/settings/data/delete", &[("confirmation", "Acme")]).await.is(303);
    for browser in [&owner, &admin] {
        browser.get("/inbox").await.is(303);
    }
    app.pass(HOUR).await;
    assert_eq!(app.count("workspaces").await, 0);
}

async fn the_page_of_retention_says_how_many_would_go(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Old", "text").await;
    app.on(&key, &mail.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.pass(40 * DAY).await;
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/inboxes/{}/retention", app.support.id);
    owner.get(&path).await.is(200).shows("kept for good").hides("would go into the trash");
    owner.get(&format!("{path}?days=60")).await.is(200).shows("No conversation");
    owner.get(&format!("{path}?days=30")).await.is(200).shows("1 conversation");
    owner.get(&format!("{path}?days=1")).await.is(200).shows("Say a number of days");
    assert_eq!(app.subjects(&key, "view=closed").await, ["Old"]);
    owner.post(&path, &[("days", "30")]).await.is(303);
    owner.get(&path).await.is(200).shows("for 30 days");
    app.pass(MINUTE).await;
    assert_eq!(app.subjects(&key, "view=trash").await, ["Old"]);
    owner.post(&path, &[]).await.is(303);
    owner.get(&path).await.is(200).shows("kept for good");
}
