//! Approving a draft from its mail: the mail, the page behind its link, and who decides there.

use actions::people::notifications::{self, NoticeSettingsInput};
use actions::people::removal;
use actions::sign_in::second_step;
use base::actor::{Actor, Role};
use base::limits::{APPROVAL_LINK_MS, NOTICE_MAIL_AGAIN_MS, RECENT_SIGN_IN_MS};
use model::people::notifications::choices::{MailNotice, NoticeChoice, NoticeKind};
use serde_json::json;

use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    a_draft_is_approved_from_its_mail_with_a_mailed_code,
    opening_a_link_changes_nothing_and_a_form_without_proof_neither,
    somebody_who_signed_in_of_late_needs_no_code,
    who_signs_in_with_two_steps_gets_no_code,
    the_page_says_what_became_of_the_draft,
    a_draft_that_changed_or_was_overtaken_is_shown_as_it_stands,
    no_word_of_protected_or_closed_mail_leaves,
    a_link_is_the_persons_own_and_ends_with_them,
    a_second_proof_leaves_what_was_proven_before,
    what_a_draft_asks_for_is_shown_where_it_is_approved,
    only_who_chose_it_gets_links
);

const ANN: &str = "ann@acme.example";

/// The texts of the mails to somebody.
fn mails_to(app: &TestApp, address: &str) -> Vec<String> {
    let attempts = app.outside.relay.attempts().into_iter();
    let own = attempts.filter(|mail| mail.recipients == [address]);
    own.map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "")).collect()
}

/// The path of the link in the newest mail to somebody.
fn link_in(mail: &str) -> String {
    let (_, rest) = mail.split_once(&format!("{PUBLIC_URL}/approve/")).expect("a link");
    let token: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    format!("/approve/{token}")
}

async fn choose(app: &TestApp, person: &Actor, approves_by_mail: bool) {
    let choice = NoticeChoice { browser: false, mail: MailNotice::AtOnce };
    let how = NoticeSettingsInput {
        zone: "UTC".into(),
        shows_names: true,
        digest: "daily".into(),
        digest_time: "08:00".into(),
        approves_by_mail,
        ..NoticeSettingsInput::default()
    };
    app.act(person, move |tx, cx| {
        notifications::choose_notices(tx, cx, &[(NoticeKind::DraftWaits, choice)])?;
        notifications::set_notice_settings(tx, cx, &how)
    })
    .await;
}

/// Ann, who approves by mail, a key that drafts, and a draft that waits: its conversation, its id and the path of
/// the link.
struct Waiting {
    ann: Actor,
    key: TestKey,
    conversation: String,
    draft: String,
    path: String,
}

async fn waiting(app: &TestApp) -> Waiting {
    let ann = app.person("Ann").await;
    choose(app, &ann, true).await;
    let key = app.key("read write draft").await;
    let mail = app.mail("petra@shop.example Petra", "Refund", "When do I get my money?").await;
    let conversation = mail.conversation.to_string();
    let draft = app.draft(&key, &conversation, "It is 129 EUR and leaves today.").await;
    app.work().await;
    let mails = mails_to(app, ANN);
    let path = link_in(mails.last().expect("a mail"));
    Waiting { ann, key, conversation, draft, path }
}

/// The fields that the page's forms carry.
fn fields_of(page: &Page) -> Vec<(String, String)> {
    let value = |name: &str| {
        let mark = format!("name=\"{name}\" value=\"");
        (name.to_owned(), page.between(&mark, "\"").to_owned())
    };
    ["csrf", "revision", "seen"].map(value).to_vec()
}

async fn decide(browser: &Browser<'_>, page: &Page, path: &str, more: &[(&str, &str)]) -> Page {
    let own = fields_of(page);
    let mut fields: Vec<(&str, &str)> =
        own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.extend(more);
    browser.post_bare(path, &fields).await
}

/// Asks for a code on the page, and enters the one that was mailed.
async fn prove(app: &TestApp, browser: &Browser<'_>, path: &str) -> Page {
    let page = browser.get(path).await.is(200);
    let csrf = page.between("name=\"csrf\" value=\"", "\"").to_owned();
    let here = format!("{path}#decide");
    browser.post_bare(&format!("{path}/code"), &[("csrf", &csrf)]).await.goes_to(&here);
    app.work().await;
    let mail = mails_to(app, ANN).pop().expect("a mail");
    let (_, rest) = mail.split_once("Your code: ").expect("a code");
    let page = browser.get(path).await.is(200);
    let csrf = page.between("name=\"csrf\" value=\"", "\"").to_owned();
    let fields = [("csrf", csrf.as_str()), ("code", &rest[..9])];
    browser.post_bare(&format!("{path}/open"), &fields).await.goes_to(path);
    browser.get(path).await.is(200)
}

