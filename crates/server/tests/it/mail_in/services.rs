//! API section 4.13.4: connections to e-mail-sending services, against stand-ins that speak as
//! Resend and Postmark publish.

use std::sync::{Arc, Mutex};

use actions::integrations::services::{self, NewService};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::routing::get;
use base::ids::ServiceId;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use jobs::BoxFuture;
use mail::{Dmarc, Mail};
use node::vault::Vault;
use outbound::services::Service;
use serde_json::{Value, json};
use server::mail_in::services::{HttpReader, POSTMARK_USER, SnsCalls, SnsPages, purpose, router};
use sha2::Sha256;

use crate::support::{Answer, DAY, HOUR, MINUTE, SECOND, TestApp, letter, on_both};

on_both!(
    an_answer_to_mail_that_resend_sent_brings_its_outline_and_then_its_words,
    an_answer_to_mail_that_postmark_delivered_brings_its_words,
    without_a_tag_the_reference_is_that_of_the_reply_address,
    mail_without_any_reference_is_answered_too,
    a_stranger_and_a_forger_get_neither_outline_nor_words,
    a_call_that_is_not_genuine_changes_nothing,
    what_is_told_again_or_of_something_else_is_thanked_for,
    what_the_app_recorded_itself_wins_and_the_service_fills_in,
    words_are_asked_for_again_and_at_last_given_up,
    words_that_the_service_does_not_have_are_given_up_at_once,
    what_a_service_noted_is_forgotten_after_30_days_without_an_answer,
    a_connection_that_ended_takes_no_calls_and_reads_no_words,
    only_who_administers_connects_and_sees_connections
);

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const PASSWORD: &str = "hunter22";
const MAIL: &str = "56761188-7520-42d8-8898-ff6fc54ce618";
const SENT: &str = "0102018dd@eu-west-1.amazonses.com";

async fn an_answer_to_mail_that_resend_sent_brings_its_outline_and_then_its_words(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("read").await;
    service.tell(&app, &by_resend(json!({ "reference": "Order-9" }))).await.is(200);
    assert!(service.stand_in.asked().is_empty(), "nobody answered yet");
    let reply = app.deliver(&app.support, answering("bruno@x.example", SENT)).await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["reference"], "order-9");
    assert_eq!(read["appSent"]["subject"], "Your order");
    assert_eq!(read["appSent"]["to"], json!(["bruno@x.example", "cara@x.example"]));
    assert_eq!(read["appSent"]["text"], Value::Null);
    app.work().await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["appSent"]["text"], "It left today.");
    let asked = service.stand_in.asked();
    assert_eq!(asked, [format!("/emails/{MAIL} Bearer re_key")]);
    app.pass(DAY).await;
    assert_eq!(service.stand_in.asked().len(), 1, "words are read once");
}

async fn an_answer_to_mail_that_postmark_delivered_brings_its_words(app: TestApp) {
    let (app, service) = connected(app, Service::Postmark).await;
    let key = app.key("read").await;
    for recipient in ["Bruno@x.example", "cara@x.example", "cara@x.example"] {
        service.tell(&app, &by_postmark(recipient, json!({ "reference": "A-1" }))).await.is(200);
    }
    let id = format!("{MAIL}@mtasv.net");
    let reply = app.deliver(&app.support, answering("cara@x.example", &id)).await;
    app.work().await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["reference"], "a-1");
    assert_eq!(read["appSent"]["to"], json!(["bruno@x.example", "cara@x.example"]));
    assert_eq!(read["appSent"]["subject"], "Your order");
    assert_eq!(read["appSent"]["text"], "It left today.");
    let path = format!("/messages/outbound/{MAIL}/details re_key");
    assert_eq!(service.stand_in.asked(), [path]);
    let event = app.events().await.pop().unwrap();
    assert_eq!(event["data"]["reference"], "a-1");
}

