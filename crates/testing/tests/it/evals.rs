//! Test cases for agents: a customer writes to the sandbox, an agent works, and the verdicts are exact.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::actor::{Actor, Role};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::states::Status;
use db::Tx;
use evals::{
    EvalCase, EvalExpectations, EvalPace, EvalPlayer, EvalResult, EvalWebhook, SAMPLES, play_case,
};
use jobs::{BoxFuture, WebhookRequest, WebhookResponse, WebhookSender};
use maintenance::check::check;
use maintenance::forget_person::forget_person;
use serde_json::{Value, json};
use testing::{TestApp, TestKey, TestModel, eventually, letter, on_both, text_of};

on_both!(
    the_script_passes_every_sample_and_again_with_the_same_result,
    an_agent_with_a_test_key_is_waited_for_and_graded,
    an_agent_that_does_nothing_fails,
    each_mail_is_a_turn_of_its_own,
    an_agent_outside_is_asked_at_its_webhook,
    an_agent_outside_administers_nothing,
    a_model_judges_only_where_a_run_wants_it,
    tokens_are_counted_of_what_was_called,
    cases_are_saved_replaced_removed_and_bounded_to_those_who_administer,
    the_newest_runs_are_kept_with_their_results,
    a_conversation_becomes_a_case_without_its_customer,
    forgetting_a_person_removes_cases_that_name_them
);

const LONG: EvalPace = EvalPace { wait: Duration::from_secs(60), rest: Duration::from_millis(500) };
const SHORT: EvalPace = EvalPace { wait: Duration::from_millis(1), rest: Duration::ZERO };

const LAMP: &str = r#"
    name = "lamp"
    [[mail]]
    from = "kim@case.test"
    subject = "Lamp"
    text = "My lamp is broken."
    [must]
    facts = ["draft", "only-to-customer"]
    tags = ["returns"]
    says = ["sorry"]
    tools = ["tag_conversation"]
    [must_not]
    facts = ["sent"]
    tools = ["hand_over"]
"#;

fn lamp() -> EvalCase {
    EvalCase::parse(LAMP).unwrap()
}

async fn agent(app: &TestApp) -> (TestKey, EvalPlayer) {
    let key = app.test_key("read write draft").await;
    let find = |tx: &mut Tx<'_>, cx: &Cx<'_>| EvalPlayer::find(tx, cx, "Testo");
    let player = app.act(&app.owner, find).await;
    assert_eq!(player.id, key.id);
    (key, player)
}

async fn play(app: &TestApp, player: &EvalPlayer, case: &EvalCase, pace: EvalPace) -> EvalResult {
    play_case(&app.app, &app.owner, player, case, pace).await.unwrap()
}

/// The conversation with a subject, once there is one with so many messages.
async fn conversation(app: &TestApp, key: &TestKey, subject: &str, messages: u64) -> String {
    let found = async || {
        let listed = app.list(key, "view=all").await;
        let mut ids = listed.iter().filter(|one| one["subject"] == subject);
        ids.next().map(|one| text_of(one, "id"))
    };
    eventually(async || match found().await {
        Some(id) => app.timeline(key, &id, "message").await.len() as u64 >= messages,
        None => false,
    })
    .await;
    found().await.unwrap()
}

async fn the_script_passes_every_sample_and_again_with_the_same_result(app: TestApp) {
    let player = EvalPlayer::script().unwrap();
    let mut first: Vec<EvalResult> = Vec::new();
    for (name, definition) in SAMPLES {
        let case = EvalCase::parse(definition).unwrap();
        let result = play(&app, &player, &case, SHORT).await;
        assert!(result.passed, "{name}: {:?}", result.problems());
        assert!(result.outcome.calls.iter().all(|call| !call.is_refused()), "{name}");
        first.push(result);
    }
    for (at, (name, definition)) in SAMPLES.iter().enumerate() {
        let case = EvalCase::parse(definition).unwrap();
        let mut again = play(&app, &player, &case, SHORT).await;
        again.outcome.conversation.clone_from(&first[at].outcome.conversation);
        assert_eq!(again, first[at], "{name}");
    }
    let stages = "conversations WHERE circle = 'sandbox'";
    assert_eq!(app.count(stages).await, 20, "the first round is erased");
    let report = check(&app.app.store, &app.app.blobs).await.unwrap();
    assert_eq!(report.findings, []);
}

