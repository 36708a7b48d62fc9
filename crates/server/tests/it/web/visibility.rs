//! Somebody else's private inbox is indistinguishable from one that does not exist, on every page
//! and form.

use actions::integrations::delivery_log;
use actions::writing::{answers, autosaves, compose, saved_replies};
use base::actor::{Actor, Role};
use model::mailboxes::Mailbox;
use serde_json::json;

use crate::support::*;

on_both!(
    what_is_private_is_missing_for_every_other_role,
    lists_counts_and_settings_of_others_are_as_without_it,
    sandbox_mail_is_never_in_the_app,
    another_workspace_is_another_world
);

/// A form's fields.
pub(super) type Form = &'static [(&'static str, &'static str)];

/// Every route whose address names a thing of somebody's, and what its form carries.
pub(super) const NAMING: &[(&str, &str, Form)] = &[
    ("GET", "/conversations/{id}", &[]),
    ("POST", "/conversations/{id}/reply", &[("to", "a@b.example"), ("body", "x"), ("seen", "99")]),
    ("POST", "/conversations/{id}/note", &[("body", "x")]),
    ("POST", "/conversations/{id}/ask", &[("label-1", "Passport"), ("seen", "99")]),
    ("POST", "/conversations/{id}/times", &[("to", "a@b.example"), ("body", "x"), ("seen", "99")]),
    ("POST", "/conversations/{id}/autosave", &[("kind", "note"), ("body", "x")]),
    ("POST", "/conversations/{id}/pictures", &[]),
    ("POST", "/conversations/{id}/status", &[("status", "closed")]),
    ("POST", "/conversations/{id}/assign", &[("to", "me")]),
    ("POST", "/conversations/{id}/tags", &[("add", "x")]),
    ("POST", "/conversations/{id}/sorting", &[("urgency", "high")]),
    ("POST", "/conversations/{id}/fields", &[("f.order", "x")]),
    ("POST", "/conversations/{id}/links", &[("url", "https://github.com/acme/shop/issues/1")]),
    ("POST", "/conversations/{id}/links/remove", &[("link", "lnk_0")]),
    ("GET", "/conversations/{id}/side", &[]),
    ("GET", "/conversations/{id}/side?part=1", &[]),
    ("GET", "/conversations/{id}/panel", &[]),
    ("GET", "/conversations/{id}/panel?part=1", &[]),
    ("POST", "/conversations/{id}/panel/press", &[("button", "x")]),
    ("POST", "/conversations/{id}/snooze", &[("until", "9999999999999")]),
    ("POST", "/conversations/{id}/release", &[]),
    ("POST", "/conversations/{id}/warning", &[]),
    ("POST", "/conversations/{id}/watch", &[("act", "pin")]),
    ("GET", "/conversations/{id}/merge", &[]),
    ("GET", "/conversations/{id}/print", &[]),
    ("POST", "/conversations/{id}/merge", &[("into", "cnv_00000000000000000000000000")]),
    ("POST", "/conversations/{id}/unmerge", &[("source", "cnv_00000000000000000000000000")]),
    ("POST", "/conversations/{id}/messages/{message}/split", &[]),
    ("GET", "/conversations/{id}/messages/{message}/original", &[]),
    ("GET", "/conversations/{id}/messages/{message}/headers", &[]),
    ("GET", "/conversations/{id}/messages/{message}/html", &[]),
    ("POST", "/conversations/{id}/messages/{message}/show-pictures", &[]),
    ("POST", "/conversations/{id}/messages/{message}/hide-pictures", &[]),
    ("GET", "/conversations/{id}/messages/{message}/pictures/{number}", &[]),
    ("GET", "/conversations/{id}/messages/{message}/html/pictures/{number}", &[]),
    ("GET", "/documents/{document}", &[]),
    ("GET", "/documents?doc={document}", &[]),
    ("GET", "/documents/{document}/page", &[]),
    ("GET", "/documents/{document}/preview", &[]),
    ("GET", "/documents/{document}/scaled", &[]),
    ("GET", "/documents/{document}/mail/{path}", &[]),
    ("GET", "/documents/{document}/mail/{path}/html", &[]),
    ("GET", "/documents/{document}/mail/{path}/files/{number}", &[]),
    ("GET", "/documents/{document}/mail/{path}/pictures/{number}", &[]),
    ("GET", "/documents/{document}/mail/{path}/html/pictures/{number}", &[]),
    ("POST", "/documents/{document}/correct", &[("kind", "invoice")]),
    ("POST", "/requests/{request}/close", &[]),
    ("POST", "/requests/{request}/reopen", &[]),
    ("POST", "/requests/{request}/revoke", &[]),
    ("POST", "/conversations/{id}/saved/{saved}", &[]),
    ("POST", "/conversations/{id}/answer", &[("answer", "ans_00000000000000000000000000")]),
    ("GET", "/contacts/{contact}", &[]),
    ("POST", "/contacts/{contact}/notes", &[("body", "x")]),
    ("POST", "/contacts/{contact}/notes/cno_0/delete", &[]),
    ("POST", "/contacts/{contact}/fields", &[("f.plan", "x")]),
    ("POST", "/contacts/{contact}/merge", &[("with", "a@b.example")]),
    ("POST", "/contacts/{contact}/separate", &[("email", "a@b.example")]),
    ("POST", "/contacts/{contact}/block", &[]),
    ("POST", "/contacts/{contact}/unblock", &[]),
    ("GET", "/answers/{answer}", &[]),
    ("POST", "/answers/{answer}", &[("title", "x"), ("body", "x")]),
    ("POST", "/answers/{answer}/retire", &[]),
    ("POST", "/answers/{answer}/restore", &[]),
    ("POST", "/answers/{answer}/check", &[]),
    ("GET", "/answers/{answer}/history", &[]),
    ("POST", "/answers/{answer}/history/1", &[]),
    ("GET", "/answers/new?of={answer}", &[]),
    ("GET", "/answers/new?from={scheduled}", &[]),
    ("GET", "/attachments/{attachment}", &[]),
    ("GET", "/attachments/{attachment}/preview", &[]),
    ("GET", "/attachments/{attachment}/scaled", &[]),
    ("GET", "/protected/{message}/{attachment}", &[]),
    ("POST", "/messages/{scheduled}/stop", &[]),
    ("POST", "/messages/{scheduled}/now", &[]),
    ("POST", "/messages/{scheduled}/revoke", &[]),
    ("POST", "/messages/{scheduled}/extend", &[]),
    ("POST", "/messages/{scheduled}/new-link", &[]),
    ("GET", "/approvals/{draft}", &[]),
    ("POST", "/approvals/{draft}/approve", &[("revision", "1"), ("seen", "99"), ("body", "x")]),
    ("POST", "/approvals/{draft}/save", &[("revision", "1"), ("body", "x")]),
    ("POST", "/approvals/{draft}/discard", &[("revision", "1")]),
    ("GET", "/calendar/{booking}", &[]),
    ("POST", "/calendar/{booking}/move", &[("startsAt", "2026-11-17T09:00:00Z")]),
    ("POST", "/calendar/{booking}/cancel", &[("reason", "x")]),
    ("POST", "/leaving/bookings/{booking}/stop", &[]),
    ("GET", "/inbox?mailbox={mailbox}", &[]),
    ("GET", "/live?conversation={id}", &[]),
    ("GET", "/live?mailbox={mailbox}", &[]),
    ("GET", "/live?page=approvals&draft={draft}", &[]),
    ("POST", "/settings/you/sessions/{session}/end", &[]),
    ("GET", "/settings/inboxes/{mailbox}", &[]),
    ("GET", "/settings/notifications/inboxes/{mailbox}", &[]),
    ("POST", "/settings/notifications/inboxes/{mailbox}", &[("mail-reply", "at-once")]),
    ("GET", "/settings/inboxes/{mailbox}/delete", &[]),
    ("POST", "/settings/inboxes/{mailbox}/delete", &[("confirmation", "x")]),
    ("GET", "/settings/inboxes/{mailbox}/retention", &[]),
    ("POST", "/settings/inboxes/{mailbox}/retention", &[("days", "30")]),
    ("POST", "/settings/writing/{mailbox}", &[("signature", "x")]),
];