async fn without_a_tag_the_reference_is_that_of_the_reply_address(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("read").await;
    service.tell(&app, &by_resend(json!({ "category": "x" }))).await.is(200);
    let mail = Mail {
        delivered_to: "support+inv-5@acme.example".into(),
        ..answering("bruno@x.example", SENT)
    };
    let reply = app.deliver(&app.support, mail).await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read["reference"], "inv-5");
    assert_eq!(read["appSent"]["messageId"], SENT);
    app.advance(SECOND);
    let later = Mail { subject: "Else".into(), ..answering("cara@x.example", SENT) };
    let later = app.deliver(&app.support, later).await;
    assert_eq!(later.conversation, reply.conversation);
}

async fn mail_without_any_reference_is_answered_too(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("read").await;
    service.tell(&app, &by_resend(json!({ "reference": "nodigit" }))).await.is(200);
    let reply = app.deliver(&app.support, answering("bruno@x.example", SENT)).await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!(read.get("reference"), None);
    assert_eq!(read["appSent"]["subject"], "Your order");
    let types = app.event_types().await;
    assert_eq!(types, ["turn.changed", "client.replied"]);
    assert_eq!(app.events().await[1]["data"].get("reference"), None);
}

async fn a_stranger_and_a_forger_get_neither_outline_nor_words(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("read").await;
    service.tell(&app, &by_resend(json!({ "reference": "order-9" }))).await.is(200);
    let stranger = answering("eve@evil.example", SENT);
    let forger = Mail { dmarc: Dmarc::Absent, ..answering("bruno@x.example", SENT) };
    for mail in [stranger, forger] {
        let alone = app.deliver(&app.support, mail).await;
        let read = app.read(&key, &alone.conversation).await;
        assert_eq!((read.get("reference"), read.get("appSent")), (None, None));
    }
    app.pass(HOUR).await;
    assert!(service.stand_in.asked().is_empty());
}

async fn a_call_that_is_not_genuine_changes_nothing(app: TestApp) {
    for kind in [Service::Resend, Service::Postmark] {
        let service = connect(&app, kind).await;
        let body = service.call(json!({ "reference": "order-9" }));
        let refused = [
            service.request(&app, &body, Sign::Not).await,
            service.request(&app, &body, Sign::With("whsec_AAAA", 0)).await,
            service.request(&app, &body.replace("order-9", "order-8"), Sign::For(&body)).await,
        ];
        for (place, answer) in refused.into_iter().enumerate() {
            let genuine = place == 2 && service.kind == Service::Postmark;
            if !genuine {
                answer.is(401);
            }
        }
        if service.kind == Service::Resend {
            for age in [6 * MINUTE, -6 * MINUTE] {
                service.request(&app, &body, Sign::With(SECRET, age)).await.is(401);
            }
            service.request(&app, &body, Sign::With(SECRET, 4 * MINUTE)).await.is(200);
        }
        let elsewhere = "/hooks/resend/00000000000000000000000000000000";
        service.request_to(&app, elsewhere, &body, Sign::With(SECRET, 0)).await.is(404);
        service.request_to(&app, "/hooks/else/x", &body, Sign::Not).await.is(404);
        let broken = service.request(&app, "{", Sign::For("{")).await;
        assert_eq!(broken.is(400).error(), "body: must be valid JSON");
    }
}

async fn what_is_told_again_or_of_something_else_is_thanked_for(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let delivered = by_resend(json!({})).replace("email.sent", "email.delivered");
    service.tell(&app, &delivered).await.is(200);
    assert_eq!(recorded(&app).await, 0);
    for _ in 0..3 {
        service.tell(&app, &by_resend(json!({ "reference": "order-9" }))).await.is(200);
    }
    assert_eq!(recorded(&app).await, 1);
    for odd in [
        by_resend(json!({})).replace(MAIL, "../../keys"),
        by_resend(json!({})).replace("@x.example", ""),
    ] {
        service.tell(&app, &odd.replace(SENT, "odd@x")).await.is(200);
    }
    assert_eq!(recorded(&app).await, 1);
}