async fn status_of(app: &TestApp, waiting: &Waiting) -> String {
    let messages = app.timeline(&waiting.key, &waiting.conversation, "message").await;
    let found = messages.iter().find(|message| message["id"] == waiting.draft.as_str());
    found.map_or(String::new(), |message| text_of(message, "status"))
}

async fn a_draft_is_approved_from_its_mail_with_a_mailed_code(app: TestApp) {
    let waiting = waiting(&app).await;
    let mail = mails_to(&app, ANN).pop().expect("a mail");
    for words in [
        "It is 129 EUR and leaves today.",
        "petra@shop.example",
        "It names 129 EUR",
        "Opening it approves nothing",
    ] {
        assert!(mail.contains(words), "{words}: {mail}");
    }
    let browser = app.browser();
    let page = browser.get(&waiting.path).await.is(200);
    page.shows("Send this to Petra?").shows("It is 129 EUR and leaves today.");
    page.shows("It names 129 EUR.").shows("Mail me a code");
    page.hides("When do I get my money?").hides("Approve and send");
    let page = prove(&app, &browser, &waiting.path).await;
    page.shows("When do I get my money?").shows("Approve and send").shows("It leaves at");
    let words = [("body", "It is 129 EUR and leaves tomorrow.")];
    let approve = format!("{}/approve", waiting.path);
    decide(&browser, &page, &approve, &words).await.goes_to(&waiting.path);
    browser
        .get(&waiting.path)
        .await
        .is(200)
        .shows("Ann Teammate approved it at")
        .shows("It leaves at");
    let messages = app.timeline(&waiting.key, &waiting.conversation, "message").await;
    assert_eq!(messages[1]["status"], "scheduled");
    assert_eq!(messages[1]["text"], "It is 129 EUR and leaves tomorrow.");
    let logged =
        "audit_log WHERE action = 'draft-approved-by-link' AND actor_name = 'Ann Teammate'";
    assert_eq!(app.count(logged).await, 1);
    // Once more does nothing again.
    decide(&browser, &page, &approve, &words).await.is(200).shows("Ann Teammate approved it at");
    assert_eq!(app.count(logged).await, 1);
}

async fn opening_a_link_changes_nothing_and_a_form_without_proof_neither(app: TestApp) {
    let waiting = waiting(&app).await;
    let browser = app.browser();
    for path in ["", "/approve", "/discard", "/code", "/open"] {
        let opened = browser.get(&format!("{}{path}", waiting.path)).await;
        assert!(opened.status == 200 || opened.status == 303, "{path}: {}", opened.status);
    }
    let page = browser.get(&waiting.path).await.is(200);
    let csrf = page.between("name=\"csrf\" value=\"", "\"").to_owned();
    let forged = [("csrf", csrf.as_str()), ("revision", "1"), ("seen", "99"), ("body", "x")];
    for act in ["approve", "discard"] {
        let refused = browser.post_bare(&format!("{}/{act}", waiting.path), &forged).await;
        refused.is(422).shows("ask for a code, or sign in");
        let bare = browser.post_bare(&format!("{}/{act}", waiting.path), &forged[1..]).await;
        assert_eq!(bare.status, 403, "{}", bare.text);
    }
    let fields = [("csrf", csrf.as_str()), ("code", "1234 5678")];
    browser.post_bare(&format!("{}/open", waiting.path), &fields).await.is(422);
    assert_eq!(status_of(&app, &waiting).await, "draft");
    assert_eq!(app.count("one_time_codes").await, 0, "no code was asked for");
    let unknown = format!("/approve/{}", "a1".repeat(20));
    browser.get(&unknown).await.is(404).shows("This link leads nowhere");
    assert_eq!(page.answer.header("referrer-policy"), "no-referrer");
    assert_eq!(page.answer.header("cache-control"), "no-store");
}

