//! The sample of a workspace: made, gone into, left and deleted; and that nothing leaves it.

use actions::workspace::suspension;
use axum::body::Body;
use axum::http::Request;
use base::actor::{Actor, Circle, Role};
use base::error::Error;
use base::workspaces::samples::is_sample;
use model::erasure::deletions::DeletionCounts;

use crate::support::*;

on_both!(
    a_sample_is_made_gone_into_left_and_deleted_in_one_click,
    only_owners_delete_a_sample_and_members_make_none,
    a_sample_goes_with_its_workspace,
    a_sample_is_closed_while_its_workspace_is_suspended,
    a_sample_that_is_made_while_its_workspace_is_suspended_is_not_open,
    two_clicks_at_once_make_one_sample,
    nothing_leaves_a_sample
);

const DATA: &str = "/settings/data";

async fn a_sample_is_made_gone_into_left_and_deleted_in_one_click(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(DATA).await.is(200).shows("Make it and go in");
    owner.post("/settings/data/sample", &[]).await.goes_to("/inbox?view=open");
    owner.remember_csrf().await;
    let page = owner.get("/inbox?view=open").await.is(200);
    page.shows("Lumen &#38; Holz").shows("Made-up mail, to look around in.");
    page.shows("Back to your workspace");
    owner.get(DATA).await.is(200).hides("Make it and go in").hides("Delete the sample");
    owner.post("/settings/data/sample", &[]).await.is(403);

    // Another session of the team sees nothing of it.
    let other = app.signed_in(&app.owner).await;
    other.get("/inbox?view=open").await.is(200).hides("Lumen").hides("Made-up mail");
    other.get(DATA).await.is(200).shows("Delete the sample").shows("Go in");
    other.post("/settings/data/sample", &[]).await.is(400);

    owner.post("/sample/leave", &[]).await.goes_to("/");
    owner.remember_csrf().await;
    let page = owner.get("/inbox?view=open").await.is(200);
    page.shows("Acme").hides("Lumen").hides("Made-up mail");
    owner.post("/sample/leave", &[]).await.is(400);

    owner.post("/settings/data/sample/enter", &[]).await.goes_to("/inbox?view=open");
    owner.get("/inbox?view=open").await.is(200).shows("Lumen &#38; Holz");
    other.post("/settings/data/sample/delete", &[]).await.goes_to("/settings/data#sample-h");
    owner.get("/inbox?view=open").await.goes_to("/sign-in?next=%2Finbox%3Fview%3Dopen");
    other.get(DATA).await.is(200).shows("Make it and go in");
    app.work().await;
    let left: (i64,) = app
        .app
        .store
        .read(|tx| {
            Ok::<_, base::error::Error>(tx.one(
                "SELECT CAST(count(*) AS BIGINT) FROM workspaces WHERE sample_of IS NOT NULL
                   AND deleted_at IS NULL",
                &[],
            )?)
        })
        .await
        .unwrap();
    assert_eq!(left.0, 0, "it is deleted");
    other.get("/inbox?view=open").await.is(200).shows("Acme");
}

async fn only_owners_delete_a_sample_and_members_make_none(app: TestApp) {
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    for path in
        ["/settings/data/sample", "/settings/data/sample/enter", "/settings/data/sample/delete"]
    {
        member.post(path, &[]).await.is(403);
    }
    let ada = app.person_with("Ada", Role::Admin).await;
    let admin = app.signed_in(&ada).await;
    admin.post("/settings/data/sample", &[]).await.goes_to("/inbox?view=open");
    let second = app.signed_in(&ada).await;
    second.get(DATA).await.is(200).shows("Go in").hides("Delete the sample");
    second.post("/settings/data/sample/delete", &[]).await.is(403);
    let stranger = app.browser();
    assert_ne!(stranger.post_bare("/settings/data/sample", &[]).await.status, 200);
    let request = Request::get("/demo").body(Body::empty()).unwrap();
    assert_eq!(app.send(request).await.status, 404, "this is no demo");
}

async fn a_sample_goes_with_its_workspace(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.post("/settings/data/sample", &[]).await.goes_to("/inbox?view=open");
    let home = app.signed_in(&app.owner).await;
    home.post("/settings/data/delete", &[("confirmation", "Acme")]).await.is(303);
    owner.get("/inbox?view=open").await.is(303);
    assert_eq!(app.count("workspaces WHERE deleted_at IS NULL").await, 0);
}