async fn what_the_app_recorded_itself_wins_and_the_service_fills_in(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("record").await;
    let body = json!({
        "messageId": SENT, "reference": "own-1", "to": ["dora@x.example"], "subject": "Own",
    });
    app.post(&key, "/app-mail", body).await.is(201);
    service.tell(&app, &by_resend(json!({ "reference": "tag-2" }))).await.is(200);
    let reply = app.deliver(&app.support, answering("bruno@x.example", SENT)).await;
    app.work().await;
    let read = app.read(&key, &reply.conversation).await;
    assert_eq!((&read["reference"], &read["appSent"]["subject"]), (&json!("own-1"), &json!("Own")));
    assert_eq!(read["appSent"]["text"], "It left today.");
    let to = json!(["dora@x.example", "bruno@x.example", "cara@x.example"]);
    assert_eq!(read["appSent"]["to"], to);
}

async fn words_are_asked_for_again_and_at_last_given_up(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("read").await;
    service.stand_in.answers(503);
    service.tell(&app, &by_resend(json!({ "reference": "order-9" }))).await.is(200);
    let reply = app.deliver(&app.support, answering("bruno@x.example", SENT)).await;
    app.pass(22 * MINUTE).await;
    assert_eq!(service.stand_in.asked().len(), 4, "at once, after 1, 5 and 15 minutes");
    assert_eq!(last_error(&app).await.as_deref(), Some("The service answered 503."));
    app.pass(3 * DAY).await;
    let attempts = service.stand_in.asked().len();
    app.pass(3 * DAY).await;
    assert_eq!(service.stand_in.asked().len(), attempts, "given up");
    assert_eq!(app.read(&key, &reply.conversation).await["appSent"]["text"], Value::Null);
}

async fn words_that_the_service_does_not_have_are_given_up_at_once(app: TestApp) {
    let (app, service) = connected(app, Service::Postmark).await;
    service.stand_in.answers(404);
    service.tell(&app, &by_postmark("bruno@x.example", json!({}))).await.is(200);
    let id = format!("{MAIL}@mtasv.net");
    app.deliver(&app.support, answering("bruno@x.example", &id)).await;
    app.pass(DAY).await;
    assert_eq!(service.stand_in.asked().len(), 1);
}

async fn what_a_service_noted_is_forgotten_after_30_days_without_an_answer(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    let key = app.key("read").await;
    service.tell(&app, &by_resend(json!({ "reference": "order-9" }))).await.is(200);
    app.advance(30 * DAY);
    let reply = app.deliver(&app.support, answering("bruno@x.example", SENT)).await;
    assert_eq!(app.read(&key, &reply.conversation).await.get("appSent"), None);
}

async fn a_connection_that_ended_takes_no_calls_and_reads_no_words(app: TestApp) {
    let (app, service) = connected(app, Service::Resend).await;
    service.tell(&app, &by_resend(json!({ "reference": "order-9" }))).await.is(200);
    app.deliver(&app.support, answering("bruno@x.example", SENT)).await;
    let id = service.id.clone();
    app.act(&app.owner, move |tx, cx| services::disconnect_service(tx, cx, &id)).await;
    service.tell(&app, &by_resend(json!({}))).await.is(404);
    app.pass(DAY).await;
    assert!(service.stand_in.asked().is_empty());
}

async fn only_who_administers_connects_and_sees_connections(app: TestApp) {
    let ann = app.person("Ann").await;
    let new = NewService {
        id: ServiceId::new(&app.app.ids, app.now()),
        service: Service::Resend,
        sealed_key: String::new(),
        sealed_secret: None,
        api_url: String::new(),
        reference_tag: "reference".into(),
    };
    let made = app.app.act(&ann, move |tx, cx| services::connect_service(tx, cx, &new));
    assert!(made.await.is_err());
    assert!(app.app.act(&ann, services::list_services).await.is_err());
    let (app, service) = connected(app, Service::Resend).await;
    let listed = app.act(&app.owner, services::list_services).await;
    assert_eq!(listed.len(), 1);
    assert!(listed[0].complete && listed[0].address.ends_with(&service.path));
    let told = serde_json::to_string(&listed).unwrap();
    assert!(!told.contains("re_key") && !told.contains(SECRET), "{told}");
}