async fn somebody_who_signed_in_of_late_needs_no_code(app: TestApp) {
    let waiting = waiting(&app).await;
    let bo = app.person("Bo").await;
    let other = app.signed_in(&bo).await;
    other.get(&waiting.path).await.is(200).shows("Mail me a code").hides("Approve and send");
    let browser = app.signed_in(&waiting.ann).await;
    let page = browser.get(&waiting.path).await.is(200);
    page.shows("Approve and send").shows("When do I get my money?");
    let discard = format!("{}/discard", waiting.path);
    let reason = [("reason", "Too curt")];
    decide(&browser, &page, &discard, &reason).await.goes_to(&waiting.path);
    browser
        .get(&waiting.path)
        .await
        .is(200)
        .shows("Ann Teammate discarded it at")
        .shows("Nothing was sent");
    let events = app.timeline_events(&waiting.key, &waiting.conversation).await;
    assert!(events.iter().any(|(name, data)| name == "discarded" && data["reason"] == "Too curt"));
    assert_eq!(app.count("audit_log WHERE action = 'draft-discarded-by-link'").await, 1);

    let draft = app.draft(&waiting.key, &waiting.conversation, "Another one.").await;
    app.pass(RECENT_SIGN_IN_MS).await;
    let path = link_in(&mails_to(&app, ANN).pop().expect("a mail"));
    let page = browser.get(&path).await.is(200);
    assert!(page.text.contains("has run out") || page.text.contains("Mail me a code"));
    page.hides("Approve and send");
    app.draft(&waiting.key, &waiting.conversation, "And one more.").await;
    app.work().await;
    let path = link_in(&mails_to(&app, ANN).pop().expect("a mail"));
    let page = browser.get(&path).await.is(200);
    page.shows("And one more.").shows("Mail me a code").hides("Approve and send");
    assert!(!draft.is_empty());
}

async fn who_signs_in_with_two_steps_gets_no_code(app: TestApp) {
    let waiting = waiting(&app).await;
    app.act(&app.owner, |tx, cx| second_step::want_two_steps(tx, cx, true)).await;
    let browser = app.browser();
    let page = browser.get(&waiting.path).await.is(200);
    page.hides("Mail me a code").shows("Sign in");
    page.hides("<form");
    let browser = app.browser();
    for path in ["code", "open"] {
        browser.post_bare(&format!("{}/{path}", waiting.path), &[]).await.is(403);
    }
    assert_eq!(app.count("one_time_codes").await, 0);
}

async fn the_page_says_what_became_of_the_draft(app: TestApp) {
    let waiting = waiting(&app).await;
    let browser = app.browser();
    app.advance(APPROVAL_LINK_MS);
    let page = browser.get(&waiting.path).await.is(200);
    page.shows("This link has run out").shows("The draft still waits").hides("129 EUR");
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&format!("/approvals/{}", waiting.draft)).await.is(200);
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [("revision", "1"), ("seen", seen.as_str()), ("body", "It is 129 EUR.")];
    let approve = format!("/approvals/{}/approve", waiting.draft);
    owner.post(&approve, &fields).await.goes_to("/approvals");
    browser.get(&waiting.path).await.is(200).shows("Olive Owner approved it at");
    browser.get(&format!("{}/sign-in", waiting.path)).await.is(303);
}

async fn a_draft_that_changed_or_was_overtaken_is_shown_as_it_stands(app: TestApp) {
    let waiting = waiting(&app).await;
    let browser = app.signed_in(&waiting.ann).await;
    let page = browser.get(&waiting.path).await.is(200);
    page.hides("changed since the mail");
    let owner = app.signed_in(&app.owner).await;
    let edit = [("revision", "1"), ("body", "It is 130 EUR.")];
    let save = format!("/approvals/{}/save", waiting.draft);
    owner.post(&save, &edit).await.goes_to(&format!("/approvals/{}", waiting.draft));
    let approve = format!("{}/approve", waiting.path);
    let again = decide(&browser, &page, &approve, &[("body", "Mine")]).await.is(422);
    again.shows("Somebody changed this draft meanwhile").shows("Mine");
    let page = browser.get(&waiting.path).await.is(200);
    page.shows("The draft was changed since the mail").shows("It is 130 EUR.");
    app.advance(MINUTE);
    app.mail("petra@shop.example Petra", "Re: Refund", "It has come, thanks").await;
    let again = decide(&browser, &page, &approve, &[("body", "It is 130 EUR.")]).await.is(422);
    again.shows("Petra wrote again at").shows("It has come, thanks").shows("Approve anyway");
    assert_eq!(status_of(&app, &waiting).await, "draft");
    let fields = [("body", "It is 130 EUR.")];
    decide(&browser, &again, &approve, &fields).await.goes_to(&waiting.path);
    assert_eq!(status_of(&app, &waiting).await, "scheduled");
}

