//! Webhooks of chats: what they are told, what they never are, and the secret that their address is.

use actions::integrations::delivery_log;
use actions::integrations::webhooks;
use base::error::Error;
use base::ids::WebhookId;
use base::limits::CHAT_LINK_MS;
use mail::Mail;
use model::webhooks::WebhookFormat;
use serde_json::{Value, json};
use testing::{MINUTE, PUBLIC_URL, TestApp, held_warning, letter, on_both};

on_both!(
    a_chat_gets_a_message_about_a_conversation_and_no_words_of_its_mail,
    a_chat_hears_only_what_was_chosen_for_it,
    held_mail_comes_with_its_reason_and_without_links_that_act,
    a_draft_that_waits_comes_with_a_link_to_its_approval,
    of_a_conversation_that_moved_out_of_sight_a_chat_learns_nothing,
    the_address_of_a_chat_is_sealed_and_shown_nowhere
);

const URL: &str = "https://hooks.chat.example/services/T0001/B0002/abcdefghijklmnopqrstwxyz";
const SHOWN: &str = "https://hooks.chat.example/…wxyz";

async fn chat(app: &TestApp, format: WebhookFormat) -> WebhookId {
    let made = app.act(&app.owner, move |tx, cx| {
        let url = webhooks::check_url(URL, false)?;
        webhooks::add_webhook_in_format(tx, cx, (&url, format), false, true)
    });
    let made = made.await;
    assert_eq!(made.secret, None);
    made.id
}

async fn choose(app: &TestApp, id: &WebhookId, names: &[&str]) -> Result<(), Error> {
    let (id, names) = (id.clone(), names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    app.app.act(&app.owner, move |tx, cx| webhooks::choose_events(tx, cx, &id, &names)).await
}

/// What was posted to the chat.
fn bodies(app: &TestApp) -> Vec<Value> {
    let calls = app.outside.webhook_sender.calls_to(URL);
    calls.iter().map(|call| serde_json::from_str(&call.body).unwrap()).collect()
}

async fn a_chat_gets_a_message_about_a_conversation_and_no_words_of_its_mail(app: TestApp) {
    for format in [WebhookFormat::Slack, WebhookFormat::Mattermost, WebhookFormat::Teams] {
        let id = chat(&app, format).await;
        let before = bodies(&app).len();
        let subject = format!("Lamp {format:?} <!here> @all");
        let mail = app.mail("petra@shop.example Petra", &subject, "Secret words").await;
        app.work().await;
        let told = bodies(&app).split_off(before);
        assert_eq!(told.len(), 1, "{format:?}: {told:?}");
        let text = told[0].to_string();
        let open = format!("{PUBLIC_URL}/conversations/{}", mail.conversation);
        for words in
            ["A conversation began", "Petra", "Lamp", "Support", open.as_str(), "/from-chat/close/"]
        {
            assert!(text.contains(words), "{format:?}: {words}: {text}");
        }
        for words in ["Secret words", "petra@shop.example", "<!here>", "@all"] {
            assert!(!text.contains(words), "{format:?}: {words}: {text}");
        }
        app.act(&app.owner, move |tx, cx| delivery_log::delete_webhook(tx, cx, &id)).await;
    }
    let calls = app.outside.webhook_sender.calls_to(URL);
    for call in &calls {
        let names: Vec<&str> = call.headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["content-type"]);
    }
}

