//! Agents that are paused, revoked or removed: what they had under way stays, nobody hears of it in their
//! name, and people are told.

use actions::integrations::oauth_consent::{self, Consent};
use actions::integrations::oauth_tokens::{self, CodeExchange};
use actions::integrations::{agent_policy, connected_apps};
use actions::people::removal;
use base::actor::Role;
use base::ids::{AgentId, MessageId};
use base::security::redirect_uri::RedirectUri;
use base::security::scopes::Scope;
use jobs::RelayOutcome;
use model::people::oauth_clients::{ClientKind, OauthClient};
use serde_json::json;
use testing::*;

use super::hijacked_agents::known_customers;

on_both!(
    what_is_stopped_is_no_longer_listed_as_leaving,
    a_message_that_waits_for_another_attempt_is_stopped,
    what_somebody_has_already_or_is_under_way_goes_on,
    a_message_that_is_tried_again_for_a_revoked_key_is_stopped_before,
    nobody_is_reminded_in_the_name_of_a_revoked_agent,
    a_paused_agent_reminds_again_once_it_works,
    a_pause_that_leads_to_no_conversation_is_told_all_the_same,
    whoever_does_not_see_the_conversation_is_told_without_it,
    a_pause_is_told_although_the_conversation_is_held,
    an_app_that_is_connected_again_keeps_its_limits_and_its_pause,
    what_was_scheduled_before_a_pause_does_not_leave_after_it,
    removing_a_person_stops_what_their_agents_scheduled,
    an_app_that_signs_itself_out_stops_what_it_scheduled,
    a_burst_in_a_call_that_is_refused_pauses_all_the_same,
    people_are_told_once_of_a_program_that_changes_very_many
);

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const CLIENT: &str = "https://app.example/client.json";
const ANSWER_AT: &str = "https://app.example/back";
const OWNER: &str = "owner@acme.example";
const ADA: &str = "ada@acme.example";

/// The texts of the mails to somebody.
fn mails_to(app: &TestApp, address: &str) -> Vec<String> {
    let attempts = app.outside.relay.attempts().into_iter();
    let own = attempts.filter(|mail| mail.recipients.iter().any(|to| to == address));
    own.map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "")).collect()
}

async fn pause(app: &TestApp, id: &AgentId) {
    let id = id.clone();
    app.act(&app.owner, move |tx, cx| agent_policy::pause_agent(tx, cx, &id)).await;
}

async fn resume(app: &TestApp, id: &AgentId) {
    let id = id.clone();
    app.act(&app.owner, move |tx, cx| agent_policy::resume_agent(tx, cx, &id)).await;
}

async fn messages_that_are(app: &TestApp, status: &str) -> i64 {
    app.count(&format!("messages WHERE status = '{status}'")).await
}

async fn leaving(app: &TestApp) -> (i64, i64) {
    let listed = app.count("conversations WHERE view = 'leaving'").await;
    (listed, app.count("conversations WHERE leaves_at IS NOT NULL").await)
}

