//! The first run: whoever has the link that the server printed makes the workspace in the browser, once.

use actions::inboxes::setup::{NewWorkspace, list_workspaces, set_up_workspace};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use base::actor::Actor;
use base::app::App;
use base::files::blobs::Blobs;
use base::limits::UNKNOWN_LINKS_PER_NETWORK;
use web::FirstRun;

use crate::support::*;

on_both!(
    the_link_makes_the_workspace_once_and_signs_its_owner_in,
    who_lacks_the_secret_or_comes_by_another_name_finds_nothing,
    what_was_typed_stays_but_for_the_password,
    other_pages_say_what_to_do_until_there_is_a_workspace,
    a_sample_can_be_looked_at_first_and_belongs_to_the_workspace_that_follows,
    of_two_browsers_at_once_one_makes_the_workspace,
    a_server_that_starts_again_has_another_secret
);

const PASSWORD: &str = "three lamps in a cellar";

const TYPED: [(&str, &str); 6] = [
    ("workspace", "Lamps and more"),
    ("owner-name", "Mara Muster"),
    ("owner-email", "mara@lamps.example"),
    ("password", PASSWORD),
    ("inbox", "hello@lamps.example"),
    ("inbox-name", "Hello"),
];

/// An installation without a workspace, and the path of its link.
struct EmptyInstallation {
    app: App,
    router: Router,
    path: String,
    _database: FurtherDatabase,
    _folder: tempfile::TempDir,
}

impl EmptyInstallation {
    /// On the kind of database that the test has.
    fn beside(test: &TestApp) -> EmptyInstallation {
        let folder = tempfile::tempdir().unwrap();
        let backend = if test.app.store.is_shared() { Backend::Postgres } else { Backend::Sqlite };
        let (database, store) = open_database(backend, folder.path());
        let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
        let app = App { store, blobs, ..test.app.clone() };
        let (first_run, link) = FirstRun::begin(&app);
        let path = link.strip_prefix(PUBLIC_URL).unwrap().to_owned();
        let router = TestApp::router_of_first_run(&app, first_run);
        EmptyInstallation { app, router, path, _database: database, _folder: folder }
    }

    /// The status of the page for somebody who names this host.
    async fn status_at(&self, host: &str) -> u16 {
        let request = Request::get(&self.path).header("host", host).body(Body::empty()).unwrap();
        TestApp::send_to(&self.router, request).await.status
    }
}

async fn the_link_makes_the_workspace_once_and_signs_its_owner_in(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let browser = test.browser().at(empty.router.clone());
    let page = browser.get(&empty.path).await.is(200);
    page.shows("Set up Mailroom").shows("mailroom restore").shows("value=\"Support\"");
    browser.post_bare(&empty.path, &TYPED).await.goes_to("/welcome");
    let page = browser.get("/welcome").await.is(200);
    page.shows("Welcome, Mara").shows("hello@lamps.example").shows("Lamps and more");

    for one in [&browser, &test.browser().at(empty.router.clone())] {
        one.get(&empty.path).await.is(404);
        one.post_bare(&empty.path, &TYPED).await.is(404);
    }
    let again = test.browser().at(empty.router.clone());
    let typed = [("email", "mara@lamps.example"), ("password", PASSWORD)];
    again.post_bare("/sign-in", &typed).await.goes_to("/");
}

async fn who_lacks_the_secret_or_comes_by_another_name_finds_nothing(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let stranger = test.browser().at(empty.router.clone());
    let (longer, shorter) = (format!("{}x", empty.path), &empty.path[..empty.path.len() - 1]);
    let guess = format!("/setup/{}", "x".repeat(48));
    for wrong in [guess.as_str(), &longer, shorter] {
        stranger.get(wrong).await.is(404).hides("Set up Mailroom");
        stranger.post_bare(wrong, &TYPED).await.is(404);
        stranger.post_bare(&format!("{wrong}/sample"), &[]).await.is(404);
    }
    for (host, status) in [
        ("mail.acme.example", 200),
        ("localhost:8080", 200),
        ("127.0.0.1:8080", 200),
        ("evil.example", 404),
        ("192.168.1.5:8080", 404),
    ] {
        assert_eq!(empty.status_at(host).await, status, "{host}");
    }
    for _ in 0..UNKNOWN_LINKS_PER_NETWORK {
        stranger.get(&guess).await;
    }
    stranger.get(&guess).await.is(429);
    stranger.get(&empty.path).await.is(200);
}