async fn a_chat_hears_only_what_was_chosen_for_it(app: TestApp) {
    let id = chat(&app, WebhookFormat::Slack).await;
    choose(&app, &id, &["client.replied"]).await.unwrap();
    app.mail("ann@x.example", "Lamp", "text").await;
    app.work().await;
    assert_eq!(bodies(&app).len(), 0);
    app.mail("ann@x.example", "Re: Lamp", "again").await;
    app.work().await;
    assert_eq!(bodies(&app).len(), 1);
    choose(&app, &id, &[]).await.unwrap();
    app.mail("ann@x.example", "Re: Lamp", "and again").await;
    app.work().await;
    assert_eq!(bodies(&app).len(), 1);
    let test = id.clone();
    app.act(&app.owner, move |tx, cx| delivery_log::send_test_event(tx, cx, &test)).await;
    app.work().await;
    assert!(bodies(&app)[1]["text"].as_str().unwrap().starts_with("This is a test"));
    for name in ["agent.paused", "webhook.test", "nothing"] {
        assert!(choose(&app, &id, &[name]).await.is_err(), "{name}");
    }
}

async fn held_mail_comes_with_its_reason_and_without_links_that_act(app: TestApp) {
    chat(&app, WebhookFormat::Slack).await;
    let mail = Mail { warning: held_warning(), ..letter("eve@x.example", "Pay now", "text") };
    app.deliver(&app.support, mail).await;
    app.work().await;
    let told = bodies(&app);
    let held: Vec<String> = told.iter().map(Value::to_string).collect();
    let held: Vec<_> = held.iter().filter(|text| text.contains("A likely scam was held")).collect();
    assert_eq!(held.len(), 1, "{told:?}");
    assert!(held[0].contains("The link leads elsewhere"), "{held:?}");
    assert!(!held[0].contains("/from-chat/"), "{held:?}");
}

async fn a_draft_that_waits_comes_with_a_link_to_its_approval(app: TestApp) {
    let id = chat(&app, WebhookFormat::Teams).await;
    choose(&app, &id, &["draft.waiting"]).await.unwrap();
    let key = app.key("draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let draft = app.draft(&key, &mail.conversation, "It costs ten.").await;
    app.work().await;
    let told = bodies(&app);
    assert_eq!(told.len(), 1, "{told:?}");
    let text = told[0].to_string();
    assert!(text.contains("Draft by Robo") && !text.contains("It costs ten."), "{text}");
    let until = app.now() + CHAT_LINK_MS;
    let link = format!("{PUBLIC_URL}/from-chat/approve/{draft}/{until}/");
    assert!(text.contains(&link), "{link}: {text}");
}

async fn of_a_conversation_that_moved_out_of_sight_a_chat_learns_nothing(app: TestApp) {
    chat(&app, WebhookFormat::Mattermost).await;
    let mail = app.mail("ann@x.example", "Lamp", "text").await;
    let id = mail.conversation.to_string();
    app.exec(&format!("UPDATE conversations SET circle = 'usr_elsewhere' WHERE id = '{id}'")).await;
    app.work().await;
    let told = bodies(&app);
    assert_eq!(told, [json!({ "text": "**A conversation began**" })]);
}

async fn the_address_of_a_chat_is_sealed_and_shown_nowhere(app: TestApp) {
    let id = chat(&app, WebhookFormat::Slack).await;
    app.outside.webhook_sender.answers_status(URL, 404);
    app.mail("ann@x.example", "Lamp", "text").await;
    app.pass(MINUTE).await;
    assert!(!bodies(&app).is_empty());
    let listed = app.act(&app.owner, webhooks::list_webhooks).await;
    assert_eq!(listed[0].url, SHOWN);
    let shown = id.clone();
    let detail = app.act(&app.owner, move |tx, cx| webhooks::look_at_webhook(tx, cx, &shown)).await;
    assert_eq!(detail.url, SHOWN);
    let kept = "webhooks WHERE url LIKE '%abcdefgh%' OR secret LIKE '%abcdefgh%'";
    assert_eq!(app.count(kept).await, 0);
    assert_eq!(app.count("delivery_attempts WHERE answer LIKE '%abcdefgh%'").await, 0);
    assert_eq!(app.count("audit_log WHERE thing LIKE '%abcdefgh%'").await, 0);
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            delivery_log::rotate_secret(tx, cx, &id).map(drop)
        })
        .await;
    assert!(refused.to_string().contains("whose address is the secret"), "{refused}");
}