async fn what_is_stopped_is_no_longer_listed_as_leaving(app: TestApp) {
    let key = app.key("write send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    assert_eq!(leaving(&app).await, (1, 1));
    pause(&app, &key.id).await;
    assert_eq!(leaving(&app).await, (0, 0));
    assert_eq!(app.list(&key, "view=open").await.len(), 1);
    // One that scheduled as it was paused is stopped when the message would leave.
    resume(&app, &key.id).await;
    app.schedule(&key, &mail.conversation, "It left, really.").await;
    app.exec("UPDATE agents SET paused_at = 1 WHERE paused_at IS NULL").await;
    app.pass(DAY).await;
    assert_eq!((leaving(&app).await, messages_that_are(&app, "draft").await), ((0, 0), 2));
    assert_eq!(app.list(&key, "view=open").await.len(), 1);
    assert!(app.outside.relay.attempts().is_empty());
}

async fn a_message_that_waits_for_another_attempt_is_stopped(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    app.pass(UNDO).await;
    assert_eq!(messages_that_are(&app, "sending").await, 1);
    let id = key.id.clone();
    let shown = app.act(&app.owner, move |tx, cx| agent_policy::show_agent(tx, cx, &id)).await;
    assert_eq!(shown.leaving, 1);
    pause(&app, &key.id).await;
    let anew = "messages WHERE status = 'draft' AND attempts = 0 AND first_attempt_at IS NULL";
    assert_eq!((app.count(anew).await, leaving(&app).await), (1, (0, 0)));
    app.pass(3 * DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
}

async fn what_somebody_has_already_or_is_under_way_goes_on(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let body = json!({ "body": "Both", "send": true, "cc": ["bo@x.example"] });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    let busy = RelayOutcome::Later("busy".into());
    app.outside.relay.will_say_of_each(&[RelayOutcome::Delivered, busy.clone()]);
    app.pass(UNDO).await;
    pause(&app, &key.id).await;
    assert_eq!(messages_that_are(&app, "sending").await, 1);
    app.pass(HOUR).await;
    assert_eq!(messages_that_are(&app, "sent").await, 1);
    resume(&app, &key.id).await;
    app.schedule(&key, &mail.conversation, "Another").await;
    app.outside.relay.will_say(&[busy]);
    app.pass(UNDO).await;
    app.exec("UPDATE messages SET lease_until = sends_at WHERE status = 'sending'").await;
    pause(&app, &key.id).await;
    assert_eq!(messages_that_are(&app, "sending").await, 1);
}

async fn a_message_that_is_tried_again_for_a_revoked_key_is_stopped_before(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&[RelayOutcome::Later("busy".into())]);
    app.pass(UNDO).await;
    // As if the key had been revoked by another process in the middle of the attempt.
    app.exec("UPDATE agents SET revoked_at = 1 WHERE revoked_at IS NULL").await;
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(messages_that_are(&app, "draft").await, 1);
}

async fn nobody_is_reminded_in_the_name_of_a_revoked_agent(app: TestApp) {
    let (key, drafting) = (app.key("send").await, app.key("draft").await);
    let asked = app.mail("ann@x.example", "Lamp", "Hello").await;
    let body = json!({ "documents": [{ "label": "Passport" }], "send": true });
    app.on(&key, &asked.conversation, "document-requests", body).await.is(201);
    let approved = app.mail("bo@y.example", "Chair", "Hello").await;
    let body = json!({ "documents": [{ "label": "Passport" }] });
    let draft = app.on(&drafting, &approved.conversation, "document-requests", body).await.is(201);
    let id = MessageId::parse(&text_of(&draft.json(), "messageId")).unwrap();
    app.act(&app.owner, move |tx, cx| testing::approve_draft(tx, cx, &id, 1, "Please.")).await;
    app.pass(UNDO).await;
    app.revoke(&key).await;
    app.revoke(&drafting).await;
    app.pass(30 * DAY).await;
    assert_eq!(mails_to(&app, "ann@x.example").len(), 1, "the request alone");
    assert_eq!(mails_to(&app, "bo@y.example").len(), 1 + 3);
}

async fn a_paused_agent_reminds_again_once_it_works(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Hello").await;
    let body = json!({ "documents": [{ "label": "Passport" }], "send": true });
    app.on(&key, &mail.conversation, "document-requests", body).await.is(201);
    app.pass(UNDO).await;
    pause(&app, &key.id).await;
    app.pass(3 * DAY).await;
    assert_eq!(mails_to(&app, "ann@x.example").len(), 1);
    resume(&app, &key.id).await;
    app.pass(30 * DAY).await;
    assert_eq!(mails_to(&app, "ann@x.example").len(), 1 + 2);
}

async fn a_pause_that_leads_to_no_conversation_is_told_all_the_same(app: TestApp) {
    app.person_with("Ada", Role::Admin).await;
    app.person("Max").await;
    let browser = app.subscribe(&app.owner, "one").await;
    let (key, tries) = (app.key("send").await, app.test_key("send").await);
    app.post(&tries, "/agents/me/pause", json!({})).await.is(200);
    for _ in 0..2 {
        app.post(&key, "/agents/me/pause", json!({})).await.is(200);
    }
    app.pass(MINUTE).await;
    let place = format!("/settings/agents/{}", key.id);
    for address in [OWNER, ADA] {
        let mails = mails_to(&app, address);
        assert_eq!(mails.len(), 1, "{mails:?}");
        assert!(mails[0].contains(&place), "{}", mails[0]);
    }
    assert!(mails_to(&app, "max@acme.example").is_empty());
    let title = "Look at the agent Robo: it was paused, or changed very many conversations";
    let said = app.read_push(&browser);
    assert_eq!((&said["title"], &said["url"]), (&json!(title), &json!(place)));
}

async fn whoever_does_not_see_the_conversation_is_told_without_it(app: TestApp) {
    app.person_with("Ada", Role::Admin).await;
    let inbox = app.private_inbox(&app.owner).await;
    let mail = app.deliver(&inbox, letter("ann@x.example", "Secret", "Hello")).await;
    let key = app.key("write send").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "Hello" })).await.is(201);
    app.post(&key, "/agents/me/pause", json!({})).await.is(200);
    app.pass(MINUTE).await;
    let (of_owner, of_ada) = (mails_to(&app, OWNER), mails_to(&app, ADA));
    assert_eq!((of_owner.len(), of_ada.len()), (1, 1));
    assert!(of_owner[0].contains(&format!("/conversations/{}", mail.conversation)));
    assert!(of_ada[0].contains(&format!("/settings/agents/{}", key.id)), "{}", of_ada[0]);
    assert!(!of_ada[0].contains(mail.conversation.as_str()));
}

