//! The first steps of a new workspace.

use actions::inboxes::first_steps::{FirstStepTrial, record_outcome};
use model::installation::scheduled_backups::{self, BackupPlan};

use crate::support::*;

on_both!(
    an_empty_workspace_begins_with_its_first_steps_and_the_first_mail_ends_them,
    the_page_is_put_away_for_everybody,
    members_are_not_asked_to_set_anything_up,
    steps_follow_what_is_so_and_the_entry_goes_when_all_are_done
);

async fn an_empty_workspace_begins_with_its_first_steps_and_the_first_mail_ends_them(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get("/").await.goes_to("/welcome");
    let page = owner.get("/welcome").await.is(200);
    page.shows("Welcome, Olive").shows("1 of 9 done").shows("Connect a mailbox");
    page.shows("value=\"support@acme.example\"").shows("Nothing has arrived yet");
    page.shows("Look now").shows("data-live=\"page=welcome\"").shows("First steps");
    page.shows("mail.acme.example, port 25");
    app.mail("mara@customer.example", "My <lamp>", "Where is it?").await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("It is here").shows("My &#60;lamp&#62;").shows("mara@customer.example");
    page.shows("3 of 9 done").hides("Nothing has arrived yet");
    owner.get("/").await.goes_to("/inbox?view=open");
    app.person("Bo").await;
    app.key("read").await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("4 of 9 done").shows("2 people are here.").shows("nothing has called with it yet");
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

async fn steps_follow_what_is_so_and_the_entry_goes_when_all_are_done(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("Publish the DNS records").shows("Look them up").shows("Keep backups");
    let inbox = app.support.id.to_string();
    let note = |step: FirstStepTrial, good: bool, detail: &'static str| {
        app.act(&app.owner, move |tx, cx| record_outcome(tx, cx, step, good, detail))
    };
    note(FirstStepTrial::Records, false, "acme.example").await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("Some were missing for acme.example")
        .shows(&format!("/settings/inboxes/{inbox}#records"));
    note(FirstStepTrial::Records, true, "acme.example").await;
    note(FirstStepTrial::TestMail, false, "olive@acme.example").await;
    let page = owner.get("/welcome").await.is(200);
    page.shows("All of them were found for acme.example").shows("2 of 9 done");
    note(FirstStepTrial::TestMail, true, "olive@acme.example").await;
    owner.get("/welcome").await.is(200).shows("3 of 9 done").shows("was accepted");

    app.person("Bo").await;
    let key = app.key("read send").await;
    app.get(&key, "/conversations").await.is(200);
    let lamp = app.mail("mara@customer.example", "My lamp", "Where is it?").await.conversation;
    let plan = BackupPlan { place: "/b".into(), timing: "daily".into(), keeps: "all".into() };
    let set = move |tx: &mut db::Tx<'_>| scheduled_backups::set_plan(tx, Some(&plan), Some(1));
    app.app.store.write(set).await.unwrap();
    let page = owner.get("/welcome").await.is(200);
    page.shows("8 of 9 done").shows("href=\"/welcome\"");
    owner.get("/inbox?view=open").await.is(200).shows("href=\"/welcome\"");
    app.send_reply(&key, &lamp, "On its way").await;
    app.pass(HOUR).await;
    owner.get("/welcome").await.is(200).shows("9 of 9 done");
    owner.get("/inbox?view=open").await.is(200).hides("href=\"/welcome\"");
    owner.get("/welcome").await.is(200).shows("9 of 9 done");
}