async fn an_agent_with_a_test_key_is_waited_for_and_graded(app: TestApp) {
    let (key, player) = agent(&app).await;
    for (words, wrong) in [("We are sorry.", 0), ("That is bad luck.", 1)] {
        let subject = format!("Lamp {wrong}");
        let mut case = lamp();
        case.mails[0].subject = Some(subject.clone());
        let work = async {
            let id = conversation(&app, &key, &subject, 1).await;
            app.on(&key, &id, "tags", json!({ "add": ["returns"] })).await.is(200);
            app.app.background.finish().await;
            app.on(&key, &id, "replies", json!({ "body": words })).await.is(201);
        };
        let (result, ()) = tokio::join!(play(&app, &player, &case, LONG), work);
        assert!(!result.idle);
        assert_eq!(result.problems().len(), wrong, "{:?}", result.problems());
        assert_eq!(result.passed, wrong == 0);
        assert_eq!(result.outcome.messages[0].recipients, ["kim@case.test"]);
        app.app.background.finish().await;
        app.advance(1);
    }
}

async fn an_agent_that_does_nothing_fails(app: TestApp) {
    let (_, player) = agent(&app).await;
    let mut case = lamp();
    (case.must, case.must_not) = (EvalExpectations::default(), EvalExpectations::default());
    case.must.status = Some(Status::Open);
    let result = play(&app, &player, &case, SHORT).await;
    assert!(result.idle && !result.passed);
    assert_eq!(result.problems(), ["The agent did nothing in time."]);
    let case = EvalCase { nothing_to_do: true, ..case };
    assert!(play(&app, &player, &case, SHORT).await.passed);
}

async fn each_mail_is_a_turn_of_its_own(app: TestApp) {
    let (key, player) = agent(&app).await;
    let mut case = lamp();
    case.mails.push(case.mails[0].clone());
    case.mails[1].text = "The order is 5.".into();
    let work = async {
        let id = conversation(&app, &key, "Lamp", 1).await;
        app.on(&key, &id, "tags", json!({ "add": ["returns"] })).await.is(200);
        app.app.background.finish().await;
        app.on(&key, &id, "replies", json!({ "body": "Sorry, which order?" })).await.is(201);
        // The customer's second mail comes when the first has a draft.
        let id = conversation(&app, &key, "Lamp", 3).await;
        app.on(&key, &id, "replies", json!({ "body": "Thank you." })).await.is(201);
    };
    let (result, ()) = tokio::join!(play(&app, &player, &case, LONG), work);
    assert!(result.passed, "{:?}", result.problems());
    assert_eq!(result.outcome.messages.len(), 2);
}