async fn a_pause_is_told_although_the_conversation_is_held(app: TestApp) {
    let key = app.key("write send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Hello").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "Hello" })).await.is(201);
    app.exec("UPDATE conversations SET held = TRUE").await;
    app.post(&key, "/agents/me/pause", json!({})).await.is(200);
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, OWNER).len(), 1);
}

fn consent() -> Consent {
    let redirect_uri = RedirectUri::parse(ANSWER_AT).unwrap();
    let client = OauthClient {
        id: CLIENT.into(),
        kind: ClientKind::Document,
        name: "Claude".into(),
        redirect_uris: vec![redirect_uri.clone()],
        created_at: 0,
        expires_at: None,
    };
    let scopes = vec![Scope::Read, Scope::Send];
    Consent { client, redirect_uri, challenge: CHALLENGE.into(), scopes, livemode: true }
}

/// Lets the app in; answers which agent it is, and its code.
async fn connect(app: &TestApp) -> (AgentId, String) {
    app.act(&app.owner, |tx, cx| {
        let code = oauth_consent::connect_app(tx, cx, &consent())?;
        let apps = connected_apps::list_apps(tx, cx)?;
        Ok((apps[0].id.clone(), code))
    })
    .await
}

async fn disconnect(app: &TestApp, id: &AgentId) {
    let id = id.clone();
    app.act(&app.owner, move |tx, cx| connected_apps::disconnect_app(tx, cx, &id)).await;
    app.advance(MINUTE);
}

async fn an_app_that_is_connected_again_keeps_its_limits_and_its_pause(app: TestApp) {
    let (first, _) = connect(&app).await;
    let (id, typed) = (first.clone(), [("links".to_owned(), "own".to_owned())]);
    let policy =
        app.act(&app.owner, move |tx, cx| agent_policy::change_policy(tx, cx, &id, &typed)).await;
    pause(&app, &first).await;
    disconnect(&app, &first).await;
    let (second, _) = connect(&app).await;
    assert_ne!(first, second);
    let id = second.clone();
    let shown = app.act(&app.owner, move |tx, cx| agent_policy::show_agent(tx, cx, &id)).await;
    assert!(shown.paused_at.is_some() && shown.paused_by.is_some());
    assert_eq!(shown.policy, policy);
    resume(&app, &second).await;
    disconnect(&app, &second).await;
    let (third, _) = connect(&app).await;
    let shown = app.act(&app.owner, move |tx, cx| agent_policy::show_agent(tx, cx, &third)).await;
    assert_eq!((shown.paused_at, shown.policy), (None, policy));
}

