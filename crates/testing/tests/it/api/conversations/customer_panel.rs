//! The customer panel (additions, section 10): who is told what, and what is shown of the answer.

use std::sync::{Arc, Mutex};

use base::actor::{Actor, Role};
use base::concurrency::future::BoxFuture;
use base::ids::EventId;
use base::limits::{PANEL_ANSWER_BYTES, PANEL_WAIT_MS};
use base::panel_answers::{PANEL_ANSWER_MS, PanelCall, PanelCaller, PanelReply};
use customer_panel::{
    PanelPress, PressOutcome, list_panels, press, question, record_press, register_panel,
    remove_panel, rotate_panel_secret,
};
use model::fields::{FieldKind, FieldOwner};
use model::webhooks::webhook_signing::{Signed, is_genuine};
use serde_json::{Value, json};
use testing::{TestApp, letter, on_both};
use url::Url;

on_both!(
    the_app_is_asked_with_a_signed_call_and_its_answer_counts_for_a_minute,
    an_answer_that_is_not_right_is_left_out_and_told_to_the_owner,
    held_mail_and_private_inboxes_are_told_to_nobody,
    the_sandbox_is_told_to_an_app_of_its_own,
    who_does_not_see_a_conversation_asks_nobody,
    a_call_beyond_the_rate_of_its_key_asks_nobody,
    a_button_is_pressed_in_the_name_of_a_person,
    the_old_secret_signs_for_a_day,
    owners_and_admins_alone_choose_the_app
);

