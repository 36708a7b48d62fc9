//! The reply that a customer sends on a secure page, and sends again; its files and its times; and what the
//! composer says about quoting.

use actions::inboxes::office_hours::{self, OfficeHoursInput};
use base::time::Moment;
use serde_json::Value;

use super::pages::{Reader, after, csrf, form_id, post_form};
use crate::support::*;
use crate::web::upload::pdf;

on_both!(
    a_reply_that_is_sent_again_is_stored_once_and_has_arrived,
    a_second_click_stores_no_second_reply_whichever_node_it_comes_to,
    what_was_written_over_a_reply_that_was_sent_is_kept,
    a_file_is_called_by_its_ending,
    times_are_those_of_the_inbox_and_name_its_zone,
    the_composer_says_what_is_quoted
);

/// The messages of Ann's conversation: her mail, the protected reply, and her answers.
async fn messages(ann: &Reader<'_>) -> Vec<Value> {
    ann.app.timeline(&ann.key, &ann.conversation, "message").await
}

async fn a_reply_that_is_sent_again_is_stored_once_and_has_arrived(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let page = browser.get(&ann.path).await;
    let (token, form) = (csrf(&page), form_id(&page));
    assert_eq!(form.len(), 26);
    assert_ne!(form_id(&browser.get(&ann.path).await), form, "each form has an id of its own");
    let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", "My account")];
    let file = pdf("4711");
    let files = [("card.pdf", file.as_slice())];
    let (path, arrived) = (format!("{}/reply", ann.path), format!("{}?sent#sent", ann.path));
    post_form(&browser, &path, &fields, &files).await.goes_to(&arrived);
    let kept = app.count("blobs").await;
    // The back button, a reload, and a reload after many other replies.
    post_form(&browser, &path, &fields, &files).await.goes_to(&arrived);
    for _ in 0..20 {
        ann.reply(&browser, "", ("", b"")).await;
    }
    post_form(&browser, &path, &fields, &files).await.goes_to(&arrived);
    browser.get(&format!("{}?sent", ann.path)).await.is(200).shows("Your reply has arrived");
    let all = messages(&ann).await;
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[2]["attachments"].as_array().unwrap().len(), 1);
    assert_eq!(app.count("blobs").await, kept);
    let corrected = pdf("4712");
    assert_eq!(corrected.len(), file.len());
    let other = [("card.pdf", corrected.as_slice())];
    post_form(&browser, &path, &fields, &other).await.is(400).shows("it has arrived");
    // What has arrived is not told to be unsent.
    ann.press(&browser, "sign-out", &[]).await.is(303);
    let out = post_form(&browser, &path, &fields, &files).await.is(401);
    out.shows("You are signed out").hides("My account");
    let person = app.signed_in(&app.owner).await;
    person.post(&format!("/messages/{}/revoke", ann.message), &[]).await.is(303);
    let closed = post_form(&browser, &path, &fields, &files).await.is(410);
    closed.shows("This page is closed").hides("Your reply was not sent");
    assert_eq!(messages(&ann).await.len(), 3);
}

async fn a_second_click_stores_no_second_reply_whichever_node_it_comes_to(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let page = browser.get(&ann.path).await;
    let (token, form) = (csrf(&page), form_id(&page));
    // The same browser, of which the second node gets half of the requests.
    let cookie = format!("__Host-mailroom_guest-{}", app.owner.workspace);
    let other = app.browser();
    other.set_cookie(&cookie, &browser.cookie(&cookie).unwrap());
    let other = match app.another_node() {
        Some(node) => other.at(node),
        None => other,
    };
    let fields = [("csrf", token.as_str()), ("form_id", form.as_str()), ("text", "My account")];
    let file = pdf("4711");
    let files = [("card.pdf", file.as_slice())];
    let path = format!("{}/reply", ann.path);
    let (one, two, three, four) = tokio::join!(
        post_form(&browser, &path, &fields, &files),
        post_form(&other, &path, &fields, &files),
        post_form(&browser, &path, &fields, &files),
        post_form(&other, &path, &fields, &files),
    );
    for page in [one, two, three, four] {
        page.goes_to(&format!("{}?sent#sent", ann.path));
    }
    let all = messages(&ann).await;
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[2]["attachments"].as_array().unwrap().len(), 1);
}