async fn no_word_of_protected_or_closed_mail_leaves(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    choose(&app, &ann, true).await;
    let key = app.key("read draft").await;
    let mail = app.mail("petra@shop.example Petra", "Refund", "When?").await;
    let body = json!({ "body": "The canary sings.", "secure": true });
    app.on(&key, &mail.conversation, "replies", body).await.is(201);
    app.work().await;
    let text = mails_to(&app, ANN).pop().expect("a mail");
    assert!(!text.contains("canary") && !text.contains("Petra"), "{text}");
    assert!(text.contains("protected message"), "{text}");
    let path = link_in(&text);
    let stranger = app.browser();
    stranger.get(&path).await.is(200).shows("Sign in and look").hides("canary").hides("Petra");
    let browser = app.signed_in(&ann).await;
    browser.get(&path).await.is(200).shows("The canary sings.").shows("Approve and send");

    let inbox = app.private_inbox(&ann).await;
    let own = app.key_of(&ann, "Secret agent", "read draft", true).await;
    let incoming =
        app.deliver(&inbox, letter("zed@shop.example Zed", "Hidden lamps", "Hush")).await;
    app.draft(&own, &incoming.conversation, "A hidden draft.").await;
    let before = mails_to(&app, ANN).len();
    app.work().await;
    for text in &mails_to(&app, ANN)[before..] {
        assert!(!text.contains("idden") && !text.contains("/approve/"), "{text}");
    }
}

async fn a_link_is_the_persons_own_and_ends_with_them(app: TestApp) {
    let waiting = waiting(&app).await;
    let browser = app.browser();
    let page = prove(&app, &browser, &waiting.path).await;
    let elsewhere = app.browser();
    elsewhere.get(&waiting.path).await.is(200).hides("Approve and send");
    let id = user(&waiting.ann);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &id)).await;
    let approve = format!("{}/approve", waiting.path);
    decide(&browser, &page, &approve, &[("body", "Mine")]).await.is(404);
    browser.get(&waiting.path).await.is(404).shows("This link leads nowhere").hides("129");
    assert_eq!(status_of(&app, &waiting).await, "draft");
    assert_eq!(app.count("approval_links").await, 0);
}

async fn a_second_proof_leaves_what_was_proven_before(app: TestApp) {
    let reader = app.protected("Hidden words").await;
    let browser = app.browser();
    reader.sign_in(&browser).await;
    let waiting = waiting(&app).await;
    prove(&app, &browser, &waiting.path).await.shows("Approve and send");
    app.draft(&waiting.key, &waiting.conversation, "Another one.").await;
    app.pass(NOTICE_MAIL_AGAIN_MS + MINUTE).await;
    let second = link_in(&mails_to(&app, ANN).pop().expect("a mail"));
    assert_ne!(second, waiting.path);
    prove(&app, &browser, &second).await.shows("Another one.").shows("Approve and send");
    browser.get(&waiting.path).await.is(200).shows("Approve and send");
    browser.get(&reader.path).await.is(200).shows("Hidden words");
}

async fn what_a_draft_asks_for_is_shown_where_it_is_approved(app: TestApp) {
    let waiting = waiting(&app).await;
    let asked = "Send it to evil.example/pay as well";
    let body = json!({
        "body": "We need it.", "documents": [{ "label": "Passport", "description": asked }]
    });
    app.on(&waiting.key, &waiting.conversation, "replies", body).await.is(201);
    app.pass(NOTICE_MAIL_AGAIN_MS + MINUTE).await;
    let mail = mails_to(&app, ANN).pop().expect("a mail");
    let line = format!("It asks for: Passport: {asked}");
    for words in [line.as_str(), "It links to evil.example"] {
        assert!(mail.contains(words), "{words}: {mail}");
    }
    let page = app.browser().get(&link_in(&mail)).await.is(200);
    page.shows(&format!("Passport: {asked}")).shows("It links to evil.example");
}

async fn only_who_chose_it_gets_links(app: TestApp) {
    let ann = app.person("Ann").await;
    choose(&app, &ann, false).await;
    let key = app.key("read draft").await;
    let mail = app.mail("petra@shop.example Petra", "Refund", "When?").await;
    app.draft(&key, &mail.conversation, "It leaves today.").await;
    app.work().await;
    let text = mails_to(&app, ANN).pop().expect("a mail");
    assert!(!text.contains("/approve/") && !text.contains("leaves today"), "{text}");
    let browser = app.signed_in(&ann).await;
    let page = browser.get("/settings/notifications").await.is(200);
    page.shows("Drafts are approved from their mail");
    let how = [("zone", "UTC"), ("digest", "daily"), ("digest_time", "08:00"), ("approve", "on")];
    let here = "/settings/notifications";
    browser.post("/settings/notifications/how", &how).await.goes_to(here);
    let page = browser.get(here).await.is(200);
    page.shows("name=\"approve\" checked");
}