/// The same for routes that only owners and admins may use at all.
pub(super) const ADMINISTERED: &[(&str, &str, Form)] = &[
    ("GET", "/settings/webhooks/{webhook}", &[]),
    ("GET", "/live?page=webhook&webhook={webhook}", &[]),
    ("POST", "/settings/webhooks/{webhook}/rotate", &[]),
    ("POST", "/settings/webhooks/{webhook}/events", &[]),
    ("POST", "/settings/webhooks/{webhook}/pause", &[]),
    ("POST", "/settings/webhooks/{webhook}/resume", &[]),
    ("POST", "/settings/webhooks/{webhook}/test", &[]),
    ("POST", "/settings/webhooks/{webhook}/events/{event}/again", &[]),
    ("POST", "/settings/webhooks/{webhook}/delete", &[]),
    ("POST", "/settings/inboxes/{mailbox}", &[("name", "Mine")]),
    ("GET", "/settings/inboxes/{mailbox}/access", &[]),
    ("POST", "/settings/inboxes/{mailbox}/access", &[("everybody", "yes"), ("all_send", "yes")]),
    ("POST", "/settings/inboxes/{mailbox}/sign-in", &[]),
    ("POST", "/settings/inboxes/{mailbox}/records", &[]),
    ("POST", "/settings/inboxes/{mailbox}/signing-key", &[]),
    ("GET", "/settings/inboxes/{mailbox}/outgoing", &[]),
    ("POST", "/settings/inboxes/{mailbox}/outgoing", &[("host", "mail.example"), ("port", "465")]),
    ("POST", "/settings/inboxes/{mailbox}/outgoing/remove", &[]),
    ("POST", "/settings/inboxes/{mailbox}/test-mail", &[]),
    ("POST", "/settings/inboxes/{mailbox}/plus-tags", &[("tags", "on")]),
    ("POST", "/settings/inboxes/{mailbox}/disconnect", &[]),
    ("GET", "/settings/inboxes/connect?inbox={mailbox}", &[]),
    ("GET", "/settings/hours/{mailbox}", &[]),
    ("POST", "/settings/hours/{mailbox}", &[("weekly", "mon 09:00-17:00"), ("zone", "UTC")]),
    ("POST", "/settings/drafting/{mailbox}", &[("mode", "answers")]),
    ("POST", "/settings/satisfaction/{mailbox}", &[("mode", "two")]),
    ("GET", "/settings/drafting/{mailbox}/model", &[]),
];

