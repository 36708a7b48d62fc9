//! A public demo: each visitor is alone in a workspace of their own, for an hour, and cannot get out of it.

use std::sync::Arc;

use actions::workspace::samples;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use base::app::App;
use base::files::blobs::Blobs;
use base::workspaces::samples::SAMPLE_OF_DEMO;
use server::demo::SamplePlace;
use server::demo::public::{DemoLimits, DemoRoom, PublicDemo};

use super::browser::Browser;
use crate::support::*;

on_both!(
    visitors_never_see_each_others_workspace,
    a_key_of_a_visit_reaches_its_own_workspace_alone_and_ends_with_it,
    a_visit_ends_after_an_hour_and_leads_back_to_the_door,
    a_demo_has_so_many_visitors_and_begins_so_many_visits_for_a_network,
    what_leads_outside_is_closed_and_large_bodies_are_refused,
    what_a_visitor_publishes_is_shown_to_no_stranger,
    a_full_demo_takes_nothing_in,
    a_sample_that_its_visitor_left_behind_is_ended,
    a_database_with_other_workspaces_is_no_demo
);

const LIMITS: DemoLimits =
    DemoLimits { visitors: 3, visits_per_network: 50, memory_mb: 1 << 20, disk_mb: 1 << 20 };

/// A demo in a database of its own.
struct OpenDemo {
    app: App,
    demo: Arc<PublicDemo>,
    router: Router,
    _database: FurtherDatabase,
    _folder: tempfile::TempDir,
}

impl OpenDemo {
    async fn beside(test: &TestApp, limits: DemoLimits) -> OpenDemo {
        let folder = tempfile::tempdir().unwrap();
        let backend = if test.app.store.is_shared() { Backend::Postgres } else { Backend::Sqlite };
        let (database, store) = open_database(backend, folder.path());
        let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
        let app = App { store, blobs, ..test.app.clone() };
        let room = DemoRoom::new(vec![folder.path().to_path_buf()]);
        let demo = PublicDemo::open(&app, limits, room).await.unwrap();
        let router = TestApp::router_of_demo(&app, &demo);
        OpenDemo { app, demo, router, _database: database, _folder: folder }
    }

    /// A browser on a visit.
    async fn visitor<'a>(&self, test: &'a TestApp) -> Browser<'a> {
        let browser = test.browser().at(self.router.clone());
        browser.post_bare("/demo/begin", &[]).await.goes_to("/inbox?view=open");
        browser.remember_csrf().await;
        browser
    }

    /// Addresses of what is in the workspace of the visitor who came as the n-th.
    async fn addresses(&self, visit: i64) -> Vec<String> {
        let read = move |tx: &mut db::Tx<'_>| {
            let (ws,): (i64,) = tx.one(
                "SELECT ws FROM workspaces WHERE ends_at IS NOT NULL ORDER BY ws LIMIT 1 OFFSET ?1",
                &[&visit],
            )?;
            let mut found = Vec::new();
            for (table, path) in [
                ("conversations", "/conversations/"),
                ("documents", "/documents/"),
                ("mailboxes", "/settings/inboxes/"),
            ] {
                let ids: Vec<(String,)> = tx.all(
                    &format!(
                        "SELECT id FROM {table} WHERE ws = ?1 AND circle = 'team' ORDER BY id LIMIT 5"
                    ),
                    &[&ws],
                )?;
                found.extend(ids.into_iter().map(|(id,)| format!("{path}{id}")));
            }
            Ok::<_, base::error::Error>(found)
        };
        self.app.store.read(read).await.unwrap()
    }

    async fn call(&self, key: &str, path: &str) -> Answer {
        let request = Request::get(format!("/api/v1{path}"))
            .header("authorization", format!("Bearer {key}"))
            .body(Body::empty())
            .unwrap();
        TestApp::send_to(&self.router, request).await
    }
}