async fn a_sample_is_closed_while_its_workspace_is_suspended(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.post("/settings/data/sample", &[]).await.goes_to("/inbox?view=open");
    owner.get("/inbox?view=open").await.is(200).shows("Made-up mail");
    let operator = Actor::system(app.owner.ws, app.owner.workspace.clone(), Circle::team());
    app.act(&operator, |tx, cx| suspension::suspend(tx, cx, "The bill of May")).await;
    let closed = owner.get("/inbox?view=open").await.is(403);
    closed.shows("The bill of May").hides("Made-up mail");
    app.act(&operator, suspension::resume).await;
    owner.get("/inbox?view=open").await.is(200).shows("Made-up mail");
    assert_eq!(app.count("resting_workspaces").await, 0);

    // None is made in a workspace that was closed meanwhile.
    let other = app.other_workspace("Globex").await;
    let operator = Actor::system(other.ws, other.workspace.clone(), Circle::team());
    app.act(&operator, |tx, cx| suspension::suspend(tx, cx, "")).await;
    let made = server::demo::sample_filler()(app.app.clone(), other.ws).await;
    assert!(matches!(made, Err(Error::ClosedForNow)), "{made:?}");
}

async fn a_sample_that_is_made_while_its_workspace_is_suspended_is_not_open(app: TestApp) {
    let (fill, ws) = (server::demo::sample_filler(), app.owner.ws);
    let operator = Actor::system(ws, app.owner.workspace.clone(), Circle::team());
    let suspend = app.act(&operator, |tx, cx| suspension::suspend(tx, cx, ""));
    let (made, ()) = tokio::join!(fill(app.app.clone(), ws), suspend);
    assert!(matches!(made, Ok(()) | Err(Error::ClosedForNow)), "{made:?}");
    let open = "workspaces WHERE sample_of IS NOT NULL AND ws NOT IN
                (SELECT ws FROM resting_workspaces WHERE suspended_at IS NOT NULL)";
    assert_eq!(app.count(open).await, 0);
}

async fn two_clicks_at_once_make_one_sample(app: TestApp) {
    let (fill, ws) = (server::demo::sample_filler(), app.owner.ws);
    let (one, other) = tokio::join!(fill(app.app.clone(), ws), fill(app.app.clone(), ws));
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let refused = one.and(other);
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(app.count("workspaces WHERE sample_of IS NOT NULL").await, 1);
}

async fn nothing_leaves_a_sample(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.post("/settings/data/sample", &[]).await.goes_to("/inbox?view=open");
    owner.remember_csrf().await;
    let (ws, inbox, conversation) = sample_rows(&app).await;
    assert!(app.app.store.read(move |tx| is_sample(tx, ws)).await.unwrap());

    // What would lead outside cannot be set up.
    let hook = [("url", "https://93.184.215.14/hook"), ("hears", "team")];
    owner.post("/settings/webhooks", &hook).await.is(403).shows("Nothing leaves a workspace");

    // Replies leave after the undo window, and count as sent.
    let path = format!("/conversations/{conversation}");
    owner.get(&path).await.is(200);
    let reply = [("body", "It is on its way."), ("act", "send")];
    owner.post(&format!("{path}/reply"), &reply).await;
    owner.post(&format!("/settings/inboxes/{inbox}/test-mail"), &[]).await;
    app.pass(HOUR).await;
    app.work().await;
    let now = app.now();
    let (waiting,): (i64,) = app
        .app
        .store
        .read(move |tx| {
            Ok::<_, base::error::Error>(tx.one(
                "SELECT CAST(count(*) AS BIGINT) FROM messages
                 WHERE ws = ?1 AND sends_at <= ?2 AND status IN ('scheduled', 'sending')",
                &[&ws, &now],
            )?)
        })
        .await
        .unwrap();
    assert_eq!(waiting, 0);
    assert!(app.outside.relay.attempts().is_empty(), "no relay heard of it");
    let system = Actor::system(ws, workspace_id(&app, ws).await, Circle::team());
    let counts = app.act(&system, DeletionCounts::of_workspace).await;
    assert!(counts.conversations > 20);
}

/// The number of the sample, an inbox of it, and an open conversation.
async fn sample_rows(app: &TestApp) -> (i64, String, String) {
    app.app
        .store
        .read(|tx| {
            let (ws,): (i64,) =
                tx.one("SELECT ws FROM workspaces WHERE sample_of IS NOT NULL", &[])?;
            let (inbox,): (String,) =
                tx.one("SELECT id FROM mailboxes WHERE ws = ?1 AND name = 'Support'", &[&ws])?;
            let (conversation,): (String,) = tx.one(
                "SELECT id FROM conversations WHERE ws = ?1 AND view = 'open' AND circle = 'team'
                 ORDER BY id LIMIT 1",
                &[&ws],
            )?;
            Ok::<_, base::error::Error>((ws, inbox, conversation))
        })
        .await
        .unwrap()
}

async fn workspace_id(app: &TestApp, ws: i64) -> base::ids::WorkspaceId {
    let read = move |tx: &mut db::Tx<'_>| {
        let (id,) = tx.one("SELECT id FROM workspaces WHERE ws = ?1", &[&ws])?;
        Ok::<_, base::error::Error>(id)
    };
    app.app.store.read(read).await.unwrap()
}