/// Routes that name people, keys and services, whom everyone on the team may know, or files of ours.
const KNOWN_TO_ALL: &[&str] = &[
    "/calendar/feed/{token}",
    "/settings/bookings/dates/{date}",
    "/settings/bookings/stays/{first}",
    "/settings/bookings/calendars/{id}",
    "/settings/bookings/types/{id}",
    "/settings/inboxes/connect/{provider}",
    "/assets/{name}",
    "/brand/{file}",
    "/sign-in/{token}",
    // Only while there is no workspace: `first_run.rs` tries them.
    "/setup/{secret}",
    "/setup/{secret}/sample",
    "/settings/people/{id}/role",
    "/settings/people/{id}/link",
    "/settings/people/{id}/reset-sign-in",
    // Own passkeys alone are found: `signing_in.rs` tries another person's.
    "/settings/sign-in/passkeys/{id}/rename",
    "/settings/sign-in/passkeys/{id}/remove",
    // Own browsers alone are found: `notifications.rs` tries another person's.
    "/settings/notifications/browsers/{id}/remove",
    "/settings/people/{id}/remove",
    "/settings/teams/{team}",
    "/settings/teams/{team}/remove",
    "/settings/tags/{id}/rename",
    "/settings/fields/{key}/remove",
    "/settings/panel/{kind}",
    "/settings/panel/{kind}/rotate",
    "/settings/panel/{kind}/remove",
    // A rule for an inbox for some is not: `inbox_access.rs` tries it.
    "/settings/rules/{rule}",
    "/settings/rules/{rule}/switch",
    "/settings/rules/{rule}/move",
    "/settings/rules/{rule}/delete",
    // The first version of a hidden answer is in the table.
    "/answers/{answer}/history/{number}",
    // A form of a private inbox is not: `contact_forms.rs` tries it.
    "/settings/forms/{form}",
    "/settings/forms/{form}/remove",
    "/settings/helpers/topics/{topic}",
    "/settings/helpers/topics/{topic}/remove",
    "/settings/replies/{id}",
    "/new/saved/{id}",
    "/settings/replies/{id}/delete",
    "/settings/keys/{id}/revoke",
    // Arguments about a private inbox are not: `list_calls.rs` tries them.
    "/settings/keys/{id}/activity",
    "/settings/keys/{id}/activity.csv",
    "/settings/keys/{id}/activity.json",
    // A conversation of a private inbox is not: `activity.rs` tries it.
    "/settings/keys/{id}/replay/{conversation}",
    // A link is of one person: `approve_by_mail.rs` tries others.
    "/approve/{token}",
    "/approve/{token}/sign-in",
    // A link of a chat is of one conversation: `chat_webhooks.rs` tries others.
    "/from-chat/{act}/{target}/{until}/{signature}",
    "/settings/keys/{id}/undo",
    "/settings/evals/{name}",
    "/settings/evals/{name}/remove",
    "/settings/agents/{id}",
    "/settings/agents/{id}/pause",
    "/settings/agents/{id}/resume",
    "/settings/apps/{id}/scopes",
    "/settings/apps/{id}/disconnect",
    "/settings/linked-items/{tracker}",
    "/settings/linked-items/{tracker}/secret",
    "/settings/linked-items/{tracker}/disconnect",
    "/settings/services/{id}/secret",
    "/settings/services/{id}/remove",
];