async fn what_was_scheduled_before_a_pause_does_not_leave_after_it(app: TestApp) {
    let key = app.key("write send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    // As if it had been scheduled in the very moment of the pause.
    app.exec("UPDATE agents SET paused_at = 1 WHERE paused_at IS NULL").await;
    resume(&app, &key.id).await;
    assert_eq!(messages_that_are(&app, "draft").await, 1);
    let later = app.schedule(&key, &mail.conversation, "It left, really.").await;
    // Who works already goes on.
    resume(&app, &key.id).await;
    app.pass(DAY).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    assert_eq!(app.count(&format!("messages WHERE id = '{later}' AND status = 'sent'")).await, 1);
}

async fn removing_a_person_stops_what_their_agents_scheduled(app: TestApp) {
    let ada = app.person_with("Ada", Role::Admin).await;
    let key = app.key_of(&ada, "Robo", "send", true).await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    let person = user(&ada);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    assert_eq!((messages_that_are(&app, "draft").await, leaving(&app).await), (1, (0, 0)));
    app.pass(DAY).await;
    assert!(mails_to(&app, "ann@x.example").is_empty());
}

async fn an_app_that_signs_itself_out_stops_what_it_scheduled(app: TestApp) {
    let (agent, code) = connect(&app).await;
    let exchange = CodeExchange {
        code,
        client_id: CLIENT.into(),
        redirect_uri: ANSWER_AT.into(),
        verifier: VERIFIER.into(),
    };
    let issued =
        app.act(&app.owner, move |tx, cx| oauth_tokens::exchange_code(tx, cx, &exchange)).await;
    let tokens = issued.unwrap();
    let key = app.key("send").await;
    let mail = app.mail("ann@x.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.exec(&format!("UPDATE messages SET author = '{agent}' WHERE id = '{message}'")).await;
    let token = tokens.refresh_token;
    app.act(&app.owner, move |tx, cx| oauth_tokens::revoke_token(tx, cx, &token)).await;
    assert_eq!((messages_that_are(&app, "draft").await, leaving(&app).await), (1, (0, 0)));
    app.pass(DAY).await;
    assert!(mails_to(&app, "ann@x.example").is_empty());
}

async fn a_burst_in_a_call_that_is_refused_pauses_all_the_same(app: TestApp) {
    let key = app.agent_key("write").await;
    app.limit(&key, &["bulkPerMinutes=2/5"]).await;
    let mut mails = Vec::new();
    for n in 0..3 {
        mails.push(app.mail(&format!("ann{n}@x.example"), "Lamp", "Where is it?").await);
    }
    app.on(&key, &mails[0].conversation, "tags", json!({ "add": ["a"] })).await.is(200);
    let into = json!({ "into": mails[2].conversation.to_string() });
    let refused = app.on(&key, &mails[1].conversation, "merge", into).await.is(403).json();
    assert_eq!(refused["code"], "agent_paused");
    assert_eq!(app.count("conversations WHERE merged_into IS NOT NULL").await, 0);
    assert_eq!(app.get(&key, "/me").await.is(200).json()["policy"]["paused"], true);
    assert_eq!(app.count("agents WHERE pause_reason = 'bulk'").await, 1);
    assert_eq!(app.count("audit_log WHERE action = 'agent-paused'").await, 1);
    app.pass(MINUTE).await;
    assert_eq!(mails_to(&app, OWNER).len(), 1);
}

async fn people_are_told_once_of_a_program_that_changes_very_many(app: TestApp) {
    let key = app.key("write").await;
    let mails = known_customers(&app, 201).await;
    let ids: Vec<String> = mails.iter().map(|mail| mail.conversation.to_string()).collect();
    let told = async || app.count("notice_facts WHERE kind = 'agent-alarm'").await;
    let tag = async |ids: &[String]| {
        let body = json!({ "ids": ids, "addTags": ["seen"] });
        let done = app.post(&key, "/conversations/batch", body).await.is(200).json();
        assert_eq!(done["failed"], json!([]));
    };
    tag(&ids[..100]).await;
    tag(&ids[100..199]).await;
    assert_eq!(told().await, 0);
    tag(&ids[199..200]).await;
    let first = told().await;
    assert!(first > 0);
    tag(&ids[200..]).await;
    assert_eq!(told().await, first);
    assert_eq!(app.get(&key, "/me").await.is(200).json()["policy"]["paused"], false);
}