async fn what_was_written_over_a_reply_that_was_sent_is_kept(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    let page = browser.get(&ann.path).await;
    let (token, form) = (csrf(&page), form_id(&page));
    let (path, arrived) = (format!("{}/reply", ann.path), format!("{}?sent#sent", ann.path));
    let reply = async |form: &str, text: &str| {
        let fields = [("csrf", token.as_str()), ("form_id", form), ("text", text)];
        post_form(&browser, &path, &fields, &[]).await
    };
    let refused = reply(&form, "").await.is(400);
    assert_eq!(form_id(&refused), form, "nothing was stored, so it is the same form");
    reply(&form, "My account").await.goes_to(&arrived);
    let kept = reply(&form, "My account, and more").await.is(400);
    kept.shows("it has arrived").shows("My account, and more");
    let next = form_id(&kept);
    assert_ne!(next, form);
    assert_eq!(messages(&ann).await.len(), 3);
    app.advance(MINUTE);
    reply(&next, "My account, and more").await.goes_to(&arrived);
    let all = messages(&ann).await;
    assert_eq!(texts(&all, "text")[2..], ["My account", "My account, and more"]);
}

async fn a_file_is_called_by_its_ending(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.sign_in(&browser).await;
    ann.reply(&browser, "See below", ("notes.txt", b"Some words")).await.is(303);
    browser.get(&ann.path).await.is(200).shows("TXT, 10 bytes");
    let person = app.signed_in(&app.owner).await;
    let shown = person.get(&format!("/conversations/{}", ann.conversation)).await.is(200);
    shown.shows("notes.txt").shows("TXT, 10 bytes").hides("PLAIN,");
}

async fn times_are_those_of_the_inbox_and_name_its_zone(app: TestApp) {
    let mailbox = app.support.id.clone();
    let hours = OfficeHoursInput { zone: "Asia/Tokyo".into(), ..OfficeHoursInput::default() };
    app.act(&app.owner, move |tx, cx| office_hours::set_office_hours(tx, cx, &mailbox, &hours))
        .await;
    let ann = app.protected("Hidden words").await;
    let in_tokyo = |at: i64| format!("{} (Tokyo)", Moment(at + 9 * HOUR).clock_time());
    let browser = app.browser();
    browser.get(&ann.path).await.is(200).shows("(Tokyo)").hides(" UTC");
    ann.press(&browser, "code", &[]).await.goes_to(&ann.path);
    let valid_until = in_tokyo(app.now() + 10 * MINUTE);
    browser.get(&ann.path).await.is(200).shows(&format!("valid until {valid_until}"));
    app.work().await;
    assert_eq!(after(&app, "valid until ", valid_until.len()), valid_until, "in the mail too");
    let code = after(&app, "Your code: ", 9);
    ann.press(&browser, "open", &[("code", &code)]).await.goes_to(&ann.path);
    let signed_in_until = in_tokyo(app.now() + 30 * MINUTE);
    browser.get(&ann.path).await.is(200).shows(&format!("until {signed_in_until}")).hides(" UTC");
    // A browser that told its own zone reads times in that; until when the page is open is said as in
    // the mail.
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    let page = browser.get(&ann.path).await.is(200);
    page.hides(" UTC").hides(&format!("until {signed_in_until}"));
    assert_eq!(page.text.matches("(Tokyo)").count(), 1, "{}", page.text);
    assert!(page.between("Open until ", "</span>").ends_with("(Tokyo)"));
}

async fn the_composer_says_what_is_quoted(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let person = app.signed_in(&app.owner).await;
    let composer = format!("/conversations/{}?write=reply", mail.conversation);
    let (quoted, nothing) =
        ("The message before is quoted below.", "Below a protected message nothing is quoted.");
    // The style sheet shows the one that fits the lock.
    let page = person.get(&composer).await.is(200);
    page.shows(&format!("unless-protected\">{quoted}"));
    page.shows(&format!("if-protected\">{nothing}"));
    app.exec("UPDATE mailboxes SET always_secure = TRUE").await;
    person.get(&composer).await.is(200).hides(quoted).hides(nothing);
    app.exec("UPDATE mailboxes SET always_secure = FALSE").await;
    app.exec("UPDATE workspaces SET secure_senders = 'admins'").await;
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    member.get(&composer).await.is(200).shows(quoted).hides(nothing);
}