async fn visitors_never_see_each_others_workspace(test: TestApp) {
    let open = OpenDemo::beside(&test, LIMITS).await;
    open.demo.prepare().await.unwrap();
    let (first, second) = (open.visitor(&test).await, open.visitor(&test).await);
    let (of_first, of_second) = (open.addresses(0).await, open.addresses(1).await);
    assert!(of_first.len() > 8 && of_second.len() > 8, "{of_first:?}");
    let stranger = test.browser().at(open.router.clone());
    for (own, other, paths) in [(&first, &second, &of_first), (&second, &first, &of_second)] {
        for path in paths {
            let page = own.get(path).await;
            assert!(matches!(page.status, 200 | 303), "{path}: {}", page.status);
            other.get(path).await.is(404);
            assert_ne!(stranger.get(path).await.status, 200, "{path}");
        }
    }
    let page = first.get("/inbox?view=open").await.is(200);
    page.shows("A demo with made-up mail.").shows("/demo#own");
    let typed = [("name", "only-mine"), ("body", "a secret of the first")];
    first.post("/settings/replies", &typed).await;
    second.get("/settings/replies").await.is(200).hides("only-mine");
    // A form of one, with the token of the other, changes nothing.
    let conversation = of_second[0].clone();
    first.post(&format!("{conversation}/note"), &[("body", "hello")]).await.is(404);
    second.get(&conversation).await.is(200).hides("hello there from outside");
}

async fn a_key_of_a_visit_reaches_its_own_workspace_alone_and_ends_with_it(test: TestApp) {
    let open = OpenDemo::beside(&test, LIMITS).await;
    let (first, _second) = (open.visitor(&test).await, open.visitor(&test).await);
    let made = first
        .post("/settings/keys", &[("name", "Mine"), ("scope", "read"), ("works", "live")])
        .await;
    let key = format!("rk_live_{}", made.between("rk_live_", "<"));
    open.call(&key, "/conversations?limit=3").await.is(200);
    for path in open.addresses(1).await.iter().filter(|path| path.starts_with("/conversations/")) {
        open.call(&key, path).await.is(404);
    }
    for path in
        open.addresses(0).await.iter().filter(|path| path.starts_with("/conversations/")).take(1)
    {
        open.call(&key, path).await.is(200);
    }
    test.advance(HOUR);
    open.demo.sweep().await.unwrap();
    open.call(&key, "/conversations?limit=3").await.is(401);
}

async fn a_visit_ends_after_an_hour_and_leads_back_to_the_door(test: TestApp) {
    let open = OpenDemo::beside(&test, LIMITS).await;
    let visitor = open.visitor(&test).await;
    visitor.get("/demo").await.is(200).shows("Go on where you were");
    visitor.post("/demo/begin", &[]).await.goes_to("/inbox?view=open");
    test.advance(HOUR - MINUTE);
    open.demo.sweep().await.unwrap();
    visitor.get("/inbox?view=open").await.is(200);
    test.advance(MINUTE);
    open.demo.sweep().await.unwrap();
    visitor.get("/inbox?view=open").await.goes_to("/sign-in?next=%2Finbox%3Fview%3Dopen");
    visitor.get("/sign-in").await.goes_to("/demo");
    visitor.get("/demo").await.is(200).shows("Look around").hides("Go on where you were");
    let visits = open.app.store.read(samples::count_visits).await.unwrap();
    assert_eq!(visits, 0);
}

async fn a_demo_has_so_many_visitors_and_begins_so_many_visits_for_a_network(test: TestApp) {
    let limits = DemoLimits { visitors: 1, ..LIMITS };
    let open = OpenDemo::beside(&test, limits).await;
    let _first = open.visitor(&test).await;
    let late = test.browser().at(open.router.clone());
    let page = late.post_bare("/demo/begin", &[]).await.is(503);
    page.shows("All demos are taken just now. The next one is free at about");
    test.advance(HOUR);
    open.demo.sweep().await.unwrap();
    late.post_bare("/demo/begin", &[]).await.goes_to("/inbox?view=open");

    let open = OpenDemo::beside(&test, DemoLimits { visits_per_network: 1, ..LIMITS }).await;
    let _first = open.visitor(&test).await;
    let second = test.browser().at(open.router.clone());
    second.post_bare("/demo/begin", &[]).await.is(429).shows("from your network");
}