/// A service that is connected, and the stand-in for it.
struct Connected {
    kind: Service,
    id: ServiceId,
    path: String,
    stand_in: StandIn,
}

/// How a call is signed: with a secret, so long ago; or rightly, for another body.
enum Sign<'a> {
    Not,
    With(&'a str, i64),
    For(&'a str),
}

async fn connected(app: TestApp, service: Service) -> (TestApp, Connected) {
    let connected = connect(&app, service).await;
    let reader = Arc::new(HttpReader::new(vault(&app)).unwrap());
    (app.with_reader(reader), connected)
}

async fn connect(app: &TestApp, kind: Service) -> Connected {
    let stand_in = StandIn::start().await;
    let (vault, ids) = (vault(app), &app.app.ids);
    let id = ServiceId::new(ids, app.now());
    let secret = if kind == Service::Resend { SECRET } else { PASSWORD };
    let new = NewService {
        service: kind,
        sealed_key: vault.seal(ids, &purpose("key", &id), "re_key"),
        sealed_secret: Some(vault.seal(ids, &purpose("secret", &id), secret)),
        api_url: stand_in.url.clone(),
        reference_tag: "reference".into(),
        id: id.clone(),
    };
    let path = app.act(&app.owner, move |tx, cx| services::connect_service(tx, cx, &new)).await;
    Connected { kind, id, path, stand_in }
}

impl Connected {
    /// Calls as the service does.
    async fn tell(&self, app: &TestApp, body: &str) -> Answer {
        self.request(app, body, Sign::For(body)).await
    }

    fn call(&self, tags: Value) -> String {
        match self.kind {
            Service::Resend => by_resend(tags),
            Service::Postmark => by_postmark("bruno@x.example", tags),
            Service::Mailgun | Service::SendGrid | Service::AmazonSes => tags.to_string(),
        }
    }

    async fn request(&self, app: &TestApp, body: &str, sign: Sign<'_>) -> Answer {
        self.request_to(app, &self.path, body, sign).await
    }

    async fn request_to(&self, app: &TestApp, path: &str, body: &str, sign: Sign<'_>) -> Answer {
        let mut request = Request::builder().method("POST").uri(path);
        let (secret, age, signed) = match sign {
            Sign::Not => ("", 0, ""),
            Sign::With(secret, age) => (secret, age, body),
            Sign::For(signed) => (SECRET, 0, signed),
        };
        if !secret.is_empty() {
            request = match self.kind {
                Service::Resend => {
                    let timestamp = (app.now() - age) / SECOND;
                    let signature = signature(secret, &format!("msg_1.{timestamp}.{signed}"));
                    request
                        .header("svix-id", "msg_1")
                        .header("svix-timestamp", timestamp.to_string())
                        .header("svix-signature", format!("v1,AAAA v1,{signature}"))
                }
                Service::Postmark => {
                    let password = if secret == SECRET { PASSWORD } else { "wrong" };
                    let basic = STANDARD.encode(format!("{POSTMARK_USER}:{password}"));
                    request.header("authorization", format!("Basic {basic}"))
                }
                Service::Mailgun | Service::SendGrid | Service::AmazonSes => request,
            };
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let sns = SnsCalls::new(Arc::new(NoPages));
        TestApp::send_to(&router(app.app.clone(), vault(app), sns), request).await
    }
}

/// Nothing can be fetched.
struct NoPages;

impl SnsPages for NoPages {
    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        Box::pin(async { None })
    }
}

/// What answers in place of the services' APIs, in their formats.
struct StandIn {
    url: String,
    state: Arc<Mutex<StandInState>>,
}

#[derive(Default)]
struct StandInState {
    asked: Vec<String>,
    status: u16,
}

impl StandIn {
    async fn start() -> StandIn {
        let state = Arc::new(Mutex::new(StandInState { status: 200, ..Default::default() }));
        let router = Router::new()
            .route("/emails/{id}", get(of_resend))
            .route("/messages/outbound/{id}/details", get(of_postmark))
            .with_state(Arc::clone(&state));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(server::serve::serve_router(listener, router, std::future::pending()));
        StandIn { url, state }
    }

    fn asked(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }

    fn answers(&self, status: u16) {
        self.state.lock().unwrap().status = status;
    }
}

type Asked = State<Arc<Mutex<StandInState>>>;

async fn of_resend(
    State(state): Asked,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    let key = headers["authorization"].to_str().unwrap();
    let answer = json!({
        "object": "email", "id": id, "to": ["bruno@x.example"], "from": "Acme <hi@acme.example>",
        "created_at": "2026-11-15 09:00:00.000000+00", "subject": "Your order",
        "html": "<p>It left today.</p>", "text": null, "bcc": null, "cc": null, "reply_to": null,
        "last_event": "delivered",
    });
    said(&state, format!("/emails/{id} {key}"), answer)
}

async fn of_postmark(
    State(state): Asked,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    let key = headers["x-postmark-server-token"].to_str().unwrap();
    let answer = json!({
        "TextBody": "It left today.", "HtmlBody": "<p>It left today.</p>", "Tag": "shipping",
        "MessageID": id, "To": [{ "Email": "bruno@x.example", "Name": null }],
        "Recipients": ["bruno@x.example"], "ReceivedAt": "2026-11-15T09:00:00Z",
        "From": "hi@acme.example", "Subject": "Your order", "Status": "Sent",
    });
    said(&state, format!("/messages/outbound/{id}/details {key}"), answer)
}

fn said(state: &Mutex<StandInState>, asked: String, answer: Value) -> (StatusCode, String) {
    let mut state = state.lock().unwrap();
    state.asked.push(asked);
    (StatusCode::from_u16(state.status).unwrap(), answer.to_string())
}

fn by_resend(tags: Value) -> String {
    json!({
        "type": "email.sent",
        "created_at": "2026-11-15T09:00:01.126Z",
        "data": {
            "created_at": "2026-11-15T09:00:00.894719+00:00",
            "email_id": MAIL,
            "message_id": format!("<{SENT}>"),
            "from": "Acme <hi@acme.example>",
            "to": ["Bruno <Bruno@x.example>", "cara@x.example"],
            "subject": "Your order",
            "tags": tags,
        },
    })
    .to_string()
}

fn by_postmark(recipient: &str, metadata: Value) -> String {
    json!({
        "RecordType": "Delivery", "ServerID": 23, "MessageStream": "outbound", "MessageID": MAIL,
        "Recipient": recipient, "Tag": "shipping", "DeliveredAt": "2026-11-15T09:00:02Z",
        "Details": "250 ok", "Metadata": metadata,
    })
    .to_string()
}

fn answering(from: &str, header_id: &str) -> Mail {
    Mail { answers: vec![header_id.into()], ..letter(from, "Re: Your order", "Thank you") }
}

fn signature(secret: &str, signed: &str) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(signed.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

fn vault(app: &TestApp) -> Vault {
    Vault::open(app.folder(), &app.app.ids).unwrap()
}

async fn recorded(app: &TestApp) -> i64 {
    let sql = "SELECT CAST(count(*) AS BIGINT) FROM app_mail";
    let read = app.app.store.read(move |tx| tx.one::<(i64,)>(sql, &[]));
    read.await.unwrap_or_else(|error: db::StoreError| panic!("{error}")).0
}

async fn last_error(app: &TestApp) -> Option<String> {
    app.act(&app.owner, services::list_services).await.remove(0).last_error
}
