//! Test cases for agents, as owners and admins see them in the app.

use std::time::Duration;

use base::actor::Role;
use base::app::Cx;
use db::Tx;
use evals::{EvalCase, EvalPace, EvalPlayer};

use crate::support::*;

on_both!(
    cases_are_shown_with_their_last_outcome,
    two_runs_stand_beside_each_other,
    a_case_is_written_changed_run_and_removed,
    a_conversation_is_saved_as_a_case,
    members_see_no_test_cases
);

const PAGE: &str = "/settings/evals";
const CASE: &str = "/settings/evals/broken-lamp";

async fn cases_are_shown_with_their_last_outcome(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get(PAGE).await.is(200).shows("No test cases").shows("mailroom evals add");
    owner.get(CASE).await.is(404);
    app.act(&app.owner, evals::add_samples).await;
    owner.get(PAGE).await.is(200).shows(CASE).shows("Not run yet");
    owner.get(CASE).await.is(200).shows("was broken when I opened").hides("Checks in run");
    let (_, definition) = evals::SAMPLES.iter().find(|(name, _)| *name == "broken-lamp").unwrap();
    let mut case = EvalCase::parse(definition).unwrap();
    case.must.says.push("free of charge".into());
    let pace = EvalPace { wait: Duration::ZERO, rest: Duration::ZERO };
    let player = EvalPlayer::script().unwrap();
    let result = evals::play_case(&app.app, &app.owner, &player, &case, pace).await.unwrap();
    let keep = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        let run = evals::begin_run(tx, cx, "Robo")?;
        evals::keep_result(tx, cx, run, 1, &result)
    };
    app.act(&app.owner, keep).await;
    let page = owner.get(PAGE).await.is(200);
    page.shows("Not passed").shows("must say “free of charge”").shows("0 of 1 passed");
    let page = owner.get(CASE).await.is(200);
    page.shows("Checks in run 1").shows("have the tag returns").shows("request_documents");
}

const LAMP: &str = "name = \"lamp\"\n[[mail]]\nfrom = \"kim@case.test\"\ntext = \"Hello?\"\n[must]\n\
                    facts = [\"draft\"]\njudge = [\"Is it polite?\"]\n[[step]]\ncall = \"reply\"\n[step.with]\n\
                    body = \"Hello.\"\n";

async fn two_runs_stand_beside_each_other(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    for (run, definition) in [(1, LAMP.to_owned()), (2, LAMP.replace("\"draft\"", "\"sent\""))] {
        owner.post(PAGE, &[("case", definition.as_str())]).await.goes_to("/settings/evals/lamp");
        owner.post("/settings/evals/run", &[("agent", ""), ("case", "")]).await.goes_to(PAGE);
        assert_eq!(app.count(&format!("eval_results WHERE run = {run}")).await, 1);
    }
    let page = owner.get(PAGE).await.is(200);
    page.shows("1 worse than run 1").shows("now: must send a message").shows("0 of 1 passed");
    let page = owner.get("/settings/evals?old=2&new=1").await.is(200);
    page.shows("none worse than run 2").shows("1 of 1 passed");
    let page = owner.get("/settings/evals/lamp").await.is(200);
    page.shows("Checks in run 2")
        .shows("Checks in run 1")
        .shows("judged by a model")
        .shows("not asked");
}

async fn a_case_is_written_changed_run_and_removed(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/evals/new").await.is(200).shows("Write a case");
    let wrong = LAMP.replace("kim@case.test", "kim@example.com");
    owner.post(PAGE, &[("case", wrong.as_str())]).await.is(422).shows("kim@example.com");
    // As a browser sends it.
    let typed = LAMP.replace('\n', "\r\n");
    owner.post(PAGE, &[("case", typed.as_str())]).await.goes_to("/settings/evals/lamp");
    let broken = [("case", "name = 1")];
    owner.post("/settings/evals/lamp", &broken).await.is(422).shows("name = 1");
    let alone = [("agent", ""), ("case", "lamp")];
    owner.post("/settings/evals/run", &alone).await.goes_to("/settings/evals/lamp");
    owner.get("/settings/evals/lamp").await.is(200).shows("Checks in run 1");
    owner.post("/settings/evals/run", &[("agent", ""), ("case", "other")]).await.is(404);
    // One at a time.
    app.exec("UPDATE eval_runs SET ended_at = NULL").await;
    owner.post("/settings/evals/run", &alone).await.is(400).shows("Run 1 is under way.");
    owner.post("/settings/evals/lamp/remove", &[]).await.goes_to(PAGE);
    owner.get("/settings/evals/lamp").await.is(404);
}

async fn a_conversation_is_saved_as_a_case(app: TestApp) {
    let filed = app.mail("kerstin@obermaier.example", "Lamp", "Is it here?").await;
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", filed.conversation);
    let link = format!("/settings/evals/new?conversation={}", filed.conversation);
    owner.get(&path).await.is(200).shows(&link);
    owner.get(&link).await.is(200).shows(&filed.conversation.to_string());
    let save = |conversation: &str, name: &str| {
        [("conversation", conversation.to_owned()), ("name", name.to_owned())]
    };
    let post = async |fields: [(&str, String); 2]| {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        owner.post("/settings/evals/of-conversation", &fields).await
    };
    post(save("cnv_1", "lamp")).await.is(422).shows("There is no such conversation.");
    post(save(&path, "A Lamp")).await.is(422).shows("the name must be");
    post(save(&format!("http://x{path}?view=open"), "lamp")).await.goes_to("/settings/evals/lamp");
    let page = owner.get("/settings/evals/lamp").await.is(200);
    page.shows("Is it here?").hides("obermaier");
}

async fn members_see_no_test_cases(app: TestApp) {
    app.act(&app.owner, evals::add_samples).await;
    let member = app.person_with("Max", Role::Member).await;
    let browser = app.signed_in(&member).await;
    for path in [PAGE, CASE, "/settings/evals/new"] {
        browser.get(path).await.is(403);
    }
    for path in [PAGE, CASE, "/settings/evals/run", "/settings/evals/of-conversation"] {
        browser.post(path, &[("case", LAMP)]).await.is(403);
    }
}
