//! The language model behind real HTTP: a scripted endpoint that answers well, badly and with malice.

use std::sync::{Arc, Mutex};

use actions::inboxes::drafting;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use model::mailboxes::DraftingMode;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use transport::reply_model::ModelEndpoint;

use crate::support::*;

on_both!(
    a_draft_is_asked_for_with_its_key_and_cites_its_source,
    an_endpoint_that_fails_leads_elsewhere_or_says_too_much_leaves_the_built_in_draft,
    with_drafting_off_nothing_leaves,
    without_a_model_nothing_leaves,
);

/// An OpenAI-compatible server that answers as it is told.
#[derive(Clone, Default)]
struct ScriptedModel {
    answers: Arc<Mutex<Vec<(u16, String)>>>,
    asked: Arc<Mutex<Vec<ModelRequest>>>,
}

/// The `Authorization` header of a request, and its body.
type ModelRequest = (Option<String>, Value);

impl ScriptedModel {
    async fn start() -> (ScriptedModel, ModelEndpoint, tempfile::TempDir) {
        let scripted = ScriptedModel::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router =
            Router::new().route("/v1/chat/completions", post(answer)).with_state(scripted.clone());
        tokio::spawn(async move {
            server::serve::serve_router(listener, router, std::future::pending()).await.unwrap();
        });
        let folder = tempfile::tempdir().unwrap();
        let key_file = folder.path().join("key");
        std::fs::write(&key_file, "secret\n").unwrap();
        let endpoint = ModelEndpoint { url, key_file: Some(key_file), model: "small".into() };
        (scripted, endpoint, folder)
    }

    fn will_answer(&self, status: u16, body: String) {
        self.answers.lock().unwrap().push((status, body));
    }

    fn will_draft(&self, text: &str, source: &str) {
        let content = json!({
            "answerable": true,
            "language": "en",
            "paragraphs": [{ "text": text, "sources": [source] }],
            "missing": [],
        });
        self.will_answer(200, completion(&content.to_string()));
    }

    fn asked(&self) -> Vec<(Option<String>, Value)> {
        self.asked.lock().unwrap().clone()
    }
}

fn completion(content: &str) -> String {
    json!({ "choices": [{ "message": { "content": content } }], "usage": { "total_tokens": 11 } })
        .to_string()
}

async fn answer(
    State(scripted): State<ScriptedModel>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let key = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    scripted.asked.lock().unwrap().push((key, serde_json::from_str(&body).unwrap()));
    let (status, body) = scripted.answers.lock().unwrap().remove(0);
    let status = StatusCode::from_u16(status).unwrap();
    if status.is_redirection() {
        return (status, [("location", body)]).into_response();
    }
    (status, body).into_response()
}

async fn ready(app: &TestApp, mode: DraftingMode) -> (TestKey, String) {
    let key = app.key("read draft send").await;
    let answer = app.answer("Fee taken twice", FEE_ANSWER).await;
    app.teach_fee_answer(&key).await;
    app.set_drafting(&app.owner, &app.support, mode).await;
    (key, answer.to_string())
}

async fn a_draft_is_asked_for_with_its_key_and_cites_its_source(app: TestApp) {
    let (scripted, endpoint, _folder) = ScriptedModel::start().await;
    let app = app.with_model(endpoint);
    let (key, answer) = ready(&app, DraftingMode::Model).await;
    scripted.will_draft("Hello [NAME-1], a second debit goes back to its account.", &answer);
    let question = format!("{FEE_QUESTION_AGAIN} It is about HM-2026-1044.");
    let mail = app.mail_to(&app.support, "bo@y.example Bo Berg", &question).await;
    let (sent_key, request) = scripted.asked().remove(0);
    assert_eq!(sent_key.as_deref(), Some("Bearer secret"));
    assert_eq!(request["model"], "small");
    assert_eq!(request["response_format"]["json_schema"]["strict"], true);
    let left = request.to_string();
    for secret in ["HM-2026-1044", "Berg", "bo@y.example"] {
        assert!(!left.contains(secret), "{left}");
    }
    let draft = app.drafts_in(&key, &mail).await.remove(0);
    assert_eq!(draft["text"], "Hello Bo, a second debit goes back to its account.");
    assert_eq!(draft["sources"], json!([{ "id": answer, "title": "Fee taken twice" }]));
}

async fn an_endpoint_that_fails_leads_elsewhere_or_says_too_much_leaves_the_built_in_draft(
    app: TestApp,
) {
    let (scripted, endpoint, _folder) = ScriptedModel::start().await;
    let elsewhere = format!("{}/elsewhere", endpoint.url);
    let app = app.with_model(endpoint);
    let (key, _) = ready(&app, DraftingMode::Model).await;
    let hostile = [
        (500, "no".to_owned()),
        (307, elsewhere),
        (200, "not JSON".to_owned()),
        (200, "x".repeat(1_000_000)),
        (200, json!({ "choices": [] }).to_string()),
        (200, completion("I am sorry, I cannot do that.")),
    ];
    for (number, (status, body)) in hostile.into_iter().enumerate() {
        scripted.will_answer(status, body);
        let from = format!("c{number}@y.example Cy");
        let mail = app.mail_to(&app.support, &from, FEE_QUESTION_AGAIN).await;
        let draft = app.drafts_in(&key, &mail).await.remove(0);
        let text = draft["text"].as_str().unwrap();
        assert!(text.starts_with("Hello Cy, when a monthly fee"), "{number}: {text}");
        let asked = scripted.asked().len();
        assert_eq!(asked, (number + 1).min(5), "one try for a message, five failures in a row");
    }
    let (_, health) = app.app.read(&app.owner, drafting::list_drafting).await.unwrap();
    assert_eq!(health.failures, 5);
}

async fn with_drafting_off_nothing_leaves(app: TestApp) {
    let (scripted, endpoint, _folder) = ScriptedModel::start().await;
    let app = app.with_model(endpoint);
    let (key, _) = ready(&app, DraftingMode::Off).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    let id = app.support.id.clone();
    let preview = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        drafting::preview_request(tx, cx, &id, "small")
    };
    assert!(app.app.read(&app.owner, preview).await.unwrap().is_some(), "what would be sent");
    let browser = app.signed_in(&app.owner).await;
    let shown = format!("/settings/drafting/{}/model", app.support.id);
    browser.get(&shown).await.is(200).shows("It has not been sent").shows("[NAME-1]");
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "cy@y.example Cy", FEE_QUESTION_AGAIN).await;
    assert_eq!(app.drafts_in(&key, &mail).await.len(), 1);
    assert!(scripted.asked().is_empty());
}

async fn without_a_model_nothing_leaves(app: TestApp) {
    let (key, _) = ready(&app, DraftingMode::Model).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    let draft = app.drafts_in(&key, &mail).await.remove(0);
    assert!(draft["text"].as_str().unwrap().starts_with("Hello Bo, when"), "built in");
    app.set_drafting(&app.owner, &app.support, DraftingMode::Off).await;
    let mail = app.mail_to(&app.support, "cy@y.example Cy", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty());
    assert_eq!(app.read(&key, &mail.conversation).await["urgency"], "normal", "it is sorted here");
    assert!(app.outside.relay.attempts().is_empty());
    assert!(app.outside.webhook_sender.calls().is_empty());
    assert_eq!(app.count("drafting_jobs").await, 0, "nothing waits to be asked");
}