/// Address, headers and body of a call.
type AskedCall = (String, Vec<(&'static str, String)>, String);

/// An app of a shop: what it was asked, and what it answers.
#[derive(Default)]
struct Shop {
    asked: Mutex<Vec<AskedCall>>,
    answers: Mutex<Option<(u16, String)>>,
}

impl Shop {
    /// Registered for the team's conversations.
    async fn of_team(app: &TestApp) -> (Arc<Shop>, String) {
        let shop = Arc::new(Shop::default());
        app.app.panels.connect(shop.clone());
        let secret = register(app, &app.owner, true).await;
        (shop, secret)
    }

    fn answer(&self, code: u16, body: &Value) {
        *self.answers.lock().unwrap() = Some((code, body.to_string()));
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn last(&self) -> (Vec<(&'static str, String)>, Value) {
        let asked = self.asked.lock().unwrap();
        let (_, headers, body) = asked.last().unwrap();
        (headers.clone(), serde_json::from_str(body).unwrap())
    }

    /// True when the last call is signed with a secret.
    fn is_signed(&self, secret: &str, now: i64) -> bool {
        let asked = self.asked.lock().unwrap();
        let (_, headers, body) = asked.last().unwrap();
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_str()).unwrap()
        };
        let signed = Signed {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signatures: header("webhook-signature"),
            body: body.as_bytes(),
        };
        is_genuine(&signed, secret, now)
    }
}

impl PanelCaller for Shop {
    fn post<'a>(&'a self, call: &'a PanelCall) -> BoxFuture<'a, PanelReply> {
        let told = (call.url.clone(), call.headers.clone(), call.body.clone());
        self.asked.lock().unwrap().push(told);
        let reply = match self.answers.lock().unwrap().clone() {
            None => PanelReply::Failed(format!("No answer came within {:?}.", call.within)),
            Some((code, body)) => {
                let is_whole = body.len() <= call.most_bytes;
                PanelReply::Answer { code, body: body.into_bytes(), is_whole }
            }
        };
        Box::pin(async move { reply })
    }
}

async fn register(app: &TestApp, by: &Actor, livemode: bool) -> String {
    let url = Url::parse("https://shop.example/panel").unwrap();
    let made = app.act(by, move |tx, cx| register_panel(tx, cx, livemode, "the shop", &url)).await;
    made.expect("a new secret")
}

fn orders() -> Value {
    json!({ "blocks": [
        { "type": "keyValue", "key": "Orders", "value": 3 },
        { "type": "button", "id": "refund", "text": "Refund" },
    ] })
}

async fn the_app_is_asked_with_a_signed_call_and_its_answer_counts_for_a_minute(app: TestApp) {
    let key = app.key("read write").await;
    let id = app.mail("gia@wines.example", "Cellar", "One").await.conversation.to_string();
    let path = format!("/conversations/{id}/panel");
    let off = app.get(&key, &path).await.is(200).json();
    assert_eq!(off, json!({ "state": "off", "name": null, "at": null, "blocks": [] }));
    let (shop, secret) = Shop::of_team(&app).await;
    app.field("plan", FieldOwner::Contact, FieldKind::Choice, &["Free", "Pro"]).await;
    app.field("order", FieldOwner::Conversation, FieldKind::Reference, &[]).await;
    app.post(&key, "/contacts/gia@wines.example/fields", json!({ "fields": { "plan": "Pro" } }))
        .await
        .is(200);
    app.on(&key, &id, "fields", json!({ "fields": { "order": "A-17" } })).await.is(200);
    shop.answer(200, &orders());
    let answered = app.get(&key, &path).await.is(200).json();
    assert_eq!((&answered["state"], &answered["name"]), (&json!("answered"), &json!("the shop")));
    let blocks = json!([
        { "type": "keyValue", "key": "Orders", "value": "3" },
        { "type": "button", "id": "refund", "text": "Refund" },
    ]);
    assert_eq!(answered["blocks"], blocks);
    let (_, body) = shop.last();
    let expected = json!({
        "address": "gia@wines.example",
        "reference": null,
        "fields": { "plan": "Pro", "order": "A-17" },
        "conversationId": id,
    });
    assert_eq!(body, expected);
    assert!(shop.is_signed(&secret, app.now()));
    assert_eq!(app.get(&key, &path).await.json()["at"], answered["at"]);
    assert_eq!(shop.count(), 1);
    app.advance(PANEL_ANSWER_MS);
    shop.answer(200, &json!({ "blocks": [] }));
    assert_eq!(app.get(&key, &path).await.json()["state"], "unknown");
    assert_eq!(shop.count(), 2);
}

async fn an_answer_that_is_not_right_is_left_out_and_told_to_the_owner(app: TestApp) {
    let key = app.key("read").await;
    let id = app.mail("gia@wines.example", "Cellar", "One").await.conversation;
    let path = format!("/conversations/{id}/panel");
    let (shop, _) = Shop::of_team(&app).await;
    let long = json!({ "blocks": [{ "type": "text", "text": "x".repeat(PANEL_ANSWER_BYTES) }] });
    let wrong =
        json!({ "blocks": [{ "type": "link", "text": "x", "url": "javascript:alert(1)" }] });
    for (reply, sentence) in [
        (None, "No answer came within"),
        (Some((500, orders())), "The app answered with status 500."),
        (Some((302, orders())), "The app answered with status 302."),
        (Some((200, long)), "The answer is longer than 16384 bytes."),
        (Some((200, wrong)), "Block 1: url must be an http or https address"),
    ] {
        if let Some((code, body)) = &reply {
            shop.answer(*code, body);
        }
        let answer = app.get(&key, &path).await.is(200).json();
        assert_eq!((&answer["state"], &answer["blocks"]), (&json!("unanswered"), &json!([])));
        app.app.background.finish().await;
        let panels = app.act(&app.owner, list_panels).await;
        assert!(panels[0].problem.starts_with(sentence), "{}", panels[0].problem);
    }
    const { assert!(PANEL_WAIT_MS <= 300) };
    shop.answer(200, &orders());
    assert_eq!(app.get(&key, &path).await.json()["state"], "answered");
    app.app.background.finish().await;
    assert_eq!(app.act(&app.owner, list_panels).await[0].problem, "");
}

async fn held_mail_and_private_inboxes_are_told_to_nobody(app: TestApp) {
    let (shop, _) = Shop::of_team(&app).await;
    shop.answer(200, &orders());
    let key = app.key("read").await;
    let mut scam = letter("eve@evil.example", "Pay now", "Pay.");
    scam.warning = testing::held_warning();
    let held = app.deliver(&app.support, scam).await.conversation;
    let off = app.get(&key, &format!("/conversations/{held}/panel")).await.is(200).json();
    assert_eq!(off["state"], "off");
    let ann = app.person_with("Ann", Role::Admin).await;
    let inbox = app.private_inbox(&ann).await;
    let private = app.deliver(&inbox, letter("gia@secret.example", "Private", "One")).await;
    let hers = app.key_of(&ann, "Hers", "read", true).await;
    let path = format!("/conversations/{}/panel", private.conversation);
    assert_eq!(app.get(&hers, &path).await.is(200).json()["state"], "off");
    assert_eq!(shop.count(), 0);
}

async fn the_sandbox_is_told_to_an_app_of_its_own(app: TestApp) {
    let (shop, _) = Shop::of_team(&app).await;
    shop.answer(200, &orders());
    let test = app.test_key("read").await;
    let mail = app.deliver(&app.sandbox, letter("ann@keller.test", "Lamp", "text")).await;
    let path = format!("/conversations/{}/panel", mail.conversation);
    assert_eq!(app.get(&test, &path).await.is(200).json()["state"], "off");
    let secret = register(&app, &app.owner, false).await;
    assert_eq!(app.get(&test, &path).await.json()["state"], "answered");
    assert!(shop.is_signed(&secret, app.now()));
    app.act(&app.owner, |tx, cx| remove_panel(tx, cx, false)).await;
    assert_eq!(app.get(&test, &path).await.json()["state"], "off");
    assert_eq!(shop.count(), 1);
}

async fn who_does_not_see_a_conversation_asks_nobody(app: TestApp) {
    let (shop, _) = Shop::of_team(&app).await;
    shop.answer(200, &orders());
    let id = app.mail("gia@wines.example", "Cellar", "One").await.conversation;
    let path = format!("/conversations/{id}/panel");
    let other = app.other_workspace("Other").await;
    let stranger = app.key_of(&other, "Robo", "read", true).await;
    app.get(&stranger, &path).await.is(404);
    app.get(&app.test_key("read").await, &path).await.is(404);
    assert_eq!(shop.count(), 0);
}

async fn a_call_beyond_the_rate_of_its_key_asks_nobody(mut app: TestApp) {
    app.set_rate(1);
    let (shop, _) = Shop::of_team(&app).await;
    shop.answer(200, &orders());
    let key = app.key("read").await;
    let one = app.mail("gia@wines.example", "Cellar", "One").await.conversation;
    let other = app.mail("kim@wines.example", "Rack", "Two").await.conversation;
    app.get(&key, &format!("/conversations/{one}/panel")).await.is(200);
    app.get(&key, &format!("/conversations/{other}/panel")).await.is(429);
    assert_eq!(shop.count(), 1);
}

async fn a_button_is_pressed_in_the_name_of_a_person(app: TestApp) {
    let (shop, secret) = Shop::of_team(&app).await;
    shop.answer(200, &orders());
    let id = app.mail("gia@wines.example", "Cellar", "One").await.conversation.to_string();
    let wanted = id.clone();
    let case = app.act(&app.owner, move |tx, cx| question(tx, cx, &wanted)).await;
    let pressed = |button: &str| PanelPress {
        button: button.into(),
        person: "Olive Owner".into(),
        id: EventId::new(&app.app.ids, app.now()),
    };
    let unknown = press(&app.app, &case, &pressed("delete")).await.unwrap_err();
    assert_eq!(unknown.status(), 404);
    assert_eq!(shop.count(), 1);
    shop.answer(200, &json!({ "message": " Refunded\n 20 EUR " }));
    let done = press(&app.app, &case, &pressed("refund")).await.unwrap();
    let message = "Refunded 20 EUR".to_owned();
    assert_eq!(done, PressOutcome::Done { button: "Refund".into(), message });
    let (_, body) = shop.last();
    assert_eq!((&body["button"], &body["person"]), (&json!("refund"), &json!("Olive Owner")));
    assert_eq!(body["conversationId"], id);
    assert!(shop.is_signed(&secret, app.now()));
    let wanted = id.clone();
    app.act(&app.owner, move |tx, cx| record_press(tx, cx, &wanted, "Refund")).await;
    let key = app.key("read").await;
    let events = app.timeline_events(&key, &id).await;
    assert_eq!(events, [("panel-pressed".to_owned(), json!({ "button": "Refund" }))]);
    // What it shows is asked anew afterwards.
    shop.answer(200, &orders());
    app.get(&key, &format!("/conversations/{id}/panel")).await.is(200);
    assert_eq!(shop.count(), 3);
    shop.answer(500, &json!({}));
    let failed = press(&app.app, &case, &pressed("refund")).await.unwrap();
    assert_eq!(failed, PressOutcome::Failed("The app answered with status 500.".into()));
}

async fn the_old_secret_signs_for_a_day(app: TestApp) {
    let (shop, old) = Shop::of_team(&app).await;
    shop.answer(200, &orders());
    let key = app.key("read").await;
    let id = app.mail("gia@wines.example", "Cellar", "One").await.conversation;
    let new = app.act(&app.owner, |tx, cx| rotate_panel_secret(tx, cx, true)).await;
    assert_ne!(old, new);
    let path = format!("/conversations/{id}/panel");
    app.get(&key, &path).await.is(200);
    assert!(shop.is_signed(&old, app.now()) && shop.is_signed(&new, app.now()));
    app.advance(base::limits::DAY_MS);
    app.get(&key, &path).await.is(200);
    assert!(!shop.is_signed(&old, app.now()) && shop.is_signed(&new, app.now()));
}

async fn owners_and_admins_alone_choose_the_app(app: TestApp) {
    let bo = app.person_with("Bo", Role::Member).await;
    let url = Url::parse("https://shop.example/panel").unwrap();
    let refused = app
        .expect_refusal(&bo, move |tx, cx| register_panel(tx, cx, true, "x", &url).map(drop))
        .await;
    assert_eq!(refused.status(), 403);
    app.expect_refusal(&bo, |tx, cx| list_panels(tx, cx).map(drop)).await;
    let missing = app.expect_refusal(&app.owner, |tx, cx| remove_panel(tx, cx, true)).await;
    assert_eq!(missing.status(), 404);
    register(&app, &app.owner, true).await;
    let url = Url::parse("https://shop.example/other").unwrap();
    let again = app
        .act(&app.owner, move |tx, cx| register_panel(tx, cx, true, " the  new shop ", &url))
        .await;
    assert_eq!(again, None, "the secret stays");
    assert_eq!(app.act(&app.owner, list_panels).await[0].name, "the new shop");
    assert_eq!(app.count("customer_panels").await, 1);
}