#[test]
fn every_route_that_names_a_thing_is_in_the_table() {
    let sources = [
        include_str!("../../../../web/src/lib.rs"),
        include_str!("../../../../settings_pages/src/lib.rs"),
        include_str!("../../../../help/src/lib.rs"),
        include_str!("../../../../side_column/src/lib.rs"),
        include_str!("../../../../agent_pages/src/lib.rs"),
    ];
    let routes = sources.iter().flat_map(|source| source.split(".route(\"").skip(1));
    let routes = routes.map(|rest| rest.split('"').next().unwrap());
    let shape = |path: &str| {
        let is_id = |part: &str| part.starts_with('{') || part == "cno_0";
        let parts = path.split('/').map(|part| if is_id(part) { "{}" } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    let known: Vec<String> = NAMING
        .iter()
        .chain(ADMINISTERED)
        .map(|(_, path, _)| shape(path))
        .chain(KNOWN_TO_ALL.iter().map(|p| shape(p)))
        .collect();
    let mut count = 0;
    for route in routes.filter(|route| route.contains('{')) {
        assert!(known.contains(&shape(route)), "{route} is in no table");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

pub(super) struct Things {
    pub(super) id: String,
    message: String,
    document: String,
    request: String,
    scheduled: String,
    draft: String,
    mailbox: String,
    session: String,
    webhook: String,
    event: String,
    saved: String,
    attachment: String,
    answer: String,
    booking: String,
    contact: String,
}

impl Things {
    pub(super) fn in_path(&self, path: &str) -> String {
        path.replace("{id}", &self.id)
            .replace("{message}", &self.message)
            .replace("{document}", &self.document)
            .replace("{request}", &self.request)
            .replace("{scheduled}", &self.scheduled)
            .replace("{draft}", &self.draft)
            .replace("{mailbox}", &self.mailbox)
            .replace("{session}", &self.session)
            .replace("{webhook}", &self.webhook)
            .replace("{event}", &self.event)
            .replace("{saved}", &self.saved)
            .replace("{attachment}", &self.attachment)
            .replace("{answer}", &self.answer)
            .replace("{booking}", &self.booking)
            .replace("{contact}", &self.contact)
            .replace("{path}", "top")
            .replace("{number}", "0")
    }
}

/// Everything that somebody's private inbox can hold.
async fn private_things(app: &TestApp, person: &Actor) -> Things {
    let inbox = app.private_inbox(person).await;
    things_in(app, person, inbox).await
}

/// Everything that an inbox can hold which this person sees.
pub(super) async fn things_in(app: &TestApp, person: &Actor, inbox: Mailbox) -> Things {
    let mut mail = mail::Mail {
        warning: held_warning(),
        ..letter("zed@shop.example Zed", "Secret lamps", "Hidden words")
    };
    mail.attachments = vec![file("secret.eml", b"From: zed@shop.example\r\n\r\nHidden")];
    let incoming = app.incoming(&inbox, mail);
    let raw = Some(
        app.app
            .blobs
            .put(b"From: zed@shop.example\r\nContent-Type: text/html\r\n\r\n<p>Hidden")
            .unwrap(),
    );
    let incoming = inbound::incoming_mail::IncomingMail { raw, ..incoming };
    let (service, mailbox) = (app.service(&inbox), inbox.clone());
    let received = app
        .act(&service, move |tx, cx| {
            let raw = incoming.raw.as_ref().unwrap();
            base::files::blobs::keep(tx, cx.actor.ws, raw)?;
            inbound::receive::receive(tx, cx, &mailbox, &incoming)
        })
        .await;
    let key = app.key_of(person, "Secret agent", "read write draft send", true).await;
    let id = received.conversation.to_string();
    let draft = app.draft(&key, &id, "A hidden draft").await;
    let scheduled = app.schedule(&key, &id, "A hidden letter").await;
    app.on(&key, &id, "tags", json!({ "add": ["lamps"] })).await.is(200);
    let asks = json!({ "documents": [{ "label": "A hidden paper" }], "send": true });
    let asked = app.on(&key, &id, "document-requests", asks).await.is(201).json();
    let listed = app.get(&key, "/documents").await.is(200).json();
    let browser = app.signed_in(person).await;
    let page = browser.get("/settings/you").await;
    app.signed_in(person).await;
    let sessions = browser.get("/settings/you").await;
    let session = format!("ses_{}", sessions.between("/settings/you/sessions/ses_", "/end"));
    assert!(page.status == 200);
    let (attachment, saved) = attached(app, person, &id).await;
    let answer = answers::AnswerInput {
        title: "A hidden answer".into(),
        body: "The lamps are hidden and nobody is to know it.".into(),
        inboxes: vec![inbox.id.to_string()],
        ..Default::default()
    };
    let answer = app.try_answer(person, answer).await.unwrap();
    let (kind, _) = crate::api::a_booking(app, &key).await;
    let body = json!({
        "typeId": kind,
        "startsAt": "2026-11-16T13:00:00Z",
        "name": "Zed",
        "email": "zed@shop.example",
        "conversationId": id
    });
    let booked = app.post(&key, "/bookings", body).await.is(201).json();
    let webhook = app.webhook(person, true, true).await;
    let tested = webhook.clone();
    let event = app.act(person, move |tx, cx| delivery_log::send_test_event(tx, cx, &tested)).await;
    Things {
        message: received.message.to_string(),
        document: text_of(&listed[0], "id"),
        request: text_of(&asked, "requestId"),
        mailbox: inbox.id.to_string(),
        id,
        draft,
        scheduled,
        session,
        webhook: webhook.to_string(),
        event: event.to_string(),
        saved,
        attachment,
        answer: answer.to_string(),
        booking: text_of(&booked, "id"),
        contact: "zed@shop.example".into(),
    }
}

/// A file in a letter of somebody's private inbox, and a saved reply of the team.
async fn attached(app: &TestApp, person: &Actor, conversation: &str) -> (String, String) {
    let letter = compose::NewReply {
        body: "Enclosed".into(),
        recipients: model::messages::recipients::RecipientList {
            to: compose::parties("zed@shop.example").unwrap(),
            ..model::messages::recipients::RecipientList::default()
        },
        format: Default::default(),
        close: false,
        send: false,
        forwards: None,
        secure: None,
        times: outbound::scheduling::MessageTimes::default(),
    };
    let wanted = conversation.to_owned();
    let place =
        app.act(person, move |tx, cx| autosaves::AutosaveKey::find(tx, cx, Some(&wanted))).await;
    let file = ("secret.txt", "text/plain", b"secret".as_slice());
    let id = app.attach(person, &place, &[file]).await.remove(0);
    app.fit_files(person, &place, &letter).await;
    let conversation = conversation.to_owned();
    let thanks = saved_replies::SavedReplyInput {
        name: "Thanks".into(),
        folder: String::new(),
        body: "Thank you".into(),
    };
    let saved = app
        .act(person, move |tx, cx| {
            testing::send_reply(tx, cx, &conversation, &letter)?;
            saved_replies::save_reply(tx, cx, &thanks, &[])
        })
        .await;
    (id.to_string(), saved.to_string())
}

pub(super) fn nothing() -> Things {
    let none = |prefix: &str| format!("{prefix}_00000000000000000000000000");
    Things {
        id: none("cnv"),
        message: none("msg"),
        document: none("doc"),
        request: none("req"),
        scheduled: none("msg"),
        draft: none("msg"),
        mailbox: none("mbx"),
        session: none("ses"),
        webhook: none("whk"),
        event: none("evt"),
        saved: none("sav"),
        attachment: none("enc"),
        answer: none("ans"),
        booking: none("bkg"),
        contact: "nobody@shop.example".into(),
    }
}

async fn what_is_private_is_missing_for_every_other_role(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let (hidden, missing) = (private_things(&app, &ann).await, nothing());
    let member = app.person("Bo").await;
    let admin = app.person_with("Cy", Role::Admin).await;
    let before = app
        .timeline(&app.key_of(&ann, "Reader", "read", true).await, &hidden.id, "event")
        .await
        .len();
    for viewer in [&app.owner, &admin, &member] {
        let browser = app.signed_in(viewer).await;
        let is_member = user(viewer) == user(&member);
        for (method, path, fields) in NAMING.iter().chain(ADMINISTERED) {
            let refused =
                is_member && ADMINISTERED.iter().any(|one| (one.0, one.1) == (*method, *path));
            let mut pages = Vec::new();
            for things in [&hidden, &missing] {
                let path = things.in_path(path);
                let page = match *method {
                    "GET" => browser.get(&path).await,
                    _ => browser.post(&path, fields).await,
                };
                pages.push((page.status, page.text, page.answer.header_list()));
            }
            let expected = if refused { 403 } else { 404 };
            assert_eq!(pages[0].0, expected, "{method} {path}: {}", pages[0].1);
            assert_eq!(pages[0], pages[1], "{method} {path}");
        }
    }
    let after = app
        .timeline(&app.key_of(&ann, "Reader two", "read", true).await, &hidden.id, "event")
        .await
        .len();
    assert_eq!(before, after);
}

/// Gives an inbox to one person.
async fn lists_counts_and_settings_of_others_are_as_without_it(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let bo = app.person_with("Bo", Role::Admin).await;
    let pages = [
        "/inbox?view=open",
        "/inbox?view=held",
        "/inbox?view=unassigned",
        "/approvals",
        "/leaving",
        "/search?q=hidden",
        "/search?q=zed",
        "/settings/inboxes",
        "/settings/webhooks",
        "/settings/drafting",
        "/settings/satisfaction",
        "/settings/customer-page",
        "/answers",
        "/mentions",
    ];
    let browser = app.signed_in(&bo).await;
    let mut before = Vec::new();
    for path in pages {
        before.push(without_token(&browser.get(path).await.is(200).text));
    }
    let things = private_things(&app, &ann).await;
    for (path, before) in pages.iter().zip(before) {
        let now = without_token(&browser.get(path).await.is(200).text);
        // The tag's name is the workspace's; that is all there may be.
        let plain = now.split_once("<h2>Tags</h2>").map_or(now.clone(), |(head, rest)| {
            let (head, _) = head.rsplit_once("\n    <div class=\"nav-tags\">").unwrap();
            let (_, tail) = rest.split_once("\n  </div>\n  <div class=\"nav-fix\">").unwrap();
            format!("{head}\n  </div>\n  <div class=\"nav-fix\">{tail}")
        });
        assert_eq!(plain, before, "{path}");
    }
    let own = app.signed_in(&ann).await;
    own.get("/inbox?view=held").await.is(200).shows("Secret lamps");
    own.get("/approvals").await.is(200).shows("A hidden draft");
    own.get("/leaving").await.is(200).shows("A hidden letter");
    let original = things.in_path("/conversations/{id}/messages/{message}/original");
    own.get(&original).await.is(200).shows("The message as it came");
}

/// A page without the token of its forms, which is masked anew each time.
fn without_token(page: &str) -> String {
    let (_, rest) = page.split_once("data-csrf=\"").unwrap();
    page.replace(rest.split_once('"').unwrap().0, "")
}

async fn sandbox_mail_is_never_in_the_app(app: TestApp) {
    let received = app.deliver(&app.sandbox, letter("zed@shop.test", "Pretend", "Hello")).await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/inbox?view=open").await.is(200).hides("Pretend");
    browser.get("/search?q=pretend").await.is(200).hides("row-subject").shows("No message says");
    browser.get(&format!("/conversations/{}", received.conversation)).await.is(404);
    browser.get(&format!("/inbox?mailbox={}", app.sandbox.id)).await.is(404);
}

async fn another_workspace_is_another_world(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let stranger = app.other_workspace("Other").await;
    let browser = app.signed_in(&stranger).await;
    browser.get("/inbox?view=open").await.is(200).hides("Lamps");
    browser.get(&format!("/conversations/{}", received.conversation)).await.is(404);
    browser.get(&format!("/inbox?mailbox={}", app.support.id)).await.is(404);
}