/// Headers and body of a call.
type HeardCall = (Vec<(&'static str, String)>, Value);

/// Answers with what it is told, and remembers what it was sent.
#[derive(Default)]
struct OutsideAgent {
    answers: Mutex<Vec<WebhookResponse>>,
    heard: Mutex<Vec<HeardCall>>,
}

impl WebhookSender for OutsideAgent {
    fn post<'a>(&'a self, call: &'a WebhookRequest) -> BoxFuture<'a, WebhookResponse> {
        let body = serde_json::from_str(&call.body).unwrap();
        self.heard.lock().unwrap().push((call.headers.clone(), body));
        let answer = self.answers.lock().unwrap().remove(0);
        Box::pin(async move { answer })
    }
}

fn says(calls: &Value) -> WebhookResponse {
    WebhookResponse::Status { code: 200, body: json!({ "calls": calls }).to_string() }
}

fn outside(answers: Vec<WebhookResponse>, secret: Option<&str>) -> (Arc<OutsideAgent>, EvalPlayer) {
    let agent = Arc::new(OutsideAgent { answers: Mutex::new(answers), ..OutsideAgent::default() });
    let webhook = EvalWebhook {
        sender: agent.clone(),
        url: "https://agent.example/turn".into(),
        secret: secret.map(str::to_owned),
    };
    (agent, EvalPlayer::at_webhook("agent.example", webhook).unwrap())
}

async fn an_agent_outside_is_asked_at_its_webhook(app: TestApp) {
    let mut case = lamp();
    case.mails.push(case.mails[0].clone());
    let tag = json!([{ "call": "tag_conversation", "with": { "add": ["returns"] } }]);
    let reply = json!([{ "call": "reply", "with": { "body": "We are sorry." } }]);
    let unknown = json!([{ "call": "fly" }]);
    let answers =
        vec![says(&tag), says(&json!([])), says(&unknown), says(&reply), says(&json!([]))];
    let secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let (agent, player) = outside(answers, Some(secret));
    let result = play(&app, &player, &case, SHORT).await;
    assert!(result.passed, "{:?}", result.problems());
    assert_eq!(result.outcome.calls.len(), 3);
    let heard: Vec<HeardCall> = agent.heard.lock().unwrap().drain(..).collect();
    let turns: Vec<(i64, Option<i64>)> = heard
        .iter()
        .map(|(_, body)| {
            assert!(!body["conversation"]["timeline"].as_array().unwrap().is_empty());
            (body["turn"].as_i64().unwrap(), body["results"][0]["status"].as_i64())
        })
        .collect();
    assert_eq!(turns, [(1, None), (1, Some(200)), (2, None), (2, Some(400)), (2, Some(201))]);
    assert!(
        heard[0]
            .0
            .iter()
            .any(|(name, value)| *name == "webhook-signature" && value.starts_with("v1,"))
    );
    for (answer, said) in [
        (WebhookResponse::Failed("timeout".into()), "was not reached: timeout"),
        (WebhookResponse::Status { code: 500, body: String::new() }, "answered 500"),
        (WebhookResponse::Status { code: 200, body: "no".into() }, "must answer with"),
    ] {
        let (agent, player) = outside(vec![answer], None);
        let result = play(&app, &player, &lamp(), SHORT).await;
        let problem = result.problems().pop().unwrap();
        assert!(!result.passed && problem.contains(said), "{problem}");
        let heard = agent.heard.lock().unwrap();
        assert!(heard[0].0.iter().all(|(name, _)| *name != "webhook-signature"), "unsigned");
    }
}

async fn an_agent_outside_administers_nothing(app: TestApp) {
    let calls = json!([{ "call": "list_webhooks" }, { "call": "list_tags" }]);
    let (agent, player) = outside(vec![says(&calls), says(&json!([]))], None);
    play(&app, &player, &lamp(), SHORT).await;
    let heard = agent.heard.lock().unwrap();
    let results = &heard[1].1["results"];
    assert_eq!((&results[0]["status"], &results[1]["status"]), (&json!(403), &json!(200)));
}

async fn a_model_judges_only_where_a_run_wants_it(app: TestApp) {
    let asked = LAMP.replace("says = [\"sorry\"]", "judge = [\"Is it polite?\"]");
    let asked = asked.replace("[must_not]", "[must_not]\njudge = [\"Does it promise a refund?\"]");
    let steps = "[[step]]\ncall = \"tag_conversation\"\n[step.with]\nadd = [\"returns\"]\n[[step]]\n\
                 call = \"reply\"\n[step.with]\nbody = \"We are sorry.\"\n";
    let case = EvalCase::parse(&format!("{asked}\n{steps}")).unwrap();
    let mut player = EvalPlayer::script().unwrap();
    let judged = |result: &EvalResult| -> Vec<(bool, String)> {
        let judged = result.verdicts.iter().filter(|verdict| verdict.judged);
        judged.map(|verdict| (verdict.passed, verdict.seen.clone())).collect()
    };
    let result = play(&app, &player, &case, SHORT).await;
    assert!(result.passed, "{:?}", result.problems());
    assert!(judged(&result).iter().all(|(passed, seen)| *passed && seen.contains("not asked")));
    let model = TestModel::new();
    player.judge = Some(model.clone());
    for (polite, promises, passed) in [("yes", "no", [true, true]), ("no", "yes", [false, false])] {
        for answer in [polite, promises] {
            model.will_say(&json!({ "answer": answer, "reason": "So it is." }).to_string());
        }
        let result = play(&app, &player, &case, SHORT).await;
        let verdicts: Vec<bool> = judged(&result).into_iter().map(|(passed, _)| passed).collect();
        assert_eq!(verdicts, passed);
    }
    let asked = model.data(0);
    assert_eq!(asked["question"], "Is it polite?");
    assert_eq!(asked["agent_wrote"][0]["text"], "We are sorry.");
    model.will_say("perhaps");
    model.will_fail("status 500");
    let result = play(&app, &player, &case, SHORT).await;
    assert!(!result.passed);
    assert!(
        judged(&result).iter().all(|(passed, seen)| !passed && seen.contains("did not answer"))
    );
}

async fn tokens_are_counted_of_what_was_called(app: TestApp) {
    let (key, player) = agent(&app).await;
    let mut case = lamp();
    (case.must, case.must_not) = (EvalExpectations::default(), EvalExpectations::default());
    case.must.most_tokens = Some(1);
    let work = async {
        let id = conversation(&app, &key, "Lamp", 1).await;
        app.on(&key, &id, "tags", json!({ "add": ["returns"] })).await.is(200);
        app.app.background.finish().await;
        app.on(&key, &id, "replies", json!({ "body": "We are sorry." })).await.is(201);
    };
    let (result, ()) = tokio::join!(play(&app, &player, &case, LONG), work);
    assert!(!result.passed && result.problems()[0].contains("tokens"), "{:?}", result.problems());
    let tag = result.outcome.calls.iter().find(|call| call.operation == "tag_conversation");
    assert!(tag.unwrap().bytes > 20);
    app.app.background.finish().await;
    app.advance(1);
}

async fn cases_are_saved_replaced_removed_and_bounded_to_those_who_administer(app: TestApp) {
    let save =
        |text: String| move |tx: &mut Tx<'_>, cx: &Cx<'_>| evals::save_definition(tx, cx, &text);
    app.act(&app.owner, save(LAMP.into())).await;
    app.act(&app.owner, save(LAMP.replace("sorry", "regret"))).await;
    let cases = app.act(&app.owner, evals::list_cases).await;
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].must.says, ["regret"]);
    app.expect_refusal(&app.owner, save("name = 1".into())).await;
    let member = app.person_with("Max", Role::Member).await;
    app.expect_refusal(&member, save(LAMP.into())).await;
    app.expect_refusal(&member, evals::list_cases).await;
    let other = app.other_workspace("Other").await;
    assert!(app.act(&other, evals::list_cases).await.is_empty());
    let remove = |tx: &mut Tx<'_>, cx: &Cx<'_>| evals::remove_case(tx, cx, "lamp");
    app.expect_refusal(&other, remove).await;
    app.act(&app.owner, remove).await;
    assert!(app.act(&app.owner, evals::list_cases).await.is_empty());
}