async fn what_leads_outside_is_closed_and_large_bodies_are_refused(test: TestApp) {
    let open = OpenDemo::beside(&test, LIMITS).await;
    let visitor = open.visitor(&test).await;
    for path in
        ["/settings/webhooks", "/settings/outgoing", "/settings/inboxes/connect", "/settings/apps"]
    {
        visitor.get(path).await.is(403).shows("This is not in the demo");
    }
    for path in
        ["/settings/people", "/settings/bookings/calendars", "/settings/data/sample", "/sign-in"]
    {
        visitor.post(path, &[("name", "x")]).await.is(403);
    }
    visitor.get("/settings/people").await.is(200);
    visitor.get("/settings/tags").await.is(200);
    let long = "x".repeat(600 * 1_024);
    let refused = visitor.post("/settings/replies", &[("name", "a"), ("body", &long)]).await;
    assert!(matches!(refused.status, 400 | 413), "{}", refused.status);
    let stranger = test.browser().at(open.router.clone());
    let robots = stranger.get("/robots.txt").await.is(200);
    robots.shows("Disallow: /");
    let page = stranger.get("/demo").await.is(200);
    assert_eq!(page.answer.header("x-robots-tag"), "noindex, nofollow, noarchive");
    stranger.get("/").await.goes_to("/sign-in");
    stranger.get("/sign-in").await.goes_to("/demo");
}

async fn what_a_visitor_publishes_is_shown_to_no_stranger(test: TestApp) {
    let open = OpenDemo::beside(&test, LIMITS).await;
    let visitor = open.visitor(&test).await;
    let stranger = test.browser().at(open.router.clone());
    for path in ["/help/sample-a/en", "/f/contact", "/s/abc", "/b/sample-a"] {
        stranger.get(path).await.goes_to("/demo");
        assert_ne!(visitor.get(path).await.status, 303, "{path}");
    }
}

async fn a_full_demo_takes_nothing_in(test: TestApp) {
    let open = OpenDemo::beside(&test, DemoLimits { memory_mb: 0, ..LIMITS }).await;
    let visitor = open.visitor(&test).await;
    visitor.post("/settings/replies", &[("name", "a"), ("body", "b")]).await;
    open.demo.sweep().await.unwrap();
    let page = visitor.post("/settings/replies", &[("name", "c"), ("body", "d")]).await.is(503);
    page.shows("The demo is full just now");
    visitor.get("/inbox?view=open").await.is(200);
    open.demo.prepare().await.unwrap();
}

async fn a_sample_that_its_visitor_left_behind_is_ended(test: TestApp) {
    let open = OpenDemo::beside(&test, LIMITS).await;
    open.demo.prepare().await.unwrap();
    let lost = server::demo::fill_at(&open.app, SamplePlace::In(SAMPLE_OF_DEMO)).await.unwrap();
    let count = |tx: &mut db::Tx<'_>| samples::without_end(tx, SAMPLE_OF_DEMO);
    let before = open.app.store.read(count).await.unwrap();
    for _ in 0..2 {
        open.demo.sweep().await.unwrap();
    }
    let after = open.app.store.read(count).await.unwrap();
    let id = lost.workspace;
    let gone = open.app.store.read(move |tx| samples::number_of(tx, &id)).await.unwrap();
    assert_eq!(before.len(), after.len() + 1);
    assert!(before.contains(&gone) && !after.contains(&gone));
    let visitors = [open.visitor(&test).await, open.visitor(&test).await];
    visitors[1].get("/inbox?view=open").await.is(200);
}

async fn a_database_with_other_workspaces_is_no_demo(test: TestApp) {
    let room = DemoRoom::new(vec![test.folder().to_path_buf()]);
    let refused = PublicDemo::open(&test.app, LIMITS, room).await.err().unwrap();
    assert!(refused.contains("that are no demo"), "{refused}");
}
