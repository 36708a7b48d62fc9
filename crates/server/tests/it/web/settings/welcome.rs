//! The first steps of a new workspace.

use crate::support::*;

on_both!(
    an_empty_workspace_begins_with_its_first_steps_and_the_first_mail_ends_them,
    the_page_is_put_away_for_everybody,
    members_are_not_asked_to_set_anything_up
);

async fn an_empty_workspace_begins_with_its_first_steps_and_the_first_mail_ends_them(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get("/").await.goes_to("/welcome");
    let page = owner.get("/welcome").await.is(200);
    page.shows("Welcome, Olive").shows("1 of 6 done").shows("Connect a mailbox");
    page.shows("value=\"support@acme.example\"").shows("Nothing has arrived yet");
    page.shows("Look now").shows("data-live=\"page=welcome\"").shows("First steps");
    page.shows("mail.acme.example, port 25");
    app.mail("mara@customer.example", "My <lamp>", "Where is it?").await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("It is here").shows("My &#60;lamp&#62;").shows("mara@customer.example");
    page.shows("3 of 6 done").hides("Nothing has arrived yet");
    owner.get("/").await.goes_to("/inbox?view=open");
    app.person("Bo").await;
    app.key("read").await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("5 of 6 done").shows("2 people are here.");
}

async fn the_page_is_put_away_for_everybody(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.post("/welcome/over", &[]).await.goes_to("/inbox?view=open");
    let page = owner.get("/inbox?view=open").await.is(200);
    page.shows("Put away.").hides("href=\"/welcome\"");
    owner.get("/").await.goes_to("/inbox?view=open");
    owner.get("/welcome").await.is(200);
}

async fn members_are_not_asked_to_set_anything_up(app: TestApp) {
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    member.get("/").await.goes_to("/inbox?view=open");
    member.get("/welcome").await.is(403);
    member.post("/welcome/over", &[]).await.is(403);
    member.get("/inbox?view=open").await.is(200).hides("First steps");
}
