//! The composers as pages: a message that leaves later, and a reminder if nobody answers, without a
//! script.

use serde_json::json;

use crate::support::*;

on_both!(
    a_time_is_typed_in_words_and_shown_in_the_readers_form,
    a_message_is_sent_at_the_time_that_was_typed,
    a_message_is_sent_at_a_time_that_was_offered,
    a_time_that_is_over_is_refused_with_what_was_typed,
    a_reminder_is_chosen_beside_the_message,
    a_first_mail_waits_for_its_time,
    a_stopped_message_comes_back_with_its_times,
    the_chosen_times_are_kept_with_the_unsent_text,
    a_draft_is_approved_for_a_time_from_both_pages,
    a_wrong_time_approves_nothing_and_keeps_what_was_typed,
    a_stopped_draft_is_offered_its_time_again
);

/// A conversation, its path and the fields of a reply to it.
async fn received(app: &TestApp) -> (String, String, Vec<(&'static str, &'static str)>) {
    let mail = app.mail("ann@shop.example Ann Shop", "Lamps", "Where are they?").await;
    let id = mail.conversation.to_string();
    let path = format!("/conversations/{id}");
    (id, path, vec![("seen", "9"), ("to", "ann@shop.example"), ("body", "They come by sea.")])
}

async fn a_message_is_sent_at_the_time_that_was_typed(app: TestApp) {
    let (id, path, mut fields) = received(&app).await;
    let browser = app.signed_in(&app.owner).await;
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    page.shows("Send later").shows("In 1 hour").shows("Tomorrow, 09:00");
    fields.extend([("later", "at"), ("later_at", "2026-12-01T09:00")]);
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let key = app.key("read").await;
    let messages = app.timeline(&key, &id, "message").await;
    assert_eq!(messages[1]["sendsAt"], "2026-12-01T08:00:00.000Z");
    browser.get(&path).await.is(200).shows("Leaves on Tue 1 Dec, 09:00");
    browser.get("/leaving").await.is(200).shows("Leaves on Tue 1 Dec, 09:00");
    browser.get("/inbox?view=waiting").await.is(200).shows("Leaves Tue 1 Dec, 09:00");
    let leaving = browser.get("/leaving").await.is(200);
    let stop = leaving.between("action=\"/messages/", "\"").to_owned();
    browser.post(&format!("/messages/{stop}"), &[]).await.is(303);
    browser.get("/leaving").await.is(200).shows("Nothing is on its way");
}

async fn a_time_is_typed_in_words_and_shown_in_the_readers_form(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    let key = app.key("read").await;
    let typed = ["1 Dec 9am", "1.12. 9:00", "Dec 1st, 2026", "2026-12-01T09:00"];
    for (place, typed) in typed.into_iter().enumerate() {
        let from = format!("c{place}@shop.example");
        let mail = app.mail(&format!("{from} Cy"), "Lamps", "Where are they?").await;
        let path = format!("/conversations/{}", mail.conversation);
        let page = browser.get(&format!("{path}?write=reply")).await.is(200);
        page.hides("datetime-local").shows("21 Nov 2027 14:30 or tomorrow 9:00, in Europe/Berlin.");
        let fields =
            [("seen", "9"), ("to", &from), ("body", "Soon."), ("later", "at"), ("later_at", typed)];
        browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        assert_eq!(messages[1]["sendsAt"], "2026-12-01T08:00:00.000Z", "{typed}");
    }
    let (id, path, _) = received(&app).await;
    let snooze = format!("{path}/snooze");
    let wrong = browser.post(&snooze, &[("at", "3/4/2027"), ("choose", "")]).await.is(400);
    wrong.shows("Say a day and a time to come. Write it like tomorrow 9:00.");
    browser.post(&snooze, &[("at", "1 Dec 2026"), ("choose", "")]).await.is(303);
    let read = app.read(&key, &id).await;
    assert_eq!(read["snoozedUntil"], json!("2026-12-01T07:00:00.000Z"));
}

async fn a_message_is_sent_at_a_time_that_was_offered(app: TestApp) {
    let (id, path, mut fields) = received(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    let soon = page.between("name=\"later\" value=\"", "\"").to_owned();
    assert_eq!(soon, (app.now() + HOUR).to_string());
    // A time that was typed counts only with the button beside it.
    fields.extend([("later_at", "2026-12-01T09:00")]);
    let mut fields: Vec<(&str, &str)> = fields;
    fields.push(("later", &soon));
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let key = app.key("read").await;
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "scheduled");
    app.pass(HOUR).await;
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sent");
}