async fn keep(app: &TestApp, owner: &Actor, result: &EvalResult) -> i64 {
    let own = result.clone();
    let keep = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        let run = evals::begin_run(tx, cx, "Testo")?;
        evals::keep_result(tx, cx, run, 1, &own)?;
        evals::end_run(tx, cx, run)?;
        Ok(run)
    };
    app.act(owner, keep).await
}

async fn the_newest_runs_are_kept_with_their_results(app: TestApp) {
    let player = EvalPlayer::script().unwrap();
    let result = play(&app, &player, &lamp(), SHORT).await;
    assert!(!result.passed);
    for number in 1..=base::limits::EVAL_RUNS + 2 {
        assert_eq!(keep(&app, &app.owner, &result).await, number);
    }
    let runs = app.act(&app.owner, evals::list_runs).await;
    assert_eq!(runs.len() as i64, base::limits::EVAL_RUNS);
    assert_eq!((runs[0].cases, runs[0].passed), (1, 0));
    let last = runs[0].number;
    let load = move |tx: &mut Tx<'_>, cx: &Cx<'_>| evals::load_results(tx, cx, last);
    assert_eq!(app.act(&app.owner, load).await, [result]);
    app.expect_refusal(&app.owner, |tx, cx| evals::load_results(tx, cx, 1)).await;
    let other = app.other_workspace("Other").await;
    assert!(app.act(&other, evals::list_runs).await.is_empty());
}

async fn a_conversation_becomes_a_case_without_its_customer(app: TestApp) {
    let text = "Hello, this is Kerstin Obermaier (kerstin@obermaier.example). Is it here?";
    let mail = letter("kerstin@obermaier.example Kerstin Obermaier", "Lamp of Obermaier", text);
    let filed = app.deliver(&app.support, mail).await;
    let key = app.key("write").await;
    app.on(&key, &filed.conversation, "tags", json!({ "add": ["vip"] })).await.is(200);
    let id = filed.conversation.to_string();
    let save = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        let case = evals::case_of_conversation(tx, cx, &id, "saved")?;
        evals::save_case(tx, cx, &case)
    };
    let case = app.act(&app.owner, save).await;
    let definition = case.to_definition().unwrap();
    for word in ["kerstin", "obermaier"] {
        assert!(!definition.to_lowercase().contains(word), "{definition}");
    }
    assert_eq!((case.mails.len(), &case.must.tags), (1, &vec!["vip".to_owned()]));
    // Neither for others nor for the person whose inbox it is: all owners and admins read test cases.
    let pia = app.person_with("Pia", Role::Admin).await;
    let private = app.private_inbox(&pia).await;
    let secret = app.deliver(&private, letter("a@x.example", "Secret", "text")).await;
    for person in [&app.owner, &pia] {
        let id = secret.conversation.to_string();
        let read =
            move |tx: &mut Tx<'_>, cx: &Cx<'_>| evals::case_of_conversation(tx, cx, &id, "x");
        app.expect_refusal(person, read).await;
    }
}

async fn forgetting_a_person_removes_cases_that_name_them(app: TestApp) {
    let named = LAMP.replace("My lamp", "I am Ann@Old.example and my lamp");
    for definition in [named, LAMP.replace("\"lamp\"", "\"other\"")] {
        let save = move |tx: &mut Tx<'_>, cx: &Cx<'_>| evals::save_definition(tx, cx, &definition);
        app.act(&app.owner, save).await;
    }
    let forget =
        |tx: &mut Tx<'_>, cx: &Cx<'_>| forget_person(tx, cx, &EmailAddress::new("ann@old.example"));
    app.act(&app.service(&app.support), forget).await;
    let cases = app.act(&app.owner, evals::list_cases).await;
    let names: Vec<Value> = cases.iter().map(|case| json!(case.name)).collect();
    assert_eq!(names, [json!("other")]);
}
