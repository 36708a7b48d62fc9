//! Issue trackers, as owners and admins connect them in the app.

use crate::support::*;

on_both!(
    a_tracker_is_connected_and_its_secret_shown_once,
    linear_makes_the_secret_itself,
    what_follows_a_closed_item_is_chosen,
    members_connect_nothing
);

const PAGE: &str = "/settings/linked-items";

async fn a_tracker_is_connected_and_its_secret_shown_once(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("GitHub").shows("Linear").hides("/hooks/items/");
    let made = owner.post(&format!("{PAGE}/github"), &[]).await.is(200);
    made.shows("Copy the secret now").shows("/hooks/items/github/").shows("Not called yet");
    owner.get(PAGE).await.is(200).hides("Copy the secret now").shows("/hooks/items/github/");
    owner.post(&format!("{PAGE}/github"), &[]).await.is(200).shows("Copy the secret now");
    owner.post(&format!("{PAGE}/pigeon"), &[]).await.is(404);
    owner.post(&format!("{PAGE}/github/disconnect"), &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).hides("/hooks/items/");
    owner.post(&format!("{PAGE}/github/disconnect"), &[]).await.is(404);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("connected the issue tracker <strong>GitHub</strong>");
}

async fn linear_makes_the_secret_itself(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let path = format!("{PAGE}/linear");
    owner.post(&format!("{path}/secret"), &[("secret", "lin_wh_0123456789")]).await.is(404);
    owner.post(&path, &[]).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("Secret missing").shows("/hooks/items/linear/");
    let refused = owner.post(&format!("{path}/secret"), &[("secret", "short")]).await.is(422);
    refused.shows("This is no secret");
    let secret = [("secret", "lin_wh_0123456789")];
    owner.post(&format!("{path}/secret"), &secret).await.goes_to(PAGE);
    owner.get(PAGE).await.is(200).shows("Not called yet").hides("lin_wh_0123456789");
}

async fn what_follows_a_closed_item_is_chosen(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    assert_eq!(app.count("workspaces WHERE reopens_linked").await, 0);
    owner.post(PAGE, &[("reopens", "on")]).await.goes_to(PAGE);
    assert_eq!(app.count("workspaces WHERE reopens_linked").await, 1);
    owner.post(PAGE, &[("reopens", "off")]).await.goes_to(PAGE);
    assert_eq!(app.count("workspaces WHERE reopens_linked").await, 0);
}

async fn members_connect_nothing(app: TestApp) {
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    member.get(PAGE).await.is(403);
    member.post(PAGE, &[("reopens", "on")]).await.is(403);
    member.post(&format!("{PAGE}/github"), &[]).await.is(403);
    member.post(&format!("{PAGE}/github/disconnect"), &[]).await.is(403);
}