async fn a_time_that_is_over_is_refused_with_what_was_typed(app: TestApp) {
    let (id, path, fields) = received(&app).await;
    let browser = app.signed_in(&app.owner).await;
    for (typed, sentence) in [
        ("2020-12-01T09:00", "The time to leave is over."),
        ("2030-12-01T09:00", "A message can wait for at most 365 days."),
        ("nonsense", "Say a day and a time to come."),
        ("", "Say a day and a time to come."),
    ] {
        let mut fields = fields.clone();
        fields.extend([("later", "at"), ("later_at", typed)]);
        let page = browser.post(&format!("{path}/reply"), &fields).await.is(422);
        page.shows(sentence).shows("They come by sea.");
    }
    let mut both = fields.clone();
    both.extend([("close", ""), ("follow_up_at", "2026-12-01T09:00")]);
    let page = browser.post(&format!("{path}/reply"), &both).await.is(422);
    page.shows("does not come back").shows("2026-12-01T09:00");
    let key = app.key("read").await;
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 1);
}

async fn a_reminder_is_chosen_beside_the_message(app: TestApp) {
    let (id, path, mut fields) = received(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    page.shows("Remind me if nobody answers").shows("In a week");
    browser.get(&format!("{path}?write=note")).await.is(200).hides("Remind me if nobody answers");
    fields.extend([("follow_up", ""), ("follow_up_at", "2026-11-20T09:00")]);
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    app.pass(UNDO).await;
    let key = app.key("read").await;
    let read = app.read(&key, &id).await;
    assert_eq!(read["status"], "waiting");
    assert_eq!(read["snoozedUntil"], json!("2026-11-20T09:00:00.000Z"));
    let page = browser.get(&path).await.is(200);
    page.shows("brings this back on Fri 20 Nov, 09:00 if nobody answers");
    page.shows("Snoozed until Fri 20 Nov, 09:00");
    app.pass(6 * DAY).await;
    let page = browser.get(&path).await.is(200);
    page.shows("brought this back, nobody answered");
    assert_eq!(app.read(&key, &id).await["status"], "open");
}

async fn a_first_mail_waits_for_its_time(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.get("/new").await.is(200).shows("Send later").shows("Remind me if nobody answers");
    let mailbox = app.support.id.to_string();
    let mut fields = vec![
        ("mailbox", mailbox.as_str()),
        ("to", "ann@shop.example"),
        ("subject", "Your lamp"),
        ("body", "It is here."),
        ("later", "at"),
    ];
    browser.post("/new", &fields).await.is(422).shows("Say a day and a time to come.");
    fields.push(("later_at", "2026-11-20T09:00"));
    let answer = browser.post("/new", &fields).await.is(303);
    let path = answer.answer.header("location").to_owned();
    browser.get(&path).await.is(200).shows("Leaves on Fri 20 Nov, 09:00");
}

async fn a_stopped_message_comes_back_with_its_times(app: TestApp) {
    let (_, path, mut fields) = received(&app).await;
    let browser = app.signed_in(&app.owner).await;
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    fields.extend([("later", "at"), ("later_at", "2026-12-01T09:00")]);
    fields.extend([("follow_up", ""), ("follow_up_at", "2026-12-04T09:30")]);
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let leaving = browser.get("/leaving").await.is(200);
    let stop = leaving.between("action=\"/messages/", "\"").to_owned();
    browser.post(&format!("/messages/{stop}"), &[]).await.goes_to(&format!("{path}#body"));
    let page = browser.get(&path).await.is(200);
    page.shows("They come by sea.").shows("Send on Tue 1 Dec, 09:00");
    page.shows("value=\"1 Dec 2026 09:00\"").shows("value=\"4 Dec 2026 09:30\"");
    let chosen = page.between("name=\"later\" value=\"", "\"").to_owned();
    let mut again: Vec<(&str, &str)> = fields[..3].to_vec();
    again.push(("later", &chosen));
    browser.post(&format!("{path}/reply"), &again).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("Leaves on Tue 1 Dec, 09:00");
}

async fn the_chosen_times_are_kept_with_the_unsent_text(app: TestApp) {
    let (_, path, _) = received(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let mut typed = vec![
        ("kind", "reply"),
        ("body", "They come"),
        ("to", "ann@shop.example"),
        ("later_at", "2026-12-01T09:00"),
        ("follow_up", ""),
        ("follow_up_at", "2026-12-04T09:30"),
    ];
    browser.post(&format!("{path}/autosave"), &typed).await.is(204);
    let page = browser.get(&path).await.is(200);
    page.shows("They come").shows("Send on Tue 1 Dec, 09:00");
    page.shows("value=\"1 Dec 2026 09:00\"").shows("value=\"4 Dec 2026 09:30\"");
    // What is no time is left out, and the text is kept all the same.
    typed[1].1 = "They come by";
    typed[3].1 = "soon";
    browser.post(&format!("{path}/autosave"), &typed).await.is(204);
    browser.get(&path).await.is(200).shows("They come by").hides("Send on");
    // A time that has come meanwhile is not offered any more.
    typed[3].1 = "2026-12-01T09:00";
    browser.post(&format!("{path}/autosave"), &typed).await.is(204);
    app.pass(17 * DAY).await;
    browser.get(&path).await.is(200).shows("They come by").hides("Send on");
    // A first mail keeps its time too.
    let first = [("kind", "new"), ("body", "It is"), ("later_at", "2027-01-08T10:00")];
    browser.post("/new/autosave", &first).await.is(204);
    browser.get("/new").await.is(200).shows("value=\"8 Jan 2027 10:00\"");
}

/// An agent's draft in a conversation, and the path of the conversation.
async fn drafted(app: &TestApp, from: &str) -> (String, String) {
    let key = app.key("read draft").await;
    let mail = app.mail(from, "Lamps", "Where are they?").await;
    let draft = app.draft(&key, &mail.conversation, "They come by sea.").await;
    (draft, format!("/conversations/{}", mail.conversation))
}

async fn a_draft_is_approved_for_a_time_from_both_pages(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    let (draft, path) = drafted(&app, "ann@shop.example").await;
    let page = browser.get(&path).await.is(200);
    page.shows("Approve for later").shows("Tomorrow, 09:00");
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [
        ("revision", "1"),
        ("seen", seen.as_str()),
        ("next", path.as_str()),
        ("later", "at"),
        ("later_at", "2026-12-01T09:00"),
    ];
    browser.post(&format!("/approvals/{draft}/approve"), &fields).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("Leaves on Tue 1 Dec, 09:00");

    let (draft, path) = drafted(&app, "bo@shop.example").await;
    let page = browser.get(&format!("/approvals/{draft}")).await.is(200);
    page.shows("Approve for later");
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let soon = page.between("name=\"later\" value=\"", "\"").to_owned();
    assert_eq!(soon, (app.now() + HOUR).to_string());
    let fields = [
        ("revision", "1"),
        ("seen", seen.as_str()),
        ("body", "They come by sea."),
        ("to", "bo@shop.example"),
        ("later", soon.as_str()),
    ];
    browser.post(&format!("/approvals/{draft}/approve"), &fields).await.goes_to("/approvals");
    let key = app.key("read").await;
    let id = path.rsplit_once('/').unwrap().1.to_owned();
    app.pass(HOUR - 1).await;
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "scheduled");
    app.pass(1).await;
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sent");
}

async fn a_wrong_time_approves_nothing_and_keeps_what_was_typed(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (draft, path) = drafted(&app, "ann@shop.example").await;
    for (typed, sentence) in [
        ("2020-12-01T09:00", "The time to leave is over."),
        ("2030-12-01T09:00", "A message can wait for at most 365 days."),
        ("", "Say a day and a time to come."),
    ] {
        let fields = [
            ("revision", "1"),
            ("seen", "9"),
            ("body", "They come by land."),
            ("to", "ann@shop.example"),
            ("later", "at"),
            ("later_at", typed),
        ];
        let page = browser.post(&format!("/approvals/{draft}/approve"), &fields).await.is(422);
        page.shows(sentence).shows("They come by land.").shows(&format!("value=\"{typed}\""));
    }
    browser.get(&path).await.is(200).shows("Waits for a person");
}

async fn a_stopped_draft_is_offered_its_time_again(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    let (draft, path) = drafted(&app, "ann@shop.example").await;
    let fields = [
        ("revision", "1"),
        ("seen", "9"),
        ("next", path.as_str()),
        ("later", "at"),
        ("later_at", "2026-12-01T09:00"),
    ];
    browser.post(&format!("/approvals/{draft}/approve"), &fields).await.goes_to(&path);
    let stopped = browser.post(&format!("/messages/{draft}/stop"), &[]).await.is(303);
    let location = stopped.answer.header("location").to_owned();
    let page = browser.get(location.split('#').next().unwrap()).await.is(200);
    page.shows("Waits for a person").shows("Approve, leaves on Tue 1 Dec, 09:00");
    page.shows("value=\"1 Dec 2026 09:00\"");
    browser.get(&path).await.is(200).hides("Approve, leaves");
}