async fn what_was_typed_stays_but_for_the_password(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let browser = test.browser().at(empty.router.clone());
    let mut typed = TYPED;
    (typed[2].1, typed[3].1) = ("nobody", "short");
    let page = browser.post_bare(&empty.path, &typed).await.is(422);
    page.shows("value=\"Lamps and more\"").shows("value=\"nobody\"").shows("value=\"Hello\"");
    page.shows("must be an e-mail address").shows("Use 12 to 200 characters.");
    page.hides("value=\"short\"");

    let mut typed = TYPED;
    typed[4].1 = "hello+tag@lamps.example";
    let page = browser.post_bare(&empty.path, &typed).await.is(422);
    page.shows("id=\"inbox-e\"").shows("value=\"hello+tag@lamps.example\"").hides(PASSWORD);
    browser.post_bare(&empty.path, &TYPED).await.goes_to("/welcome");
}

async fn other_pages_say_what_to_do_until_there_is_a_workspace(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let browser = test.browser().at(empty.router.clone());
    for path in ["/", "/inbox", "/sign-in", "/nowhere", "/b/acme/call"] {
        browser.get(path).await.is(503).shows("Mailroom is not set up yet");
    }
    browser.get("/developers").await.is(200);
    browser.get("/llms.txt").await.is(200);

    // As `mailroom setup` does in another process.
    let new = NewWorkspace {
        name: "Acme".into(),
        owner_email: "olive@acme.example".into(),
        owner_name: "Olive".into(),
        inbox: "support@acme.example".into(),
        inbox_name: "Support".into(),
    };
    let operator = Actor::operator(&empty.app.ids);
    empty.app.act(&operator, move |tx, cx| set_up_workspace(tx, cx, &new)).await.unwrap();
    browser.get("/sign-in").await.is(200);
    browser.get(&empty.path).await.is(404);
}

async fn a_sample_can_be_looked_at_first_and_belongs_to_the_workspace_that_follows(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let browser = test.browser().at(empty.router.clone());
    browser.get(&empty.path).await.is(200).shows("Look around with sample mail first");
    let sample = format!("{}/sample", empty.path);
    browser.post_bare(&sample, &[]).await.goes_to("/inbox?view=open");
    let page = browser.get("/inbox?view=open").await.is(200);
    page.shows("Lumen &#38; Holz").shows("Made-up mail, to look around in.");
    page.shows("open the link again that the server printed");

    // Another browser with the link goes into the same one; the page is there until a workspace is.
    let other = test.browser().at(empty.router.clone());
    other.post_bare(&sample, &[]).await.goes_to("/inbox?view=open");
    other.get("/inbox?view=open").await.is(200).shows("Lumen &#38; Holz");
    let owner = test.browser().at(empty.router.clone());
    owner.get(&empty.path).await.is(200).shows("Set up Mailroom");
    owner.post_bare(&empty.path, &TYPED).await.goes_to("/welcome");
    let page = owner.get("/settings/data").await.is(200);
    page.shows("A second workspace with made-up mail, made").shows("Delete the sample");
    owner.post_bare(&sample, &[]).await.is(404);
}

async fn of_two_browsers_at_once_one_makes_the_workspace(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let browsers = [0, 1].map(|_| test.browser().at(empty.router.clone()));
    let [first, second] = &browsers;
    let (one, other) =
        tokio::join!(first.post_bare(&empty.path, &TYPED), second.post_bare(&empty.path, &TYPED));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 404]);
    let made = empty.app.store.read(list_workspaces).await.unwrap();
    assert_eq!(made.len(), 1);
}

async fn a_server_that_starts_again_has_another_secret(test: TestApp) {
    let empty = EmptyInstallation::beside(&test);
    let (first_run, link) = FirstRun::begin(&empty.app);
    let router = TestApp::router_of_first_run(&empty.app, first_run);
    let browser = test.browser().at(router);
    browser.get(&empty.path).await.is(404);
    let path = link.strip_prefix(PUBLIC_URL).unwrap();
    browser.post_bare(path, &TYPED).await.goes_to("/welcome");
    // The server that is still there from before knows it, too.
    let late = test.browser().at(empty.router.clone());
    late.post_bare(&empty.path, &TYPED).await.is(404);
}
